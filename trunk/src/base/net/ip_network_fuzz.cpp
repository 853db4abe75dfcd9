// Parses arbitrary text as a network. A network that parses must contain the address it was written with.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "base/net/ip_network.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const std::string_view text = as_text(Bytes(data, size));
    const auto network = IpNetwork::parse(text);
    if (network.ok())
        CHECK(network->contains(parse_ip(text.substr(0, text.find('/'))).value()));
    return 0;
}
