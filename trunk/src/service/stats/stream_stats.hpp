// StreamStats: the operator's view of virtual hosts, streams and clients: ids, totals, rates over the last half minute, codecs.
// It is notified when clients enter and leave, and reads their figures every few seconds in its own fiber, a few hundred at a
// time, so that media is not delayed.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/time.hpp"
#include "io/fibers/deadline.hpp"
#include "media/source/source.hpp"
#include "media/source/stream_table.hpp"
#include "service/service.hpp"
#include "service/stats/health.hpp"
#include "service/stats/idle_player_policy.hpp"
#include "service/stats/rate_window.hpp"
#include "service/stats/stream_record.hpp"
#include "service/stats/track_facts.hpp"
#include "session/common/client_table.hpp"
#include "session/common/stream_ids.hpp"

namespace live::service::stats {

// Network bytes of all clients so far.
struct Usage {
    std::uint64_t received_bytes = 0;
    std::uint64_t sent_bytes = 0;
    RateWindow rates;  // of both
};

struct VhostRow {
    std::string id;
    std::string name;
    std::size_t clients = 0;
    Usage usage;
};

class StreamRow {
public:
    std::string id;
    VhostRow* vhost = nullptr;
    std::string app;
    std::string name;
    std::string url;     // of the source
    std::string tc_url;  // without its query
    std::size_t clients = 0;
    std::string publisher;  // the client's id; empty without a publisher
    TimePoint published_at{};
    ViewerCounts viewers{};                // players, without other nodes and workers
    std::unique_ptr<StreamRecord> record;  // nullptr: there are too many streams
    Usage usage;

    // Since its first client.
    media::SourceCounters counters() const;
    double frames_per_second() const { return frame_rate_.per_second().first; }
    // Recent distance between key frames.
    std::optional<MediaTime> gop() const { return key_frames_.distance; }
    std::optional<MediaTime> since_key_frame(TimePoint now) const;
    // Here, or by another worker.
    bool is_published() const { return source_ && source_->is_published(); }
    // Whether players get the slate.
    bool shows_slate() const { return source_ && source_->publications().is_standing_in(); }
    bool has_b_frames() const { return source_ && source_->tracks().has_b_frames(); }
    HealthFacts health_facts(TimePoint now) const;
    std::optional<VideoFacts> video() const;
    std::optional<AudioFacts> audio() const;
    // Audio and video tracks in order of appearance; empty without a source.
    std::vector<TrackFacts> tracks() const;

private:
    friend class StreamStats;
    // At its first client, or after its last client has left: nothing has been counted yet.
    void begin(TimePoint now);
    void end(TimePoint now);
    void find_source(const media::StreamTable& streams);
    void sample(TimePoint now);
    void watch_key_frames();
    void watch_times();
    const media::RtpTrack* rtp_track(MediaKind kind) const;

    Ref<media::Source> source_;
    media::SourceCounters before_;  // the source's counters when this entry was made
    RateWindow frame_rate_;         // frames, key frames
    std::uint64_t frames_seen_ = 0;
    TimePoint frame_at_{};  // when the last one was noticed
    struct KeyFrames {
        std::uint64_t seen = 0;
        std::optional<MediaTime> last{};
        std::optional<MediaTime> distance{};  // recent
    };
    KeyFrames key_frames_;
    TimePoint kept_until_{};  // its id and its record, while it has no client
};

struct ClientRow {
    session::ClientEntry* entry = nullptr;
    StreamRow* stream = nullptr;
    Usage usage;  // already added to its stream
    session::ClientKind kind = session::ClientKind::unknown;
    IdlePlayerPolicy patience;
};

// Players of the process at the end of an interval.
struct PlayersPoint {
    std::uint32_t streams = 0;
    ViewerCounts viewers{};
};

class StreamStats final : public Service, public StreamHolder, public session::ClientWatcher, public session::StreamIds {
public:
    static constexpr std::chrono::seconds kInterval{3};
    // Entries sampled without a pause, and the length of the pause.
    static constexpr std::size_t kPortion = 500;
    static constexpr std::chrono::milliseconds kPause{1};
    // Ids are kept this long before the first client and after the last one, and at most this many.
    static constexpr std::chrono::seconds kKeptFor{60};
    static constexpr std::size_t kKeptMax = 10'000;
    // Streams that have a record. Above half of it, streams without a client lose theirs at once.
    static constexpr std::size_t kRecordsMax = 1'000;

    // All clients so far, and of these the refused and the failed ones.
    struct Totals {
        std::uint64_t clients = 0;
        std::uint64_t errors = 0;
        // Players closed by the server: they read nothing, or their stream had no publisher.
        std::uint64_t stalled = 0;
        std::uint64_t unpublished = 0;
    };

    using Clients = std::map<std::uint64_t, ClientRow>;
    using Streams = std::map<std::uint64_t, std::unique_ptr<StreamRow>>;

    // `streams` outlives this.
    explicit StreamStats(const media::StreamTable& streams) : sources_(streams) {}

    // Before the first client: ids follow from names and this secret, so that all processes that have it give the same ids.
    // Otherwise they are random.
    void share_ids(std::string secret) { secret_ = std::move(secret); }

    // Starts a fiber that calls run().
    Result<void> start(io::Scope& fibers, io::Deadline deadline) override;
    std::string_view name() const override { return "the statistics"; }
    // Runs until cancelled.
    void run(io::Deadline deadline, Duration interval = kInterval);
    // Samples everything once, without pauses.
    void sample(TimePoint now);

    // In order of arrival. Streams without a client are kept for their ids only.
    const Clients& clients() const { return clients_; }
    const Streams& streams() const { return streams_; }
    const std::vector<std::unique_ptr<VhostRow>>& vhosts() const { return vhosts_; }
    // Streams with a client.
    std::size_t stream_count() const { return streams_.size() - kept_; }
    const Totals& totals() const { return totals_; }
    // Current number.
    std::size_t clients(session::ClientKind kind) const;
    // nullptr if missing.
    const ClientRow* find_client(const std::string& id) const;
    const StreamRow* find_stream(const std::string& id) const;
    const StreamRow* find_stream_of(const std::string& url) const;
    const VhostRow* find_vhost(std::string_view id) const;

    // Players of this process. Those of further kinds are not counted.
    struct Players {
        std::vector<session::ClientKind> kinds;  // in the order of all ViewerCounts
        ViewerCounts counts{};
    };
    const Players& players() const { return players_; }
    const History<PlayersPoint>& history() const { return history_; }
    struct Records {
        std::size_t count = 0;
        std::size_t bytes = 0;
    };
    Records records() const;

    // StreamHolder, of the records
    StreamHolder* memory() override { return this; }
    std::vector<Held> held() const override;
    void give_up(const std::string& url) override;

    // session::ClientWatcher
    void on_entered(session::ClientEntry& entry) override;
    void on_left(session::ClientEntry& entry, const session::SessionEnd& end) override;
    void on_refused(const session::ClientEntry& entry, const Error& error) override;
    // session::StreamIds
    std::string stream_id(const session::ClientRequest& request, const std::string& url, const std::string& vhost) override;
    std::string stream_id(const std::string& url) const override;

private:
    std::string id_for(const std::string& name) const;
    VhostRow& vhost_named(const std::string& name);
    StreamRow& stream_for(const session::ClientRequest& request, const std::string& url, const std::string& vhost);
    Streams::iterator forget(Streams::iterator stream);
    static session::ClientFigures count(ClientRow& client);
    // Disconnects a player that has kept its place too long.
    void kick_if_idle(ClientRow& client, const session::ClientFigures& figures, TimePoint now);
    // Each starts at the first entry whose number is at least `from`, and returns the number to continue with, or none.
    std::optional<std::uint64_t> sample_clients(TimePoint now, std::uint64_t from, std::size_t most);
    std::optional<std::uint64_t> sample_streams(TimePoint now, std::uint64_t from, std::size_t most);
    void sample_vhosts(TimePoint now);
    std::size_t& count_of(session::ClientKind kind);
    // Adds `change` to the viewers of its stream and of all, if the client is one.
    void count_viewer(const session::ClientRequest& request, StreamRow& stream, int change);
    void make_record(StreamRow& stream, TimePoint now);
    void drop_record(StreamRow& stream);

    const media::StreamTable& sources_;
    std::string secret_;
    std::vector<std::unique_ptr<VhostRow>> vhosts_;  // as few as in the settings; they stay
    Streams streams_;
    std::unordered_map<std::string, std::uint64_t> streams_by_url_;
    std::unordered_map<std::string, std::uint64_t> streams_by_id_;
    Clients clients_;
    std::unordered_map<std::string, std::uint64_t> clients_by_id_;
    std::unordered_map<const session::ClientEntry*, std::uint64_t> clients_by_entry_;
    std::uint64_t next_number_ = 0;
    std::size_t kept_ = 0;  // streams without a client
    Totals totals_;
    std::vector<std::pair<session::ClientKind, std::size_t>> by_kind_;  // one entry for each kind that has had a client
    Players players_;
    History<PlayersPoint> history_;
    std::size_t records_ = 0;
};

}  // namespace live::service::stats
