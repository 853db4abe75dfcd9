#include "engine/rtmp/stream_commands.hpp"

#include <string>
#include <utility>

#include "engine/rtmp/connect.hpp"

namespace live::engine::rtmp {

using wire::amf::Value;
using wire::rtmp::kMessageStreamId;
using wire::rtmp::MessageType;
using wire::rtmp::UserControl;

namespace {

// Expected by Flash; it has no meaning, but clients look for it.
constexpr const char* kClientId = "ASAICiss";

}  // namespace

Value redirect_information(std::string_view tc_url, std::string_view full_url, std::string_view description) {
    Value information = status_object(StatusLevel::error, "NetConnection.Connect.Rejected", description);
    information.set("ex", Value::object({{"code", 302}, {"redirect", tc_url}, {"redirect2", full_url}}));
    return information;
}

Result<void> StreamCommands::handle(const Command& command) {
    const std::string& name = command.name;
    if (name == "publish")
        return on_publish(command);
    if (name == "play")
        return on_play(command);
    if (name == "createStream")
        on_create_stream(command);
    else if (name == "releaseStream")
        send_result(command.transaction, Value::undefined());
    else if (name == "FCPublish")
        on_fc_publish(command);
    else if (name == "FCUnpublish")
        on_fc_unpublish(command);
    else if (name == "closeStream")
        on_close_stream();
    else if (name == "deleteStream")
        on_delete_stream();
    else if (name == "pause")
        on_pause(command);
    // A number of seconds; a live stream has no length.
    else if (name == "getStreamLength")
        send_result(command.transaction, Value(0.0));
    else if (command.transaction > 0)
        send_result(command.transaction, Value::null());
    return {};
}

void StreamCommands::send_result(double transaction, Value value) {
    link_.send_command(kConnectionStreamId, "_result", transaction, {Value::null(), std::move(value)});
}

void StreamCommands::on_create_stream(const Command& command) {
    has_created_stream_ = true;
    send_result(command.transaction, Value(kMessageStreamId));
}

void StreamCommands::on_fc_publish(const Command& command) {
    style_ = has_created_stream_ ? PublishStyle::haivision : PublishStyle::fmle;
    send_result(command.transaction, Value::undefined());
}

Result<void> StreamCommands::on_publish(const Command& command) {
    // Flash unpublishes with publish(false).
    if (command.argument(0).boolean() == false) {
        on_close_stream();
        return {};
    }
    if (phase_ != Phase::ready) {
        send_status(StatusLevel::error, "NetStream.Publish.BadName", "this connection is publishing or playing already");
        return Error(Errc::malformed, "publish while publishing or playing");
    }
    phase_ = Phase::publish_waits;
    events_.push(WantsToPublish{std::string(command.text(0)), style_});
    return {};
}

void StreamCommands::accept_publish() {
    CHECK(phase_ == Phase::publish_waits);
    if (style_ != PublishStyle::flash) {
        link_.send_command(
            kMessageStreamId, "onFCPublish", 0,
            {Value::null(), Value::object({{"code", "NetStream.Publish.Start"}, {"description", "Started publishing stream."}})});
    }
    send_status(StatusLevel::status, "NetStream.Publish.Start", "Started publishing stream.");
    phase_ = Phase::publishing;
}

void StreamCommands::reject_publish(std::string_view code, std::string_view description) {
    CHECK(phase_ == Phase::publish_waits);
    send_status(StatusLevel::error, code, description);
    phase_ = Phase::ready;
}

void StreamCommands::on_fc_unpublish(const Command& command) {
    link_.send_command(
        kMessageStreamId, "onFCUnpublish", 0,
        {Value::null(), Value::object({{"code", "NetStream.Unpublish.Success"}, {"description", "Stop publishing stream."}})});
    send_result(command.transaction, Value::undefined());
    stop_publishing();
}

void StreamCommands::stop_publishing() {
    if (phase_ != Phase::publishing)
        return;
    send_status(StatusLevel::status, "NetStream.Unpublish.Success", "publishing has ended");
    phase_ = Phase::ready;
    style_ = PublishStyle::flash;
    has_created_stream_ = false;
    events_.push(StoppedPublishing{});
}

void StreamCommands::on_close_stream() {
    stop_publishing();
    if (phase_ == Phase::playing) {
        phase_ = Phase::ready;
        events_.push(StoppedPlaying{});
    }
}

void StreamCommands::on_delete_stream() {
    phase_ = Phase::ready;
    events_.push(StreamDeleted{});
}

Result<void> StreamCommands::on_play(const Command& command) {
    if (phase_ == Phase::publishing) {
        send_status(StatusLevel::error, "NetStream.Play.Failed", "this connection is publishing");
        return Error(Errc::malformed, "play while publishing");
    }
    // Players switch streams by sending play while playing another.
    on_close_stream();
    phase_ = Phase::play_waits;
    events_.push(read_play(command));
    return {};
}

void StreamCommands::accept_play() {
    CHECK(phase_ == Phase::play_waits);
    link_.send_control(UserControl{UserControl::Event::stream_begin, kMessageStreamId, 0});
    Value reset = status_object(StatusLevel::status, "NetStream.Play.Reset", "Playing and resetting stream.");
    reset.set("details", "stream").set("clientid", kClientId);
    link_.send_command(kMessageStreamId, "onStatus", 0, {Value::null(), std::move(reset)});
    Value start = status_object(StatusLevel::status, "NetStream.Play.Start", "Started playing stream.");
    start.set("details", "stream").set("clientid", kClientId);
    link_.send_command(kMessageStreamId, "onStatus", 0, {Value::null(), std::move(start)});
    // On the command chunk stream, because only media uses that of data. No NetStream.Data.Start: ffmpeg would show an empty data
    // stream.
    link_.send(wire::rtmp::kCommandChunkStream, MessageType::amf0_data, 0, kMessageStreamId, sample_access_body());
    phase_ = Phase::playing;
}

void StreamCommands::reject_play(std::string_view code, std::string_view description) {
    CHECK(phase_ == Phase::play_waits);
    send_status(StatusLevel::error, code, description);
    phase_ = Phase::ready;
}

void StreamCommands::redirect_play(std::string_view tc_url, std::string_view full_url, std::string_view description) {
    CHECK(phase_ == Phase::play_waits);
    link_.send_command(kMessageStreamId, "onStatus", 0, {Value::null(), redirect_information(tc_url, full_url, description)});
    phase_ = Phase::ready;
}

void StreamCommands::on_pause(const Command& command) {
    if (phase_ == Phase::playing)
        events_.push(PauseChanged{command.argument(0).boolean().value_or(false)});
}

void StreamCommands::accept_pause(bool paused) {
    const auto event = paused ? UserControl::Event::stream_eof : UserControl::Event::stream_begin;
    if (paused)
        send_status(StatusLevel::status, "NetStream.Pause.Notify", "Paused stream.");
    else
        send_status(StatusLevel::status, "NetStream.Unpause.Notify", "Unpaused stream.");
    link_.send_control(UserControl{event, kMessageStreamId, 0});
}

void StreamCommands::send_status(StatusLevel level, std::string_view code, std::string_view description) {
    Value information = status_object(level, code, description);
    information.set("clientid", kClientId);
    link_.send_command(kMessageStreamId, "onStatus", 0, {Value::null(), std::move(information)});
}

}  // namespace live::engine::rtmp
