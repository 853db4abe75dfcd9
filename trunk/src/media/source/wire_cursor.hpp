// WireCursor: one player's place in a wire log. Nearly always it is just a position, the same for thousands of players; then the
// bytes to send are the log's own. Around a join, a jump or an irregular time it also holds a few bytes for this player alone:
// metadata, sequence headers, and headers with this player's own absolute times, which precede the shared payload.
//
// Rules that keep the player's byte stream intact: private bytes are sent before the position advances; a message that was begun
// is completed before a jump, even if the log has dropped it meanwhile (its rest is copied, once); each kind starts with a header
// of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <sys/uio.h>

#include "base/bytes/ref.hpp"
#include "media/source/source.hpp"
#include "media/wire_log/wire_log.hpp"

namespace live::media {

class WireCursor final : private HeldPlace {
public:
    using Position = WireLog::Position;
    struct Batch {
        std::size_t spans = 0;
        std::size_t bytes = 0;
    };

    // The amount a player with its own zero copies at once from a stamped wire log, so that a slow reader costs no extra memory.
    static constexpr std::size_t kCopyBytes = 16 * 1024;

    // Joins at the source's join point, or at `from` if given, a packet in the ring or its next. `preamble` precedes everything
    // else.
    WireCursor(Ref<Source> source, const WireFormat& format, std::vector<std::uint8_t> preamble = {},
               std::optional<Sequence> from = std::nullopt, Audience audience = Audience::some);
    ~WireCursor();
    WireCursor(const WireCursor&) = delete;
    WireCursor& operator=(const WireCursor&) = delete;

    // Returns bytes that can be sent to this player now, oldest first, as spans that are valid until the source is appended to or
    // this cursor is used again. May return fewer than there are: repeat take and advance until it is empty.
    Batch take(std::span<::iovec> out) { return take_up_to(out, wire_log_.head()); }
    // The same, but no further than the end of the next message.
    Batch take_message(std::span<::iovec> out);
    // `count` bytes of the last batch were sent.
    void advance(std::size_t count);
    // Bytes of the protocol itself (a pong, a status) that are sent at the next message boundary. Errc::limit if more than
    // kControlBytesMax are pending: a client that sends requests and does not read the answers must not use unlimited memory.
    static constexpr std::size_t kControlBytesMax = 64 << 10;
    Result<void> add_control(Bytes bytes);

    // While paused, the player receives only the rest of a message that was begun, and control bytes.
    void set_paused(bool paused) { paused_ = paused; }
    // Reports whether the position alone determines the next bytes for this player.
    bool is_in_sync() const;
    Position position() const { return position_; }
    // A cohort sent for this player meanwhile: it is now at `position`, a message boundary or inside a message.
    void resume_at(Position position);
    // The same, if the cohort sent a rebased batch and the socket accepted only part of a message: `rest` of that message must
    // be sent before the bytes at `position`.
    void resume_at(Position position, Bytes rest);
    // Keeps its place within the source's bounds. Held from construction; not while the player's cohort keeps the place.
    void hold_place();
    void release_place();
    // Called before the log overtakes it: it will jump. It holds its place.
    void leave_place() override;
    // Media time sent so far, on this player's clock.
    MediaTime played() const;
    std::uint64_t dropped() const { return dropped_; }
    // Bytes sent, both of the log and private.
    std::uint64_t sent_bytes() const { return sent_bytes_; }
    // This player's zero on the source's timeline, in ms: timestamps are at most the distance from here, and never below 0.
    std::int64_t base_ms() const { return base_ms_; }
    const WireFormat& format() const { return format_; }
    Position head() const { return wire_log_.head(); }
    // Packets between this player and the head.
    std::uint64_t behind() const;

    Source& source() { return *source_; }
    WireLog& wire_log() { return wire_log_; }

private:
    Position held_position() const override { return must_jump_ ? wire_log_.head() : position_; }
    bool has_landing() const;
    void jump();
    void place(Sequence from, bool joining);
    void choose_base(Sequence from);
    void introduce(std::int64_t time_ms);
    Position settle();
    Batch take_up_to(std::span<::iovec> out, Position end);
    void own_header(Sequence sequence);
    // Whether this is a stamped wire log with a different zero, so that the player gets copies.
    bool is_rebased() const { return base_ms_ != 0 && wire_log_.encoder().times() == WireTimes::stamped; }
    Position copy_stamped(Position end);
    bool is_inside_message() const {
        const Sequence next = wire_log_.find(position_);
        return wire_log_.offset_of(next) != position_ && wire_log_.begin_of(next) != position_;
    }
    bool at_boundary() const;
    std::int64_t time_of(const Packet& packet) const;

    Ref<Source> source_;
    WireLog& wire_log_;
    std::vector<std::uint8_t> private_;  // precedes position_
    std::unique_ptr<SlabLog> rest_;      // of a message that the log has dropped; follows private_, not empty
    std::vector<std::uint8_t> control_;  // waits for a message boundary
    std::size_t private_sent_ = 0;
    Position position_ = 0;
    Sequence next_ = 0;  // while not settled or jumping: the next packet to inspect
    std::int64_t base_ms_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t sent_bytes_ = 0;
    std::uint32_t epoch_ = 0;
    std::uint32_t config_version_ = 0;
    WireFormat format_;
    MediaKindSet opened_;
    bool settled_ = false;
    bool must_jump_ = false;
    bool holds_place_ = false;
    bool paused_ = false;
    Audience audience_;
};

}  // namespace live::media
