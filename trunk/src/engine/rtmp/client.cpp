#include "engine/rtmp/client.hpp"

#include <utility>

#include "engine/rtmp/connect.hpp"
#include "wire/rtmp/aggregate.hpp"

namespace live::engine::rtmp {
namespace {

using wire::amf::Value;
using wire::rtmp::Message;
using wire::rtmp::MessageType;
using wire::rtmp::UserControl;

constexpr std::uint32_t kWindowAckSize = 2'500'000;
// Announced to a server as our buffer when playing, so that it starts sending at once.
constexpr std::uint32_t kBufferMs = 1'000;

// Our transaction ids, to match answers to calls.
constexpr double kConnectTransaction = 1;
constexpr double kReleaseTransaction = 2;
constexpr double kFcPublishTransaction = 3;
constexpr double kCreateTransaction = 4;
constexpr double kPublishTransaction = 5;
constexpr double kFcUnpublishTransaction = 6;

std::string text_of(const Value* object, std::string_view key) {
    const Value* value = object == nullptr ? nullptr : object->find(key);
    return value == nullptr ? std::string() : std::string(value->string().value_or(std::string_view()));
}

// The first object among the values of an answer: some servers send it in the place of the command object.
const Value* information_of(const Command& command) {
    for (const Value& value : command.arguments) {
        if (value.is_container())
            return &value;
    }
    return command.object.is_container() ? &command.object : nullptr;
}

// Some servers send Flash access rights as data; they are not part of the stream.
bool is_sample_access(Bytes body) {
    constexpr std::string_view kBegin("\x02\x00\x11|RtmpSampleAccess", 20);
    return body.size() >= kBegin.size() && as_text(body.first(kBegin.size())) == kBegin;
}

std::uint32_t chunk_stream_of(MessageType type) {
    switch (type) {
        case MessageType::audio: return wire::rtmp::kAudioChunkStream;
        case MessageType::video: return wire::rtmp::kVideoChunkStream;
        default: return wire::rtmp::kDataChunkStream;
    }
}

}  // namespace

Client::Client(ClientOptions options, std::uint64_t handshake_seed)
    : options_(std::move(options)), handshake_(std::make_unique<ClientHandshake>(handshake_seed, options_.handshake)) {
    const std::size_t bytes = std::min<std::size_t>(options_.message_bytes_max, wire::rtmp::kMessageLengthMax);
    link_.set_limits({.message_bytes = bytes, .pending_bytes = 2 * bytes});
}

Result<void> Client::start(TimePoint now) { return handshake_->start(now, link_.output()); }

Result<void> Client::handle_bytes(TimePoint now, Bytes input) {
    if (phase_ == Phase::handshake) {
        if (!TRY(link_.shake_hands(*handshake_, now, input)))
            return {};
        handshake_form_ = handshake_->form();
        handshake_.reset();
        phase_ = Phase::connecting;
        send_connect();
    }
    const std::size_t before = input.size();
    while (auto message = TRY(link_.read(input)))
        TRY(on_message(std::move(*message)));
    if (auto warning = link_.take_warning())
        events_.push(PeerWarning{std::move(*warning)});
    link_.acknowledge(before - input.size());
    return {};
}

void Client::send_connect() {
    link_.announce_chunk_size(options_.chunk_size);
    Value object = Value::object({{"app", options_.app}, {"type", "nonprivate"}, {"flashVer", options_.flash_version}});
    if (!options_.swf_url.empty())
        object.set("swfUrl", options_.swf_url);
    object.set("tcUrl", options_.tc_url);
    if (!options_.page_url.empty())
        object.set("pageUrl", options_.page_url);
    // As sent by Flash: no proxy, all codecs, AMF0.
    object.set("fpad", false).set("capabilities", 239).set("audioCodecs", 3575).set("videoCodecs", 252);
    object.set("videoFunction", 1).set("objectEncoding", 0);
    add_capabilities(object, options_.can_reconnect);
    if (options_.connect_arguments.is_container())
        link_.send_command(kConnectionStreamId, "connect", kConnectTransaction, {object, options_.connect_arguments});
    else
        link_.send_command(kConnectionStreamId, "connect", kConnectTransaction, {object});
}

Result<void> Client::on_message(Message&& message) {
    switch (message.type) {
        case MessageType::audio:
        case MessageType::video:
        case MessageType::amf0_data:
        case MessageType::amf3_data:
            if (options_.mode != ClientOptions::Mode::play || phase_ != Phase::started || message.payload.empty())
                return {};
            if (message.type == MessageType::amf3_data) {
                message.payload = TRY(data_from_amf3(message.payload.bytes()));
                message.type = MessageType::amf0_data;
            }
            if (message.type != MessageType::amf0_data || !is_sample_access(message.payload.bytes()))
                events_.push(GotMedia{message.type, message.timestamp_ms, std::move(message.payload)});
            return {};
        case MessageType::aggregate: {
            wire::rtmp::AggregateReader parts(std::move(message));
            while (auto part = TRY(parts.next())) {
                if (part->type == MessageType::audio || part->type == MessageType::video)
                    TRY(on_message(std::move(*part)));
            }
            return {};
        }
        case MessageType::amf0_command:
        case MessageType::amf3_command: return phase_ == Phase::over ? Result<void>() : on_command(message);
        default: return wire::rtmp::is_control(message.type) ? handle_control(message) : Result<void>();
    }
}

Result<void> Client::handle_control(const Message& message) {
    const auto user = TRY(link_.handle_control(message));
    if (user && user->event == UserControl::Event::ping_response && phase_ != Phase::over)
        ++ping_answers_;
    return {};
}

void Client::ping(std::uint32_t stamp) { link_.send_control(UserControl{UserControl::Event::ping_request, stamp, 0}); }

Result<void> Client::on_command(const Message& message) {
    const Command command = TRY(parse_command(message));
    if (command.name == "_result")
        on_result(command);
    else if (command.name == "_error")
        on_error(command);
    else if (command.name == "onStatus")
        on_status(command);
    else if (command.transaction > 0)
        link_.send_command(kConnectionStreamId, "_result", command.transaction, {Value::null(), Value::null()});
    return {};
}

void Client::on_result(const Command& command) {
    if (phase_ == Phase::connecting && command.transaction == kConnectTransaction)
        on_connected(command);
    else if (phase_ == Phase::creating && command.transaction == kCreateTransaction)
        on_stream_created(command);
}

void Client::on_connected(const Command& command) {
    const Value* information = information_of(command);
    knows_tracks_ = (caps_ex_of(command.object) & kCapsMultitrack) != 0;
    events_.push(Connected{information == nullptr ? Value() : *information});
    phase_ = Phase::creating;
    if (options_.mode == ClientOptions::Mode::publish) {
        link_.send_command(kConnectionStreamId, "releaseStream", kReleaseTransaction, {Value::null(), options_.stream});
        link_.send_command(kConnectionStreamId, "FCPublish", kFcPublishTransaction, {Value::null(), options_.stream});
    } else {
        // Makes the server acknowledge, and detect that we have stopped reading.
        link_.announce_window(kWindowAckSize);
    }
    link_.send_command(kConnectionStreamId, "createStream", kCreateTransaction, {Value::null()});
}

void Client::on_stream_created(const Command& command) {
    const double number = command.argument(0).number().value_or(0);
    if (number >= 1 && number <= 4'294'967'295.0)
        stream_id_ = static_cast<std::uint32_t>(number);
    phase_ = Phase::starting;
    if (options_.mode == ClientOptions::Mode::publish) {
        link_.send_command(stream_id_, "publish", kPublishTransaction, {Value::null(), options_.stream, "live"});
    } else {
        link_.send_command(stream_id_, "play", 0, {Value::null(), options_.stream, -2000});
        link_.send_control(UserControl{UserControl::Event::set_buffer_length, stream_id_, kBufferMs});
    }
}

void Client::on_error(const Command& command) {
    // Servers that do not support releaseStream or FCPublish answer with an error, which is not fatal.
    const bool is_optional = command.transaction == kReleaseTransaction || command.transaction == kFcPublishTransaction ||
                             command.transaction == kFcUnpublishTransaction;
    if (!is_optional)
        reject(information_of(command));
}

void Client::on_status(const Command& command) {
    const Value* information = information_of(command);
    const std::string code = text_of(information, "code");
    if (text_of(information, "level") == "error" || code == "NetStream.Play.StreamNotFound") {
        reject(information);
    } else if (phase_ == Phase::starting && code == "NetStream.Publish.Start" && options_.mode == ClientOptions::Mode::publish) {
        phase_ = Phase::started;
        events_.push(PublishStarted{});
    } else if (phase_ == Phase::starting && code == "NetStream.Play.Start" && options_.mode == ClientOptions::Mode::play) {
        phase_ = Phase::started;
        events_.push(PlayStarted{});
    } else if (phase_ == Phase::started && code == kReconnectCode && options_.can_reconnect) {
        if (!std::exchange(was_asked_to_reconnect_, true))
            events_.push(
                ReconnectRequested{text_of(information, "tcUrl").substr(0, kUrlBytesMax), text_of(information, "description")});
    } else if (phase_ == Phase::started && (code == "NetStream.Unpublish.Success" || code == "NetStream.Play.Stop" ||
                                            code == "NetStream.Play.Complete" || code == "NetStream.Play.UnpublishNotify")) {
        events_.push(StreamEnded{code});
    }
}

void Client::reject(const Value* information) {
    Rejected rejected{text_of(information, "code"), text_of(information, "description"), std::nullopt};
    const Value* more = information == nullptr ? nullptr : information->find("ex");
    const Value* number = more == nullptr ? nullptr : more->find("code");
    if (number != nullptr && number->number() == 302.0) {
        std::string url = text_of(more, "redirect2");
        if (url.empty())
            url = text_of(more, "redirect");
        if (!url.empty())
            rejected.redirect_url = std::move(url);
    }
    phase_ = Phase::over;
    events_.push(std::move(rejected));
}

void Client::send_media(MessageType type, std::uint32_t timestamp_ms, Bytes payload, Bytes payload_header) {
    CHECK(phase_ == Phase::started && options_.mode == ClientOptions::Mode::publish);
    link_.send(chunk_stream_of(type), type, timestamp_ms, stream_id_, payload, payload_header);
}

void Client::stop() {
    if (phase_ != Phase::starting && phase_ != Phase::started)
        return;
    if (options_.mode == ClientOptions::Mode::publish)
        link_.send_command(kConnectionStreamId, "FCUnpublish", kFcUnpublishTransaction, {Value::null(), options_.stream});
    else
        link_.send_command(stream_id_, "closeStream", 0, {Value::null()});
    link_.send_command(kConnectionStreamId, "deleteStream", 0, {Value::null(), stream_id_});
    phase_ = Phase::over;
}

}  // namespace live::engine::rtmp
