// Answers of an ACME server, from the examples of RFC 8555, sections 7.1.1, 7.1.3, 7.1.4 and 6.7.
#pragma once

#include <string_view>

namespace live::wire::acme {

inline constexpr std::string_view kDirectoryVector = R"({
  "newNonce": "https://example.com/acme/new-nonce",
  "newAccount": "https://example.com/acme/new-account",
  "newOrder": "https://example.com/acme/new-order",
  "newAuthz": "https://example.com/acme/new-authz",
  "revokeCert": "https://example.com/acme/revoke-cert",
  "keyChange": "https://example.com/acme/key-change",
  "meta": {"termsOfService": "https://example.com/acme/terms/2017-5-30", "website": "https://www.example.com/",
           "caaIdentities": ["example.com"], "externalAccountRequired": false}
})";
inline constexpr std::string_view kOrderVector = R"({
  "status": "valid", "expires": "2016-01-20T14:09:07.99Z",
  "identifiers": [{"type": "dns", "value": "www.example.org"}, {"type": "dns", "value": "example.org"}],
  "notBefore": "2016-01-01T00:00:00Z", "notAfter": "2016-01-08T00:00:00Z",
  "authorizations": ["https://example.com/acme/authz/PAniVnsZcis", "https://example.com/acme/authz/r4HqLzrSrpI"],
  "finalize": "https://example.com/acme/order/TOlocE8rfgo/finalize",
  "certificate": "https://example.com/acme/cert/jWCdfHVGY2M"
})";
inline constexpr std::string_view kAuthorizationVector = R"({
  "status": "pending", "expires": "2016-01-02T14:09:30Z", "identifier": {"type": "dns", "value": "www.example.org"},
  "challenges": [
    {"type": "http-01", "url": "https://example.com/acme/chall/prV_B7yEyA4", "token": "DGyRejmCefe7v4NfDGDKfA"},
    {"type": "dns-01", "url": "https://example.com/acme/chall/Rg5dV14Gh1Q", "token": "DGyRejmCefe7v4NfDGDKfA"},
    {"type": "tls-alpn-01", "url": "https://example.com/acme/chall/PCt92wr-oA", "status": "invalid", "token": "DGyRejmCefe7v4NfDGDKfA",
     "error": {"type": "urn:ietf:params:acme:error:connection", "detail": "refused"}}]
})";
inline constexpr std::string_view kProblemVector = R"({
  "type": "urn:ietf:params:acme:error:malformed", "detail": "Some of the identifiers requested were rejected",
  "subproblems": [{"type": "urn:ietf:params:acme:error:malformed", "detail": "Invalid underscore in DNS name \"_example.org\"",
                   "identifier": {"type": "dns", "value": "_example.org"}}]
})";

}  // namespace live::wire::acme
