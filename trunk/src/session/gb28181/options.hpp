// The options of the GB28181 caster, and the URLs of its streams.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace live::session::gb28181 {

inline constexpr std::string_view kDefaultOutput = "rtmp://127.0.0.1/live/[stream]";

struct Options {
    std::string output;  // the URL of a stream; [stream] is the id of its session, [app] is live; empty: kDefaultOutput
    std::chrono::milliseconds connect_timeout{10'000};
};

// The URL that a session is published as. Errc::malformed if the id is no name of a stream, or `output` no URL with [stream].
Result<std::string> output_of(const std::string& output, const std::string& id);

}  // namespace live::session::gb28181
