// WireLog: the packets of one source, encoded in one wire format, so that every reader of that format sends the same bytes. Each
// packet is encoded once, however many readers there are. The log also keeps, for each packet, where its bytes begin and how long
// its shared header is, so that a reader can put a header of its own before the shared payload (see WireCursor).
//
// A wire log exists while it has readers. It mirrors the ring: same sequence numbers, same first and next. A new one catches up
// with the ring first, in pieces (WireLogHold), and has no readers until then.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "media/ring/ring.hpp"
#include "media/ring/sync_log.hpp"
#include "media/wire_log/slab_log.hpp"

namespace live::media {

// A held place in a log, of one reader or of a cohort. Called only when the log is about to drop packets.
class HeldPlace {
public:
    // The first byte still needed from the log; the log's head if none is.
    virtual SlabLog::Position held_position() const = 0;
    // The packets there are about to be dropped: the holder copies the rest of a begun message and will jump. May remove this
    // place, and add places that were already left.
    virtual void leave_place() = 0;

protected:
    ~HeldPlace() = default;

private:
    friend class WireLog;
    std::size_t index_ = 0;  // in held_places_
};

// How a format expresses time.
enum class WireTimes : std::uint8_t {
    relative,  // as a delta to the previous message: a reader's first message of each kind gets a header of its own
    stamped,   // each message carries its time on the source's timeline; a reader with another zero needs rewritten stamps
    shared,    // on the source's timeline, the same for all readers
};

// Encodes the packets of one source in one wire format. container.hpp lists the formats.
class WireEncoder {
public:
    struct Encoded {
        // Size of what precedes the payload. Stamped formats: of what precedes the message's own header (the framing).
        std::uint8_t header_bytes = 0;
        // The shared header cannot carry this packet's time (the first of its kind, or a time jump): every reader needs a header
        // of its own here.
        bool needs_own_header = false;
        // Begins with what append_own_message() would write for a reader that joins here.
        bool has_introduction = false;
    };

    // Formats that copy a payload take some 0.5 ms for this many bytes.
    static constexpr std::size_t kSlowBytes = 512U << 10;

    virtual ~WireEncoder() = default;
    virtual WireTimes times() const = 0;
    // Appends nothing for a packet that the format drops.
    virtual Encoded encode(const Packet& packet, SlabLog& log) = 0;
    // Whether encoding this packet may hold the loop, because the format copies it.
    virtual bool is_slow(const Packet& packet) const { return packet.payload.size() >= kSlowBytes; }
    // Does some `bytes` of the work of encode() for a slow packet, the next one to be encoded. True: the rest is quick.
    virtual bool prepare([[maybe_unused]] const Packet& packet, [[maybe_unused]] std::size_t bytes) { return true; }
    // Appends to `out` what replaces the shared header for one reader, with `time_ms` on that reader's clock. True: only the
    // header, and the shared payload follows. False: the whole message, because the shared chunks cannot carry this time.
    virtual bool append_own_header(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const = 0;
    // Appends a whole message for this reader alone.
    virtual void append_own_message(const Packet& packet, std::int64_t time_ms, std::vector<std::uint8_t>& out) const = 0;
    // Stamped formats: the size of a message's own header.
    virtual std::size_t stamped_bytes() const { return 0; }
    // Stamped formats: writes `time_ms` into a message of the log; `message` begins after the framing.
    virtual void stamp([[maybe_unused]] MutBytes message, [[maybe_unused]] std::int64_t time_ms) const {}
};

class WireLog {
public:
    using Position = SlabLog::Position;
    struct Entry {
        Position offset = 0;
        std::uint8_t header_bytes = 0;
        bool needs_own_header = false;
        bool has_introduction = false;
    };

    // Its first packet will be `first`. With `syncs`, which must outlive this, it carries their messages.
    WireLog(std::unique_ptr<WireEncoder> encoder, SlabPool& pool, Sequence first, TrackSelection tracks,
            const SyncLog* syncs = nullptr);

    // Appends packets of the ring until it has them all (true) or some `bytes` more.
    bool catch_up(const Ring& ring, std::size_t bytes);
    void append(const Packet& packet);
    // Appends a sync message before the next packet. It has no sequence number: a reader that joins at that packet does not get
    // it.
    void append_sync(const Packet& message);
    // A log that has not caught up may lose packets that it never had.
    void drop_before(Sequence sequence);

    Position tail() const { return log_.tail(); }
    Position head() const { return log_.head(); }
    Sequence next() const { return first_ + entries_.size(); }
    const Entry& entry(Sequence sequence) const;
    // Returns the position at which `sequence` begins; next() begins at head().
    Position offset_of(Sequence sequence) const;
    // Returns the position of the sync messages before `sequence`; without messages, offset_of().
    Position begin_of(Sequence sequence) const;
    // The first packet that begins at or after `position`, or next().
    Sequence find(Position position) const;
    // The first packet that a reader at `position` needs: the one inside of which that is, or the next one.
    Sequence needed_at(Position position) const;
    std::size_t spans(Position from, Position to, std::span<::iovec> out) const { return log_.spans(from, to, out); }
    std::unique_ptr<SlabLog> copy_of(Position from, Position to) const { return log_.copy_of(from, to); }
    std::size_t bytes() const { return log_.bytes(); }

    // Changes whenever a packet needs a header per reader, so that readers in sync with the log inspect the new packets one by
    // one.
    std::uint32_t epoch() const { return epoch_; }
    // Kinds the log has carried.
    MediaKindSet kinds() const { return kinds_; }
    const WireEncoder& encoder() const { return *encoder_; }

    // Places that drop_before must not overtake without calling leave_place().
    void hold(HeldPlace& place);
    void release(HeldPlace& place);
    const std::vector<HeldPlace*>& held_places() const { return held_places_; }

private:
    // The first of the sync messages before a packet.
    struct Sync {
        Sequence before = 0;
        Position begin = 0;
    };

    std::unique_ptr<WireEncoder> encoder_;
    const SyncLog* const syncs_;
    std::vector<Sync> sync_places_;  // few
    const TrackSelection tracks_;
    SlabLog log_;
    std::deque<Entry> entries_;
    std::vector<HeldPlace*> held_places_;
    Sequence first_ = 0;
    std::uint32_t epoch_ = 1;
    MediaKindSet kinds_;
};

}  // namespace live::media
