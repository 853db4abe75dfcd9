#include "service/users/api_access.hpp"

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::service::users {
namespace {

using engine::crypto::SigningKey;
using session::http::ApiRole;

class NoKeySets final : public tokens::KeySets {
public:
    const std::vector<SigningKey>* find(const std::string&) const override { return nullptr; }
    void refresh(const std::string&, io::Deadline) override {}
};

class ApiAccessTest : public testing::Test {
protected:
    ApiAccessTest() {
        keys_.replace({{"a.key", key_}});
        rules_.enabled = true;
        rules_.key_files = {"a.key"};
        all_ = {{"reader", "plain:r", {}, {{"api.read"}}},
                {"admin", "plain:a", {"10.0.0.0/8"}, {{"api.admin"}}},
                {"scraper", "plain:s", {}, {{"metrics"}, {"play"}}},
                {"player", "plain:p", {}, {{"play"}}}};
        MUST(users_.prepare(io::Deadline::never()));
        users_.apply(io::Deadline::never());
    }
    session::http::ApiCaller caller(const session::Credentials& sent, const std::string& ip = "10.0.0.7") {
        return access_.identify(sent, ip, io::Deadline::after(io::kSoon));
    }
    ApiRole role(const std::string& name, const std::string& password, const std::string& ip = "10.0.0.7") {
        return caller({name, password, {}, {}, {}}, ip).role;
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    NoLog sink_;
    Log log_{sink_, "test"};
    const SigningKey key_ = MUST(SigningKey::parse(std::string(32, 'k')));
    tokens::KeyRing keys_;
    NoKeySets key_sets_;
    tokens::TokenOptions rules_;
    std::vector<UserOptions> all_;
    UserService users_{[this] { return all_; }, log_};
    ApiAccess access_{users_, {keys_, key_sets_}, [this] { return &rules_; }, {"off", {}}, log_};
};

TEST_F(ApiAccessTest, FindsTheRolesOfUsers) {
    EXPECT_EQ(role("reader", "r"), ApiRole::read);
    EXPECT_EQ(role("admin", "a"), ApiRole::admin);
    EXPECT_EQ(role("scraper", "s"), ApiRole::metrics);
    EXPECT_EQ(role("player", "p"), ApiRole::none);
    EXPECT_EQ(caller({"reader", "r", {}, {}, {}}).name, "user reader");
    EXPECT_EQ(caller({{}, {}, "admin:a", {}, {}}).role, ApiRole::admin) << "in a bearer field";
    EXPECT_EQ(role("admin", "a", "192.0.2.1"), ApiRole::none) << "of another network";
    EXPECT_EQ(role("reader", "wrong"), ApiRole::none);
}

TEST_F(ApiAccessTest, SlowsWrongCredentialsDown) {
    EXPECT_FALSE(caller({"reader", "wrong", {}, {}, {}}, "10.0.0.8").must_wait);
    EXPECT_TRUE(caller({"reader", "r", {}, {}, {}}, "10.0.0.8").must_wait);
    EXPECT_EQ(role("reader", "r", "10.0.0.8"), ApiRole::none);
    EXPECT_FALSE(access_.may_try("10.0.0.8", true)) << "those of http_api.auth itself, too";
    EXPECT_TRUE(access_.may_try("10.0.0.9", true));
}

TEST_F(ApiAccessTest, FindsTheRolesOfTokens) {
    tokens::TokenRequest request{.rights = {}, .subject = "ops", .now = tokens::unix_now()};
    request.rights.push_back({tokens::Permission::api_read, MUST(tokens::PathPattern::parse(""))});
    const std::string token = MUST(tokens::make_jwt(request, key_));
    const auto found = caller({{}, {}, token, {}, {}});
    EXPECT_EQ(found.role, ApiRole::read);
    EXPECT_EQ(found.name, "token of ops");
    EXPECT_EQ(caller({{}, {}, token + "x", {}, {}}).role, ApiRole::none);
}

TEST_F(ApiAccessTest, WritesLinesWithoutSecrets) {
    EXPECT_EQ(
        audit_line({"user admin", "10.0.0.7", "DELETE", "/api/v1/clients/x?token=secret", 200},
                   std::chrono::system_clock::time_point()),
        R"({"caller":"user admin","ip":"10.0.0.7","method":"DELETE","status":200,"target":"/api/v1/clients/x?token=***","time":"1970-01-01T00:00:00.000Z"})"
        "\n");
}

}  // namespace
}  // namespace live::service::users
