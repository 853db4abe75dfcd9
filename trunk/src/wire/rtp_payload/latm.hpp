// AAC in LATM in RTP (RFC 3016 and RFC 6416), reading: an element of one or several access units, in one packet or in several,
// with the configuration in the session description or in the elements.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/codec/audio/latm.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

class LatmDepacketizer {
public:
    static constexpr std::size_t kElementBytesMax = 64 << 10;

    // `stream_mux_config` is that of the description; empty when the elements have it.
    static Result<LatmDepacketizer> make(Bytes stream_mux_config, std::uint32_t clock_rate);

    // Errc::need_more, Errc::malformed, Errc::limit, Errc::unsupported: the packet is lost; later packets are accepted.
    Result<void> push(const Fragment& fragment);
    // The next access unit; its sequence numbers are not set.
    std::optional<Frame> poll();
    // The AudioSpecificConfig; empty before the first.
    const std::vector<std::uint8_t>& config() const { return reader_.config(); }

private:
    explicit LatmDepacketizer(std::uint32_t clock_rate) : clock_rate_(clock_rate) {}

    Result<void> read(std::uint32_t timestamp);

    codec::LatmReader reader_;
    std::uint32_t clock_rate_;
    bool is_in_band_ = true;
    std::deque<Frame> frames_;
    std::vector<std::uint8_t> open_;  // an element whose last packet has not arrived
    bool is_broken_ = false;          // a packet of it is lost
    std::uint64_t next_sequence_ = 0;
};

}  // namespace live::wire::rtp_payload
