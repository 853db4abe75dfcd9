// Arbitrary bytes as two recordings, one after the other: excerpts of them as both kinds of file lie within the recordings, and
// so do the segments of each.
#include <cstddef>
#include <cstdint>
#include <vector>

#include "wire/mp4/read/box_head.hpp"
#include "wire/mp4/read/recorded_files_fixture.hpp"
#include "wire/mp4/read/segment_map.hpp"

namespace {

using namespace live;
using namespace live::wire::mp4;

void read_segments(const FileBytes& file) {
    const ReadAt read = [&file](std::uint64_t offset, std::size_t count) { return piece_of(file, offset, count); };
    auto map = SegmentMap::open(file.size(), read);
    if (!map.ok())
        return;
    while (!MUST(map->extend(file.size(), read, 10))) {
    }
    std::uint64_t place = 0;
    for (const MappedSegment& segment : map->segments()) {
        CHECK(segment.offset >= place && segment.offset + segment.bytes <= file.size());
        place = segment.offset + segment.bytes;
        auto box = MUST(piece_of(file, segment.offset, static_cast<std::size_t>(segment.bytes)));
        const auto head = read_box_head_of(box);
        if (head.ok() && head->size <= box.size())
            static_cast<void>(move_in_time(MutBytes(box).first(static_cast<std::size_t>(head->size)), map->header(), 5s));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2)
        return 0;
    const auto start = std::chrono::milliseconds(data[0] * 20 - 2'500);
    const FileBytes file(data + 1, data + size);
    const std::vector<std::pair<MediaTime, FileBytes>> files = {{start, file}, {start + 3s, recorded(1)}};
    read_segments(file);
    auto excerpt = excerpt_of(files, 5s);
    if (!excerpt.ok())
        return 0;
    auto movie = counted_movie(std::move(excerpt), size % 2 == 0 ? 0 : ExcerptMovie::kHeldSamplesMax);
    if (movie.ok()) {
        ByteWriter out;
        while (out.size() < (*movie)->header_bytes())
            if (!(*movie)->read_header(out, 4'096, 100).ok())
                return 0;
        CHECK(out.size() == (*movie)->header_bytes());
        for (const FileRange& range : (*movie)->ranges())
            CHECK(range.offset + range.count <= files[range.file].second.size());
    }
    auto made = ExcerptFragments::create(MUST(excerpt_of(files, 5s)));
    if (!made.ok())
        return 0;
    ExcerptFragments fragments = *std::move(made);
    ByteWriter out;
    fragments.write_init(out);
    std::vector<FileRange> ranges;
    for (auto got = fragments.next(out, ranges); got.ok() && *got; got = fragments.next(out, ranges))
        for (const FileRange& range : ranges)
            CHECK(range.offset + range.count <= files[range.file].second.size());
    return 0;
}
