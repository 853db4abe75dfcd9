#include "wire/rtp_payload/audio.hpp"

#include <algorithm>
#include <array>

#include "base/byte_reader.hpp"

namespace live::wire::rtp_payload {

namespace {

constexpr std::uint32_t kOpusSamplesMax = 5'760;

// RFC 6716, table 2: SILK in groups of four configurations, hybrid in two, CELT in four.
std::uint32_t samples_of_frame(unsigned configuration) {
    constexpr std::array<std::uint32_t, 4> kSilk{480, 960, 1'920, 2'880};
    constexpr std::array<std::uint32_t, 2> kHybrid{480, 960};
    constexpr std::array<std::uint32_t, 4> kCelt{120, 240, 480, 960};
    if (configuration < 12)
        return kSilk[configuration % 4];
    if (configuration < 16)
        return kHybrid[configuration % 2];
    return kCelt[configuration % 4];
}

}  // namespace

Result<std::uint32_t> opus_samples(Bytes packet) {
    ByteReader in(packet);
    const unsigned head = TRY(in.u8());
    std::uint32_t frames = (head & 3U) == 0 ? 1 : 2;
    if ((head & 3U) == 3)
        frames = TRY(in.u8()) & 0x3FU;
    const std::uint32_t samples = frames * samples_of_frame(head >> 3);
    if (samples == 0 || samples > kOpusSamplesMax)
        return Error(Errc::malformed, "Opus packet of " + std::to_string(samples) + " samples");
    return samples;
}

void packetize_g711(Bytes samples, PayloadList& out) {
    while (!samples.empty()) {
        const Bytes packet = samples.first(std::min(kG711PacketBytes, samples.size()));
        out.append(packet);
        out.end_payload();
        samples = samples.subspan(packet.size());
    }
}

}  // namespace live::wire::rtp_payload
