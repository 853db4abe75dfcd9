// Queries and policies: the input is used as a whole query, and as a policy with its right signature, so that it reaches the
// parser.
#include <cstdint>

#include "base/bytes/base64.hpp"
#include "base/check.hpp"
#include "engine/crypto/hmac_sha1.hpp"
#include "service/signed_urls/signed_url.hpp"

using namespace live;
using namespace live::service::signed_urls;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view input = as_text({data, size});
    constexpr std::string_view kKey = "0123456789abcdef0123456789abcdef";
    const Secrets secrets{.keys = {as_bytes(kKey)},
                          .secure_link = "$secure_link_expires$uri$arg_path$remote_addr secret",
                          .policy = kKey,
                          .policy_permissions = {service::tokens::Permission::playback}};
    const Requested requested{"live/cam", service::tokens::Permission::playback, "10.0.0.7", "10.0.0.7",
                              UnixSeconds(std::chrono::seconds(1'800'000'000))};
    Written written{{"/live/cam"}, {"rtmp://h"}, input, {"/get"}, "live/cam"};
    // Nobody finds a signature.
    if (const auto query = wire::http::Query::parse(input); query.ok())
        CHECK(!verify(*query, written, secrets, requested).ok());
    std::string policy = "policy=" + base64url({data, size});
    const std::string text = written.places.front() + written.uris.front() + "?" + policy;
    const auto tag = engine::crypto::hmac_sha1(as_bytes(kKey), as_bytes(text));
    CHECK(tag.ok());
    policy += "&signature=" + base64url(*tag);
    written.raw_query = policy;
    if (const auto query = wire::http::Query::parse(policy); query.ok())
        static_cast<void>(verify(*query, written, secrets, requested));
    return 0;
}
