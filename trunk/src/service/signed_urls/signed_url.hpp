// Signed URLs: a query that permits one stream until a time, made by everybody who has the secret. Three forms: ours
// (HMAC-SHA256), and those of two other servers, so that the services that make them need not change. Dry: the time is an
// argument.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "service/signed_urls/types.hpp"
#include "wire/http/target.hpp"

namespace live::service::signed_urls {

// Whether the query has a signature of one of these forms.
bool is_signed(const wire::http::Query& query);

// The time at which the session must end, if the URL has one. Errc::denied with a sentence for the client, which contains nothing
// of the URL.
Result<std::optional<UnixSeconds>> verify(const wire::http::Query& query, const Written& written, const Secrets& secrets,
                                          const Requested& requested);

struct Signing {
    std::string_view path;
    std::vector<tokens::Permission> permissions;
    std::optional<UnixSeconds> expires{};
    std::string_view network{};  // empty: any address
};
// "expires=...&signature=...": to be added to a URL. Errc::system if the library fails.
Result<std::string> sign(const Signing& signing, Bytes key);

}  // namespace live::service::signed_urls
