// Retention: owns the ring of a source and decides which packets it keeps.
//
// It keeps the newest GOP (if the GOP cache is on), a short history, and more only while a reader or a cohort still needs it, up
// to PlayOptions::queue_length and kRingBytesMax. A reader that falls behind these limits jumps to the newest GOP start.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/time.hpp"
#include "media/ring/options.hpp"
#include "media/ring/ring.hpp"
#include "media/ring/sync_log.hpp"
#include "media/source/publications.hpp"
#include "media/source/readers.hpp"
#include "media/source/tracks.hpp"
#include "media/source/wire_logs.hpp"

namespace live::media {

class Retention {
public:
    // Limits beyond which the ring drops packets even if they are still needed. The packet limit matters only for tiny packets,
    // which take more memory than the byte count shows.
    static constexpr std::size_t kRingBytesMax = 64U << 20;
    static constexpr std::size_t kRingPacketsMax = 1U << 17;
    // Maximum number of bytes and packets dropped at once, beyond those that the limits require to be dropped. A GOP may be
    // tens of MiB, and freeing 1 MiB takes some 0.1 ms. Dropping a packet takes some 0.1 us, whatever its size.
    static constexpr std::size_t kTrimBytesMax = 4U << 20;
    static constexpr std::size_t kReleasedPacketsMax = 1U << 13;
    // History kept while there are readers: after a network outage a publisher sends its whole backlog at once, before players on
    // a tick have read any of it.
    static constexpr std::chrono::seconds kHistory{10};
    // The beginning of a publication is kept for this long. A publisher that moves to this node starts with packets that its
    // previous node may have missed; other nodes then pull them from here.
    static constexpr std::chrono::seconds kYoung{2};
    // After this many audio packets in a row without video, the stream counts as audio only: no GOP is cached.
    static constexpr std::uint32_t kAudioOnlyAfter = 115;

    // The other parts of the source, all of which must outlive this.
    struct Parts {
        const PlayOptions& options;
        const Tracks& tracks;
        const Publications& publications;
        SyncLog& syncs;
        Readers& readers;
        WireLogs& wire_logs;
        SlabPool& pool;
    };
    explicit Retention(const Parts& parts) : parts_(parts) {}
    ~Retention() { drop_from_ring(ring_.next()); }
    Retention(const Retention&) = delete;
    Retention& operator=(const Retention&) = delete;

    const Ring& ring() const { return ring_; }
    // The newest key frame that is still in the ring.
    std::optional<Sequence> gop_start() const { return gop_start_ && *gop_start_ >= ring_.first() ? gop_start_ : std::nullopt; }
    // The same for the video track that `choice` selects. If that is not the default track, only packets of the current
    // publisher count.
    std::optional<Sequence> newest_key_of(const TrackChoice& choice) const;
    // Returns where a new reader starts: at the cached GOP, or at the next packet.
    Sequence join_point() const;
    // Returns where a reader that replaces another one starts: at the newest key frame that is at least `age` old, or, if there
    // is no video, at a packet of that age; otherwise at join_point().
    Sequence join_point(MediaTime age) const;
    // The first packet of the current publisher.
    Sequence published_from() const { return published_from_; }

    // Reports whether a reader may still have packets to read.
    bool is_needed() const;
    // Bytes of memory that the packets occupy.
    std::size_t held_bytes() const { return ring_.bytes() + ring_.size() * sizeof(Packet); }
    // Drops about this many bytes of the oldest packets, at most kReleasedPacketsMax, even if still needed: for a stream without
    // a publisher.
    void release_oldest(std::size_t bytes);

    // Only the source calls the following functions.
    void append(Packet&& packet);
    // Drops packets that are not needed, if enough was appended since the last time.
    void trim_if_due() {
        if (is_trim_due_)
            trim();
    }
    void start_publisher();

private:
    void trim();
    bool is_young() const;
    // Drops packets before `keep` as far as they are not needed, and those before `floor` in any case.
    void drop(Sequence keep, Sequence floor);
    void drop_from_ring(Sequence keep);
    // The first packet within the ring's own limits.
    Sequence first_that_fits() const;
    // The packet after the oldest ones of about this many bytes, at most kReleasedPacketsMax of them and none from `end` on.
    Sequence after_oldest(std::size_t bytes, Sequence end) const;
    // `floor` is first_that_fits().
    Sequence keep_for_places(Sequence keep, Sequence floor);
    Sequence keep_for_readers(Sequence keep, Sequence floor);
    bool is_too_late(Sequence sequence, Sequence floor) const;
    Sequence landing(const PacketReader& reader, Sequence keep, Sequence floor) const;

    Ring ring_;
    std::optional<Sequence> gop_start_;
    std::size_t untrimmed_bytes_ = 0;  // appended since the last trim
    std::uint32_t audio_since_video_ = 0;
    bool is_trim_due_ = false;
    Sequence published_from_ = 0;
    const Parts parts_;
};

}  // namespace live::media
