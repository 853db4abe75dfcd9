// UdpSender: one player over UDP. While it is behind, it takes the packets of the log at its own pace; then a cohort of the
// UdpFanOut sends for it.
#pragma once

#include <cstdint>

#include "base/bytes/ref.hpp"
#include "base/net/transport_address.hpp"
#include "media/source/wire_cursor.hpp"
#include "session/rtsp/udp_fan_out/udp_fan_out.hpp"
#include "session/rtsp/udp_ports.hpp"

namespace live::session::rtsp {

class UdpSender {
public:
    UdpSender(UdpPorts& ports, UdpFanOut& fan_out) : ports_(ports), fan_out_(fan_out) {}
    ~UdpSender();
    UdpSender(const UdpSender&) = delete;
    UdpSender& operator=(const UdpSender&) = delete;

    void set_address(std::size_t channel, const TransportAddress& address) { member_.addresses.at(channel) = address; }
    // Sends a piece of what the player has not got, and joins a cohort at the end of it; true: there is more. `cursor` is always
    // the same one, and outlives this.
    bool send_some(media::WireCursor& cursor, const Ref<media::Source>& source);
    bool has_cohort() const { return member_.cohort != nullptr; }
    void leave_cohort();
    // Ends the tracks of the player (RFC 3550, 6.6). The SSRC of each follows that of the one before.
    void send_goodbye(std::uint32_t ssrc_base);
    std::uint64_t sent_bytes() const { return member_.sent_bytes; }

private:
    UdpPorts& ports_;
    UdpFanOut& fan_out_;
    UdpMember member_;
    media::WireCursor* joined_with_ = nullptr;
    std::vector<std::uint8_t> begun_;  // of a frame in the log
};

}  // namespace live::session::rtsp
