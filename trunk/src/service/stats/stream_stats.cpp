#include "service/stats/stream_stats.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "base/bytes/hash.hpp"
#include "base/bytes/random.hpp"
#include "base/check.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/pause.hpp"

namespace live::service::stats {

namespace {

constexpr std::size_t kIdLetters = 7;

std::string new_id() { return "vid-" + random_id(kIdLetters); }

void add_difference(Usage& to, const session::ClientFigures& now, const Usage& before) {
    to.received_bytes += now.received_bytes - std::min(now.received_bytes, before.received_bytes);
    to.sent_bytes += now.sent_bytes - std::min(now.sent_bytes, before.sent_bytes);
}

}  // namespace

void StreamRow::begin(TimePoint now) {
    usage = {};
    usage.rates.add(now, 0, 0);
    frame_rate_ = {};
    frames_seen_ = 0;
    frame_at_ = now;
    key_frames_ = {key_frames_.seen, {}, {}};
    if (record)
        record->begin(now);
}

// The source may be freed now.
void StreamRow::end(TimePoint now) {
    source_ = {};
    kept_until_ = now + StreamStats::kKeptFor;
}

void StreamRow::find_source(const media::StreamTable& streams) {
    if (source_)
        return;
    source_ = streams.find(url);
    if (!source_)
        return;
    before_ = source_->counters();
    key_frames_.seen = before_.key_frames;
    frame_rate_.add(frame_at_, 0, 0);
}

media::SourceCounters StreamRow::counters() const {
    media::SourceCounters counters;
    if (!source_)
        return counters;
    counters = source_->counters();
    for (std::size_t kind = 0; kind < kMediaKindCount; ++kind) {
        counters.packets[kind] -= before_.packets[kind];
        counters.bytes[kind] -= before_.bytes[kind];
    }
    counters.key_frames -= before_.key_frames;
    counters.dropped_packets -= before_.dropped_packets;
    return counters;
}

void StreamRow::sample(TimePoint now) {
    usage.rates.add(now, usage.received_bytes, usage.sent_bytes);
    if (!source_)
        return;
    const auto counted = counters();
    const std::uint64_t frames = counted.packets[index_of(MediaKind::video)];
    frame_rate_.add(now, frames, counted.key_frames);
    if (frames != frames_seen_)
        frame_at_ = now;
    frames_seen_ = frames;
    watch_key_frames();
    if (!record)
        return;
    watch_times();
    record->sample(now, {usage.received_bytes, usage.sent_bytes, frames}, gop(), viewers);
}

void StreamRow::watch_times() {
    const auto audio = source_->tracks().last_time(MediaKind::audio);
    const auto video = source_->tracks().last_time(MediaKind::video);
    if (audio && video)
        record->add_times(*audio, *video);
}

// Several GOPs may have passed between two polls: uses their mean.
void StreamRow::watch_key_frames() {
    const std::uint64_t key_frames = source_->counters().key_frames;
    const auto start = source_->retention().gop_start();
    if (key_frames == key_frames_.seen || !start)
        return;
    const MediaTime at = source_->ring().at(*start).dts;
    const auto passed = static_cast<MediaTime::rep>(key_frames - key_frames_.seen);
    if (key_frames_.last && at > *key_frames_.last)
        key_frames_.distance = (at - *key_frames_.last) / passed;
    key_frames_.last = at;
    key_frames_.seen = key_frames;
}

std::optional<MediaTime> StreamRow::since_key_frame(TimePoint now) const {
    if (!source_)
        return std::nullopt;
    const auto start = source_->retention().gop_start();
    const auto key_frame = start ? std::optional(source_->ring().at(*start).dts) : key_frames_.last;
    const auto last = source_->tracks().last_time(MediaKind::video);
    if (!key_frame || !last)
        return std::nullopt;
    const bool stands_still = counters().packets[index_of(MediaKind::video)] == frames_seen_;
    const auto waited = std::chrono::duration_cast<MediaTime>(stands_still ? now - frame_at_ : Duration::zero());
    return *last - *key_frame + waited;
}

HealthFacts StreamRow::health_facts(TimePoint now) const {
    const auto seconds = [](const std::optional<MediaTime>& time) {
        return time ? std::optional(std::chrono::duration<double>(*time).count()) : std::nullopt;
    };
    HealthFacts facts;
    facts.is_published = !publisher.empty() || is_published();
    facts.shows_slate = shows_slate();
    if (const auto known = video()) {
        facts.video_codec = known->codec;
        facts.video_profile = known->profile;
    }
    if (const auto known = audio()) {
        facts.audio_codec = known->codec;
        facts.audio_problem = known->problem;
    }
    facts.frames_per_second = frames_per_second();
    if (record) {
        facts.audio_behind = seconds(record->audio_behind());
        facts.best_frame_rate = record->best_frame_rate();
    }
    if (!source_)
        return facts;
    // A stream of RTP may have no frames, whose number is then no sign.
    const std::uint64_t frames = counters().packets[index_of(MediaKind::video)];
    if (frames > 0 && frames == frames_seen_)
        facts.without_video = std::chrono::duration<double>(now - frame_at_).count();
    facts.key_frame_distance = seconds(gop());
    facts.since_key_frame = seconds(since_key_frame(now));
    facts.has_b_frames = has_b_frames();
    const media::BridgeOptions& bridge = source_->options().bridge;
    facts.is_bridged_to_rtc = bridge.rtmp_to_rtc && !source_->publications().brings_rtp();
    facts.keeps_b_frames = bridge.keep_bframe;
    facts.encodes_b_frames = bridge.encodes_bframes;
    return facts;
}

// The track as described by an RTP publisher; its audio and video frames may exist nowhere.
const media::RtpTrack* StreamRow::rtp_track(MediaKind kind) const {
    return source_ && source_->publications().brings_rtp() ? source_->rtp_logs().find()->track(kind) : nullptr;
}

std::optional<VideoFacts> StreamRow::video() const {
    const auto* track = rtp_track(MediaKind::video);
    if (track != nullptr && counters().packets[index_of(MediaKind::video)] == 0)
        return video_facts_of(track->codec, track->format);
    if (!source_ || counters().packets[index_of(MediaKind::video)] == 0)
        return std::nullopt;
    const media::Track* known = source_->tracks().default_of(MediaKind::video);
    return known == nullptr ? std::nullopt : std::optional(video_facts_of(*known));
}

std::optional<AudioFacts> StreamRow::audio() const {
    const auto* track = rtp_track(MediaKind::audio);
    if (track != nullptr && counters().packets[index_of(MediaKind::audio)] == 0)
        return audio_facts_of(track->codec, track->clock_rate, track->channels);
    if (!source_ || counters().packets[index_of(MediaKind::audio)] == 0)
        return std::nullopt;
    const media::Track* known = source_->tracks().default_of(MediaKind::audio);
    return known == nullptr ? std::nullopt : std::optional(audio_facts_of(*known));
}

std::vector<TrackFacts> StreamRow::tracks() const {
    std::vector<TrackFacts> found;
    if (!source_)
        return found;
    const media::Tracks& tracks = source_->tracks();
    for (const media::Track& track : tracks.all()) {
        const bool is_rendition = track.rendition != media::RenditionId::none;
        if (track.kind == MediaKind::data || !(is_rendition || tracks.has_default(track.kind)))
            continue;
        TrackFacts facts{.kind = track.kind,
                         .id = static_cast<std::uint32_t>(track.id),
                         .is_default = tracks.default_of(track.kind) == &track,
                         .is_rendition = is_rendition,
                         .language = track.language,
                         .name = track.name,
                         .captions = track.captions.found().names()};
        if (track.kind == MediaKind::video)
            facts.video = video_facts_of(track);
        else
            facts.audio = audio_facts_of(track);
        found.push_back(std::move(facts));
    }
    // An RTP publisher's tracks may exist as RTP only.
    const auto exists_as_rtp_only = [&](MediaKind kind) { return rtp_track(kind) != nullptr && !tracks.has_default(kind); };
    if (exists_as_rtp_only(MediaKind::video))
        found.push_back({.kind = MediaKind::video, .is_default = true, .video = video()});
    if (exists_as_rtp_only(MediaKind::audio))
        found.push_back({.kind = MediaKind::audio, .is_default = true, .audio = audio()});
    return found;
}

Result<void> StreamStats::start(io::Scope& fibers, io::Deadline) {
    return fibers.start("stream-stream_stats", [this](io::Deadline forever) { run(forever); });
}

void StreamStats::run(io::Deadline deadline, Duration interval) {
    TimePoint due = io::now();
    for (;;) {
        due += interval;
        if (!io::sleep(deadline.sooner(io::Deadline::at(due))).ok())
            return;
        const auto portions = [&](auto&& sample_some) {
            for (std::optional<std::uint64_t> next = 0; next;) {
                next = sample_some(*next);
                if (next && !io::sleep(deadline.sooner(io::Deadline::after(kPause))).ok())
                    return false;
            }
            return true;
        };
        if (!portions([this](std::uint64_t from) { return sample_clients(io::now(), from, kPortion); }) ||
            !portions([this](std::uint64_t from) { return sample_streams(io::now(), from, kPortion); }))
            return;
        sample_vhosts(io::now());
        due = std::max(due, io::now() - interval);
    }
}

void StreamStats::sample(TimePoint now) {
    sample_clients(now, 0, clients_.size());
    sample_streams(now, 0, streams_.size());
    sample_vhosts(now);
}

session::ClientFigures StreamStats::count(ClientRow& client) {
    const session::ClientFigures figures = client.entry->figures();
    add_difference(client.stream->usage, figures, client.usage);
    add_difference(client.stream->vhost->usage, figures, client.usage);
    client.usage.received_bytes = figures.received_bytes;
    client.usage.sent_bytes = figures.sent_bytes;
    return figures;
}

void StreamStats::kick_if_idle(ClientRow& client, const session::ClientFigures& figures, TimePoint now) {
    using Verdict = IdlePlayerPolicy::Verdict;
    const session::StreamPlan* plan = client.entry->plan();
    if (plan == nullptr || session::is_publisher(client.kind) || client.kind.row().is_polling)
        return;
    const bool is_published = !client.stream->publisher.empty() || client.stream->is_published();
    // After the end of a stream, acknowledgements may be missing.
    const bool waits = figures.taken ? !figures.taken->is_all && is_published : figures.queued_packets > 0 && !figures.is_paused;
    const TimePoint looked_at = client.patience.looked_at();
    const Duration paused = looked_at == TimePoint{} ? Duration{} : io::silence_from(looked_at) - looked_at;
    const IdlePlayerPolicy::Seen seen{figures.taken ? figures.taken->amount : figures.sent_bytes, waits, is_published, paused};
    const auto verdict = client.patience.look(now, seen, plan->play);
    if (verdict == Verdict::stays)
        return;
    client.patience = {};  // the client is being closed
    const auto seconds = [](std::chrono::seconds limit) { return std::to_string(limit.count()) + " s"; };
    if (verdict == Verdict::stalled) {
        ++totals_.stalled;
        client.entry->kick("the player took nothing for " + seconds(plan->play.stall_timeout) + " (stall_timeout)");
    } else {
        ++totals_.unpublished;
        client.entry->kick("the stream was not published for " + seconds(plan->play.unpublished_timeout) +
                           " (unpublished_timeout)");
    }
}

std::optional<std::uint64_t> StreamStats::sample_clients(TimePoint now, std::uint64_t from, std::size_t most) {
    auto at = clients_.lower_bound(from);
    for (std::size_t i = 0; i < most && at != clients_.end(); ++i, ++at) {
        ClientRow& client = at->second;
        const auto figures = count(client);
        kick_if_idle(client, figures, now);
        if (client.stream->record && !session::is_publisher(client.kind) && !client.kind.row().is_polling)
            client.stream->record->add_delay(figures.queue_delay);
        client.usage.rates.add(now, client.usage.received_bytes, client.usage.sent_bytes);
    }
    return at == clients_.end() ? std::nullopt : std::optional(at->first);
}

std::optional<std::uint64_t> StreamStats::sample_streams(TimePoint now, std::uint64_t from, std::size_t most) {
    auto at = streams_.lower_bound(from);
    for (std::size_t i = 0; i < most && at != streams_.end(); ++i) {
        StreamRow& stream = *at->second;
        if (stream.clients == 0) {
            at = now >= stream.kept_until_ ? forget(at) : std::next(at);
            continue;
        }
        stream.find_source(sources_);
        stream.sample(now);
        ++at;
    }
    return at == streams_.end() ? std::nullopt : std::optional(at->first);
}

void StreamStats::sample_vhosts(TimePoint now) {
    if (history_.is_due(now))
        history_.add(slot_of(now), {static_cast<std::uint32_t>(stream_count()), players_.counts});
    for (const auto& vhost : vhosts_)
        vhost->usage.rates.add(now, vhost->usage.received_bytes, vhost->usage.sent_bytes);
}

std::string StreamStats::id_for(const std::string& name) const {
    if (secret_.empty())
        return new_id();
    return fmt::format("vid-{:x}", fnv1a(as_bytes(name), fnv1a(as_bytes(secret_))));
}

VhostRow& StreamStats::vhost_named(const std::string& name) {
    const auto found = std::ranges::find(vhosts_, name, [](const auto& vhost) { return vhost->name; });
    if (found != vhosts_.end())
        return **found;
    vhosts_.push_back(std::make_unique<VhostRow>(VhostRow{id_for("vhost " + name), name, 0, {}}));
    return *vhosts_.back();
}

// Returns the stream's row. A new row has no clients.
StreamRow& StreamStats::stream_for(const session::ClientRequest& request, const std::string& url, const std::string& vhost) {
    if (const auto known = streams_by_url_.find(url); known != streams_by_url_.end())
        return *streams_.at(known->second);
    auto stream = std::make_unique<StreamRow>();
    stream->id = id_for(url);
    stream->vhost = &vhost_named(vhost);
    stream->app = request.app;
    stream->name = request.stream;
    stream->url = url;
    stream->tc_url = request.tc_url_without_query();
    const std::uint64_t number = next_number_++;
    streams_by_url_.emplace(url, number);
    streams_by_id_.emplace(stream->id, number);
    ++kept_;
    return *streams_.emplace(number, std::move(stream)).first->second;
}

StreamStats::Streams::iterator StreamStats::forget(Streams::iterator stream) {
    CHECK(stream->second->clients == 0);
    drop_record(*stream->second);
    streams_by_url_.erase(stream->second->url);
    streams_by_id_.erase(stream->second->id);
    --kept_;
    return streams_.erase(stream);
}

void StreamStats::on_entered(session::ClientEntry& entry) {
    const session::ClientRequest& request = entry.client().request();
    const TimePoint now = entry.since();
    StreamRow& stream = stream_for(request, entry.plan()->url, entry.plan()->vhost);
    if (stream.clients++ == 0) {
        --kept_;
        make_record(stream, now);
        stream.begin(now);
    }
    if (stream.vhost->clients++ == 0)
        stream.vhost->usage.rates.add(now, stream.vhost->usage.received_bytes, stream.vhost->usage.sent_bytes);
    stream.find_source(sources_);
    if (session::is_publisher(request.kind)) {
        stream.publisher = request.id;
        stream.published_at = now;
        stream.tc_url = request.tc_url_without_query();
        if (stream.record) {
            stream.record->restart_times();
            stream.record->add_event(now, "published", request.id,
                                     fmt::format("{} from {}", session::name_of(request.kind), request.ip));
        }
    }
    count_viewer(request, stream, 1);
    const std::uint64_t number = next_number_++;
    ClientRow& client = clients_[number];
    client.entry = &entry;
    client.stream = &stream;
    client.kind = request.kind;
    ++count_of(client.kind);
    client.usage.rates.add(now, 0, 0);
    clients_by_id_[request.id] = number;
    clients_by_entry_[&entry] = number;
    ++totals_.clients;
}

std::size_t& StreamStats::count_of(session::ClientKind kind) {
    for (auto& [known, count] : by_kind_)
        if (known == kind)
            return count;
    return by_kind_.emplace_back(kind, 0).second;
}

std::size_t StreamStats::clients(session::ClientKind kind) const {
    const auto known = std::ranges::find(by_kind_, kind, [](const auto& one) { return one.first; });
    return known == by_kind_.end() ? 0 : known->second;
}

void StreamStats::on_left(session::ClientEntry& entry, const session::SessionEnd& end) {
    if (end.failed)
        ++totals_.errors;
    const auto known = clients_by_entry_.find(&entry);
    CHECK(known != clients_by_entry_.end());
    const std::uint64_t number = known->second;
    clients_by_entry_.erase(known);
    const auto at = clients_.find(number);
    count(at->second);
    --count_of(at->second.kind);
    StreamRow& stream = *at->second.stream;
    const session::ClientRequest& request = entry.client().request();
    const std::string& id = request.id;
    if (stream.publisher == id)
        stream.publisher.clear();
    count_viewer(request, stream, -1);
    if (const bool is_publisher = session::is_publisher(request.kind);
        stream.record && (is_publisher || end.failed || end.kicked))
        stream.record->add_event(io::now(),
                                 is_publisher ? "unpublished"
                                 : end.kicked ? "player_kicked"
                                              : "player_failed",
                                 id, end.why.empty() ? "the client left" : end.why);
    if (const auto by_id = clients_by_id_.find(id); by_id != clients_by_id_.end() && by_id->second == number)
        clients_by_id_.erase(by_id);
    clients_.erase(at);
    --stream.vhost->clients;
    if (--stream.clients > 0)
        return;
    stream.end(io::now());
    if (records_ > kRecordsMax / 2)
        drop_record(stream);
    if (++kept_ > kKeptMax)
        forget(streams_.find(streams_by_url_.at(stream.url)));
}

void StreamStats::count_viewer(const session::ClientRequest& request, StreamRow& stream, int change) {
    if (session::is_publisher(request.kind) || request.is_relay())
        return;
    auto& [kinds, counts] = players_;
    auto kind = std::ranges::find(kinds, request.kind);
    if (kind == kinds.end()) {
        if (kinds.size() == kPlayerKindsMax)
            return;
        kind = kinds.insert(kind, request.kind);
    }
    const auto at = static_cast<std::size_t>(kind - kinds.begin());
    stream.viewers[at] += static_cast<std::uint32_t>(change);
    counts[at] += static_cast<std::uint32_t>(change);
}

void StreamStats::make_record(StreamRow& stream, TimePoint now) {
    if (stream.record || records_ == kRecordsMax)
        return;
    stream.record = std::make_unique<StreamRecord>();
    stream.record->begin(now);
    ++records_;
}

void StreamStats::drop_record(StreamRow& stream) {
    if (!stream.record)
        return;
    stream.record.reset();
    --records_;
}

StreamStats::Records StreamStats::records() const {
    Records all{records_, history_.bytes()};
    for (const auto& [number, stream] : streams_)
        all.bytes += stream->record ? stream->record->bytes() : 0;
    return all;
}

std::vector<StreamHolder::Held> StreamStats::held() const {
    std::vector<Held> all;
    for (const auto& [number, stream] : streams_)
        if (stream->record)
            all.push_back({stream->url, stream->record->bytes(), stream->clients > 0, Held::What::record});
    return all;
}

void StreamStats::give_up(const std::string& url) {
    const auto known = streams_by_url_.find(url);
    if (known != streams_by_url_.end() && streams_.at(known->second)->clients == 0)
        drop_record(*streams_.at(known->second));
}

void StreamStats::on_refused(const session::ClientEntry&, const Error&) {
    ++totals_.clients;
    ++totals_.errors;
}

std::string StreamStats::stream_id(const session::ClientRequest& request, const std::string& url, const std::string& vhost) {
    if (!streams_by_url_.contains(url) && kept_ >= kKeptMax)
        return new_id();
    StreamRow& stream = stream_for(request, url, vhost);
    stream.kept_until_ = io::now() + kKeptFor;
    return stream.id;
}

std::string StreamStats::stream_id(const std::string& url) const {
    const auto known = streams_by_url_.find(url);
    return known == streams_by_url_.end() ? std::string() : streams_.at(known->second)->id;
}

const ClientRow* StreamStats::find_client(const std::string& id) const {
    const auto known = clients_by_id_.find(id);
    return known == clients_by_id_.end() ? nullptr : &clients_.at(known->second);
}

const StreamRow* StreamStats::find_stream(const std::string& id) const {
    const auto known = streams_by_id_.find(id);
    if (known == streams_by_id_.end())
        return nullptr;
    const StreamRow* stream = streams_.at(known->second).get();
    return stream->clients == 0 ? nullptr : stream;
}

const StreamRow* StreamStats::find_stream_of(const std::string& url) const {
    const auto known = streams_by_url_.find(url);
    if (known == streams_by_url_.end())
        return nullptr;
    const StreamRow* stream = streams_.at(known->second).get();
    return stream->clients == 0 ? nullptr : stream;
}

const VhostRow* StreamStats::find_vhost(std::string_view id) const {
    const auto found = std::ranges::find(vhosts_, id, [](const auto& vhost) { return std::string_view(vhost->id); });
    return found == vhosts_.end() ? nullptr : found->get();
}

}  // namespace live::service::stats
