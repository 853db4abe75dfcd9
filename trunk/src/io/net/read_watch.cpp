#include "io/net/read_watch.hpp"

#include <sys/epoll.h>

#include "io/fibers/loop_state.hpp"

namespace live::io {

ReadWatch::~ReadWatch() {
    if (is_linked_)
        st::loop_state().engine.unlink(node_);
}

bool ReadWatch::begin(const TcpStream& stream) {
    st::Engine& engine = st::loop_state().engine;
    const int fd = stream.native_handle();
    constexpr std::uint32_t kWanted = EPOLLIN | EPOLLHUP | EPOLLERR;
    if (!stream.is_open() || !engine.arm(fd) || engine.ready(fd, kWanted) != 0)
        return false;
    node_ = {};
    node_.fd = fd;
    node_.wanted = kWanted;
    node_.sleeper = this;
    engine.link(node_);
    is_linked_ = true;
    return true;
}

// The engine has unlinked the node of a closed descriptor.
void ReadWatch::wake() {
    if (!is_linked_)
        return;
    is_linked_ = false;
    st::loop_state().engine.unlink(node_);
    listener_.on_readable();
}

}  // namespace live::io
