// Any message from another process: refused, or understood as written.
#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "session/common/stray.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::session;
    const live::Bytes message(data, size);
    const auto stray = parse_stray(message);
    if (!stray.ok())
        return 0;
    std::vector<std::uint8_t> again;
    write_stray(*stray, message.subspan(Stray::kHeadBytes), again);
    CHECK(std::vector<std::uint8_t>(message.begin(), message.end()) == again);
    return 0;
}
