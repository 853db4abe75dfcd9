#include "service/recordings/playback_source.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "io/fibers/off_loop.hpp"
#include "wire/mp4/read/segment_map.hpp"

namespace live::service::recordings {

namespace mp4 = wire::mp4;

namespace {

io::Deadline step_limit(io::Deadline deadline) { return deadline.sooner(io::Deadline::after(PlaybackSource::kStepLimit)); }

// A segment has a fragment per second, and at most so many.
constexpr std::size_t kSegmentFragmentsMax = 10'000;

Result<std::vector<PlaybackSource::Part>> read_segment(const ReadAt& read, std::uint64_t size, std::uint64_t offset,
                                                       std::uint64_t bytes, MediaTime at) {
    const auto header = TRY(mp4::read_fragmented_header(size, read));
    mp4::FragmentReader reader(header, size, read);
    mp4::Fragment fragment;
    std::vector<PlaybackSource::Part> parts;
    const Error wrong(Errc::not_found, "there is no such segment");
    if (offset < header.bytes || bytes > size - std::min(size, offset))
        return wrong;
    for (const std::uint64_t end = offset + bytes; offset < end;) {
        const auto got = reader.read(offset, fragment);
        if (!got.ok() && got.code() != Errc::malformed && got.code() != Errc::need_more)
            return got.error();
        if (!got.ok() || parts.size() == kSegmentFragmentsMax || fragment.offset + fragment.bytes > end)
            return wrong;
        PlaybackSource::Part part;
        const std::uint64_t events_bytes = fragment.offset - fragment.events;
        part.head = TRY(read(fragment.events, static_cast<std::size_t>(events_bytes + fragment.header_bytes)));
        TRY(mp4::move_in_time(part.head, header, at));
        part.media.push_back({0, fragment.offset + fragment.header_bytes, fragment.bytes - fragment.header_bytes});
        parts.push_back(std::move(part));
        offset = fragment.offset + fragment.bytes;
    }
    return parts;
}

}  // namespace

PlaybackSource::PlaybackSource(std::vector<std::string> paths, std::optional<io::Party> party)
    : paths_(std::move(paths)), party_(party), work_(std::make_shared<Work>(paths_)) {}

Result<PlaybackSource> PlaybackSource::open(const std::vector<RecordingFile>& files, WallTime start, MediaTime duration,
                                            std::optional<io::Party> party, io::Deadline deadline) {
    std::vector<mp4::ExcerptFile> list;
    std::vector<std::string> paths;
    for (const RecordingFile& file : files) {
        list.push_back({.size = file.bytes, .start = file.start - start});
        paths.push_back(file.path);
    }
    PlaybackSource source(std::move(paths), party);
    Work* const work = source.work_.get();
    work->excerpt = TRY(mp4::Excerpt::start(
        std::move(list),
        [work](std::size_t file, std::uint64_t offset, std::size_t count) { return work->reader.read(file, offset, count); },
        duration));
    TRY(source.prepare(deadline));
    return source;
}

PlaybackSource PlaybackSource::open_file(const RecordingFile& file, std::optional<io::Party> party) {
    return PlaybackSource({file.path}, party);
}

Result<PlaybackSource::Part> PlaybackSource::file_header(std::uint64_t size, io::Deadline deadline) {
    return io::off_loop(
        [work = work_, size]() -> Result<Part> {
            const ReadAt read = [&](std::uint64_t offset, std::size_t count) { return work->reader.read(0, offset, count); };
            const auto header = TRY(mp4::read_fragmented_header(size, read));
            return Part{.head = {}, .media = {{0, 0, header.bytes}}};
        },
        step_limit(deadline), io::Work::local, party_);
}

Result<std::vector<PlaybackSource::Part>> PlaybackSource::file_segment(std::uint64_t size, std::uint64_t offset,
                                                                       std::uint64_t bytes, MediaTime at, io::Deadline deadline) {
    return io::off_loop(
        [work = work_, size, offset, bytes, at] {
            const ReadAt read = [&](std::uint64_t place, std::size_t count) { return work->reader.read(0, place, count); };
            return read_segment(read, size, offset, bytes, at);
        },
        step_limit(deadline), io::Work::local, party_);
}

Result<void> PlaybackSource::prepare(io::Deadline deadline) {
    const auto step = [work = work_] { return work->excerpt->prepare(kReadsPerStep); };
    while (!TRY(io::off_loop(step, step_limit(deadline), io::Work::local, party_))) {
    }
    return {};
}

Result<std::vector<std::uint8_t>> PlaybackSource::init(io::Deadline deadline, MediaTime duration) {
    return io::off_loop(
        [work = work_, duration]() -> Result<std::vector<std::uint8_t>> {
            work->fragments.emplace(TRY(mp4::ExcerptFragments::create(*std::exchange(work->excerpt, std::nullopt))));
            ByteWriter out;
            work->fragments->write_init(out, duration);
            return out.release();
        },
        step_limit(deadline), io::Work::local, party_);
}

Result<std::vector<PlaybackSource::Part>> PlaybackSource::next(io::Deadline deadline) {
    return io::off_loop(
        [work = work_]() -> Result<std::vector<Part>> {
            std::vector<Part> parts;
            while (parts.size() < kFragmentsPerStep) {
                Part part;
                ByteWriter head;
                if (!TRY(work->fragments->next(head, part.media)))
                    break;
                part.head = head.release();
                parts.push_back(std::move(part));
            }
            return parts;
        },
        step_limit(deadline), io::Work::local, party_);
}

Result<void> PlaybackSource::count(io::Deadline deadline) {
    work_->movie.emplace(*std::exchange(work_->excerpt, std::nullopt));
    const auto step = [work = work_] { return work->movie->count(kReadsPerStep); };
    while (!TRY(io::off_loop(step, step_limit(deadline), io::Work::local, party_))) {
    }
    return {};
}

Result<std::vector<std::uint8_t>> PlaybackSource::next_header(io::Deadline deadline) {
    return io::off_loop(
        [work = work_]() -> Result<std::vector<std::uint8_t>> {
            ByteWriter out;
            TRY(work->movie->read_header(out, kHeaderBytesPerStep, kReadsPerStep));
            return out.release();
        },
        step_limit(deadline), io::Work::local, party_);
}

Result<std::vector<std::uint8_t>> PlaybackSource::read(const mp4::FileRange& range, std::size_t most, io::Deadline deadline) {
    const auto count = static_cast<std::size_t>(std::min<std::uint64_t>(range.count, most));
    auto bytes = TRY(io::off_loop([work = work_, range, count] { return work->reader.read(range.file, range.offset, count); },
                                  step_limit(deadline), io::Work::local, party_));
    if (bytes.empty())
        return Error(Errc::closed, "a recording has become shorter");
    return bytes;
}

Result<const io::File*> PlaybackSource::file(std::size_t number, io::Deadline deadline) {
    if (open_ == number)
        return &*file_;
    const std::filesystem::path path(paths_.at(number));
    const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
    auto file = io::File::open_below(folder, path.filename().string(), step_limit(deadline));
    if (!file.ok() && file.code() == Errc::not_found)
        file = io::File::open_below(folder, path.filename().string() + ".tmp", step_limit(deadline));
    file_.reset();
    open_.reset();
    file_ = TRY(std::move(file));
    open_ = number;
    return &*file_;
}

}  // namespace live::service::recordings
