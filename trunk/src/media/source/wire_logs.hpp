// WireLogs: the wire logs of a source, one for each wire format that has readers. A log exists while it is held.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "media/ring/packet.hpp"
#include "media/ring/ring.hpp"
#include "media/ring/sync_log.hpp"
#include "media/source/readers.hpp"
#include "media/source/tracks.hpp"
#include "media/wire_log/container.hpp"
#include "media/wire_log/framing.hpp"
#include "media/wire_log/track_list.hpp"
#include "media/wire_log/wire_log.hpp"

namespace live::media {

// `node`: another node, which receives the source's timeline and its sync messages.
enum class Receiver : std::uint8_t { player, node };

// Selects a wire log: there is one for each combination that has readers.
struct WireFormat {
    Container container = Container::rtmp;
    Framing framing = Framing::none;
    // Packets of other kinds are dropped.
    MediaKindSet kinds = MediaKindSet::all();
    TrackSelection tracks = TrackSelection::defaults;
    Receiver receiver = Receiver::player;
    TrackList list{};  // of RTSP

    bool is_relayed() const { return receiver == Receiver::node; }
    bool operator==(const WireFormat&) const = default;
};

class WireLogs {
public:
    // Bytes of the ring that a new log encodes at once while it catches up.
    static constexpr std::size_t kCatchUpBytes = 256U << 10;

    // All arguments must outlive this.
    WireLogs(const Ring& ring, const SyncLog& syncs, const Tracks& tracks, Readers& readers, SlabPool& pool,
             std::uint32_t chunk_size)
        : ring_(ring),
          syncs_(syncs),
          tracks_(tracks),
          readers_(readers),
          pool_(pool),
          chunk_size_(chunk_size),
          next_chunk_size_(chunk_size) {}
    WireLogs(const WireLogs&) = delete;
    WireLogs& operator=(const WireLogs&) = delete;

    // For a reader of the log. The log is complete unless `catches_up`: see WireLogHold. Released with the same audience.
    WireLog& hold(const WireFormat& format, bool catches_up = false, Audience audience = Audience::some);
    void release(const WireFormat& format, Audience audience = Audience::some);
    // Encodes some `bytes` more; true: the log is complete, and remains complete while it is held.
    bool catch_up(const WireFormat& format, std::size_t bytes);
    // nullptr if it is not held.
    WireLog* find(const WireFormat& format) const;
    template <class Each>
    void for_each(Each&& each) const {
        for (const Held& held : logs_)
            each(*held.wire_log);
    }
    std::size_t held_bytes() const;
    // Whether another node reads the stream.
    bool has_nodes() const {
        return std::ranges::any_of(logs_, [](const Held& held) { return held.format.is_relayed(); });
    }
    // Whether a reader has chosen this video track by name.
    bool reads_video(TrackId id) const {
        return std::ranges::any_of(logs_, [id](const Held& held) { return held.format.list.has_video(id); });
    }

    // The chunk size of RTMP logs; a change takes effect with the next one created.
    std::uint32_t chunk_size() const { return chunk_size_; }
    void set_chunk_size(std::uint32_t bytes);
    // For formats whose packets have the time of day; the logs that are created later have it.
    void set_unix_at_zero(MediaTime time) { unix_at_zero_ = time; }

    // Encodes for the source. A packet that takes long is left to encode_some(), and so are those that follow it.
    enum class Encoded : std::uint8_t { all, left };
    Encoded append(const Packet& packet);
    // The same for a new entry of the source's SyncLog, in the logs of relayed formats.
    void append_sync(const SyncLog::Entry& entry);
    // Encodes a part of what append() has left; false if there was nothing to encode.
    bool encode_some();
    void drop_before(Sequence sequence);

private:
    struct Held {
        WireFormat format;
        std::unique_ptr<WireLog> wire_log;
        std::size_t holders = 0;
        bool has_caught_up = false;  // once; then it lacks at most what append() has left
    };

    bool catch_up(Held& held, std::size_t bytes) const;
    std::unique_ptr<WireEncoder> encoder_for(const WireFormat& format) const;

    std::vector<Held> logs_;  // few: one for each format in use
    const Ring& ring_;
    const SyncLog& syncs_;
    const Tracks& tracks_;
    Readers& readers_;
    SlabPool& pool_;
    std::uint32_t chunk_size_;
    std::uint32_t next_chunk_size_;
    MediaTime unix_at_zero_{};
};

}  // namespace live::media
