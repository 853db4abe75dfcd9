#include "api/debug/profile_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/process/cpu_profile.hpp"

namespace live::api {
namespace {

struct ProfileHandlerTest : HandlerFixtureOf<nlohmann::ordered_json> {
    ProfileHandlerTest() { endpoints.serve("/api/v1/profile", handler); }
    ProfileHandler handler;
};

TEST_F(ProfileHandlerTest, RefusesUnknownFormats) {
    for (const char* query : {"?seconds=0", "?seconds=61", "?seconds=-1", "?seconds=1x", "?seconds=", "?format=svg"})
        EXPECT_EQ(ask(std::string("/api/v1/profile") + query).status, 400) << query;
    EXPECT_EQ(ask("/api/v1/profile", "POST").status, 405);
}

TEST_F(ProfileHandlerTest, ReturnsBothFormats) {
    const auto binary = ask("/api/v1/profile?seconds=1");
    EXPECT_EQ(binary.status, 200);
    EXPECT_NE(binary.body.find("r-xp"), std::string::npos) << "what is mapped where";
    EXPECT_EQ(binary.content_type, "application/octet-stream");
    const auto folded = ask("/api/v1/profile?seconds=1&format=folded");
    EXPECT_EQ(folded.status, 200);
    EXPECT_EQ(folded.content_type, "text/plain");
    EXPECT_EQ(folded.body.find("r-xp"), std::string::npos);
}

TEST_F(ProfileHandlerTest, SecondProfileIsAConflict) {
    io::Scope scope("test");
    MUST(scope.start("first", [](io::Deadline deadline) { static_cast<void>(io::profile_cpu(1min, deadline)); }));
    MUST(io::yield(io::Deadline::never()));
    EXPECT_EQ(ask_json("/api/v1/profile?seconds=1", 409)["code"], 409);
    MUST(scope.stop(io::Deadline::after(io::kSoon)));
}

}  // namespace
}  // namespace live::api
