// Cohort: sends one source in one format to the players that are at the same byte of the same log, all of them over plain TCP, or
// all of them over TLS. One position and one list of spans serve them all; a send wakes no fiber. Over TLS the bytes are brought
// together once per turn, and encrypted for each member in records as long as possible. A player in any other state (joining, a
// full socket, a status to send) returns to its own fiber, and rejoins when it has caught up. The cohort holds the members' place
// in the log: a due member is never overtaken within the source's bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/bytes/ref.hpp"
#include "base/signal.hpp"
#include "base/time.hpp"
#include "io/net/fan_sender.hpp"
#include "io/net/stream.hpp"
#include "io/tls/tls_stream.hpp"
#include "media/source/wire_cursor.hpp"
#include "media/wire_log/stamped_batch.hpp"
#include "session/fan_out/send_meter.hpp"

namespace live::session {

class Cohort;

enum class Transport : std::uint8_t { plain, tls };

// A player as its cohort sees it. Lives in the player's session, and leaves the cohort before it is destroyed.
struct CohortMember {
    // The stream is TCP, or TLS over TCP.
    CohortMember(io::Stream& player_stream, media::WireCursor& player_cursor, Signal& signal)
        : stream(player_stream), cursor(player_cursor), handed_back(signal) {}
    CohortMember(const CohortMember&) = delete;
    CohortMember& operator=(const CohortMember&) = delete;

    // Bytes sent to this player, by itself and by its cohort.
    std::uint64_t sent_bytes() const;
    Transport transport() const { return stream.as_tcp() != nullptr ? Transport::plain : Transport::tls; }

    io::Stream& stream;
    media::WireCursor& cursor;
    // Raised when the cohort releases the player: its socket is full or closed.
    Signal& handed_back;

    Cohort* cohort = nullptr;
    std::size_t index = 0;
    bool is_member = false;  // otherwise it waits for the next tick
};

struct FanOutCounters {
    std::uint64_t sends = 0;
    std::uint64_t bytes = 0;
    std::uint64_t handed_back = 0;
    SendMeter meter;
};

// Shared by all cohorts, one at a time.
struct CohortTools {
    explicit CohortTools(io::FanSender::Use use) : sender(use) {}

    FanOutCounters counters;
    media::StampedBatch batch;
    io::FanSender sender;
    std::vector<std::uint8_t> plaintext;  // of one turn of a TLS cohort, if its spans are not one run
};

class Cohort final : private media::HeldPlace, private media::PacketListener {
public:
    // Sent to all members in one turn of the loop, some 3 ms; but to each member at least kShareMin.
    static constexpr std::size_t kTurnBytes = 4U << 20;
    static constexpr std::size_t kShareMin = 64U << 10;
    // The same for members over TLS, where a byte costs twice as much. The share is whole records, and one write.
    static constexpr std::size_t kTlsTurnBytes = 2U << 20;
    static constexpr std::size_t kTlsShareMin = 16U << 10;
    static constexpr std::size_t kTlsShareMax = io::TlsStream::kTakenMax;

    // `prompt_after`: packets that arrive after this long without a send leave at once, without waiting for a tick; zero: never.
    Cohort(Ref<media::Source> source, const media::WireFormat& format, Transport transport, CohortTools& tools,
           Duration prompt_after = {});
    ~Cohort();
    Cohort(const Cohort&) = delete;
    Cohort& operator=(const Cohort&) = delete;

    media::Source& source() { return *source_; }
    // Reports whether a player of this source, format and transport may join.
    bool matches(const CohortMember& member) const;
    const media::WireFormat& format() const { return format_; }
    // The members' common position.
    media::WireCursor::Position position() const { return position_; }
    bool is_empty() const { return members_.empty() && waiting_.empty(); }
    std::size_t size() const { return members_.size() + waiting_.size(); }

    void join(CohortMember& member);
    // Afterwards the member's cursor has the player's position.
    void leave(CohortMember& member);
    // Sends what is pending to all members, or as much of it as one turn may take: true, there is more.
    bool send();
    // The same, but waits one more tick if no more than `messages_min` packets are pending.
    bool send_if_more_than(std::uint32_t messages_min);
    // Returns the members to their own fibers, where each sends in its own turns.
    void hand_back_members();

private:
    void send_to_members(media::WireLog& wire_log);
    std::size_t turn_bytes() const { return transport_ == Transport::plain ? kTurnBytes : kTlsTurnBytes; }
    std::size_t share() const;
    void send_run(std::size_t begin, std::size_t end, std::span<const ::iovec> parts, std::size_t total);
    void encrypt_run(std::size_t begin, std::size_t end, Bytes whole);
    void send_shared(media::WireLog& wire_log, media::WireLog::Position end);
    void send_stamped(media::WireLog& wire_log, media::WireLog::Position end);
    void settle_missed(std::size_t total, media::StampedBatch* batch);
    void admit_waiting(const media::WireLog& wire_log);
    void dissolve();
    void hand_back(CohortMember& member);
    void on_packets() override;
    media::WireLog::Position held_position() const override { return position_; }
    void leave_place() override;
    void add_member(CohortMember& member);
    void remove_member(CohortMember& member);
    void add_waiting(CohortMember& member);
    void remove_waiting(CohortMember& member);

    Ref<media::Source> source_;
    media::WireFormat format_;
    const Transport transport_;
    CohortTools& tools_;
    const Duration prompt_after_;
    TimePoint sent_at_{};
    // Parallel arrays: the sending loop touches only the descriptors. Empty over TLS.
    std::vector<int> descriptors_;
    std::vector<CohortMember*> members_;
    std::vector<CohortMember*> waiting_;
    std::vector<io::ShortSend> missed_;
    media::WireCursor::Position position_ = 0;
    std::uint32_t epoch_ = 0;
    bool skipped_ = false;
};

}  // namespace live::session
