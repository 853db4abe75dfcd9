// Arbitrary bytes as the server of an RTSP client, which plays all tracks that are described. The first byte is the size of the
// pieces; time passes with each.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "engine/rtsp/client.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::engine::rtsp;
    if (size < 1)
        return 0;
    const std::size_t piece = std::size_t{data[0]} + 1;
    Client client({.url = "rtsp://h/a/b", .user = "u", .password = "p", .product = "c", .client_nonce = "n"});
    client.start();
    TimePoint now{std::chrono::hours(1)};
    Bytes input = Bytes(data, size).subspan(1);
    while (!input.empty()) {
        const Bytes part = input.first(std::min(piece, input.size()));
        input = input.subspan(part.size());
        // On the heap, so that a view of it that is kept is found.
        const std::vector<std::uint8_t> borrowed(part.begin(), part.end());
        client.borrow_bytes(borrowed);
        for (;;) {
            while (const auto packet = client.poll_packet())
                CHECK(!packet->bytes.empty());
            const auto event = client.poll_event(now);
            if (!event.ok())
                return 0;
            if (!*event)
                break;
            if (const auto* described = std::get_if<Described>(&**event)) {
                std::vector<std::size_t> tracks(described->description.media.size());
                std::iota(tracks.begin(), tracks.end(), std::size_t{0});
                client.play_tracks(tracks);
            } else if (const auto* packet = std::get_if<GotPacket>(&**event)) {
                CHECK(!packet->bytes.empty());
            }
        }
        now += 1s;
        client.handle_timeout(now);
        CHECK(client.take_output().size() <= 64U << 10);
    }
    return 0;
}
