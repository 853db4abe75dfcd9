// One line of the access log: a client's session on a stream, or its refusal, as one JSON object. Text only.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "session/common/client_table.hpp"

namespace live::service::access_log {

enum class Outcome : std::uint8_t { ended, failed, refused };

struct Visit {
    std::chrono::system_clock::time_point ended;
    const session::ClientRequest& request;
    std::string_view vhost;  // its name in the settings, once the serving one is known
    std::chrono::milliseconds duration{};
    session::ClientFigures figures;
    Outcome outcome = Outcome::ended;
    std::string_view reason;
};

// Limit for a name or a reason, which may come from strangers: the rest is cut off.
inline constexpr std::size_t kTextBytesMax = 256;
// Limit for a whole line. Its eight texts grow to at most six times their size (a control character becomes \u001f).
inline constexpr std::size_t kLineBytesMax = 8 * 6 * kTextBytesMax + 512;

// Returns the line with a trailing newline. The README of the project describes the names.
std::string line_of(const Visit& visit);

}  // namespace live::service::access_log
