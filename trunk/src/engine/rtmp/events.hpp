// What the RTMP engines tell the session that drives them. An event that begins with Wants is a question: the engine stops
// reading until it is answered.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "base/bytes.hpp"
#include "wire/amf/value.hpp"
#include "wire/rtmp/message.hpp"

namespace live::engine::rtmp {

// What a client says in `connect`. Text that is missing is empty.
struct ConnectRequest {
    std::string tc_url;  // never empty: a connect without it is refused by the engine
    std::string app;
    std::string page_url;
    std::string swf_url;
    std::string flash_version;
    double object_encoding = 0;
    // E-RTMP v2, "Enhancing NetConnection connect Command": what the client can take. At most kFourCcListMax names.
    std::vector<std::string> fourcc_list;
    std::uint32_t caps_ex = 0;
    // The whole command object, and the first argument behind it if there is one.
    wire::amf::Value command_object;
    wire::amf::Value arguments;
};
inline constexpr std::size_t kFourCcListMax = 64;

// The order in which a publisher calls; the answers differ a little (doc/conformance/rtmp.md).
enum class PublishStyle : std::uint8_t { fmle, haivision, flash };

// Answer with accept_connect(), reject_connect() or redirect_connect().
struct WantsToConnect {
    std::unique_ptr<ConnectRequest> request;
};
// Answer with accept_publish() or reject_publish(). `stream` may carry a query ("cam?token=x"), may be empty (tcUrl names
// the stream then), and is not checked.
struct WantsToPublish {
    std::string stream;
    PublishStyle style{};
};
// Answer with accept_play() or reject_play(). `stream` as above.
struct WantsToPlay {
    std::string stream;
    double start = -2;
    // Stop after this much media; zero or less: do not stop.
    std::chrono::milliseconds duration{};
    bool reset = true;
};
// Audio, video or data (always AMF0; `@setDataFrame` is still in front). Never empty. Aggregates are already taken apart.
struct GotMedia {
    wire::rtmp::MessageType type{};
    std::uint32_t timestamp_ms = 0;
    Slice payload;
};
// The player asks for silence or for more; answer with accept_pause(). Reading goes on meanwhile.
struct PauseChanged {
    bool paused = false;
};
// The publisher stopped and has been answered; the connection stays and may publish or play again.
struct StoppedPublishing {};
// The player stopped; the connection stays and may play or publish again.
struct StoppedPlaying {};
// deleteStream: the session ends.
struct StreamDeleted {};
// The first call of a client that was told to go elsewhere: it has read the redirect and the socket may close.
struct RedirectAnswered {};
// The peer does something odd that is not worth ending the connection. At most one of a kind per connection.
struct PeerWarning {
    std::string sentence;
};

using Event = std::variant<GotMedia, WantsToConnect, WantsToPublish, WantsToPlay, PauseChanged, StoppedPublishing, StoppedPlaying,
                           StreamDeleted, RedirectAnswered, PeerWarning>;

}  // namespace live::engine::rtmp
