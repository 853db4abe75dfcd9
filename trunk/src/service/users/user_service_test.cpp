#include "service/users/user_service.hpp"

#include <ctime>
#include <optional>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

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

    std::optional<Errc> check(std::string_view user, std::string_view password, std::string_view ip) {
        const auto found = users_.check(user, password, ip, io::Deadline::after(io::kSoon));
        return found.ok() ? std::nullopt : std::optional(found.code());
    }
    // CPU time of the process, the threads that hash included.
    double cpu_seconds_of_wrong(std::string_view user, std::string_view ip) {
        const std::clock_t start = std::clock();
        EXPECT_EQ(check(user, "wrong", ip), Errc::unauthenticated);
        return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
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

TEST(UserOptionsCheck, RefusesPathsForRightsOfTheApi) {
    const auto error_of = [](std::vector<std::string> right) {
        return check_user_options({{"carol", "plain:abc", {}, {{"publish", "live/*"}, std::move(right)}}}, {}).error;
    };
    EXPECT_EQ(error_of({"play", "live/*"}), "");
    for (const char* right : {"api.read", "api.admin", "metrics"}) {
        EXPECT_EQ(error_of({right}), "");
        EXPECT_EQ(error_of({right, "live/*"}), std::string("user carol: found allow \"") + right + " live/*\": " + right +
                                                   " is for the whole API and has no pattern of paths");
    }
}

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

TEST_F(UserServiceTest, ChecksNoPasswordOfAnAddressThatMustWait) {
    set({kPlainUser});
    EXPECT_EQ(check("alice", "abc", "10.0.0.1"), std::nullopt);
    EXPECT_EQ(check("alice", "abd", "10.0.0.2"), Errc::unauthenticated);
    EXPECT_EQ(check("alice", "abc", "10.0.0.2"), Errc::limit) << "or guesses would be compared with the remembered pair";
    EXPECT_EQ(users_.find_verified("alice", "abc", "10.0.0.2"), nullptr);
    EXPECT_EQ(check("alice", "abd", "10.0.0.1"), Errc::unauthenticated);
    EXPECT_EQ(check("alice", "abc", "10.0.0.1"), std::nullopt) << "this address has sent the right one before";
    EXPECT_NE(users_.find_verified("alice", "abc", "10.0.0.1"), nullptr);
    EXPECT_NE(users_.find_verified("alice", "abc", "10.0.0.3"), nullptr) << "no failure";
    set({kPlainUser});
    EXPECT_EQ(check("alice", "abc", "10.0.0.1"), Errc::limit) << "a reload forgets";
}

TEST_F(UserServiceTest, SlowsCredentialsThatOthersCompare) {
    EXPECT_TRUE(users_.note_compared("10.0.0.1", true).ok());
    EXPECT_TRUE(users_.note_compared("10.0.0.1", false).ok());
    EXPECT_EQ(users_.note_compared("10.0.0.1", false).code(), Errc::limit);
    EXPECT_TRUE(users_.note_compared("10.0.0.1", true).ok()) << "right before";
    EXPECT_TRUE(users_.note_compared("10.0.0.2", false).ok());
    EXPECT_EQ(users_.note_compared("10.0.0.2", true).code(), Errc::limit);
    EXPECT_EQ(users_.attempts().failures(), 2U);
    EXPECT_EQ(users_.attempts().refused(), 2U);
}

TEST_F(UserServiceTest, TakesTheSameTimeForEachName) {
    using engine::crypto::PasswordHash;
    set({{"slow", MUST(PasswordHash::make("slow", "right", PasswordHash::Scheme::argon2id)), {}, {{"play"}}}, kHashedUser});
    const double known = cpu_seconds_of_wrong("slow", "10.0.0.1");
    EXPECT_GT(cpu_seconds_of_wrong("nobody", "10.0.0.2"), known / 4);
    EXPECT_GT(cpu_seconds_of_wrong(kHashedUser.name, "10.0.0.3"), known / 4) << "its own hash is fast";
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
