#include "service/tokens/key_sets.hpp"

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/hooks/fake_hooks_fixture.hpp"
#include "service/tokens/jwk_set_vectors.hpp"

namespace live::service::tokens {
namespace {

class KeySetsTest : public testing::Test {
protected:
    KeySetsTest() {
        MUST(fibers_.start("the issuer", [this](io::Deadline forever) { issuer_.run(forever); }));
        issuer_.answers["/keys"] = kKeySet;
    }
    ~KeySetsTest() override {
        MUST(fibers_.stop(soon()));
        issuer_.stop();
    }
    static io::Deadline soon() { return io::Deadline::after(io::kSoon); }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    NoLog sink_;
    Log log_{sink_, "test"};
    io::Scope fibers_{"test"};
    hooks::FakeHooks issuer_;
    std::vector<std::uint8_t> scratch_ = std::vector<std::uint8_t>(4096);
    http_client::HttpClient http_{"test/1", scratch_, nullptr};
    const std::string url_ = issuer_.url("/keys");
    std::vector<std::string> urls_;
    KeySetService sets_{http_, [this] { return urls_; }, log_};
};

TEST_F(KeySetsTest, ReadsTheSetsOfTheSettings) {
    urls_ = {url_};
    MUST(sets_.start(fibers_, soon()));
    io::wait_until([this] { return sets_.find(url_) != nullptr; });
    EXPECT_EQ(sets_.find(url_)->size(), 3U);
    urls_.clear();
    sets_.apply(soon());
    io::wait_until([this] { return sets_.find(url_) == nullptr; });
}

TEST_F(KeySetsTest, ReportsTheFirstReadOfASet) {
    int count = 0;
    sets_.set_on_first_read([&] {
        EXPECT_NE(sets_.find(url_), nullptr);
        ++count;
    });
    urls_ = {url_};
    issuer_.answers["/keys"] = "lies";
    sets_.refresh(url_, soon());
    EXPECT_EQ(count, 0);
    issuer_.answers["/keys"] = kKeySet;
    MUST(sets_.start(fibers_, soon()));
    io::wait_until([&] { return sets_.find(url_) != nullptr; });
    EXPECT_EQ(count, 1);
    sets_.apply(soon());
    io::wait_until([&] { return issuer_.got.size() >= 3; });
    EXPECT_EQ(count, 1) << "the same set again";
}

TEST_F(KeySetsTest, AsksAtMostEveryTenSeconds) {
    sets_.refresh(url_, soon());
    ASSERT_NE(sets_.find(url_), nullptr);
    for (int i = 0; i < 100; ++i)
        sets_.refresh(url_, soon());
    EXPECT_EQ(issuer_.got.size(), 1U);
}

TEST_F(KeySetsTest, KeepsTheSetWhenTheIssuerFails) {
    sets_.refresh(url_, soon());
    ASSERT_NE(sets_.find(url_), nullptr);
    urls_ = {url_};
    for (const std::string& answer :
         {std::string("<html>"), std::string(), std::string(R"({"keys":[]})"), std::string(1 << 20, ' ')}) {
        issuer_.answers["/keys"] = answer;
        const std::size_t before = issuer_.got.size();
        io::Scope asks("asks");
        MUST(sets_.start(asks, soon()));
        io::wait_until([&] { return issuer_.got.size() > before; });
        sets_.refresh(url_, soon());
        MUST(asks.stop(soon()));
        EXPECT_EQ(sets_.find(url_)->size(), 3U);
    }
}

// Requests at the same time share one call.
TEST_F(KeySetsTest, SharesACallThatHangs) {
    issuer_.hangs_at = "/keys";
    int returned = 0;
    io::Scope callers("callers");
    for (int i = 0; i < 5; ++i)
        MUST(callers.start("a caller", [&](io::Deadline forever) {
            sets_.refresh(url_, forever.sooner(io::Deadline::after(std::chrono::milliseconds(50))));
            ++returned;
        }));
    io::wait_until([&] { return returned == 5; });
    EXPECT_EQ(issuer_.got.size(), 1U);
    EXPECT_EQ(sets_.find(url_), nullptr);
    MUST(callers.stop(soon()));
}

}  // namespace
}  // namespace live::service::tokens
