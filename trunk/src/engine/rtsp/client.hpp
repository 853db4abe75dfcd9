// The client end of an RTSP connection that plays a stream of another server or a camera, with the media in the connection
// (RFC 2326, 10.12) or over UDP ports of the caller. Dry: bytes and a time go in, bytes and events come out. It answers
// challenges, keeps the session alive as the other side announces, and reports redirects, which need another connection.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtsp/credentials.hpp"
#include "engine/rtsp/events.hpp"
#include "wire/rtsp/description.hpp"
#include "wire/rtsp/message_reader.hpp"

namespace live::engine::rtsp {

struct ClientOptions {
    std::string url;  // without user and password
    std::string user;
    std::string password;
    std::string product;       // in the User-Agent header
    std::string client_nonce;  // of digests; unguessable
};

// A question: the tracks to play; answer with play_tracks().
struct Described {
    wire::rtsp::Description description;
};
// The stream is elsewhere; the connection is of no further use.
struct Redirected {
    std::string url;
};
struct Playing {};

using ClientEvent = std::variant<Described, Redirected, Playing, GotPacket>;

class Client {
public:
    // Without another timeout of the other side (RFC 2326, 12.37).
    static constexpr std::chrono::seconds kDefaultTimeout{60};
    // Bytes between two messages or frames that are neither.
    static constexpr std::size_t kGarbageBytesMax = 1U << 20;

    // The transports to ask for. Without ports, media comes in the connection. Otherwise there is a pair for each track, and
    // `or_tcp` permits the connection if the other side refuses UDP.
    struct Lower {
        std::vector<wire::rtsp::NumberPair> client_ports{};
        bool or_tcp = true;
    };

    explicit Client(ClientOptions options);
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;

    // Sends the first request. Once.
    void start();
    // Keeps the input. Poll all events before the next input.
    void handle_bytes(Bytes input) { reader_.feed(input); }
    // The same without a copy: the input stays valid until poll_event() returns nothing or an error, or until keep_bytes().
    void borrow_bytes(Bytes input) { reader_.borrow(input); }
    void keep_bytes() { reader_.keep_rest(); }
    // nullopt when more input is needed. Errors are final: Errc::denied for credentials that are missing or refused,
    // Errc::not_found, Errc::unsupported for another refusal, Errc::malformed and Errc::limit as MessageReader.
    Result<std::optional<ClientEvent>> poll_event(TimePoint now);
    // The same for a packet once it plays, if that is what comes next: the quick way. nullopt: call poll_event().
    std::optional<GotPacket> poll_packet();
    std::string take_output() { return std::exchange(output_, {}); }
    bool has_output() const { return !output_.empty(); }

    // Indexes of the description; at least one, in ascending order.
    void play_tracks(std::vector<std::size_t> tracks, Lower lower);
    void play_tracks(std::vector<std::size_t> tracks) { play_tracks(std::move(tracks), Lower()); }
    // Ends the session politely; nothing is read afterwards.
    void tear_down();
    // The transport that the other side has chosen for a track: TCP always has `interleaved`. nullptr if it is not set up.
    const wire::rtsp::Transport* transport(std::size_t track) const {
        return transports_.at(track) ? &*transports_[track] : nullptr;
    }
    // When handle_timeout() has to be called, once it plays.
    std::optional<TimePoint> next_timeout() const { return keep_alive_at_; }
    // Keeps the session alive.
    void handle_timeout(TimePoint now);

private:
    using MessageItem = wire::rtsp::MessageReader::Item;
    enum class Step : std::uint8_t { options, describe, set_up, play, playing, keep_alive };

    Result<std::optional<ClientEvent>> handle_response(const wire::rtsp::Message& response, TimePoint now);
    Result<std::optional<MessageItem>> next_item();
    bool handle_refusal(int status);
    Result<void> handle_challenge(const wire::rtsp::Message& response);
    Result<std::optional<ClientEvent>> handle_description(const wire::rtsp::Message& response);
    Result<void> handle_set_up(const wire::rtsp::Message& response);
    void note_session(const wire::rtsp::Message& response);
    void answer_request(const wire::rtsp::Message& request);
    std::optional<GotPacket> packet_of(const wire::rtsp::InterleavedFrame& frame) const;
    void set_up_next();
    void send(Step step, std::string_view method, const std::string& url, std::string_view transport = {});
    void send_pending();
    std::string control_url(std::size_t track) const;

    ClientOptions options_;
    Credentials credentials_;
    wire::rtsp::MessageReader reader_;
    std::string output_;
    // The request that is not answered yet; sent again after a challenge.
    struct Pending {
        Step step = Step::options;
        std::string method;
        std::string url;
        std::string transport;
        int challenges = 0;  // in a row
    };
    Pending pending_;
    std::uint32_t sequence_ = 0;
    std::string base_;  // of relative controls
    std::string session_;
    std::chrono::seconds timeout_ = kDefaultTimeout;
    wire::rtsp::Description description_;
    std::vector<std::size_t> tracks_;                               // to play
    std::vector<std::optional<wire::rtsp::Transport>> transports_;  // by index of the description
    wire::rtsp::Channels channels_;                                 // of tracks that are set up
    Lower lower_;
    std::size_t next_track_ = 0;  // of tracks_
    std::optional<TimePoint> keep_alive_at_;
    bool has_get_parameter_ = false;
    bool is_playing_ = false;
};

}  // namespace live::engine::rtsp
