// Source: one live stream. It keeps the ring of packets, what a newcomer needs first (metadata, sequence headers, the newest
// GOP), one wire log for each format that has readers, and the current publisher. Publishing is one append; the source calls no
// reader per packet, except the few that asked to be notified at once.
//
// Retention: the newest GOP (if the GOP cache is on), a short history, and more only while a reader or a cohort still needs it,
// up to PlayOptions::queue_length and kRingBytesMax. A reader that falls behind these limits jumps to the newest GOP start.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/ref.hpp"
#include "base/log/log.hpp"
#include "base/result.hpp"
#include "base/signal.hpp"
#include "media/ring/options.hpp"
#include "media/ring/relay_mark.hpp"
#include "media/ring/ring.hpp"
#include "media/ring/timeline.hpp"
#include "media/ring/track.hpp"
#include "media/ring/track_names.hpp"
#include "media/rtp/rtp_log.hpp"
#include "media/wire_log/framing.hpp"
#include "media/wire_log/wire_log.hpp"

namespace live::media {

class AudioTranscoders;
class FramesToRtp;
class Source;

enum class Container : std::uint8_t { rtmp, flv, ts, aac, mp3 };

// Selects a wire log: there is one for each combination that has readers.
struct WireFormat {
    Container container = Container::rtmp;
    Framing framing = Framing::none;
    // Packets of other kinds are dropped.
    MediaKindSet kinds = MediaKindSet::all();
    TrackSelection tracks = TrackSelection::defaults;

    // For another node: also on the source's timeline.
    bool is_relayed() const { return tracks == TrackSelection::all_and_marks; }
    bool operator==(const WireFormat&) const = default;
};

// The right to publish on a source, released on destruction. `evicted` is raised on a takeover or when an operator kicks the
// publisher; the holder then has nothing left to publish to and ends.
class Publication {
public:
    explicit Publication(Ref<Source> source);
    ~Publication();
    Publication(const Publication&) = delete;
    Publication& operator=(const Publication&) = delete;

    Source& source() { return *source_; }
    bool is_current() const { return current_; }
    Signal& evicted() { return evicted_; }

    // For a holder whose connection may have ended without its notice: when asked, which raises `evicted` too, it reads the
    // connection and confirms that it is still there, or ends.
    void set_can_confirm() { can_confirm_ = true; }
    bool is_asked() const { return asked_; }
    void confirm();

    // For a publisher that brings RTP and fills the source's RTP log itself, once. The log is valid for the lifetime of this
    // object; write to it only while this is current. `key_frames` outlives this. Frames that are appended as well are not
    // converted.
    RtpLog& fill_rtp_log(KeyFrameSource& key_frames);

private:
    friend class Source;
    void stop_filling();

    Ref<Source> source_;
    Signal evicted_;
    KeyFrameSource* key_frames_ = nullptr;  // non-null: it fills the RTP log
    bool current_ = true;
    bool can_confirm_ = false;
    bool asked_ = false;
};

// A batched listener tolerates that the publisher is read on a tick; one that wants every packet at once prevents that.
enum class Listens : std::uint8_t { at_once, batched };

// Notified after every batch that a publisher appended. Must not suspend.
class PacketListener {
public:
    virtual void on_packets() = 0;

protected:
    ~PacketListener() = default;
};

// Observes the rare events of a source while it lives. The functions must neither suspend nor create or destroy watches.
class SourceWatch {
public:
    explicit SourceWatch(Ref<Source> source);
    SourceWatch(const SourceWatch&) = delete;
    SourceWatch& operator=(const SourceWatch&) = delete;

    Source& source() const { return *source_; }

protected:
    ~SourceWatch();

private:
    friend class Source;
    // A publication begins.
    virtual void on_publisher_began() {}
    // The publisher has left, nobody has taken its place, and its last frames are encoded; or see Source::note_stream_ended.
    virtual void on_publisher_left() {}
    // The publisher was asked, and is still there; see Source::ask_publisher.
    virtual void on_publisher_confirmed() {}
    // The first viewer has arrived (`watched`), or the last one has left: see Source::is_watched.
    virtual void on_watched(bool /*watched*/) {}

    Ref<Source> source_;
    std::size_t index_;
};

// Encodes what append() has left, for publishers that cannot suspend. session/common has it, and app plugs it in.
class RestEncoder {
public:
    // Calls encode_some(), each time in a turn of its own, until nothing is left, then notify(). False: it cannot.
    virtual bool add(Source& source) = 0;

protected:
    ~RestEncoder() = default;
};

// Whether anybody watches what a reader makes of the packets.
enum class Audience : bool { none, some };

// Keeps a wire log for a reader that is about to come. A new log is encoded from the ring, up to kRingBytesMax; whoever cannot
// wait for all of it at once calls catch_up() until it is true before creating the WireCursor.
class WireLogHold {
public:
    WireLogHold(Ref<Source> source, const WireFormat& format, Audience audience = Audience::some);
    ~WireLogHold();
    WireLogHold(const WireLogHold&) = delete;
    WireLogHold& operator=(const WireLogHold&) = delete;

    // Encodes some `bytes` more; true: the log is complete, and stays so while it is held.
    bool catch_up(std::size_t bytes);

private:
    Ref<Source> source_;
    WireFormat format_;
    Audience audience_;
};

// A listener that takes packet by packet, and so has a place in the ring. Apart from on_packets() it is called only when the ring
// is about to drop packets.
class PacketReader : public PacketListener {
public:
    // The next packet it will take.
    virtual Sequence sequence() const = 0;
    // Its packets are dropped: continue at `to`, the newest GOP start or the end of the ring.
    virtual void jump(Sequence to) = 0;
    // Whether anybody watches this reader's output; false for a recording. A change is reported by note_viewers().
    virtual bool is_watched() const { return true; }

protected:
    ~PacketReader() = default;
};

struct SourceCounters {
    std::array<std::uint64_t, kMediaKindCount> packets{};  // of the default tracks
    std::array<std::uint64_t, kMediaKindCount> bytes{};
    std::uint64_t key_frames = 0;
    std::uint64_t dropped_packets = 0;  // readers were too slow, or the publisher faster than its frames are encoded
};

class Source final : public RefCounted {
public:
    // Limits beyond which the ring drops packets even if they are still needed. The packet limit matters only for tiny packets,
    // which take more memory than the byte count shows.
    static constexpr std::size_t kRingBytesMax = 64U << 20;
    // What a new log catches up at once; an RTP log with each packet that is appended, too.
    static constexpr std::size_t kCatchUpBytes = 256U << 10;
    // Above this append() drops frames, or encodes what it has left if the RestEncoder cannot; above the double it encodes it in
    // any case. Readers' logs hold back the ring's trimming.
    static constexpr std::size_t kUnencodedMax = 16U << 20;
    static constexpr std::size_t kRingPacketsMax = 1U << 17;
    // Dropped at once, beyond what the limits require: a GOP may be tens of MiB, and freeing one takes some 0.1 ms. Dropping a
    // packet takes some 0.1 us, whatever its size.
    static constexpr std::size_t kTrimBytesMax = 4U << 20;
    static constexpr std::size_t kLetGoPacketsMax = 1U << 13;
    // History kept while there are readers: after a network outage a publisher sends its whole backlog at once, before players on
    // a tick have read any of it.
    static constexpr std::chrono::seconds kHistory{10};
    // The beginning of a publication is kept for so long: a publisher that goes from node to node begins with what its former
    // node may not have had, and other nodes pull it from here then.
    static constexpr std::chrono::seconds kYoung{2};
    // Tracks of one kind. Ingest drops the packets of further tracks.
    static constexpr std::size_t kTracksMax = 16;
    // RTP logs: track choices that are played at the same time.
    static constexpr std::size_t kRtpLogsMax = 32;
    static constexpr std::size_t kMarkSeriesMax = 4;
    // After this many audio packets in a row without video, the stream counts as audio only: no GOP is cached.
    static constexpr std::uint32_t kAudioOnlyAfter = 115;

    Source(std::string url, const PlayOptions& options, std::uint32_t chunk_size, SlabPool& pool);
    ~Source();

    // "/app/stream" in the default vhost, "vhost/app/stream" otherwise.
    const std::string& url() const { return url_; }
    const PlayOptions& options() const { return options_; }
    void set_options(const PlayOptions& options) { options_ = options; }

    // Errc::conflict if the stream already has a publisher and `takeover` is off.
    enum class Takeover : std::uint8_t { refuse, replace };
    Result<std::unique_ptr<Publication>> publish(Takeover takeover);
    bool is_published() const { return publication_ != nullptr; }
    // Makes the publisher check its connection: it confirms or leaves. False without a publisher, or if it cannot check.
    bool ask_publisher();
    // Revokes the current publisher's right, if there is one.
    void evict_publisher();
    // The stream has ended where this node has it from. Its publication is kept for a while, in case it comes back; the watches
    // are told now.
    void note_stream_ended();
    // After its publisher has left, the stream may go on soon, from another process: players that end with it wait. Off: they do
    // so no longer.
    void set_may_return(bool may_return);
    bool may_return() const { return may_return_; }

    // Sets the arrival time of the packets appended from now on. Called once per batch read from a publisher's socket.
    void set_arrival(TimePoint now) { arrival_ = now; }
    TimePoint arrival() const { return arrival_; }
    // Loads what append() needs while the caller reads the publisher's socket: with hundreds of publishers it has left the
    // nearest caches since the last batch.
    void prefetch() const;
    void append(Packet packet);
    // A mark, at the time of the newest packet, for readers that ask for marks. The newest of each series, at most
    // kMarkSeriesMax, is kept for those that join; none of kRelayStart.
    void append_mark(const RelayMark& mark);
    struct KeptMark {
        std::string series;
        Packet packet;
    };
    const std::vector<KeptMark>& marks() const { return marks_; }
    // The publisher's batch is complete: has what append() has left encoded, by the RestEncoder if there is one, and notifies
    // readers that wait for every packet.
    void flush();
    void set_rest_encoder(RestEncoder* encoder) { rest_encoder_ = encoder; }
    // Only notifies.
    void notify();
    // Frames of at least WireEncoder::kSlowBytes in formats that copy them (TS, RTP) are not encoded by append(): there may be
    // several such formats, and each takes milliseconds. They are encoded after flush(), or before it by a publisher that can
    // suspend, some kCatchUpBytes or one frame for RTP by each encode_some(). Other fibers may run in between: readers of these
    // formats find the log as it was before.
    bool has_unencoded() const { return unencoded_bytes_ > 0; }
    void encode_some();
    Timeline& timeline() { return timeline_; }
    const Timeline& timeline() const { return timeline_; }

    const Ring& ring() const { return ring_; }
    // The newest metadata, and the newest configuration of a kind; the payload is empty if there was none.
    const Slice& metadata() const { return config(MediaKind::data).payload; }
    const Packet& config(MediaKind kind) const { return configs_[index_of(kind)]; }
    // The newest configurations of all non-default tracks.
    const std::vector<Packet>& extra_configs() const { return extra_configs_; }
    // The newest configuration of a track; nullptr if there was none.
    const Packet* config_of(MediaKind kind, TrackId id) const;
    // All tracks seen so far, in order of appearance; a new publisher's packets replace what is known about them.
    const std::vector<Track>& tracks() const { return tracks_; }
    // Whether the track is known, or can still be added.
    bool has_room_for(MediaKind kind, TrackId id) const { return is_chosen(kind, id) || has_room_for_another(kind, id); }
    // nullptr if there is none.
    const Track* track(MediaKind kind, TrackId id) const;
    // Players without multitrack support get the publisher's first track of a kind.
    bool is_default(MediaKind kind, TrackId id) const { return !has_default_.has(kind) || is_chosen(kind, id); }
    // Of the last publisher that had any; nullptr if there was none of the kind.
    const Track* default_track(MediaKind kind) const;
    // Counts changes of codecs and configurations.
    std::uint32_t track_version() const { return track_version_; }
    // This publisher's container announces these kinds: a program map, metadata, an offer. Their frames may come late.
    void announce(MediaKindSet kinds) { announced_.add(kinds); }
    // Audio and video that this publisher has announced, and those that any has configured or sent.
    MediaKindSet expected_kinds() const;
    // What the publisher's container says about audio that its packets do not carry.
    void note_audio(TrackId id, Codec codec, const AudioFormat& audio);
    // Players that join get no metadata until the publisher sends some again.
    void forget_metadata();
    // The publisher's metadata about its tracks, including tracks that come later.
    void name_tracks(std::vector<TrackName> names);
    // Time of the latest audio or video packet, if there was one.
    std::optional<MediaTime> last_time(MediaKind kind) const { return last_times_[index_of(kind)]; }
    // The metadata requested the publisher's own timestamps (atc_auto).
    void force_atc(bool on) { atc_forced_ = on; }
    bool keeps_publisher_time() const { return atc_forced_ || options_.atc || options_.time_jitter == TimeJitter::off; }
    // Counts changes of metadata and sequence headers.
    std::uint32_t config_version() const { return config_version_; }
    // The newest key frame that is still in the ring.
    std::optional<Sequence> gop_start() const;
    // Where a newcomer starts: at the cached GOP, or at the next packet.
    Sequence join_point() const;
    // Where a reader starts that goes on for another one: at the newest key frame that is at least so old, or, where there is no
    // video, at a packet of that age; else at the join point.
    Sequence join_point(MediaTime age) const;
    const SourceCounters& counters() const { return counters_; }

    // The chunk size of wire logs; a change takes effect with the next one created.
    std::uint32_t chunk_size() const { return chunk_size_; }
    void set_chunk_size(std::uint32_t bytes);

    // For readers of a wire log, which exists while it is held. Complete unless `catches_up`: see WireLogHold. Released with the
    // audience with which it was held.
    WireLog& hold_wire_log(const WireFormat& format, bool catches_up = false, Audience audience = Audience::some);
    void release_wire_log(const WireFormat& format, Audience audience = Audience::some);
    // See WireLogHold.
    bool catch_up_wire_log(const WireFormat& format, std::size_t bytes);
    // nullptr if it is not held.
    WireLog* wire_log(const WireFormat& format) const;

    // An RTP log exists while somebody reads or fills it; each reader calls hold and release once. There is one for each track
    // choice that has readers. A publisher that brings RTP fills only the default one; the others stay empty then.
    RtpLog& hold_rtp_log(const TrackChoice& choice = {});
    void release_rtp_log(const TrackChoice& choice = {});
    // Converts some `bytes` more of the frames since the newest key frame for a new RTP log that is held; true: it has them all.
    // It also catches up with each packet that is appended.
    bool catch_up_rtp_log(const TrackChoice& choice, std::size_t bytes);
    // nullptr if it is not held.
    RtpLog* rtp_log(const TrackChoice& choice = {}) const;
    // nullptr unless frames are being converted for the default RTP log.
    const FramesToRtp* frames_to_rtp() const;
    template <class Each>
    void for_each_rtp_log(Each&& each) const {
        for (const HeldRtpLog& held : rtp_logs_)
            each(*held.rtp_log);
    }
    // Whether an RTP log of these tracks exists or can be created; each one is converted separately.
    bool has_room_for_rtp_log(const TrackChoice& choice) const {
        return rtp_log(choice) != nullptr || rtp_logs_.size() < kRtpLogsMax;
    }
    // What a conversion needs from higher rooms: `transcoders` (may be nullptr) outlives this; `log` receives its messages.
    void set_conversion(AudioTranscoders* transcoders, const Log& log);
    // Whether the publisher fills the RTP log itself.
    bool brings_rtp() const { return publication_ != nullptr && publication_->key_frames_ != nullptr; }

    // Whether a reader has not read everything yet, or may not have.
    bool is_behind() const;
    // Memory taken by its packets, in all the forms in which they are kept.
    std::size_t held_bytes() const;
    // Drops about this many bytes of the oldest packets, at most kLetGoPacketsMax, even if still needed: for a stream without a
    // publisher.
    void let_go(std::size_t bytes);

    // A reader is a listener, too.
    void add_reader(PacketReader& reader, Listens how);
    void remove_reader(PacketReader& reader);
    void add_listener(PacketListener& listener, Listens how = Listens::at_once) {
        (how == Listens::at_once ? listeners_ : batched_listeners_).push_back(&listener);
        ++attached_;
    }
    void remove_listener(PacketListener& listener) {
        attached_ -= static_cast<std::uint32_t>(std::erase(listeners_, &listener) + std::erase(batched_listeners_, &listener));
    }
    // Whether somebody listens at once.
    bool is_awaited() const { return attached_ != 0 && has_listeners_at_once(); }
    std::size_t readers() const;
    // Whether there is a viewer: a reader whose output somebody watches.
    bool is_watched() const { return watched_; }
    // Notifies the watches when the first viewer has arrived or the last one has left.
    void note_viewers();
    // Whether frames arrived that are presented before an earlier one (B-frames). Reset by a new publisher.
    bool has_b_frames() const { return has_b_frames_; }
    void note_b_frames() { has_b_frames_ = true; }
    void count_dropped(std::uint64_t packets) { counters_.dropped_packets += packets; }

private:
    friend class Publication;
    friend class SourceWatch;

    struct HeldWireLog {
        WireFormat format;
        std::unique_ptr<WireLog> wire_log;
        std::size_t holders = 0;
        bool has_caught_up = false;  // once; then it lacks at most what append() has left
    };

    // Read by somebody, or filled by the publisher.
    struct HeldRtpLog {
        TrackChoice choice;
        std::unique_ptr<RtpLog> rtp_log;
        std::unique_ptr<FramesToRtp> converter;
        std::size_t holders = 0;
        // Of the converter: the next packet it takes, and since when it takes audio.
        Sequence next = 0;
        Sequence audio_from = 0;
        bool has_caught_up = false;  // as of a wire log
    };

    // What is known of a default track, without looking at tracks_.
    struct Known {
        Codec codec = Codec::none;
        AudioFormat audio;
    };

    void note_publisher_confirmed();
    void end_publication();
    bool has_viewer() const;
    bool has_listeners_at_once() const;
    void start_conversion(HeldRtpLog& held);
    enum class Converted : std::uint8_t { all, left };
    Converted convert(const Packet& packet);
    bool catch_up(HeldRtpLog& held, std::size_t bytes) const;
    bool catch_up(HeldWireLog& held, std::size_t bytes) const;
    bool has_room_for_another(MediaKind kind, TrackId id) const;
    bool is_outrun_by(const Packet& packet);
    void append_to_logs(const Packet& packet);
    void have_rest_encoded();
    void encode_rest();
    const Packet* config_for(const TrackChoice& choice, MediaKind kind) const;
    std::optional<Sequence> newest_key_of(const TrackChoice& choice) const;
    bool is_chosen(MediaKind kind, TrackId id) const { return has_default_.has(kind) && defaults_[index_of(kind)] == id; }
    void choose_default(const Packet& packet);
    void forget_extra_tracks();
    Packet& kept_config(const Packet& packet);
    void remember_config(const Packet& packet);
    void note_track(const Packet& packet);
    Track& track_of(MediaKind kind, TrackId id);
    void name_track(Track& track) const;
    void track_gop(const Packet& packet);
    std::unique_ptr<WireEncoder> encoder_for(const WireFormat& format) const;
    void trim();
    bool is_young() const;
    // Drops packets before `keep` as far as they are not needed, and those before `floor` in any case.
    void drop(Sequence keep, Sequence floor);
    // Drops from the ring only.
    void drop_before(Sequence keep);
    // The first packet within the ring's own limits.
    Sequence first_that_fits() const;
    // The packet after the oldest ones of about this many bytes, at most kLetGoPacketsMax of them and none from `end` on.
    Sequence after_oldest(std::size_t bytes, Sequence end) const;
    // `floor` is that packet.
    Sequence keep_for_places(Sequence keep, Sequence floor);
    Sequence keep_for_readers(Sequence keep, Sequence floor);
    bool is_too_late(Sequence sequence, Sequence floor) const;
    Sequence landing(const PacketReader& reader, Sequence keep, Sequence floor) const;

    std::string url_;
    PlayOptions options_;
    SlabPool& pool_;
    // What each packet needs, side by side: with hundreds of publishers, none of it is in the nearest cache when the next one
    // comes.
    Ring ring_;
    Timeline timeline_;
    std::array<std::optional<MediaTime>, kMediaKindCount> last_times_;
    std::array<TrackId, kMediaKindCount> defaults_{};
    MediaKindSet has_default_;  // of this publisher
    std::array<Known, kMediaKindCount> known_{};
    MediaKindSet announced_;          // by this publisher
    bool ends_when_encoded_ = false;  // the publisher has left
    bool is_outrun_ = false;          // frames are dropped: see kUnencodedMax
    std::uint32_t attached_ = 0;      // wire logs, RTP logs and listeners: most streams have none
    std::uint32_t audio_since_video_ = 0;
    std::optional<Sequence> gop_start_;
    TimePoint arrival_{};
    std::size_t untrimmed_bytes_ = 0;  // appended since the last trim
    std::size_t unencoded_bytes_ = 0;  // of packets since the first one left by append()
    Publication* publication_ = nullptr;
    SourceCounters counters_;
    std::vector<HeldWireLog> wire_logs_;      // few: one for each format in use
    std::vector<HeldRtpLog> rtp_logs_;        // few; in order of creation
    std::vector<PacketListener*> listeners_;  // at once
    std::vector<PacketListener*> batched_listeners_;

    std::array<Packet, kMediaKindCount> configs_;  // of the default tracks
    std::vector<Packet> extra_configs_;
    std::vector<KeptMark> marks_;         // of this publisher
    std::vector<Track> tracks_;           // few; the default one is the first of its kind
    std::vector<TrackName> track_names_;  // as the publisher said last, at most kTracksMax of a kind
    std::vector<PacketReader*> packet_readers_;
    std::vector<SourceWatch*> watches_;
    AudioTranscoders* transcoders_ = nullptr;
    Log conversion_log_;
    std::size_t unwatched_holders_ = 0;  // of wire logs
    std::size_t rtp_publishers_ = 0;     // publications that hold an RTP log to fill it, the current one and evicted ones
    RestEncoder* rest_encoder_ = nullptr;
    bool may_return_ = false;
    Sequence published_from_ = 0;  // the first packet of this publisher
    std::uint32_t config_version_ = 0;
    std::uint32_t track_version_ = 0;
    std::uint32_t chunk_size_;
    std::uint32_t next_chunk_size_;
    bool atc_forced_ = false;
    bool has_b_frames_ = false;
    bool watched_ = false;
};

}  // namespace live::media
