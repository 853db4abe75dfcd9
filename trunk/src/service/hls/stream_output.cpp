#include "service/hls/stream_output.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/hash.hpp"
#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "service/hls/previous_playlist.hpp"
#include "service/segments/cmaf_muxer.hpp"
#include "service/segments/ts_muxer.hpp"
#include "wire/mp4/sample_reader.hpp"

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

// Returns the hash of the options that decide a fragment's bytes.
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

// The rate of the source so far, in bit/s; 0 while it has no media. In less than kRateTimeMin, a key frame is most of it.
constexpr MediaTime kRateTimeMin = 200ms;
std::uint64_t rate_of(const media::Source& source) {
    MediaTime length{};
    std::uint64_t bytes = 0;
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video}) {
        length = std::max(length, source.tracks().last_time(kind).value_or(MediaTime{}));
        bytes += source.counters().bytes[index_of(kind)];
    }
    constexpr std::uint64_t kBitsAndMicros = 8'000'000;
    return bytes * kBitsAndMicros / static_cast<std::uint64_t>(std::max(length, kRateTimeMin).count());
}

// Returns a packet that shows the format of this publisher's default track of `kind`: its configuration, or a frame if the codec
// has none. nullptr if there is none in the ring.
const media::Packet* format_of(const media::Source& source, MediaKind kind) {
    constexpr media::Sequence kSearchMax = 1'024;
    const media::Tracks& tracks = source.tracks();
    if (!tracks.has_default(kind) || tracks.config(kind).is_config())
        return tracks.has_default(kind) ? &tracks.config(kind) : nullptr;
    const media::Ring& ring = source.ring();
    for (media::Sequence at = ring.next(); at > ring.first() && ring.next() - at < kSearchMax; --at)
        if (const media::Packet& packet = ring.at(at - 1);
            packet.kind == kind && !packet.extra && (packet.key || kind == MediaKind::audio))
            return &packet;
    return nullptr;
}

// CODECS is complete or omitted: players assume that an unlisted codec is absent.
void describe(const media::Source& source, wire::hls::Variant& variant) {
    wire::mp4::SampleReader reader;
    if (const media::Packet* packet = format_of(source, MediaKind::video))
        static_cast<void>(reader.push_video(frame_of(*packet)));
    if (const media::Packet* packet = format_of(source, MediaKind::audio))
        static_cast<void>(reader.push_audio(frame_of(*packet)));
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

segments::Output::Setup output_setup_of(const StreamOutput::Setup& setup) {
    return {"HLS", "hls", hash_of_rules(setup.options),
            has_parts(setup.options) ? media::WakeMode::at_once : media::WakeMode::batched, stream_of(setup)};
}

segments::Segmenter segmenter_of(const HlsOptions& options) {
    return {rules_of(options), Segmenter::Layout::together, muxer_of(options, first_container(options))};
}

}  // namespace

StreamOutput::StreamOutput(Setup setup, Ref<media::Source> source, FileIndex& index, HlsEvents& events, Log log)
    : Output(output_setup_of(setup), *this, std::move(source), segmenter_of(setup.options), std::move(log)),
      setup_(std::move(setup)),
      disk_(setup_.options, feed(), this->log()),
      renditions_({{setup_.options, index.store(), stream(), disk_, ranges_},
                   setup_.name,
                   setup_.url,
                   setup_.zone,
                   index,
                   *this,
                   setup_.claims,
                   this->log()},
                  list_rules_of(setup_.options)),
      texts_({{setup_.options, index.store(), stream(), disk_, ranges_},
              setup_.name,
              setup_.url,
              setup_.zone,
              index,
              *this,
              setup_.claims,
              this->log()},
             list_rules_of(setup_.options)),
      writer_({setup_.options, setup_.name, setup_.url, disk_, events, index.store(), stream()}, together().names()) {
    const auto& [vhost, app, name] = setup_.name;
    if (!setup_.options.push.empty() && setup_.mirrors != nullptr)
        disk_.set_mirror(setup_.mirrors->mirror(setup_.options.push, setup_.options.path, {vhost, app, name, setup_.url}));
    changed();
}

void StreamOutput::run(io::Deadline deadline) {
    recover(deadline);
    recovered_ = true;
    changed();
    Output::run(deadline);
}

// A recovered stream keeps its files on the disk, unless they are to be disposed of.
void StreamOutput::finish() {
    std::vector<std::string> paths = renditions_.take_all();
    texts_.take_all(paths);
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
    return disk_.bytes() + renditions_.bytes() + texts_.bytes() + (renditions_.has_open() ? 0 : open_bytes()) + kept_bytes();
}

void StreamOutput::recover(io::Deadline deadline) {
    if (!setup_.options.recover)
        return;
    auto left = read_previous_playlist(together().names(), deadline.sooner(io::Deadline::after(kRecoverLimit)));
    if (!left.ok()) {
        if (left.code() != Errc::not_found && left.code() != Errc::cancelled)
            LOG_WARN(log(), "HLS {}: ignoring the previous playlist: {}", url(), left.error().text());
        return;
    }
    together().recover(std::move(left->segments), left->first_number, left->discontinuities);
    // A new node that relays the stream counts from zero, and could take its first fragment for the one in a sync message.
    segmenter().skip_to(together().list().next_number());
    const auto has_map = [](const ListedSegment& segment) { return !segment.map.empty(); };
    if (setup_.options.use_fmp4 == Fmp4::by_codec && std::ranges::any_of(together().list().listed(), has_map))
        begin_fmp4(deadline);
    skips_next_ = has_parts(setup_.options);
    LOG_INFO(log(), "HLS {}: continuing with fragment {}, listing {} previous fragments", url(), together().list().next_number(),
             together().list().listed().size());
    changed();
}

void StreamOutput::on_publisher_change(const std::optional<session::ClientRequest>& publisher, io::Deadline) {
    if (!publisher)
        return;
    dates_.restart();
    // The connection to the origin may have returned within a publication.
    if (!relays() || std::exchange(origin_ended_, false)) {
        ranges_.clear();
        texts_.clear_lines();
    }
    // Players, caches and nodes that relay the stream may have parts of the fragment that the earlier process had begun. Its name
    // must not be used for another fragment.
    if (std::exchange(skips_next_, false) && !relays())
        together().add_absent(setup_.options.fragment, false);
    codecs_ = {};
    writer_.begin_publisher(*publisher);
    renditions_.set_ended(false);
    texts_.set_ended(false);
}

void StreamOutput::on_segment_sync(const segments::SegmentSync& sync, io::Deadline deadline) {
    const auto* opened = std::get_if<segments::SegmentState>(&sync.event);
    origin_ended_ = opened == nullptr;
    if (opened == nullptr)
        return;
    // The origin has a rendition per track. The first frames of the further tracks may follow that of the fragment.
    if (opened->by_track && !has_renditions())
        begin_renditions(deadline);
    const std::size_t at = RenditionSet::place_size(*opened);
    if (at < sync.list.size() && sync.list[at] <= segments::SegmentSync::kNumberMax)
        dates_.set_zero(opened->at, UtcTime(std::chrono::milliseconds(sync.list[at])));
}

bool StreamOutput::accept(const media::Packet& packet, io::Deadline deadline) {
    if (!packet.extra && codecs_.note(packet))
        choose_container(packet, deadline);
    const bool may_need_renditions = packet.extra || source().publications().may_have_renditions();
    if (may_need_renditions && !has_renditions() && needs_renditions(packet))
        begin_renditions(deadline);
    return !disk_.is_ignoring();
}

// Called after the publisher has changed a codec.
void StreamOutput::choose_container(const media::Packet& packet, io::Deadline deadline) {
    // A stream that has switched to fMP4 keeps fMP4: a playlist has no tag for "no initialization section from here on", and fMP4
    // carries all codecs that MPEG-TS carries.
    const bool needs_fmp4 = setup_.options.use_fmp4 == Fmp4::by_codec && codecs_.needs() == Container::fmp4;
    if (needs_fmp4 && together().names().container() == Container::ts) {
        LOG_INFO(log(), "HLS {}: switching to fMP4, because players do not support these codecs in MPEG-TS", url());
        begin_fmp4(deadline);
    }
    const bool is_ts = together().names().container() == Container::ts;
    if (const std::string codec = codecs_.left_out(packet.kind, together().names().container()); !codec.empty())
        LOG_WARN(log(), "HLS {}: {} is left out, {} cannot carry it{}", url(), codec, is_ts ? "MPEG-TS" : "fragmented MP4 here",
                 is_ts && codecs_.left_out(packet.kind, Container::fmp4).empty() ? "; hls_use_fmp4 auto would" : "");
}

// Whether a packet of another track than the default ones, or of a stream that expects renditions, requires a playlist per track.
bool StreamOutput::needs_renditions(const media::Packet& packet) {
    if (packet.kind == MediaKind::data || !wire::mp4::SampleReader::carries(packet.codec))
        return false;
    if (setup_.options.use_fmp4 != Fmp4::off)
        return true;
    if (!std::exchange(tracks_logged_, true))
        LOG_WARN(log(), "HLS {}: only the default tracks are included, MPEG-TS cannot carry others here; hls_use_fmp4 auto would",
                 url());
    return false;
}

// Players continue with fMP4 after a discontinuity.
void StreamOutput::begin_fmp4(io::Deadline deadline) {
    segmenter().restart(Segmenter::Layout::together, muxer_of(setup_.options, Container::fmp4));
    handle_events(deadline);
    together().set_container(Container::fmp4);
    push_configs();
}

// From now on each track has its own playlist, and the stream's own playlist lists them.
void StreamOutput::begin_renditions(io::Deadline deadline) {
    segmenter().interrupt();
    handle_events(deadline);
    segmenter().restart(Segmenter::Layout::by_track, muxer_of(setup_.options, Container::fmp4));
    renditions_.begin_tracks();
    LOG_INFO(log(), "HLS {}: the stream has several tracks, switching to a playlist per track", url());
    push_configs();
    changed();
}

void StreamOutput::on_events_handled(bool any, bool has_ended) {
    if (!any && (!has_ended || !renditions_.has_hint()))
        return;
    if (has_ended)
        renditions_.set_ended(true);
    if (has_ended)
        texts_.set_ended(true);
    changed();
}

// The date of media time zero follows the place in the lists.
void StreamOutput::on_opened(const segments::SegmentState& state) {
    auto place = renditions_.place_of(state);
    const auto zero = dates_.begin_segment(state.at, utc_now()).time_since_epoch().count();
    place.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(zero, 0)));
    publish(state, std::move(place));
}

// The lists continue as on the origin. But players do not accept lower numbers than before: after another origin, or the same one
// that has restarted its count, the lists continue with their own numbers.
void StreamOutput::on_resumed(const segments::Resumed& event) {
    const auto& state = std::get<segments::SegmentState>(event.sync.event);
    // The segment's splices follow. Other origins, and packets before the first sync message, have times of their own.
    if (event.is_same_instance) {
        ranges_.drop_open();
    } else {
        ranges_.clear();
        texts_.clear_lines();
        dates_.begin_timeline(state.at);
    }
    if (event.sync.list.empty())
        return;
    const std::uint64_t number = event.sync.list.front();
    const std::uint64_t next = renditions_.next_listed();
    const bool is_same = event.is_same_instance;
    skip_below(0);
    // Another worker's list continues where its copy on the disk has ended, and has its own discontinuities.
    const bool continues = writer_.publisher().is_sibling && number >= next;
    breaks_ = !is_same && renditions_.has_playlist() && !continues;
    if (number > next || !renditions_.has_playlist())
        follow_from(number);
    if (number >= next || !renditions_.has_playlist())
        renditions_.align(state, event.sync.list, is_same ? std::max(state.at - listed_until_, MediaTime{}) : MediaTime{});
    else if (is_same)
        skip_below(state.number + (next - number));
    LOG_INFO(log(), "HLS {}: following the origin from its fragment {} on, number here {}", url(), number,
             std::max(number, next));
}

void StreamOutput::on_event(const segments::EventFound& event) {
    using Kind = media::TimedEvent::Kind;
    const Kind kind = event.event.kind;
    const std::size_t displaced = kind == Kind::splice ? ranges_.add(event.event, event.lead) : 0;
    const bool is_accepted = kind != Kind::text || texts_.add(event.event, event.lead);
    files::EventCounts::Kind& counts = setup_.events.of(kind);
    counts.accepted += is_accepted ? 1 : 0;
    counts.dropped += displaced + (is_accepted ? 0 : 1);
    if ((displaced > 0 || !is_accepted) && !std::exchange(events_logged_, true))
        LOG_WARN(log(),
                 "HLS {}: dropping markers or lines of subtitles: a playlist has at most {} markers, and a stream {} lines in {} "
                 "languages that are not over",
                 url(), DateRanges::kMax, Subtitles::kCuesMax, Subtitles::kLanguagesMax);
}

void StreamOutput::on_part(segments::PartMade event) {
    event.discontinuity = breaks_ || event.discontinuity;
    event.date = dates_.date_of(event.segment_start, event.start + event.duration, utc_now());
    ranges_.set_dates([this](MediaTime at) { return dates_.date_of(at); });
    renditions_.add(event);
}

void StreamOutput::on_segment(segments::SegmentMade event, io::Deadline deadline) {
    const auto number = renditions_.next_number();
    if (!number)
        return;
    listed_until_ = event.start + event.duration;
    event.date = dates_.date_of(event.start, listed_until_, utc_now());
    ranges_.set_dates([this](MediaTime at) { return dates_.date_of(at); });
    event.discontinuity = std::exchange(breaks_, false) || event.discontinuity;
    if (const auto sealed = writer_.seal(event, *number, deadline); !sealed.ok())
        return disk_.fail(sealed.error());
    // The last segment before a playlist per track is of a rendition that receives no further ones.
    if (const auto active = renditions_.active(); !active.empty())
        texts_.add(event, *active.front());
    const auto listed = [this](Rendition& rendition, const ListedSegment& segment) { writer_.write(rendition, segment); };
    renditions_.add(event, writer_.keys(), listed);
    renditions_.write_lists();
    texts_.write_lists();
    const auto uri_of = [this](const Names& names) { return together().names().uri_of(names.playlist_url()); };
    if (const auto text = has_renditions() ? master_text(uri_of) : std::nullopt)
        writer_.write_master(*text);
    std::vector<std::string> paths = renditions_.clean_up();
    texts_.clean_up(paths);
    if (const auto active = renditions_.active(); !active.empty() && !active.front()->list().empty())
        if (const auto date = active.front()->list().listed().front().date)
            ranges_.forget_before(*date);
    if (setup_.options.cleanup && !paths.empty())
        disk_.remove(std::move(paths));
    if (renditions_.is_cut_by_bytes() && !std::exchange(bytes_logged_, true))
        LOG_WARN(log(),
                 "HLS {}: its fragments exceed hls_window_bytes ({}) before they fill hls_window: the oldest are removed early",
                 url(), setup_.options.window_bytes);
}

// Removes everything from memory, and from disk if configured. If a publisher returns meanwhile, the output starts afresh.
void StreamOutput::dispose(io::Deadline deadline) {
    const bool was_by_track = has_renditions();
    std::vector<std::string> paths = renditions_.take_all();
    texts_.take_all(paths);
    writer_.reset();
    if (was_by_track)
        segmenter().restart(Segmenter::Layout::together, muxer_of(setup_.options, first_container(setup_.options)));
    segmenter().forget_headers();
    changed();
    if (setup_.options.dispose.count() > 0) {
        LOG_INFO(log(), "HLS {}: disposing of {} files", url(), paths.size());
        disk_.remove_and_wait(std::move(paths), deadline);
        renditions_.release_claims();
    }
    if (is_published())
        renditions_.put_in_index();
}

void StreamOutput::changed() {
    stream()->wait_limit = kWaitTargets * renditions_.target_duration();
    renditions_.changed(is_low_latency());
    waiters_->raise();
}

bool StreamOutput::is_low_latency() const { return has_parts(setup_.options); }

wire::hls::Variant StreamOutput::variant() const {
    wire::hls::Variant variant = renditions_.together().variant();
    if (variant.bandwidth == 1)
        variant.bandwidth = variant.average_bandwidth = std::max<std::uint64_t>(rate_of(source()), 1);
    describe(source(), variant);
    return variant;
}

}  // namespace live::service::hls
