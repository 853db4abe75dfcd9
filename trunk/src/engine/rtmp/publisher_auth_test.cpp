#include "engine/rtmp/publisher_auth.hpp"

#include <gtest/gtest.h>

#include "base/bytes/base64.hpp"
#include "engine/crypto/md5.hpp"

namespace live::engine::rtmp {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::sys_seconds kAuthNow{1'800'000'000s};

std::string auth_value(const std::string& description, const std::string& name) {
    const std::size_t at = description.find(name + "=") + name.size() + 1;
    return description.substr(at, description.find('&', at) - at);
}

std::string auth_hash(const std::string& text) { return base64(MUST(crypto::md5(as_bytes(text)))); }

// As ffmpeg and librtmp answer.
std::string answer_to(const std::string& description, const std::string& user, const std::string& password) {
    const std::string salted = auth_hash(user + auth_value(description, "salt") + password);
    return "rtmp://h/live?authmod=adobe&user=" + user +
           "&challenge=0badcafe&response=" + auth_hash(salted + auth_value(description, "opaque") + "0badcafe") +
           "&opaque=" + auth_value(description, "opaque");
}

TEST(PublisherAuth, VerifiesTheAnswerToItsChallenge) {
    const PublisherAuth auth("a secret of the workers");
    const PublisherAuth other_worker("a secret of the workers");
    const std::string asked = MUST(auth.challenge("alice", "10.0.0.7", kAuthNow));
    EXPECT_EQ(asked.find("[ AccessManager.Reject ] : [ authmod=adobe ] : ?reason=needauth&user=alice&salt="), 0U) << asked;
    const auto given = PublisherAuth::parse(answer_to(asked, "alice", "s3cret"));
    ASSERT_TRUE(given);
    EXPECT_EQ(given->user, "alice");
    EXPECT_TRUE(MUST(other_worker.verify(*given, "s3cret", "10.0.0.7", kAuthNow + 60s)));
    EXPECT_FALSE(MUST(auth.verify(*given, "s3cret", "10.0.0.7", kAuthNow + 61s))) << "too old";
    EXPECT_FALSE(MUST(auth.verify(*given, "s3cret", "10.0.0.7", kAuthNow - 1s)));
    EXPECT_FALSE(MUST(auth.verify(*given, "s3cret", "10.0.0.8", kAuthNow))) << "another address";
    EXPECT_FALSE(MUST(auth.verify(*given, "other", "10.0.0.7", kAuthNow)));
    EXPECT_FALSE(MUST(PublisherAuth("another secret").verify(*given, "s3cret", "10.0.0.7", kAuthNow)));
    auto changed = *given;
    changed.user = "bob";
    EXPECT_FALSE(MUST(auth.verify(changed, "s3cret", "10.0.0.7", kAuthNow)));
    EXPECT_FALSE(MUST(auth.verify({}, "", "10.0.0.7", kAuthNow)));
}

TEST(PublisherAuth, ReadsTheParametersOfClients) {
    EXPECT_FALSE(PublisherAuth::parse("rtmp://h/live?user=alice"));
    EXPECT_FALSE(PublisherAuth::parse("authmod=adobe&user=alice"));
    const auto first = PublisherAuth::parse("rtmp://h/live?vhost=v?authmod=adobe&user=alice");
    ASSERT_TRUE(first);
    EXPECT_EQ(first->user, "alice");
    EXPECT_TRUE(first->response.empty());
    const std::string whole = answer_to(MUST(PublisherAuth("s").challenge("u", "", kAuthNow)), "u", "p");
    for (std::size_t size = 0; size < whole.size(); ++size)
        if (const auto part = PublisherAuth::parse(whole.substr(0, size))) {
            EXPECT_FALSE(MUST(PublisherAuth("s").verify(*part, "p", "", kAuthNow))) << size;
        }
    EXPECT_TRUE(PublisherAuth::parse("rtmp://h/live?authmod=adobe&user=" + std::string(257, 'a'))->user.empty());
    EXPECT_EQ(PublisherAuth::without_parameters("live?vhost=v?authmod=adobe&user=u"), "live?vhost=v");
    EXPECT_EQ(PublisherAuth::without_parameters("live?a=b"), "live?a=b");
    EXPECT_TRUE(PublisherAuth::is_encoder("FMLE/3.0 (compatible; Lavf61)"));
    EXPECT_FALSE(PublisherAuth::is_encoder("LNX 9,0,124,2"));
}

}  // namespace
}  // namespace live::engine::rtmp
