#include "service/dvr/recorder.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::dvr {

namespace {

double in_seconds(MediaTime time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

Recorder::Recorder(Ref<media::Source> source, const session::ClientRequest& request, const session::StreamPlan& plan,
                   const DvrOptions& options, const DvrContext& context, Log log, media::Cursor::Start start)
    : source_(source),
      request_(request),
      plan_(plan),
      name_{plan.vhost, request.app, request.stream},
      options_(options),
      context_(context),
      log_(std::move(log)),
      cursor_(std::move(source), media::WakeMode::batched, start, media::Cursor::Tracks::all, media::Cursor::Audience::none),
      file_(request_, plan_, context_, log_),
      place_{.clock = {}, .note = {}, .is_in_past = start != media::Cursor::Start::now} {}

void Recorder::end() {
    if (end_)
        return;
    end_ = source_->ring().next();
    ended_.raise();
}

void Recorder::run(io::Deadline deadline) {
    auto recorded = record(deadline);
    for (; is_tried_again(recorded); recorded = record(deadline)) {
        const io::CancelShield shield;
        fail(recorded.error(), io::Deadline::after(OpenFile::kCloseLimit));
        retry_.at = io::now() + retry_.pauses.next(static_cast<std::uint32_t>(random_number()));
    }
    // Also if the server stops: an unfinished recording is of little use.
    const io::CancelShield shield;
    const auto limit = io::Deadline::after(OpenFile::kCloseLimit);
    if (!recorded.ok() && recorded.code() == Errc::cancelled)
        recorded = take_all(limit);
    if (recorded.ok())
        recorded = finish(limit);
    if (!recorded.ok())
        fail(recorded.error(), limit);
}

// A full disk may have space later: the next key frame after a pause begins a new file.
bool Recorder::is_tried_again(const Result<void>& recorded) const {
    return !recorded.ok() && recorded.code() != Errc::cancelled && options_.plan == DvrPlan::segment;
}

Result<void> Recorder::record(io::Deadline deadline) {
    for (;;) {
        {
            // An interrupted write cannot be repaired. Each step here has a limit.
            const io::CancelShield shield;
            TRY(take_all(deadline));
        }
        if (end_)
            return {};
        const auto waited = io::wait(ended_, deadline.sooner(io::Deadline::after(kPollInterval)));
        if (!waited.ok() && waited.code() != Errc::timed_out)
            return waited;
    }
}

Result<void> Recorder::take_all(io::Deadline deadline) {
    for (;;) {
        if (const std::uint64_t before = std::exchange(dropped_, cursor_.dropped()); dropped_ > before)
            return Error(Errc::limit, fmt::format("the disk is too slow: {} packets went by", dropped_ - before));
        const auto packet = next_packet();
        if (!packet)
            return {};
        if (is_of_rendition(*packet, source_->tracks()))
            continue;
        TRY(add(*packet, deadline));
        if (is_write_due())
            TRY(write(Recording::Last::no, deadline));
    }
}

bool Recorder::is_write_due() const {
    return file_.is_open() && (file_.recording().has_whole_part() || file_.recording().pending_bytes() >= kWriteBytes ||
                               span_.newest - span_.written_to >= kWriteInterval);
}

std::optional<media::Packet> Recorder::next_packet() {
    if (!released_.empty()) {
        std::optional packet(std::move(released_.front()));
        released_.pop_front();
        return packet;
    }
    return end_ && cursor_.next() >= *end_ ? std::nullopt : cursor_.take();
}

Result<void> Recorder::add(const media::Packet& packet, io::Deadline deadline) {
    if (packet.is_config())
        headers_.keep(packet);
    // Before the first media, headers wait for it.
    if (!file_.is_open() && (packet.is_config() || packet.kind == MediaKind::data))
        return {};
    if (!cut_ && file_.is_open() && is_due(packet))
        cut_ = Cut{.at = packet.dts, .held = {}, .bytes = 0, .reached = {}};
    if (cut_)
        return hold(packet, deadline);
    if (!file_.is_open()) {
        if (!may_begin_with(packet) || io::now() < retry_.at)
            return {};
        TRY(open(packet, deadline));
    }
    return push(packet, deadline);
}

// Packets that lag in the multiplex still belong to the file that ends.
Result<void> Recorder::hold(const media::Packet& packet, io::Deadline deadline) {
    const bool is_media = packet.kind != MediaKind::data && !packet.is_config();
    if (is_media ? packet.dts < cut_->at : packet.is_config() && !cut_->reached.has(packet.kind))
        return push(packet, deadline);
    if (is_media)
        cut_->reached.add(packet.kind);
    cut_->bytes += packet.payload.size();
    cut_->held.push_back(packet);
    const bool is_full = cut_->bytes >= kHeldBytesMax || cut_->held.size() >= kHeldPacketsMax;
    if (is_full || cut_->reached.has_all(span_.kinds) || packet.dts - cut_->at >= kLagMax)
        return finish_cut(deadline);
    return {};
}

Result<void> Recorder::finish_cut(io::Deadline deadline) {
    Cut cut = *std::exchange(cut_, std::nullopt);
    released_.insert(released_.begin(), std::move_iterator(cut.held.begin()), std::move_iterator(cut.held.end()));
    return close(deadline);
}

// At the end of the stream no kind can lag.
Result<void> Recorder::finish(io::Deadline deadline) {
    while (cut_) {
        TRY(finish_cut(deadline));
        TRY(take_all(deadline));
    }
    return close(deadline);
}

// Reports whether the packet is audio that lags in the multiplex behind the key frame that begins the file.
bool Recorder::is_before_file(const media::Packet& packet) const {
    return packet.dts < span_.begun && packet.kind == MediaKind::audio && !packet.is_config() &&
           span_.begun_with == MediaKind::video;
}

// If the file cannot continue with this packet, it ends. The next one begins with the packet, or with the GOP in progress.
Result<void> Recorder::push(const media::Packet& packet, io::Deadline deadline) {
    if (is_before_file(packet))
        return {};
    auto pushed = file_.recording().push(packet, packet.dts - span_.zero);
    if (!pushed.ok() && pushed.code() == Errc::conflict) {
        LOG_INFO(log_, "DVR {}: a new file: {}", plan_.url, pushed.error().sentence());
        TRY(close(deadline));
        if (packet.is_config())
            return {};
        if (!may_begin_with(packet))
            return continue_within_gop(packet, deadline);
        TRY(open(packet, deadline));
        pushed = file_.recording().push(packet, packet.dts - span_.zero);
    }
    if (!pushed.ok() && !std::exchange(logged_.is_unsupported, true))
        LOG_WARN(log_, "DVR {}: dropping packets: {}", plan_.url, pushed.error().text());
    if (file_.recording().dropped_events() > 0 && !std::exchange(logged_.has_dropped_events, true))
        LOG_WARN(log_, "DVR {}: dropping markers, timed metadata or lines of subtitles: {} has no place for them", plan_.url,
                 state_.file);
    if (!packet.is_config())
        span_.newest = std::max(span_.newest, packet.dts);
    if (!packet.is_config() && packet.kind != MediaKind::data)
        span_.kinds.add(packet.kind);
    return {};
}

// Audio may change its sample rate or channels between key frames. The new file repeats the video since the last key frame, so
// that nothing is lost up to the next one. But not if that is longer than the previous file: a publisher that changes its audio
// often must not cause much larger files than its stream.
Result<void> Recorder::continue_within_gop(const media::Packet& packet, io::Deadline deadline) {
    // The next key frame has arrived already.
    if (cut_)
        return finish_cut(deadline);
    if (!released_.empty())
        return {};
    const auto video = video_since_key();
    if (video.empty() || packet.dts - video.front().dts > span_.newest - span_.begun)
        return {};
    TRY(open(video.front(), deadline));
    span_.newest = packet.dts;
    span_.kinds.add(packet.kind);
    span_.kinds.add(MediaKind::video);
    // First the audio: a fragmented file has the tracks of its first second.
    static_cast<void>(file_.recording().push(packet, packet.dts - span_.zero));
    for (const media::Packet& picture : video) {
        static_cast<void>(file_.recording().push(picture, picture.dts - span_.zero));
        if (file_.recording().pending_bytes() >= kWriteBytes)
            TRY(write(Recording::Last::no, deadline));
    }
    return {};
}

// Returns the default video track since the last key frame; empty if the key frame has left the ring.
std::vector<media::Packet> Recorder::video_since_key() {
    const media::Ring& ring = source_->ring();
    std::vector<media::Packet> video;
    for (media::Sequence at = std::min(cursor_.next(), ring.next()); at > ring.first(); --at) {
        const media::Packet& packet = ring.at(at - 1);
        if (packet.kind != MediaKind::video || packet.extra || packet.content != media::Content::frame)
            continue;
        video.push_back(packet);
        if (packet.key) {
            std::ranges::reverse(video);
            return video;
        }
    }
    return {};
}

bool Recorder::is_due(const media::Packet& packet) const {
    if (options_.plan != DvrPlan::segment || packet.kind == MediaKind::data || packet.is_config())
        return false;
    return packet.dts - span_.begun >= options_.duration && may_begin_with(packet);
}

bool Recorder::may_begin_with(const media::Packet& packet) const {
    const bool has_video = headers_.has(MediaKind::video) || packet.kind == MediaKind::video;
    return !options_.wait_keyframe || !has_video || (packet.kind == MediaKind::video && packet.key && !packet.extra);
}

// How long before now the packet of the first file was published.
MediaTime Recorder::age_of(const media::Packet& first) {
    const media::Ring& ring = source_->ring();
    if (!std::exchange(place_.is_in_past, false) || ring.next() == ring.first())
        return {};
    return std::max(ring.at(ring.next() - 1).dts - first.dts, MediaTime());
}

Result<void> Recorder::open(const media::Packet& packet, io::Deadline deadline) {
    state_.file = file_name(options_, name_, std::chrono::system_clock::now(), context_.zone);
    state_.duration = {};
    state_.bytes = 0;
    const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now()) - age_of(packet);
    const bool keeps_times = options_.time_jitter == media::TimeJitter::off;
    const MediaTime zero = keeps_times ? -source_->timeline().publisher_offset() : packet.dts;
    place_.note = {.vhost = plan_.vhost,
                   .app = name_.app,
                   .stream = name_.stream,
                   .start = place_.clock.start_of(packet.dts, now) - (packet.dts - zero)};
    TRY(file_.create(state_.file, format_of(options_), headers_.metadata(), place_.note, deadline));
    span_ = {.zero = zero,
             .begun = packet.dts,
             .newest = packet.dts,
             .written_to = packet.dts,
             .begun_with = packet.kind,
             .kinds = {}};
    // A header that cannot be recorded is reported when its packets arrive.
    headers_.for_each(
        [&](const media::Packet& header) { static_cast<void>(file_.recording().push(header, packet.dts - span_.zero)); });
    LOG_INFO(log_, "DVR {}: recording to {}", plan_.url, state_.file);
    return {};
}

Result<void> Recorder::write(Recording::Last last, io::Deadline deadline) {
    span_.written_to = span_.newest;
    state_.duration = span_.newest - span_.begun;
    if (TRY(file_.write(last, deadline)))
        note_written();
    state_.bytes = file_.bytes();
    return {};
}

void Recorder::note_written() {
    if (context_.on_progress)
        context_.on_progress({plan_, place_.note, state_.file, file_.recording().playable(), file_.bytes()});
    if (!state_.error.empty())
        LOG_INFO(log_, "DVR {}: the recording continues", plan_.url);
    state_.error.clear();
}

Result<void> Recorder::close(io::Deadline deadline) {
    if (!file_.is_open())
        return {};
    if (!file_.recording().has_media())
        return file_.discard(deadline);
    TRY(write(Recording::Last::yes, deadline));
    TRY(file_.commit(deadline));
    ++state_.files;
    retry_.pauses.reset();
    LOG_INFO(log_, "DVR {}: recorded {}, {:.3f} s, {} bytes", plan_.url, state_.file, in_seconds(state_.duration), state_.bytes);
    report({});
    return {};
}

void Recorder::report(const std::string& error) {
    if (context_.on_recorded)
        context_.on_recorded({request_, plan_, state_.file, error, state_.duration, state_.bytes, place_.note.start});
}

// The error is reported once for any number of failed attempts.
void Recorder::fail(const Error& error, io::Deadline deadline) {
    cut_.reset();
    released_.clear();
    const bool is_event = state_.error.empty();
    state_.error = error.text();
    if (is_event)
        LOG_ERROR(log_, "DVR {}: the recording has ended: {}{}", plan_.url, state_.error,
                  options_.plan == DvrPlan::segment ? "; retrying at key frames" : "");
    if (const bool is_kept = file_.keep_written(error, deadline); is_kept || is_event)
        report(state_.error);
    file_.abandon();
}

}  // namespace live::service::dvr
