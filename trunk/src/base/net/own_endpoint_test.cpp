#include "base/net/own_endpoint.hpp"

#include <gtest/gtest.h>

namespace live {
namespace {

TEST(OwnEndpoint, RecognisesOurListeners) {
    const std::vector<Endpoint> everywhere = {{"0.0.0.0", 1935}, {"::", 1935}};
    EXPECT_TRUE(is_own_endpoint({"127.0.0.1", 1935}, everywhere, ""));
    EXPECT_TRUE(is_own_endpoint({"::1", 1935}, everywhere, ""));
    EXPECT_TRUE(is_own_endpoint({"10.0.0.7", 1935}, everywhere, "10.0.0.7"));
    EXPECT_FALSE(is_own_endpoint({"10.0.0.8", 1935}, everywhere, "10.0.0.7"));
    EXPECT_FALSE(is_own_endpoint({"127.0.0.1", 19350}, everywhere, ""));
    const std::vector<Endpoint> one = {{"10.0.0.7", 1935}};
    EXPECT_TRUE(is_own_endpoint({"10.0.0.7", 1935}, one, ""));
    EXPECT_FALSE(is_own_endpoint({"127.0.0.1", 1935}, one, "127.0.0.1"));
}

}  // namespace
}  // namespace live
