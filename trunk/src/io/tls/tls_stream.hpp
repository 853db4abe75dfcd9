// TLS over a TcpStream, as a server or a client. OpenSSL reads and writes the socket through a BIO of ours that never waits; all
// waiting happens in the fiber. The BIO takes every record: those of one write go out with one call, and ciphertext that the
// socket does not accept is held here and sent first. So try_write makes the same promise as on a TCP stream: bytes that were
// taken need not be offered again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "io/net/stream.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_context.hpp"

struct ssl_st;

namespace live::io {

class TlsStream final : public Stream {
    struct Private {};

public:
    // Handshakes of servers are done one at a time (io/fibers/turns.hpp): steps of those that have begun, then those that resume
    // a session, then the others. The context must outlive the stream. Errc::closed, Errc::denied when the handshake is refused
    // or the peer cannot be verified, Errc::timed_out, Errc::cancelled.
    static Result<std::unique_ptr<TlsStream>> accept(std::unique_ptr<TcpStream> tcp, TlsContext& context, Deadline deadline);
    // `server_name` is sent (SNI) and, with TlsVerify::peer, checked.
    static Result<std::unique_ptr<TlsStream>> connect(std::unique_ptr<TcpStream> tcp, TlsContext& context,
                                                      const std::string& server_name, Deadline deadline);
    TlsStream(Private, std::unique_ptr<TcpStream> tcp, ssl_st* tls);
    ~TlsStream() override;
    TlsStream(const TlsStream&) = delete;
    TlsStream& operator=(const TlsStream&) = delete;

    Result<std::size_t> read_some(MutBytes into, Deadline deadline) override;
    Result<void> write_all(std::span<const ::iovec> parts, Deadline deadline) override;
    // Part of a record counts as readable, so the following read may still wait.
    Result<void> wait_readable(Deadline deadline) override;
    Result<std::size_t> try_read(MutBytes into) override;
    // Takes all bytes up to kTakenMax, or none while the socket is full. One system call; no allocation while the peer reads.
    // Afterwards ciphertext may be held (holds_output()); later calls send it first.
    Result<std::size_t> try_write(std::span<const ::iovec> parts) override;
    static constexpr std::size_t kTakenMax = 64 * 1024;
    // As write_all, for a few bytes that are followed by others, by a wait for this stream, or by its end: they go out with that.
    Result<void> write_ahead(Bytes bytes, Deadline deadline);
    bool holds_output() const override { return !held_.empty(); }
    Result<Ready> wait_ready(Interest interest, Signal* signal, Deadline deadline) override;
    void coalesce_wakes() override { tcp_->coalesce_wakes(); }
    std::string peer() const override { return tcp_->peer(); }
    // Sends close_notify if the socket takes it at once.
    void close() override;

    TcpStream& tcp() { return *tcp_; }
    TlsStream* as_tls() override { return this; }
    TcpStream* carrier() override { return tcp_.get(); }
    // New keys for both directions (RFC 8446, 4.6.3), before the next record; nothing in TLS 1.2. The stream itself does so after
    // kRecordsPerKey records: 5.5 limits AES-GCM to 2^24.5, some 40 hours at 20 Mbps.
    Result<void> update_keys();
    static constexpr std::uint32_t kRecordsPerKey = 1U << 24;
    // Key updates accepted from a peer within a minute; the next one ends the connection with Errc::limit. Each
    // costs some 10 us, and half of them an answer.
    static constexpr std::uint32_t kKeyUpdatesMax = 32;
    void note_key_update();
    // Reports whether the handshake has resumed an earlier session.
    bool was_resumed() const;
    // "TLSv1.3".
    std::string protocol() const;
    // The protocol that the handshake has selected (TlsContext::offer_protocols), such as "h2"; empty: none.
    std::string_view application_protocol() const;

private:
    struct Bio;
    // Limits the ciphertext of taken bytes and of answers to a peer that does not read.
    static constexpr std::size_t kHeldMax = 2 * kTakenMax;
    // Ciphertext that may wait for the next record: a ticket and the head of an answer.
    static constexpr std::size_t kAheadMax = 2048;

    static Result<std::unique_ptr<TlsStream>> create(std::unique_ptr<TcpStream> tcp, TlsContext& context);
    Result<bool> step_handshake();
    Result<void> await_handshake(Deadline deadline);
    Result<void> encrypt(Bytes bytes);
    Result<void> send_output(Bytes last = {});
    Result<void> hold_output(std::size_t sent = 0, Bytes last = {});
    Result<bool> send_held();
    Error failure(int result, const char* what) const;
    bool has_buffered_input() const;

    std::unique_ptr<TcpStream> tcp_;
    ssl_st* tls_;
    std::vector<std::uint8_t> held_;  // ciphertext that the socket has not taken, or that waits for the next record
    TimePoint key_updates_from_{};
    std::uint32_t key_updates_ = 0;  // since then
    std::uint32_t records_ = 0;      // written with the current keys, at least
    bool needs_input_ = false;       // OpenSSL holds no whole record
    bool is_ahead_ = false;          // while it encrypts bytes that may wait
};

}  // namespace live::io
