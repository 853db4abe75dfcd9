#include "io/tls/self_signed.hpp"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/tls/tls_context.hpp"

namespace live::io {
namespace {

struct SelfSignedTest : ::testing::Test {
    SelfSignedTest() {
        char name[] = "/tmp/live_self_signed.XXXXXX";
        folder = ::mkdtemp(name);
    }
    ~SelfSignedTest() override { std::filesystem::remove_all(folder); }
    std::string folder;
};

TEST_F(SelfSignedTest, MakesAUniquePairThatServes) {
    const std::string certificate = folder + "/server.crt";
    const std::string key = folder + "/server.key";
    MUST(make_self_signed(certificate, key));
    EXPECT_TRUE(TlsContext::server(certificate, key).ok());
    struct stat status {};
    ASSERT_EQ(::stat(key.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    const std::string first = MUST(certificate_fingerprint(certificate));
    EXPECT_EQ(first.size(), 32U * 3 - 1);
    EXPECT_EQ(first.find_first_not_of("0123456789ABCDEF:"), std::string::npos);
    const auto life = MUST(certificate_expiry(certificate)) - std::chrono::system_clock::now();
    EXPECT_LT(life, std::chrono::days(3650));
    EXPECT_GT(life, std::chrono::days(3649));
    EXPECT_EQ(certificate_expiry(folder + "/none.crt").code(), Errc::not_found);
    EXPECT_EQ(certificate_expiry(key).code(), Errc::malformed);
    MUST(make_self_signed(certificate, key));
    EXPECT_NE(MUST(certificate_fingerprint(certificate)), first);
}

TEST_F(SelfSignedTest, AContextTakesANewPairAndRefusesHalfOfOne) {
    MUST(make_self_signed(folder + "/a.crt", folder + "/a.key"));
    MUST(make_self_signed(folder + "/b.crt", folder + "/b.key"));
    const auto context = MUST(TlsContext::server(folder + "/a.crt", folder + "/a.key"));
    EXPECT_EQ(context->reload(folder + "/b.crt", folder + "/a.key").code(), Errc::conflict);
    EXPECT_EQ(context->reload(folder + "/none.crt", folder + "/b.key").code(), Errc::not_found);
    EXPECT_TRUE(context->reload(folder + "/b.crt", folder + "/b.key").ok());
}

TEST_F(SelfSignedTest, ReportsReadAndWriteErrors) {
    EXPECT_EQ(make_self_signed(folder + "/none/a.crt", folder + "/none/a.key").code(), Errc::system);
    EXPECT_EQ(certificate_fingerprint(folder + "/none.crt").code(), Errc::not_found);
    std::ofstream(folder + "/noise.crt") << "noise";
    EXPECT_EQ(certificate_fingerprint(folder + "/noise.crt").code(), Errc::malformed);
}

}  // namespace
}  // namespace live::io
