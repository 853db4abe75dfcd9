#include "service/recordings/playback_source.hpp"

#include <filesystem>
#include <utility>

#include "io/fibers/off_loop.hpp"

namespace live::service::recordings {

namespace mp4 = wire::mp4;

namespace {

io::Deadline step_limit(io::Deadline deadline) { return deadline.sooner(io::Deadline::after(PlaybackSource::kStepLimit)); }

}  // namespace

PlaybackSource::PlaybackSource(std::vector<std::string> paths, std::optional<io::Party> party)
    : paths_(std::move(paths)), party_(party), work_(std::make_shared<Work>(paths_)) {}

Result<PlaybackSource> PlaybackSource::open(const std::vector<RecordingFile>& files, WallTime start, MediaTime duration,
                                            std::optional<io::Party> party, io::Deadline deadline) {
    std::vector<mp4::ExcerptFile> list;
    std::vector<std::string> paths;
    for (const RecordingFile& file : files) {
        // Other formats are listed, and cannot be cut.
        if (file.format != FileFormat::fmp4)
            continue;
        list.push_back({.size = file.bytes, .start = file.start - start});
        paths.push_back(file.path);
    }
    if (list.empty() && !files.empty())
        return Error(Errc::unsupported, "the recordings of this time are not fragmented MP4 (dvr_format fmp4)");
    PlaybackSource source(std::move(paths), party);
    Work* const work = source.work_.get();
    work->excerpt = TRY(mp4::Excerpt::start(
        std::move(list),
        [work](std::size_t file, std::uint64_t offset, std::size_t count) { return work->reader.read(file, offset, count); },
        duration));
    TRY(source.prepare(deadline));
    return source;
}

Result<void> PlaybackSource::prepare(io::Deadline deadline) {
    const auto step = [work = work_] { return work->excerpt->prepare(kReadsPerStep); };
    while (!TRY(io::off_loop(step, step_limit(deadline), io::Work::local, party_))) {
    }
    return {};
}

Result<std::vector<std::uint8_t>> PlaybackSource::init(io::Deadline deadline) {
    return io::off_loop(
        [work = work_]() -> Result<std::vector<std::uint8_t>> {
            work->fragments.emplace(TRY(mp4::ExcerptFragments::create(*std::exchange(work->excerpt, std::nullopt))));
            ByteWriter out;
            work->fragments->write_init(out);
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
