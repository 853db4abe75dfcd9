#include "engine/dtls/transport.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "base/check.hpp"
#include "base/text/ascii.hpp"

namespace live::engine::dtls {

namespace {

constexpr const char* kProfiles = "SRTP_AEAD_AES_128_GCM:SRTP_AES128_CM_SHA1_80";
// The suites supported by browsers that have forward secrecy and an AEAD.
constexpr const char* kCiphers =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305:"
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384";
// Those supported by browsers; every entry less saves work in each handshake.
constexpr const char* kGroups = "X25519:P-256:P-384";
constexpr const char* kSignatures =
    "ECDSA+SHA256:RSA-PSS+SHA256:RSA+SHA256:ECDSA+SHA384:RSA-PSS+SHA384:RSA+SHA384:ECDSA+SHA512:RSA-PSS+SHA512:RSA+SHA512";
constexpr std::string_view kExporterLabel = "EXTRACTOR-dtls_srtp";
constexpr std::size_t kRecordHeadBytes = 13;
constexpr std::size_t kKeyBytes = 16;
constexpr std::size_t kFragmentBytesMin = 512;  // OpenSSL's minimum
constexpr int kReadsMax = 16;                   // records per datagram after the handshake

// The peer's certificate is verified by its fingerprint after the handshake, not by its issuer. OpenSSL's own verification, which
// would look for the issuer among the system's trusted ones, is bypassed.
int accept_any_signer(X509_STORE_CTX*, void*) { return 1; }

// OpenSSL's retransmission timeout in microseconds; 0 starts a new one (DTLS_set_timer_cb(3)).
unsigned next_timer(SSL* handle, unsigned last_us) {
    const auto* const options = static_cast<const Transport::Options*>(SSL_get_app_data(handle));
    const std::chrono::microseconds first = options->first_retransmission;
    const std::chrono::microseconds max = options->retransmission_max;
    const auto next = last_us == 0 ? first : std::min(max, std::chrono::microseconds(last_us) * 2);
    return static_cast<unsigned>(next.count());
}

std::string reason() {
    std::array<char, 160> text{};
    const unsigned long code = ERR_peek_last_error();
    ERR_error_string_n(code, text.data(), text.size());
    ERR_clear_error();
    return code == 0 ? "no reason given" : text.data();
}

}  // namespace

Result<std::unique_ptr<Context>> Context::create(const Certificate& certificate) {
    SSL_CTX* const handle = SSL_CTX_new(DTLS_method());
    if (handle == nullptr)
        return Error(Errc::system, "DTLS is not available: " + reason());
    auto context = std::make_unique<Context>(Private{}, handle);
    SSL_CTX_set_options(handle,
                        SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_QUERY_MTU | SSL_OP_CIPHER_SERVER_PREFERENCE);
    SSL_CTX_set_session_cache_mode(handle, SSL_SESS_CACHE_OFF);
    // Our certificate has no chain; OpenSSL would look for its issuer in every handshake.
    SSL_CTX_set_mode(handle, SSL_MODE_NO_AUTO_CHAIN);
    SSL_CTX_set_verify(handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
    SSL_CTX_set_cert_verify_callback(handle, accept_any_signer, nullptr);
    // The last call returns 0 on success.
    if (SSL_CTX_set_min_proto_version(handle, DTLS1_2_VERSION) != 1 ||
        SSL_CTX_use_certificate(handle, certificate.native_handle()) != 1 ||
        SSL_CTX_use_PrivateKey(handle, certificate.key()) != 1 || SSL_CTX_set_cipher_list(handle, kCiphers) != 1 ||
        SSL_CTX_set1_groups_list(handle, kGroups) != 1 || SSL_CTX_set1_sigalgs_list(handle, kSignatures) != 1 ||
        SSL_CTX_set_tlsext_use_srtp(handle, kProfiles) != 0)
        return Error(Errc::system, "DTLS context: " + reason());
    return context;
}

Context::~Context() { SSL_CTX_free(handle_); }

Result<std::unique_ptr<Transport>> Transport::create(const Context& context, Options options, TimePoint now) {
    CHECK(options.datagram_bytes_max >= 256);
    SSL* const handle = SSL_new(context.native_handle());
    if (handle == nullptr)
        return Error(Errc::system, "DTLS session: " + reason());
    auto transport = std::make_unique<Transport>(Private{}, handle, std::move(options), now);
    BIO* const in = BIO_new(BIO_s_mem());
    BIO* const out = BIO_new(BIO_s_mem());
    if (in == nullptr || out == nullptr) {
        BIO_free(in);
        BIO_free(out);
        return Error(Errc::system, "DTLS session: no memory");
    }
    // Empty means "retry later", not "closed".
    BIO_set_mem_eof_return(in, -1);
    SSL_set_bio(handle, in, out);
    SSL_set_mtu(handle, static_cast<long>(transport->options_.datagram_bytes_max));
    // No record is longer than a datagram; OpenSSL would allocate a buffer for 16 KB records.
    SSL_set_max_send_fragment(handle, static_cast<long>(std::max(transport->options_.datagram_bytes_max, kFragmentBytesMin)));
    SSL_set_app_data(handle, &transport->options_);
    DTLS_set_timer_cb(handle, next_timer);
    if (transport->options_.role == Role::server)
        SSL_set_accept_state(handle);
    else
        SSL_set_connect_state(handle);
    return transport;
}

Transport::Transport(Private, ssl_st* handle, Options options, TimePoint now)
    : handle_(handle), options_(std::move(options)), give_up_(now + options_.handshake_timeout) {}

Transport::~Transport() { SSL_free(handle_); }

Result<void> Transport::start(TimePoint now) {
    if (options_.role == Role::server)
        return {};
    return advance(now);
}

Result<void> Transport::handle_datagram(TimePoint now, Bytes datagram) {
    if (state_ == State::closed || datagram.empty())
        return {};
    // One at a time, read completely: a memory BIO does not preserve datagram boundaries.
    const int written = BIO_write(SSL_get_rbio(handle_), datagram.data(), static_cast<int>(datagram.size()));
    if (written != static_cast<int>(datagram.size()))
        return Error(Errc::system, "DTLS: no memory for a datagram");
    return advance(now);
}

Result<void> Transport::advance(TimePoint now) {
    ERR_clear_error();
    Result<void> outcome;
    if (state_ == State::handshaking) {
        const int done = SSL_do_handshake(handle_);
        if (done == 1) {
            outcome = finish_handshake();
        } else if (const int error = SSL_get_error(handle_, done);
                   error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE) {
            state_ = State::closed;
            outcome = Error(Errc::malformed, "DTLS handshake: " + reason());
        }
    }
    if (state_ == State::established)
        read_records();
    collect_output();
    // Bytes not consumed by any record must not precede the next datagram.
    BIO_reset(SSL_get_rbio(handle_));
    follow_timer(now);
    return outcome;
}

Result<void> Transport::finish_handshake() {
    auto checked = check_certificate();
    if (checked.ok() && SSL_get_selected_srtp_profile(handle_) == nullptr)
        checked = Error(Errc::unsupported, "DTLS: no SRTP profile in common");
    if (!checked.ok()) {
        SSL_shutdown(handle_);
        state_ = State::closed;
        return checked;
    }
    state_ = State::established;
    return {};
}

Result<void> Transport::check_certificate() const {
    const X509* const certificate = SSL_get0_peer_certificate(handle_);
    if (certificate == nullptr)
        return Error(Errc::denied, "DTLS: the peer has no certificate");
    const std::string found = TRY(fingerprint_of(certificate, options_.remote_algorithm));
    if (!ascii::are_same(found, options_.remote_fingerprint))
        return Error(Errc::denied, "DTLS: the peer's certificate is not the one of its description");
    return {};
}

void Transport::read_records() {
    std::array<std::uint8_t, 2'048> nothing_of_ours;
    for (int i = 0; i < kReadsMax; ++i) {
        const int count = SSL_read(handle_, nothing_of_ours.data(), static_cast<int>(nothing_of_ours.size()));
        if (count > 0)
            continue;
        const int error = SSL_get_error(handle_, count);
        if (error != SSL_ERROR_WANT_READ && error != SSL_ERROR_WANT_WRITE)
            state_ = State::closed;
        break;
    }
    ERR_clear_error();
}

// A flight is a sequence of records; each datagram takes as many whole records as fit.
void Transport::collect_output() {
    BIO* const out = SSL_get_wbio(handle_);
    std::vector<std::uint8_t> flight(BIO_ctrl_pending(out));
    if (flight.empty())
        return;
    CHECK(BIO_read(out, flight.data(), static_cast<int>(flight.size())) == static_cast<int>(flight.size()));
    std::vector<std::uint8_t> datagram;
    const auto flush = [&] {
        if (!datagram.empty() && output_.size() < kOutputDatagramsMax)
            output_.push_back(std::exchange(datagram, {}));
        datagram.clear();
    };
    for (ByteReader in(flight); !in.at_end();) {
        const Bytes rest = in.rest();
        CHECK(rest.size() >= kRecordHeadBytes);
        const std::size_t bytes = kRecordHeadBytes + (std::size_t{rest[11]} << 8 | rest[12]);
        const Bytes record = MUST(in.take(bytes));
        if (datagram.size() + bytes > options_.datagram_bytes_max)
            flush();
        datagram.insert(datagram.end(), record.begin(), record.end());
    }
    flush();
}

void Transport::follow_timer(TimePoint now) {
    timeval left{};
    if (state_ == State::handshaking && DTLSv1_get_timeout(handle_, &left) == 1)
        retransmit_ = now + std::chrono::seconds(left.tv_sec) + std::chrono::microseconds(left.tv_usec);
    else
        retransmit_.reset();
}

Result<void> Transport::handle_timeout(TimePoint now) {
    if (state_ != State::handshaking)
        return {};
    if (now >= give_up_) {
        state_ = State::closed;
        return Error(Errc::timed_out, "DTLS: no handshake within " + std::to_string(options_.handshake_timeout.count()) + " ms");
    }
    if (!retransmit_ || now < *retransmit_)
        return {};
    ERR_clear_error();
    // 0: not expired yet.
    if (DTLSv1_handle_timeout(handle_) < 0) {
        state_ = State::closed;
        return Error(Errc::timed_out, "DTLS: the peer does not answer");
    }
    collect_output();
    follow_timer(now);
    return {};
}

std::optional<TimePoint> Transport::next_timeout() const {
    if (state_ != State::handshaking)
        return std::nullopt;
    return retransmit_ ? std::min(*retransmit_, give_up_) : give_up_;
}

void Transport::close() {
    if (state_ == State::established)
        SSL_shutdown(handle_);
    state_ = State::closed;
    retransmit_.reset();
    collect_output();
}

std::vector<std::uint8_t> Transport::write_goodbye() {
    CHECK(output_.empty());
    close();
    auto written = take_output();
    return written.empty() ? std::vector<std::uint8_t>() : std::move(written.back());
}

Transport::Progress Transport::take_progress(Result<void> outcome, bool with_keys) {
    Progress progress{std::move(outcome), state_, take_output(), std::nullopt, {}};
    if (with_keys && state_ == State::established)
        progress.keys = export_keys();
    return progress;
}

Result<srtp::Keys> Transport::export_keys() const {
    CHECK(state_ == State::established);
    srtp::Keys keys;
    keys.profile = static_cast<srtp::Profile>(SSL_get_selected_srtp_profile(handle_)->id);
    const std::size_t salt_bytes = keys.profile == srtp::Profile::aead_aes_128_gcm ? 12 : 14;
    std::vector<std::uint8_t> material(2 * (kKeyBytes + salt_bytes));
    if (SSL_export_keying_material(handle_, material.data(), material.size(), kExporterLabel.data(), kExporterLabel.size(),
                                   nullptr, 0, 0) != 1)
        return Error(Errc::system, "DTLS: no keys for SRTP: " + reason());
    // RFC 5764, 4.2: client key, server key, client salt, server salt.
    const Bytes all(material);
    const auto side = [&](std::size_t index) {
        const Bytes key = all.subspan(index * kKeyBytes, kKeyBytes);
        const Bytes salt = all.subspan(2 * kKeyBytes + index * salt_bytes, salt_bytes);
        std::vector<std::uint8_t> joined(key.begin(), key.end());
        joined.insert(joined.end(), salt.begin(), salt.end());
        return joined;
    };
    const bool is_client = options_.role == Role::client;
    keys.local = side(is_client ? 0 : 1);
    keys.remote = side(is_client ? 1 : 0);
    return keys;
}

}  // namespace live::engine::dtls
