// The server end of an RTSP connection (RFC 2326): a client describes and plays a stream, or announces and records one. Dry:
// bytes go in, bytes and events come out. Not here: authorization, which is the session's answer to WantsToDescribe and
// WantsToAnnounce, and the media of players, which the session sends between the engine's own messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/rtsp/events.hpp"
#include "wire/rtsp/message_reader.hpp"

namespace live::engine::rtsp {

struct ServerOptions {
    std::string product;     // in the Server header
    std::string session_id;  // unguessable: whoever has it controls the session
    // Announced to clients, which send a request at least this often.
    std::chrono::seconds timeout{60};
    bool allows_udp = true;
};

// Where a track of a player begins, for the header RTP-Info.
struct TrackStart {
    std::size_t track = 0;
    std::optional<std::uint16_t> sequence{};  // nullopt: it has no packet yet
    std::uint32_t timestamp = 0;              // at the same time as those of the other tracks
};

class Server {
public:
    enum class State : std::uint8_t { init, ready, active };
    enum class Role : std::uint8_t { none, player, publisher };

    explicit Server(ServerOptions options) : options_(std::move(options)) {}
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    // Keeps the input. Poll all events before the next input.
    void handle_bytes(Bytes input) { reader_.feed(input); }
    // The same without a copy: the input stays valid until poll_event() returns nothing or an error, or until keep_bytes().
    void borrow_bytes(Bytes input) { reader_.borrow(input); }
    void keep_bytes() { reader_.keep_rest(); }
    // nullopt when more input is needed, and while a question is open. An error is final: send the pending output (it has the
    // reason), then close.
    Result<std::optional<Event>> poll_event();
    // Responses to send, whole messages.
    std::string take_output() { return std::exchange(output_, {}); }
    bool has_output() const { return !output_.empty(); }

    // The answer to any question; a status of 4xx or 5xx.
    // `why` follows the usual phrase of the status.
    void refuse(int status, std::string_view why = {});
    // Or a request for credentials, in answer to WantsToDescribe and WantsToAnnounce: the client repeats the request with them.
    // The values of WWW-Authenticate.
    void challenge(std::span<const std::string> values);
    // The stream has as many tracks as `description`. Relative controls in it begin at the URL of the request.
    void accept_describe(std::string_view description, std::size_t tracks);
    void accept_announce();
    // With what the server adds to the client's transport. Channels must not belong to another track.
    void accept_set_up(const wire::rtsp::Transport& transport);
    void accept_play(std::span<const TrackStart> starts);
    void accept_record();

    State state() const { return state_; }
    Role role() const { return role_; }
    // The transport of a track; nullptr if it is not set up.
    const wire::rtsp::Transport* transport(std::size_t track) const;
    std::size_t tracks() const { return tracks_.size(); }
    // Gives back the memory that an idle client does not need.
    void release_buffers() { reader_.release_buffer(); }

private:
    enum class Question : std::uint8_t { none, describe, announce, set_up, play, record };
    struct Track {
        std::string control;  // of an announced track
        std::optional<wire::rtsp::Transport> transport;
    };

    std::optional<Event> handle(const wire::rtsp::Message& request);
    std::optional<Event> handle_stream_request(const wire::rtsp::Message& request);
    std::optional<Event> handle_describe(const wire::rtsp::Message& request);
    std::optional<Event> handle_announce(const wire::rtsp::Message& request);
    std::optional<Event> handle_set_up(const wire::rtsp::Message& request);
    std::optional<Event> handle_start(Role role, Question question);
    std::optional<Event> handle_pause();
    std::optional<GotPacket> packet_of(const wire::rtsp::InterleavedFrame& frame) const;
    std::optional<std::size_t> find_track(std::string_view url) const;
    std::optional<std::size_t> find_track_below(std::string_view stream, std::string_view url) const;
    std::optional<wire::rtsp::Transport> choose(std::string_view header) const;
    bool fits(const wire::rtsp::Transport& transport) const;
    wire::rtsp::NumberPair free_channels(std::optional<wire::rtsp::NumberPair> wanted) const;
    bool has_transport() const;
    void ask(Question question) { question_ = question; }
    void close_question(Question question);
    wire::rtsp::Message response(int status) const;
    void send(wire::rtsp::Message message);

    ServerOptions options_;
    wire::rtsp::MessageReader reader_;
    std::string output_;
    std::string sequence_;  // CSeq of the request that is being answered
    std::string url_;       // of the stream, as in DESCRIBE or ANNOUNCE
    std::vector<Track> tracks_;
    std::size_t set_up_track_ = 0;  // of the open question
    State state_ = State::init;
    Role role_ = Role::none;
    Question question_ = Question::none;
};

}  // namespace live::engine::rtsp
