#include "service/recordings/playback_source.hpp"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "io/fibers/off_loop.hpp"
#include "media/ring/timed_event.hpp"
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

// Markers, timed metadata and lines of subtitles in script data, as event messages.
std::vector<mp4::EventMessage> read_script(Bytes script, MediaTime at) {
    media::Packet packet;
    packet.kind = MediaKind::data;
    packet.dts = at;
    packet.payload = Slice::copy_of(script);
    const auto event = media::read_timed_event(packet);
    using Kind = media::TimedEvent::Kind;
    if (!event)
        return {};
    if (event->kind == Kind::text)
        return {mp4::cue_at(event->at, event->duration, event->language, event->data.bytes())};
    return {mp4::event_at(event->kind == Kind::splice ? mp4::kSpliceScheme : mp4::kId3Scheme, event->at, event->data.bytes())};
}

std::vector<std::string> paths_of(const std::vector<RecordingFile>& files) {
    std::vector<std::string> paths;
    for (const RecordingFile& file : files)
        paths.push_back(file.path);
    return paths;
}

}  // namespace

PlaybackSource::PlaybackSource(std::vector<std::string> paths, std::optional<io::Party> party)
    : paths_(std::move(paths)), party_(party), work_(std::make_shared<Work>(paths_)) {}

Result<PlaybackSource> PlaybackSource::open(const std::vector<RecordingFile>& files, WallTime start, MediaTime duration,
                                            std::optional<io::Party> party, io::Deadline deadline) {
    std::vector<mp4::ExcerptFile> list;
    for (const RecordingFile& file : files)
        list.push_back({.size = file.bytes, .start = file.start - start});
    PlaybackSource source(paths_of(files), party);
    Work* const work = source.work_.get();
    work->excerpt = TRY(mp4::Excerpt::start(
        std::move(list),
        [work](std::size_t file, std::uint64_t offset, std::size_t count) { return work->reader.read(file, offset, count); },
        duration, read_script));
    TRY(source.prepare(deadline));
    return source;
}

PlaybackSource PlaybackSource::of_files(const std::vector<RecordingFile>& files, std::optional<io::Party> party) {
    return PlaybackSource(paths_of(files), party);
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

Result<KeptMovies::Movie> PlaybackSource::whole_header(io::Deadline deadline) {
    if (movie().header_bytes() > KeptMovies::kHeaderBytesMax)
        return KeptMovies::Movie();
    auto made = std::make_shared<KeptMovie>();
    for (const mp4::FileRange& range : movie().ranges())
        made->pieces.push_back({made->pieces.empty() ? movie().header_bytes() : 0, range});
    made->header.reserve(static_cast<std::size_t>(movie().header_bytes()));
    while (made->header.size() < movie().header_bytes()) {
        const auto bytes = TRY(next_header(deadline));
        made->header.insert(made->header.end(), bytes.begin(), bytes.end());
    }
    return KeptMovies::Movie(std::move(made));
}

Result<KeptMovies::Movie> PlaybackSource::whole_fragments(io::Deadline deadline) {
    auto made = std::make_shared<KeptMovie>();
    made->header = TRY(init(deadline));
    std::uint64_t header_bytes = made->header.size();
    for (;;) {
        const auto parts = TRY(next(deadline));
        if (parts.empty())
            break;
        for (const Part& part : parts) {
            made->header.insert(made->header.end(), part.head.begin(), part.head.end());
            header_bytes += part.head.size();
            for (const mp4::FileRange& range : part.media)
                made->pieces.push_back({std::exchange(header_bytes, 0), range});
        }
        if (made->memory_bytes() > KeptMovies::kHeaderBytesMax)
            return KeptMovies::Movie();
    }
    return KeptMovies::Movie(std::move(made));
}

Result<std::string> PlaybackSource::key_of(const std::vector<RecordingFile>& files, WallTime start, MediaTime duration,
                                           io::Deadline deadline) {
    std::string key = fmt::format("{}", duration.count());
    for (std::size_t number = 0; number < files.size(); ++number) {
        const io::File* const opened = TRY(file(number, deadline));
        const io::File::Facts& facts = opened->facts();
        key += fmt::format("\n{} {} {} {} {} {} {}", files[number].bytes, (files[number].start - start).count(), facts.device,
                           facts.inode, facts.size, facts.modified.count(), facts.changed.count());
    }
    return key;
}

// A recording in progress is at path.tmp.
Result<io::File> PlaybackSource::open_for_sending(const std::string& path, io::Deadline deadline) const {
    const std::filesystem::path whole(path);
    const std::string folder = whole.has_parent_path() ? whole.parent_path().string() : ".";
    const std::string name = whole.filename().string();
    auto file = io::File::try_open_below(folder, name);
    if (!file.ok())
        file = io::File::open_below(folder, name, step_limit(deadline));
    if (!file.ok() && file.code() == Errc::not_found)
        file = io::File::open_below(folder, name + ".tmp", step_limit(deadline));
    return file;
}

Result<const io::File*> PlaybackSource::file(std::size_t number, io::Deadline deadline) {
    if (open_ == number)
        return &*file_;
    auto file = open_for_sending(paths_.at(number), deadline);
    file_.reset();
    open_.reset();
    file_ = TRY(std::move(file));
    open_ = number;
    return &*file_;
}

}  // namespace live::service::recordings
