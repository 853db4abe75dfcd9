#include "engine/rtmp/server.hpp"

#include <algorithm>
#include <utility>

#include "wire/rtmp/aggregate.hpp"

namespace live::engine::rtmp {
namespace {

using wire::amf::Value;
using wire::rtmp::Message;
using wire::rtmp::MessageType;

constexpr std::uint32_t kPeerBandwidth = 2'500'000;

}  // namespace

Server::Server(ServerOptions options, std::uint64_t handshake_seed)
    : handshake_(std::make_unique<ServerHandshake>(handshake_seed)),
      identity_(std::make_unique<ServerIdentity>(std::move(options.identity))),
      message_bytes_max_(std::min<std::size_t>(options.message_bytes_max, wire::rtmp::kMessageLengthMax)) {
    set_reader_limits();
}

Result<void> Server::handle_bytes(TimePoint now, Bytes input) {
    if (phase_ == Phase::handshake) {
        if (!TRY(link_.shake_hands(*handshake_, now, input)))
            return {};
        handshake_form_ = handshake_->form();
        handshake_.reset();
        phase_ = Phase::before_connect;
    }
    if (is_waiting() || !rest_.empty())
        return keep(input);
    const std::size_t before = input.size();
    for (bool has_more = true; has_more && !is_waiting();) {
        auto message = TRY(link_.read(input));
        if (auto warning = link_.take_warning())
            events_.push(PeerWarning{std::move(*warning)});
        has_more = message.has_value();
        if (has_more)
            TRY(on_message(std::move(*message)));
        TRY(link_.check_output());
    }
    const std::size_t read = before - input.size();
    TRY(keep(input));
    link_.acknowledge(read);
    return {};
}

// Buffers the bytes received while a question is open.
Result<void> Server::keep(Bytes input) {
    if (input.size() > kWaitingBytesMax - rest_.size())
        return Error(Errc::limit,
                     "the peer sent more than " + std::to_string(kWaitingBytesMax) + " bytes without waiting for an answer");
    rest_.insert(rest_.end(), input.begin(), input.end());
    return {};
}

// Reads the bytes received while a question was open.
Result<void> Server::go_on() {
    const std::vector<std::uint8_t> waited = std::exchange(rest_, {});
    return handle_bytes({}, waited);
}

Result<void> Server::on_message(Message&& message) {
    switch (message.type) {
        case MessageType::audio:
        case MessageType::video:
        case MessageType::amf0_data:
        case MessageType::amf3_data:
            if (!stream_.is_publishing() || message.payload.empty())
                return {};
            if (message.type == MessageType::amf3_data) {
                message.payload = TRY(data_from_amf3(message.payload.bytes()));
                message.type = MessageType::amf0_data;
            }
            if (media_.capacity() == 0)
                media_.reserve(kMediaReserved);
            media_.push_back({message.type, message.timestamp_ms, std::move(message.payload)});
            return {};
        case MessageType::aggregate: return on_aggregate(std::move(message));
        case MessageType::amf0_command:
        case MessageType::amf3_command: return on_command(message);
        // Without control messages: shared objects and unknown types.
        default: return wire::rtmp::is_control(message.type) ? handle_control(message) : Result<void>();
    }
}

// Buffer lengths and other user control messages of a client are ignored.
Result<void> Server::handle_control(const Message& message) {
    TRY(link_.handle_control(message));
    return {};
}

Result<void> Server::on_aggregate(Message message) {
    if (!stream_.is_publishing())
        return {};
    wire::rtmp::AggregateReader parts(std::move(message));
    while (auto part = TRY(parts.next())) {
        const bool is_media = part->type == MessageType::audio || part->type == MessageType::video ||
                              part->type == MessageType::amf0_data || part->type == MessageType::amf3_data;
        if (is_media)
            TRY(on_message(std::move(*part)));
    }
    return {};
}

Result<void> Server::on_command(const Message& message) {
    if (message.payload.size() > kCommandBytesMax)
        return Error(Errc::limit, "a call of " + std::to_string(message.payload.size()) + " bytes");
    if (phase_ == Phase::refused)
        return {};
    Command command = TRY(parse_command(message));
    if (phase_ == Phase::redirected) {
        phase_ = Phase::refused;
        events_.push(RedirectAnswered{});
        return {};
    }
    // Answers to our own calls (onBWDone) are ignored.
    if (command.name == "_result" || command.name == "_error")
        return {};
    if (phase_ == Phase::before_connect) {
        if (command.name != "connect")
            return Error(Errc::malformed, "the first call is " + printable(command.name) + ", not connect");
        return on_connect(command);
    }
    if (command.name == "connect")
        return Error(Errc::malformed, "a second connect");
    TRY(stream_.handle(command));
    set_reader_limits();
    return {};
}

Result<void> Server::on_connect(Command& command) {
    auto request = std::make_unique<ConnectRequest>(read_connect(command));
    connect_transaction_ = command.transaction;
    object_encoding_ = request->object_encoding;
    is_enhanced_ = is_enhanced(request->command_object);
    can_reconnect_ = (request->caps_ex & kCapsReconnect) != 0;
    knows_tracks_ = (request->caps_ex & kCapsMultitrack) != 0;
    if (request->tc_url.empty()) {
        reject_connect("tcUrl is required");
        return Error(Errc::malformed, "connect without a tcUrl");
    }
    phase_ = Phase::connect_waits;
    events_.push(WantsToConnect{std::move(request)});
    return {};
}

Result<void> Server::accept_connect(const ConnectSettings& settings) {
    CHECK(phase_ == Phase::connect_waits);
    link_.set_acknowledge_every(settings.in_ack_size);
    if (settings.out_ack_size > 0)
        link_.announce_window(settings.out_ack_size);
    link_.send_control(wire::rtmp::SetPeerBandwidth{kPeerBandwidth, wire::rtmp::SetPeerBandwidth::Limit::dynamic});
    link_.announce_chunk_size(settings.chunk_size);
    link_.send_command(kConnectionStreamId, "_result", connect_transaction_,
                       {connect_properties(is_enhanced_), connect_information(*identity_, object_encoding_)});
    link_.send_command(kConnectionStreamId, "onBWDone", 0, {Value::null()});
    identity_.reset();
    phase_ = Phase::connected;
    return go_on();
}

void Server::reject_connect(std::string_view description, std::string_view code) {
    CHECK(phase_ == Phase::connect_waits || phase_ == Phase::before_connect);
    link_.send_command(kConnectionStreamId, "_error", connect_transaction_,
                       {Value::null(), status_object(StatusLevel::error, code, description)});
    phase_ = Phase::refused;
}

void Server::redirect_connect(std::string_view tc_url, std::string_view full_url, std::string_view description) {
    CHECK(phase_ == Phase::connect_waits);
    link_.send_command(kConnectionStreamId, "_error", connect_transaction_,
                       {Value::null(), redirect_information(tc_url, full_url, description)});
    phase_ = Phase::redirected;
}

Result<void> Server::accept_publish() {
    stream_.accept_publish();
    set_reader_limits();
    return go_on();
}

Result<void> Server::reject_publish(std::string_view code, std::string_view description) {
    stream_.reject_publish(code, description);
    return go_on();
}

Result<void> Server::accept_play() {
    stream_.accept_play();
    return go_on();
}

Result<void> Server::reject_play(std::string_view code, std::string_view description) {
    stream_.reject_play(code, description);
    return go_on();
}

Result<void> Server::redirect_play(std::string_view tc_url, std::string_view full_url, std::string_view description) {
    stream_.redirect_play(tc_url, full_url, description);
    phase_ = Phase::redirected;
    return go_on();
}

void Server::request_reconnect(std::string_view tc_url, std::string_view description) {
    if (!can_reconnect_)
        return;
    Value information = status_object(StatusLevel::status, kReconnectCode, description);
    if (!tc_url.empty())
        information.set("tcUrl", tc_url);
    link_.send_command(kConnectionStreamId, "onStatus", 0, {Value::null(), std::move(information)});
}

void Server::set_reader_limits() {
    // Clients that are not yet identified, and players, send only commands; a few of them may overlap.
    const std::size_t message_bytes = stream_.is_publishing() ? message_bytes_max_ : kCommandBytesMax;
    link_.set_limits({.message_bytes = message_bytes, .pending_bytes = 2 * message_bytes});
}

void Server::release_buffers() {
    link_.release_buffers();
    rest_.shrink_to_fit();
}

}  // namespace live::engine::rtmp
