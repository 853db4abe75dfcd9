#include "session/rtmp/peer.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/tls/tls_identity_fixture.hpp"
#include "io/tls/tls_stream.hpp"
#include "session/limits/connection_limits.hpp"
#include "wire/rtmp/control_message.hpp"

namespace live::session::rtmp {
namespace {

// A client that sends a handshake and then answers to pings, without an end: the server has always more to read.
class EndlessStream final : public io::Stream {
public:
    EndlessStream() {
        handshake_.u8(3).zeros(std::size_t{2} * 1536);
        while (pings_.size() < 4096)
            wire::rtmp::write_control(pings_, wire::rtmp::UserControl{wire::rtmp::UserControl::Event::ping_response, 1, 0});
    }
    Result<std::size_t> read_some(MutBytes into, io::Deadline) override { return try_read(into); }
    Result<std::size_t> try_read(MutBytes into) override {
        const Bytes next = std::exchange(has_greeted_, true) ? pings_.written() : handshake_.written();
        std::ranges::copy(next, into.begin());
        return next.size();
    }
    Result<void> write_all(std::span<const ::iovec>, io::Deadline) override { return {}; }
    Result<std::size_t> try_write(std::span<const ::iovec>) override { return std::size_t{0}; }
    Result<void> wait_readable(io::Deadline) override { return {}; }
    Result<io::Ready> wait_ready(io::Interest, Signal*, io::Deadline) override { return io::Ready{.readable = true}; }
    void coalesce_wakes() override {}
    std::string peer() const override { return "203.0.113.9:51544"; }
    void close() override {}

private:
    ByteWriter handshake_;
    ByteWriter pings_;
    bool has_greeted_ = false;
};

struct ConnectedClient final : MemoryBudget::Holder {
    std::string_view address() const override { return "203.0.113.9"; }
    void lose_memory(std::string) override {}
};

TEST(RtmpPeer, InputWithoutAnEndLetsOtherFibersRun) {
    const auto loop = MUST(io::Loop::create());
    std::vector<std::uint8_t> scratch(64 * 1024);
    Traffic traffic;
    const Log log;
    ConnectionLimits limits(10, log);
    ConnectedClient holder;
    Peer peer(std::make_unique<EndlessStream>(), {}, 1, scratch, traffic, limits.memory(), holder);
    io::Scope scope("test");
    std::optional<Errc> ended;
    MUST(scope.start("client", [&](io::Deadline deadline) { ended = peer.next_event(deadline).code(); }));
    io::wait_until([&] { return peer.own_traffic().received_bytes > 1U << 20; });
    EXPECT_FALSE(ended);
    EXPECT_TRUE(scope.stop(io::Deadline::after(io::kSoon)).ok());
    EXPECT_EQ(ended, Errc::cancelled);
}

// The options of a socket apply below TLS too.
TEST(RtmpPeer, SetsTheOptionsOfTheSocketBelowTls) {
    const auto loop = MUST(io::Loop::create());
    const io::TlsIdentity identity("peer");
    const auto server = MUST(io::TlsContext::server(identity.certificate_path, identity.key_path));
    const auto client = MUST(io::TlsContext::client(io::TlsVerify::none));
    const auto listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    std::unique_ptr<io::TlsStream> accepted;
    io::Scope scope("test");
    MUST(scope.start("server", [&](io::Deadline) {
        auto tcp = MUST(listener->accept(io::Deadline::after(io::kSoon)));
        accepted = MUST(io::TlsStream::accept(std::move(tcp), *server, io::Deadline::after(io::kSoon)));
    }));
    auto tcp = MUST(io::TcpStream::connect(listener->endpoint(), io::Deadline::after(io::kSoon)));
    const auto other = MUST(io::TlsStream::connect(std::move(tcp), *client, "live.test", io::Deadline::after(io::kSoon)));
    MUST(scope.join(io::Deadline::after(io::kSoon)));

    io::TcpStream& socket = *accepted->carrier();
    std::vector<std::uint8_t> scratch(64 * 1024);
    Traffic traffic;
    const Log log;
    ConnectionLimits limits(10, log);
    ConnectedClient holder;
    Peer peer(std::move(accepted), {}, 1, scratch, traffic, limits.memory(), holder);
    EXPECT_FALSE(socket.no_delay());
    MUST(peer.set_no_delay(true));
    EXPECT_TRUE(socket.no_delay());
    MUST(peer.set_no_delay(false));
    EXPECT_FALSE(socket.no_delay());
    EXPECT_EQ(peer.receive_buffer(), socket.receive_buffer());
    peer.forget();
    // It is found again by the next wait.
    MUST(other->write_all(std::array{io::as_part(as_bytes(std::string_view("x")))}, io::Deadline::after(io::kSoon)));
    EXPECT_TRUE(peer.stream().wait_readable(io::Deadline::after(io::kSoon)).ok());
}

}  // namespace
}  // namespace live::session::rtmp
