// The shared part of TLS connections of one kind: certificate and key of a server, or the trusted authorities of a client.
// OpenSSL 3, TLS 1.2 and later.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "io/fibers/deadline.hpp"
#include "io/tls/ticket_keys.hpp"

struct ssl_ctx_st;
struct ssl_session_st;

namespace live::io {

enum class TlsVerify : bool { none, peer };

class TlsContext {
    struct Private {};

public:
    // PEM files; the certificate file may contain the chain. Errc::not_found when a file cannot be read, Errc::malformed when it
    // is not a certificate or key, Errc::conflict when they do not belong together.
    static Result<std::unique_ptr<TlsContext>> server(const std::string& certificate_path, const std::string& key_path);
    // Replaces certificate and key for new connections; existing ones keep theirs. Errors as server(), and then nothing has
    // changed.
    Result<void> reload(const std::string& certificate_path, const std::string& key_path);
    // TlsVerify::peer checks the name, and trusts the authorities of `ca_path` (PEM), or the system's when that is empty: those
    // are read for the first connection. Errc::not_found or Errc::malformed for that file.
    static Result<std::unique_ptr<TlsContext>> client(TlsVerify verify, const std::string& ca_path = {});

    // Successful calls of reload().
    std::uint64_t reloads() const { return reloads_; }
    // For a server: selects the first of `protocols` that the client offers too (ALPN, RFC 7301). A
    // client that offers other protocols only gets none. For a client: offers them. At most 255 bytes a name.
    void offer_protocols(std::span<const std::string_view> protocols);

    // For a server: answers clients that offer "acme-tls/1" only (RFC 8737) with the certificate in this PEM file, which has its
    // key too, until end_challenge(). Errors as server().
    Result<void> answer_challenge(const std::string& path);
    void end_challenge();

    // For a server: session tickets are encrypted with these keys, which outlive this, and not with keys of this process.
    // Sessions of another certificate are not resumed.
    Result<void> use_ticket_keys(TicketKeys& keys);
    // For a client with TlsVerify::none that connects to one server: later connections resume the newest session, as browsers do,
    // or all of them the first one, as the clients of a load program.
    enum class Resume : bool { newest, first };
    void resume_sessions(Resume resume);
    // The session to resume; nullptr: none.
    ssl_session_st* session() const { return session_; }

    TlsContext(Private, ssl_ctx_st* handle, TlsVerify verify);
    ~TlsContext();
    TlsContext(const TlsContext&) = delete;
    TlsContext& operator=(const TlsContext&) = delete;

    // To be called before each connection as a client: reads the system's authorities if they are wanted and not read yet, in a
    // worker thread, as some 140 of them take 50 ms and 850 KiB. Errc::timed_out, Errc::cancelled, Errc::limit.
    Result<void> read_authorities(Deadline deadline);

    ssl_ctx_st* native_handle() const { return handle_; }
    TlsVerify verify() const { return verify_; }

private:
    class Unread;
    struct Challenge;

    void select_protocols();
    void watch_hellos();
    Result<void> set_ticket_callback();

    ssl_ctx_st* handle_;
    TlsVerify verify_;
    std::uint64_t reloads_ = 0;
    TicketKeys* ticket_keys_ = nullptr;
    ssl_session_st* session_ = nullptr;
    std::string protocols_;  // in the form of the extension: a length before each name
    std::unique_ptr<Challenge> challenge_;
    // The other owner is a worker that is still reading after the caller has stopped waiting.
    std::shared_ptr<Unread> unread_;
};

}  // namespace live::io
