// DTLS 1.2 for one session, either role, in memory (RFC 6347; RFC 5764 for the SRTP keys). Datagrams and times go in, datagrams
// come out. The caller ensures that a datagram comes from an address that passed an ICE check; there is no cookie exchange.
//
// OpenSSL runs the retransmission timer on its own clock: each flight has a timer that starts when the flight is sent and doubles
// (RFC 6347, 4.2.4). next_timeout() is its expiry converted to the clock of `now`. If handle_timeout() is called before
// OpenSSL's timer expires, next_timeout() returns the remaining time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/dtls/certificate.hpp"
#include "engine/srtp/keys.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace live::engine::dtls {

// The OpenSSL context that all sessions of a server share. The certificate must outlive it.
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
    static constexpr std::size_t kOutputDatagramsMax = 64;  // waiting to be taken

    struct Options {
        Role role = Role::server;
        std::string remote_algorithm = "sha-256";  // of the peer's fingerprint, from its SDP
        std::string remote_fingerprint;
        std::size_t datagram_bytes_max = 1'200;
        std::chrono::milliseconds first_retransmission = 50ms;  // doubles, up to retransmission_max
        std::chrono::milliseconds retransmission_max = 2s;
        std::chrono::milliseconds handshake_timeout = 30s;
    };
    enum class State : std::uint8_t { handshaking, established, closed };
    // The results of one input.
    struct Progress {
        Result<void> outcome;
        State state = State::handshaking;
        std::vector<std::vector<std::uint8_t>> flight;  // to be sent, with an error too
        std::optional<Result<srtp::Keys>> keys;         // if requested, once established
        std::vector<std::uint8_t> goodbye{};            // of an object that was destroyed: see write_goodbye()
    };

    // Errc::system.
    static Result<std::unique_ptr<Transport>> create(const Context& context, Options options, TimePoint now);
    Transport(Private, ssl_st* handle, Options options, TimePoint now);
    ~Transport();
    Transport(const Transport&) = delete;
    Transport& operator=(const Transport&) = delete;

    // Sends a client's first flight; a server waits.
    Result<void> start(TimePoint now);
    // Handles one datagram. Data that is not a record of this association is silently dropped. Errc::denied if the peer's
    // certificate does not match its SDP, Errc::unsupported if there is no common SRTP profile, Errc::malformed for a failed
    // handshake. An error is final; pending output contains the alert.
    Result<void> handle_datagram(TimePoint now, Bytes datagram);
    // Errc::timed_out if the handshake took too long.
    Result<void> handle_timeout(TimePoint now);
    std::optional<TimePoint> next_timeout() const;
    // Recomputes next_timeout() from the clock of `now`, for a caller whose datagrams were handled some time earlier.
    void set_time(TimePoint now) { follow_timer(now); }
    // Sends close_notify; nothing more is read.
    void close();
    // The datagram that close() would send, for an object that is destroyed before its session ends. Closes; the pending output
    // must have been taken.
    std::vector<std::uint8_t> write_goodbye();

    // In order, each at most datagram_bytes_max.
    std::vector<std::vector<std::uint8_t>> take_output() { return std::exchange(output_, {}); }

    State state() const { return state_; }
    // Returns the progress after an input with this outcome, and removes the pending output.
    Progress take_progress(Result<void> outcome, bool with_keys);
    // Only once established. Errc::system.
    Result<srtp::Keys> export_keys() const;

private:
    Result<void> advance(TimePoint now);
    Result<void> finish_handshake();
    Result<void> check_certificate() const;
    void read_records();
    void collect_output();
    // Sets retransmit_ from OpenSSL's timer.
    void follow_timer(TimePoint now);

    ssl_st* handle_;
    Options options_;
    std::vector<std::vector<std::uint8_t>> output_;
    std::optional<TimePoint> retransmit_;
    TimePoint give_up_;
    State state_ = State::handshaking;
};

}  // namespace live::engine::dtls
