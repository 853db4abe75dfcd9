#include "session/fan_out/flush.hpp"

#include <chrono>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "media/source/wire_log_fixture.hpp"

namespace live::session {
namespace {

// Reads until the end, on another core. Returns how much it was.
std::uint64_t take_all(int descriptor) {
    std::vector<std::uint8_t> block(1U << 20);
    std::uint64_t taken = 0;
    for (;;) {
        ::pollfd wanted{descriptor, POLLIN, 0};
        ::poll(&wanted, 1, -1);
        const auto count = ::read(descriptor, block.data(), block.size());
        if (count == 0)
            return taken;
        taken += count > 0 ? static_cast<std::uint64_t>(count) : 0;
    }
}

TEST(Flush, AClientThatReadsAsFastAsItIsSentToGetsABoundedPartAtOnce) {
    const auto loop = MUST(io::Loop::create());
    const auto listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    const auto client = MUST(io::TcpStream::connect(listener->endpoint(), io::Deadline::after(io::kSoon)));
    auto server = MUST(listener->accept(io::Deadline::after(io::kSoon)));
    std::uint64_t taken = 0;
    io::Scope scope("reader");
    MUST(scope.start("reader", [&](io::Deadline forever) {
        taken = MUST(io::off_loop([descriptor = client->native_handle()] { return take_all(descriptor); }, forever));
    }));
    MUST(io::yield(io::Deadline::after(io::kSoon)));
    media::Stage stage;
    stage.config();
    media::WireCursor cursor(stage.source, media::WireFormat{});
    std::uint64_t sent = 0;
    for (int i = 0; i < 8; ++i) {
        stage.send(MediaKind::video, true, false, std::chrono::seconds(i), media::payload_of(stage.number, 8U << 20));
        for (Flushed flushed = Flushed::full; flushed != Flushed::all;) {
            const std::uint64_t before = sent;
            flushed = flush(*server, cursor, sent);
            ASSERT_NE(flushed, Flushed::gone);
            ASSERT_LE(sent - before, kFlushedMax);
        }
    }
    MUST(server->shutdown_write());
    MUST(scope.join(io::Deadline::after(io::kSoon)));
    EXPECT_EQ(taken, sent);
    EXPECT_GT(sent, 64U << 20);
}

}  // namespace
}  // namespace live::session
