// For tests: a session without ICE, DTLS and SRTP whose peer's packets are written by hand.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "engine/webrtc/network_fixture.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtcp/transport_feedback.hpp"
#include "wire/rtp/packet.hpp"

namespace live::engine::webrtc {

inline const dtls::Context& test_context() {
    static const std::unique_ptr<dtls::Certificate> certificate = dtls::Certificate::make().value();
    static const std::unique_ptr<dtls::Context> context = dtls::Context::create(*certificate).value();
    return *context;
}

struct RtpSpec {
    std::uint32_t ssrc = 0;
    std::uint8_t type = 0;
    std::uint16_t sequence = 0;
    std::uint32_t timestamp = 0;
    bool marker = false;
    Octets payload{0x41, 0x9a, 1};
    std::vector<std::pair<std::uint8_t, std::string>> extensions{};
};

inline Octets rtp_of(const RtpSpec& spec) {
    wire::rtp::Packet packet;
    packet.ssrc = spec.ssrc;
    packet.payload_type = spec.type;
    packet.sequence = spec.sequence;
    packet.timestamp = spec.timestamp;
    packet.marker = spec.marker;
    std::vector<wire::rtp::Extension> extensions;
    for (const auto& [id, value] : spec.extensions)
        extensions.push_back({id, 0, as_bytes(value)});
    ByteWriter out;
    write_header(out, packet, extensions);
    out.bytes(spec.payload);
    return out.release();
}

template <class... Packets>
Octets rtcp_of(const Packets&... packets) {
    ByteWriter out;
    (write(out, packets), ...);
    return out.release();
}

template <class SessionKind>
class PlainSession : public testing::Test {
protected:
    void make(SessionOptions options) {
        options.peer = kClientAddress;
        options.dtls_on = false;
        options.encrypt = false;
        if (options.agreement.sections.empty())
            options.agreement.sections = {accepted_audio(), accepted_video()};
        session = SessionKind::create(test_context(), options, output, now).value();
    }
    void give(Octets datagram) { EXPECT_TRUE(session->handle_datagram(now, datagram, kClientAddress).ok()); }
    // Runs the timers in order until then.
    void wait(std::chrono::microseconds time) {
        const TimePoint end = now + time;
        for (int i = 0; i < 10'000; ++i) {
            const auto next = session->next_timeout();
            if (!next || *next > end)
                break;
            now = std::max(now, *next);
            EXPECT_TRUE(session->handle_timeout(now).ok());
            drain();
        }
        now = end;
        EXPECT_TRUE(session->handle_timeout(now).ok());
        drain();
    }
    void drain() {
        if constexpr (requires { session->poll_media(); })
            while (auto packet = session->poll_media())
                media.push_back(std::move(*packet));
        output.for_each([this](const TransportAddress& to, Bytes datagram) {
            EXPECT_EQ(to, kClientAddress);
            (wire::rtp::looks_like_rtcp(datagram) ? rtcp : rtp).emplace_back(datagram.begin(), datagram.end());
        });
        output.clear();
    }
    // Parses and returns the sent RTCP packets of one type and format, and discards the rest.
    template <class Parsed>
    std::vector<Parsed> take(Result<Parsed> (*parse)(const wire::rtcp::Packet&), wire::rtcp::Type type, int format = -1) {
        std::vector<Parsed> found;
        for (const Octets& datagram : rtcp) {
            wire::rtcp::PacketReader reader(datagram);
            for (auto packet = reader.next(); packet.ok() && *packet; packet = reader.next())
                if ((*packet)->type == type && (format < 0 || (*packet)->count == format))
                    found.push_back(parse(**packet).value());
        }
        rtcp.clear();
        return found;
    }
    auto take_nacks() { return take(wire::rtcp::parse_nack, wire::rtcp::Type::transport_feedback, wire::rtcp::kNackFormat); }
    auto take_plis() { return take(wire::rtcp::parse_pli, wire::rtcp::Type::payload_feedback, wire::rtcp::kPliFormat); }

    TimePoint now{1h};
    DatagramBatch output;
    std::unique_ptr<SessionKind> session;
    std::vector<rtp::MediaPacket> media;
    std::vector<Octets> rtp;
    std::vector<Octets> rtcp;
};

}  // namespace live::engine::webrtc
