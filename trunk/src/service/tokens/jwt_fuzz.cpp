// Arbitrary tokens: as they are, and as header and claims under a valid signature, so that everything behind it is reached.
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/base64.hpp"
#include "base/check.hpp"
#include "service/tokens/jwt.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    using namespace live::service::tokens;
    static const std::vector<engine::crypto::SigningKey> kKeys = {
        MUST(engine::crypto::SigningKey::parse("a secret that is long enough for HS256"))};
    const std::string_view text = as_text(Bytes(data, size));
    const UnixSeconds now{std::chrono::seconds(1'800'000'000)};
    CHECK(!verify_jwt(text, kKeys, {}, now).ok());
    const std::size_t middle = text.find('.');
    const std::string_view header = middle == std::string_view::npos ? R"({"alg":"HS256"})" : text.substr(0, middle);
    const std::string_view claims = middle == std::string_view::npos ? text : text.substr(middle + 1);
    const std::string input = base64url(as_bytes(header)) + "." + base64url(as_bytes(claims));
    const std::string token = input + "." + base64url(MUST(kKeys.front().sign(as_bytes(input))));
    if (const auto verified = verify_jwt(token, kKeys, {.audience = size % 2 == 0 ? "" : "a"}, now); verified.ok()) {
        CHECK(!verified->expires || *verified->expires > now);
        CHECK(verified->rights.size() <= kRightsMax);
        static_cast<void>(permits(verified->rights, Permission::play, "live/cam"));
    }
    return 0;
}
