// Arbitrary bytes as datagrams to one session, each preceded by a length byte: classified, then passed to ICE, DTLS (a server
// waiting for a ClientHello) and SRTP, as a session does. Nothing may change the session, because the input cannot contain its
// password.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/check.hpp"
#include "engine/dtls/transport.hpp"
#include "engine/ice/agent.hpp"
#include "engine/srtp/session.hpp"
#include "engine/webrtc/datagram_kind.hpp"

namespace {

using namespace live;
using namespace live::engine;
using namespace live::engine::webrtc;

struct Server {
    std::unique_ptr<dtls::Certificate> certificate = dtls::Certificate::make().value();
    std::unique_ptr<dtls::Context> context = dtls::Context::create(*certificate).value();
};

const Server& server() {
    static const Server made;
    return made;
}

void give(Bytes datagram, ice::Agent& agent, dtls::Transport& dtls, srtp::Session& srtp) {
    const TimePoint now{1h};
    std::vector<std::uint8_t> copy(datagram.begin(), datagram.end());
    switch (kind_of(datagram)) {
        case DatagramKind::stun:
            if (const auto message = wire::stun::parse_message(datagram); message.ok()) {
                static_cast<void>(ice::local_ufrag_of(*message));
                const auto reply = agent.handle_stun(now, datagram, *message, {});
                CHECK(reply.ok() && reply->bytes.empty() && agent.addresses() == 0);
            }
            break;
        case DatagramKind::dtls:
            static_cast<void>(dtls.handle_datagram(now, datagram).ok());
            CHECK(dtls.state() != dtls::Transport::State::established);
            for (const auto& out : dtls.take_output())
                CHECK(out.size() <= 1'200);
            break;
        case DatagramKind::rtp: CHECK(!srtp.unprotect_rtp(copy).ok()); break;
        case DatagramKind::rtcp: CHECK(!srtp.unprotect_rtcp(copy).ok()); break;
        case DatagramKind::other: break;
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const TimePoint now{1h};
    ice::Agent agent({.local_ufrag = "serv", .local_pwd = "abcdefghijklmnopqrstuvwxyz012345", .remote_ufrag = "clie"}, now);
    const auto dtls = dtls::Transport::create(*server().context, {.remote_fingerprint = "00"}, now).value();
    const std::vector<std::uint8_t> key(28, 7);
    const auto srtp = srtp::Session::create({srtp::Profile::aead_aes_128_gcm, key, key}).value();
    Bytes rest(data, size);
    while (!rest.empty()) {
        const std::size_t count = std::min<std::size_t>(rest[0], rest.size() - 1);
        give(rest.subspan(1, count), agent, *dtls, *srtp);
        rest = rest.subspan(1 + count);
    }
    return 0;
}
