// Arbitrary bytes as a client of an RTSP server whose session accepts or refuses by the first byte of the input. The second byte
// is the size of the pieces.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "engine/rtsp/server.hpp"

namespace {

using namespace live;
using namespace live::engine::rtsp;

void answer(Server& server, const Event& event, bool accepts) {
    if (std::holds_alternative<Paused>(event) || std::holds_alternative<TornDown>(event) ||
        std::holds_alternative<GotPacket>(event))
        return;
    if (const auto* describe = std::get_if<WantsToDescribe>(&event); describe != nullptr && !accepts) {
        const std::string challenge = "Basic realm=\"live\"";
        return describe->authorization.empty() ? server.challenge(std::span(&challenge, 1)) : server.refuse(403);
    }
    if (!accepts)
        return server.refuse(403);
    if (std::holds_alternative<WantsToDescribe>(event))
        server.accept_describe("v=0\r\n", 3);
    else if (std::holds_alternative<WantsToAnnounce>(event))
        server.accept_announce();
    else if (const auto* set_up = std::get_if<WantsToSetUp>(&event))
        server.accept_set_up(set_up->transport);
    else if (std::holds_alternative<WantsToPlay>(event))
        server.accept_play({});
    else
        server.accept_record();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size < 2)
        return 0;
    unsigned answers = data[0];
    const std::size_t piece = std::size_t{data[1]} + 1;
    Server server(ServerOptions{.product = "p", .session_id = "abc", .allows_udp = (answers & 1U) != 0});
    Bytes input = Bytes(data, size).subspan(2);
    while (!input.empty()) {
        const Bytes part = input.first(std::min(piece, input.size()));
        input = input.subspan(part.size());
        server.handle_bytes(part);
        for (;;) {
            const auto event = server.poll_event();
            if (!event.ok()) {
                CHECK(server.has_output());
                return 0;
            }
            if (!*event)
                break;
            if (const auto* packet = std::get_if<GotPacket>(&**event))
                CHECK(server.transport(packet->track) != nullptr && !packet->bytes.empty());
            answer(server, **event, (answers & 0x80U) == 0 || server.role() != Server::Role::none);
            answers = answers << 1 | answers >> 7;
            answers &= 0xFFU;
        }
        CHECK(server.take_output().find("\n\n") == std::string::npos);
    }
    return 0;
}
