#include "io/tls/tls_stream.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include "io/fibers/loop_state.hpp"
#include "io/fibers/turns.hpp"
#include "io/tls/client_hello.hpp"
#include "io/tls/tls_error.hpp"

namespace live::io {

namespace {

// RFC 8446, 5.1: the maximum plaintext of one record.
constexpr std::size_t kRecordMax = 16 * 1024;

long bio_control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_EOF)
        return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
    return command == BIO_CTRL_FLUSH ? 1 : 0;
}

// The argument is the connection's TlsStream.
void note_message(int is_sent, int, int type, const void* data, std::size_t size, SSL*, void* stream) {
    if (is_sent == 0 && type == SSL3_RT_HANDSHAKE && size > 0 && *static_cast<const unsigned char*>(data) == SSL3_MT_KEY_UPDATE)
        static_cast<TlsStream*>(stream)->note_key_update();
}

// At most `max` bytes of the parts as one run: a part itself if it has them all, else a copy in `into`.
Bytes gather(std::span<const ::iovec> parts, std::size_t max, std::vector<std::uint8_t>& into) {
    into.clear();
    for (const ::iovec& part : parts) {
        const Bytes bytes(static_cast<const std::uint8_t*>(part.iov_base), std::min(part.iov_len, max - into.size()));
        if (into.empty() && (bytes.size() == max || &part == &parts.back()))
            return bytes;
        into.insert(into.end(), bytes.begin(), bytes.end());
        if (into.size() == max)
            break;
    }
    return into;
}

// Waits for the client's hello, and leaves it in the socket.
Result<Turns::Rank> rank_of(TcpStream& tcp, Deadline deadline) {
    if (TRY(tcp.wait_ready(Interest::readable, nullptr, deadline)).timed_out)
        return Error(Errc::timed_out, "the client does not begin a TLS handshake");
    auto& hello = st::loop_state().tls.input;
    hello.resize(kClientHelloMax);
    const auto size = tcp.try_peek(hello);
    const bool resumes = size.ok() && offers_session(Bytes(hello).first(*size));
    hello.clear();
    if (!size.ok() && size.code() != Errc::need_more)
        return Error(size.error());
    return resumes ? Turns::Rank::second : Turns::Rank::third;
}

}  // namespace

// Reads the TcpStream without waiting, and never refuses output.
struct TlsStream::Bio {
    static int read(BIO* bio, char* into, std::size_t size, std::size_t* got) {
        BIO_clear_retry_flags(bio);
        auto& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
        const auto outcome = stream.tcp_->try_read({reinterpret_cast<std::uint8_t*>(into), size});
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

    // The last record of a write goes from OpenSSL's buffer to the kernel; those before it are copied once.
    static int write(BIO* bio, const char* from, std::size_t size, std::size_t* taken) {
        BIO_clear_retry_flags(bio);
        auto& stream = *static_cast<TlsStream*>(BIO_get_data(bio));
        st::TlsScratch& scratch = st::loop_state().tls;
        const Bytes record(reinterpret_cast<const std::uint8_t*>(from), size);
        if (scratch.records_left != 1)
            scratch.output.insert(scratch.output.end(), record.begin(), record.end());
        else if (!stream.send_output(record).ok())
            return 0;
        scratch.records_left -= scratch.records_left > 0 ? 1 : 0;
        *taken = size;
        return 1;
    }

    // One method for all streams; OpenSSL requires it to outlive them.
    static BIO_METHOD* method() {
        static BIO_METHOD* const method = [] {
            BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "live tcp stream");
            BIO_meth_set_read_ex(made, read);
            BIO_meth_set_write_ex(made, write);
            BIO_meth_set_ctrl(made, bio_control);
            BIO_meth_set_create(made, [](BIO* bio) {
                BIO_set_init(bio, 1);
                return 1;
            });
            return made;
        }();
        return method;
    }
};

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
    auto stream = std::make_unique<TlsStream>(Private{}, std::move(tcp), tls);
    BIO* bio = BIO_new(Bio::method());
    if (bio == nullptr)
        return tls_error(Errc::system, "creating a TLS connection");
    BIO_set_data(bio, stream.get());
    SSL_set_bio(tls, bio, bio);
    SSL_set_msg_callback(tls, note_message);
    SSL_set_msg_callback_arg(tls, stream.get());
    return stream;
}

Result<std::unique_ptr<TlsStream>> TlsStream::accept(std::unique_ptr<TcpStream> tcp, TlsContext& context, Deadline deadline) {
    Turns turns(st::loop_state().handshakes);
    const auto rank = TRY(rank_of(*tcp, deadline));
    std::optional<Turns::Turn> turn(TRY(turns.take(rank, deadline)));
    auto stream = TRY(create(std::move(tcp), context));
    SSL_set_accept_state(stream->tls_);
    for (;;) {
        const bool is_done = TRY(stream->step_handshake());
        turn.reset();
        if (is_done)
            return stream;
        TRY(stream->await_handshake(deadline));
        turn.emplace(TRY(turns.take(Turns::Rank::first, deadline)));
    }
}

Result<std::unique_ptr<TlsStream>> TlsStream::connect(std::unique_ptr<TcpStream> tcp, TlsContext& context,
                                                      const std::string& server_name, Deadline deadline) {
    TRY(context.read_authorities(deadline));
    auto stream = TRY(create(std::move(tcp), context));
    SSL_set_connect_state(stream->tls_);
    if (SSL_SESSION* const session = context.session())
        SSL_set_session(stream->tls_, session);
    X509_VERIFY_PARAM* rules = SSL_get0_param(stream->tls_);
    // An address is not a name: it is matched against the certificate's addresses, and not sent (RFC 6066, 3).
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, server_name.c_str()) != 1) {
        ERR_clear_error();
        if (SSL_set_tlsext_host_name(stream->tls_, server_name.c_str()) != 1 ||
            SSL_set1_host(stream->tls_, server_name.c_str()) != 1)
            return tls_error(Errc::malformed, "the server name " + server_name);
    }
    while (!TRY(stream->step_handshake()))
        TRY(stream->await_handshake(deadline));
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

// Does what the peer's bytes allow. True: the handshake is complete.
Result<bool> TlsStream::step_handshake() {
    ERR_clear_error();
    const int result = SSL_do_handshake(tls_);
    const int reason = SSL_get_error(tls_, result);
    // The last that a server of TLS 1.3 writes is a ticket, which goes out with its first answer.
    const bool is_ticket = reason == SSL_ERROR_NONE && SSL_is_server(tls_) == 1 && SSL_version(tls_) == TLS1_3_VERSION;
    const auto sent = is_ticket ? hold_output() : send_output();  // an alert too
    if (reason != SSL_ERROR_NONE && reason != SSL_ERROR_WANT_READ)
        return failure(result, "TLS handshake");
    TRY(sent);
    return reason == SSL_ERROR_NONE;
}

Result<void> TlsStream::await_handshake(Deadline deadline) {
    TRY(st::breathe());
    if (TRY(wait_ready(Interest::readable, nullptr, deadline)).timed_out)
        return Error(Errc::timed_out, "the TLS handshake takes too long");
    return {};
}

Error TlsStream::failure(int result, const char* what) const {
    if (key_updates_ > kKeyUpdatesMax) {
        ERR_clear_error();
        return {Errc::limit, "the peer changes its keys too often"};
    }
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
    const auto sent = send_output();  // the answer to a key update
    needs_input_ = result != 1;
    if (result == 1)
        return got;
    if (SSL_get_error(tls_, result) != SSL_ERROR_WANT_READ)
        return failure(result, "reading from a TLS connection");
    TRY(sent);
    return Error(Errc::need_more, "");
}

// Sends what is held, the records that OpenSSL has written, then `last`. Errc::limit when the peer does not read.
Result<void> TlsStream::send_output(Bytes last) {
    auto& output = st::loop_state().tls.output;
    if (output.empty() && last.empty())
        return {};
    const std::array parts{as_part(held_), as_part(output), as_part(last)};
    const std::size_t first = !held_.empty() ? 0 : output.empty() ? 2 : 1;
    const auto outcome = tcp_->try_write(std::span(parts).subspan(first));
    if (!outcome.ok()) {
        output.clear();
        return outcome.error();
    }
    const std::size_t of_held = std::min(*outcome, held_.size());
    const std::size_t of_output = std::min(*outcome - of_held, output.size());
    const std::size_t of_last = *outcome - of_held - of_output;
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(of_held));
    return hold_output(of_output, last.subspan(of_last));
}

// Keeps the records that OpenSSL has written, but for their first `sent` bytes, and `last`. Errc::limit as send_output.
Result<void> TlsStream::hold_output(std::size_t sent, Bytes last) {
    auto& output = st::loop_state().tls.output;
    const Bytes rest = Bytes(output).subspan(sent);
    if (!rest.empty() || !last.empty()) {
        held_.reserve(held_.size() + rest.size() + last.size());
        held_.insert(held_.end(), rest.begin(), rest.end());
        held_.insert(held_.end(), last.begin(), last.end());
    } else if (held_.empty()) {
        held_ = {};
    }
    output.clear();
    return held_.size() <= kHeldMax ? Result<void>() : Error(Errc::limit, "the peer does not read");
}

// True when nothing is left.
Result<bool> TlsStream::send_held() {
    if (held_.empty())
        return true;
    const ::iovec part = as_part(held_);
    const std::size_t sent = TRY(tcp_->try_write({&part, 1}));
    if (sent < held_.size()) {
        held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(sent));
        return false;
    }
    held_ = {};
    return true;
}

Result<void> TlsStream::encrypt(Bytes bytes) {
    st::TlsScratch& scratch = st::loop_state().tls;
    const std::size_t records = (bytes.size() + kRecordMax - 1) / kRecordMax;
    records_ += static_cast<std::uint32_t>(records);
    if (records_ > kRecordsPerKey)
        TRY(update_keys());
    scratch.records_left = is_ahead_ ? 0 : records;
    ERR_clear_error();
    std::size_t taken = 0;
    const int result = SSL_write_ex(tls_, bytes.data(), bytes.size(), &taken);
    scratch.records_left = 0;
    if (result == 1)
        return is_ahead_ ? hold_output() : send_output();
    scratch.output.clear();
    return failure(result, "writing to a TLS connection");
}

Result<std::size_t> TlsStream::try_write(std::span<const ::iovec> parts) {
    // A little that is held goes out with the next record.
    if (tcp_->is_full() || ((parts.empty() || held_.size() > kAheadMax) && !TRY(send_held())))
        return std::size_t{0};
    const Bytes bytes = gather(parts, kTakenMax, st::loop_state().tls.input);
    if (!bytes.empty())
        TRY(encrypt(bytes));
    return bytes.size();
}

Result<void> TlsStream::write_ahead(Bytes bytes, Deadline deadline) {
    if (bytes.empty() || held_.size() + bytes.size() > kAheadMax) {
        const std::array parts{as_part(bytes)};
        return write_all(parts, deadline);
    }
    is_ahead_ = true;
    const auto outcome = encrypt(bytes);
    is_ahead_ = false;
    return outcome;
}

Result<std::size_t> TlsStream::read_some(MutBytes into, Deadline deadline) {
    TRY(st::breathe());
    for (;;) {
        auto got = try_read(into);
        if (got.ok() || got.error().code() != Errc::need_more)
            return got;
        TRY(wait_readable(deadline));
    }
}

Result<void> TlsStream::write_all(std::span<const ::iovec> parts, Deadline deadline) {
    std::size_t offset = 0;  // into parts.front()
    while (!parts.empty() || holds_output()) {
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
        if ((holds_output() || tcp_->is_full()) && TRY(tcp_->wait_ready(Interest::writable, nullptr, deadline)).timed_out)
            return Error(Errc::timed_out, "the peer does not read");
    }
    return {};
}

// OpenSSL reads as much as comes: other records, which count, or the beginning of one, which does not.
bool TlsStream::has_buffered_input() const { return !needs_input_ && SSL_has_pending(tls_) == 1; }

Result<void> TlsStream::update_keys() {
    records_ = 0;
    if (SSL_version(tls_) != TLS1_3_VERSION)
        return {};
    ERR_clear_error();
    SSL_key_update(tls_, SSL_KEY_UPDATE_REQUESTED);
    if (const int result = SSL_do_handshake(tls_); result != 1)
        return failure(result, "updating the keys of a TLS connection");
    return send_output();
}

void TlsStream::note_key_update() {
    const TimePoint now = std::chrono::steady_clock::now();
    if (key_updates_ <= kKeyUpdatesMax && now - key_updates_from_ > std::chrono::minutes(1)) {
        key_updates_from_ = now;
        key_updates_ = 0;
    }
    // OpenSSL drops what it has read ahead.
    if (++key_updates_ > kKeyUpdatesMax)
        SSL_set_shutdown(tls_, SSL_RECEIVED_SHUTDOWN);
}

Result<void> TlsStream::wait_readable(Deadline deadline) {
    if (TRY(wait_ready(Interest::readable, nullptr, deadline)).timed_out)
        return Error(Errc::timed_out, "nothing came from the peer");
    return {};
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
        // Held ciphertext goes out while the caller waits for something else.
        const auto own = static_cast<Interest>(holds_output() ? bits | static_cast<std::uint8_t>(Interest::writable) : bits);
        ready = TRY(tcp_->wait_ready(own, signal, deadline));
        if (ready.writable && !TRY(send_held()))
            ready.writable = false;
        ready.writable = ready.writable && wants_output;
        if (ready.readable || ready.writable || ready.signalled || ready.timed_out)
            return ready;
    }
}

void TlsStream::close() {
    if (!tcp_->is_open())
        return;
    if (SSL_is_init_finished(tls_) == 1 && held_.size() <= kAheadMax) {
        ERR_clear_error();
        SSL_shutdown(tls_);
        static_cast<void>(send_output());
        ERR_clear_error();
    }
    tcp_->close();
}

bool TlsStream::was_resumed() const { return SSL_session_reused(tls_) == 1; }

std::string TlsStream::protocol() const { return SSL_get_version(tls_); }

std::string_view TlsStream::application_protocol() const {
    const unsigned char* name = nullptr;
    unsigned int size = 0;
    SSL_get0_alpn_selected(tls_, &name, &size);
    return {reinterpret_cast<const char*>(name), size};
}

}  // namespace live::io
