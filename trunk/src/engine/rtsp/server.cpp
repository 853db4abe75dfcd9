#include "engine/rtsp/server.hpp"

#include <algorithm>

#include "base/check.hpp"
#include "base/text/ascii.hpp"

namespace live::engine::rtsp {

using wire::rtsp::InterleavedFrame;
using wire::rtsp::Message;
using wire::rtsp::NumberPair;
using wire::rtsp::Transport;
namespace status = wire::rtsp::status;

namespace {

constexpr std::string_view kMethods =
    "OPTIONS, DESCRIBE, ANNOUNCE, SETUP, PLAY, RECORD, PAUSE, GET_PARAMETER, SET_PARAMETER, TEARDOWN";
constexpr std::string_view kSdp = "application/sdp";
constexpr std::size_t kSequenceBytesMax = 32;
constexpr unsigned kChannelsMax = 256;

std::string_view without_query(std::string_view url) { return url.substr(0, url.find('?')); }

// Some clients end the URL of the stream with a slash, others do not.
std::string_view without_slash(std::string_view url) { return url.ends_with('/') ? url.substr(0, url.size() - 1) : url; }

bool are_apart(const NumberPair& a, const NumberPair& b) {
    return a.rtp != b.rtp && a.rtp != b.rtcp && a.rtcp != b.rtp && a.rtcp != b.rtcp;
}

int status_of(Errc code) {
    return code == Errc::unsupported ? status::kVersion : code == Errc::limit ? status::kTooLarge : status::kBadRequest;
}

}  // namespace

Result<std::optional<Event>> Server::poll_event() {
    while (question_ == Question::none) {
        auto item = reader_.next();
        if (!item.ok()) {
            sequence_.clear();
            send(response(status_of(item.code())));
            return std::move(item).error();
        }
        if (!*item)
            break;
        std::optional<Event> event;
        if (const auto* frame = std::get_if<InterleavedFrame>(&**item))
            event = packet_of(*frame);
        else if (const Message& message = std::get<Message>(**item); message.is_request())
            event = handle(message);
        if (event)
            return event;
    }
    reader_.keep_rest();
    return std::optional<Event>();
}

std::optional<GotPacket> Server::packet_of(const InterleavedFrame& frame) const {
    for (std::size_t i = 0; i < tracks_.size() && !frame.payload.empty(); ++i) {
        const auto& transport = tracks_[i].transport;
        if (!transport || !transport->interleaved)
            continue;
        if (frame.channel == transport->interleaved->rtp || frame.channel == transport->interleaved->rtcp)
            return GotPacket{i, frame.channel == transport->interleaved->rtcp, frame.payload};
    }
    return std::nullopt;
}

std::optional<Event> Server::handle(const Message& request) {
    sequence_ = std::string(request.find("CSeq").value_or("").substr(0, kSequenceBytesMax));
    if (request.find("Require")) {
        send(response(status::kUnsupportedOption));
        return std::nullopt;
    }
    if (const auto session = request.find("Session")) {
        const std::string_view id = ascii::trimmed(session->substr(0, session->find(';')), " \t");
        if (!has_transport() || id != options_.session_id) {
            send(response(status::kSessionNotFound));
            return std::nullopt;
        }
    }
    if (request.method == "OPTIONS") {
        Message options = response(status::kOk);
        options.headers.emplace_back("Public", kMethods);
        send(std::move(options));
        return std::nullopt;
    }
    return handle_stream_request(request);
}

std::optional<Event> Server::handle_stream_request(const Message& request) {
    const std::string_view method = request.method;
    if (method == "DESCRIBE")
        return handle_describe(request);
    if (method == "ANNOUNCE")
        return handle_announce(request);
    if (method == "SETUP")
        return handle_set_up(request);
    if (method == "PLAY")
        return handle_start(Role::player, Question::play);
    if (method == "RECORD")
        return handle_start(Role::publisher, Question::record);
    if (method == "PAUSE")
        return handle_pause();
    if (method == "TEARDOWN") {
        if (!has_transport()) {
            send(response(status::kWrongState));
            return std::nullopt;
        }
        send(response(status::kOk));
        return TornDown();
    }
    const bool is_parameter = method == "GET_PARAMETER" || method == "SET_PARAMETER";
    send(response(is_parameter ? status::kOk : status::kNotImplemented));
    return std::nullopt;
}

std::optional<Event> Server::handle_describe(const Message& request) {
    if (has_transport() || role_ == Role::publisher) {
        send(response(status::kWrongState));
        return std::nullopt;
    }
    const std::string accepted = ascii::lowered(request.find("Accept").value_or(kSdp));
    if (accepted.find(kSdp) == std::string::npos && accepted.find("*/*") == std::string::npos) {
        send(response(status::kNotAcceptable));
        return std::nullopt;
    }
    url_ = without_slash(request.url);
    ask(Question::describe);
    return WantsToDescribe{url_, std::string(request.find("Authorization").value_or(""))};
}

std::optional<Event> Server::handle_announce(const Message& request) {
    if (has_transport() || role_ == Role::player) {
        send(response(status::kWrongState));
        return std::nullopt;
    }
    const std::string_view type = request.find("Content-Type").value_or("");
    if (!ascii::are_same(ascii::trimmed(type.substr(0, type.find(';')), " \t"), kSdp)) {
        send(response(status::kUnsupportedMedia));
        return std::nullopt;
    }
    auto description = wire::rtsp::parse_description(request.body);
    if (!description.ok()) {
        send(response(description.code() == Errc::limit ? status::kTooLarge : status::kBadRequest));
        return std::nullopt;
    }
    url_ = without_slash(request.url);
    tracks_.clear();
    for (const wire::rtsp::Media& media : description->media)
        tracks_.push_back({media.control, std::nullopt});
    ask(Question::announce);
    return WantsToAnnounce{url_, *std::move(description), std::string(request.find("Authorization").value_or(""))};
}

// The URL of an announced track is its control, absolute or behind the URL of the stream; that of a played one is ours.
std::optional<std::size_t> Server::find_track_below(std::string_view stream, std::string_view url) const {
    for (std::size_t i = 0; role_ == Role::publisher && i < tracks_.size(); ++i) {
        const std::string_view control = tracks_[i].control;
        if (!control.empty() && control != "*" && (url == control || url.ends_with("/" + std::string(control))))
            return i;
    }
    const auto track = wire::rtsp::track_of_control(url.starts_with(stream) ? url.substr(stream.size()) : url);
    if (!track && tracks_.size() == 1 && without_slash(url) == stream)
        return 0;
    return track;
}

// Some clients write the track behind the query of the stream, others in front of it.
std::optional<std::size_t> Server::find_track(std::string_view url) const {
    const auto track = find_track_below(url_, url);
    return track ? track : find_track_below(without_query(url_), without_query(url));
}

bool Server::fits(const Transport& transport) const {
    if (transport.is_multicast || transport.is_secure)
        return false;
    if (transport.mode && (*transport.mode == Transport::Mode::record) != (role_ == Role::publisher))
        return false;
    if (transport.lower == Transport::Lower::udp && (!options_.allows_udp || !transport.client_port))
        return false;
    // One connection has one way for all of its tracks.
    return std::ranges::all_of(tracks_,
                               [&](const Track& track) { return !track.transport || track.transport->lower == transport.lower; });
}

std::optional<Transport> Server::choose(std::string_view header) const {
    const auto offered = wire::rtsp::parse_transports(header);
    if (!offered.ok())
        return std::nullopt;
    const auto found = std::ranges::find_if(*offered, [this](const Transport& transport) { return fits(transport); });
    if (found == offered->end())
        return std::nullopt;
    Transport chosen;
    chosen.lower = found->lower;
    chosen.client_port = found->lower == Transport::Lower::udp ? found->client_port : std::nullopt;
    if (found->lower == Transport::Lower::tcp)
        chosen.interleaved = free_channels(found->interleaved);
    if (role_ == Role::publisher)
        chosen.mode = Transport::Mode::record;
    return chosen;
}

// Some clients ask for the same channels twice.
NumberPair Server::free_channels(std::optional<NumberPair> wanted) const {
    const auto is_free = [this](const NumberPair& pair) {
        return std::ranges::all_of(tracks_, [&](const Track& track) {
            return !track.transport || !track.transport->interleaved || are_apart(*track.transport->interleaved, pair);
        });
    };
    if (wanted && wanted->rtp != wanted->rtcp && wanted->rtp < kChannelsMax && wanted->rtcp < kChannelsMax && is_free(*wanted))
        return *wanted;
    NumberPair pair{0, 1};
    while (!is_free(pair))
        pair = {static_cast<std::uint16_t>(pair.rtp + 2), static_cast<std::uint16_t>(pair.rtcp + 2)};
    return pair;
}

std::optional<Event> Server::handle_set_up(const Message& request) {
    const auto refused = [this](int status) {
        send(response(status));
        return std::nullopt;
    };
    if (role_ == Role::none || state_ == State::active)
        return refused(status::kWrongState);
    const auto track = find_track(request.url);
    if (!track)
        return refused(status::kAggregateNotAllowed);
    if (*track >= tracks_.size())
        return refused(status::kNotFound);
    // A client may choose another transport for a track.
    tracks_[*track].transport.reset();
    auto transport = choose(request.find("Transport").value_or(""));
    if (!transport)
        return refused(status::kUnsupportedTransport);
    set_up_track_ = *track;
    ask(Question::set_up);
    return WantsToSetUp{*track, *std::move(transport)};
}

std::optional<Event> Server::handle_start(Role role, Question question) {
    if (role_ != role || !has_transport()) {
        send(response(status::kWrongState));
        return std::nullopt;
    }
    if (state_ == State::active) {
        // Some clients use PLAY as a keep-alive.
        send(response(status::kOk));
        return std::nullopt;
    }
    ask(question);
    return role == Role::player ? Event(WantsToPlay()) : Event(WantsToRecord());
}

std::optional<Event> Server::handle_pause() {
    if (state_ != State::active) {
        send(response(status::kWrongState));
        return std::nullopt;
    }
    state_ = State::ready;
    send(response(status::kOk));
    return Paused();
}

bool Server::has_transport() const {
    return std::ranges::any_of(tracks_, [](const Track& track) { return track.transport.has_value(); });
}

const Transport* Server::transport(std::size_t track) const {
    return track < tracks_.size() && tracks_[track].transport ? &*tracks_[track].transport : nullptr;
}

void Server::close_question(Question question) {
    CHECK(question_ == question);
    question_ = Question::none;
}

void Server::refuse(int status, std::string_view why) {
    CHECK(question_ != Question::none);
    question_ = Question::none;
    Message message = response(status);
    if (!why.empty())
        message.reason.append(": ").append(why);
    send(std::move(message));
}

void Server::challenge(std::span<const std::string> values) {
    CHECK(question_ == Question::describe || question_ == Question::announce);
    question_ = Question::none;
    Message message = response(status::kUnauthorized);
    for (const std::string& value : values)
        message.headers.emplace_back("WWW-Authenticate", value);
    send(std::move(message));
}

void Server::accept_describe(std::string_view description, std::size_t tracks) {
    close_question(Question::describe);
    role_ = Role::player;
    tracks_.assign(tracks, {});
    Message message = response(status::kOk);
    message.headers.emplace_back("Content-Base", url_ + "/");
    message.headers.emplace_back("Content-Type", kSdp);
    message.body = description;
    send(std::move(message));
}

void Server::accept_announce() {
    close_question(Question::announce);
    role_ = Role::publisher;
    send(response(status::kOk));
}

void Server::accept_set_up(const Transport& transport) {
    close_question(Question::set_up);
    tracks_[set_up_track_].transport = transport;
    state_ = State::ready;
    Message message = response(status::kOk);
    message.headers.emplace_back("Transport", wire::rtsp::write(transport));
    send(std::move(message));
}

void Server::accept_play(std::span<const TrackStart> starts) {
    close_question(Question::play);
    state_ = State::active;
    Message message = response(status::kOk);
    message.headers.emplace_back("Range", "npt=now-");
    std::string info;
    for (const TrackStart& start : starts) {
        info.append(info.empty() ? "" : ",").append("url=" + url_ + "/trackID=" + std::to_string(start.track));
        if (start.sequence)
            info.append(";seq=" + std::to_string(*start.sequence));
        info.append(";rtptime=" + std::to_string(start.timestamp));
    }
    if (!info.empty())
        message.headers.emplace_back("RTP-Info", std::move(info));
    send(std::move(message));
}

void Server::accept_record() {
    close_question(Question::record);
    state_ = State::active;
    send(response(status::kOk));
}

Message Server::response(int status) const {
    Message message;
    message.status = status;
    message.reason = wire::rtsp::reason_of(status);
    if (!sequence_.empty())
        message.headers.emplace_back("CSeq", sequence_);
    message.headers.emplace_back("Server", options_.product);
    if (has_transport() && status < status::kBadRequest)
        message.headers.emplace_back("Session", options_.session_id + ";timeout=" + std::to_string(options_.timeout.count()));
    return message;
}

void Server::send(Message message) { output_ += wire::rtsp::write(message); }

}  // namespace live::engine::rtsp
