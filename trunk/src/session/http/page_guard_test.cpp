#include "session/http/page_guard.hpp"

#include <gtest/gtest.h>

namespace live::session::http {
namespace {

Request request_of(const char* method, const char* target, const char* host, const char* origin, const char* peer = "127.0.0.1") {
    Request request;
    request.message.method = method;
    request.target = wire::http::parse_target(target).value();
    request.peer_ip = peer;
    if (*host != '\0')
        request.message.headers.add("Host", host);
    if (*origin != '\0')
        request.message.headers.add("Origin", origin);
    return request;
}

TEST(PageGuard, ChangesAreOtherMethodsAndGetsWithAnEffect) {
    EXPECT_FALSE(changes_state(request_of("GET", "/api/v1/clients/", "h", "")));
    EXPECT_FALSE(changes_state(request_of("HEAD", "/api/v1/raw?rpc=raw", "h", "")));
    EXPECT_TRUE(changes_state(request_of("DELETE", "/api/v1/clients/a", "h", "")));
    EXPECT_FALSE(changes_state(request_of("GET", "/api/v1/memory?since=mark", "h", "")));
    for (const char* target : {"/api/v1/raw?rpc=reload", "/api/v1/memory?mark=1", "/api/v1/profile?seconds=30",
                               "/api/v1/valgrind?check=full", "/api/v1/fault?kind=leak", "/api/v1/profile/", "/api/v1/fault/",
                               "/index/api/openRtpServer?secret=a", "/index/api/closeRtpServer/"})
        EXPECT_TRUE(changes_state(request_of("GET", target, "h", ""))) << target;
    EXPECT_FALSE(changes_state(request_of("GET", "/index/api/listRtpServer?secret=a", "h", "")));
    EXPECT_TRUE(is_control("/api/v1/clients/a"));
    EXPECT_TRUE(is_control("/gb/v1/publish/"));
    EXPECT_TRUE(is_control("/index/api/openRtpServer"));
    EXPECT_FALSE(is_control("/rtc/v1/whip/"));
}

constexpr std::uint16_t kPagePorts[] = {8080, 1985};
constexpr PageRules kOpen{false, kPagePorts};
constexpr PageRules kWithPassword{true, kPagePorts};

TEST(PageGuard, PagesOfThisServerMayControlAndOthersMayNot) {
    const struct {
        const char* host;
        const char* origin;
        const char* peer;
        bool may;
        bool may_with_password;
    } cases[] = {
        {"127.0.0.1:1985", "", "127.0.0.1", true, true},
        {"127.0.0.1:1985", "http://127.0.0.1:8080", "127.0.0.1", true, true},
        {"localhost:1985", "http://LocalHost:8080", "::1", true, true},
        {"[::1]:1985", "http://[::1]:8080", "::1", true, true},
        {"127.0.0.1:1985", "http://evil.example", "127.0.0.1", false, false},
        {"127.0.0.1:1985", "null", "127.0.0.1", false, false},
        {"127.0.0.1:1985", "http://127.0.0.1.evil.example", "127.0.0.1", false, false},
        {"", "http://127.0.0.1", "127.0.0.1", false, false},
        {"", "", "127.0.0.1", true, true},
        // A name that was made to point at this machine, and the server's own name.
        {"evil.example:1985", "http://evil.example:1985", "127.0.0.1", false, true},
        {"media.example:1985", "https://media.example:8080", "203.0.113.7", true, true},
        // A proxy that has terminated TLS, or maps the port.
        {"media.example", "https://media.example", "203.0.113.7", true, true},
        {"media.example:4430", "https://media.example:4430", "203.0.113.7", true, true},
        // Other services of the same host.
        {"127.0.0.1:1985", "http://127.0.0.1:3000", "127.0.0.1", false, false},
        {"127.0.0.1:1985", "http://127.0.0.1", "127.0.0.1", false, false},
        {"127.0.0.1:1985", "https://127.0.0.1", "127.0.0.1", false, false},
        {"[::1]:1985", "http://[::1]:3000", "127.0.0.1", false, false},
        {"[::1]:1985", "http://[::1]", "127.0.0.1", false, false},
        {"media.example", "https://media.example:8443", "203.0.113.7", false, false},
        {"127.0.0.1:1985", "http://127.0.0.1:19850000", "127.0.0.1", false, false},
    };
    for (const auto& one : cases) {
        const Request request = request_of("DELETE", "/api/v1/clients/a", one.host, one.origin, one.peer);
        EXPECT_EQ(may_control(request, kOpen), one.may) << one.host << " " << one.origin;
        EXPECT_EQ(may_control(request, kWithPassword), one.may_with_password) << one.host << " " << one.origin;
    }
}

TEST(PageGuard, CallsWithASecretNeedNoOrigin) {
    EXPECT_TRUE(may_control(request_of("GET", "/index/api/openRtpServer?secret=a", "media.example", ""), kOpen));
    EXPECT_FALSE(may_control(request_of("GET", "/api/v1/profile", "media.example", ""), kOpen));
    EXPECT_FALSE(may_control(request_of("POST", "/index/api/openRtpServer", "media.example", "http://other.example"), kOpen));
}

TEST(PageGuard, RefusesReloadByPageWhoseNamePointsAtThisMachine) {
    const char* target = "/api/v1/raw?rpc=reload";
    EXPECT_FALSE(may_control(request_of("GET", target, "evil.example:1985", ""), kOpen));
    EXPECT_TRUE(may_control(request_of("GET", target, "evil.example:1985", ""), kWithPassword));
    EXPECT_TRUE(may_control(request_of("GET", target, "127.0.0.1:1985", ""), kOpen));
    EXPECT_TRUE(may_control(request_of("GET", target, "", ""), kOpen)) << "no browser";
    EXPECT_TRUE(may_control(request_of("GET", target, "media.example:1985", "", "203.0.113.7"), kOpen));
    EXPECT_TRUE(may_control(request_of("DELETE", "/api/v1/clients/a", "media.example", ""), kOpen))
        << "a browser would send Origin";
}

TEST(PageGuard, AScriptTagOfAnotherOriginHasNoOriginButASite) {
    const std::pair<const char*, bool> cases[] = {{"cross-site", false}, {"same-site", false}, {"same-origin", true},
                                                  {"none", true},        {"SAME-SITE", false}, {"", false}};
    for (const auto& [site, may] : cases)
        for (const auto& [method, target] : {std::pair("GET", "/api/v1/raw?rpc=reload"), {"DELETE", "/api/v1/clients/a"}}) {
            Request request = request_of(method, target, "127.0.0.1:1985", "");
            request.message.headers.add("Sec-Fetch-Site", site);
            EXPECT_EQ(may_control(request, kOpen), may) << site << " " << method;
        }
}

}  // namespace
}  // namespace live::session::http
