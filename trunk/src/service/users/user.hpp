// User: a user of the conf, read: password, networks and rights. UserTable: all of them by name.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/net/ip_network.hpp"
#include "base/result.hpp"
#include "engine/crypto/password_hash.hpp"
#include "service/tokens/rights.hpp"
#include "service/users/options.hpp"
#include "session/common/credentials.hpp"

namespace live::service::users {

struct User {
    std::string name;
    engine::crypto::PasswordHash password;
    std::vector<IpNetwork> networks;
    std::vector<tokens::Right> rights;

    // An address that cannot be parsed is in no network.
    bool may_come_from(std::string_view ip) const;
};

// Errc::malformed with a sentence for the operator.
Result<User> read_user(const UserOptions& options);

// Owners of a user: the table, and checks that run while a reload replaces the table.
using UserRef = std::shared_ptr<const User>;

class UserTable {
public:
    // Users that cannot be read are left out: the settings are checked before.
    static UserTable of(const std::vector<UserOptions>& all);

    bool empty() const { return users_.empty(); }
    std::size_t size() const { return users_.size(); }
    // Whether all users that publish or play have passwords in such a form, and there are any.
    bool has_all_as(session::PasswordSource::Form form) const {
        return form == session::PasswordSource::Form::plain ? are_all_plain_ : can_all_digest_;
    }
    template <class Visitor>
    void for_each(Visitor&& visit) const {
        for (const auto& [name, user] : users_)
            visit(*user);
    }
    // nullptr for an unknown name.
    UserRef find(std::string_view name) const;
    // The user whose password stands in for that of an unknown one, so that both take the same time; nullptr without users.
    UserRef stand_in() const { return stand_in_; }

private:
    std::unordered_map<std::string, UserRef> users_;
    UserRef stand_in_;
    bool are_all_plain_ = false;
    bool can_all_digest_ = false;
};

}  // namespace live::service::users
