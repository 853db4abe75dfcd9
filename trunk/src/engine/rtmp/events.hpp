// Events from the RTMP engines to the session that drives them. An event whose name begins with Wants is a question: the engine
// stops reading until it is answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "wire/amf/value.hpp"
#include "wire/rtmp/message.hpp"

namespace live::engine::rtmp {

// The content of a client's `connect`. Missing text is empty.
struct ConnectRequest {
    std::string tc_url;  // never empty: the engine refuses a connect without it
    std::string app;
    std::string page_url;
    std::string swf_url;
    std::string flash_version;
    double object_encoding = 0;
    // E-RTMP v2, "Enhancing NetConnection connect Command": the client's capabilities. At most kFourCcListMax names.
    std::vector<std::string> fourcc_list;
    std::uint32_t caps_ex = 0;
    // The whole command object, and the first argument after it if there is one.
    wire::amf::Value command_object;
    wire::amf::Value arguments;
};
inline constexpr std::size_t kFourCcListMax = 64;

// The publisher's sequence of commands; the answers differ slightly (doc/conformance/rtmp.md).
enum class PublishStyle : std::uint8_t { fmle, haivision, flash };

// Answer with accept_connect(), reject_connect() or redirect_connect().
struct WantsToConnect {
    std::unique_ptr<ConnectRequest> request;
};
// Answer with accept_publish() or reject_publish(). `stream` may carry a query ("cam?token=x"), may be empty (tcUrl then names
// the stream), and is not validated.
struct WantsToPublish {
    std::string stream;
    PublishStyle style{};
};
// Answer with accept_play() or reject_play(). `stream` as above.
struct WantsToPlay {
    std::string stream;
    double start = -2;
    // Stop after this much media; zero or less: no limit.
    std::chrono::milliseconds duration{};
    bool reset = true;
};
// Audio, video or data (always AMF0, including a leading `@setDataFrame`). Never empty. Aggregates are already split.
struct GotMedia {
    wire::rtmp::MessageType type{};
    std::uint32_t timestamp_ms = 0;
    Slice payload;
};
// The player pauses or resumes; answer with accept_pause(). Reading continues meanwhile.
struct PauseChanged {
    bool paused = false;
};
// The publisher stopped and has been answered; the connection remains and may publish or play again.
struct StoppedPublishing {};
// The player stopped; the connection remains and may play or publish again.
struct StoppedPlaying {};
// deleteStream: the session ends.
struct StreamDeleted {};
// The first command from a redirected client: it has read the redirect, and the socket may be closed.
struct RedirectAnswered {};
// Unusual peer behaviour that does not justify closing the connection. At most one of a kind per connection.
struct PeerWarning {
    std::string sentence;
};

using Event = std::variant<WantsToConnect, WantsToPublish, WantsToPlay, PauseChanged, StoppedPublishing, StoppedPlaying,
                           StreamDeleted, RedirectAnswered, PeerWarning>;

}  // namespace live::engine::rtmp
