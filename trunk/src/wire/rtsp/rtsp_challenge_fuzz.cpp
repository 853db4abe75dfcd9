// Arbitrary bytes as a WWW-Authenticate header.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/rtsp/authentication.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto challenges = wire::rtsp::parse_challenges(as_text(Bytes(data, size)));
    if (!challenges.ok())
        return 0;
    CHECK(challenges->size() <= wire::rtsp::kChallengesMax);
    for (const auto& challenge : *challenges)
        CHECK(challenge.realm.size() <= size && challenge.nonce.size() <= size);
    return 0;
}
