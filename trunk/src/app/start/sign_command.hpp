// `srs sign`: signs a URL for a virtual host with `access`, by the first secret of its key files.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/start/command_line.hpp"
#include "base/result.hpp"
#include "service/signed_urls/signed_url.hpp"
#include "settings/conf/tree.hpp"

namespace live::app {

struct SignCommand {
    static constexpr std::string_view kName = "sign";

    CommandLine conf;
    std::string url;
    std::vector<service::tokens::Permission> permissions = {service::tokens::Permission::play};
    std::optional<std::chrono::seconds> lifetime = std::chrono::hours(1);  // nullopt: it never expires
    std::string network;                                                   // empty: any address
};

// The stream that a URL of any protocol names.
struct NamedStream {
    std::string vhost;
    std::string app;
    std::string stream;
    bool is_srt = false;
};
// Errc::malformed for a URL without a stream.
Result<NamedStream> stream_of_url(std::string_view url);

// `arguments` are those after "sign". Errc::malformed with a sentence for the operator.
Result<SignCommand> parse_sign_command(std::span<const std::string_view> arguments, const config::Environment& environment);

// The URL with its signature. Reads the key files; blocks. Errc::unsupported for a virtual host without `access` or without a
// secret.
Result<std::string> sign_url(const SignCommand& command, const settings::Settings& settings,
                             service::signed_urls::UnixSeconds now);

std::string sign_help(std::string_view program);

}  // namespace live::app
