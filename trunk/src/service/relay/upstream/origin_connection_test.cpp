#include "service/relay/upstream/origin_connection.hpp"

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "base/options_of_fixture.hpp"
#include "engine/rtmp/server.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "service/relay/relayed_events_fixture.hpp"
#include "wire/rtmp/chunk_writer.hpp"
#include "wire/rtmp/stream_url.hpp"

namespace live::service::relay {
namespace {

using engine::rtmp::GotMedia;
using io::kSoon;

// Accepts one connection: plays one frame to an RTMP client, or keeps the text of a client of another protocol.
class FakeOrigin {
public:
    void run(io::Deadline deadline) {
        auto stream = listener->accept(deadline);
        if (stream.ok())
            static_cast<void>(is_rtmp ? play(**stream, deadline) : read(**stream, deadline));
    }

    std::unique_ptr<io::TcpListener> listener = MUST(io::TcpListener::listen({"127.0.0.1", 0}));
    bool is_rtmp = true;
    std::string text;

private:
    Result<void> play(io::Stream& stream, io::Deadline deadline) {
        engine::rtmp::Server engine({}, 1);
        std::array<std::uint8_t, 4096> buffer;
        for (;;) {
            const auto count = TRY(stream.read_some(buffer, deadline));
            TRY(engine.handle_bytes(io::now(), Bytes(buffer).first(count)));
            bool plays = false;
            while (auto event = engine.poll_event()) {
                if (std::holds_alternative<engine::rtmp::WantsToConnect>(*event))
                    TRY(engine.accept_connect());
                plays = std::holds_alternative<engine::rtmp::WantsToPlay>(*event);
                if (plays)
                    TRY(engine.accept_play());
            }
            std::vector<std::uint8_t> output;
            engine.take_output(output);
            ByteWriter media;
            if (plays)
                wire::rtmp::write_message(media, wire::rtmp::kVideoChunkStream, wire::rtmp::MessageType::video, 40, 1,
                                          as_bytes("a frame"), engine.chunk_size());
            output.insert(output.end(), media.written().begin(), media.written().end());
            const std::array parts{io::as_part(output)};
            TRY(stream.write_all(parts, deadline));
        }
    }
    Result<void> read(io::Stream& stream, io::Deadline deadline) {
        std::array<std::uint8_t, 4096> buffer;
        for (;;) {
            const auto count = TRY(stream.read_some(buffer, deadline));
            text += as_text(Bytes(buffer).first(count));
        }
    }
};

class OriginConnectionTest : public testing::Test {
protected:
    void SetUp() override {
        context_.dial.scratch = scratch_;
        MUST(scope_.start("origin", [this](io::Deadline deadline) { origin_.run(deadline); }));
        wanted_.origin = {"127.0.0.1", origin_.listener->endpoint().port};
        wanted_.vhost = wire::rtmp::kDefaultVhost;
        wanted_.app = "live";
        wanted_.stream = "cam";
    }
    void TearDown() override {
        connection_.close();
        MUST(scope_.stop(io::Deadline::after(kSoon)));
    }
    Result<void> open() {
        TRY(connection_.dial(wanted_, interrupt_, io::Deadline::after(kSoon)));
        return connection_.begin(wanted_, options_, {}, request_);
    }
    // Exchanges bytes until the next media.
    Result<GotMedia> next_media() {
        const auto limit = io::Deadline::after(kSoon);
        for (;;) {
            while (auto event = connection_.upstream().poll_event())
                if (auto* media = std::get_if<GotMedia>(&*event))
                    return std::move(*media);
            TRY(connection_.send(limit));
            TRY(connection_.stream().wait_readable(limit));
            TRY(connection_.read(io::now()));
        }
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    std::array<std::uint8_t, 4096> scratch_{};
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    RelayedEvents events_;
    session::ClientTable clients_;
    ClusterOptions options_;
    SameOptions<ClusterOptions> same_options_{options_};
    PullContext context_{{}, streams_, events_, clients_, same_options_, {"vid-1", "SIG", "7.1.0", 1}};
    FakeOrigin origin_;
    io::Scope scope_{"origin"};
    Signal interrupt_;
    Wanted wanted_;
    session::ClientRequest request_;
    OriginConnection connection_{context_};
};

TEST_F(OriginConnectionTest, PlaysAnRtmpOrigin) {
    EXPECT_FALSE(connection_.is_open());
    ASSERT_TRUE(open().ok());
    EXPECT_TRUE(connection_.is_open());
    EXPECT_EQ(request_.protocol, "rtmp");
    EXPECT_EQ(request_.tc_url, "rtmp://127.0.0.1:" + std::to_string(wanted_.origin.port) + "/live");
    EXPECT_EQ(connection_.read(io::now()).code(), Errc::need_more);
    const auto media = MUST(next_media());
    EXPECT_EQ(media.timestamp_ms, 40U);
    EXPECT_EQ(as_text(media.payload.bytes()), "a frame");
    EXPECT_TRUE(connection_.upstream().is_started());
}

TEST_F(OriginConnectionTest, CountsTheBytesOfEarlierConnections) {
    ASSERT_TRUE(open().ok());
    MUST(next_media());
    const std::uint64_t received = connection_.bytes_received();
    EXPECT_GT(received, 2U * 1536);
    connection_.close();
    EXPECT_FALSE(connection_.is_open());
    EXPECT_EQ(connection_.bytes_received(), received);
}

TEST_F(OriginConnectionTest, AsksAnHttpOriginForFlv) {
    origin_.is_rtmp = false;
    wanted_.origin.scheme = Scheme::http;
    ASSERT_TRUE(open().ok());
    EXPECT_EQ(request_.protocol, "http-flv");
    ASSERT_TRUE(connection_.send(io::Deadline::after(kSoon)).ok());
    io::wait_until([this] { return origin_.text.find("\r\n\r\n") != std::string::npos; });
    EXPECT_EQ(origin_.text.substr(0, 17), "GET /live/cam.flv");
}

TEST_F(OriginConnectionTest, ReportsTheEndOfTheConnection) {
    ASSERT_TRUE(open().ok());
    MUST(next_media());
    scope_.cancel();  // the origin ends
    ASSERT_TRUE(connection_.stream().wait_readable(io::Deadline::after(kSoon)).ok());
    EXPECT_EQ(connection_.read(io::now()).code(), Errc::closed);
}

TEST_F(OriginConnectionTest, RefusesProtocolsThatThisServerLacks) {
    EXPECT_EQ(connection_.call({}, io::Deadline::after(kSoon)).code(), Errc::unsupported);
    wanted_.origin = worker_origin(2);
    EXPECT_EQ(open().code(), Errc::unsupported);
    EXPECT_FALSE(connection_.is_open());
}

TEST_F(OriginConnectionTest, TheSignalEndsTheDial) {
    interrupt_.raise();
    EXPECT_EQ(open().code(), Errc::cancelled);
}

}  // namespace
}  // namespace live::service::relay
