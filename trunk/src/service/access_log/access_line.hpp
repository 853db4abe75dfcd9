// One line of the access log: a client's time with a stream, or that it was refused, as one JSON object. Text only.
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
    std::string_view vhost;  // by its name in the settings, once it is known which one serves it
    std::chrono::milliseconds duration{};
    session::ClientFigures figures;
    Outcome outcome = Outcome::ended;
    std::string_view reason;
};

// Of a name or a reason, which may come from strangers: the rest is cut off.
inline constexpr std::size_t kTextBytesMax = 256;
// Of a whole line. Its eight texts grow to six times their size at most (a control character becomes \u001f).
inline constexpr std::size_t kLineBytesMax = 8 * 6 * kTextBytesMax + 512;

// With its newline. Names as the README of this room has them.
std::string line_of(const Visit& visit);

}  // namespace live::service::access_log
