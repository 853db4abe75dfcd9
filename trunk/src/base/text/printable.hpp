// Text of peers, safe to show on a terminal and in a log: without characters that a terminal or an editor obeys.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace live {

// The bytes of the UTF-8 sequence at the front of `text`, overlong forms included; otherwise 1. `text` must not be empty.
std::size_t utf8_length(std::string_view text);
// Reports whether a sequence of that function controls its reader. A control character (C0, DEL and C1; as a byte, in UTF-8, and
// in overlong UTF-8), a line or paragraph separator, or a mark that changes the direction of text.
bool is_control(std::string_view sequence);
// Reports whether `text` is valid UTF-8 (RFC 3629) without any of these.
bool is_printable_utf8(std::string_view text);
// Returns `text` with '?' in place of each of these.
std::string printable(std::string_view text);
// Returns JSON with \uXXXX in place of each of these (RFC 8259, 7): they only occur in strings. `json` must be valid UTF-8.
std::string escape_controls(std::string json);

}  // namespace live
