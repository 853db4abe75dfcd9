// Reads what a client sends on a WebSocket (RFC 6455, 5): frames in any portions, whole messages out. Control frames may come
// between the fragments of a message and are given at once.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/bytes.hpp"
#include "base/result.hpp"
#include "engine/websocket/frame.hpp"

namespace live::engine::websocket {

class FrameReader {
public:
    struct Limits {
        std::size_t message_bytes = 64 << 10;  // of all fragments together
    };

    FrameReader() = default;
    explicit FrameReader(Limits limits) : limits_(limits) {}

    // Reads off the front of `input`, at most to the end of one message, and says how many bytes that took; take the message with
    // next() before feeding on. What follows a close frame is swallowed. Errc::malformed, Errc::limit; after an error the reader
    // is of no use: send close_code() and close the connection.
    Result<std::size_t> feed(Bytes input);
    // The message that feed() completed, once.
    std::optional<Message> next();

    // What to tell the client after an error.
    CloseCode close_code() const { return close_code_; }
    bool is_closed() const { return closed_; }

private:
    static constexpr std::size_t kHeadBytesMax = 14;
    enum class Stage : std::uint8_t { head, payload, broken };

    std::size_t fill_head(Bytes input);
    Result<void> check_first_bytes();
    Result<void> begin_payload();
    std::size_t take_payload(Bytes input);
    Result<void> finish_frame();
    Result<void> check_message(const Message& message);
    Error fail(CloseCode code, std::string sentence);

    Limits limits_;
    Message message_;  // the data message being put together
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
    bool in_message_ = false;  // fragments are to follow
    bool closed_ = false;
};

}  // namespace live::engine::websocket
