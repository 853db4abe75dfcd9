// Arbitrary bytes as the TCP connection of a device, cut by the first byte; after an odd first byte as datagrams with a length
// in front of each, behind an RTP header whose sequence number they choose. SSRC texts of arbitrary bytes. Nothing aborts, and
// memory is bounded.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "engine/gb28181/media_receiver.hpp"
#include "engine/gb28181/rtp_fixture.hpp"
#include "engine/gb28181/session_table.hpp"
#include "engine/gb28181/tcp_frames.hpp"

namespace {

using namespace live;
using namespace live::engine::gb28181;

void drain(MediaReceiver& receiver) {
    while (receiver.next()) {
    }
}

void connect(Bytes input, std::size_t step) {
    TcpFrames frames;
    MediaReceiver receiver(kSsrc);
    for (; !input.empty(); input = input.subspan(std::min(step, input.size()))) {
        if (!frames.feed(input.first(std::min(step, input.size()))).ok())
            return;
        while (const auto packet = frames.next()) {
            if (const auto ssrc = ssrc_of(*packet); ssrc == kSsrc)
                frames.set_ssrc(*ssrc);
            receiver.handle_tcp_packet(*packet, frames.follows_gap());
        }
        CHECK(frames.held_bytes() <= TcpFrames::kPacketBytesMax + 2 + step);
        drain(receiver);
    }
    receiver.finish();
    drain(receiver);
}

void send(Bytes input) {
    MediaReceiver receiver(kSsrc);
    TimePoint now{1h};
    while (input.size() > 3) {
        const std::size_t size = std::min<std::size_t>(input[0], input.size() - 3);
        const auto sequence = static_cast<std::uint16_t>(input[1] << 8 | input[2]);
        receiver.handle_datagram(now, rtp_packet(sequence, kSsrc, input.subspan(3, size), (sequence & 1) != 0));
        now += std::chrono::milliseconds(input[2]);
        CHECK(receiver.order().lost <= receiver.counters().packets * 2'000);
        input = input.subspan(3 + size);
    }
    receiver.handle_datagram(now, input);
    receiver.finish();
    drain(receiver);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Bytes input(data + 1, size - 1);
    if (data[0] % 2 == 0)
        connect(input, std::size_t{data[0]} + 1);
    else
        send(input);
    static_cast<void>(parse_ssrc(as_text(input)));
    return 0;
}
