// DTLS 1.2 of one session, either role, over memory (RFC 6347; RFC 5764 for the keys of SRTP). Datagrams and times go in,
// datagrams come out. The caller has made sure that a datagram comes from an address that passed a check of ICE; there is no
// cookie exchange.
//
// OpenSSL keeps the timer of a flight, by its own clock: each flight has one of its own, which begins when it is sent and doubles
// (RFC 6347, 4.2.4). next_timeout() is when it is over, moved to the clock of `now`; handle_timeout() called early does nothing
// but ask to be called again.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/dtls/certificate.hpp"
#include "engine/srtp/keys.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace live::engine::dtls {

// What the sessions of a server share. The certificate outlives it.
class Context {
    struct Private {};

public:
    // Errc::system.
    static Result<std::unique_ptr<Context>> create(const Certificate& certificate);

    Context(Private, ssl_ctx_st* handle) : handle_(handle) {}
    ~Context();
    Context(const Context&) = delete;
    Context& operator=(const Context&) = delete;

    ssl_ctx_st* native_handle() const { return handle_; }

private:
    ssl_ctx_st* handle_;
};

enum class Role : std::uint8_t { server, client };

class Transport {
    struct Private {};

public:
    static constexpr std::size_t kOutputDatagramsMax = 64;  // that may wait to be taken

    struct Options {
        Role role = Role::server;
        std::string remote_algorithm = "sha-256";  // of the peer's fingerprint, from its description
        std::string remote_fingerprint;
        std::size_t datagram_bytes_max = 1'200;
        std::chrono::milliseconds first_retransmission = 50ms;  // doubles, up to retransmission_max
        std::chrono::milliseconds retransmission_max = 2s;
        std::chrono::milliseconds handshake_timeout = 30s;
    };
    enum class State : std::uint8_t { handshaking, established, closed };

    // Errc::system.
    static Result<std::unique_ptr<Transport>> create(const Context& context, Options options, TimePoint now);
    Transport(Private, ssl_st* handle, Options options, TimePoint now);
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    // A client's first flight; a server waits.
    Result<void> start(TimePoint now);
    // One datagram. What is no record of this association is dropped quietly. Errc::denied when the peer's certificate is not the
    // one of its description, Errc::unsupported when no SRTP profile is common, Errc::malformed for a handshake that failed. An
    // error is final; output that is there says why.
    Result<void> handle_datagram(TimePoint now, Bytes datagram);
    // Errc::timed_out when the handshake took too long.
    Result<void> handle_timeout(TimePoint now);
    std::optional<TimePoint> next_timeout() const;
    // close_notify; nothing more is read.
    void close();

    // In order, each at most datagram_bytes_max.
    std::vector<std::vector<std::uint8_t>> take_output() { return std::exchange(output_, {}); }

    State state() const { return state_; }
    // Once established. Errc::system.
    Result<srtp::Keys> export_keys() const;

private:
    Result<void> advance(TimePoint now);
    Result<void> finish_handshake();
    Result<void> check_certificate() const;
    void read_records();
    void collect_output();
    // From what OpenSSL says of its timer.
    void follow_timer(TimePoint now);

    ssl_st* handle_;
    Options options_;
    std::vector<std::vector<std::uint8_t>> output_;
    std::optional<TimePoint> retransmit_;
    TimePoint give_up_;
    State state_ = State::handshaking;
};

}  // namespace live::engine::dtls
