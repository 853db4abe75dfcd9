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
#include "engine/rtc/certificate.hpp"

struct ssl_st;
struct ssl_ctx_st;

namespace live::engine::rtc {

// What the sessions of a server share. The certificate outlives it.
class DtlsContext {
    struct Private {};

public:
    // Errc::system.
    static Result<std::unique_ptr<DtlsContext>> create(const Certificate& certificate);

    DtlsContext(Private, ssl_ctx_st* handle) : handle_(handle) {}
    ~DtlsContext();
    DtlsContext(const DtlsContext&) = delete;
    DtlsContext& operator=(const DtlsContext&) = delete;

    ssl_ctx_st* native_handle() const { return handle_; }

private:
    ssl_ctx_st* handle_;
};

enum class DtlsRole : std::uint8_t { server, client };

// RFC 7714 and RFC 5764, in our order of preference; the values are those of RFC 5764, 4.1.2.
enum class SrtpProfile : std::uint16_t { aead_aes_128_gcm = 7, aes128_cm_sha1_80 = 1 };

// Key and salt of each direction, one behind the other, as the SRTP library wants them.
struct SrtpKeys {
    SrtpProfile profile{};
    std::vector<std::uint8_t> local;
    std::vector<std::uint8_t> remote;
};

class DtlsTransport {
    struct Private {};

public:
    static constexpr std::size_t kOutputDatagramsMax = 64;  // that may wait to be taken

    struct Options {
        DtlsRole role = DtlsRole::server;
        std::string remote_algorithm = "sha-256";  // of the peer's fingerprint, from its description
        std::string remote_fingerprint;
        std::size_t datagram_bytes_max = 1'200;
        std::chrono::milliseconds first_retransmission = 50ms;  // doubles, up to retransmission_max
        std::chrono::milliseconds retransmission_max = 2s;
        std::chrono::milliseconds handshake_timeout = 30s;
    };
    enum class State : std::uint8_t { handshaking, established, closed };

    // Errc::system.
    static Result<std::unique_ptr<DtlsTransport>> create(const DtlsContext& context, Options options, TimePoint now);
    DtlsTransport(Private, ssl_st* handle, Options options, TimePoint now);
    ~DtlsTransport();
    DtlsTransport(const DtlsTransport&) = delete;
    DtlsTransport& operator=(const DtlsTransport&) = delete;

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
    Result<SrtpKeys> export_keys() const;

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

}  // namespace live::engine::rtc
