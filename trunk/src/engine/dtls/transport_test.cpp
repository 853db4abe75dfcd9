// Two DTLS ends over an in-memory network that drops, duplicates and reorders. OpenSSL reads the system time before it
// retransmits a flight; this program returns the simulated time.
#include "engine/dtls/transport.hpp"

#include <openssl/ssl.h>
#include <sys/time.h>

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "engine/dtls/simulated_clock_fixture.hpp"

// Overrides the system's function for the crypto library: a program's symbols take precedence. It applies to every test in the
// binary.
extern "C" int gettimeofday(timeval* value, void*) noexcept {
    using namespace std::chrono;
    const auto& clock = live::engine::dtls::simulated_clock();
    const auto now = clock.is_on ? clock.now : duration_cast<microseconds>(system_clock::now().time_since_epoch());
    value->tv_sec = static_cast<time_t>(now.count() / 1'000'000);
    value->tv_usec = static_cast<suseconds_t>(now.count() % 1'000'000);
    return 0;
}

namespace live::engine::dtls {
namespace {

using Octets = std::vector<std::uint8_t>;
using State = Transport::State;

struct Network {
    unsigned seed = 0;
    double loss = 0;
    double doubled = 0;
    std::chrono::milliseconds delay_min{5};
    std::chrono::milliseconds delay_max{5};
};

class Pair {
public:
    explicit Pair(Network network, std::string client_sees = {}, std::size_t datagram_bytes_max = 1'200,
                  Certificate::Key server_key = Certificate::Key::ecdsa_p256)
        : network_(network), random_(network.seed) {
        simulated_clock().is_on = true;
        server_certificate = Certificate::make(server_key).value();
        client_certificate = Certificate::make().value();
        server_context = Context::create(*server_certificate).value();
        client_context = Context::create(*client_certificate).value();
        const std::string server_print = client_sees.empty() ? server_certificate->fingerprint().value() : client_sees;
        server = Transport::create(*server_context,
                                   {.role = Role::server,
                                    .remote_fingerprint = client_certificate->fingerprint().value(),
                                    .datagram_bytes_max = datagram_bytes_max},
                                   now())
                     .value();
        client = Transport::create(
                     *client_context,
                     {.role = Role::client, .remote_fingerprint = server_print, .datagram_bytes_max = datagram_bytes_max}, now())
                     .value();
        largest_max = datagram_bytes_max;
    }
    ~Pair() { simulated_clock().is_on = false; }

    TimePoint now() const { return TimePoint(simulated_clock().now); }

    // Until both ends are established, one has failed, or `limit` has passed.
    void run(std::chrono::milliseconds limit = 29s) {
        const TimePoint end = now() + limit;
        keep(client->start(now()));
        while (now() < end && (client->state() == State::handshaking || server->state() == State::handshaking) && is_fine) {
            send(*client, true);
            send(*server, false);
            step();
        }
        send(*client, true);
        send(*server, false);
    }

    std::unique_ptr<Certificate> server_certificate;
    std::unique_ptr<Certificate> client_certificate;
    std::unique_ptr<Context> server_context;
    std::unique_ptr<Context> client_context;
    std::unique_ptr<Transport> server;
    std::unique_ptr<Transport> client;
    std::string failure;
    bool is_fine = true;
    std::size_t sent = 0;
    std::size_t largest = 0;
    std::size_t largest_max = 0;

private:
    struct Flying {
        TimePoint arrives;
        bool to_server;
        Octets bytes;
    };
    double dice() { return std::uniform_real_distribution<double>(0, 1)(random_); }
    void keep(const Result<void>& result) {
        if (result.ok())
            return;
        is_fine = false;
        failure = result.error().text();
    }
    void send(Transport& from, bool to_server) {
        for (Octets& datagram : from.take_output()) {
            ++sent;
            largest = std::max(largest, datagram.size());
            const int copies = dice() < network_.doubled ? 2 : 1;
            for (int i = 0; i < copies; ++i)
                if (dice() >= network_.loss) {
                    const auto spread = (network_.delay_max - network_.delay_min) * dice();
                    flying_.push_back(
                        {now() + network_.delay_min + std::chrono::duration_cast<Duration>(spread), to_server, datagram});
                }
        }
    }
    // Advances to the next arrival or timer, whichever is first.
    void step() {
        TimePoint next =
            std::min(client->next_timeout().value_or(TimePoint::max()), server->next_timeout().value_or(TimePoint::max()));
        for (const Flying& datagram : flying_)
            next = std::min(next, datagram.arrives);
        simulated_clock().now =
            std::max(simulated_clock().now, std::chrono::ceil<std::chrono::microseconds>(next.time_since_epoch()));
        for (std::size_t i = 0; i < flying_.size();) {
            if (flying_[i].arrives > now()) {
                ++i;
                continue;
            }
            const Flying datagram = flying_[i];
            flying_.erase(flying_.begin() + static_cast<std::ptrdiff_t>(i));
            keep((datagram.to_server ? server : client)->handle_datagram(now(), datagram.bytes));
        }
        keep(client->handle_timeout(now()));
        keep(server->handle_timeout(now()));
    }

    Network network_;
    std::mt19937 random_;
    std::vector<Flying> flying_;
};

void expect_same_keys(const Pair& pair) {
    const auto server = pair.server->export_keys();
    const auto client = pair.client->export_keys();
    ASSERT_TRUE(server.ok() && client.ok());
    EXPECT_EQ(server->profile, srtp::Profile::aead_aes_128_gcm);
    EXPECT_EQ(server->local, client->remote);
    EXPECT_EQ(server->remote, client->local);
    EXPECT_NE(server->local, server->remote);
    EXPECT_EQ(server->local.size(), 28U);
}

TEST(DtlsTransport, TwoEndsAgreeOnKeys) {
    Pair pair({});
    pair.run();
    ASSERT_EQ(pair.server->state(), State::established) << pair.failure;
    ASSERT_EQ(pair.client->state(), State::established);
    expect_same_keys(pair);
    EXPECT_FALSE(pair.server->next_timeout());
    EXPECT_LE(pair.largest, 1'200U);
}

TEST(DtlsTransport, AServerMayHaveAnRsaKey) {
    Pair pair({}, {}, 1'200, Certificate::Key::rsa_2048);
    pair.run();
    EXPECT_EQ(pair.client->state(), State::established) << pair.failure;
    EXPECT_EQ(pair.server->state(), State::established) << pair.failure;
}

// The results of a server, and the offer of its client.
struct Negotiated {
    std::string version;
    std::string cipher;
    int group = 0;
    std::vector<int> groups;
    std::vector<std::string> ciphers;
    std::size_t signatures = 0;
};

void note_negotiated(const SSL* const_handle, int where, int) {
    if ((where & SSL_CB_HANDSHAKE_DONE) == 0)
        return;
    auto* const handle = const_cast<SSL*>(const_handle);
    auto& seen = *static_cast<Negotiated*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(handle)));
    seen.version = SSL_get_version(handle);
    seen.cipher = SSL_get_cipher_name(handle);
    seen.group = static_cast<int>(SSL_get_negotiated_group(handle));
    seen.groups.resize(static_cast<std::size_t>(SSL_get1_groups(handle, nullptr)));
    SSL_get1_groups(handle, seen.groups.data());
    const STACK_OF(SSL_CIPHER)* const offered = SSL_get_client_ciphers(handle);
    for (int i = 0; i < sk_SSL_CIPHER_num(offered); ++i)
        seen.ciphers.emplace_back(SSL_CIPHER_get_name(sk_SSL_CIPHER_value(offered, i)));
    seen.signatures = static_cast<std::size_t>(SSL_get_sigalgs(handle, -1, nullptr, nullptr, nullptr, nullptr, nullptr));
}

Negotiated negotiated(Certificate::Key server_key) {
    Negotiated seen;
    Pair pair({}, {}, 1'200, server_key);
    SSL_CTX_set_app_data(pair.server_context->native_handle(), &seen);
    SSL_CTX_set_info_callback(pair.server_context->native_handle(), &note_negotiated);
    pair.run();
    EXPECT_EQ(pair.server->state(), State::established) << pair.failure;
    return seen;
}

// The lists cost time in each handshake (doc/adr/0021): a change must be meant.
TEST(DtlsTransport, NegotiatesTheGroupAndTheCipherOfItsLists) {
    const Negotiated ecdsa = negotiated(Certificate::Key::ecdsa_p256);
    EXPECT_EQ(ecdsa.version, "DTLSv1.2");
    EXPECT_EQ(ecdsa.cipher, "ECDHE-ECDSA-AES128-GCM-SHA256");
    EXPECT_EQ(ecdsa.group, NID_X25519);
    EXPECT_EQ(ecdsa.groups, (std::vector<int>{NID_X25519, NID_X9_62_prime256v1, NID_secp384r1}));
    EXPECT_EQ(ecdsa.ciphers, (std::vector<std::string>{"ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-RSA-AES128-GCM-SHA256",
                                                       "ECDHE-ECDSA-CHACHA20-POLY1305", "ECDHE-RSA-CHACHA20-POLY1305",
                                                       "ECDHE-ECDSA-AES256-GCM-SHA384", "ECDHE-RSA-AES256-GCM-SHA384"}));
    EXPECT_EQ(ecdsa.signatures, 9U);
    const Negotiated rsa = negotiated(Certificate::Key::rsa_2048);
    EXPECT_EQ(rsa.cipher, "ECDHE-RSA-AES128-GCM-SHA256");
    EXPECT_EQ(rsa.group, NID_X25519);
}

TEST(DtlsTransport, FinishesAtTwentyPercentLoss) {
    for (unsigned seed = 0; seed < 20; ++seed) {
        Pair pair({.seed = seed, .loss = 0.2, .doubled = 0.1, .delay_min = 20ms, .delay_max = 60ms});
        const TimePoint begin = pair.now();
        pair.run();
        ASSERT_EQ(pair.server->state(), State::established) << "seed " << seed << ": " << pair.failure;
        ASSERT_EQ(pair.client->state(), State::established) << "seed " << seed << ": " << pair.failure;
        expect_same_keys(pair);
        EXPECT_LT(pair.now() - begin, 15s) << "seed " << seed;
        EXPECT_LT(pair.sent, 200U) << "seed " << seed << ": no storm of retransmissions";
    }
}

// Expects the next timeout to be `wait` from now, and the flight to be retransmitted then.
void expect_repetition_after(Transport& transport, std::chrono::milliseconds wait) {
    const TimePoint now = TimePoint(simulated_clock().now);
    const auto due = transport.next_timeout();
    ASSERT_TRUE(due);
    EXPECT_EQ(std::chrono::round<std::chrono::milliseconds>(*due - now), wait);
    simulated_clock().now += wait;
    EXPECT_TRUE(transport.handle_timeout(now + wait).ok());
    EXPECT_FALSE(transport.take_output().empty());
}

TEST(DtlsTransport, EachFlightHasASeparateTimer) {
    Pair pair({});
    ASSERT_TRUE(pair.client->start(pair.now()).ok());
    auto hello = pair.client->take_output();
    for (const auto wait : {50ms, 100ms, 200ms, 400ms})
        expect_repetition_after(*pair.client, wait);
    ASSERT_EQ(hello.size(), 1U);
    ASSERT_TRUE(pair.server->handle_datagram(pair.now(), hello[0]).ok());
    const auto answer = pair.server->take_output();
    for (const Octets& datagram : answer)
        ASSERT_TRUE(pair.client->handle_datagram(pair.now(), datagram).ok());
    ASSERT_FALSE(pair.client->take_output().empty()) << "the third flight";
    for (const auto wait : {50ms, 100ms})
        expect_repetition_after(*pair.client, wait);
}

TEST(DtlsTransport, LossCostsLittleTime) {
    std::vector<Duration> taken;
    for (unsigned seed = 0; seed < 100; ++seed) {
        Pair pair({.seed = seed, .loss = 0.1, .delay_min = 10ms, .delay_max = 10ms});
        const TimePoint begin = pair.now();
        pair.run();
        ASSERT_EQ(pair.client->state(), State::established) << "seed " << seed << ": " << pair.failure;
        taken.push_back(pair.now() - begin);
    }
    std::ranges::sort(taken);
    EXPECT_LT(taken[50], 100ms);
    EXPECT_LT(taken[95], 450ms);
}

TEST(DtlsTransport, SmallDatagramsAreFragmentsAndComeTogether) {
    for (unsigned seed = 0; seed < 10; ++seed) {
        Pair pair({.seed = seed, .loss = 0.1, .delay_min = 5ms, .delay_max = 50ms}, {}, 256);
        pair.run();
        ASSERT_EQ(pair.server->state(), State::established) << "seed " << seed << ": " << pair.failure;
        EXPECT_LE(pair.largest, 256U);
        expect_same_keys(pair);
    }
}

TEST(DtlsTransport, AnotherCertificateThanDescribedIsDenied) {
    Pair pair({}, "00:11:22");
    pair.run();
    EXPECT_EQ(pair.client->state(), State::closed);
    EXPECT_NE(pair.failure.find("denied"), std::string::npos) << pair.failure;
}

TEST(DtlsTransport, GivesUpOnSilence) {
    Pair pair({.loss = 1});
    pair.run(31s);
    EXPECT_EQ(pair.client->state(), State::closed);
    EXPECT_NE(pair.failure.find("timed out"), std::string::npos) << pair.failure;
    EXPECT_LT(pair.sent, 40U);
}

TEST(DtlsTransport, DropsOtherDatagrams) {
    Pair pair({});
    std::mt19937 random(1);
    for (int i = 0; i < 200; ++i) {
        Octets junk(1 + random() % 300);
        for (std::uint8_t& byte : junk)
            byte = static_cast<std::uint8_t>(random());
        junk[0] = 22;
        static_cast<void>(pair.server->handle_datagram(pair.now(), junk).ok());
    }
    ASSERT_EQ(pair.server->state(), State::handshaking);
    pair.run();
    EXPECT_EQ(pair.server->state(), State::established) << pair.failure;
}

TEST(DtlsTransport, CloseReachesThePeer) {
    Pair pair({});
    pair.run();
    pair.client->close();
    const auto goodbye = pair.client->take_output();
    ASSERT_EQ(goodbye.size(), 1U);
    EXPECT_TRUE(pair.server->handle_datagram(pair.now(), goodbye[0]).ok());
    EXPECT_EQ(pair.server->state(), State::closed);
}

// Splits a ClientHello into two datagrams, as browsers do because its key shares do not fit into one: the handshake message is
// fragmented, each fragment with its own header (RFC 6347, 4.2.3).
std::vector<Octets> in_two(const Octets& hello) {
    constexpr std::size_t kHeads = 13 + 12;
    const Bytes body = Bytes(hello).subspan(kHeads);
    const std::size_t half = body.size() / 2;
    std::vector<Octets> parts;
    for (std::size_t i = 0; i < 2; ++i) {
        const Bytes part = i == 0 ? body.first(half) : body.subspan(half);
        ByteWriter out;
        out.bytes(Bytes(hello).first(3)).u64be(i).u16be(static_cast<std::uint16_t>(part.size() + 12));
        out.bytes(Bytes(hello).subspan(13, 6))
            .u24be(static_cast<std::uint32_t>(i * half))
            .u24be(static_cast<std::uint32_t>(part.size()));
        parts.push_back(out.bytes(part).release());
    }
    return parts;
}

TEST(DtlsTransport, AClientHelloInTwoDatagramsIsPutTogether) {
    for (const bool is_reversed : {false, true}) {
        Pair pair({});
        ASSERT_TRUE(pair.client->start(pair.now()).ok());
        const auto flight = pair.client->take_output();
        ASSERT_EQ(flight.size(), 1U);
        auto parts = in_two(flight[0]);
        if (is_reversed)
            std::swap(parts[0], parts[1]);
        ASSERT_TRUE(pair.server->handle_datagram(pair.now(), parts[0]).ok());
        EXPECT_TRUE(pair.server->take_output().empty()) << "half a hello is no hello";
        ASSERT_TRUE(pair.server->handle_datagram(pair.now(), parts[1]).ok());
        const auto answer = pair.server->take_output();
        EXPECT_FALSE(answer.empty()) << "reversed: " << is_reversed;
        for (const Octets& datagram : answer)
            EXPECT_TRUE(pair.client->handle_datagram(pair.now(), datagram).ok());
        pair.run();
        EXPECT_EQ(pair.server->state(), State::established) << pair.failure;
    }
}

TEST(Certificate, EachCertificateHasADifferentFingerprint) {
    const auto a = Certificate::make();
    const auto b = Certificate::make();
    ASSERT_TRUE(a.ok() && b.ok());
    const std::string print = (*a)->fingerprint().value();
    EXPECT_EQ(print.size(), 32U * 3 - 1);
    EXPECT_NE(print, (*b)->fingerprint().value());
    EXPECT_EQ(fingerprint_of((*a)->native_handle(), "sha-512")->size(), 64U * 3 - 1);
    EXPECT_EQ(fingerprint_of((*a)->native_handle(), "md5").code(), Errc::unsupported);
}

}  // namespace
}  // namespace live::engine::dtls
