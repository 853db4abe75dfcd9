#include "service/cluster/hop_mark.hpp"

#include <gtest/gtest.h>

namespace live::service::cluster {
namespace {

using Hops = std::vector<std::string>;

TEST(HopMark, IsFoundAnywhereInQuery) {
    EXPECT_EQ(hops_of(""), Hops());
    EXPECT_EQ(hops_of("?token=x"), Hops());
    EXPECT_EQ(hops_of("?" + hop_mark("a")), Hops{"a"});
    EXPECT_EQ(hops_of("token=x&millrace_hop=a&millrace_hop=b-1&y"), (Hops{"a", "b-1"}));
    EXPECT_EQ(hops_of("?not_millrace_hop=a&millrace_hopx=b"), Hops());
}

TEST(HopMark, SkipsMalformedNamesAndBoundsThem) {
    EXPECT_EQ(hops_of("?millrace_hop=&millrace_hop=a b&millrace_hop=%41&millrace_hop&millrace_hop=c"), Hops{"c"});
    EXPECT_EQ(hops_of("?millrace_hop=" + std::string(100, 'x')), Hops());
    std::string query;
    for (int i = 0; i < 100; ++i)
        query += hop_mark("n" + std::to_string(i)) + "&";
    EXPECT_EQ(hops_of(query).size(), kHopsMax);
}

TEST(HopMark, DiffersFromBranchMark) {
    EXPECT_TRUE(has_branch_mark("?" + branch_mark("a")));
    EXPECT_TRUE(has_branch_mark("token=x&millrace_hop=b&millrace_branch=a"));
    EXPECT_EQ(hops_of("?" + branch_mark("a")), Hops());
    for (const char* query : {"", "?", "?millrace_branch", "?millrace_branches=a", "?a=millrace_branch=b", "?millrace_hop=a"})
        EXPECT_FALSE(has_branch_mark(query)) << query;
}

TEST(HopMark, AcceptsEveryPrefixOfQuery) {
    const std::string query = "?a=b&millrace_hop=n1&millrace_hop=n2&c=d";
    for (std::size_t length = 0; length <= query.size(); ++length)
        EXPECT_LE(hops_of(query.substr(0, length)).size(), 2U);
}

}  // namespace
}  // namespace live::service::cluster
