// WireCursor: one player's place in a wire run. Nearly always it is just a position, the same for thousands of players; then the
// bytes to send are the log's own. Around a join, a jump or an odd time it also holds a few bytes that only this player gets:
// metadata, sequence headers, and the headers with this player's own absolute times, which go in front of the shared payload.
//
// Rules that keep the player's byte stream whole: private bytes go out before the position moves on; a message that was begun is
// finished before a jump, even if the log has dropped it meanwhile (its rest is copied, once); each kind gets a header of its own
// first.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <sys/uio.h>

#include "base/ref.hpp"
#include "media/source.hpp"
#include "media/wire_log.hpp"

namespace live::media {

class WireCursor final : private HeldPlace {
public:
    using Position = WireLog::Position;
    struct Batch {
        std::size_t spans = 0;
        std::size_t bytes = 0;
    };

    // What a player with a zero of its own copies at once from a stamped run, so that being slow costs it no more memory.
    static constexpr std::size_t kCopyBytes = 16 * 1024;

    // Joins at the source's join point, or at `from` when given, a packet in the ring or its next. `preamble` goes before
    // everything else.
    WireCursor(Ref<Source> source, const WireFormat& format, std::vector<std::uint8_t> preamble = {},
               std::optional<Sequence> from = std::nullopt);
    ~WireCursor();
    WireCursor(const WireCursor&) = delete;
    WireCursor& operator=(const WireCursor&) = delete;

    // What this player can be sent now, oldest first, as spans that stay valid until the source is appended to or this cursor is
    // used again. May be less than everything: take and advance until nothing comes.
    Batch take(std::span<::iovec> out) { return take_up_to(out, wire_log_.head()); }
    // The same, but no further than the end of the next message.
    Batch take_message(std::span<::iovec> out);
    // `count` bytes of the last batch went out.
    void advance(std::size_t count);
    // Bytes of the protocol itself (a pong, a status) that go out at the next message boundary. Errc::limit when more than
    // kControlBytesMax wait: whoever asks and does not take the answers would cost any memory.
    static constexpr std::size_t kControlBytesMax = 64 << 10;
    Result<void> add_control(Bytes bytes);

    // A paused player gets the rest of a begun message and control bytes, nothing else.
    void set_paused(bool paused) { paused_ = paused; }
    // The position alone says what this player gets next.
    bool is_in_sync() const;
    Position position() const { return position_; }
    // A cohort sent for this player meanwhile: it stands at `position` now, a message boundary or inside a message.
    void resume_at(Position position);
    // The same, when the cohort sent it a batch stamped anew and the socket took only part of a message: `rest` of that message
    // is still to come before what is at `position`.
    void resume_at(Position position, Bytes rest);
    // Its place is kept within the source's bounds, from the beginning on; not while a cohort that it is a member of keeps it.
    void hold_place();
    void let_go_of_place();
    // Before it is overtaken: it will jump. It holds its place.
    void leave_place() override;
    // Media time sent so far, on this player's clock.
    MediaTime played() const;
    std::uint64_t dropped() const { return dropped_; }
    // Bytes of the log and of its own that have gone out.
    std::uint64_t sent_bytes() const { return sent_bytes_; }
    // This player's zero on the source's timeline, in ms: what is stamped is at most its distance from here, and not below 0.
    std::int64_t base_ms() const { return base_ms_; }
    const WireFormat& format() const { return format_; }
    // Packets between this player and the head.
    std::uint64_t behind() const;

    Source& source() { return *source_; }
    WireLog& wire_log() { return wire_log_; }

private:
    Position held_position() const override { return must_jump_ ? wire_log_.head() : position_; }
    void jump();
    void place(Sequence from, bool joining);
    void choose_base(Sequence from);
    void introduce(std::int64_t time_ms);
    Position settle();
    Batch take_up_to(std::span<::iovec> out, Position end);
    void own_header(Sequence sequence);
    // A stamped run whose zero is not this player's: it gets copies.
    bool is_rebased() const { return base_ms_ != 0 && wire_log_.encoder().times() == WireTimes::stamped; }
    void copy_stamped(Position end);
    bool at_boundary() const;
    std::int64_t time_of(const Packet& packet) const;

    Ref<Source> source_;
    WireLog& wire_log_;
    std::vector<std::uint8_t> private_;  // goes before position_
    std::vector<std::uint8_t> control_;  // waits for a message boundary
    std::size_t private_sent_ = 0;
    Position position_ = 0;
    Sequence next_ = 0;  // while not settled or jumping: the next packet not looked at
    std::int64_t base_ms_ = 0;
    std::uint64_t dropped_ = 0;
    std::uint64_t sent_bytes_ = 0;
    std::uint32_t epoch_ = 0;
    std::uint32_t config_version_ = 0;
    WireFormat format_;
    KindSet opened_;
    bool settled_ = false;
    bool must_jump_ = false;
    bool holds_place_ = false;
    bool paused_ = false;
};

}  // namespace live::media
