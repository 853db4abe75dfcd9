#include "io/tls/tls_stream.hpp"

#include <algorithm>
#include <cstring>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "io/fibers/loop_state.hpp"
#include "io/tls/tls_error.hpp"

namespace live::io {

namespace {

// RFC 8446, 5.1: the maximum plaintext of one record.
constexpr std::size_t kRecordMax = 16 * 1024;

// The BIO: reads and writes a TcpStream without waiting.
int bio_read(BIO* bio, char* into, std::size_t size, std::size_t* got) {
    BIO_clear_retry_flags(bio);
    auto& tcp = *static_cast<TcpStream*>(BIO_get_data(bio));
    const auto outcome = tcp.try_read({reinterpret_cast<std::uint8_t*>(into), size});
    if (outcome.ok()) {
        *got = *outcome;
        return 1;
    }
    if (outcome.error().code() == Errc::need_more)
        BIO_set_retry_read(bio);
    else if (outcome.error().code() == Errc::closed)
        BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
    return 0;
}

int bio_write(BIO* bio, const char* from, std::size_t size, std::size_t* sent) {
    BIO_clear_retry_flags(bio);
    auto& tcp = *static_cast<TcpStream*>(BIO_get_data(bio));
    const ::iovec part{const_cast<char*>(from), size};
    const auto outcome = tcp.try_write({&part, 1});
    if (outcome.ok() && *outcome > 0) {
        *sent = *outcome;
        return 1;
    }
    if (outcome.ok())
        BIO_set_retry_write(bio);
    return 0;
}

long bio_control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_EOF)
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// One method for all streams; OpenSSL requires it to outlive them.
BIO_METHOD* bio_method() {
    static BIO_METHOD* const method = [] {
        BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "live tcp stream");
        BIO_meth_set_read_ex(made, bio_read);
        BIO_meth_set_write_ex(made, bio_write);
        BIO_meth_set_ctrl(made, bio_control);
        BIO_meth_set_create(made, [](BIO* bio) {
            BIO_set_init(bio, 1);
            return 1;
        });
        return made;
    }();
    return method;
}

}  // namespace

Error tls_error(Errc code, const std::string& what) {
    char text[256] = "no reason given";
    if (const unsigned long error = ERR_get_error(); error != 0)
        ERR_error_string_n(error, text, sizeof text);
    ERR_clear_error();
    return {code, what + ": " + text};
}

Result<std::unique_ptr<TlsStream>> TlsStream::create(std::unique_ptr<TcpStream> tcp, TlsContext& context) {
    ERR_clear_error();
    SSL* tls = SSL_new(context.native_handle());
    if (tls == nullptr)
        return tls_error(Errc::system, "creating a TLS connection");
    TcpStream* below = tcp.get();
    auto stream = std::make_unique<TlsStream>(Private{}, std::move(tcp), tls);
    BIO* bio = BIO_new(bio_method());
    if (bio == nullptr)
        return tls_error(Errc::system, "creating a TLS connection");
    BIO_set_data(bio, below);
    SSL_set_bio(tls, bio, bio);
    return stream;
}

Result<std::unique_ptr<TlsStream>> TlsStream::accept(std::unique_ptr<TcpStream> tcp, TlsContext& context, Deadline deadline) {
    auto stream = TRY(create(std::move(tcp), context));
    SSL_set_accept_state(stream->tls_);
    TRY(stream->shake_hands(deadline));
    return stream;
}

Result<std::unique_ptr<TlsStream>> TlsStream::connect(std::unique_ptr<TcpStream> tcp, TlsContext& context,
                                                      const std::string& server_name, Deadline deadline) {
    TRY(context.read_authorities(deadline));
    auto stream = TRY(create(std::move(tcp), context));
    SSL_set_connect_state(stream->tls_);
    X509_VERIFY_PARAM* rules = SSL_get0_param(stream->tls_);
    // An address is not a name: it is matched against the certificate's addresses, and not sent (RFC 6066, 3).
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, server_name.c_str()) != 1) {
        ERR_clear_error();
        if (SSL_set_tlsext_host_name(stream->tls_, server_name.c_str()) != 1 ||
            SSL_set1_host(stream->tls_, server_name.c_str()) != 1)
            return tls_error(Errc::malformed, "the server name " + server_name);
    }
    TRY(stream->shake_hands(deadline));
    return stream;
}

TlsStream::TlsStream(Private, std::unique_ptr<TcpStream> tcp, ssl_st* tls) : tcp_(std::move(tcp)), tls_(tls) {
    ++st::loop_state().tls_sessions;
}

TlsStream::~TlsStream() {
    --st::loop_state().tls_sessions;
    close();
    SSL_free(tls_);
}

Result<void> TlsStream::shake_hands(Deadline deadline) {
    for (;;) {
        TRY(st::breathe());
        ERR_clear_error();
        const int result = SSL_do_handshake(tls_);
        if (result == 1)
            return {};
        const int reason = SSL_get_error(tls_, result);
        if (reason != SSL_ERROR_WANT_READ && reason != SSL_ERROR_WANT_WRITE)
            return failure(result, "TLS handshake");
        const auto direction = reason == SSL_ERROR_WANT_READ ? Interest::readable : Interest::writable;
        if (TRY(tcp_->wait_ready(direction, nullptr, deadline)).timed_out)
            return Error(Errc::timed_out, "the TLS handshake takes too long");
    }
}

Error TlsStream::failure(int result, const char* what) const {
    const int reason = SSL_get_error(tls_, result);
    if (reason == SSL_ERROR_ZERO_RETURN || !tcp_->is_open())
        return {Errc::closed, "the peer has ended the connection"};
    if (reason == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) == SSL_R_CERTIFICATE_VERIFY_FAILED) {
        ERR_clear_error();
        const char* why = X509_verify_cert_error_string(SSL_get_verify_result(tls_));
        return {Errc::denied, std::string(what) + ": the certificate is not trusted: " + why};
    }
    if (reason == SSL_ERROR_SSL && ERR_GET_REASON(ERR_peek_error()) != SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return tls_error(Errc::denied, what);
    ERR_clear_error();
    return {Errc::closed, std::string(what) + ": the connection broke"};
}

Result<std::size_t> TlsStream::try_read(MutBytes into) {
    if (into.empty())
        return Error(Errc::need_more, "");
    ERR_clear_error();
    std::size_t got = 0;
    const int result = SSL_read_ex(tls_, into.data(), into.size(), &got);
    if (result == 1)
        return got;
    const int reason = SSL_get_error(tls_, result);
    if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE)
        return Error(Errc::need_more, "");
    return failure(result, "reading from a TLS connection");
}

// True when nothing is left.
Result<bool> TlsStream::flush_pending() {
    std::size_t done = 0;
    while (done < pending_.size()) {
        ERR_clear_error();
        std::size_t sent = 0;
        const int result = SSL_write_ex(tls_, pending_.data() + done, pending_.size() - done, &sent);
        if (result == 1) {
            done += sent;
            continue;
        }
        const int reason = SSL_get_error(tls_, result);
        pending_.erase(pending_.begin(), pending_.begin() + static_cast<std::ptrdiff_t>(done));
        if (reason == SSL_ERROR_WANT_READ || reason == SSL_ERROR_WANT_WRITE)
            return false;
        return failure(result, "writing to a TLS connection");
    }
    pending_.clear();
    return true;
}

Result<std::size_t> TlsStream::try_write(std::span<const ::iovec> parts) {
    if (!TRY(flush_pending()))
        return std::size_t{0};
    for (const ::iovec& part : parts) {
        const std::size_t count = std::min(part.iov_len, kRecordMax - pending_.size());
        const auto* bytes = static_cast<const std::uint8_t*>(part.iov_base);
        pending_.insert(pending_.end(), bytes, bytes + count);
        if (pending_.size() == kRecordMax)
            break;
    }
    const std::size_t taken = pending_.size();
    TRY(flush_pending());
    return taken;
}

Result<std::size_t> TlsStream::read_some(MutBytes into, Deadline deadline) {
    TRY(st::breathe());
    for (;;) {
        auto got = try_read(into);
        if (got.ok() || got.error().code() != Errc::need_more)
            return got;
        TRY(tcp_->wait_readable(deadline));
    }
}

Result<void> TlsStream::write_all(std::span<const ::iovec> parts, Deadline deadline) {
    std::size_t offset = 0;  // into parts.front()
    while (!parts.empty() || !pending_.empty()) {
        TRY(st::breathe());
        std::size_t taken = 0;
        if (offset > 0) {
            const ::iovec rest{static_cast<std::uint8_t*>(parts.front().iov_base) + offset, parts.front().iov_len - offset};
            taken = TRY(try_write({&rest, 1}));
        } else {
            taken = TRY(try_write(parts));
        }
        while (!parts.empty() && taken >= parts.front().iov_len - offset) {
            taken -= parts.front().iov_len - offset;
            offset = 0;
            parts = parts.subspan(1);
        }
        offset += parts.empty() ? 0 : taken;
        if (!pending_.empty() && TRY(tcp_->wait_ready(Interest::writable, nullptr, deadline)).timed_out)
            return Error(Errc::timed_out, "the peer does not read");
    }
    return {};
}

bool TlsStream::has_buffered_input() const { return SSL_has_pending(tls_) == 1; }

Result<void> TlsStream::wait_readable(Deadline deadline) {
    if (has_buffered_input())
        return {};
    return tcp_->wait_readable(deadline);
}

Result<Ready> TlsStream::wait_ready(Interest interest, Signal* signal, Deadline deadline) {
    const auto bits = static_cast<std::uint8_t>(interest);
    const bool wants_output = (bits & static_cast<std::uint8_t>(Interest::writable)) != 0;
    Ready ready;
    if ((bits & static_cast<std::uint8_t>(Interest::readable)) != 0 && has_buffered_input()) {
        TRY(st::breathe());
        ready.readable = true;
        ready.signalled = signal != nullptr && signal->consume();
        return ready;
    }
    for (;;) {
        // A record that OpenSSL could not write completely goes out while the caller waits for something else.
        const auto own = static_cast<Interest>(pending_.empty() ? bits : bits | static_cast<std::uint8_t>(Interest::writable));
        ready = TRY(tcp_->wait_ready(own, signal, deadline));
        if (ready.writable && !TRY(flush_pending()))
            ready.writable = false;
        ready.writable = ready.writable && wants_output;
        if (ready.readable || ready.writable || ready.signalled || ready.timed_out)
            return ready;
    }
}

void TlsStream::close() {
    if (!tcp_->is_open())
        return;
    if (SSL_is_init_finished(tls_) == 1 && pending_.empty()) {
        ERR_clear_error();
        SSL_shutdown(tls_);
        ERR_clear_error();
    }
    tcp_->close();
}

std::string TlsStream::protocol() const { return SSL_get_version(tls_); }

std::string_view TlsStream::application_protocol() const {
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(tls_, &name, &size);
    return {reinterpret_cast<const char*>(name), size};
}

}  // namespace live::io
