#include "service/users/user_service.hpp"

#include <optional>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"

namespace live::service::users {
namespace {

class UserServiceTest : public testing::Test {
protected:
    void set(std::vector<UserOptions> users) {
        all_ = std::move(users);
        MUST(users_.prepare(io::Deadline::never()));
        users_.apply(io::Deadline::never());
    }
    // A comparison as Digest makes it.
    using Form = session::PasswordSource::Form;
    std::optional<Errc> prove(std::string_view user, std::string_view sent, std::string_view ip, Form form = Form::plain_or_ha1) {
        const auto proven = users_.prove(user, ip, form, [sent](const session::StoredPassword& stored) {
            return stored.password == sent && stored.ha1_md5.empty() == !stored.password.empty();
        });
        return proven.ok() ? std::nullopt : std::optional(proven.code());
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    NoLog sink_;
    Log log_{sink_, "test"};
    std::vector<UserOptions> all_;
    UserService users_{[this] { return all_; }, log_};
};

const UserOptions kPlainUser{"alice", "plain:abc", {"10.0.0.0/8"}, {{"play"}}};
// printf dave:streams:abc | md5sum, and sha256sum.
const UserOptions kDigestUser{
    "dave",
    "ha1:b64a38579c3c62ff0497afa6cc083e90:a21be87fd1905710723e69716a1c52af2185d7ed4617fcc0a4b216623480d794",
    {},
    {{"play"}}};
const UserOptions kHashedUser{"bob", "sha256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=", {}, {{"publish"}}};

TEST_F(UserServiceTest, ProvesUsersByPlainPasswordsOnly) {
    set({kPlainUser, kHashedUser});
    EXPECT_EQ(prove("alice", "abc", "10.0.0.1"), std::nullopt);
    EXPECT_EQ(prove("alice", "abd", "10.0.0.2"), Errc::unauthenticated);
    EXPECT_EQ(prove("alice", "abc", "192.0.2.1"), Errc::unauthenticated) << "of another network";
    EXPECT_EQ(prove("bob", "abc", "10.0.0.3"), Errc::unauthenticated) << "hashed";
    EXPECT_EQ(prove("carol", "-", "10.0.0.4"), Errc::unauthenticated) << "unknown";
}

TEST_F(UserServiceTest, ProvesUsersByHashesForDigest) {
    set({kDigestUser});
    const auto prove_by = [this](Form form) {
        return users_
            .prove("dave", "10.0.0.1", form,
                   [](const session::StoredPassword& stored) {
                       return stored.password.empty() && stored.ha1_md5 == "b64a38579c3c62ff0497afa6cc083e90" &&
                              stored.ha1_sha256 == "a21be87fd1905710723e69716a1c52af2185d7ed4617fcc0a4b216623480d794";
                   })
            .ok();
    };
    EXPECT_TRUE(prove_by(Form::plain_or_ha1));
    EXPECT_FALSE(prove_by(Form::plain)) << "nothing is compared with an empty password";
    EXPECT_TRUE(users_.has_all_as(Form::plain_or_ha1));
    EXPECT_FALSE(users_.has_all_as(Form::plain));
    set({kDigestUser, kPlainUser});
    EXPECT_TRUE(users_.has_all_as(Form::plain_or_ha1));
    set({kDigestUser, kHashedUser});
    EXPECT_FALSE(users_.has_all_as(Form::plain_or_ha1));
}

TEST_F(UserServiceTest, SlowsWrongProofsDown) {
    set({kPlainUser});
    EXPECT_EQ(prove("alice", "abd", "10.0.0.1"), Errc::unauthenticated);
    EXPECT_EQ(prove("alice", "abc", "10.0.0.1"), Errc::limit) << "at once after a wrong one";
    EXPECT_EQ(prove("alice", "abc", "10.0.0.2"), std::nullopt) << "from another address";
}

TEST_F(UserServiceTest, FindsWhetherDigestServesAllUsersOfMedia) {
    EXPECT_FALSE(users_.has_all_as(Form::plain)) << "there are none";
    set({kPlainUser});
    EXPECT_TRUE(users_.has_all_as(Form::plain));
    set({kPlainUser, {"admin", kHashedUser.password, {}, {{"api.admin"}}}});
    EXPECT_TRUE(users_.has_all_as(Form::plain)) << "users of the API send no Digest";
    set({kPlainUser, kHashedUser});
    EXPECT_FALSE(users_.has_all_as(Form::plain));
}

}  // namespace
}  // namespace live::service::users
