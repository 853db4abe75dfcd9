// Connections that this server makes, to itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "session/srt/session_fixture.hpp"

namespace live::session::srt {
namespace {

class SrtCalls : public SrtSessions {
protected:
    SrtCalls() {
        EXPECT_TRUE(encoder_.connect());
        encoder_.send(second_of_units());
        EXPECT_TRUE(encoder_.pump_until([this] { return pictures_of("/live/cam") >= 24; }));
    }
    ~SrtCalls() override { EXPECT_TRUE(calls_.stop(io::Deadline::after(io::kSoon)).ok()); }

    std::uint64_t pictures_of(const std::string& url) const {
        const auto source = streams.find(url);
        return source ? source->counters().packets[index_of(MediaKind::video)] : 0;
    }
    CallUrl to_this_server(const std::string& query) const {
        return MUST(parse_call_url("srt://127.0.0.1:" + std::to_string(socket().endpoint().port) + "?" + query));
    }
    void pull(const std::string& query, const std::string& stream) {
        MUST(calls_.start("pull", [this, url = to_this_server(query), stream](io::Deadline forever) {
            ClientRequest request;
            request.ip = request.peer_ip = "127.0.0.1";
            request.app = "live";
            request.stream = stream;
            ended = dialler.pull(url, request, log, [](PulledLink*) {}, forever);
        }));
    }
    void push(const std::string& query) {
        MUST(calls_.start("push", [this, url = to_this_server(query)](io::Deadline forever) {
            ended = dialler.push(url, streams.find("/live/cam"), log, forever);
        }));
    }

    Dialler dialler{context, [] { return Result<void>(); }};
    std::optional<Result<void>> ended;

private:
    Remote encoder_{socket(), "#!::r=live/cam,m=publish"};
    io::Scope calls_{"calls"};
};

TEST_F(SrtCalls, PullPublishesTheOtherServersStream) {
    pull("streamid=live/cam&latency=40", "copy");
    io::wait_until([this] { return pictures_of("/live/copy") >= 24; });
    const auto source = streams.find("/live/copy");
    EXPECT_TRUE(source->is_published());
    EXPECT_EQ(source->counters().key_frames, 1U);
    EXPECT_EQ(admission.asked.back().kind, ClientKind::srt_publish);
    EXPECT_EQ(port.figures().called, 1U);
    bool is_listed = false;
    clients.for_each([&](ClientEntry& entry) {
        if (entry.client().request().stream == "copy") {
            is_listed = true;
            EXPECT_EQ(*entry.client().link_figures()->find("latency_ms"), LinkFigures::Value(std::uint64_t{40}));
            entry.kick("an operator has ended it");
        }
    });
    EXPECT_TRUE(is_listed);
    io::wait_until([this] { return ended.has_value(); });
    EXPECT_FALSE(is_published("/live/copy"));
}

TEST_F(SrtCalls, APushIsPublishedThereAndIsNoClientHere) {
    push("streamid=%23!::r=live/pushed,m=publish");
    io::wait_until([this] { return pictures_of("/live/pushed") >= 20; });
    EXPECT_EQ(streams.find("/live/pushed")->counters().key_frames, 1U);
    EXPECT_EQ(clients.size(), 3U) << "both publishers, and the push itself, which entered no stream";
    EXPECT_GT(streams.find("/live/cam")->readers().count(), 0U);
    EXPECT_FALSE(streams.find("/live/cam")->readers().is_watched()) << "it is no viewer";
    EXPECT_EQ(std::ranges::count(events.order, std::string("published")), 2);
    clients.for_each([](ClientEntry& entry) {
        if (entry.client().request().stream == "pushed")
            entry.kick("an operator has ended it");
    });
    io::wait_until([this] { return ended.has_value(); });
    EXPECT_EQ(ended->code(), Errc::closed);
    io::wait_until([this] { return std::ranges::count(events.order, std::string("closed")) == 1; });
}

TEST_F(SrtCalls, BothAreEncryptedWithAPassphrase) {
    vhosts.options.passphrase = kPassphrase;
    pull("streamid=live/cam&pbkeylen=24&passphrase=a%20passphrase%20of%20tests", "copy");
    io::wait_until([this] { return pictures_of("/live/copy") >= 24; });
    push("streamid=%23!::r=live/pushed,m=publish&pbkeylen=32&passphrase=a%20passphrase%20of%20tests");
    io::wait_until([this] { return pictures_of("/live/pushed") >= 20; });
    clients.for_each([](ClientEntry& entry) {
        if (entry.client().request().stream == "pushed") {
            EXPECT_EQ(*entry.client().link_figures()->find("key_bits"), LinkFigures::Value(std::uint64_t{256}));
        }
    });
}

TEST_F(SrtCalls, ReportsTheOtherServersReason) {
    push("streamid=%23!::r=live/cam,m=publish");
    io::wait_until([this] { return ended.has_value(); });
    EXPECT_EQ(ended->code(), Errc::conflict);
    EXPECT_NE(ended->error().text().find("1409"), std::string::npos) << ended->error().text();
    ended.reset();
    admission.refusal.emplace(Errc::denied, "not today");
    pull("streamid=live/cam", "copy");
    io::wait_until([this] { return ended.has_value(); });
    EXPECT_NE(ended->error().text().find("1403"), std::string::npos) << ended->error().text();
    EXPECT_EQ(port.links(), 1U);
}

TEST_F(SrtCalls, ReportsAServerThatDoesNotAnswer) {
    vhosts.server_options.connect_timeout = 300ms;
    MUST(sessions.start("nobody", [this](io::Deadline forever) {
        ended = dialler.push(MUST(parse_call_url("srt://127.0.0.1:9")), streams.find("/live/cam"), log, forever);
    }));
    io::wait_until([this] { return ended.has_value(); });
    EXPECT_EQ(ended->code(), Errc::timed_out);
}

TEST_F(SrtCalls, SocketOfCallsAcceptsNoConnections) {
    const std::uint16_t port_of_calls = MUST(port.outgoing_socket(true))->endpoint().port;
    const auto stranger = MUST(io::UdpSocket::bind({"127.0.0.1", 0}, 1 << 20));
    Caller::Options options;
    options.to = {MUST(parse_ip("127.0.0.1")), port_of_calls};
    options.socket_id = engine::srt::SocketId{7};
    Caller caller(io::now(), options);
    std::array<std::uint8_t, engine::srt::kDatagramBytesMax> buffer{};
    const std::size_t size = caller.write_next(io::now(), buffer);
    const std::array one{io::GsoBatch{Bytes(buffer).first(size), size, options.to, {}}};
    const auto strangers = port.figures().strangers;
    EXPECT_EQ(stranger->send(one), 1U);
    io::wait_until([&] { return port.figures().strangers == strangers + 1; });
    EXPECT_EQ(stranger->receive(io::Deadline::after(20ms)).code(), Errc::timed_out);
}

// Returns the bytes read until `done` returns true.
std::vector<std::uint8_t> read_until(io::Stream& stream, const std::function<bool(const std::vector<std::uint8_t>&)>& done) {
    std::vector<std::uint8_t> all;
    std::vector<std::uint8_t> some(ByteStream::kReadBytesMin);
    while (!done(all)) {
        const auto count = stream.read_some(some, io::Deadline::after(io::kSoon));
        if (!count.ok()) {
            ADD_FAILURE() << count.error().text();
            break;
        }
        all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(*count));
    }
    return all;
}

TEST_F(SrtCalls, ByteStreamIsTheOtherServersStream) {
    auto opened = dialler.open(to_this_server("streamid=live/cam&latency=40"), io::Deadline::after(io::kSoon));
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    ByteStream& stream = **opened;
    EXPECT_EQ(stream.latency(), 40ms);
    const std::size_t whole = 188U * 30;
    const auto bytes = read_until(stream, [&](const auto& all) { return all.size() >= whole; });
    ASSERT_GE(bytes.size(), whole);
    for (std::size_t at = 0; at < bytes.size(); at += 188)
        ASSERT_EQ(bytes[at], 0x47) << at;
    EXPECT_EQ(clients.size(), 2U) << "the publisher, and the player there: the call itself is no client";
    std::array<std::uint8_t, ByteStream::kReadBytesMin> some{};
    Signal wake;
    wake.raise();
    const auto woken = stream.wait_ready(io::Interest::readable, &wake, io::Deadline::after(io::kSoon));
    EXPECT_TRUE(woken.ok() && woken->signalled && !woken->timed_out);
    EXPECT_FALSE(wake.is_raised());
    const std::array<::iovec, 0> nothing{};
    EXPECT_EQ(stream.try_write(nothing).code(), Errc::unsupported);

    clients.for_each([](ClientEntry& entry) {
        if (entry.client().request().kind == ClientKind::srt_play)
            entry.kick("an operator has ended it");
    });
    Result<std::size_t> last = 0;
    while (last.ok())
        last = stream.read_some(some, io::Deadline::after(io::kSoon));
    EXPECT_EQ(last.code(), Errc::closed);
    EXPECT_EQ(stream.try_read(some).code(), Errc::closed) << "and so it stays";
}

TEST_F(SrtCalls, AStreamOfBytesThatLosesItsMemoryEndsWithThat) {
    MemoryBudget& memory = places.memory();
    const std::vector<MemoryBudget::Use*> before(memory.uses().begin(), memory.uses().end());
    auto opened = dialler.open(to_this_server("streamid=live/cam&latency=40"), io::Deadline::after(io::kSoon));
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    ByteStream& stream = **opened;
    read_until(stream, [](const auto& all) { return all.size() >= 188U; });
    // The memory of this stream, and that of the remote player, which is counted from the first answer that the player
    // receives.
    std::vector<MemoryBudget::Use*> both;
    io::wait_until([&] {
        both.clear();
        std::ranges::copy_if(memory.uses(), std::back_inserter(both),
                             [&](const auto* use) { return std::ranges::find(before, use) == before.end(); });
        return both.size() == 2;
    });
    std::optional<Error> last;
    MUST(sessions.start("reader", [&](io::Deadline forever) {
        std::array<std::uint8_t, ByteStream::kReadBytesMin> some{};
        for (;;)
            if (const auto read = stream.read_some(some, forever); !read.ok()) {
                last = read.error();
                return;
            }
    }));
    const auto losses = memory.losses();
    for (MemoryBudget::Use* use : both)
        memory.take_away(*use);
    EXPECT_EQ(memory.losses(), losses + 2);
    io::wait_until([&] { return last.has_value(); });
    EXPECT_EQ(last->code(), Errc::limit) << last->text();
    EXPECT_NE(last->text().find("limits.memory_budget"), std::string::npos) << last->text();
    std::array<std::uint8_t, ByteStream::kReadBytesMin> some{};
    EXPECT_EQ(stream.try_read(some).code(), Errc::limit) << "and so it stays, whatever the other side does";
    opened = Error(Errc::closed, "dropped");
    io::wait_until([&] { return port.links() == 1 && memory.leaving() == 0; });
}

TEST_F(SrtCalls, ADroppedByteStreamSendsAShutdown) {
    auto opened = dialler.open(to_this_server("streamid=live/cam"), io::Deadline::after(io::kSoon));
    ASSERT_TRUE(opened.ok()) << opened.error().text();
    EXPECT_EQ(port.links(), 3U) << "the publisher, and both ends of the call";
    (*opened)->close();
    std::array<std::uint8_t, ByteStream::kReadBytesMin> some{};
    EXPECT_EQ((*opened)->try_read(some).code(), Errc::closed);
    opened = Error(Errc::closed, "dropped");
    io::wait_until([this] { return port.links() == 1; });
}

TEST_F(SrtCalls, ARefusalOfTheConnectionIsAnotherThanOfTheStream) {
    vhosts.options.passphrase = kPassphrase;
    const auto wrong =
        dialler.open(to_this_server("streamid=live/cam&passphrase=another%20passphrase"), io::Deadline::after(io::kSoon));
    EXPECT_EQ(wrong.code(), Errc::closed);
    EXPECT_NE(wrong.error().text().find("1010"), std::string::npos) << wrong.error().text();
    vhosts.options.passphrase.clear();
    admission.refusal.emplace(Errc::not_found, "nowhere");
    const auto nowhere = dialler.open(to_this_server("streamid=live/cam"), io::Deadline::after(io::kSoon));
    EXPECT_EQ(nowhere.code(), Errc::conflict);
    EXPECT_NE(nowhere.error().text().find("1404"), std::string::npos) << nowhere.error().text();
}

}  // namespace
}  // namespace live::session::srt
