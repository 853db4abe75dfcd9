// SignedPolicy of OvenMediaEngine: a URL with policy=JSON in base64url, and signature=HMAC-SHA1 of the URL up to the policy.
#pragma once

#include <optional>
#include <string_view>

#include "base/result.hpp"
#include "service/signed_urls/types.hpp"
#include "wire/http/target.hpp"

namespace live::service::signed_urls {

// As verify(). stream_expire ends the session; url_expire only ends the time for its begin.
Result<std::optional<UnixSeconds>> verify_policy(const wire::http::Query& query, const Written& written, std::string_view key,
                                                 const Requested& requested);

}  // namespace live::service::signed_urls
