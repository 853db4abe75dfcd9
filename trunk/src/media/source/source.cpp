#include "media/source/source.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes/hot_lines.hpp"
#include "base/check.hpp"
#include "media/rtp/frames_to_rtp.hpp"

namespace live::media {

Publication::Publication(Ref<Source> source) : source_(std::move(source)) {}

Publication::~Publication() {
    stop_filling();
    if (current_)
        source_->end_publication();
    if (key_frames_ != nullptr) {
        --source_->rtp_publishers_;
        source_->release_rtp_log();
    }
}

RtpLog& Publication::fill_rtp_log(KeyFrameSource& key_frames) {
    CHECK(key_frames_ == nullptr && current_);
    key_frames_ = &key_frames;
    ++source_->rtp_publishers_;
    RtpLog& rtp_log = source_->hold_rtp_log();
    rtp_log.start_writer(key_frames_);
    return rtp_log;
}

void Publication::confirm() {
    if (!std::exchange(asked_, false) || !current_)
        return;
    source_->note_publisher_confirmed();
}

void Publication::stop_filling() {
    if (key_frames_ != nullptr)
        source_->rtp_log()->end_writer(key_frames_);
}

SourceWatch::SourceWatch(Ref<Source> source) : source_(std::move(source)), index_(source_->watches_.size()) {
    source_->watches_.push_back(this);
}

SourceWatch::~SourceWatch() {
    auto& watches = source_->watches_;
    watches[index_] = watches.back();
    watches[index_]->index_ = index_;
    watches.pop_back();
}

WireLogHold::WireLogHold(Ref<Source> source, const WireFormat& format, Audience audience)
    : source_(std::move(source)), format_(format), audience_(audience) {
    source_->hold_wire_log(format_, true, audience_);
}

WireLogHold::~WireLogHold() { source_->release_wire_log(format_, audience_); }

bool WireLogHold::catch_up(std::size_t bytes) { return source_->catch_up_wire_log(format_, bytes); }

Source::Source(std::string url, const PlayOptions& options, std::uint32_t chunk_size, SlabPool& pool)
    : url_(std::move(url)), options_(options), pool_(pool), chunk_size_(chunk_size), next_chunk_size_(chunk_size) {
    ++pool_.totals().sources;
}

Source::~Source() {
    CHECK(publication_ == nullptr);
    CHECK(rtp_logs_.empty());
    CHECK(packet_readers_.empty() && listeners_.empty() && batched_listeners_.empty());
    drop_before(ring_.next());
    --pool_.totals().sources;
}

Result<std::unique_ptr<Publication>> Source::publish(Takeover takeover) {
    if (publication_ != nullptr) {
        if (takeover == Takeover::refuse)
            return Error(Errc::conflict, "stream " + url_ + " is published already");
        evict_publisher();
    }
    auto publication = std::make_unique<Publication>(Ref<Source>(this));
    publication_ = publication.get();
    timeline_.start_publisher();
    audio_since_video_ = 0;
    has_b_frames_ = false;
    has_default_.clear();
    announced_.clear();
    forget_extra_tracks();
    name_tracks({});
    marks_.clear();
    published_from_ = ring_.next();
    ends_when_encoded_ = false;
    is_outrun_ = false;
    for (HeldRtpLog& held : rtp_logs_)
        held.converter.reset();
    for (SourceWatch* watch : watches_)
        watch->on_publisher_began();
    return publication;
}

void Source::note_publisher_confirmed() {
    for (SourceWatch* watch : watches_)
        watch->on_publisher_confirmed();
}

bool Source::ask_publisher() {
    if (publication_ == nullptr || !publication_->can_confirm_)
        return false;
    publication_->asked_ = true;
    publication_->evicted_.raise();
    return true;
}

void Source::evict_publisher() {
    if (publication_ == nullptr)
        return;
    publication_->current_ = false;
    publication_->stop_filling();
    publication_->evicted_.raise();
    publication_ = nullptr;
}

// A frame converter whose last frames are still to be converted stays until the next publisher comes or the last player goes.
void Source::end_publication() {
    publication_ = nullptr;
    have_rest_encoded();
    for (HeldRtpLog& held : rtp_logs_)
        if (held.converter != nullptr && held.converter->is_idle() && !has_unencoded())
            held.converter.reset();
    ends_when_encoded_ = has_unencoded();
    if (!ends_when_encoded_)
        note_stream_ended();
}

void Source::note_stream_ended() {
    for (SourceWatch* watch : watches_)
        watch->on_publisher_left();
}

void Source::set_may_return(bool may_return) {
    const bool is_over = may_return_ && !may_return && publication_ == nullptr;
    may_return_ = may_return;
    if (is_over)
        note_stream_ended();
}

void Source::prefetch() const { prefetch_members(ring_, counters_); }

void Source::append(Packet packet) {
    if ((is_outrun_ || unencoded_bytes_ > kUnencodedMax) && is_outrun_by(packet))
        return;
    packet.arrived = arrival_;
    const std::size_t kind = index_of(packet.kind);
    if (packet.kind != MediaKind::data) {
        if (!has_default_.has(packet.kind) && packet.content != Content::other)
            choose_default(packet);
        packet.extra = packet.track != defaults_[kind];
    }
    counters_.bytes[kind] += packet.payload.size();
    if (!packet.extra) {
        ++counters_.packets[kind];
        if (!packet.is_config())
            last_times_[kind] = packet.dts;
    }
    remember_config(packet);
    note_track(packet);
    track_gop(packet);
    if (attached_ != 0 || has_unencoded())
        append_to_logs(packet);
    ++pool_.totals().packets;
    pool_.totals().packet_bytes += packet.payload.size();
    untrimmed_bytes_ += packet.payload.size();
    const bool trim_now = (packet.key && !packet.extra) || (ring_.next() & 15U) == 0 || untrimmed_bytes_ >= kTrimBytesMax / 2;
    ring_.append(std::move(packet));
    if (unencoded_bytes_ > 2 * kUnencodedMax)
        encode_rest();
    else if (unencoded_bytes_ > kUnencodedMax)
        have_rest_encoded();
    if (trim_now)
        trim();
}

void Source::append_mark(const RelayMark& mark) {
    Packet packet;
    packet.extra = true;
    packet.dts = timeline_.newest();
    packet.payload = write_relay_mark(mark);
    const auto kept = std::ranges::find(marks_, mark.series, &KeptMark::series);
    if (kept != marks_.end())
        kept->packet = packet;
    else if (mark.series != kRelayStart && marks_.size() < kMarkSeriesMax)
        marks_.push_back({mark.series, packet});
    append(std::move(packet));
}

void Source::flush() {
    have_rest_encoded();
    notify();
}

void Source::notify() {
    if (attached_ == 0 && !ends_when_encoded_)
        return;
    for (HeldRtpLog& held : rtp_logs_)
        if (held.converter != nullptr)
            held.converter->flush();
    for (auto* listeners : {&listeners_, &batched_listeners_})
        for (std::size_t i = listeners->size(); i-- > 0;)
            (*listeners)[i]->on_packets();
    if (!has_unencoded() && std::exchange(ends_when_encoded_, false))
        note_stream_ended();
}

MediaKindSet Source::expected_kinds() const {
    MediaKindSet kinds = announced_;
    for (const MediaKind kind : {MediaKind::audio, MediaKind::video})
        if (last_time(kind) || config(kind).is_config())
            kinds.add(kind);
    return kinds;
}

// Tracks that are not known to this publisher belong to a former one.
void Source::choose_default(const Packet& packet) {
    has_default_.add(packet.kind);
    TrackId& id = defaults_[index_of(packet.kind)];
    if (id == packet.track)
        return;
    id = packet.track;
    known_[index_of(packet.kind)] = {};
    configs_[index_of(packet.kind)] = {};
    std::erase_if(tracks_, [&packet](const Track& track) { return track.kind == packet.kind && track.id != packet.track; });
    ++track_version_;
    ++config_version_;
}

void Source::forget_extra_tracks() {
    const auto forgotten =
        std::erase_if(tracks_, [this](const Track& track) { return track.id != defaults_[index_of(track.kind)]; });
    if (forgotten == 0 && extra_configs_.empty())
        return;
    extra_configs_.clear();
    ++track_version_;
    ++config_version_;
}

bool Source::has_room_for_another(MediaKind kind, TrackId id) const {
    std::size_t others = 0;
    for (const Track& track : tracks_) {
        if (track.kind == kind && track.id == id)
            return true;
        others += track.kind == kind ? 1 : 0;
    }
    return others < kTracksMax;
}

const Packet* Source::config_of(MediaKind kind, TrackId id) const {
    if (const Packet& config = configs_[index_of(kind)]; config.is_config() && config.track == id)
        return &config;
    for (const Packet& config : extra_configs_)
        if (config.kind == kind && config.track == id)
            return &config;
    return nullptr;
}

Packet& Source::kept_config(const Packet& packet) {
    if (!packet.extra)
        return configs_[index_of(packet.kind)];
    for (Packet& kept : extra_configs_)
        if (kept.kind == packet.kind && kept.track == packet.track)
            return kept;
    return extra_configs_.emplace_back();
}

void Source::remember_config(const Packet& packet) {
    if (!packet.is_config())
        return;
    Packet& kept = kept_config(packet);
    kept = packet;
    // Kept indefinitely, so it must not keep the memory block it shares with other packets.
    kept.payload = Slice::copy_of(packet.payload.bytes());
    kept.dts = {};
    kept.arrived = {};
    ++config_version_;
}

Track& Source::track_of(MediaKind kind, TrackId id) {
    for (Track& track : tracks_)
        if (track.kind == kind && track.id == id)
            return track;
    Track& added = tracks_.emplace_back();
    added.id = id;
    added.kind = kind;
    name_track(added);
    return added;
}

void Source::name_track(Track& track) const {
    const auto is_its = [&track](const TrackName& name) { return name.kind == track.kind && name.id == track.id; };
    const auto name = std::ranges::find_if(track_names_, is_its);
    track.language = name == track_names_.end() ? "" : name->language;
    track.name = name == track_names_.end() ? "" : name->name;
}

void Source::forget_metadata() {
    configs_[index_of(MediaKind::data)] = {};
    ++config_version_;
    name_tracks({});
}

void Source::name_tracks(std::vector<TrackName> names) {
    track_names_ = std::move(names);
    for (Track& track : tracks_)
        name_track(track);
}

void Source::note_track(const Packet& packet) {
    if (packet.kind == MediaKind::data || packet.codec == Codec::none || packet.content == Content::other)
        return;
    Known& known = known_[index_of(packet.kind)];
    if (!packet.extra && packet.codec == known.codec && !packet.is_config())
        return;
    Track& track = track_of(packet.kind, packet.track);
    if (!packet.extra)
        known.codec = packet.codec;
    if (packet.codec == track.codec && !packet.is_config())
        return;
    if (packet.codec != track.codec) {
        track.codec = packet.codec;
        track.config = {};
    }
    if (packet.is_config())
        track.config = kept_config(packet).frame_slice();
    ++track_version_;
}

void Source::note_audio(TrackId id, Codec codec, const AudioFormat& audio) {
    Known& known = known_[index_of(MediaKind::audio)];
    const bool is_known = is_chosen(MediaKind::audio, id);
    if (is_known && codec == known.codec && audio == known.audio)
        return;
    Track& track = track_of(MediaKind::audio, id);
    if (is_known)
        known = {codec, audio};
    if (codec != track.codec) {
        track.codec = codec;
        track.config = {};
        ++track_version_;
    }
    track.audio = audio;
}

const Track* Source::track(MediaKind kind, TrackId id) const {
    const auto track = std::ranges::find_if(tracks_, [&](const Track& known) { return known.kind == kind && known.id == id; });
    return track == tracks_.end() ? nullptr : &*track;
}

const Track* Source::default_track(MediaKind kind) const {
    const auto track = std::ranges::find(tracks_, kind, &Track::kind);
    return track == tracks_.end() ? nullptr : &*track;
}

void Source::track_gop(const Packet& packet) {
    if (packet.extra) {
        // A GOP consists of default-track frames.
    } else if (packet.kind == MediaKind::video && !packet.is_config()) {
        audio_since_video_ = 0;
        if (packet.key) {
            gop_start_ = ring_.next();
            ++counters_.key_frames;
        }
    } else if (packet.kind == MediaKind::audio && gop_start_ && ++audio_since_video_ > kAudioOnlyAfter) {
        gop_start_.reset();
    }
    if (gop_start_ && options_.gop_cache_frames_max > 0 && ring_.next() - *gop_start_ > options_.gop_cache_frames_max)
        gop_start_.reset();
}

std::optional<Sequence> Source::gop_start() const {
    return gop_start_ && *gop_start_ >= ring_.first() ? gop_start_ : std::nullopt;
}

Sequence Source::join_point() const { return options_.gop_cache ? gop_start().value_or(ring_.next()) : ring_.next(); }

Sequence Source::join_point(MediaTime age) const {
    if (ring_.size() == 0)
        return join_point();
    const Sequence younger = ring_.find_time(ring_.newest().dts - age + MediaTime(1));
    for (Sequence at = ring_.next(); at-- > ring_.first();) {
        const Packet& packet = ring_.at(at);
        if (packet.is_config() && packet.kind != MediaKind::data)
            break;  // what is before it cannot be decoded with those of now
        if (at < younger && packet.kind == MediaKind::video && packet.key && !packet.extra)
            return at;
    }
    return has_default_.has(MediaKind::video) ? join_point() : std::max(younger, ring_.first() + 1) - 1;
}

bool Source::is_too_late(Sequence sequence, Sequence floor) const {
    return sequence < floor || ring_.newest().dts - ring_.at(sequence).dts > options_.queue_length;
}

// Drops a sixteenth at once, so that the scan runs every few MiB and not for every packet.
Sequence Source::first_that_fits() const {
    if (ring_.bytes() <= kRingBytesMax && ring_.size() <= kRingPacketsMax)
        return ring_.first();
    Sequence first = ring_.first();
    for (std::size_t bytes = ring_.bytes(); bytes > kRingBytesMax / 16 * 15; ++first)
        bytes -= ring_.at(first).payload.size();
    return std::max(first, ring_.next() - std::min<Sequence>(ring_.size(), kRingPacketsMax / 16 * 15));
}

Sequence Source::after_oldest(std::size_t bytes, Sequence end) const {
    Sequence after = ring_.first();
    end = std::min(end, after + kLetGoPacketsMax);
    if (ring_.bytes() <= bytes)
        return end;
    for (std::size_t sum = 0; sum < bytes && after < end; ++after)
        sum += ring_.at(after).payload.size();
    return after;
}

// Iterates backwards: leave_place() may remove this place or append others, which affects only indexes already visited.
Sequence Source::keep_for_places(Sequence keep, Sequence floor) {
    for (HeldWireLog& held : wire_logs_) {
        const WireLog& wire_log = *held.wire_log;
        const auto& places = wire_log.held_places();
        if (places.empty())
            continue;
        keep = std::min(keep, wire_log.next());  // what append() has left is still to be encoded
        WireLog::Position kept = wire_log.offset_of(keep);
        for (std::size_t i = places.size(); i-- > 0;) {
            const WireLog::Position position = places[i]->held_position();
            if (position >= kept)
                continue;
            Sequence at = wire_log.find(position);
            if (wire_log.offset_of(at) != position)
                --at;  // inside its message
            if (is_too_late(at, floor)) {
                places[i]->leave_place();
            } else {
                keep = at;
                kept = wire_log.offset_of(at);
            }
        }
    }
    return keep;
}

// The newest key frame if that is ahead of the reader and may stay, else after everything.
Sequence Source::landing(const PacketReader& reader, Sequence keep, Sequence floor) const {
    const auto key = gop_start();
    const bool may_stay = key && (*key >= keep || !is_too_late(*key, floor));
    return may_stay && *key > reader.sequence() ? *key : ring_.next();
}

Sequence Source::keep_for_readers(Sequence keep, Sequence floor) {
    for (PacketReader* reader : packet_readers_) {
        if (reader->sequence() >= keep)
            continue;
        if (is_too_late(reader->sequence(), floor))
            reader->jump(landing(*reader, keep, floor));
        keep = std::min(keep, reader->sequence());
    }
    return keep;
}

// By both clocks: a publisher whose timestamps stand still grows old, too.
bool Source::is_young() const {
    if (publication_ == nullptr || published_from_ < ring_.first())
        return false;
    const Packet& first = ring_.at(published_from_);
    return ring_.newest().dts - first.dts < kYoung && arrival_ - first.arrived < kYoung;
}

void Source::trim() {
    untrimmed_bytes_ = 0;
    const Sequence floor = first_that_fits();
    if (gop_start_ && *gop_start_ < floor)
        gop_start_.reset();  // a single GOP exceeds the limit
    Sequence keep = options_.gop_cache ? gop_start().value_or(ring_.next()) : ring_.next();
    const auto history = std::max<MediaTime>(options_.history_min, readers() > 0 ? kHistory : MediaTime::zero());
    if (history > MediaTime::zero())
        keep = std::min(keep, ring_.find_time(ring_.newest().dts - history));
    if (is_young())
        keep = std::min(keep, published_from_);
    drop(std::max(after_oldest(kTrimBytesMax, keep), floor), floor);
}

void Source::drop(Sequence keep, Sequence floor) {
    if (attached_ != 0) {
        keep = keep_for_readers(keep_for_places(keep, floor), floor);
        for (HeldWireLog& held : wire_logs_)
            held.wire_log->drop_before(keep);
    }
    drop_before(keep);
}

void Source::let_go(std::size_t bytes) {
    const Sequence floor = after_oldest(bytes, ring_.next());
    if (gop_start_ && *gop_start_ < floor)
        gop_start_.reset();
    drop(floor, floor);
}

bool Source::is_behind() const {
    return !wire_logs_.empty() || !rtp_logs_.empty() ||
           std::ranges::any_of(packet_readers_, [this](const PacketReader* reader) { return reader->sequence() < ring_.next(); });
}

std::size_t Source::held_bytes() const {
    std::size_t sum = ring_.bytes() + ring_.size() * sizeof(Packet);
    if (attached_ == 0)
        return sum;
    for_each_rtp_log([&sum](const RtpLog& rtp_log) { sum += rtp_log.held_bytes(); });
    for (const HeldWireLog& held : wire_logs_)
        sum += held.wire_log->bytes();
    return sum;
}

void Source::drop_before(Sequence keep) {
    SourceTotals& totals = pool_.totals();
    const std::size_t before = ring_.bytes();
    totals.packets -= ring_.size();
    ring_.drop_before(keep, [this](Slice payload) { pool_.spend(std::move(payload)); });
    totals.packets += ring_.size();
    totals.packet_bytes -= before - ring_.bytes();
    totals.dropped += before - ring_.bytes();
    if (totals.dropped < totals.much)
        return;
    totals.dropped = 0;
    totals.much_dropped.raise();
}

std::size_t Source::readers() const {
    if (attached_ == 0)
        return 0;
    std::size_t count = packet_readers_.size();
    for (const HeldRtpLog& held : rtp_logs_)
        count += held.holders;
    for (const HeldWireLog& held : wire_logs_)
        count += held.holders;
    return count - rtp_publishers_;
}

bool Source::has_viewer() const {
    return readers() > packet_readers_.size() + unwatched_holders_ ||
           std::ranges::any_of(packet_readers_, [](const PacketReader* reader) { return reader->is_watched(); });
}

void Source::note_viewers() {
    const bool watched = has_viewer();
    if (watched == std::exchange(watched_, watched))
        return;
    for (SourceWatch* watch : watches_)
        watch->on_watched(watched);
}

void Source::add_reader(PacketReader& reader, Listens how) {
    packet_readers_.push_back(&reader);
    add_listener(reader, how);
    note_viewers();
}

void Source::remove_reader(PacketReader& reader) {
    std::erase(packet_readers_, &reader);
    remove_listener(reader);
    note_viewers();
}

}  // namespace live::media
