// SessionOpener: opens and closes sessions, whatever the API: from an offer to an answer, and by token to the end. Everything
// that may take time (names, callbacks) happens here, in the fiber of the HTTP request; the resulting session has no fiber.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "engine/dtls/certificate.hpp"
#include "engine/dtls/transport.hpp"
#include "io/net/name_cache.hpp"
#include "session/rtc/candidates.hpp"
#include "session/rtc/context.hpp"
#include "wire/sdp/answer.hpp"

namespace live::session::rtc {

class SessionPeer;

// A parsed request for a session.
struct OfferRequest {
    wire::sdp::Purpose purpose = wire::sdp::Purpose::publish;
    ClientRequest client;  // names have passed the allow-list; its ID is assigned here
    std::string offer;
    std::optional<HostAndPort> candidate;  // to be listed first
    std::string api_host;                  // under which the client reached the API; may be empty
    std::string codec;                     // of the video, as in SDP; empty: any
    media::TrackChoice tracks;             // players only
    std::string rendition;                 // players only; empty: by the link
    bool dtls = true;                      // false is honoured only where the server itself permits sending without SRTP
    std::string ufrag;                     // requested by the client for our side; empty: generated
    std::string pwd;
};

struct Opened {
    std::string answer;
    std::string session;  // "ours:theirs"
    std::string token;
    // Set: no session was opened, and the client is to be sent there.
    std::optional<Redirect> elsewhere{};
};

// Opens a session in another process that serves the same streams, if only that one can serve the stream.
class RemoteSessionOpener {
public:
    // None: no other one has the stream so. Errors as SessionOpener::open.
    virtual Result<std::optional<Opened>> open(const OfferRequest& offered, io::Deadline deadline) = 0;

protected:
    ~RemoteSessionOpener() = default;
};

class SessionOpener {
    struct Private {};

public:
    // For names in the API's address, which the client has chosen, so that a slow DNS server delays no client for long.
    static constexpr std::chrono::seconds kResolveLimit{2};
    // The machine's addresses are listed no more often than this, for any number of clients: each listing is a netlink exchange
    // with the kernel.
    static constexpr std::chrono::seconds kDevicesAge{1};
    static constexpr std::size_t kUfragBytes = 8;
    static constexpr std::size_t kPwdBytes = 32;

    // Errc::system. The context outlives the opener, and the opener the sessions.
    static Result<std::unique_ptr<SessionOpener>> create(Context& context);
    SessionOpener(Private, Context& context, std::unique_ptr<engine::dtls::Certificate> certificate,
                  std::unique_ptr<engine::dtls::Context> dtls, std::string fingerprint);
    ~SessionOpener();
    SessionOpener(const SessionOpener&) = delete;
    SessionOpener& operator=(const SessionOpener&) = delete;

    // Errc::malformed and Errc::unsupported name the faulty line of the offer; Errc::denied, Errc::not_found, Errc::conflict and
    // Errc::limit as returned by admission and the settings.
    Result<Opened> open(OfferRequest offered, io::Deadline deadline);
    // Asked first for a player where a stream of WebRTC is not converted. They outlive this.
    void set_others(RemoteSessionOpener& others) { others_ = &others; }
    // Errc::not_found when the session does not exist, Errc::denied for another session's token.
    Result<void> close(std::string_view session, std::string_view token);
    Result<void> check(std::string_view session, std::string_view token) const;

    const engine::dtls::Context& dtls() const { return *dtls_; }
    const std::string& fingerprint() const { return fingerprint_; }
    // The candidates of an answer for a client that reached the API under this host.
    std::vector<wire::sdp::Candidate> candidates(const RtcServerOptions& options, const std::optional<HostAndPort>& asked,
                                                 const std::string& api_host, io::Deadline deadline) const;
    // Cache of clients' names, including failures.
    const io::NameCache& names() const { return names_; }
    // Port of the TCP listener; 0 for none.
    void set_tcp_port(std::uint16_t port) { tcp_port_ = port; }
    // Whether handshakes are done in a worker thread; by default if there is a processor for it beside the loop's.
    void set_handshake_thread(bool on) { has_handshake_thread_ = on; }
    bool has_handshake_thread() const { return has_handshake_thread_; }

private:
    struct Opening;

    template <class Session>
    Result<Opened> admit(Opening& opening, io::Deadline deadline);
    Result<std::optional<Opened>> open_elsewhere(const OfferRequest& offered, io::Deadline deadline) const;
    Result<SessionPeer*> find(std::string_view session, std::string_view token) const;
    const std::vector<std::string>& device_addresses() const;
    std::vector<std::string> addresses_of(const std::string& name, io::Deadline deadline) const;

    Context& context_;
    RemoteSessionOpener* others_ = nullptr;
    std::unique_ptr<engine::dtls::Certificate> certificate_;
    std::unique_ptr<engine::dtls::Context> dtls_;
    std::string fingerprint_;
    std::uint16_t tcp_port_ = 0;
    bool has_handshake_thread_;
    struct Devices {
        std::vector<std::string> addresses;
        std::optional<TimePoint> read;
    };
    mutable Devices devices_;
    mutable io::NameCache names_;
};

}  // namespace live::session::rtc
