#include "service/clips/clip_service.hpp"

#include <algorithm>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/files/output_file.hpp"
#include "service/dvr/file_name.hpp"
#include "wire/mp4/read/recording_note.hpp"

namespace live::service::clips {

using recordings::FileFormat;
using recordings::RecordedStream;
using recordings::RecordingFile;
using recordings::wall_now;
namespace mp4 = wire::mp4;

namespace {

bool can_be_cut(const RecordingFile& file) { return file.format == FileFormat::fmp4; }

std::string url_of_clip(const Clip& clip) { return recordings::url_of(clip.vhost, clip.app, clip.stream); }

}  // namespace

void ClipJob::run(io::Deadline deadline) {
    auto made = wait_for_end(deadline);
    // At a stop it keeps what is there.
    const io::CancelShield shield;
    if (made.ok() || made.code() == Errc::cancelled)
        made = write(io::Deadline::after(ClipService::kStopLimit));
    if (made.ok())
        LOG_INFO(log_, "clip of {}: {}, {:.3f} s, {} bytes", url_of_clip(clip_), clip_.file,
                 std::chrono::duration<double>(clip_.duration).count(), bytes_);
    else
        LOG_WARN(log_, "clip of {}: {} cannot be made: {}", url_of_clip(clip_), clip_.file, made.error().text());
    context_.on_clip({clip_, made.ok() ? std::string() : made.error().text(), bytes_});
}

Result<void> ClipJob::wait_for_end(io::Deadline deadline) {
    const auto end = clip_.start + clip_.duration;
    for (;;) {
        const RecordedStream* const stream = context_.library.index().find(url_of_clip(clip_));
        const bool is_there = stream != nullptr && stream->files.back().end() >= end;
        if (is_ended_ || is_there || wall_now() >= end + kLateMax)
            return {};
        const auto waited = io::wait(ended_, deadline.sooner(io::Deadline::after(kPollInterval)));
        if (!waited.ok() && waited.code() != Errc::timed_out)
            return waited;
    }
}

// The recordings of the span, which begins with a key frame: that at its start or before.
Result<std::vector<RecordingFile>> ClipJob::choose(io::Deadline deadline) {
    const RecordedStream* const stream = context_.library.index().find(url_of_clip(clip_));
    if (stream == nullptr)
        return Error(Errc::not_found, "there is no recording of this stream");
    auto files = files_from(*stream, clip_.start, clip_.duration);
    std::erase_if(files, [](const RecordingFile& file) { return !can_be_cut(file); });
    if (files.empty())
        return Error(Errc::not_found, "there is no recording of this time");
    const auto end = std::min(clip_.start + clip_.duration, files.back().end());
    const RecordingFile& first = files.front();
    const auto map = TRY(context_.library.maps().find(first, std::nullopt, deadline));
    std::vector<mp4::MappedSegment> segments = map->segments();
    if (map->rest())
        segments.push_back(*map->rest());
    auto start = std::max(clip_.start, first.start);
    for (const mp4::MappedSegment& segment : segments)
        if (first.start + segment.start <= clip_.start)
            start = std::max(first.start + segment.start, first.start);
    if (end <= start)
        return Error(Errc::not_found, "there is no recording of this time");
    clip_.start = start;
    clip_.duration = end - start;
    return files;
}

Result<void> ClipJob::write(io::Deadline deadline) {
    const auto files = TRY(choose(deadline));
    auto source = TRY(recordings::PlaybackSource::open(files, clip_.start, clip_.duration, std::nullopt, deadline));
    const auto file = TRY(io::OutputFile::create(clip_.file, deadline));
    const auto copy = [&]() -> Result<void> {
        ByteWriter head;
        head.bytes(TRY(source.init(deadline, clip_.duration)));
        mp4::write_recording_note(
            head, {.vhost = clip_.vhost, .app = app_of_clips(clip_.app), .stream = clip_.stream, .start = clip_.start});
        TRY(file->append(head.release(), deadline));
        for (;;) {
            const auto parts = TRY(source.next(deadline));
            if (parts.empty())
                return {};
            for (const auto& part : parts) {
                TRY(file->append(part.head, deadline));
                for (mp4::FileRange range : part.media)
                    for (std::uint64_t left = range.count; left > 0; left = range.count) {
                        auto bytes = TRY(source.read(range, kReadBytes, deadline));
                        range.offset += bytes.size();
                        range.count -= bytes.size();
                        TRY(file->append(std::move(bytes), deadline));
                    }
            }
        }
    };
    const auto copied = copy();
    if (!copied.ok()) {
        static_cast<void>(file->discard(deadline));
        return copied;
    }
    bytes_ = file->bytes();
    return file->commit(
        [path = clip_.file] {
            recordings::pin(path);
            return io::OutputFile::Ending();
        },
        deadline);
}

Result<Clip> ClipService::begin(const std::string& vhost, const std::string& app, const std::string& stream, MediaTime before,
                                MediaTime after) {
    const dvr::DvrOptions* const options = context_.options.find(vhost);
    if (options == nullptr)
        return Error(Errc::not_found, "there is no such virtual host");
    if (is_full())
        return Error(Errc::limit, "too many clips are being made");
    dvr::DvrOptions named = *options;
    named.format = dvr::DvrFormat::fmp4;
    Clip clip{.vhost = vhost,
              .app = app,
              .stream = stream,
              .file = dvr::file_name(named, {vhost, app_of_clips(app), stream}, std::chrono::system_clock::now(),
                                     context_.recording.zone),
              .start = wall_now() - before,
              .duration = before + after};
    const RecordedStream* const recorded = context_.library.index().find(url_of_clip(clip));
    if (!options->enabled || recorded == nullptr || !std::ranges::any_of(recorded->files, can_be_cut))
        return begin_from_ring(std::move(clip), before, after);
    TRY(jobs_.start(context_, clip, log_));
    return clip;
}

// The ring begins at the join point: start and duration become those of what there will be.
Result<Clip> ClipService::begin_from_ring(Clip clip, MediaTime before, MediaTime after) {
    const auto source = context_.streams.find(url_of_clip(clip));
    if (!source || !source->is_published())
        return Error(Errc::not_found, "the stream is neither published nor recorded as fragmented MP4 (dvr_format fmp4)");
    const media::Ring& ring = source->ring();
    const media::Sequence first = source->retention().join_point();
    const MediaTime held = first < ring.next() ? ring.at(ring.next() - 1).dts - ring.at(first).dts : MediaTime();
    const MediaTime missing = std::max(before - std::max(held, MediaTime()), MediaTime());
    clip.start += missing;
    clip.duration = std::max(before + after - missing, MediaTime(1));
    TRY(ring_jobs_.start(context_, clip, source, log_));
    return clip;
}

bool ClipService::is_full() const {
    std::size_t running = 0;
    jobs_.for_each([&running](const ClipJob&) { ++running; });
    ring_jobs_.for_each([&running](const RingClip&) { ++running; });
    return running >= kJobsMax;
}

// One limit for both: they end at the same time.
Result<void> ClipService::stop(io::Deadline) {
    const auto deadline = io::Deadline::after(kStopLimit);
    ring_jobs_.end_all();
    const auto stopped = jobs_.stop(deadline);
    const auto ring_stopped = ring_jobs_.stop(deadline);
    return stopped.ok() ? ring_stopped : stopped;
}

}  // namespace live::service::clips
