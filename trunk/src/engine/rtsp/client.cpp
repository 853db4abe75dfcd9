#include "engine/rtsp/client.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/check.hpp"
#include "base/text/ascii.hpp"

namespace live::engine::rtsp {

using wire::rtsp::InterleavedFrame;
using wire::rtsp::Message;

namespace {

constexpr int kRedirectMin = 301;
constexpr int kRedirectMax = 307;
// The first nonce, a fresh one, and the other form of the URL in the digest.
constexpr int kChallengesMax = 3;

bool is_absolute(std::string_view url) { return url.find("://") != std::string_view::npos; }

wire::rtsp::NumberPair channels_to_ask(std::size_t index) {
    return {static_cast<std::uint16_t>(2 * index), static_cast<std::uint16_t>(2 * index + 1)};
}

// "rtsp://host:port" of an absolute URL.
std::string_view root_of(std::string_view url) { return url.substr(0, url.size() - std::min(path_of(url).size(), url.size())); }

}  // namespace

Client::Client(ClientOptions options)
    : options_(std::move(options)), credentials_(options_.user, options_.password), base_(options_.url) {}

void Client::start() { send(Step::options, "OPTIONS", options_.url); }

void Client::send(Step step, std::string_view method, const std::string& url, std::string_view transport) {
    pending_ = {step, std::string(method), url, std::string(transport), 0};
    send_pending();
}

// Some devices need CSeq first, then Session and Transport.
void Client::send_pending() {
    Message request;
    request.method = pending_.method;
    request.url = pending_.url;
    request.headers.emplace_back("CSeq", std::to_string(++sequence_));
    if (!session_.empty())
        request.headers.emplace_back("Session", session_);
    if (!pending_.transport.empty())
        request.headers.emplace_back("Transport", pending_.transport);
    if (pending_.step == Step::describe)
        request.headers.emplace_back("Accept", "application/sdp");
    if (pending_.step == Step::play)
        request.headers.emplace_back("Range", "npt=0.000-");
    if (auto answer = credentials_.answer(request.method, request.url, options_.client_nonce))
        request.headers.emplace_back("Authorization", *std::move(answer));
    request.headers.emplace_back("User-Agent", options_.product);
    output_ += wire::rtsp::write(request);
}

Result<std::optional<ClientEvent>> Client::poll_event(TimePoint now) {
    for (;;) {
        auto item = TRY(next_item());
        if (!item) {
            reader_.keep_rest();
            return std::optional<ClientEvent>();
        }
        if (const auto* frame = std::get_if<InterleavedFrame>(&*item)) {
            if (auto packet = packet_of(*frame))
                return std::optional<ClientEvent>(*packet);
            continue;
        }
        const Message& message = std::get<Message>(*item);
        if (message.is_request()) {
            answer_request(message);
            continue;
        }
        if (auto event = TRY(handle_response(message, now)))
            return std::optional(std::move(event));
    }
}

std::optional<GotPacket> Client::poll_packet() {
    const auto frame = is_playing_ ? reader_.next_frame(channels_) : std::nullopt;
    return frame ? packet_of(*frame) : std::nullopt;
}

// The other side may send garbage between frames once it plays.
Result<std::optional<Client::MessageItem>> Client::next_item() {
    if (is_playing_ && !reader_.skip_garbage(channels_)) {
        if (reader_.garbage_bytes() > kGarbageBytesMax)
            return Error(Errc::malformed, "RTSP: more than a MiB that is neither a message nor a frame");
        return std::optional<MessageItem>();
    }
    return reader_.next();
}

std::optional<GotPacket> Client::packet_of(const InterleavedFrame& frame) const {
    if (frame.payload.empty() || !channels_.test(frame.channel))
        return std::nullopt;
    for (std::size_t i = 0; i < transports_.size(); ++i) {
        const auto channels = transports_[i] ? transports_[i]->interleaved : std::nullopt;
        if (channels && (frame.channel == channels->rtp || frame.channel == channels->rtcp))
            return GotPacket{i, frame.channel == channels->rtcp, frame.payload};
    }
    return std::nullopt;
}

// Servers ask whether the client is still there.
void Client::answer_request(const Message& request) {
    Message response;
    response.status = wire::rtsp::status::kOk;
    response.reason = wire::rtsp::reason_of(response.status);
    if (const auto sequence = request.find("CSeq"))
        response.headers.emplace_back("CSeq", *sequence);
    output_ += wire::rtsp::write(response);
}

Result<std::optional<ClientEvent>> Client::handle_response(const Message& response, TimePoint now) {
    const auto nothing = std::optional<ClientEvent>();
    // Ignores the late answer to an earlier keep-alive.
    if (const auto sequence = response.find("CSeq"); sequence && *sequence != std::to_string(sequence_))
        return nothing;
    if (response.status == wire::rtsp::status::kUnauthorized) {
        TRY(handle_challenge(response));
        return nothing;
    }
    if (response.status >= kRedirectMin && response.status <= kRedirectMax) {
        const auto location = response.find("Location");
        if (!location || pending_.step == Step::keep_alive)
            return Error(Errc::unsupported, "RTSP: a redirect without a location");
        return std::optional<ClientEvent>(Redirected{std::string(*location)});
    }
    const bool is_ok = response.status >= wire::rtsp::status::kOk && response.status < kRedirectMin;
    if (!is_ok && handle_refusal(response.status))
        return nothing;
    // Devices without OPTIONS or keep-alives play nevertheless.
    if (!is_ok && pending_.step != Step::options && pending_.step != Step::keep_alive)
        return Error(response.status == wire::rtsp::status::kNotFound ? Errc::not_found : Errc::unsupported,
                     "RTSP: " + pending_.method + " is answered with " + std::to_string(response.status) + " " + response.reason);
    note_session(response);
    switch (pending_.step) {
        case Step::options:
            has_get_parameter_ = response.find("Public").value_or("").find("GET_PARAMETER") != std::string_view::npos;
            send(Step::describe, "DESCRIBE", options_.url);
            return nothing;
        case Step::describe: return handle_description(response);
        case Step::set_up: TRY(handle_set_up(response)); return nothing;
        case Step::play:
            pending_.step = Step::playing;
            is_playing_ = true;
            keep_alive_at_ = now + timeout_ * 4 / 5;
            return std::optional<ClientEvent>(Playing());
        default: pending_.step = Step::playing; return nothing;
    }
}

// Asks again in another way, if there is one.
bool Client::handle_refusal(int status) {
    if (pending_.step != Step::set_up)
        return false;
    // The Content-Base was wrong.
    const bool is_unknown = status == wire::rtsp::status::kNotFound || status == wire::rtsp::status::kBadRequest;
    if (is_unknown && next_track_ == 0 && base_ != options_.url) {
        base_ = options_.url;
    } else if (next_track_ == 0 && !lower_.client_ports.empty() && lower_.or_tcp) {
        lower_.client_ports.clear();
    } else {
        return false;
    }
    set_up_next();
    return true;
}

Result<void> Client::handle_challenge(const Message& response) {
    std::vector<wire::rtsp::Challenge> challenges;
    for (const auto& [name, value] : response.headers) {
        if (!ascii::are_same(name, "WWW-Authenticate"))
            continue;
        for (wire::rtsp::Challenge& one : TRY(wire::rtsp::parse_challenges(value)))
            challenges.push_back(std::move(one));
    }
    if (credentials_.empty())
        return Error(Errc::denied, "RTSP: the other side requires a user and a password");
    const bool can_answer = credentials_.accept(challenges);
    const int most = credentials_.is_digest() ? kChallengesMax : 1;
    if (++pending_.challenges > most || !can_answer)
        return Error(Errc::denied, "RTSP: the other side refuses the user or the password");
    if (pending_.challenges > 1 && !credentials_.is_stale())
        credentials_.use_path();
    send_pending();
    return {};
}

Result<std::optional<ClientEvent>> Client::handle_description(const Message& response) {
    description_ = TRY(wire::rtsp::parse_description(response.body));
    // A broken Content-Base would lead every request to another place.
    for (const char* name : {"Content-Base", "Content-Location"})
        if (const auto base = response.find(name); base && is_absolute(*base)) {
            // The host of the connection stays: cameras write private addresses.
            base_ = std::string(root_of(options_.url)).append(path_of(*base));
            break;
        }
    transports_.assign(description_.media.size(), std::nullopt);
    return std::optional<ClientEvent>(Described{description_});
}

std::string Client::control_url(std::size_t track) const {
    const std::string& control = description_.media[track].control;
    if (control.empty() || control == "*")
        return base_;
    if (is_absolute(control))
        return std::string(root_of(options_.url)).append(path_of(control));
    if (control.starts_with('/'))
        return std::string(root_of(options_.url)).append(control);
    return base_ + (base_.ends_with('/') ? "" : "/") + control;
}

void Client::play_tracks(std::vector<std::size_t> tracks, Lower lower) {
    CHECK(!tracks.empty() && tracks.back() < description_.media.size());
    CHECK(lower.client_ports.empty() || lower.client_ports.size() == tracks.size());
    tracks_ = std::move(tracks);
    lower_ = std::move(lower);
    next_track_ = 0;
    set_up_next();
}

void Client::set_up_next() {
    const bool is_tcp = lower_.client_ports.empty();
    const auto pair = is_tcp ? channels_to_ask(next_track_) : lower_.client_ports[next_track_];
    const std::string numbers = std::to_string(pair.rtp) + "-" + std::to_string(pair.rtcp);
    send(Step::set_up, "SETUP", control_url(tracks_[next_track_]),
         (is_tcp ? "RTP/AVP/TCP;unicast;interleaved=" : "RTP/AVP;unicast;client_port=") + numbers);
}

Result<void> Client::handle_set_up(const Message& response) {
    using Transport = wire::rtsp::Transport;
    const auto transports = TRY(wire::rtsp::parse_transports(response.find("Transport").value_or("")));
    if (transports.empty())
        return Error(Errc::unsupported, "RTSP: the other side names no transport of RTP");
    Transport transport = transports.front();
    // Some devices leave "/TCP" out.
    if (transport.interleaved)
        transport.lower = Transport::Lower::tcp;
    if (transport.lower == Transport::Lower::udp && (lower_.client_ports.empty() || transport.is_multicast))
        return Error(Errc::unsupported, "RTSP: the other side has no media in the connection");
    if (transport.lower == Transport::Lower::tcp) {
        if (!transport.interleaved)
            transport.interleaved = channels_to_ask(next_track_);
        channels_.set(transport.interleaved->rtp & 0xFFU);
        channels_.set(transport.interleaved->rtcp & 0xFFU);
    }
    transports_[tracks_[next_track_]] = std::move(transport);
    if (++next_track_ < tracks_.size())
        set_up_next();
    else
        send(Step::play, "PLAY",
             description_.control.empty() || description_.control == "*" || !is_absolute(description_.control)
                 ? base_
                 : std::string(root_of(options_.url)).append(path_of(description_.control)));
    return {};
}

void Client::note_session(const Message& response) {
    const auto header = response.find("Session");
    if (!header)
        return;
    const std::size_t semicolon = header->find(';');
    session_ = ascii::trimmed(header->substr(0, semicolon), " \t");
    const std::size_t at = header->find("timeout=");
    if (at == std::string_view::npos)
        return;
    const std::string_view digits = header->substr(at + std::string_view("timeout=").size());
    unsigned seconds = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
    constexpr unsigned kTimeoutMax = 86'400;
    if (failure == std::errc() && seconds > 0)
        timeout_ = std::chrono::seconds(std::min(seconds, kTimeoutMax));
}

// A keep-alive that is not answered means nothing while media arrives.
void Client::handle_timeout(TimePoint now) {
    if (!keep_alive_at_ || now < *keep_alive_at_)
        return;
    keep_alive_at_ = now + std::max<Duration>(timeout_ * 4 / 5, 1s);
    send(Step::keep_alive, has_get_parameter_ ? "GET_PARAMETER" : "OPTIONS", base_);
}

void Client::tear_down() {
    keep_alive_at_.reset();
    if (!session_.empty())
        send(Step::keep_alive, "TEARDOWN", base_);
}

}  // namespace live::engine::rtsp
