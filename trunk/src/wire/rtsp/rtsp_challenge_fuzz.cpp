// Arbitrary bytes as a WWW-Authenticate header, and as an Authorization header.
#include <cstddef>
#include <cstdint>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"
#include "wire/rtsp/authentication.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const auto challenges = wire::rtsp::parse_challenges(as_text(Bytes(data, size)));
    const auto response = wire::rtsp::parse_digest_response(as_text(Bytes(data, size)));
    if (response.ok() && *response)
        CHECK(!(*response)->user.empty() && (*response)->user.size() + (*response)->uri.size() <= size);
    if (!challenges.ok())
        return 0;
    CHECK(challenges->size() <= wire::rtsp::kChallengesMax);
    for (const auto& challenge : *challenges)
        CHECK(challenge.realm.size() <= size && challenge.nonce.size() <= size);
    return 0;
}
