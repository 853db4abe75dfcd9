// The server end of an RTMP connection: handshake, connect, publish, play, until the peer stops. Dry: bytes and a time go in,
// bytes and events come out. The commands of the stream are those of StreamCommands. Not here: authorization, which is the
// session's answer to the Wants events, and media for players, which is encoded once for all of them and sent by the session
// between the engine's own messages (chunk streams 4, 5 and 6 of message stream 1; the engine writes only on 2 and 3).
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtmp/command.hpp"
#include "engine/rtmp/connect.hpp"
#include "engine/rtmp/event_queue.hpp"
#include "engine/rtmp/events.hpp"
#include "engine/rtmp/handshake.hpp"
#include "engine/rtmp/link.hpp"
#include "engine/rtmp/stream_commands.hpp"

namespace live::engine::rtmp {

// Applied when connect is accepted: by then the virtual host, and with it the settings, is known.
struct ConnectSettings {
    std::uint32_t chunk_size = 60'000;       // of sent chunks; 128..65536
    std::uint32_t out_ack_size = 2'500'000;  // announced as Window Acknowledgement Size; 0: not announced
    std::uint32_t in_ack_size = 0;           // acknowledge this often even if the peer announces no window; 0: do not
};

struct ServerOptions {
    std::size_t message_bytes_max = 10 << 20;  // longest media message of a publisher
    ServerIdentity identity;
};

class Server {
public:
    // Limit of a message before a publisher is admitted, and from players: they send commands.
    static constexpr std::size_t kCommandBytesMax = 64 << 10;
    // Bytes buffered while a question is open.
    static constexpr std::size_t kWaitingBytesMax = 1 << 20;

    Server(ServerOptions options, std::uint64_t handshake_seed);
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Takes all of `input`. One input, then drain media, events and output, then the next input. While a question is open the
    // bytes are buffered (at most kWaitingBytesMax) and the answer resumes with them, which is why the answers below can fail
    // like this function. An error is final: send the pending output (it may contain the reason), then close.
    Result<void> handle_bytes(TimePoint now, Bytes input);

    // Returns what a publisher has sent since the last call, in order: everything before its next event.
    std::vector<GotMedia> take_media() { return std::exchange(media_, {}); }
    std::optional<Event> poll_event() { return events_.poll(); }

    bool has_output() const { return link_.has_output(); }
    // Moves the pending output, whole messages, to the end of `into`.
    void take_output(std::vector<std::uint8_t>& into) { link_.take_output(into); }

    // Answers to WantsToConnect. From a rejected or redirected client only RedirectAnswered follows; the session closes the
    // connection.
    Result<void> accept_connect(const ConnectSettings& settings = {});
    void reject_connect(std::string_view description, std::string_view code = "NetConnection.Connect.Rejected");
    // `tc_url` is the new location without the stream, `full_url` with it.
    void redirect_connect(std::string_view tc_url, std::string_view full_url, std::string_view description = "redirected");

    // Answers to WantsToPublish. Media follows accept_publish().
    Result<void> accept_publish();
    Result<void> reject_publish(std::string_view code, std::string_view description);

    // Answers to WantsToPlay. After accept_play() and its output the session may send media.
    Result<void> accept_play();
    Result<void> reject_play(std::string_view code, std::string_view description);
    // As redirect_connect().
    Result<void> redirect_play(std::string_view tc_url, std::string_view full_url, std::string_view description = "redirected");

    void accept_pause(bool paused) { stream_.accept_pause(paused); }

    // Unsolicited status (onStatus on message stream 1), such as an error before the socket closes.
    void send_status(StatusLevel level, std::string_view code, std::string_view description) {
        stream_.send_status(level, code, description);
    }
    // Whether the client has announced that it obeys request_reconnect().
    bool can_reconnect() const { return can_reconnect_; }
    // Whether the client has announced that it understands several tracks of a kind.
    bool knows_tracks() const { return knows_tracks_; }
    // E-RTMP v2, "Reconnect Request": requests that the client continues on a new connection, to `tc_url` or, if that is empty,
    // to its current address. The client ends this connection. Does nothing for a client that has not announced that it can.
    void request_reconnect(std::string_view tc_url, std::string_view description);
    void send_control(const wire::rtmp::ControlMessage& message) { link_.send_control(message); }
    // Announces the size to the player and applies it from the next message on.
    void set_chunk_size(std::uint32_t bytes) { link_.announce_chunk_size(bytes); }

    // The engine keeps no clock: the session enforces the time limit for identification.
    std::optional<TimePoint> next_timeout() const { return std::nullopt; }
    Result<void> handle_timeout(TimePoint) { return {}; }

    // Whether publishing or playing has begun, which ends the time limit for identification.
    bool is_identified() const { return stream_.is_publishing() || stream_.is_playing(); }
    HandshakeForm handshake_form() const { return handshake_form_; }
    std::uint32_t peer_chunk_size() const { return link_.peer_chunk_size(); }
    std::uint32_t chunk_size() const { return link_.chunk_size(); }
    std::uint64_t bytes_received() const { return link_.bytes_received(); }
    // Memory for incomplete messages and input that waits for an answer.
    std::size_t held_bytes() const { return link_.held_bytes() + rest_.capacity(); }

    // Frees the buffers of an idle player. The rest, including this object, is below 1 KiB.
    void release_buffers();

private:
    enum class Phase : std::uint8_t {
        handshake,
        before_connect,
        connect_waits,
        connected,
        redirected,
        refused,
    };

    bool is_waiting() const { return phase_ == Phase::connect_waits || stream_.is_waiting(); }
    Result<void> keep(Bytes input);
    Result<void> go_on();
    Result<void> on_message(wire::rtmp::Message&& message);
    Result<void> handle_control(const wire::rtmp::Message& message);
    Result<void> on_aggregate(wire::rtmp::Message message);
    Result<void> on_command(const wire::rtmp::Message& message);
    Result<void> on_connect(Command& command);
    void set_reader_limits();

    Link link_;
    // Messages of media whose room is allocated at once: a size that glibc's thread cache keeps (1,032 bytes) and reuses first.
    static constexpr std::size_t kMediaReserved = 1000 / sizeof(GotMedia);

    std::vector<GotMedia> media_;
    EventQueue<Event> events_;
    StreamCommands stream_{link_, events_};
    std::vector<std::uint8_t> rest_;
    std::unique_ptr<ServerHandshake> handshake_;
    // Only until the client is connected.
    std::unique_ptr<ServerIdentity> identity_;
    double connect_transaction_ = 0;
    double object_encoding_ = 0;
    std::size_t message_bytes_max_;
    Phase phase_ = Phase::handshake;
    HandshakeForm handshake_form_ = HandshakeForm::simple;
    bool is_enhanced_ = false;
    bool can_reconnect_ = false;
    bool knows_tracks_ = false;
};

}  // namespace live::engine::rtmp
