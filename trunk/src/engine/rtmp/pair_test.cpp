// Server and Client joined in memory, with seeded cuts of the bytes. These tests only show that both ends agree; server_test.cpp
// checks what is on the wire.
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "engine/rtmp/client.hpp"
#include "engine/rtmp/peer_fixture.hpp"
#include "engine/rtmp/server.hpp"

namespace live::engine::rtmp {
namespace {

using wire::amf::Value;
using wire::rtmp::MessageType;
using Lines = std::vector<std::string>;

constexpr unsigned kSeeds = 12;

ClientOptions client_options(ClientOptions::Mode mode) {
    ClientOptions options;
    options.mode = mode;
    options.tc_url = "rtmp://h/live";
    options.app = "live";
    options.stream = "cam?token=x";
    return options;
}

// Carries bytes both ways until both sides are idle, answers the server's questions, and records the events of each side.
class SessionPair {
public:
    enum class Answers { accept, reject_connect, redirect, redirect_play, reject_stream };

    SessionPair(ClientOptions options, unsigned seed, Answers answers = Answers::accept)
        : client(std::move(options), seed), server({}, seed + 1), answers_(answers), cuts_(seed) {
        EXPECT_TRUE(client.start(TimePoint{}).ok());
        run();
    }

    void run() {
        while (carry()) {
        }
    }
    // Media for a player, as the media core writes it.
    void play(Bytes chunks) {
        Octets bytes;
        server.take_output(bytes);
        bytes.insert(bytes.end(), chunks.begin(), chunks.end());
        to_client(bytes);
        run();
    }

    Client client;
    Server server;
    Lines server_events;
    Lines client_events;

private:
    bool carry() {
        Octets up;
        client.take_output(up);
        for (Bytes rest(up); !rest.empty();) {
            const std::size_t count = cuts_.next(rest.size());
            check(server.handle_bytes(TimePoint{}, rest.first(count)));
            rest = rest.subspan(count);
            take_server_events();
        }
        Octets down;
        server.take_output(down);
        to_client(down);
        return !up.empty() || !down.empty();
    }
    void to_client(Bytes rest) {
        while (!rest.empty()) {
            const std::size_t count = cuts_.next(rest.size());
            check(client.handle_bytes(TimePoint{}, rest.first(count)));
            rest = rest.subspan(count);
            while (auto event = client.poll_event())
                std::visit([this](const auto& one) { client_events.push_back(line(one)); }, *event);
        }
    }
    void take_server_events() {
        for (const GotMedia& media : server.take_media())
            server_events.push_back(line(media));
        while (auto event = server.poll_event()) {
            std::visit([this](const auto& one) { server_events.push_back(line(one)); }, *event);
            answer(*event);
        }
    }
    void answer(const Event& event) {
        if (std::holds_alternative<WantsToConnect>(event)) {
            if (answers_ == Answers::reject_connect)
                server.reject_connect("no such vhost");
            else if (answers_ == Answers::redirect)
                server.redirect_connect("rtmp://other/live", "rtmp://other/live/cam");
            else
                check(server.accept_connect());
        } else if (std::holds_alternative<WantsToPublish>(event)) {
            check(answers_ == Answers::reject_stream ? server.reject_publish("NetStream.Publish.BadName", "busy")
                                                     : server.accept_publish());
        } else if (std::holds_alternative<WantsToPlay>(event)) {
            if (answers_ == Answers::redirect_play)
                check(server.redirect_play("rtmp://other/live", "rtmp://other/live/cam", "it is there"));
            else
                check(answers_ == Answers::reject_stream ? server.reject_play("NetStream.Play.Failed", "denied")
                                                         : server.accept_play());
        } else if (const auto* pause = std::get_if<PauseChanged>(&event)) {
            server.accept_pause(pause->paused);
        }
    }
    static void check(const Result<void>& result) { EXPECT_TRUE(result.ok()) << (result.ok() ? "" : result.error().text()); }

    static std::string line(const GotMedia& media) {
        return "media " + std::to_string(static_cast<int>(media.type)) + " at " + std::to_string(media.timestamp_ms) + " of " +
               std::to_string(media.payload.size()) + " sum " + std::to_string(sum(media.payload.bytes()));
    }
    static unsigned sum(Bytes bytes) {
        unsigned total = 0;
        for (const std::uint8_t byte : bytes)
            total = total * 31 + byte;
        return total;
    }
    static std::string line(const WantsToConnect& event) { return "connect " + event.request->tc_url + " " + event.request->app; }
    static std::string line(const WantsToPublish& event) {
        return "publish " + event.stream + " style " + std::to_string(static_cast<int>(event.style));
    }
    static std::string line(const WantsToPlay& event) { return "play " + event.stream; }
    static std::string line(const PauseChanged& event) { return event.paused ? "pause" : "resume"; }
    static std::string line(const StoppedPublishing&) { return "stopped publishing"; }
    static std::string line(const StoppedPlaying&) { return "stopped playing"; }
    static std::string line(const StreamDeleted&) { return "deleted"; }
    static std::string line(const RedirectAnswered&) { return "redirect answered"; }
    static std::string line(const PeerWarning& event) { return "warning " + event.sentence; }
    static std::string line(const Connected& event) {
        const Value* code = event.info.find("code");
        return "connected " + std::string(code == nullptr ? "?" : code->string().value_or("?"));
    }
    static std::string line(const PublishStarted&) { return "publish started"; }
    static std::string line(const PlayStarted&) { return "play started"; }
    static std::string line(const Rejected& event) {
        return "rejected " + event.code + ": " + event.description + (event.redirect_url ? " -> " + *event.redirect_url : "");
    }
    static std::string line(const StreamEnded& event) { return "ended " + event.code; }
    static std::string line(const ReconnectRequested& event) { return "reconnect <" + event.tc_url + "> " + event.description; }

    Answers answers_;
    Cuts cuts_;
};

void for_every_seed(const std::function<void(unsigned)>& body) {
    for (unsigned seed = 0; seed < kSeeds; ++seed) {
        SCOPED_TRACE("seed " + std::to_string(seed));
        body(seed);
    }
}

TEST(SessionPair, PublishesMediaOfEverySizeAndTime) {
    for_every_seed([](unsigned seed) {
        SessionPair pair(client_options(ClientOptions::Mode::publish), seed);
        EXPECT_EQ(pair.client_events, (Lines{"connected NetConnection.Connect.Success", "publish started"}));
        EXPECT_EQ(pair.server_events, (Lines{"connect rtmp://h/live live", "publish cam?token=x style 0"}));
        EXPECT_EQ(pair.server.handshake_form(), HandshakeForm::complex);
        EXPECT_EQ(pair.server.peer_chunk_size(), 60'000U);
        EXPECT_TRUE(pair.server.knows_tracks() && pair.client.knows_tracks());
        pair.server_events.clear();

        std::mt19937 random(seed);
        Lines sent;
        std::uint32_t time_ms = 0xFFFFF0;
        for (const std::size_t size : {1UL, 127UL, 128UL, 129UL, 59'999UL, 60'000UL, 60'001UL, 200'000UL}) {
            Octets payload(size);
            unsigned sum = 0;
            for (std::uint8_t& byte : payload) {
                byte = static_cast<std::uint8_t>(random());
                sum = sum * 31 + byte;
            }
            const MessageType type = size % 2 == 0 ? MessageType::audio : MessageType::video;
            pair.client.send_media(type, time_ms, payload);
            sent.push_back("media " + std::to_string(static_cast<int>(type)) + " at " + std::to_string(time_ms) + " of " +
                           std::to_string(size) + " sum " + std::to_string(sum));
            time_ms += 40;
        }
        pair.run();
        EXPECT_EQ(pair.server_events, sent);
    });
}

TEST(SessionPair, PublishesDataAsItIs) {
    SessionPair pair(client_options(ClientOptions::Mode::publish), 3);
    pair.server_events.clear();
    ByteWriter body;
    wire::amf::write_amf0(body, "@setDataFrame");
    pair.client.send_media(MessageType::amf0_data, 0, body.written());
    pair.run();
    ASSERT_EQ(pair.server_events.size(), 1U);
    EXPECT_EQ(pair.server_events[0].substr(0, 19), "media 18 at 0 of 16");
}

TEST(SessionPair, AnswersAPublishersPings) {
    for_every_seed([](unsigned seed) {
        SessionPair pair(client_options(ClientOptions::Mode::publish), seed);
        const Lines before = pair.server_events;
        EXPECT_EQ(pair.client.ping_answers(), 0U);
        pair.client.ping(500);
        pair.client.send_media(MessageType::audio, 1, Octets{0xAF, 1, 2});
        pair.client.ping(1'000);
        pair.run();
        EXPECT_EQ(pair.client.ping_answers(), 2U);
        EXPECT_EQ(pair.server_events.size(), before.size() + 1);
    });
}

TEST(SessionPair, PublishesAfterASimpleHandshake) {
    ClientOptions options = client_options(ClientOptions::Mode::publish);
    options.handshake = HandshakeForm::simple;
    SessionPair pair(std::move(options), 5);
    EXPECT_TRUE(pair.client.is_started());
    EXPECT_EQ(pair.server.handshake_form(), HandshakeForm::simple);
}

TEST(SessionPair, StopEndsThePublish) {
    for_every_seed([](unsigned seed) {
        SessionPair pair(client_options(ClientOptions::Mode::publish), seed);
        pair.server_events.clear();
        pair.client.stop();
        pair.run();
        EXPECT_EQ(pair.server_events, (Lines{"stopped publishing", "deleted"}));
        EXPECT_FALSE(pair.client.is_started());
    });
}

TEST(SessionPair, PlaysWhatTheMediaCoreWritesBetweenOurMessages) {
    for_every_seed([](unsigned seed) {
        SessionPair pair(client_options(ClientOptions::Mode::play), seed);
        EXPECT_EQ(pair.client_events, (Lines{"connected NetConnection.Connect.Success", "play started"}));
        EXPECT_EQ(pair.server_events, (Lines{"connect rtmp://h/live live", "play cam?token=x"}));
        pair.client_events.clear();

        ByteWriter run;
        wire::rtmp::write_message(run, 6, MessageType::video, 10, 1, Octets(70'000, 7), pair.server.chunk_size());
        run.bytes(wire::rtmp::type1_header(6, 40, 3, MessageType::video).view()).u8(1).u8(2).u8(3);
        pair.play(run.written());
        ASSERT_EQ(pair.client_events.size(), 2U);
        EXPECT_EQ(pair.client_events[0].substr(0, 22), "media 9 at 10 of 70000");
        EXPECT_EQ(pair.client_events[1].substr(0, 18), "media 9 at 50 of 3");
        // The player's window makes both ends acknowledge; neither may misinterpret that.
        EXPECT_EQ(pair.server_events.size(), 2U);
    });
}

TEST(SessionPair, StopEndsThePlay) {
    SessionPair pair(client_options(ClientOptions::Mode::play), 4);
    pair.server_events.clear();
    pair.client.stop();
    pair.run();
    EXPECT_EQ(pair.server_events, (Lines{"stopped playing", "deleted"}));
}

TEST(SessionPair, ARejectedConnectIsReportedToTheClient) {
    for_every_seed([](unsigned seed) {
        SessionPair pair(client_options(ClientOptions::Mode::publish), seed, SessionPair::Answers::reject_connect);
        EXPECT_EQ(pair.client_events, (Lines{"rejected NetConnection.Connect.Rejected: no such vhost"}));
    });
}

TEST(SessionPair, ARedirectNamesTheOtherPlace) {
    for_every_seed([](unsigned seed) {
        SessionPair pair(client_options(ClientOptions::Mode::play), seed, SessionPair::Answers::redirect);
        EXPECT_EQ(pair.client_events, (Lines{"rejected NetConnection.Connect.Rejected: redirected -> rtmp://other/live/cam"}));
    });
}

TEST(SessionPair, APlayerIsSentToAnotherPlace) {
    for_every_seed([](unsigned seed) {
        SessionPair pair(client_options(ClientOptions::Mode::play), seed, SessionPair::Answers::redirect_play);
        EXPECT_EQ(pair.client_events.back(), "rejected NetConnection.Connect.Rejected: it is there -> rtmp://other/live/cam");
    });
}

TEST(SessionPair, ARejectedStreamIsReportedToTheClient) {
    for_every_seed([](unsigned seed) {
        SessionPair publish(client_options(ClientOptions::Mode::publish), seed, SessionPair::Answers::reject_stream);
        EXPECT_EQ(publish.client_events.back(), "rejected NetStream.Publish.BadName: busy");
        SessionPair play(client_options(ClientOptions::Mode::play), seed, SessionPair::Answers::reject_stream);
        EXPECT_EQ(play.client_events.back(), "rejected NetStream.Play.Failed: denied");
    });
}

TEST(SessionPair, AnErrorInMidStreamReachesThePublisher) {
    SessionPair pair(client_options(ClientOptions::Mode::publish), 6);
    pair.client_events.clear();
    pair.server.send_status(StatusLevel::error, "NetStream.Publish.Rejected", "replaced by another publisher");
    pair.run();
    EXPECT_EQ(pair.client_events, (Lines{"rejected NetStream.Publish.Rejected: replaced by another publisher"}));
}

TEST(SessionPair, AnUnpublishOnTheServersSideReachesThePlayer) {
    SessionPair pair(client_options(ClientOptions::Mode::play), 7);
    pair.client_events.clear();
    pair.server.send_status(StatusLevel::status, "NetStream.Play.UnpublishNotify", "the publisher left");
    pair.run();
    EXPECT_EQ(pair.client_events, (Lines{"ended NetStream.Play.UnpublishNotify"}));
}

TEST(SessionPair, RequestsAReconnectFromClientsThatSupportIt) {
    for (const auto mode : {ClientOptions::Mode::publish, ClientOptions::Mode::play}) {
        for_every_seed([mode](unsigned seed) {
            auto options = client_options(mode);
            options.can_reconnect = true;
            SessionPair pair(std::move(options), seed);
            EXPECT_TRUE(pair.server.can_reconnect());
            pair.client_events.clear();
            pair.server.request_reconnect("rtmp://other:1936/live", "this server is about to stop");
            pair.server.request_reconnect("rtmp://third/live", "again");
            pair.run();
            EXPECT_EQ(pair.client_events, (Lines{"reconnect <rtmp://other:1936/live> this server is about to stop"}))
                << "once for a connection";
            // The stream continues on this connection until the new connection has it.
            pair.server_events.clear();
            if (mode == ClientOptions::Mode::publish)
                pair.client.send_media(MessageType::audio, 1, Octets(10, 1));
            pair.client.stop();
            pair.run();
            EXPECT_EQ(pair.server_events.back(), "deleted");
            EXPECT_EQ(pair.server_events.size(), mode == ClientOptions::Mode::publish ? 3U : 2U);
        });
    }
}

TEST(SessionPair, ReconnectMayNameTheSameServer) {
    auto options = client_options(ClientOptions::Mode::publish);
    options.can_reconnect = true;
    SessionPair pair(std::move(options), 3);
    pair.client_events.clear();
    pair.server.request_reconnect("", "a new process");
    pair.run();
    EXPECT_EQ(pair.client_events, (Lines{"reconnect <> a new process"}));
}

TEST(SessionPair, RequestsNoReconnectFromOtherClients) {
    SessionPair pair(client_options(ClientOptions::Mode::publish), 3);
    EXPECT_FALSE(pair.server.can_reconnect());
    pair.server.request_reconnect("rtmp://other/live", "about to stop");
    EXPECT_FALSE(pair.server.has_output());
    // The client ignores a server that requests it all the same.
    pair.client_events.clear();
    pair.server.send_status(StatusLevel::status, kReconnectCode, "come back");
    pair.run();
    EXPECT_EQ(pair.client_events, Lines());
}

TEST(SessionPair, ALongAddressIsCutOff) {
    auto options = client_options(ClientOptions::Mode::publish);
    options.can_reconnect = true;
    SessionPair pair(std::move(options), 3);
    pair.client_events.clear();
    pair.server.request_reconnect(std::string(2 * Client::kUrlBytesMax, 'x'), "");
    pair.run();
    ASSERT_EQ(pair.client_events.size(), 1U);
    EXPECT_EQ(pair.client_events[0], "reconnect <" + std::string(Client::kUrlBytesMax, 'x') + "> ");
}

TEST(SessionPair, ArgumentsOfConnectTravel) {
    ClientOptions options = client_options(ClientOptions::Mode::play);
    options.connect_arguments = Value::object({{"srs_id", "abc"}});
    options.page_url = "http://p/";
    options.swf_url = "http://s/";
    Client client(std::move(options), 1);
    Server server({}, 2);
    ASSERT_TRUE(client.start(TimePoint{}).ok());
    std::optional<Event> event;
    for (int round = 0; round < 5 && !event; ++round) {
        Octets up;
        client.take_output(up);
        ASSERT_TRUE(server.handle_bytes(TimePoint{}, up).ok());
        event = server.poll_event();
        Octets down;
        server.take_output(down);
        ASSERT_TRUE(client.handle_bytes(TimePoint{}, down).ok());
    }
    ASSERT_TRUE(event);
    const ConnectRequest& request = *std::get<WantsToConnect>(*event).request;
    EXPECT_EQ(request.arguments.find("srs_id")->string(), "abc");
    EXPECT_EQ(request.page_url, "http://p/");
    EXPECT_EQ(request.swf_url, "http://s/");
    EXPECT_EQ(request.fourcc_list.size(), 11U);
    EXPECT_EQ(request.caps_ex, 14U);
}

TEST(SessionPair, TenMinutesOfStreamingStayInStep) {
    SessionPair pair(client_options(ClientOptions::Mode::publish), 0);
    pair.server_events.clear();
    const Octets audio(200, 1);
    // 43 audio messages per second, in batches of one second.
    for (std::uint32_t second = 0; second < 600; ++second) {
        for (std::uint32_t i = 0; i < 43; ++i)
            pair.client.send_media(MessageType::audio, second * 1000 + i * 23, audio);
        pair.run();
        ASSERT_EQ(pair.server_events.size(), 43U) << second;
        pair.server_events.clear();
    }
    EXPECT_GT(pair.server.bytes_received(), 600U * 43 * 200);
}

}  // namespace
}  // namespace live::engine::rtmp
