#include "session/rtc/session_opener.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/net/ip_network.hpp"
#include "base/text/ascii.hpp"
#include "base/text/secret.hpp"
#include "base/version.hpp"
#include "engine/srtp/session.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/net/network_interfaces.hpp"
#include "io/net/resolve.hpp"
#include "session/rtc/play_session.hpp"
#include "session/rtc/publish_session.hpp"
#include "wire/http/target.hpp"

namespace live::session::rtc {

namespace sdp = wire::sdp;

namespace {

constexpr const char* kAnyVideo[] = {"H264", "VP8", "VP9", "AV1", "H265"};

// Never 0, which means none.
std::uint32_t random_ssrc() { return static_cast<std::uint32_t>(random_number()) | 1U; }

// RFC 8839, 5.4: letters, digits, '+' and '/'.
bool is_ice_text(std::string_view text, std::size_t bytes_min) {
    constexpr std::size_t kBytesMax = 32;
    return text.size() >= bytes_min && text.size() <= kBytesMax && std::ranges::all_of(text, [](char letter) {
               return ascii::is_alphanumeric(letter) || letter == '+' || letter == '/';
           });
}

Result<void> check_ice(const OfferRequest& offered) {
    if (!offered.ufrag.empty() && !is_ice_text(offered.ufrag, 4))
        return Error(Errc::malformed, "ice-ufrag is 4 to 32 letters and digits");
    if (!offered.pwd.empty() && !is_ice_text(offered.pwd, 22))
        return Error(Errc::malformed, "ice-pwd is 22 to 32 letters and digits");
    return {};
}

sdp::Terms terms_for(const OfferRequest& offered, const RtcOptions& options) {
    sdp::Terms terms;
    terms.purpose = offered.purpose;
    terms.video = offered.codec.empty() ? std::vector<std::string>(std::begin(kAnyVideo), std::end(kAnyVideo))
                                        : std::vector<std::string>{offered.codec};
    terms.role_for_actpass = options.dtls_role == "active" ? sdp::SetupRole::active : sdp::SetupRole::passive;
    const bool publishes = offered.purpose == sdp::Purpose::publish;
    terms.repair = publishes || options.nack_prefer_rtx ? sdp::Repair::rtx : sdp::Repair::resend;
    terms.nack = options.nack ? sdp::Feedback::on : sdp::Feedback::off;
    terms.transport_wide = options.twcc ? sdp::Feedback::on : sdp::Feedback::off;
    return terms;
}

// A player gets what the stream has. Unknown tracks are not restricted.
void narrow(sdp::Terms& terms, const PlaySession& session) {
    const auto fit = [&](MediaKind kind, std::vector<std::string>& names) {
        if (const auto* track = session.track(kind))
            names = {track->codec};
        else if (session.knows_tracks())
            names.clear();
    };
    fit(MediaKind::audio, terms.audio);
    fit(MediaKind::video, terms.video);
}
void narrow(sdp::Terms&, const PublishSession&) {}

void choose_tracks(PlaySession& session, const OfferRequest& offered) { session.choose(offered.tracks, offered.rendition); }
void choose_tracks(PublishSession&, const OfferRequest&) {}

engine::webrtc::SessionOptions engine_options(const OfferRequest& offered, const RtcOptions& options,
                                              const RtcServerOptions& server, const sdp::Agreement& agreement,
                                              const sdp::Description& offer) {
    engine::webrtc::SessionOptions made;
    made.ice.timeout = std::max<std::chrono::milliseconds>(options.stun_timeout, 1s);
    made.ice.is_strict = options.stun_strict_check;
    // A client cannot switch off the handshake that the operator requires: it proves that the receiver at an address expects the
    // media.
    made.encrypt = server.encrypt;
    made.dtls_on = server.encrypt || offered.dtls;
    made.agreement = agreement;
    made.offer = &offer;
    made.audio_ssrc = random_ssrc();
    made.audio_rtx_ssrc = random_ssrc();
    made.video_ssrc = random_ssrc();
    made.video_rtx_ssrc = random_ssrc();
    made.cname = random_id(16);
    made.nack = options.nack;
    made.twcc = options.twcc;
    made.drop_payload_type = static_cast<std::uint8_t>(options.drop_for_pt);
    return made;
}

// RFC 8830, 2: a=msid has tokens, and a=ssrc repeats them.
std::string in_ascii(const std::string& name) {
    const bool is_plain = std::ranges::all_of(name, [](char letter) { return letter > ' ' && letter <= '~' && letter != '"'; });
    return is_plain ? name : wire::http::percent_encode_path(name);
}

sdp::Local local_of(const engine::webrtc::SessionOptions& options, sdp::Purpose purpose, const ClientRequest& client) {
    sdp::Local local;
    local.product = kProduct;
    local.session_id = random_ssrc();
    local.session_name = purpose == sdp::Purpose::publish ? "live-publish" : "live-play";
    local.stream = in_ascii(client.app) + "/" + in_ascii(client.stream);
    local.ufrag = options.ice.local_ufrag;
    local.pwd = options.ice.local_pwd;
    local.cname = options.cname;
    local.audio = {options.audio_ssrc, options.audio_rtx_ssrc, "audio-" + in_ascii(client.stream)};
    local.video = {options.video_ssrc, options.video_rtx_ssrc, "video-" + in_ascii(client.stream)};
    return local;
}

bool is_bound_to_all(const Endpoint& endpoint) { return endpoint.ip == "0.0.0.0" || endpoint.ip == "::"; }

// keep_original_ssrc: for clients that identify streams by SSRC end to end.
void keep_ssrcs(engine::webrtc::SessionOptions& options, const PlaySession& session) {
    for (const auto& [kind, ours] :
         {std::pair(MediaKind::audio, &options.audio_ssrc), std::pair(MediaKind::video, &options.video_ssrc)})
        if (const std::uint32_t theirs = session.origin_ssrc(kind); theirs != 0)
            *ours = theirs;
}
void keep_ssrcs(engine::webrtc::SessionOptions&, const PublishSession&) {}

void begin_media(PublishSession& session, const sdp::Agreement& agreement, const sdp::Description& offer) {
    session.publish(agreement, offer);
}
void begin_media(PlaySession& session, const sdp::Agreement& agreement, const sdp::Description&) { session.play(agreement); }

}  // namespace

struct SessionOpener::Opening {
    ConnectionLimits::Place place;
    OfferRequest offered;
    RtcOptions options;
    RtcServerOptions server;
    sdp::Description offer;
};

SessionOpener::SessionOpener(Private, Context& context, std::unique_ptr<engine::dtls::Certificate> certificate,
                             std::unique_ptr<engine::dtls::Context> dtls, std::string fingerprint)
    : context_(context),
      certificate_(std::move(certificate)),
      dtls_(std::move(dtls)),
      fingerprint_(std::move(fingerprint)),
      has_handshake_thread_(io::usable_processors() > 1) {}

SessionOpener::~SessionOpener() = default;

Result<std::unique_ptr<SessionOpener>> SessionOpener::create(Context& context) {
    using engine::dtls::Certificate;
    auto certificate =
        TRY(Certificate::make(context.vhosts.server().ecdsa ? Certificate::Key::ecdsa_p256 : Certificate::Key::rsa_2048));
    auto dtls = TRY(engine::dtls::Context::create(*certificate));
    TRY(engine::srtp::Session::begin_library());
    auto fingerprint = TRY(certificate->fingerprint());
    return std::make_unique<SessionOpener>(Private{}, context, std::move(certificate), std::move(dtls), std::move(fingerprint));
}

const std::vector<std::string>& SessionOpener::device_addresses() const {
    const TimePoint now = io::now();
    if (devices_.read && now - *devices_.read < kDevicesAge)
        return devices_.addresses;
    if (const auto all = io::interface_addresses(); all.ok())
        devices_.addresses = io::device_addresses(*all);
    devices_.read = now;
    return devices_.addresses;
}

std::vector<sdp::Candidate> SessionOpener::candidates(const RtcServerOptions& options, const std::optional<HostAndPort>& asked,
                                                      const std::string& api_host, io::Deadline deadline) const {
    CandidateInput input{.options = options,
                         .asked = asked,
                         .api_host = {},
                         .api_addresses = {},
                         .device_addresses = {},
                         .bound_addresses = {},
                         .udp_port = 0,
                         .tcp_port = tcp_port_};
    // Client input may contain anything; a host that cannot appear in an answer is ignored.
    if (const auto host = parse_host(api_host); host.ok() && !host->port)
        input.api_host = host->host;
    bool is_everywhere = false;
    for (const auto& socket : context_.port.sockets()) {
        input.udp_port = socket->endpoint().port;
        is_everywhere = is_everywhere || is_bound_to_all(socket->endpoint());
        input.bound_addresses.push_back(socket->endpoint().ip);
    }
    if (is_everywhere || input.bound_addresses.empty()) {
        input.bound_addresses.clear();
        input.device_addresses = device_addresses();
    }
    const bool is_name = !input.api_host.empty() && !parse_ip(input.api_host).ok() && !is_loopback_host(input.api_host);
    if (is_name && options.api_as_candidates && options.resolve_api_domain)
        input.api_addresses = addresses_of(input.api_host, deadline);
    return choose_candidates(input);
}

// Returns an empty result if the name cannot be resolved in time. Failures are cached, so that no client waits for the same
// name soon after.
std::vector<std::string> SessionOpener::addresses_of(const std::string& name, io::Deadline deadline) const {
    const auto known = names_.find(name, io::now());
    if (known && known->is_fresh)
        return known->ips;
    constexpr std::uint16_t kAnyPort = 1;
    const auto limit = deadline.sooner(io::Deadline::after(kResolveLimit));
    const auto found = io::resolve(name, kAnyPort, limit, io::Work::stranger);
    std::vector<std::string> ips;
    if (found.ok())
        for (const Endpoint& endpoint : *found)
            ips.push_back(endpoint.ip);
    // These errors say nothing about the name.
    const bool is_answer = found.ok() || (found.code() != Errc::cancelled && found.code() != Errc::limit);
    if (is_answer)
        names_.put(name, ips, io::now());
    return ips.empty() && known ? known->ips : ips;
}

// The place is taken there.
Result<std::optional<Opened>> SessionOpener::open_elsewhere(const OfferRequest& offered, io::Deadline deadline) const {
    if (others_ == nullptr || offered.purpose != sdp::Purpose::play)
        return std::optional<Opened>();
    const auto options = context_.vhosts.find(offered.client.vhost);
    return options.ok() && !options->rtc_to_rtmp ? others_->open(offered, deadline) : std::optional<Opened>();
}

Result<Opened> SessionOpener::open(OfferRequest offered, io::Deadline deadline) {
    using enum ConnectionLimits::Kind;
    if (auto opened = TRY(open_elsewhere(offered, deadline)))
        return *std::move(opened);
    Opening opening{.place = TRY(context_.places.take(half_open, offered.client.peer_ip, sizeof(Opening), io::now())),
                    .offered = {},
                    .options = {},
                    .server = {},
                    .offer = {}};
    TRY(check_ice(offered));
    opening.options = TRY(context_.vhosts.find(offered.client.vhost));
    opening.server = context_.vhosts.server();
    opening.offer = TRY(sdp::parse_description(offered.offer));
    TRY(context_.port.check_room());
    offered.client.id = random_id();
    const bool publishes = offered.purpose == sdp::Purpose::publish;
    offered.client.kind = publishes ? ClientKind::rtc_publish : ClientKind::rtc_play;
    opening.offered = std::move(offered);
    return publishes ? admit<PublishSession>(opening, deadline) : admit<PlaySession>(opening, deadline);
}

// Names are resolved only for admitted clients. Nothing suspends after that, so that nothing can change between a stream and its
// session.
template <class Session>
Result<Opened> SessionOpener::admit(Opening& opening, io::Deadline deadline) {
    const OfferRequest& offered = opening.offered;
    sdp::Terms terms = terms_for(offered, opening.options);
    // An offer without a usable codec is refused before admission.
    TRY(sdp::negotiate(opening.offer, terms));
    const std::string ufrag = offered.ufrag.empty() ? random_id(kUfragBytes) : offered.ufrag;
    if (context_.port.find(ufrag) != nullptr)
        return Error(Errc::conflict, "another session has this ice-ufrag");
    auto session = std::make_unique<Session>(context_, offered.client, opening.options, ufrag, random_id(kPwdBytes));
    session->take(std::move(opening.place));
    choose_tracks(*session, offered);
    if (const auto admitted = session->admit(deadline); !admitted.ok()) {
        session->entry().refuse(admitted.error());
        return Error(admitted.error());
    }
    if (auto elsewhere = session->take_redirect())
        return Opened{{}, {}, {}, std::move(elsewhere)};
    auto named = candidates(opening.server, offered.candidate, offered.api_host, deadline);
    if (named.empty())
        return Error(Errc::not_found, "the server has no port for WebRTC");
    narrow(terms, *session);
    const sdp::Agreement agreement = TRY(sdp::negotiate(opening.offer, terms));
    auto options = engine_options(offered, opening.options, opening.server, agreement, opening.offer);
    options.shared = &context_.port.shared();
    options.lends_handshake = has_handshake_thread_;
    if (opening.options.keep_original_ssrc)
        keep_ssrcs(options, *session);
    options.ice.local_ufrag = ufrag;
    options.ice.local_pwd = offered.pwd.empty() ? random_id(kPwdBytes) : offered.pwd;
    sdp::Local local = local_of(options, offered.purpose, offered.client);
    local.fingerprint = fingerprint_;
    local.candidates = std::move(named);
    TRY(session->begin(*dtls_, options));
    begin_media(*session, agreement, opening.offer);
    for (const Error& refused : agreement.refused)
        LOG_INFO(session->log(), "RTC: section answered with port 0: {}", refused.sentence());
    Opened opened{sdp::write_answer(opening.offer, agreement, local), session->session_id(), session->token(), {}};
    TRY(context_.port.add(std::move(session)));
    return opened;
}

Result<SessionPeer*> SessionOpener::find(std::string_view session, std::string_view token) const {
    auto* const peer = dynamic_cast<SessionPeer*>(context_.port.find(session.substr(0, session.find(':'))));
    if (peer == nullptr || peer->session_id() != session)
        return Error(Errc::not_found, "there is no such session");
    if (!same_secret(token, peer->token()))
        return Error(Errc::denied, "the token is not the one of this session");
    return peer;
}

Result<void> SessionOpener::close(std::string_view session, std::string_view token) {
    TRY(find(session, token))->end(Error(Errc::closed, "the client has ended the session"));
    return {};
}

Result<void> SessionOpener::check(std::string_view session, std::string_view token) const {
    TRY(find(session, token));
    return {};
}

}  // namespace live::session::rtc
