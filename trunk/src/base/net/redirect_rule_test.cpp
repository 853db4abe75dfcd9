#include "base/net/redirect_rule.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(RedirectRule, AllowsOnlyTargetsThatTheSenderCanReach) {
    struct Row {
        const char* sender;
        const char* target;
        bool may;
    };
    const Row rows[] = {
        {"198.51.100.7", "203.0.113.1", true},
        {"198.51.100.7", "2001:db8::1", true},
        {"198.51.100.7", "10.0.0.1", false},
        {"198.51.100.7", "127.0.0.1", false},
        {"198.51.100.7", "0.0.0.0", false},
        {"198.51.100.7", "::ffff:127.0.0.1", false},
        {"2001:db8::1", "::1", false},
        {"2001:db8::1", "fd00::1", false},
        {"198.51.100.7", "169.254.169.254", false},
        {"10.0.0.1", "169.254.169.254", false},
        {"127.0.0.1", "169.254.169.254", false},
        {"10.0.0.1", "10.0.0.2", true},
        {"10.0.0.1", "192.168.0.2", true},
        {"10.0.0.1", "203.0.113.1", true},
        {"10.0.0.1", "127.0.0.1", false},
        {"10.0.0.1", "100.64.0.1", true},
        {"172.31.0.1", "172.32.0.1", true},
        {"172.32.0.1", "172.31.0.1", false},
        {"127.0.0.1", "127.0.0.2", true},
        {"::1", "127.0.0.1", true},
        {"127.0.0.1", "10.0.0.1", true},
        {"127.0.0.1", "203.0.113.1", true},
        {"fe80::1", "fe80::2", true},
        {"fe80::1", "10.0.0.1", true},
        {"fe80::1%eth0", "::1", false},
        {"", "203.0.113.1", false},
        {"203.0.113.1", "example.com", false},
        {"198.51.100.7", "224.0.0.1", false},
    };
    for (const Row& row : rows)
        EXPECT_EQ(may_send_us(row.sender, row.target), row.may) << row.sender << " to " << row.target;
}

}  // namespace
}  // namespace live
