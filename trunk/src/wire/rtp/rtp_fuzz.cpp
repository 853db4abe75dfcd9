// Arbitrary bytes as an RTP packet: a parsed packet must write and read back the same, also as RTX and after rewriting in place.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "wire/rtp/packet.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::wire::rtp;
    const Bytes input(data, size);
    static_cast<void>(looks_like_rtcp(input));
    const auto packet = parse_packet(input);
    if (!packet.ok())
        return 0;
    const auto extensions = extensions_of(*packet);
    CHECK(extensions.size() <= kExtensionsMax);
    for (const Extension& extension : extensions)
        CHECK(extension.at + extension.value.size() <= size && find_extension(*packet, extension.id));
    ByteWriter out;
    write_header(out, *packet, extensions);
    out.bytes(packet->payload);
    const auto bytes = out.release();
    if (bytes.size() > kPacketBytesMax)
        return 0;
    const auto again = parse_packet(bytes);
    CHECK(again.ok() && again->sequence == packet->sequence && again->ssrc == packet->ssrc);
    CHECK(std::ranges::equal(again->payload, packet->payload) && extensions_of(*again).size() == extensions.size());
    const auto original = unwrap_rtx(*packet, 1, 2);
    CHECK(original.ok() == (packet->payload.size() >= 2));
    return 0;
}
