// The RTMP handshake (RTMP 1.0, section 5.2), both ends, simple and complex. Dry: time and randomness are handed in. The random
// bytes only have to differ, nothing is protected by them, so a seed is enough. RTMPE (version 6) is not spoken.
#pragma once

#include <cstdint>
#include <vector>

#include "base/byte_writer.hpp"
#include "base/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtmp/digest.hpp"

namespace live::engine::rtmp {

enum class HandshakeForm : std::uint8_t { simple, complex };

// Answers C0 and C1 with S0, S1 and S2 at once and waits for C2. Complex when C1 is signed, else simple.
class ServerHandshake {
public:
    explicit ServerHandshake(std::uint64_t seed) : seed_(seed) {}

    // Takes what belongs to the handshake from the front of `input`, appends the answer to `out`; true when the handshake is
    // over, and then `input` starts with the first chunk. Errc::malformed from the first byte on when the peer does not speak
    // RTMP. Holds at most 1,536 bytes.
    Result<bool> handle_bytes(TimePoint now, Bytes& input, ByteWriter& out);

    // What the client spoke; simple until C1 is complete.
    HandshakeForm form() const { return form_; }

private:
    enum class Step : std::uint8_t { c0, c1, c2, done };

    Result<void> answer(TimePoint now, ByteWriter& out);

    std::uint64_t seed_;
    std::vector<std::uint8_t> block_;
    std::size_t c2_left_ = kHandshakeBlockBytes;
    Step step_ = Step::c0;
    HandshakeForm form_ = HandshakeForm::simple;
};

// Sends C0 and C1, answers S1 with C2 and is over when S2 has come.
class ClientHandshake {
public:
    // `wanted` complex signs C1 (schema 0); a server that does not sign its S1 then gets a simple C2.
    ClientHandshake(std::uint64_t seed, HandshakeForm wanted) : seed_(seed), wanted_(wanted) {}

    // Appends C0 and C1. Call once, first.
    Result<void> start(TimePoint now, ByteWriter& out);

    // As ServerHandshake::handle_bytes. S2 is not checked: servers exist that do not echo.
    Result<bool> handle_bytes(TimePoint now, Bytes& input, ByteWriter& out);

    // Complex when both sides signed.
    HandshakeForm form() const { return form_; }

private:
    enum class Step : std::uint8_t { s0, s1, s2, done };

    Result<void> answer(TimePoint now, ByteWriter& out);

    std::uint64_t seed_;
    std::vector<std::uint8_t> block_;
    std::size_t s2_left_ = kHandshakeBlockBytes;
    HandshakeForm wanted_;
    HandshakeForm form_ = HandshakeForm::simple;
    Step step_ = Step::s0;
};

}  // namespace live::engine::rtmp
