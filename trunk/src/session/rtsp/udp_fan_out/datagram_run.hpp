// DatagramRun: the packets at a cursor of a log of interleaved frames, as datagrams in GSO batches without an address: equal
// packets of one channel, back to back. Made once, and sent to any number of players.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/net/transport_address.hpp"
#include "io/net/udp_socket.hpp"
#include "media/source/wire_cursor.hpp"

namespace live::session::rtsp {

class DatagramRun {
public:
    // Channels of the log: two for each of its tracks.
    static constexpr std::size_t kChannels = 2 * media::TrackList::kMax;
    using Addresses = std::array<std::optional<TransportAddress>, kChannels>;

    // Takes some `bytes` at the cursor, and cuts the whole frames in them into datagrams; those of the last call are gone.
    // Returns whether there may be more.
    bool take(media::WireCursor& cursor, std::size_t bytes);
    // No frame is begun: the next one begins at the cursor.
    bool is_at_border() const { return taken_.empty(); }
    bool empty() const { return batches_.empty(); }
    // Appends the batches for a player: those of RTP, or of RTCP, on the channels for which it has an address. Returns their
    // bytes.
    std::size_t append_batches(const Addresses& addresses, bool is_rtcp, std::vector<io::GsoBatch>& out) const;
    // The begun frame: those bytes of it that were taken. Another run continues with them, at a cursor in the same place.
    Bytes begun() const { return taken_; }
    void begin_with(Bytes begun) { taken_.assign(begun.begin(), begun.end()); }

private:
    struct Batch {
        std::uint8_t channel = 0;
        std::size_t at = 0;
        std::size_t size = 0;
        std::size_t segment = 0;
        std::size_t segments = 0;
    };

    void append(std::uint8_t channel, Bytes packet);

    std::vector<std::uint8_t> taken_;  // of the log; at most one unfinished frame remains
    std::vector<std::uint8_t> bytes_;  // of datagrams, without the heads of the frames
    std::vector<Batch> batches_;
};

// The amount that a player gets at once: a GOP in one burst would overflow receive buffers.
std::size_t next_piece_bytes(const media::WireCursor& cursor);
inline constexpr std::chrono::milliseconds kPieceInterval{4};

}  // namespace live::session::rtsp
