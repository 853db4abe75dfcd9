// For tests of whole SRT sessions: the parts that app provides, and clients over loopback, which are the engine's calling end.
// Only tests include it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "base/bytes/random.hpp"
#include "engine/srt/caller.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "session/srt/call/dialler.hpp"
#include "session/srt/opener.hpp"
#include "wire/codec/codec_vectors.hpp"
#include "wire/codec/frame_fixture.hpp"
#include "wire/ts/write/stream_fixture.hpp"

namespace live::session::srt {

namespace frames = wire::codec::frames;
using engine::srt::Caller;
using engine::srt::RejectReason;
using wire::codec::Codec;

inline constexpr const char* kPassphrase = "a passphrase of tests";

class SomeAdmission final : public Admission {
public:
    Answer publish(const ClientRequest& request, io::Deadline) override { return answer(request); }
    Answer play(const ClientRequest& request, io::Deadline) override { return answer(request); }
    Result<void> check_play(const ClientRequest&) const override { return {}; }

    std::vector<ClientRequest> asked;
    std::optional<Error> refusal;
    std::optional<std::string> passphrase;
    bool is_slow = false;  // answers once this is false

private:
    Answer answer(const ClientRequest& request) {
        asked.push_back(request);
        while (is_slow)
            TRY(io::sleep(io::Deadline::after(1ms)));
        if (refusal)
            return *refusal;
        StreamPlan plan;
        plan.srt_passphrase = passphrase;
        plan.url = "/" + request.app + "/" + request.stream;
        return plan;
    }
};

class SomeEvents final : public StreamEvents {
public:
    void on_published(const ClientRequest&, const StreamPlan&) override { order.emplace_back("published"); }
    void on_publish_ended(const ClientRequest&, const StreamPlan&) override { order.emplace_back("publish ended"); }
    void on_unpublished(const std::string&) override { order.emplace_back("unpublished"); }
    void on_play_ended(const ClientRequest&, const StreamPlan&) override { order.emplace_back("play ended"); }
    void on_closed(const ClientRequest&, const Traffic& traffic) override {
        order.emplace_back("closed");
        last = traffic;
    }
    std::vector<std::string> order;
    Traffic last;
};

class SomeVhosts final : public SrtVhosts {
public:
    Result<SrtOptions> find(const std::string&) const override {
        if (!options.enabled)
            return Error(Errc::denied, "no SRT here");
        return options;
    }
    std::string serving_name(const std::string& vhost) const override { return vhost; }
    const SrtServerOptions& server() const override { return server_options; }
    const SrtLimitOptions& limits() const override { return limit_options; }

    SrtOptions options{.enabled = true, .srt_to_rtmp = true, .passphrase = {}};
    SrtServerOptions server_options;
    SrtLimitOptions limit_options;
};

// A transport stream of a second, of 25 pictures, in units of seven packets.
inline std::vector<Slice> second_of_units() {
    const auto out = wire::ts::stream_of(25);
    std::vector<Slice> units;
    for (Bytes rest = out; !rest.empty(); rest = rest.subspan(std::min<std::size_t>(rest.size(), 1'316)))
        units.push_back(Slice::copy_of(rest.first(std::min<std::size_t>(rest.size(), 1'316))));
    return units;
}

// An encoder or a player.
class Remote {
public:
    Remote(const io::UdpSocket& server, const std::string& stream_id, const std::string& passphrase = {},
           std::size_t key_bytes = 16) {
        Caller::Options options;
        options.to = {MUST(parse_ip("127.0.0.1")), server.endpoint().port};
        options.socket_id = engine::srt::SocketId{(static_cast<std::uint32_t>(random_number()) & 0xFFFF) | 1};
        options.stream_id = stream_id;
        if (!passphrase.empty()) {
            Caller::Encryption encryption;
            encryption.salt = engine::srt::random_salt();
            encryption.kek = MUST(engine::srt::derive_key(passphrase, encryption.salt, key_bytes));
            options.encryption = encryption;
        }
        to_ = options.to;
        caller_.emplace(io::now(), options);
    }

    void pump() {
        const TimePoint now = io::now();
        std::array<std::uint8_t, engine::srt::kDatagramBytesMax> buffer{};
        while (const std::size_t size = connection ? connection->write_next(now, buffer) : caller_->write_next(now, buffer)) {
            const std::array one{io::GsoBatch{Bytes(buffer).first(size), size, to_, {}}};
            EXPECT_EQ(socket->send(one), 1U);
        }
        const auto datagrams = socket->receive(io::Deadline::after(2ms));
        const TimePoint then = io::now();
        if (datagrams.ok())
            for (const io::Datagram& datagram : *datagrams)
                take(then, datagram.bytes);
        if (connection) {
            connection->handle_timeout(then);
            while (auto payload = connection->next_payload(then))
                received.push_back(payload->bytes);
        } else {
            caller_->handle_timeout(then);
        }
    }
    template <class Condition>
    bool pump_until(Condition condition, Duration limit = io::kSoon) {
        const TimePoint end = io::now() + limit;
        while (!condition() && io::now() < end)
            pump();
        return condition();
    }
    bool connect() {
        return pump_until([this] { return caller_->state() != Caller::State::calling; }) && connection != nullptr;
    }
    RejectReason refusal() {
        EXPECT_FALSE(connect());
        return caller_->reason();
    }
    void send(const std::vector<Slice>& units) {
        for (const Slice& unit : units)
            EXPECT_EQ(connection->send(io::now(), unit), engine::srt::Connection::Sent::queued);
    }
    const Caller& caller() const { return *caller_; }

    std::unique_ptr<io::UdpSocket> socket = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 20));
    std::unique_ptr<engine::srt::Connection> connection;
    std::vector<Slice> received;

private:
    void take(TimePoint now, Bytes datagram) {
        if (connection)
            return connection->handle_datagram(now, datagram);
        caller_->handle_datagram(now, datagram);
        if (caller_->state() == Caller::State::connected)
            connection = caller_->take_connection();
    }

    TransportAddress to_;
    std::optional<Caller> caller_;
};

class SrtSessions : public testing::Test {
protected:
    SrtSessions() {
        for (int sockets = 0; sockets < 2; ++sockets)
            MUST(port.listen({"127.0.0.1", 0}));
        port.set_handshake_listener(opener);
        MUST(port.start(fibers));
        MUST(players.start(fibers));
    }
    ~SrtSessions() override { EXPECT_TRUE(io::stop_all({&sessions, &fibers}, io::Deadline::after(io::kSoon)).ok()); }

    const io::UdpSocket& socket() const { return *port.sockets().front(); }
    bool is_published(const std::string& url = "/live/cam") const {
        const auto source = streams.find(url);
        return source && source->is_published();
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    Log log;
    media::SlabPool slabs;
    media::StreamTable streams{slabs};
    SomeAdmission admission;
    SomeEvents events;
    SomeVhosts vhosts;
    ClientTable clients;
    ConnectionLimits places{10, log};
    io::Scope sessions{"sessions"};
    io::Scope fibers{"fibers"};
    Port port{io::now(), log};
    Players players{port};
    TransportLogs transports{slabs};
    Context context{streams, vhosts, admission, events, clients, places, port, players, transports, log};
    Opener opener{context, sessions};
};

}  // namespace live::session::srt
