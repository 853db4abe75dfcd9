#include "session/common/accept_loop.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "base/log/log_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "wire/proxy/proxy_header.hpp"

namespace live::session {
namespace {

constexpr std::chrono::seconds kLimit{20};

class AcceptLoopTest : public testing::Test {
protected:
    void SetUp() override {
        MUST(loops_.start("loop", [this](io::Deadline forever) {
            accept_each(*listener_, connections_, "client", log_, proxies_, forever,
                        [this](const auto& stream, io::Deadline deadline) {
                            ++begun_;
                            peers_.push_back(stream->peer());
                            std::array<std::uint8_t, 1> byte{};
                            if (stream->read_some(byte, deadline).ok())
                                said_.push_back(byte[0]);
                        });
        }));
    }
    void TearDown() override {
        MUST(connections_.stop(io::Deadline::after(kLimit)));
        MUST(loops_.stop(io::Deadline::after(kLimit)));
    }
    std::unique_ptr<io::TcpStream> connect() {
        return MUST(io::TcpStream::connect(listener_->endpoint(), io::Deadline::after(kLimit)));
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::unique_ptr<io::TcpListener> listener_ = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    NoLog no_log_;
    Log log_{no_log_, ""};
    io::Scope connections_{"connections"};
    io::Scope loops_{"loops"};
    struct Proxies final : ProxyRules {
        bool sends_proxy_header(std::string_view ip) const override { return !ips.empty() && ip == ips; }
        std::string ips;
    } proxies_;
    int begun_ = 0;
    std::vector<std::string> peers_;
    std::vector<std::uint8_t> said_;
};

TEST_F(AcceptLoopTest, ConnectionContinuesWhenNoOtherIsAccepted) {
    const auto first = connect();
    const auto second = connect();
    io::wait_until([this] { return begun_ == 2; });
    listener_->close();
    MUST(loops_.join(io::Deadline::after(kLimit)));
    for (const auto* each : {&second, &first})
        MUST((*each)->write_all(std::array{io::as_part(as_bytes("x"))}, io::Deadline::after(kLimit)));
    io::wait_until([this] { return connections_.size() == 0; });
    EXPECT_EQ(said_, std::vector<std::uint8_t>({'x', 'x'}));
}

TEST_F(AcceptLoopTest, TakesTheAddressOfAProxysClient) {
    proxies_.ips = "127.0.0.1";
    const TransportAddress client{MUST(parse_ip("203.0.113.7")), 51544};
    const auto write = [](io::TcpStream& stream, const std::string& text) {
        MUST(stream.write_all(std::array{io::as_part(as_bytes(text))}, io::Deadline::after(kLimit)));
    };
    for (const std::string& header :
         {wire::proxy::write_text_header(client, client), wire::proxy::write_binary_header(client, client)}) {
        const auto stream = connect();
        write(*stream, header + "x");
        io::wait_until([this] { return connections_.size() == 0; });
        EXPECT_EQ(peers_.back(), "203.0.113.7:51544");
        EXPECT_EQ(said_.back(), 'x') << "the byte behind the header is the client's";
    }
    const auto unknown = connect();
    write(*unknown, "PROXY UNKNOWN\r\nx");
    io::wait_until([this] { return peers_.size() == 3 && connections_.size() == 0; });
    EXPECT_EQ(peers_.back().substr(0, 10), "127.0.0.1:");
    const auto without = connect();
    write(*without, "GET / HTTP/1.1\r\n\r\n");
    std::array<std::uint8_t, 1> byte{};
    EXPECT_FALSE(without->read_some(byte, io::Deadline::after(kLimit)).ok()) << "closed";
    EXPECT_EQ(begun_, 3);
    proxies_.ips = "192.0.2.1";
    const auto stranger = connect();
    write(*stranger, "PROXY TCP4 203.0.113.7 203.0.113.7 1 1\r\n");
    io::wait_until([this] { return begun_ == 4 && connections_.size() == 0; });
    EXPECT_EQ(said_.back(), 'P') << "a header of a stranger is the client's bytes";
}

TEST_F(AcceptLoopTest, ClosesConnectionWithoutFiberAndAcceptsTheNext) {
    MUST(connections_.stop(io::Deadline::after(kLimit)));
    for (int i = 0; i < 2; ++i) {
        const auto stream = connect();
        std::array<std::uint8_t, 1> byte{};
        EXPECT_EQ(stream->read_some(byte, io::Deadline::after(kLimit)).code(), Errc::closed);
    }
    EXPECT_EQ(begun_, 0);
}

}  // namespace
}  // namespace live::session
