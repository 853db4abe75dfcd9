#include "app/start/token_command.hpp"

#include <charconv>

#include <fmt/format.h>

#include "service/tokens/key_file.hpp"

namespace live::app {

namespace {

using service::tokens::PathPattern;

Result<void> add_right(TokenCommand& command, service::tokens::Permission permission, std::string_view path) {
    command.rights.push_back({permission, TRY(PathPattern::parse(std::string(path)))});
    return {};
}

Result<void> add_api_right(TokenCommand& command, std::string_view role) {
    if (role != "read" && role != "admin")
        return Error(Errc::malformed, fmt::format("found --api {}, expected read or admin", role));
    return add_right(command, role == "read" ? service::tokens::Permission::api_read : service::tokens::Permission::api_admin,
                     "");
}

}  // namespace

Result<std::chrono::seconds> parse_lifetime(std::string_view text) {
    std::int64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    const std::int64_t each = unit.empty() || unit == "s" ? 1 : unit == "m" ? 60 : unit == "h" ? 3600 : unit == "d" ? 86'400 : 0;
    constexpr std::int64_t kMax = 36'500LL * 86'400;
    if (failed != std::errc() || each == 0 || number > kMax / each || number < -kMax / each)
        return Error(Errc::malformed, fmt::format("found \"{}\", expected a duration such as 90, 5s, 10m, 1h or 7d", text));
    return std::chrono::seconds(number * each);
}

Result<TokenCommand> parse_token_command(std::span<const std::string_view> arguments, const config::Environment& environment) {
    TokenCommand command;
    std::string conf_file;
    for (std::size_t at = 0; at < arguments.size(); ++at) {
        const std::string_view option = arguments[at];
        if (option == "-c")
            conf_file = TRY(value_behind(arguments, at));
        else if (option == "--publish")
            TRY(add_right(command, service::tokens::Permission::publish, TRY(value_behind(arguments, at))));
        else if (option == "--play")
            TRY(add_right(command, service::tokens::Permission::play, TRY(value_behind(arguments, at))));
        else if (option == "--playback")
            TRY(add_right(command, service::tokens::Permission::playback, TRY(value_behind(arguments, at))));
        else if (option == "--api")
            TRY(add_api_right(command, TRY(value_behind(arguments, at))));
        else if (option == "--expires")
            command.lifetime = TRY(parse_lifetime(TRY(value_behind(arguments, at))));
        else if (option == "--never-expires")
            command.lifetime.reset();
        else if (option == "--vhost")
            command.vhost = TRY(value_behind(arguments, at));
        else if (option == "--subject")
            command.subject = TRY(value_behind(arguments, at));
        else
            return Error(
                Errc::malformed,
                fmt::format("found \"{}\", expected one of -c --publish --play --playback --api --expires --never-expires "
                            "--vhost --subject",
                            option));
    }
    if (command.rights.empty())
        return Error(Errc::malformed, "expected --publish PATH or --play PATH, such as --publish live/cam");
    command.conf = TRY(parse_conf_file(conf_file, environment));
    return command;
}

Result<std::string> make_token(const TokenCommand& command, const settings::Settings& settings,
                               service::tokens::UnixSeconds now) {
    const settings::Vhost* vhost = settings.find_vhost(command.vhost);
    if (vhost == nullptr || (vhost->name == settings::kDefaultVhost && command.vhost != vhost->name))
        return Error(Errc::not_found, "there is no virtual host " + command.vhost);
    const auto& access = vhost->access;
    if (!access.enabled)
        return Error(Errc::unsupported, "access is off in the virtual host " + vhost->name);
    for (const std::string& file : access.key_files) {
        const auto found = TRY(service::tokens::read_or_make_key(file));
        if (!found.key.can_sign())
            continue;
        service::tokens::TokenRequest request{.rights = command.rights,
                                              .rights_claim = access.rights_claim,
                                              .issuer = access.issuer,
                                              .audience = access.audience,
                                              .subject = command.subject,
                                              .expires = {},
                                              .now = now};
        if (command.lifetime)
            request.expires = now + *command.lifetime;
        return service::tokens::make_jwt(request, found.key);
    }
    return Error(Errc::unsupported, "none of the key files has a secret or a private key");
}

std::string token_help(std::string_view program) {
    return fmt::format(
        "Usage: {0} token -c FILE [--publish PATH]... [--play PATH]... [--expires TIME]\n"
        "\n"
        "Prints a token that publishers and players pass as ?token=TOKEN.\n"
        "\n"
        "   -c FILE            the conf file of the server, which has access {{ enabled on; }}\n"
        "   --publish PATH     permits to publish APP/STREAM; * matches all but slashes, ** everything\n"
        "   --play PATH        permits to play\n"
        "   --playback PATH    permits to play recordings\n"
        "   --api read|admin   permits to use the HTTP API\n"
        "   --expires TIME     the lifetime: 90, 5s, 10m, 1h (the default) or 7d\n"
        "   --never-expires    no expiry\n"
        "   --vhost NAME       the virtual host, if not the default one\n"
        "   --subject NAME     the name of the user or device\n",
        program);
}

}  // namespace live::app
