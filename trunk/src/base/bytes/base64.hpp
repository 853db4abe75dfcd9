// Base64 as in RFC 4648: section 4 (the standard alphabet, with padding), and section 5 for URLs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live {

std::string base64(Bytes bytes);
// The bytes that `text` encodes; the padding may be missing. nullopt for other letters and for a single one at the end.
std::optional<std::vector<std::uint8_t>> bytes_of_base64(std::string_view text);

// '-' and '_' instead of '+' and '/', without padding.
std::string base64url(Bytes bytes);
// Errc::malformed for other letters, padding, a length that no bytes have, and unused bits that are not zero: each text has one
// form.
Result<std::vector<std::uint8_t>> parse_base64url(std::string_view text);

}  // namespace live
