// Arbitrary bytes as datagrams to sessions, each preceded by a length byte. The first byte selects: a publisher, a publisher with
// simulcast or a player, all unencrypted, so that the code after SRTP is reached; or a session with ICE and DTLS whose peer has
// passed a check, where garbage precedes the handshake; its highest bit, that the handshake is lent and comes back at a length
// byte of 0.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "engine/crypto/hmac_sha1.hpp"
#include "engine/webrtc/play_session.hpp"
#include "engine/webrtc/publish_session.hpp"
#include "wire/stun/message.hpp"

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

wire::sdp::Agreement agreement(bool has_layers) {
    wire::sdp::Accepted audio;
    audio.kind = MediaKind::audio;
    audio.mid = "a";
    audio.codec = {.payload_type = 111, .name = "opus", .clock_rate = 48'000, .format = {}, .feedback = {"nack"}};
    wire::sdp::Accepted video = audio;
    video.kind = MediaKind::video;
    video.mid = "v";
    video.codec = {.payload_type = 106, .name = "VP8", .clock_rate = 90'000, .format = {}, .feedback = {"nack", "nack pli"}};
    video.rtx_payload_type = 107;
    for (auto* const section : {&audio, &video}) {
        section->transport_wide_id = 3;
        section->mid_id = 4;
    }
    if (has_layers) {
        video.rid_id = 5;
        video.repaired_rid_id = 6;
        video.layers = {"q", "f"};
    }
    return {.sections = {audio, video},
            .setup = wire::sdp::SetupRole::passive,
            .remote_ufrag = "clie",
            .remote_pwd = {},
            .remote_fingerprint = {"sha-256", "00"}};
}

Bytes check() {
    static const std::vector<std::uint8_t> made = [] {
        wire::stun::MessageWriter out(wire::stun::Kind::request, {});
        out.username("serv:clie").ice_controlling(1).use_candidate();
        CHECK(out.sign(as_bytes("password"), crypto::hmac_sha1).ok());
        out.fingerprint();
        return out.release();
    }();
    return made;
}

struct Run {
    TimePoint now{1h};
    DatagramBatch output;
    std::unique_ptr<PublishSession> publisher;
    std::unique_ptr<PlaySession> player;
    Session* session = nullptr;  // one of the two
    std::uint16_t sent = 0;

    std::unique_ptr<dtls::HandshakeStep> lent;

    Run(unsigned what, bool lends) {
        SessionOptions options;
        options.lends_handshake = lends;
        options.agreement = agreement(what == 1);
        options.ice = {.local_ufrag = "serv", .local_pwd = "password", .remote_ufrag = {}};
        options.audio_ssrc = 1;
        options.video_ssrc = 2;
        options.video_rtx_ssrc = 3;
        if (what < 3) {
            options.peer = TransportAddress{};
            options.dtls_on = false;
            options.encrypt = false;
        }
        if (what == 2) {
            player = PlaySession::create(*server().context, options, output, now).value();
            session = player.get();
        } else {
            publisher = PublishSession::create(*server().context, options, output, now).value();
            session = publisher.get();
        }
        if (what == 3)
            give(check());
    }
    void give(Bytes datagram) {
        std::vector<std::uint8_t> copy(datagram.begin(), datagram.end());
        static_cast<void>(session->handle_datagram(now, copy, {}).ok());
        if (lent != nullptr && datagram.empty()) {
            lent->run();
            static_cast<void>(session->finish_step(now, *std::exchange(lent, nullptr)).ok());
        }
        if (lent == nullptr)
            lent = session->take_step();
        CHECK(lent == nullptr || lent->size() <= PeerTransport::kWaitingMax);
        if (publisher != nullptr)
            take_media();
        else
            play();
        output.clear();
    }
    void take_media() {
        while (const auto media = publisher->poll_media())
            CHECK(!media->payload.empty());
    }
    void play() {
        const std::vector<std::uint8_t> payload(100, 7);
        player->send(now, MediaKind::video, {sent, sent * 3'600U, true, {}}, payload);
        sent = static_cast<std::uint16_t>(sent + 1);
        for (const auto& [kind, number] : player->take_nacks()) {
            CHECK(number.sequence < sent);
            player->resend(now, kind, {number.sequence, 0, true, {}}, payload);
        }
        static_cast<void>(player->take_key_frame_request());
    }
    void pass(std::chrono::milliseconds time) {
        now += time;
        static_cast<void>(session->handle_timeout(now).ok());
        if (publisher != nullptr)
            take_media();
        static_cast<void>(session->next_timeout());
        static_cast<void>(session->figures());
        output.for_each([](const TransportAddress&, Bytes datagram) { CHECK(datagram.size() <= 16'384); });
        output.clear();
    }
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2)
        return 0;
    const unsigned what = data[0] % 4U;
    Run run(what, (data[0] & 0x80U) != 0);
    Bytes rest(data + 1, size - 1);
    while (!rest.empty()) {
        const std::size_t count = std::min<std::size_t>(rest[0] & 0x7F, rest.size() - 1);
        run.give(rest.subspan(1, count));
        if ((rest[0] & 0x80U) != 0)
            run.pass(std::chrono::milliseconds(count));
        rest = rest.subspan(1 + count);
    }
    run.pass(3s);
    CHECK(what < 3 || run.session->state() != Session::State::established);
    return 0;
}
