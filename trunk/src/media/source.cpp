#include "media/source.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"
#include "media/audio_run.hpp"
#include "media/flv_run.hpp"
#include "media/frames_to_rtp.hpp"
#include "media/rtmp_run.hpp"
#include "media/ts_run.hpp"

namespace live::media {

Publication::Publication(Ref<Source> source) : source_(std::move(source)) {}

Publication::~Publication() {
    stop_filling();
    if (current_)
        source_->end_publication();
    if (key_frames_ != nullptr)
        source_->release_rtp_lane();
}

RtpLane& Publication::fill_rtp_lane(KeyFrameSource& key_frames) {
    CHECK(key_frames_ == nullptr && current_);
    key_frames_ = &key_frames;
    RtpLane& lane = source_->hold_rtp_lane();
    lane.start_writer(key_frames_);
    return lane;
}

void Publication::stop_filling() {
    if (key_frames_ != nullptr)
        source_->rtp_lane()->end_writer(key_frames_);
}

EndWatch::EndWatch(Ref<Source> source, Signal& signal)
    : source_(std::move(source)), signal_(signal), index_(source_->end_watches_.size()) {
    source_->end_watches_.push_back(this);
}

EndWatch::~EndWatch() {
    auto& watches = source_->end_watches_;
    watches[index_] = watches.back();
    watches[index_]->index_ = index_;
    watches.pop_back();
}

Source::Source(std::string url, const PlayOptions& options, std::uint32_t chunk_size, SlabPool& pool)
    : url_(std::move(url)), options_(options), pool_(pool), chunk_size_(chunk_size), next_chunk_size_(chunk_size) {
    ++pool_.totals().sources;
}

Source::~Source() {
    CHECK(publication_ == nullptr);
    CHECK(rtp_holders_ == 0);
    CHECK(packet_readers_.empty() && listeners_.empty() && patient_listeners_.empty());
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
    published_from_ = ring_.next();
    frames_to_rtp_.reset();
    return publication;
}

void Source::evict_publisher() {
    if (publication_ == nullptr)
        return;
    publication_->current_ = false;
    publication_->stop_filling();
    publication_->evicted_.raise();
    publication_ = nullptr;
}

// While its last sound is on its way, what converts frames stays until the next publisher comes or the last player goes.
void Source::end_publication() {
    publication_ = nullptr;
    if (frames_to_rtp_ != nullptr && frames_to_rtp_->is_idle())
        frames_to_rtp_.reset();
    for (EndWatch* watch : end_watches_)
        watch->signal_.raise();
}

void Source::append(Packet packet) {
    packet.arrived = arrival_;
    const std::size_t kind = index_of(packet.kind);
    ++counters_.packets[kind];
    counters_.bytes[kind] += packet.payload.size();
    if (!packet.config)
        last_times_[kind] = packet.dts;
    remember_config(packet);
    track_gop(packet);
    for (HeldRun& held : runs_)
        held.run->append(packet);
    if (rtp_lane_ != nullptr && frames_to_rtp_ == nullptr)
        start_conversion();
    if (frames_to_rtp_ != nullptr)
        frames_to_rtp_->push(packet);
    ++pool_.totals().packets;
    pool_.totals().packet_bytes += packet.payload.size();
    const bool trim_now = packet.key || (ring_.next() & 15U) == 0;
    ring_.append(std::move(packet));
    if (trim_now)
        trim();
}

void Source::flush() {
    if (frames_to_rtp_ != nullptr)
        frames_to_rtp_->flush();
    for (auto* listeners : {&listeners_, &patient_listeners_})
        for (std::size_t i = listeners->size(); i-- > 0;)
            (*listeners)[i]->on_packets();
}

void Source::remember_config(const Packet& packet) {
    if (!packet.config)
        return;
    // Kept for good, so without the memory that it shares with packets.
    (packet.kind == Kind::data ? metadata_ : configs_[index_of(packet.kind)]) = Slice::copy_of(packet.payload.bytes());
    ++config_version_;
}

void Source::track_gop(const Packet& packet) {
    if (packet.kind == Kind::video && !packet.config) {
        audio_since_video_ = 0;
        if (packet.key) {
            gop_start_ = ring_.next();
            ++counters_.key_frames;
        }
    } else if (packet.kind == Kind::audio && gop_start_ && ++audio_since_video_ > kAudioOnlyAfter) {
        gop_start_.reset();
    }
    if (gop_start_ && options_.gop_cache_frames_max > 0 && ring_.next() - *gop_start_ > options_.gop_cache_frames_max)
        gop_start_.reset();
}

std::optional<Sequence> Source::gop_start() const {
    return gop_start_ && *gop_start_ >= ring_.first() ? gop_start_ : std::nullopt;
}

Sequence Source::join_point() const { return options_.gop_cache ? gop_start().value_or(ring_.next()) : ring_.next(); }

bool Source::is_too_late(Sequence sequence, Sequence floor) const {
    return sequence < floor || ring_.newest().dts - ring_.at(sequence).dts > options_.queue_length;
}

// An eighth at once, so that this is looked for every some MiB and not with every packet.
Sequence Source::first_that_fits() const {
    if (ring_.bytes() <= kRingBytesMax && ring_.size() <= kRingPacketsMax)
        return ring_.first();
    Sequence first = ring_.first();
    for (std::size_t bytes = ring_.bytes(); bytes > kRingBytesMax / 8 * 7; ++first)
        bytes -= ring_.at(first).payload.size();
    return std::max(first, ring_.next() - std::min<Sequence>(ring_.size(), kRingPacketsMax / 8 * 7));
}

// From the last on: what leave_place() lets go of, or holds anew, is behind.
Sequence Source::keep_for_places(Sequence keep, Sequence floor) {
    for (HeldRun& held : runs_) {
        const WireRun& run = *held.run;
        const auto& places = run.held_places();
        WireRun::Position kept = run.offset_of(keep);
        for (std::size_t i = places.size(); i-- > 0;) {
            const WireRun::Position position = places[i]->held_position();
            if (position >= kept)
                continue;
            Sequence at = run.find(position);
            if (run.offset_of(at) != position)
                --at;  // inside its message
            if (is_too_late(at, floor)) {
                places[i]->leave_place();
            } else {
                keep = at;
                kept = run.offset_of(at);
            }
        }
    }
    return keep;
}

// The newest key frame where that is a step forward and may stay, else behind everything.
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

void Source::trim() {
    const Sequence floor = first_that_fits();
    if (gop_start_ && *gop_start_ < floor)
        gop_start_.reset();  // one GOP alone is over the bound
    Sequence keep = options_.gop_cache ? gop_start().value_or(ring_.next()) : ring_.next();
    const auto history = std::max<MediaTime>(options_.history_min, readers() > 0 ? kHistory : MediaTime::zero());
    if (history > MediaTime::zero())
        keep = std::min(keep, ring_.find_time(ring_.newest().dts - history));
    drop(std::max(keep, floor), floor);
}

void Source::drop(Sequence keep, Sequence floor) {
    keep = keep_for_readers(keep_for_places(keep, floor), floor);
    for (HeldRun& held : runs_)
        held.run->drop_before(keep);
    drop_before(keep);
}

void Source::let_go(std::size_t bytes) {
    Sequence floor = ring_.first();
    for (std::size_t gone = 0; gone < bytes && floor < ring_.next(); ++floor)
        gone += ring_.at(floor).payload.size();
    if (gop_start_ && *gop_start_ < floor)
        gop_start_.reset();
    drop(floor, floor);
}

bool Source::is_behind() const {
    return !runs_.empty() || rtp_holders_ > 0 ||
           std::ranges::any_of(packet_readers_, [this](const PacketReader* reader) { return reader->sequence() < ring_.next(); });
}

std::size_t Source::held_bytes() const {
    std::size_t sum = ring_.bytes() + ring_.size() * sizeof(Packet) + (rtp_lane_ != nullptr ? rtp_lane_->held_bytes() : 0);
    for (const HeldRun& held : runs_)
        sum += held.run->bytes();
    return sum;
}

void Source::drop_before(Sequence keep) {
    SourceTotals& totals = pool_.totals();
    totals.packets -= ring_.size();
    totals.packet_bytes -= ring_.bytes();
    ring_.drop_before(keep);
    totals.packets += ring_.size();
    totals.packet_bytes += ring_.bytes();
}

void Source::set_chunk_size(std::uint32_t bytes) {
    next_chunk_size_ = bytes;
    if (readers() == 0)
        chunk_size_ = bytes;
}

std::unique_ptr<RunEncoder> Source::encoder_for(const RunFormat& format) const {
    switch (format.container) {
        case Container::flv: return std::make_unique<FlvRunEncoder>(format.framing, format.kinds);
        case Container::ts: return std::make_unique<TsRunEncoder>(format.framing, config(Kind::audio), config(Kind::video));
        case Container::aac:
            return std::make_unique<AudioRunEncoder>(format.framing, wire::flv::AudioCodec::aac, config(Kind::audio));
        case Container::mp3:
            return std::make_unique<AudioRunEncoder>(format.framing, wire::flv::AudioCodec::mp3, config(Kind::audio));
        case Container::rtmp: break;
    }
    return std::make_unique<RtmpRunEncoder>(chunk_size_);
}

WireRun& Source::hold_run(const RunFormat& format) {
    auto held = std::ranges::find(runs_, format, &HeldRun::format);
    if (held == runs_.end()) {
        if (format.container == Container::rtmp)
            chunk_size_ = next_chunk_size_;
        runs_.push_back({format, std::make_unique<WireRun>(encoder_for(format), pool_, ring_), 0});
        held = std::prev(runs_.end());
    }
    ++held->holders;
    return *held->run;
}

void Source::release_run(const RunFormat& format) {
    const auto held = std::ranges::find(runs_, format, &HeldRun::format);
    CHECK(held != runs_.end());
    if (--held->holders == 0)
        runs_.erase(held);
}

WireRun* Source::run(const RunFormat& format) const {
    const auto held = std::ranges::find(runs_, format, &HeldRun::format);
    return held == runs_.end() ? nullptr : held->run.get();
}

RtpLane& Source::hold_rtp_lane() {
    if (rtp_lane_ == nullptr)
        rtp_lane_ = std::make_unique<RtpLane>();
    ++rtp_holders_;
    start_conversion();
    return *rtp_lane_;
}

void Source::set_conversion(AudioTranscoders* transcoders, const Log& log) {
    transcoders_ = transcoders;
    conversion_log_ = log;
}

// With the pictures since the newest key frame, so that the first player sees one at once. Sound begins now: what is old would
// only have to be left out.
void Source::start_conversion() {
    if (frames_to_rtp_ != nullptr || !options_.bridge.rtmp_to_rtc || publication_ == nullptr || brings_rtp())
        return;
    frames_to_rtp_ = std::make_unique<FramesToRtp>(*rtp_lane_, options_.bridge, transcoders_, conversion_log_);
    for (const Kind kind : {Kind::video, Kind::audio})
        if (!config(kind).empty())
            frames_to_rtp_->push({kind, false, true, timeline_.newest(), config(kind)});
    const auto key = gop_start();
    if (!key || *key < published_from_)
        return;
    for (Sequence at = *key; at < ring_.next(); ++at)
        if (ring_.at(at).kind == Kind::video)
            frames_to_rtp_->push(ring_.at(at));
}

void Source::release_rtp_lane() {
    CHECK(rtp_holders_ > 0);
    if (--rtp_holders_ > 0)
        return;
    frames_to_rtp_.reset();
    rtp_lane_.reset();
}

std::size_t Source::readers() const {
    std::size_t count = packet_readers_.size() + rtp_holders_ - (brings_rtp() ? 1 : 0);
    for (const HeldRun& held : runs_)
        count += held.holders;
    return count;
}

std::size_t Source::viewers() const {
    const auto nobodys = std::ranges::count_if(packet_readers_, [](const PacketReader* reader) { return !reader->is_watched(); });
    return readers() - static_cast<std::size_t>(nobodys);
}

}  // namespace live::media
