// Any message from another process: refused, or understood as written.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "session/common/forwarded_datagram.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::session;
    const live::Bytes message(data, size);
    const auto forwarded = parse_forwarded(message);
    if (!forwarded.ok())
        return 0;
    std::vector<std::uint8_t> again;
    write_forwarded(*forwarded, message.subspan(ForwardedDatagram::kHeadBytes), again);
    CHECK(std::vector<std::uint8_t>(message.begin(), message.end()) == again);
    return 0;
}
