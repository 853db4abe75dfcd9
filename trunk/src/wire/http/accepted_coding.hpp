// The Accept-Encoding header field (RFC 9110, 12.5.3).
#pragma once

#include <string_view>

namespace live::wire::http {

// Whether the field's `text` accepts `coding` ("gzip") with a weight above 0, by its name or by "*". Names are case-insensitive;
// an invalid weight counts as 0.
bool accepts_coding(std::string_view text, std::string_view coding);

}  // namespace live::wire::http
