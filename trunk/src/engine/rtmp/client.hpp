// The client's end of an RTMP connection: publishes one stream to a remote server or plays one from it. Dry, in the same shape as
// Server. What is not here: following a redirect, which needs another connection and is the session's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
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
    // Sent behind the connect object when it is an object.
    wire::amf::Value connect_arguments;
    HandshakeForm handshake = HandshakeForm::complex;
    std::uint32_t chunk_size = 60'000;
    std::size_t message_bytes_max = 10 << 20;
};

// The server took the connection. `info` is the information object of its answer.
struct Connected {
    wire::amf::Value info;
};
// send_media() may begin.
struct PublishStarted {};
// GotMedia will come.
struct PlayStarted {};
// The server said no, and in which words. `redirect_url` is set when it names another place (a full URL, or a tcUrl when it gave
// no more). Nothing follows; close.
struct Rejected {
    std::string code;
    std::string description;
    std::optional<std::string> redirect_url;
};
// What began has ended on the server's side. Play may go on when the stream comes back: the connection is still good.
struct StreamEnded {
    std::string code;
};

using ClientEvent = std::variant<GotMedia, Connected, PublishStarted, PlayStarted, Rejected, StreamEnded, PeerWarning>;

class Client {
public:
    Client(ClientOptions options, std::uint64_t handshake_seed);

    // Puts the first bytes into the output. Call once, before everything else.
    Result<void> start(TimePoint now);

    // As Server::handle_bytes; the client asks no questions, so nothing waits.
    Result<void> handle_bytes(TimePoint now, Bytes input);
    std::optional<ClientEvent> poll_event() { return events_.poll(); }

    bool has_output() const { return link_.has_output(); }
    void take_output(std::vector<std::uint8_t>& into) { link_.take_output(into); }

    // Appends a media message to the output. Only after PublishStarted (aborts otherwise); the payload is at most 16 MiB - 1.
    void send_media(wire::rtmp::MessageType type, std::uint32_t timestamp_ms, Bytes payload);

    // Says goodbye: FCUnpublish and deleteStream, or closeStream and deleteStream. Nothing when the stream was never made.
    void stop();

    std::optional<TimePoint> next_timeout() const { return std::nullopt; }
    Result<void> handle_timeout(TimePoint) { return {}; }

    // Publish or play is under way.
    bool is_started() const { return phase_ == Phase::started; }
    HandshakeForm handshake_form() const { return handshake_form_; }
    std::uint32_t peer_chunk_size() const { return link_.peer_chunk_size(); }
    std::uint64_t bytes_received() const { return link_.bytes_received(); }

private:
    enum class Phase : std::uint8_t { handshake, connecting, creating, starting, started, over };

    void send_connect();
    Result<void> on_message(wire::rtmp::Message message);
    Result<void> on_media(wire::rtmp::Message message);
    Result<void> on_command(const wire::rtmp::Message& message);
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
    HandshakeForm handshake_form_ = HandshakeForm::simple;
};

}  // namespace live::engine::rtmp
