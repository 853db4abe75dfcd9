// SessionOpener: lets sessions in and out, whatever the API that asks: from an offer to an answer, and from a token to the end.
// Everything that may take time (names, callbacks) is asked here, in the fiber of the HTTP request; the session that comes of it
// has none.
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
#include "io/name_cache.hpp"
#include "session/rtc/candidates.hpp"
#include "session/rtc/context.hpp"
#include "wire/sdp/answer.hpp"

namespace live::session::rtc {

class SessionPeer;

// What somebody asks for.
struct OfferRequest {
    wire::sdp::Purpose purpose = wire::sdp::Purpose::publish;
    ClientRequest client;  // names have passed the allow-list; its id is given here
    std::string offer;
    std::optional<HostAndPort> candidate;  // to be named first
    std::string api_host;                  // by which the client reached the API; may be empty
    std::string codec;                     // of the video, as in SDP; empty: whatever fits
    media::TrackChoice tracks;             // of a player
    bool dtls = true;                      // false is obeyed where the server itself sends without SRTP
    std::string ufrag;                     // ours, as the client wants it; empty: made up
    std::string pwd;
};

struct Opened {
    std::string answer;
    std::string session;  // "ours:theirs"
    std::string token;
};

class SessionOpener {
    struct Private {};

public:
    // For names in the API's address, which the client has chosen, so that a slow DNS server delays nobody for long.
    static constexpr std::chrono::seconds kResolveLimit{2};
    // The machine's addresses are looked at no more often, however many come: that is a conversation with the kernel.
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

    // Errc::malformed and Errc::unsupported say which line of the offer is wrong; Errc::denied, Errc::not_found, Errc::conflict
    // and Errc::limit as admission and the settings have it.
    Result<Opened> open(OfferRequest offered, io::Deadline deadline);
    // Errc::not_found when there is no such session, Errc::denied for another's token.
    Result<void> close(std::string_view session, std::string_view token);
    Result<void> check(std::string_view session, std::string_view token) const;

    const engine::dtls::Context& dtls() const { return *dtls_; }
    const std::string& fingerprint() const { return fingerprint_; }
    // What an answer would name, for a client that reached the API by this host.
    std::vector<wire::sdp::Candidate> candidates(const RtcServerOptions& options, const std::optional<HostAndPort>& asked,
                                                 const std::string& api_host, io::Deadline deadline) const;
    // Names of clients, and what became of them.
    const io::NameCache& names() const { return names_; }
    // Where the TCP port listens; 0 for nowhere.
    void set_tcp_port(std::uint16_t port) { tcp_port_ = port; }

private:
    struct Opening;

    template <class Session>
    Result<Opened> admit(Opening& opening, io::Deadline deadline);
    Result<SessionPeer*> find(std::string_view session, std::string_view token) const;
    const std::vector<std::string>& device_addresses() const;
    std::vector<std::string> addresses_of(const std::string& name, io::Deadline deadline) const;

    Context& context_;
    std::unique_ptr<engine::dtls::Certificate> certificate_;
    std::unique_ptr<engine::dtls::Context> dtls_;
    std::string fingerprint_;
    std::uint16_t tcp_port_ = 0;
    struct Devices {
        std::vector<std::string> addresses;
        std::optional<TimePoint> read;
    };
    mutable Devices devices_;
    mutable io::NameCache names_;
};

}  // namespace live::session::rtc
