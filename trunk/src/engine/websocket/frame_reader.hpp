// Parses the WebSocket data of a client or a server (RFC 6455, 5): frames in any portions in, whole messages out. Control frames
// may come between the fragments of a message and are returned at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/websocket/frame.hpp"

namespace live::engine::websocket {

class FrameReader {
public:
    enum class Sender : std::uint8_t { client, server };  // a client masks its frames, a server does not
    struct Limits {
        std::size_t message_bytes = 64 << 10;  // of all fragments together
        Sender sender = Sender::client;
    };

    FrameReader() = default;
    explicit FrameReader(Limits limits) : limits_(limits) {}

    // Consumes input up to the end of one message at most, and returns the number of bytes consumed; take the message with next()
    // before the next feed(). Data after a close frame is discarded. Errc::malformed, Errc::limit; after an error the reader is
    // unusable: send close_code() and close the connection.
    Result<std::size_t> feed(Bytes input);
    // Returns the completed message once.
    std::optional<Message> next();

    // The close code to send after an error.
    CloseCode close_code() const { return close_code_; }
    bool is_closed() const { return closed_; }

private:
    static constexpr std::size_t kHeadBytesMax = 14;
    enum class Stage : std::uint8_t { head, payload, broken };

    std::size_t head_bytes_wanted() const;
    std::size_t fill_head(Bytes input);
    Result<void> check_first_bytes();
    Result<void> begin_payload();
    std::size_t take_payload(Bytes input);
    Result<void> finish_frame();
    Result<void> check_message(const Message& message);
    Error fail(CloseCode code, std::string sentence);

    Limits limits_;
    Message message_;  // the data message being assembled
    Message control_;  // the control frame being read
    std::optional<Message> ready_;
    std::array<std::uint8_t, kHeadBytesMax> head_{};
    std::array<std::uint8_t, 4> mask_{};
    std::size_t head_bytes_ = 0;
    std::uint64_t left_ = 0;  // of the frame's payload
    std::size_t mask_at_ = 0;
    Opcode opcode_ = Opcode::continuation;  // of the frame
    CloseCode close_code_ = CloseCode::protocol_error;
    Stage stage_ = Stage::head;
    bool final_ = false;
    bool in_message_ = false;  // more fragments follow
    bool closed_ = false;
};

}  // namespace live::engine::websocket
