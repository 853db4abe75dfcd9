// `srs token`: makes a token for a virtual host with `access`, signed with the first of its keys that can sign.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/start/command_line.hpp"
#include "base/result.hpp"
#include "service/tokens/jwt.hpp"
#include "settings/conf/tree.hpp"

namespace live::app {

struct TokenCommand {
    static constexpr std::string_view kName = "token";
    static constexpr std::chrono::hours kUsualLifetime{1};

    CommandLine conf;
    std::string vhost{settings::kDefaultVhost};
    std::string subject;
    std::vector<service::tokens::Right> rights;
    std::optional<std::chrono::seconds> lifetime = kUsualLifetime;  // nullopt: it never expires
};

// "90", "5s", "10m", "1h" or "7d"; "-5s" for a token that has expired. Errc::malformed.
Result<std::chrono::seconds> parse_lifetime(std::string_view text);

// `arguments` are those after "token". Errc::malformed with a sentence for the operator.
Result<TokenCommand> parse_token_command(std::span<const std::string_view> arguments, const config::Environment& environment);

// Reads the key files; blocks. Errc::not_found for an unknown virtual host, Errc::unsupported for one without `access` or without
// a key that can sign.
Result<std::string> make_token(const TokenCommand& command, const settings::Settings& settings, service::tokens::UnixSeconds now);

std::string token_help(std::string_view program);

}  // namespace live::app
