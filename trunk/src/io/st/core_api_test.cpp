// Tests the core's own functions on our engine: the guarantees of io.c and st_poll hold whatever sits below them.
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>

#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/loop_state.hpp"
#include "io/st/core.hpp"
#include "io/st/engine.hpp"

namespace live::io::st {
namespace {

constexpr st_utime_t kSoon = 10'000'000;

struct Pair {
    Pair() {
        int fds[2];
        EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        near = st_netfd_open_socket(fds[0]);
        far = fds[1];
    }
    ~Pair() {
        EXPECT_EQ(st_netfd_close(near), 0);
        ::close(far);
    }
    Pair(const Pair&) = delete;
    Pair& operator=(const Pair&) = delete;
    void write(const char* text) const {
        EXPECT_EQ(::write(far, text, std::strlen(text)), static_cast<ssize_t>(std::strlen(text)));
    }

    st_netfd_t near;
    int far;
};

class CoreApi : public testing::Test {
protected:
    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
};

// Reads one byte in a thread of the core.
struct Reader {
    st_netfd_t from;
    int got = 0;
    int error = 0;
    static void* run(void* argument) {
        auto* reader = static_cast<Reader*>(argument);
        char byte = 0;
        if (st_read(reader->from, &byte, 1, kSoon) == 1)
            ++reader->got;
        else
            reader->error = errno;
        return nullptr;
    }
};

TEST_F(CoreApi, IsOurEngineWithoutADescriptorLimit) {
    EXPECT_STREQ(st_get_eventsys_name(), "live-epoll");
    EXPECT_GT(st_getfdlimit(), 0);
}

TEST_F(CoreApi, UsesOurSleepQueue) {
    st_thread_t sleeper =
        st_thread_create([](void*) -> void* { return st_usleep(kSoon) == 0 ? nullptr : nullptr; }, nullptr, 1, 0);
    st_usleep(1000);
    EXPECT_EQ(loop_->counters().sleeping, 1U);
    st_thread_interrupt(sleeper);
    EXPECT_EQ(st_thread_join(sleeper, nullptr), 0);
    EXPECT_EQ(loop_->counters().sleeping, 0U);
}

TEST_F(CoreApi, AReadTimesOutAndThenGetsDataAndTheEnd) {
    const Pair pair;
    char text[100];
    EXPECT_EQ(st_read(pair.near, text, 1, 1000), -1);
    EXPECT_EQ(errno, ETIME);
    pair.write("abc");
    ::shutdown(pair.far, SHUT_WR);
    st_usleep(1000);
    EXPECT_EQ(st_read_fully(pair.near, text, sizeof text, kSoon), 3);
    EXPECT_EQ(st_read(pair.near, text, sizeof text, kSoon), 0);
}

TEST_F(CoreApi, TwoReadersOfOneDescriptorAreServedOneByteEach) {
    const Pair pair;
    Reader a{pair.near};
    Reader b{pair.near};
    st_thread_t first = st_thread_create(Reader::run, &a, 1, 0);
    st_thread_t second = st_thread_create(Reader::run, &b, 1, 0);
    st_usleep(1000);
    EXPECT_EQ(st_netfd_close(pair.near), -1);
    EXPECT_EQ(errno, EBUSY);
    pair.write("1");
    st_usleep(2000);
    EXPECT_EQ(a.got + b.got, 1);
    pair.write("2");
    EXPECT_EQ(st_thread_join(first, nullptr), 0);
    EXPECT_EQ(st_thread_join(second, nullptr), 0);
    EXPECT_EQ(a.got + b.got, 2);
}

TEST_F(CoreApi, AnInterruptEndsOneWaitWithEintr) {
    const Pair pair;
    Reader reader{pair.near};
    st_thread_t thread = st_thread_create(Reader::run, &reader, 1, 0);
    st_usleep(1000);
    st_thread_interrupt(thread);
    EXPECT_EQ(st_thread_join(thread, nullptr), 0);
    EXPECT_EQ(reader.error, EINTR);
}

TEST_F(CoreApi, PollIsLevelTriggered) {
    const Pair pair;
    pair.write("xyz");
    for (int i = 0; i < 3; ++i)
        EXPECT_EQ(st_netfd_poll(pair.near, POLLIN, kSoon), 0);
    EXPECT_EQ(st_netfd_poll(pair.near, POLLOUT, kSoon), 0);
    char text[8];
    EXPECT_EQ(::read(st_netfd_fileno(pair.near), text, sizeof text), 3);
    EXPECT_EQ(st_netfd_poll(pair.near, POLLIN, 1000), -1);
    EXPECT_EQ(errno, ETIME);
}

TEST_F(CoreApi, PollReportsReadyDescriptors) {
    const Pair one;
    const Pair two;
    two.write("q");
    std::array<pollfd, 2> both{pollfd{st_netfd_fileno(one.near), POLLIN, 0}, pollfd{st_netfd_fileno(two.near), POLLIN, 0}};
    EXPECT_EQ(st_poll(both.data(), 2, kSoon), 1);
    EXPECT_EQ(both[0].revents, 0);
    EXPECT_EQ(both[1].revents, POLLIN);
    EXPECT_EQ(st_poll(both.data(), 65, kSoon), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(st_poll(nullptr, 0, 1000), 0);
}

TEST_F(CoreApi, ALargeWriteIsReadInPieces) {
    const Pair pair;
    struct Writer {
        st_netfd_t to;
        std::string text = std::string(2'000'000, 'w');
        ssize_t written = 0;
    } writer{pair.near};
    st_thread_t thread = st_thread_create(
        [](void* argument) -> void* {
            auto* self = static_cast<Writer*>(argument);
            self->written = st_write(self->to, self->text.data(), self->text.size(), kSoon);
            return nullptr;
        },
        &writer, 1, 0);
    std::size_t got = 0;
    std::array<char, 65536> block{};
    while (got < writer.text.size()) {
        st_usleep(100);
        ssize_t count = 0;
        while ((count = ::recv(pair.far, block.data(), block.size(), MSG_DONTWAIT)) > 0)
            got += static_cast<std::size_t>(count);
    }
    EXPECT_EQ(st_thread_join(thread, nullptr), 0);
    EXPECT_EQ(writer.written, static_cast<ssize_t>(writer.text.size()));
}

// Waiting on a registered descriptor costs no epoll_ctl.
TEST_F(CoreApi, ManyWaitsRegisterOnce) {
    const Pair pair;
    const auto before = loop_->counters().epoll_controls;
    char byte = 0;
    for (int i = 0; i < 100; ++i) {
        EXPECT_EQ(st_read(pair.near, &byte, 1, 0), -1);
        pair.write("1");
        EXPECT_EQ(st_read(pair.near, &byte, 1, kSoon), 1);
    }
    EXPECT_EQ(loop_->counters().epoll_controls - before, 1U);
}

// More ready descriptors than one turn handles.
TEST_F(CoreApi, MoreEventsThanOneTurnTakesAreAllServed) {
    constexpr std::size_t kCount = Engine::kEventsPerTurnMax + 100;
    std::vector<std::unique_ptr<Pair>> pairs;
    std::vector<Reader> readers(kCount);
    std::vector<st_thread_t> threads;
    for (std::size_t i = 0; i < kCount; ++i) {
        pairs.push_back(std::make_unique<Pair>());
        readers[i].from = pairs[i]->near;
        threads.push_back(st_thread_create(Reader::run, &readers[i], 1, 0));
    }
    st_usleep(1000);
    for (const auto& pair : pairs)
        pair->write("x");
    for (st_thread_t thread : threads)
        EXPECT_EQ(st_thread_join(thread, nullptr), 0);
    for (const Reader& reader : readers)
        EXPECT_EQ(reader.got, 1);
}

}  // namespace
}  // namespace live::io::st
