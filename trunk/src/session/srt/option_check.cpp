#include <fmt/format.h>

#include "session/srt/options.hpp"

namespace live::session::srt {

namespace {

// An empty passphrase means no encryption. Returns the sentence about a bad one, or an empty one.
std::string passphrase_problem(std::string_view passphrase, std::string_view option) {
    if (passphrase.empty() || (passphrase.size() >= kPassphraseBytesMin && passphrase.size() <= kPassphraseBytesMax))
        return {};
    return fmt::format("{} has {} characters, expected {}..{}", option, passphrase.size(), kPassphraseBytesMin,
                       kPassphraseBytesMax);
}

}  // namespace

config::Findings check_srt_options(const SrtOptions& options, const config::CheckContext& around) {
    return config::Findings::broken(
        passphrase_problem(options.passphrase, fmt::format("vhost {}: srt.passphrase", around.vhost)));
}

config::Findings check_srt_server_options(const SrtServerOptions& options, const config::CheckContext&) {
    config::Findings findings;
    if (options.enabled && options.tsbpdmode && !options.tlpktdrop)
        findings.warnings.emplace_back(
            "srt_server: with tlpktdrop off and tsbpdmode on, a packet that never comes holds up its stream, until the receive "
            "buffer is full and the publisher is disconnected; for no loss, switch both off");
    findings.error = passphrase_problem(options.passphrase, "srt_server.passphrase");
    if (findings.error.empty() && options.pbkeylen != 0 && options.pbkeylen != 16 && options.pbkeylen != 24 &&
        options.pbkeylen != 32)
        findings.error = fmt::format("srt_server.pbkeylen is {}, expected 0, 16, 24 or 32", options.pbkeylen);
    if (!findings.error.empty() || options.default_streamid.empty())
        return findings;
    if (const auto id = parse_stream_id(options.default_streamid, {options.default_app, options.default_mode}); !id.ok())
        findings.error = "srt_server.default_streamid: " + id.error().sentence();
    return findings;
}

}  // namespace live::session::srt
