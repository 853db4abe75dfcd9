// For tests only: two connected stream sockets, non-blocking.
#pragma once

#include <array>

#include <sys/socket.h>

#include <gtest/gtest.h>

namespace live::io {

inline std::array<int, 2> socket_pair() {
    std::array<int, 2> ends{-1, -1};
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
    return ends;
}

}  // namespace live::io
