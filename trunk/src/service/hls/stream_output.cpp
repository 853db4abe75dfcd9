#include "service/hls/stream_output.hpp"

#include <algorithm>
#include <utility>

#include "base/log_format.hpp"
#include "io/loop.hpp"
#include "service/hls/left_behind.hpp"
#include "service/hls/master_playlist.hpp"
#include "service/segments/cmaf_muxer.hpp"
#include "service/segments/ts_muxer.hpp"

namespace live::service::hls {

using segments::Segmenter;

namespace {

MediaTime times(std::chrono::milliseconds duration, double ratio) {
    return MediaTime(static_cast<std::int64_t>(static_cast<double>(MediaTime(duration).count()) * ratio));
}

// A part cannot be encrypted on its own here.
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
    stream->idle_limit = 2 * std::max<Duration>(setup.options.window, 1s);
    return stream;
}

// Codecs are said all or not at all: a player takes what is left out for what is not there.
void describe(const media::Source& source, const wire::mp4::SampleReader& reader, wire::hls::Variant& variant) {
    const auto& video = reader.video();
    const auto& audio = reader.audio();
    if (video) {
        variant.width = video->width;
        variant.height = video->height;
        variant.frame_rate = video->frames_per_second;
    }
    if (source.last_time(media::Kind::video).has_value() != video.has_value() ||
        source.last_time(media::Kind::audio).has_value() != audio.has_value() || !(video || audio))
        return;
    variant.codecs = video ? video->codecs : "";
    if (audio)
        variant.codecs += (video ? "," : "") + audio->codecs;
}

}  // namespace

StreamOutput::StreamOutput(Setup setup, Ref<media::Source> source, FileIndex& index, HlsEvents& events, Log log)
    : setup_(std::move(setup)),
      index_(index),
      events_(events),
      log_(std::move(log)),
      feed_("HLS", std::move(source), has_parts(setup_.options) ? media::Listens::at_once : media::Listens::batched, log_),
      disk_(setup_.options, feed_, log_),
      stream_(stream_of(setup_)),
      segmenter_(rules_of(setup_.options), Segmenter::Layout::together,
                 muxer_of(setup_.options, setup_.options.use_fmp4 == Fmp4::on ? Container::fmp4 : Container::ts)) {
    const Rendition::Shared shared{setup_.options, index_.store(), stream_, disk_};
    renditions_.push_back(
        std::make_unique<Rendition>(shared, Names(setup_.options, setup_.name, setup_.zone), list_rules_of(setup_.options)));
    if (setup_.options.keys)
        keys_.emplace(setup_.options, together().names(), disk_);
    index_.add(together().names().playlist_file(), {this, nullptr});
    changed();
}

StreamOutput::~StreamOutput() { forget_all(); }

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
    // What there is when the server stops is worth a fragment.
    while (feed_.drain(*this, deadline) == segments::SourceFeed::Drained::in_part) {
    }
    segmenter_.interrupt();
    handle_made(deadline);
    feed_.end();
    over_ = true;
    if (setup_.options.dispose.count() > 0)
        disk_.remove(take_files());
    forget_all();
    changed();
    close_files();
}

Duration StreamOutput::time_after_end() const {
    const auto& options = setup_.options;
    return options.dispose.count() > 0 ? options.dispose : std::max(kWindowsInMemory * options.window, 3'000ms);
}

std::size_t StreamOutput::held_bytes() const {
    std::size_t sum = disk_.bytes();
    bool has_open = false;
    for (const auto& rendition : renditions_) {
        sum += rendition->bytes();
        has_open = has_open || rendition->list().has_open();
    }
    return sum + (has_open ? 0 : segmenter_.bytes());
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
    const auto has_map = [](const ListedSegment& segment) { return !segment.map.empty(); };
    if (setup_.options.use_fmp4 == Fmp4::by_codec && std::ranges::any_of(together().list().listed(), has_map))
        begin_fmp4(deadline);
    LOG_INFO(log_, "HLS {}: goes on with fragment {}, {} of before are listed", setup_.url, together().list().next_number(),
             together().list().listed().size());
    changed();
}

void StreamOutput::on_publisher(const std::optional<session::ClientRequest>& publisher, io::Deadline deadline) {
    if (!publisher)
        return segmenter_.interrupt();
    if (!publisher_.id.empty())
        segmenter_.restart();
    handle_made(deadline);  // the events of the one before are its own
    formats_ = {};
    codecs_ = {};
    configs_.clear();
    publisher_ = *publisher;
    disk_.begin_publisher();
    for (Rendition* rendition : active())
        rendition->set_ended(false);
}

void StreamOutput::on_packet(const media::Packet& packet, io::Deadline deadline) {
    if (!packet.extra)
        note_format(packet);
    if (packet.is_config() && packet.kind != media::Kind::data && configs_.size() < Segmenter::kTracksMax)
        configs_[{packet.kind, packet.track}] = packet;
    if (packet.extra)
        note_track(packet, deadline);
    else
        note_codec(packet, deadline);
    if (!disk_.is_ignoring())
        segmenter_.push(packet);
}

// Some codecs have no configuration: their first frame says what they are.
void StreamOutput::note_format(const media::Packet& packet) {
    if (packet.kind == media::Kind::video && (packet.is_config() || !formats_.video()))
        static_cast<void>(formats_.push_video(frame_of(packet)));
    if (packet.kind == media::Kind::audio && (packet.is_config() || !formats_.audio()))
        static_cast<void>(formats_.push_audio(frame_of(packet)));
}

void StreamOutput::note_codec(const media::Packet& packet, io::Deadline deadline) {
    if (!codecs_.note(packet))
        return;
    // What has been fMP4 once stays it: a player cannot be told that what follows needs no header any more, and fMP4 carries
    // what MPEG-TS does.
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

// Another track than the default ones.
void StreamOutput::note_track(const media::Packet& packet, io::Deadline deadline) {
    if (packet.kind == media::Kind::data || has_renditions() || !wire::mp4::SampleReader::carries(packet.codec))
        return;
    if (setup_.options.use_fmp4 != Fmp4::off)
        return begin_renditions(deadline);
    if (!std::exchange(tracks_told_, true))
        LOG_WARN(log_, "HLS {}: only the default tracks are in it, MPEG-TS has no others here; hls_use_fmp4 auto would have all",
                 setup_.url);
}

// Players go on with fMP4 after a discontinuity.
void StreamOutput::begin_fmp4(io::Deadline deadline) {
    segmenter_.restart(Segmenter::Layout::together, muxer_of(setup_.options, Container::fmp4));
    handle_made(deadline);
    together().set_container(Container::fmp4);
    push_configs();
}

// Each track has a playlist of its own from now on, and the stream's own one names them.
void StreamOutput::begin_renditions(io::Deadline deadline) {
    segmenter_.interrupt();
    handle_made(deadline);
    segmenter_.restart(Segmenter::Layout::by_track, muxer_of(setup_.options, Container::fmp4));
    together().set_container(Container::fmp4);
    together().retire();
    current_.clear();
    LOG_INFO(log_, "HLS {}: several tracks, each has a playlist of its own from now on", setup_.url);
    push_configs();
    changed();
}

void StreamOutput::push_configs() {
    for (const auto& [track, config] : configs_)
        segmenter_.push(config);
}

bool StreamOutput::is_listed(const Rendition& rendition) const {
    const IndexedPlaylist* playlist = index_.find(rendition.names().playlist_file());
    return playlist != nullptr && playlist->output == this;
}

std::vector<Rendition*> StreamOutput::active() const {
    std::vector<Rendition*> all;
    for (const auto& rendition : renditions_)
        if (rendition->names().track().empty() != has_renditions() && is_listed(*rendition))
            all.push_back(rendition.get());
    return all;
}

void StreamOutput::handle_made(io::Deadline deadline) {
    auto made = segmenter_.take();
    const bool has_ended = feed_.has_ended();
    const auto is_hinted = [](const Rendition* one) { return !one->list().hint().empty(); };
    if (made.empty() && (!has_ended || std::ranges::none_of(active(), is_hinted)))
        return;
    for (segments::Made& one : made) {
        if (const auto* headers = std::get_if<segments::HeadersChanged>(&one))
            add(*headers);
        else if (const auto* part = std::get_if<segments::PartMade>(&one))
            add(*part);
        else if (auto* segment = std::get_if<segments::SegmentMade>(&one))
            add(std::move(*segment), deadline);
    }
    if (has_ended)
        for (Rendition* rendition : active())
            rendition->set_ended(true);
    changed();
}

// Those of the stream stand at one number.
Rendition* StreamOutput::rendition_of(const segments::RepresentationId& id) {
    const std::string name = id.name();
    const auto is_it = [&name](const auto& rendition) { return rendition->names().track() == name; };
    auto found = std::ranges::find_if(renditions_, is_it);
    if (found != renditions_.end() && is_listed(**found))
        return found->get();
    const auto others = active();
    const SegmentList& peer = others.empty() ? together().list() : others.front()->list();
    std::uint64_t discontinuities = peer.discontinuities();
    for (const ListedSegment& segment : peer.listed())
        discontinuities += segment.discontinuity ? 1 : 0;
    if (found == renditions_.end()) {
        Names names(setup_.options, setup_.name, setup_.zone, name);
        names.set_container(Container::fmp4);
        const Rendition::Shared shared{setup_.options, index_.store(), stream_, disk_};
        renditions_.push_back(std::make_unique<Rendition>(shared, std::move(names), list_rules_of(setup_.options)));
        found = renditions_.end() - 1;
    }
    Rendition& rendition = **found;
    if (!claim(rendition.names()))
        return nullptr;
    rendition.recover({}, peer.next_number(), discontinuities);
    index_.add(rendition.names().playlist_file(), {this, &rendition});
    return &rendition;
}

bool StreamOutput::claim(const Names& names) {
    auto claimed = setup_.claims.claim(names.claimed_paths(), "the HLS of " + setup_.url);
    if (claimed.ok())
        claims_.push_back(*std::move(claimed));
    else if (!std::exchange(claims_told_, true))
        LOG_ERROR(log_, "HLS {}: a track is left out: {}", setup_.url, claimed.error().sentence());
    return claimed.ok();
}

void StreamOutput::add(const segments::HeadersChanged& made) {
    current_.clear();
    ids_.clear();
    for (const segments::Header& header : made.headers) {
        Rendition* rendition = has_renditions() ? rendition_of(header.id) : &together();
        if (rendition != nullptr)
            rendition->set_header(header);
        current_.push_back(rendition);
        ids_.push_back(header.id);
    }
}

void StreamOutput::add(const segments::PartMade& made) {
    for (std::size_t i = 0; i < made.pieces.size(); ++i)
        if (current_[i] != nullptr)
            current_[i]->add(made, made.pieces[i]);
}

void StreamOutput::add(segments::SegmentMade made, io::Deadline deadline) {
    const auto leading = std::ranges::find_if(current_, [](const Rendition* one) { return one != nullptr; });
    if (leading == current_.end())
        return;
    const std::uint64_t number = (*leading)->list().next_number();
    if (keys_) {
        keys_->begin_segment(number);
        if (const auto sealed = encrypt(made.pieces, deadline); !sealed.ok())
            return disk_.fail(sealed.error());
    }
    share_bytes();
    for (std::size_t i = 0; i < made.pieces.size(); ++i)
        if (current_[i] != nullptr)
            write(*current_[i], current_[i]->add(made, std::move(made.pieces[i].blocks), keys_ ? &*keys_ : nullptr));
    for (Rendition* rendition : active())
        if (rendition->list().next_number() == number)
            rendition->add_absent(made.duration, made.discontinuity);
    write_lists();
    clean_up();
    const auto is_cut = [](const Rendition* rendition) { return rendition->list().is_cut_by_bytes(); };
    if (std::ranges::any_of(active(), is_cut) && !std::exchange(bytes_told_, true))
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

// Each rendition may have what the others do not.
void StreamOutput::share_bytes() {
    const auto renditions = active();
    std::size_t all = 0;
    for (const Rendition* rendition : renditions)
        all += rendition->bytes();
    for (Rendition* rendition : renditions) {
        const std::size_t of_others = all - rendition->bytes();
        rendition->set_bytes_max(setup_.options.window_bytes - std::min<std::uint64_t>(setup_.options.window_bytes, of_others));
    }
}

void StreamOutput::write(Rendition& rendition, const ListedSegment& segment) {
    if (segment.absent)
        return;
    const auto written = [this, names = &rendition.names(), number = segment.number, duration = segment.duration,
                          name = segment.name] {
        events_.on_fragment({publisher_, setup_.name.vhost, setup_.url, duration, names->told(name.text), name.uri,
                             names->told(names->playlist_url()), names->playlist_url(), number});
    };
    const auto failed = [&rendition, number = segment.number] { rendition.mark_gap(number); };
    disk_.write(segment.name.file, segment.file->blocks(), written, failed);
}

void StreamOutput::write_lists() {
    for (Rendition* rendition : active())
        rendition->write_list();
    if (!has_renditions())
        return;
    const auto text = master_text([this](const Names& names) { return together().names().uri_of(names.playlist_url()); });
    if (text && *text != master_on_disk_)
        disk_.write_list(together().names().playlist_file(), master_on_disk_ = *text);
}

// Files that have left the list for long enough.
void StreamOutput::clean_up() {
    std::vector<std::string> paths;
    for (Rendition* rendition : active())
        rendition->clean_up(paths);
    if (setup_.options.cleanup && !paths.empty())
        disk_.remove(std::move(paths));
}

// Renditions stay: files of theirs may still be written.
void StreamOutput::forget_all() {
    for (const auto& rendition : renditions_) {
        index_.remove(rendition->names().playlist_file(), *this);
        rendition->take_all();
    }
}

// The paths of all files of this stream, which are forgotten.
std::vector<std::string> StreamOutput::take_files() {
    std::vector<std::string> paths;
    for (const auto& rendition : renditions_) {
        auto more = rendition->take_all();
        std::ranges::move(more, std::back_inserter(paths));
    }
    return paths;
}

// Everything from the disk, if that is wanted, and from memory. Somebody may publish again meanwhile: then it begins anew.
void StreamOutput::dispose(io::Deadline deadline) {
    std::vector<std::string> paths = take_files();
    forget_all();
    current_.clear();
    claims_.clear();
    master_on_disk_.clear();
    if (keys_)
        keys_->reset();
    if (has_renditions()) {
        const Container container = setup_.options.use_fmp4 == Fmp4::on ? Container::fmp4 : Container::ts;
        segmenter_.restart(Segmenter::Layout::together, muxer_of(setup_.options, container));
        together().set_container(container);
    }
    segmenter_.forget_headers();
    changed();
    if (setup_.options.dispose.count() > 0) {
        LOG_INFO(log_, "HLS {}: disposes of {} files", setup_.url, paths.size());
        disk_.remove_and_wait(std::move(paths), deadline);
    }
    if (feed_.is_published())
        index_.add(together().names().playlist_file(), {this, nullptr});
}

void StreamOutput::changed() {
    MediaTime target = together().list().target_duration();
    for (const Rendition* rendition : active())
        target = std::max(target, rendition->list().target_duration());
    stream_->wait_limit = kWaitTargets * target;
    for (const auto& rendition : renditions_)
        rendition->forget_text();
    if (has_renditions() && is_low_latency())
        exchange_reports();
    waiters_->raise();
}

void StreamOutput::exchange_reports() {
    for (Rendition* rendition : active()) {
        std::vector<wire::hls::RenditionReport> reports;
        for (const Rendition* other : active())
            if (other != rendition && !other->list().empty())
                reports.push_back(other->report());
        rendition->set_reports(std::move(reports));
    }
}

bool StreamOutput::has_playlist() const {
    return std::ranges::any_of(active(), [](const Rendition* rendition) { return !rendition->list().empty(); });
}

bool StreamOutput::is_low_latency() const { return has_parts(setup_.options); }

wire::hls::Variant StreamOutput::variant() const {
    wire::hls::Variant variant = renditions_.front()->variant();
    describe(feed_.source(), formats_, variant);
    return variant;
}

std::optional<std::string> StreamOutput::master_text(const UriOf& uri_of) const {
    std::vector<TrackPlaylist> tracks;
    for (std::size_t i = 0; i < current_.size(); ++i) {
        if (current_[i] == nullptr || current_[i]->list().empty())
            continue;
        const media::Track* known = ids_[i].track_of(feed_.source());
        tracks.push_back({current_[i], ids_[i], known, uri_of(current_[i]->names())});
    }
    return tracks.empty() ? std::nullopt : std::optional(write_master(tracks));
}

}  // namespace live::service::hls
