// Fuzzes the input of a caster of transport streams before the reader: RTP in any order with any contents, and its address text.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "session/mpegts/listen_address.hpp"
#include "session/mpegts/rtp_order.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::session::mpegts;
    const Bytes input(data, size);
    if (const auto addresses = parse_listen_address(as_text(input)); addresses.ok())
        CHECK(!addresses->empty() && addresses->front().endpoint.port != 0);
    static_cast<void>(output_of(as_text(input), 1));
    // A byte for the size of each datagram.
    RtpOrder order;
    std::vector<std::uint8_t> out;
    std::size_t fed = 0;
    for (Bytes rest = input; !rest.empty();) {
        const std::size_t count = std::min<std::size_t>(rest[0], rest.size() - 1);
        order.push(rest.subspan(1, count), out);
        fed += count;
        CHECK(out.size() <= fed && order.held() <= RtpOrder::kWindow);
        rest = rest.subspan(1 + count);
    }
    return 0;
}
