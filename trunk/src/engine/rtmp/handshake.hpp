// The RTMP handshake (RTMP 1.0, section 5.2), both ends, simple and complex. Dry: time and randomness are passed in. The random
// bytes protect nothing and only have to differ, so a seed is enough. RTMPE (version 6) is not supported.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "engine/rtmp/digest.hpp"

namespace live::engine::rtmp {

enum class HandshakeForm : std::uint8_t { simple, complex };

// Answers C0 and C1 with S0, S1 and S2 at once and waits for C2. Complex if C1 is signed, else simple.
class ServerHandshake {
public:
    explicit ServerHandshake(std::uint64_t seed) : seed_(seed) {}

    // Consumes the handshake bytes from the front of `input` and appends the answer to `out`; true when the handshake is
    // complete, and then `input` starts with the first chunk. Errc::malformed from the first byte on if the peer does not speak
    // RTMP. Buffers at most 1,536 bytes.
    Result<bool> handle_bytes(TimePoint now, Bytes& input, ByteWriter& out);

    // The form the client used; simple until C1 is complete.
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

// Sends C0 and C1, answers S1 with C2 and completes when S2 has arrived.
class ClientHandshake {
public:
    // If `wanted` is complex, C1 is signed (schema 0); a server that does not sign its S1 gets a simple C2.
    ClientHandshake(std::uint64_t seed, HandshakeForm wanted) : seed_(seed), wanted_(wanted) {}

    // Appends C0 and C1. Call once, first.
    Result<void> start(TimePoint now, ByteWriter& out);

    // As ServerHandshake::handle_bytes. S2 is not verified: some servers do not echo.
    Result<bool> handle_bytes(TimePoint now, Bytes& input, ByteWriter& out);

    // Complex if both sides signed.
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
