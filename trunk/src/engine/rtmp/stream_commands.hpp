// StreamCommands: the commands of a connected RTMP client about its one stream, message stream 1 (RTMP 1.0, section 7.2.2, and
// Flash's FCPublish family), and the answers. Part of Server, which keeps the connection and its bytes. Dry.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.hpp"
#include "engine/rtmp/command.hpp"
#include "engine/rtmp/event_queue.hpp"
#include "engine/rtmp/events.hpp"
#include "engine/rtmp/link.hpp"
#include "wire/amf/value.hpp"

namespace live::engine::rtmp {

// The information object of a redirect. `tc_url` is the new location without the stream, `full_url` with it.
wire::amf::Value redirect_information(std::string_view tc_url, std::string_view full_url, std::string_view description);

class StreamCommands {
public:
    // Answers are written to `link`; both must outlive this.
    StreamCommands(Link& link, EventQueue<Event>& events) : link_(link), events_(events) {}

    // Errc::malformed ends the connection.
    Result<void> handle(const Command& command);

    // The owner's answers to WantsToPublish, WantsToPlay and PauseChanged.
    void accept_publish();
    void reject_publish(std::string_view code, std::string_view description);
    void accept_play();
    void reject_play(std::string_view code, std::string_view description);
    void redirect_play(std::string_view tc_url, std::string_view full_url, std::string_view description);
    void accept_pause(bool paused);

    void send_status(StatusLevel level, std::string_view code, std::string_view description);

    // Whether a question is open: the owner must not handle further commands.
    bool is_waiting() const { return phase_ == Phase::publish_waits || phase_ == Phase::play_waits; }
    bool is_publishing() const { return phase_ == Phase::publishing; }
    bool is_playing() const { return phase_ == Phase::playing; }

private:
    enum class Phase : std::uint8_t { ready, publish_waits, publishing, play_waits, playing };

    Result<void> on_publish(const Command& command);
    Result<void> on_play(const Command& command);
    void on_pause(const Command& command);
    void on_fc_publish(const Command& command);
    void on_fc_unpublish(const Command& command);
    void on_create_stream(const Command& command);
    void on_close_stream();
    void on_delete_stream();
    void stop_publishing();
    void send_result(double transaction, wire::amf::Value value);

    Link& link_;
    EventQueue<Event>& events_;
    Phase phase_ = Phase::ready;
    PublishStyle style_ = PublishStyle::flash;
    bool has_created_stream_ = false;
};

}  // namespace live::engine::rtmp
