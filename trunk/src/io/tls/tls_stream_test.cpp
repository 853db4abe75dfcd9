#include "io/tls/tls_stream.hpp"

#include <array>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <string>

#include <gtest/gtest.h>
#include <openssl/ssl.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_listener.hpp"
#include "io/tls/tls_identity_fixture.hpp"

namespace live::io {
namespace {

class TlsStreamTest : public testing::Test {
protected:
    // Connects both ends through the handshake.
    void connect_pair() {
        Scope scope("test");
        MUST(scope.start("server", [&](Deadline) {
            auto tcp = MUST(listener_->accept(Deadline::after(kSoon)));
            server_ = MUST(TlsStream::accept(std::move(tcp), *context_, Deadline::after(kSoon)));
        }));
        auto tcp = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
        client_ = MUST(TlsStream::connect(std::move(tcp), *trusting_, "live.test", Deadline::after(kSoon)));
        MUST(scope.join(Deadline::after(kSoon)));
    }
    // Results of the client's end and of the server's.
    std::pair<Result<void>, Result<void>> shake_hands(TlsContext& client, const std::string& name) {
        Scope scope("test");
        Result<void> server_end;
        MUST(scope.start("server", [&](Deadline) {
            auto tcp = MUST(listener_->accept(Deadline::after(kSoon)));
            const auto accepted = TlsStream::accept(std::move(tcp), *context_, Deadline::after(kSoon));
            server_end = accepted.ok() ? Result<void>() : Result<void>(accepted.error());
        }));
        auto tcp = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
        const auto connected = TlsStream::connect(std::move(tcp), client, name, Deadline::after(kSoon));
        MUST(scope.join(Deadline::after(kSoon)));
        return {connected.ok() ? Result<void>() : Result<void>(connected.error()), server_end};
    }
    static std::string receive(Stream& from, std::size_t count) {
        std::string text(count, '\0');
        std::size_t got = 0;
        while (got < count)
            got +=
                MUST(from.read_some({reinterpret_cast<std::uint8_t*>(text.data()) + got, count - got}, Deadline::after(kSoon)));
        return text;
    }
    static Result<void> send(Stream& to, std::string_view text) {
        const ::iovec part = as_part(as_bytes(text));
        return to.write_all({&part, 1}, Deadline::after(kSoon));
    }

    std::unique_ptr<Loop> loop_ = MUST(Loop::create());
    TlsIdentity identity_{"server"};
    std::unique_ptr<TlsContext> context_ = MUST(TlsContext::server(identity_.certificate_path, identity_.key_path));
    std::unique_ptr<TlsContext> trusting_ = MUST(TlsContext::client(TlsVerify::none));
    std::unique_ptr<TcpListener> listener_ = MUST(TcpListener::listen({"127.0.0.1", 0}));
    std::unique_ptr<TlsStream> server_;
    std::unique_ptr<TlsStream> client_;
    std::array<std::uint8_t, 4096> buffer_{};
};

TEST_F(TlsStreamTest, SelectsTheFirstOwnProtocolThatTheClientOffers) {
    connect_pair();
    EXPECT_EQ(server_->application_protocol(), "");
    const std::array<std::string_view, 2> own{"h2", "http/1.1"};
    context_->offer_protocols(own);
    const auto selected_for = [&](std::initializer_list<std::string_view> offered) {
        trusting_->offer_protocols(std::span(offered.begin(), offered.size()));
        connect_pair();
        EXPECT_EQ(server_->application_protocol(), client_->application_protocol());
        return std::string(server_->application_protocol());
    };
    EXPECT_EQ(selected_for({"http/1.1", "h2"}), "h2");
    EXPECT_EQ(selected_for({"http/1.1"}), "http/1.1");
    EXPECT_EQ(selected_for({"spdy/1"}), "");
    MUST(context_->reload(identity_.certificate_path, identity_.key_path));
    EXPECT_EQ(selected_for({"h2"}), "h2");
}

// A ticket follows the handshake.
void await_ticket(TlsStream& server, TlsStream& client) {
    const ::iovec part = as_part(as_bytes(std::string_view("!")));
    MUST(server.write_all({&part, 1}, Deadline::after(kSoon)));
    std::array<std::uint8_t, 1> got{};
    MUST(client.read_some(got, Deadline::after(kSoon)));
}

// RFC 8737: the other certificate is for clients that offer "acme-tls/1" alone, during a challenge.
TEST_F(TlsStreamTest, AnswersAChallengeToItsClientsOnly) {
    const TlsIdentity other("challenge");
    const std::string both = other.certificate_path + ".both";
    std::ofstream(both) << std::ifstream(other.certificate_path).rdbuf() << std::ifstream(other.key_path).rdbuf();
    const std::array<std::string_view, 2> own{"h2", "http/1.1"};
    context_->offer_protocols(own);
    // Reports whether the handshake has shown the certificate of the challenge, and the selected protocol.
    const auto shown_to = [&](std::initializer_list<std::string_view> offered) {
        trusting_ = MUST(TlsContext::client(TlsVerify::peer, other.certificate_path));
        trusting_->offer_protocols(std::span(offered.begin(), offered.size()));
        const auto [client, server] = shake_hands(*trusting_, "live.test");
        return client.ok();
    };
    EXPECT_FALSE(shown_to({"acme-tls/1"})) << "no challenge";
    MUST(context_->answer_challenge(both));
    EXPECT_TRUE(shown_to({"acme-tls/1"}));
    EXPECT_FALSE(shown_to({"http/1.1"}));
    EXPECT_FALSE(shown_to({"acme-tls/1", "h2"}));
    EXPECT_FALSE(shown_to({}));
    MUST(context_->reload(identity_.certificate_path, identity_.key_path));
    EXPECT_TRUE(shown_to({"acme-tls/1"})) << "a new certificate changes nothing";
    trusting_ = MUST(TlsContext::client(TlsVerify::none));
    const std::array<std::string_view, 1> acme{"acme-tls/1"};
    trusting_->offer_protocols(acme);
    connect_pair();
    EXPECT_EQ(client_->application_protocol(), "acme-tls/1");
    context_->end_challenge();
    EXPECT_FALSE(shown_to({"acme-tls/1"}));
    EXPECT_EQ(context_->answer_challenge(identity_.certificate_path).code(), Errc::malformed) << "without a key";
    EXPECT_EQ(context_->answer_challenge("no.pem").code(), Errc::not_found);
    ::unlink(both.c_str());
}

TEST_F(TlsStreamTest, ProcessesWithTheSameSecretResumeEachOthersSessions) {
    TicketKeys keys("secret");
    TicketKeys same("secret");
    TicketKeys others("another");
    trusting_->resume_sessions(TlsContext::Resume::newest);
    const auto is_resumed = [&] {
        connect_pair();
        EXPECT_EQ(server_->was_resumed(), client_->was_resumed());
        await_ticket(*server_, *client_);
        return client_->was_resumed();
    };
    for (const int version : {TLS1_3_VERSION, TLS1_2_VERSION}) {
        SCOPED_TRACE(version);
        SSL_CTX_set_max_proto_version(trusting_->native_handle(), version);
        const auto serve_with = [&](TicketKeys& own) {
            context_ = MUST(TlsContext::server(identity_.certificate_path, identity_.key_path));
            MUST(context_->use_ticket_keys(own));
        };
        serve_with(keys);
        is_resumed();
        for (int again = 0; again < 3; ++again)
            EXPECT_TRUE(is_resumed()) << "with the ticket of the connection before";
        server_.reset();
        serve_with(same);
        EXPECT_TRUE(is_resumed());
        MUST(context_->reload(identity_.certificate_path, identity_.key_path));
        EXPECT_TRUE(is_resumed()) << "of the same certificate";
        server_.reset();
        serve_with(others);
        EXPECT_FALSE(is_resumed());
        const TlsIdentity renewed("renewed");
        MUST(context_->reload(renewed.certificate_path, renewed.key_path));
        EXPECT_FALSE(is_resumed()) << "of another certificate";
        server_.reset();
    }
}

TEST_F(TlsStreamTest, ASessionMayBeResumedAgainAndAgain) {
    TicketKeys keys("secret");
    MUST(context_->use_ticket_keys(keys));
    trusting_->resume_sessions(TlsContext::Resume::first);
    connect_pair();
    await_ticket(*server_, *client_);
    for (int i = 0; i < 3; ++i) {
        connect_pair();
        EXPECT_TRUE(client_->was_resumed());
    }
}

TEST_F(TlsStreamTest, OldClientsHaveCiphersWithAuthenticationAndForwardSecrecyOnly) {
    SSL_CTX* const client = trusting_->native_handle();
    SSL_CTX_set_max_proto_version(client, TLS1_2_VERSION);
    for (const char* const accepted :
         {"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-ECDSA-CHACHA20-POLY1305"}) {
        ASSERT_EQ(SSL_CTX_set_cipher_list(client, accepted), 1);
        EXPECT_TRUE(shake_hands(*trusting_, "live.test").first.ok()) << accepted;
    }
    for (const char* const refused :
         {"ECDHE-ECDSA-AES128-SHA", "ECDHE-ECDSA-AES128-SHA256", "ECDHE-ECDSA-AES256-SHA384", "AES128-GCM-SHA256"}) {
        ASSERT_EQ(SSL_CTX_set_cipher_list(client, refused), 1);
        EXPECT_EQ(shake_hands(*trusting_, "live.test").second.code(), Errc::denied) << refused;
    }
}

// As many as come when an event begins.
TEST_F(TlsStreamTest, ManyHandshakesAreDoneInTurns) {
    constexpr int kClients = 20;
    Scope scope("test");
    int secured = 0;
    for (int i = 0; i < kClients; ++i) {
        MUST(scope.start("server", [&](Deadline) {
            auto tcp = MUST(listener_->accept(Deadline::after(kSoon)));
            MUST(TlsStream::accept(std::move(tcp), *context_, Deadline::after(kSoon)));
            ++secured;
        }));
        MUST(scope.start("client", [&](Deadline) {
            auto tcp = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
            MUST(TlsStream::connect(std::move(tcp), *trusting_, "live.test", Deadline::after(kSoon)));
        }));
    }
    MUST(scope.join(Deadline::after(kSoon)));
    EXPECT_EQ(secured, kClients);
}

TEST_F(TlsStreamTest, APairTalksBothWays) {
    connect_pair();
    EXPECT_EQ(Loop::counters().tls_sessions, 2U);
    EXPECT_EQ(client_->protocol(), "TLSv1.3");
    EXPECT_EQ(client_->peer(), listener_->endpoint().text());
    MUST(send(*client_, "hello"));
    EXPECT_EQ(receive(*server_, 5), "hello");
    MUST(send(*server_, "welcome"));
    EXPECT_EQ(receive(*client_, 7), "welcome");
    EXPECT_EQ(client_->read_some(buffer_, Deadline::after(1ms)).code(), Errc::timed_out);
    EXPECT_EQ(client_->try_read(buffer_).code(), Errc::need_more);
    client_.reset();
    EXPECT_EQ(Loop::counters().tls_sessions, 1U);
}

TEST_F(TlsStreamTest, ASlowReaderGetsEverythingInOrder) {
    connect_pair();
    std::string first(3'000'000, '\0');
    for (std::size_t i = 0; i < first.size(); ++i)
        first[i] = static_cast<char>(i * 13 + i / 509);
    const std::string second = "the end";
    Scope scope("test");
    MUST(scope.start("writer", [&](Deadline) {
        const std::array parts{as_part(as_bytes(first)), as_part({}), as_part(as_bytes(second))};
        MUST(server_->write_all(parts, Deadline::after(kSoon)));
    }));
    EXPECT_TRUE(receive(*client_, first.size() + second.size()) == first + second);
    MUST(scope.join(Deadline::after(kSoon)));
}

// Bytes taken by try_write are sent, even if the caller then offers other bytes.
TEST_F(TlsStreamTest, SendsAcceptedBytesOnce) {
    connect_pair();
    std::string expected;
    char letter = 'a';
    for (;;) {
        const std::string block(10'000, letter);
        const ::iovec part = as_part(as_bytes(block));
        const std::size_t taken = MUST(server_->try_write({&part, 1}));
        expected += block.substr(0, taken);
        if (taken == 0)
            break;
        letter = letter == 'z' ? 'a' : static_cast<char>(letter + 1);
    }
    Scope scope("test");
    MUST(scope.start("rest", [&](Deadline) { MUST(send(*server_, "done")); }));
    EXPECT_TRUE(receive(*client_, expected.size() + 4) == expected + "done");
    MUST(scope.join(Deadline::after(kSoon)));
}

TEST_F(TlsStreamTest, SendsPendingBytesWhileTheOwnerWaitsForASignal) {
    connect_pair();
    const std::string block(16 * 1024, 'p');
    const ::iovec part = as_part(as_bytes(block));
    std::size_t sum = 0;
    while (const std::size_t taken = MUST(server_->try_write({&part, 1})))
        sum += taken;
    Scope scope("test");
    MUST(scope.start("waits", [&](Deadline) {
        for (auto ready = server_->wait_ready(Interest::readable, nullptr, Deadline::never()); ready.ok();
             ready = server_->wait_ready(Interest::readable, nullptr, Deadline::never()))
            EXPECT_EQ(server_->try_read(buffer_).code(), Errc::need_more);
    }));
    EXPECT_EQ(receive(*client_, sum).size(), sum);
    MUST(scope.stop(Deadline::after(kSoon)));
}

// OpenSSL may hold decrypted bytes that epoll does not see.
TEST_F(TlsStreamTest, BytesLeftInsideCountAsReadable) {
    connect_pair();
    MUST(send(*client_, "abcdef"));
    EXPECT_EQ(receive(*server_, 2), "ab");
    Signal signal;
    EXPECT_TRUE(server_->wait_readable(Deadline::after(kSoon)).ok());
    EXPECT_TRUE(MUST(server_->wait_ready(Interest::both, &signal, Deadline::after(kSoon))).readable);
    EXPECT_EQ(receive(*server_, 4), "cdef");
    signal.raise();
    EXPECT_TRUE(MUST(server_->wait_ready(Interest::readable, &signal, Deadline::after(kSoon))).signalled);
}

// OpenSSL reads all that has come; epoll does not report it again.
TEST_F(TlsStreamTest, RecordsReadAheadCountAsReadable) {
    connect_pair();
    for (const char* text : {"one", "two", "three"})
        MUST(send(*client_, text));
    const std::array<std::uint8_t, 8> part{0x17, 0x03, 0x03, 0x00, 0x40, 1, 2, 3};
    MUST(client_->tcp().write_all(std::array{as_part(part)}, Deadline::after(kSoon)));
    std::string got;
    while (got.size() < 11) {
        MUST(server_->wait_readable(Deadline::after(kSoon)));
        if (const auto count = server_->try_read(buffer_); count.ok())
            got.append(reinterpret_cast<const char*>(buffer_.data()), *count);
    }
    EXPECT_EQ(got, "onetwothree");
    EXPECT_EQ(server_->try_read(buffer_).code(), Errc::need_more);
    EXPECT_EQ(server_->wait_readable(Deadline::after(2ms)).code(), Errc::timed_out) << "a part of a record";
}

// The number of bytes that have come to the client's socket, all of what was sent.
std::size_t bytes_waiting(TlsStream& client) {
    std::array<std::uint8_t, 32 * 1024> space;
    const auto count = client.tcp().try_peek(space);
    return count.ok() ? *count : 0;
}

TEST_F(TlsStreamTest, BytesAheadGoOutWithTheNextOnes) {
    connect_pair();
    EXPECT_EQ(bytes_waiting(*client_), 0U) << "the ticket waits";
    MUST(server_->write_ahead(as_bytes(std::string_view("head ")), Deadline::after(kSoon)));
    EXPECT_TRUE(server_->holds_output());
    EXPECT_EQ(bytes_waiting(*client_), 0U);
    MUST(send(*server_, "body"));
    EXPECT_FALSE(server_->holds_output());
    EXPECT_EQ(receive(*client_, 9), "head body");
    const std::string large(8'000, 'l');
    MUST(server_->write_ahead(as_bytes(large), Deadline::after(kSoon)));
    EXPECT_FALSE(server_->holds_output()) << "too much to wait";
    EXPECT_EQ(receive(*client_, large.size()), large);
}

TEST_F(TlsStreamTest, BytesAheadGoOutBeforeAWaitAndAtTheEnd) {
    connect_pair();
    MUST(server_->write_ahead(as_bytes(std::string_view("first")), Deadline::after(kSoon)));
    EXPECT_EQ(server_->wait_readable(Deadline::after(2ms)).code(), Errc::timed_out);
    EXPECT_EQ(receive(*client_, 5), "first");
    MUST(server_->write_ahead(as_bytes(std::string_view("last")), Deadline::after(kSoon)));
    server_.reset();
    EXPECT_EQ(receive(*client_, 4), "last");
    EXPECT_EQ(client_->read_some(buffer_, Deadline::after(kSoon)).code(), Errc::closed);
}

TEST_F(TlsStreamTest, TheEndIsClosed) {
    connect_pair();
    MUST(send(*client_, "last"));
    client_.reset();
    EXPECT_EQ(receive(*server_, 4), "last");
    EXPECT_EQ(server_->read_some(buffer_, Deadline::after(kSoon)).code(), Errc::closed);
    server_->close();
    EXPECT_EQ(server_->try_read(buffer_).code(), Errc::closed);
}

TEST_F(TlsStreamTest, DeniesPeerWithoutTls) {
    auto plain = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    MUST(send(*plain, "GET / HTTP/1.1\r\n\r\n"));
    auto tcp = MUST(listener_->accept(Deadline::after(kSoon)));
    EXPECT_EQ(TlsStream::accept(std::move(tcp), *context_, Deadline::after(kSoon)).code(), Errc::denied);
}

TEST_F(TlsStreamTest, ASilentPeerTimesOutAndALeavingOneIsClosed) {
    auto silent = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    auto tcp = MUST(listener_->accept(Deadline::after(kSoon)));
    EXPECT_EQ(TlsStream::accept(std::move(tcp), *context_, Deadline::after(2ms)).code(), Errc::timed_out);
    auto leaving = MUST(TcpStream::connect(listener_->endpoint(), Deadline::after(kSoon)));
    tcp = MUST(listener_->accept(Deadline::after(kSoon)));
    leaving.reset();
    EXPECT_EQ(TlsStream::accept(std::move(tcp), *context_, Deadline::after(kSoon)).code(), Errc::closed);
}

TEST_F(TlsStreamTest, AVerifyingClientRefusesAnUnknownCertificate) {
    const auto strict = MUST(TlsContext::client(TlsVerify::peer));
    const auto [client_end, server_end] = shake_hands(*strict, "live.test");
    EXPECT_EQ(client_end.code(), Errc::denied);
    EXPECT_NE(client_end.error().text().find("not trusted: self-signed certificate"), std::string::npos);
    EXPECT_EQ(server_end.code(), Errc::denied);
}

TEST_F(TlsStreamTest, AVerifyingClientTakesTheAuthorityItWasGivenAndChecksTheName) {
    const auto strict = MUST(TlsContext::client(TlsVerify::peer, identity_.certificate_path));
    EXPECT_TRUE(shake_hands(*strict, "live.test").first.ok());
    EXPECT_EQ(shake_hands(*strict, "other.test").first.code(), Errc::denied) << "the certificate is of another name";
    EXPECT_EQ(TlsContext::client(TlsVerify::peer, "/no/such/file").code(), Errc::not_found);
    EXPECT_EQ(TlsContext::client(TlsVerify::peer, identity_.key_path).code(), Errc::malformed);
}

// The environment names the authorities, see OpenSSL's manual. They are read once; later changes to the file have no effect.
TEST_F(TlsStreamTest, TheSystemsAuthoritiesAreReadForTheFirstConnection) {
    const auto client = MUST(TlsContext::client(TlsVerify::peer));
    ::setenv("SSL_CERT_FILE", identity_.certificate_path.c_str(), 1);
    EXPECT_TRUE(shake_hands(*client, "live.test").first.ok());
    ::unsetenv("SSL_CERT_FILE");
    EXPECT_TRUE(shake_hands(*client, "live.test").first.ok());
    EXPECT_EQ(shake_hands(*client, "other.test").first.code(), Errc::denied);
}

TEST_F(TlsStreamTest, TakesBoundedBytesOfAPeerThatDoesNotRead) {
    connect_pair();
    const std::string block(3 * TlsStream::kTakenMax, 'b');
    const ::iovec part = as_part(as_bytes(block));
    std::size_t sum = 0;
    while (const std::size_t taken = MUST(server_->try_write({&part, 1}))) {
        EXPECT_LE(taken, TlsStream::kTakenMax);
        sum += taken;
    }
    EXPECT_TRUE(server_->holds_output());
    EXPECT_EQ(MUST(server_->try_write({&part, 1})), 0U);
    Scope scope("test");
    MUST(scope.start("rest", [&](Deadline deadline) {
        while (server_->holds_output())
            EXPECT_TRUE(MUST(server_->wait_ready(Interest::writable, nullptr, deadline)).writable);
    }));
    EXPECT_TRUE(receive(*client_, sum) == std::string(sum, 'b'));
    MUST(scope.join(Deadline::after(kSoon)));
}

TEST_F(TlsStreamTest, ContinuesAfterKeyUpdates) {
    connect_pair();
    for (int i = 0; i < 5; ++i) {
        MUST(client_->update_keys());
        MUST(send(*client_, "question"));
        EXPECT_EQ(receive(*server_, 8), "question");
        MUST(server_->update_keys());
        const std::string answer(40'000, 'a');
        MUST(send(*server_, answer));
        EXPECT_TRUE(receive(*client_, answer.size()) == answer);
    }
}

TEST_F(TlsStreamTest, EndsAFloodOfKeyUpdates) {
    connect_pair();
    for (std::uint32_t i = 0; i < 2 * TlsStream::kKeyUpdatesMax; ++i)
        MUST(client_->update_keys());
    MUST(server_->wait_readable(Deadline::after(kSoon)));
    Errc code = Errc::need_more;
    wait_until([&] { return (code = server_->try_read(buffer_).code()) != Errc::need_more; });
    EXPECT_EQ(code, Errc::limit);
}

// Otherwise a peer that stops inside a record would keep its reader running.
TEST_F(TlsStreamTest, PartOfARecordIsReadableOnce) {
    connect_pair();
    const std::array<std::uint8_t, 8> part{0x17, 0x03, 0x03, 0x00, 0x40, 1, 2, 3};
    MUST(client_->tcp().write_all(std::array{as_part(part)}, Deadline::after(kSoon)));
    MUST(server_->wait_readable(Deadline::after(kSoon)));
    EXPECT_EQ(server_->try_read(buffer_).code(), Errc::need_more);
    EXPECT_EQ(server_->wait_readable(Deadline::after(2ms)).code(), Errc::timed_out);
}

TEST_F(TlsStreamTest, BadFilesAreReported) {
    const TlsIdentity other("other");
    EXPECT_EQ(TlsContext::server("/no/such/file", identity_.key_path).code(), Errc::not_found);
    EXPECT_EQ(TlsContext::server(identity_.key_path, identity_.key_path).code(), Errc::malformed);
    EXPECT_EQ(TlsContext::server(identity_.certificate_path, other.key_path).code(), Errc::conflict);
}

}  // namespace
}  // namespace live::io
