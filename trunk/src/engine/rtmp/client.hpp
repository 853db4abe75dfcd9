// The client end of an RTMP connection: publishes one stream to a remote server or plays one from it. Dry, in the same shape as
// Server. Redirects are not followed here: that needs another connection and is up to the session.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtmp/command.hpp"
#include "engine/rtmp/event_queue.hpp"
#include "engine/rtmp/events.hpp"
#include "engine/rtmp/handshake.hpp"
#include "engine/rtmp/link.hpp"

namespace live::engine::rtmp {

struct ClientOptions {
    enum class Mode : std::uint8_t { publish, play };

    Mode mode = Mode::play;
    std::string tc_url;
    std::string app;
    std::string stream;  // with its query, if any
    std::string page_url;
    std::string swf_url;
    std::string flash_version = "FMLE/3.0 (compatible; FMSc/1.0)";
    // Sent after the command object if it is an object.
    wire::amf::Value connect_arguments;
    HandshakeForm handshake = HandshakeForm::complex;
    std::uint32_t chunk_size = 60'000;
    std::size_t message_bytes_max = 10 << 20;
    // Announced to the server: the client's owner obeys ReconnectRequested.
    bool can_reconnect = false;
};

// The server accepted the connection. `info` is the information object of its answer.
struct Connected {
    wire::amf::Value info;
};
// send_media() may be called from now on.
struct PublishStarted {};
// GotMedia events follow.
struct PlayStarted {};
// The server refused, with its code and description. `redirect_url` is set for a redirect (a full URL, or a tcUrl if the server
// sent no more). Final: close the connection.
struct Rejected {
    std::string code;
    std::string description;
    std::optional<std::string> redirect_url;
};
// The server ended the stream. Playback may resume when the stream returns: the connection is still usable.
struct StreamEnded {
    std::string code;
};

// The server requests a new connection, to `tc_url` or, if that is empty, to this one's address. This connection continues until
// the caller ends it. Once per connection, only with ClientOptions::can_reconnect, after the stream has started.
struct ReconnectRequested {
    std::string tc_url;
    std::string description;
};

using ClientEvent =
    std::variant<GotMedia, Connected, PublishStarted, PlayStarted, Rejected, StreamEnded, PeerWarning, ReconnectRequested>;

class Client {
public:
    // Longer ones are cut off, which makes them no URL.
    static constexpr std::size_t kUrlBytesMax = 4096;

    Client(ClientOptions options, std::uint64_t handshake_seed);

    // Writes the first bytes to the output. Call once, before everything else.
    Result<void> start(TimePoint now);

    // Like Server::handle_bytes, but a client has no questions to its owner, so no input is held back.
    Result<void> handle_bytes(TimePoint now, Bytes input);
    std::optional<ClientEvent> poll_event() { return events_.poll(); }

    bool has_output() const { return link_.has_output(); }
    void take_output(std::vector<std::uint8_t>& into) { link_.take_output(into); }

    // Appends a media message to the output. Only after PublishStarted (aborts otherwise); the payload and the header in front
    // of it have at most 16 MiB - 1.
    void send_media(wire::rtmp::MessageType type, std::uint32_t timestamp_ms, Bytes payload, Bytes payload_header = {});

    // Asks for an answer (RTMP 1.0, section 7.1.7), which servers of other kinds may never give. Only after is_started().
    void ping(std::uint32_t stamp);
    std::uint64_t ping_answers() const { return ping_answers_; }

    // Sends FCUnpublish and deleteStream, or closeStream and deleteStream; nothing if the stream was never created.
    void stop();

    std::optional<TimePoint> next_timeout() const { return std::nullopt; }
    Result<void> handle_timeout(TimePoint) { return {}; }

    // Whether publishing or playing has started.
    bool is_started() const { return phase_ == Phase::started; }
    // Whether the server has announced that it understands messages of several tracks.
    bool knows_tracks() const { return knows_tracks_; }
    HandshakeForm handshake_form() const { return handshake_form_; }
    std::uint32_t peer_chunk_size() const { return link_.peer_chunk_size(); }
    std::uint64_t bytes_received() const { return link_.bytes_received(); }

private:
    enum class Phase : std::uint8_t { handshake, connecting, creating, starting, started, over };

    void send_connect();
    Result<void> on_message(wire::rtmp::Message&& message);
    Result<void> on_command(const wire::rtmp::Message& message);
    Result<void> handle_control(const wire::rtmp::Message& message);
    void on_result(const Command& command);
    void on_connected(const Command& command);
    void on_stream_created(const Command& command);
    void on_error(const Command& command);
    void on_status(const Command& command);
    void reject(const wire::amf::Value* info);

    ClientOptions options_;
    Link link_;
    EventQueue<ClientEvent> events_;
    std::unique_ptr<ClientHandshake> handshake_;
    std::uint32_t stream_id_ = wire::rtmp::kMessageStreamId;
    Phase phase_ = Phase::handshake;
    std::uint64_t ping_answers_ = 0;
    bool was_asked_to_reconnect_ = false;
    bool knows_tracks_ = false;
    HandshakeForm handshake_form_ = HandshakeForm::simple;
};

}  // namespace live::engine::rtmp
