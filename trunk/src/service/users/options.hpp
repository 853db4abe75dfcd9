// UserOptions: one user {} block of the conf. Plain values with their defaults.
#pragma once

#include <string>
#include <vector>

#include "base/config/option_check.hpp"

namespace live::service::users {

struct UserOptions {
    // The word after `user`; unique.
    std::string name;
    // As engine/crypto/password_hash.hpp reads it.
    std::string password;
    // Empty: any.
    std::vector<std::string> networks;
    // Each right as written: {"publish"}, or with a pattern of paths.
    std::vector<std::vector<std::string>> rights;
};

config::Findings check_user_options(const std::vector<UserOptions>& users, const config::CheckContext& around);
inline constexpr config::OptionCheck<std::vector<UserOptions>> kUserCheck{check_user_options};

}  // namespace live::service::users
