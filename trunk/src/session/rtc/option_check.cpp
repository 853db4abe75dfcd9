#include <fmt/format.h>

#include "base/net/host_and_port.hpp"
#include "session/rtc/candidates.hpp"
#include "session/rtc/options.hpp"

namespace live::session::rtc {

config::Findings check_rtc_server_options(const RtcServerOptions& options, const config::CheckContext&) {
    for (const std::string& candidate : options.candidates)
        if (options.enabled && !is_wildcard_candidate(candidate) && !parse_host(candidate).ok())
            return config::Findings::broken(
                fmt::format("rtc_server: candidate has \"{}\", expected an address, a name, * or $NAME", candidate));
    return {};
}

}  // namespace live::session::rtc
