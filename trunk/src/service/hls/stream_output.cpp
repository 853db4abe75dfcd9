#include "service/hls/stream_output.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/hash.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/hls/left_behind.hpp"
#include "service/segments/cmaf_muxer.hpp"
#include "service/segments/ts_muxer.hpp"
#include "wire/http/target.hpp"

namespace live::service::hls {

using segments::Segmenter;

namespace {

MediaTime times(std::chrono::milliseconds duration, double ratio) {
    return MediaTime(static_cast<std::int64_t>(static_cast<double>(MediaTime(duration).count()) * ratio));
}

// A part cannot be encrypted on its own.
bool has_parts(const HlsOptions& options) { return options.ll && !options.keys; }

segments::CutRules rules_of(const HlsOptions& options) {
    segments::CutRules rules;
    rules.cut_at = times(options.fragment, options.td_ratio);
    rules.audio_cut_at = times(options.fragment, options.aof_ratio);
    rules.hard_cut_at = rules.audio_cut_at;
    rules.waits_for_key = options.wait_keyframe;
    if (has_parts(options))
        rules.part = options.part;
    return rules;
}

ListRules list_rules_of(const HlsOptions& options) {
    return {std::max(times(options.fragment, options.td_ratio), Segmenter::kCutMin), options.window, options.window_bytes,
            has_parts(options), options.part};
}

// Of the options that decide what is in a fragment.
std::uint64_t hash_of_rules(const HlsOptions& options) {
    const segments::CutRules rules = rules_of(options);
    return hash_of_numbers(
        {static_cast<std::uint64_t>(rules.cut_at.count()), static_cast<std::uint64_t>(rules.audio_cut_at.count()),
         rules.waits_for_key ? 1U : 0U, static_cast<std::uint64_t>(rules.part.value_or(0us).count()),
         static_cast<std::uint64_t>(options.use_fmp4), options.dts_directly ? 1U : 0U, options.keys ? 1U : 0U});
}

// The container before any codec is known.
Container first_container(const HlsOptions& options) { return options.use_fmp4 == Fmp4::on ? Container::fmp4 : Container::ts; }

Segmenter::MakeMuxer muxer_of(const HlsOptions& options, Container container) {
    if (container == Container::fmp4)
        return [] { return std::make_unique<segments::CmafMuxer>(); };
    const auto audio = options.dts_directly ? segments::TsMuxer::Audio::timed : segments::TsMuxer::Audio::counted;
    return [audio] { return std::make_unique<segments::TsMuxer>(audio); };
}

segments::StreamOfFilesRef stream_of(const StreamOutput::Setup& setup) {
    auto stream = std::make_shared<segments::StreamOfFiles>();
    stream->vhost = setup.name.vhost;
    stream->app = setup.name.app;
    stream->stream = setup.name.stream;
    stream->has_sessions = setup.options.ctx;
    stream->idle_limit = 2 * std::max<Duration>(setup.options.window, 1s);
    return stream;
}

UtcTime utc_now() { return std::chrono::floor<std::chrono::milliseconds>(std::chrono::system_clock::now()); }

// The rate of the source so far, in bit/s; 0 while it has no media.
std::uint64_t rate_of(const media::Source& source) {
    MediaTime length{};
    std::uint64_t bytes = 0;
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video}) {
        length = std::max(length, source.tracks().last_time(kind).value_or(MediaTime{}));
        bytes += source.counters().bytes[index_of(kind)];
    }
    constexpr std::uint64_t kBitsAndMicros = 8'000'000;
    return bytes * kBitsAndMicros / static_cast<std::uint64_t>(std::max<MediaTime>(length, 1s).count());
}

// CODECS is complete or omitted: players assume that an unlisted codec is absent.
void describe(const media::Source& source, const wire::mp4::SampleReader& reader, wire::hls::Variant& variant) {
    const auto& video = reader.video();
    const auto& audio = reader.audio();
    if (video) {
        variant.width = video->width;
        variant.height = video->height;
        variant.frame_rate = video->frames_per_second;
    }
    if (source.tracks().last_time(MediaKind::video).has_value() != video.has_value() ||
        source.tracks().last_time(MediaKind::audio).has_value() != audio.has_value() || !(video || audio))
        return;
    variant.codecs = video ? video->codecs : "";
    if (audio)
        variant.codecs += (video ? "," : "") + audio->codecs;
}

}  // namespace

StreamOutput::StreamOutput(Setup setup, Ref<media::Source> source, FileIndex& index, HlsEvents& events, Log log)
    : setup_(std::move(setup)),
      events_(events),
      log_(std::move(log)),
      feed_("HLS", std::move(source), has_parts(setup_.options) ? media::WakeMode::at_once : media::WakeMode::batched, log_),
      disk_(setup_.options, feed_, log_),
      stream_(stream_of(setup_)),
      synced_({"hls", hash_of_rules(setup_.options), feed_.source(), log_},
              Segmenter(rules_of(setup_.options), Segmenter::Layout::together,
                        muxer_of(setup_.options, first_container(setup_.options)))),
      segmenter_(synced_.segmenter()),
      renditions_({{setup_.options, index.store(), stream_, disk_},
                   setup_.name,
                   setup_.url,
                   setup_.zone,
                   index,
                   *this,
                   setup_.claims,
                   log_},
                  list_rules_of(setup_.options)) {
    if (setup_.options.keys)
        keys_.emplace(Keys::Setup{setup_.options, setup_.url, together().names(), disk_, index.store(), stream_});
    changed();
}

StreamOutput::~StreamOutput() = default;

void StreamOutput::run(io::Deadline deadline) {
    using Next = segments::SourceFeed::Next;
    recover(deadline);
    recovered_ = true;
    changed();
    for (Next next = Next::packets; next != Next::cancelled;) {
        const auto drained = feed_.drain(*this, deadline);
        feed_.set_watched(stream_->asked_at != TimePoint{} && io::now() - stream_->asked_at < stream_->idle_limit);
        handle_made(deadline);
        next = feed_.wait(drained, time_after_end(), deadline);
        if (next != Next::over)
            continue;
        dispose(deadline);
        if (!feed_.is_published())
            break;
    }
    // When the server stops, what is left is still made into a fragment.
    while (feed_.drain(*this, deadline) == segments::SourceFeed::Drained::in_part) {
    }
    segmenter_.interrupt();
    handle_made(deadline);
    feed_.end();
    over_ = true;
    std::vector<std::string> paths = renditions_.take_all();
    if (setup_.options.dispose.count() > 0)
        disk_.remove(std::move(paths));
    changed();
    close_files();
}

Duration StreamOutput::time_after_end() const {
    const auto& options = setup_.options;
    return options.dispose.count() > 0 ? options.dispose : std::max(kWindowsInMemory * options.window, 3'000ms);
}

std::size_t StreamOutput::held_bytes() const {
    return disk_.bytes() + renditions_.bytes() + (renditions_.has_open() ? 0 : segmenter_.bytes()) + synced_.kept_bytes();
}

void StreamOutput::recover(io::Deadline deadline) {
    if (!setup_.options.recover)
        return;
    auto left = read_left_behind(together().names(), deadline.sooner(io::Deadline::after(kRecoverLimit)));
    if (!left.ok()) {
        if (left.code() != Errc::not_found && left.code() != Errc::cancelled)
            LOG_WARN(log_, "HLS {}: the playlist of before is left aside: {}", setup_.url, left.error().text());
        return;
    }
    together().recover(std::move(left->segments), left->first_number, left->discontinuities);
    // A new node that relays the stream counts from zero, and would take its first fragment for the marked one.
    segmenter_.skip_to(together().list().next_number());
    const auto has_map = [](const ListedSegment& segment) { return !segment.map.empty(); };
    if (setup_.options.use_fmp4 == Fmp4::by_codec && std::ranges::any_of(together().list().listed(), has_map))
        begin_fmp4(deadline);
    skips_next_ = has_parts(setup_.options);
    LOG_INFO(log_, "HLS {}: goes on with fragment {}, {} of before are listed", setup_.url, together().list().next_number(),
             together().list().listed().size());
    changed();
}

void StreamOutput::on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) {
    const bool relays = publisher && publisher->kind == session::ClientKind::relay_pull;
    synced_.end_publisher(relays);
    handle_made(deadline);  // pending events belong to the previous publisher
    if (!publisher)
        return;
    synced_.begin_publisher(relays);
    dates_.restart();
    // Players, caches and nodes that relay the stream may have parts of the fragment that the earlier process had begun: its name
    // is not given again.
    if (std::exchange(skips_next_, false) && !relays)
        together().add_absent(setup_.options.fragment, false);
    formats_ = {};
    codecs_ = {};
    configs_.clear();
    publisher_ = *publisher;
    disk_.begin_publisher(publisher->is_sibling);
    renditions_.set_ended(false);
}

void StreamOutput::on_sync(const media::SyncMessage& message, io::Deadline deadline) {
    const auto sync = synced_.read(message);
    if (!sync)
        return;
    // The origin has a rendition per track. The first frames of the further tracks may follow that of the fragment.
    const auto* opened = std::get_if<segments::SegmentState>(&sync->event);
    if (opened != nullptr && opened->by_track && !has_renditions())
        begin_renditions(deadline);
    note_zero(*sync);
    synced_.follow(*sync);
    handle_made(deadline);
}

void StreamOutput::on_packet(const media::Packet& packet, io::Deadline deadline) {
    if (!packet.extra)
        note_format(packet);
    if (packet.is_config() && packet.kind != MediaKind::data && configs_.size() < Segmenter::kTracksMax)
        configs_[{packet.kind, packet.track}] = packet;
    if (packet.extra)
        note_track(packet, deadline);
    else
        note_codec(packet, deadline);
    if (!disk_.is_ignoring())
        synced_.push(packet);
}

// Codecs without a configuration are recognized by their first frame.
void StreamOutput::note_format(const media::Packet& packet) {
    if (packet.kind == MediaKind::video && (packet.is_config() || !formats_.video()))
        static_cast<void>(formats_.push_video(frame_of(packet)));
    if (packet.kind == MediaKind::audio && (packet.is_config() || !formats_.audio()))
        static_cast<void>(formats_.push_audio(frame_of(packet)));
}

void StreamOutput::note_codec(const media::Packet& packet, io::Deadline deadline) {
    if (!codecs_.note(packet))
        return;
    // A stream that has switched to fMP4 stays fMP4: a playlist cannot say that later segments no longer need an initialization
    // section, and fMP4 carries everything that MPEG-TS does.
    const bool needs_fmp4 = setup_.options.use_fmp4 == Fmp4::by_codec && codecs_.needs() == Container::fmp4;
    if (needs_fmp4 && together().names().container() == Container::ts) {
        LOG_INFO(log_, "HLS {}: fragments are fMP4 from now on, players do not take these codecs from MPEG-TS", setup_.url);
        begin_fmp4(deadline);
    }
    const bool is_ts = together().names().container() == Container::ts;
    if (const std::string codec = codecs_.left_out(packet.kind, together().names().container()); !codec.empty())
        LOG_WARN(log_, "HLS {}: {} is left out, {} cannot carry it{}", setup_.url, codec,
                 is_ts ? "MPEG-TS" : "fragmented MP4 here",
                 is_ts && codecs_.left_out(packet.kind, Container::fmp4).empty() ? "; hls_use_fmp4 auto would" : "");
}

// Handles packets of tracks other than the defaults.
void StreamOutput::note_track(const media::Packet& packet, io::Deadline deadline) {
    if (packet.kind == MediaKind::data || has_renditions() || !wire::mp4::SampleReader::carries(packet.codec))
        return;
    if (setup_.options.use_fmp4 != Fmp4::off)
        return begin_renditions(deadline);
    if (!std::exchange(tracks_logged_, true))
        LOG_WARN(log_, "HLS {}: only the default tracks are in it, MPEG-TS has no others here; hls_use_fmp4 auto would have all",
                 setup_.url);
}

// Players continue with fMP4 after a discontinuity.
void StreamOutput::begin_fmp4(io::Deadline deadline) {
    segmenter_.restart(Segmenter::Layout::together, muxer_of(setup_.options, Container::fmp4));
    handle_made(deadline);
    together().set_container(Container::fmp4);
    push_configs();
}

// From now on each track has its own playlist, and the stream's own playlist lists them.
void StreamOutput::begin_renditions(io::Deadline deadline) {
    segmenter_.interrupt();
    handle_made(deadline);
    segmenter_.restart(Segmenter::Layout::by_track, muxer_of(setup_.options, Container::fmp4));
    renditions_.begin_tracks();
    LOG_INFO(log_, "HLS {}: several tracks, each has a playlist of its own from now on", setup_.url);
    push_configs();
    changed();
}

void StreamOutput::push_configs() {
    for (const auto& [track, config] : configs_)
        segmenter_.push(config);
}

void StreamOutput::handle_made(io::Deadline deadline) {
    auto events = synced_.take();
    const bool has_ended = feed_.has_ended();
    if (events.empty() && (!has_ended || !renditions_.has_hint()))
        return;
    for (segments::SyncedSegmenter::Event& event : events) {
        if (const auto* resumed = std::get_if<segments::OriginFollower::Resumed>(&event))
            handle(*resumed);
        else if (const auto* ended = std::get_if<segments::SegmentsEnded>(&event))
            synced_.publish(*ended, {});
        else
            handle(std::get<segments::SegmenterEvent>(std::move(event)), deadline);
    }
    if (has_ended)
        renditions_.set_ended(true);
    changed();
}

void StreamOutput::handle(segments::SegmenterEvent made, io::Deadline deadline) {
    if (const auto* headers = std::get_if<segments::HeadersChanged>(&made))
        renditions_.add(*headers);
    else if (const auto* opened = std::get_if<segments::SegmentOpened>(&made))
        publish_opened(opened->state);
    else if (auto* part = std::get_if<segments::PartMade>(&made); part != nullptr && !is_listed_already(part->number))
        add(std::move(*part));
    else if (auto* segment = std::get_if<segments::SegmentMade>(&made); segment != nullptr && !is_listed_already(segment->number))
        add(std::move(*segment), deadline);
    else if (std::holds_alternative<segments::SegmentDropped>(made))
        renditions_.drop_open();
}

// The date of media time zero follows the place in the lists.
void StreamOutput::publish_opened(const segments::SegmentState& state) {
    auto place = renditions_.place_of(state);
    const auto zero = dates_.begin_segment(state.at, utc_now()).time_since_epoch().count();
    place.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(zero, 0)));
    synced_.publish(state, std::move(place));
}

void StreamOutput::note_zero(const segments::SegmentSync& sync) {
    const auto* begins = std::get_if<segments::SegmentState>(&sync.event);
    const std::size_t at = begins == nullptr ? sync.list.size() : RenditionSet::place_size(*begins);
    if (at < sync.list.size() && sync.list[at] <= segments::SegmentSync::kNumberMax)
        dates_.set_zero(begins->at, UtcTime(std::chrono::milliseconds(sync.list[at])));
}

// Without marks a node goes by its own clock: the end of the newest media is now.
std::optional<UtcTime> StreamOutput::date_of(MediaTime start, MediaTime newest) {
    if (!dates_.date_of(start))
        dates_.begin_segment(newest, utc_now());
    return dates_.date_of(start);
}

// The lists go on as on the origin; but players do not accept lower numbers than before, so after another origin, or the same one
// that has begun to count again, they go on with their own.
void StreamOutput::handle(const segments::OriginFollower::Resumed& resumed) {
    const auto& state = std::get<segments::SegmentState>(resumed.sync.event);
    if (resumed.sync.list.empty())
        return;
    const std::uint64_t number = resumed.sync.list.front();
    const std::uint64_t next = renditions_.next_listed();
    const bool is_same = resumed.is_same_instance;
    listed_below_ = 0;
    // Another worker's list goes on where its copy on the disk has ended, and says itself what breaks.
    const bool goes_on = publisher_.is_sibling && number >= next;
    breaks_ = !is_same && renditions_.has_playlist() && !goes_on;
    if (number > next || !renditions_.has_playlist())
        followed_from_ = number;
    if (number >= next || !renditions_.has_playlist())
        renditions_.align(state, resumed.sync.list, is_same ? std::max(state.at - listed_until_, MediaTime{}) : MediaTime{});
    else if (is_same)
        listed_below_ = state.number + (next - number);
    LOG_INFO(log_, "HLS {}: follows the origin from its fragment {} on, here {}", setup_.url, number, std::max(number, next));
}

void StreamOutput::add(segments::PartMade made) {
    made.discontinuity = breaks_ || made.discontinuity;
    made.date = date_of(made.segment_start, made.start + made.duration);
    renditions_.add(made);
}

void StreamOutput::add(segments::SegmentMade made, io::Deadline deadline) {
    const auto number = renditions_.next_number();
    if (!number)
        return;
    listed_until_ = made.start + made.duration;
    made.date = date_of(made.start, listed_until_);
    made.discontinuity = std::exchange(breaks_, false) || made.discontinuity;
    if (keys_) {
        if (const auto begun = keys_->begin_segment(*number); !begun.ok())
            return disk_.fail(begun.error());
        if (const auto sealed = encrypt(made.pieces, deadline); !sealed.ok())
            return disk_.fail(sealed.error());
    }
    const auto listed = [this](Rendition& rendition, const ListedSegment& segment) { write(rendition, segment); };
    renditions_.add(std::move(made), keys_ ? &*keys_ : nullptr, listed);
    write_lists();
    std::vector<std::string> paths = renditions_.clean_up();
    if (setup_.options.cleanup && !paths.empty())
        disk_.remove(std::move(paths));
    if (renditions_.is_cut_by_bytes() && !std::exchange(bytes_logged_, true))
        LOG_WARN(
            log_,
            "HLS {}: its fragments take more than hls_window_bytes ({}) before they fill hls_window: the oldest leave sooner",
            setup_.url, setup_.options.window_bytes);
}

Result<void> StreamOutput::encrypt(std::vector<segments::Piece>& pieces, io::Deadline deadline) {
    for (segments::Piece& piece : pieces)
        piece.blocks = TRY(keys_->encrypt(std::move(piece.blocks), deadline));
    return {};
}

void StreamOutput::write(Rendition& rendition, const ListedSegment& segment) {
    if (segment.absent)
        return;
    const auto written = [this, names = &rendition.names(), number = segment.number, duration = segment.duration,
                          name = segment.name] {
        events_.on_fragment({publisher_, setup_.name.vhost, setup_.url, duration, names->reported_path(name.text), name.uri,
                             names->reported_path(names->playlist_url()), wire::http::percent_encode_path(names->playlist_url()),
                             number});
    };
    const auto failed = [&rendition, number = segment.number] { rendition.mark_gap(number); };
    disk_.write(segment.name.file, segment.file->blocks(), written, failed);
}

void StreamOutput::write_lists() {
    renditions_.write_lists();
    if (!has_renditions())
        return;
    const auto text = master_text([this](const Names& names) { return together().names().uri_of(names.playlist_url()); });
    if (text && *text != master_on_disk_)
        disk_.write_list(together().names().playlist_file(), master_on_disk_ = *text);
}

// Removes everything from memory, and from disk if configured. If a publisher returns meanwhile, the output starts afresh.
void StreamOutput::dispose(io::Deadline deadline) {
    const bool was_by_track = has_renditions();
    std::vector<std::string> paths = renditions_.take_all();
    master_on_disk_.clear();
    if (keys_)
        keys_->reset();
    if (was_by_track)
        segmenter_.restart(Segmenter::Layout::together, muxer_of(setup_.options, first_container(setup_.options)));
    segmenter_.forget_headers();
    changed();
    if (setup_.options.dispose.count() > 0) {
        LOG_INFO(log_, "HLS {}: disposes of {} files", setup_.url, paths.size());
        disk_.remove_and_wait(std::move(paths), deadline);
        renditions_.release_claims();
    }
    if (feed_.is_published())
        renditions_.put_in_index();
}

void StreamOutput::changed() {
    stream_->wait_limit = kWaitTargets * renditions_.target_duration();
    renditions_.changed(is_low_latency());
    waiters_->raise();
}

bool StreamOutput::is_partial() const {
    if (!synced_.relays() || !feed_.is_published())
        return false;
    const auto first = renditions_.first_listed();
    return !synced_.is_following() || !first || *first <= followed_from_;
}

bool StreamOutput::is_low_latency() const { return has_parts(setup_.options); }

wire::hls::Variant StreamOutput::variant() const {
    wire::hls::Variant variant = renditions_.together().variant();
    if (variant.bandwidth == 1)
        variant.bandwidth = variant.average_bandwidth = std::max<std::uint64_t>(rate_of(feed_.source()), 1);
    describe(feed_.source(), formats_, variant);
    return variant;
}

}  // namespace live::service::hls
