#include "service/users/user.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace live::service::users {

using engine::crypto::PasswordHash;

namespace {

bool is_for_streams(tokens::Permission permission) {
    return permission == tokens::Permission::publish || permission == tokens::Permission::play ||
           permission == tokens::Permission::playback;
}

bool has_media(const User& user) {
    return std::ranges::any_of(user.rights, [](const tokens::Right& right) {
        return right.permission == tokens::Permission::publish || right.permission == tokens::Permission::play;
    });
}

}  // namespace

bool User::may_come_from(std::string_view ip) const {
    if (networks.empty())
        return true;
    const auto address = parse_ip(ip);
    return address.ok() && std::ranges::any_of(networks, [&](const IpNetwork& network) { return network.contains(*address); });
}

Result<User> read_user(const UserOptions& options) {
    if (options.name.empty() || options.name.find(':') != std::string::npos)
        return Error(Errc::malformed, "the name of a user is not empty and has no colon");
    User user{options.name, TRY(PasswordHash::parse(options.password)), {}, {}};
    for (const std::string& text : options.networks)
        user.networks.push_back(TRY(IpNetwork::parse(text)));
    for (const auto& right : options.rights) {
        const auto permission = right.empty() || right.size() > 2 ? std::nullopt : tokens::parse_permission(right[0]);
        if (!permission)
            return Error(
                Errc::malformed,
                fmt::format("found allow \"{}\", expected publish, play, playback, api.read, api.admin or metrics, and a "
                            "pattern of paths if not for all",
                            fmt::join(right, " ")));
        if (right.size() == 2 && !is_for_streams(*permission))
            return Error(Errc::malformed, fmt::format("found allow \"{}\": {} is for the whole API and has no pattern of paths",
                                                      fmt::join(right, " "), right[0]));
        user.rights.push_back({*permission, TRY(tokens::PathPattern::parse(right.size() > 1 ? right[1] : ""))});
    }
    return user;
}

UserTable UserTable::of(const std::vector<UserOptions>& all) {
    UserTable table;
    std::size_t with_media = 0;
    std::size_t plain = 0;
    std::size_t for_digest = 0;
    for (const UserOptions& options : all) {
        auto user = read_user(options);
        if (!user.ok())
            continue;
        const auto owned = std::make_shared<const User>(*std::move(user));
        table.users_.emplace(options.name, owned);
        if (has_media(*owned)) {
            ++with_media;
            plain += owned->password.scheme() == PasswordHash::Scheme::plain ? 1 : 0;
            for_digest += owned->password.scheme() == PasswordHash::Scheme::ha1 ? 1 : 0;
        }
        // The slowest kind of password.
        if (table.stand_in_ == nullptr || owned->password.scheme() == PasswordHash::Scheme::argon2id)
            table.stand_in_ = owned;
    }
    table.are_all_plain_ = with_media > 0 && plain == with_media;
    table.can_all_digest_ = with_media > 0 && plain + for_digest == with_media;
    return table;
}

UserRef UserTable::find(std::string_view name) const {
    const auto found = users_.find(std::string(name));
    return found == users_.end() ? nullptr : found->second;
}

config::Findings check_user_options(const std::vector<UserOptions>& users, const config::CheckContext&) {
    for (const UserOptions& options : users) {
        if (const auto user = read_user(options); !user.ok())
            return config::Findings::broken(fmt::format("user {}: {}", options.name, user.error().sentence()));
        if (options.rights.empty())
            return config::Findings::broken(fmt::format("user {}: expected at least one allow", options.name));
    }
    return {};
}

}  // namespace live::service::users
