#include "service/tokens/token_service.hpp"

#include <sys/stat.h>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "base/log/log_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/tokens/key_file.hpp"
#include "session/common/client_fixture.hpp"

namespace live::service::tokens {
namespace {

using namespace std::chrono_literals;

class TokenServiceTest : public testing::Test {
protected:
    Result<void> start() { return service_.start(fibers_, io::Deadline::after(io::kSoon)); }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
    NoLog sink_;
    Log log_{sink_, "test"};
    std::vector<std::string> files_;
    session::ClientTable clients_;
    io::Scope fibers_{"test"};
    TokenService service_{[this] { return files_; }, clients_, log_};
};

TEST_F(TokenServiceTest, MakesAMissingSecretThatOnlyItsOwnerMayRead) {
    files_ = {folder_.file("access.key"), folder_.file("access.key")};
    MUST(start());
    const auto* key = service_.keys().find(files_[0]);
    ASSERT_NE(key, nullptr);
    EXPECT_EQ(key->name(), "HS256");
    struct ::stat facts {};
    ASSERT_EQ(::stat(files_[0].c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777U, 0600U);
    const auto again = MUST(read_or_make_key(files_[0]));
    EXPECT_FALSE(again.is_new);
    EXPECT_EQ(MUST(again.key.sign({})), MUST(key->sign({})));
}

TEST_F(TokenServiceTest, RefusesToStartWithoutAReadableKey) {
    files_ = {folder_.file("missing/access.key")};
    EXPECT_NE(start().error().sentence().find("missing/access.key"), std::string::npos);
    folder_.write("short.key", "short");
    files_ = {folder_.file("short.key")};
    EXPECT_NE(start().error().sentence().find("at least 32 bytes"), std::string::npos);
    EXPECT_EQ(read_key(folder_.file("none.key")).code(), Errc::not_found);
}

TEST_F(TokenServiceTest, UsesTheKeysOfAReloadWhenItTakesEffect) {
    files_ = {folder_.file("a.key")};
    MUST(start());
    files_ = {folder_.file("b.key")};
    MUST(service_.prepare(io::Deadline::after(io::kSoon)));
    EXPECT_NE(service_.keys().find(folder_.file("a.key")), nullptr);
    service_.apply(io::Deadline::never());
    EXPECT_EQ(service_.keys().find(folder_.file("a.key")), nullptr);
    EXPECT_NE(service_.keys().find(folder_.file("b.key")), nullptr);
}

TEST_F(TokenServiceTest, KicksAClientWhenItsTokenExpires) {
    const UnixSeconds start{1'800'000'000s};
    session::FakeClient forever(clients_, session::ClientKind::rtmp_play, "cam", "1");
    session::FakeClient soon(clients_, session::ClientKind::rtmp_play, "cam", "2");
    session::FakeClient gone(clients_, session::ClientKind::rtmp_play, "cam", "3");
    session::StreamPlan plan, expiring, late;
    expiring.ends_at = start + 5s;
    late.ends_at = start + 9s;
    const session::StreamStay first(forever.entry, plan, {});
    const session::StreamStay second(soon.entry, expiring, {});
    {
        const session::StreamStay third(gone.entry, late, {});
        EXPECT_EQ(service_.expiring(), 2U);
    }
    EXPECT_EQ(service_.expiring(), 1U) << "a client that has left";
    service_.end_expired(start + 4s);
    EXPECT_EQ(soon.kicked, "");
    service_.end_expired(start + 5s);
    EXPECT_EQ(soon.kicked, "its token or signed URL has expired");
    EXPECT_EQ(forever.kicked, "");
    EXPECT_EQ(service_.expiring(), 0U);
    service_.end_expired(start + 20s);
    EXPECT_EQ(gone.kicked, "");
}

}  // namespace
}  // namespace live::service::tokens
