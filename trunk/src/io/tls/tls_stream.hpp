// TLS over a TcpStream, as a server or a client. OpenSSL reads and writes the socket through a BIO of ours that never waits; all
// waiting happens in the fiber. Output is taken in records of up to 16 KiB and kept until the kernel has it, so try_write makes
// the same promise as on a TCP stream: bytes that were taken need not be offered again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/net/stream.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_context.hpp"

struct ssl_st;

namespace live::io {

class TlsStream final : public Stream {
    struct Private {};

public:
    // The context must outlive the stream. Errc::closed, Errc::denied when the handshake is refused or the peer cannot be
    // verified, Errc::timed_out, Errc::cancelled.
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
    // Ciphertext of taken bytes may be held here when the socket is full; later calls, and write_all, send it first.
    Result<std::size_t> try_write(std::span<const ::iovec> parts) override;
    Result<Ready> wait_ready(Interest interest, Signal* signal, Deadline deadline) override;
    void coalesce_wakes() override { tcp_->coalesce_wakes(); }
    std::string peer() const override { return tcp_->peer(); }
    // Sends close_notify if the socket takes it at once.
    void close() override;

    TcpStream& tcp() { return *tcp_; }
    // "TLSv1.3".
    std::string protocol() const;
    // The protocol that the handshake has selected (TlsContext::offer_protocols), such as "h2"; empty: none.
    std::string_view application_protocol() const;

private:
    static Result<std::unique_ptr<TlsStream>> create(std::unique_ptr<TcpStream> tcp, TlsContext& context);
    Result<void> shake_hands(Deadline deadline);
    Result<bool> flush_pending();
    Error failure(int result, const char* what) const;
    bool has_buffered_input() const;

    std::unique_ptr<TcpStream> tcp_;
    ssl_st* tls_;
    std::vector<std::uint8_t> pending_;  // plaintext of the record that OpenSSL could not write completely
};

}  // namespace live::io
