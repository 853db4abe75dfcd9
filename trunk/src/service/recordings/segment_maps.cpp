#include "service/recordings/segment_maps.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "io/fibers/off_loop.hpp"
#include "service/recordings/file_reader.hpp"

namespace live::service::recordings {

namespace mp4 = wire::mp4;

namespace {

// One step in a worker: the map after it, whose owners are the worker and then the list, and whether all is read.
struct Step {
    std::shared_ptr<mp4::SegmentMap> map;
    bool is_over = false;
};

Result<Step> read_step(const std::string& path, std::uint64_t size, std::shared_ptr<mp4::SegmentMap> map) {
    FileReader file({path});
    const ReadAt read = [&file](std::uint64_t offset, std::size_t count) { return file.read(0, offset, count); };
    if (!map)
        map = std::make_shared<mp4::SegmentMap>(TRY(mp4::SegmentMap::open(size, read)));
    const bool is_over = TRY(map->extend(size, read, SegmentMaps::kFragmentsPerStep));
    return Step{std::move(map), is_over};
}

}  // namespace

Result<SegmentMaps::Map> SegmentMaps::find(const RecordingFile& file, std::optional<io::Party> party, io::Deadline deadline) {
    std::shared_ptr<mp4::SegmentMap> known;
    if (const auto entry = std::ranges::find(entries_, file.path, &Entry::path); entry != entries_.end()) {
        if (entry->size == file.bytes) {
            entries_.splice(entries_.begin(), entries_, entry);
            return entries_.front().map;
        }
        // Other playlists use the one that is kept.
        if (entry->size < file.bytes)
            known = std::make_shared<mp4::SegmentMap>(*entry->map);
    }
    for (;;) {
        auto step = TRY(io::off_loop([path = file.path, size = file.bytes,
                                      known = std::move(known)]() mutable { return read_step(path, size, std::move(known)); },
                                     deadline.sooner(io::Deadline::after(kStepLimit)), io::Work::local, party));
        known = std::move(step.map);
        if (step.is_over)
            break;
    }
    keep(file, known);
    return Map(std::move(known));
}

void SegmentMaps::keep(const RecordingFile& file, const Map& map) {
    if (const auto old = std::ranges::find(entries_, file.path, &Entry::path); old != entries_.end())
        remove(old);
    entries_.push_front({file.path, file.bytes, map});
    bytes_ += map->memory_bytes();
    while (entries_.size() > 1 && (bytes_ > kBytesMax || entries_.size() > kFilesMax))
        remove(std::prev(entries_.end()));
}

void SegmentMaps::remove(std::list<Entry>::iterator entry) {
    bytes_ -= entry->map->memory_bytes();
    entries_.erase(entry);
}

}  // namespace live::service::recordings
