// For tests only: the other end of a connection, written by hand, so that a test checks the wire itself instead of trusting our
// own Client or Server. Also the in-memory link with seeded cuts that joins two engines.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "engine/rtmp/command.hpp"
#include "wire/amf/amf.hpp"
#include "wire/rtmp/chunk_reader.hpp"
#include "wire/rtmp/chunk_writer.hpp"
#include "wire/rtmp/control_message.hpp"

namespace live::engine::rtmp {

using Octets = std::vector<std::uint8_t>;

// Collects an engine's output and parses it into messages.
class WireReader {
public:
    // The messages in `bytes`; follows our chunk size announcements.
    std::vector<wire::rtmp::Message> read(Bytes bytes) {
        std::vector<wire::rtmp::Message> messages;
        for (;;) {
            auto message = reader_.read(bytes);
            EXPECT_TRUE(message.ok()) << (message.ok() ? "" : message.error().text());
            if (!message.ok() || !message->has_value())
                return messages;
            if ((*message)->type == wire::rtmp::MessageType::set_chunk_size)
                reader_.set_chunk_size(MUST(ByteReader((*message)->payload.bytes()).u32be()));
            messages.push_back(std::move(**message));
        }
    }

private:
    wire::rtmp::ChunkReader reader_;
};

// One line per message, so that a whole exchange can be compared at a glance: "window_ack_size 2500000", "_result 1", "onStatus
// NetStream.Play.Start".
inline std::string in_words(const wire::rtmp::Message& message) {
    using namespace wire::rtmp;
    if (is_control(message.type)) {
        const ControlMessage control = MUST(parse_control(message.type, message.payload.bytes()));
        if (const auto* size = std::get_if<SetChunkSize>(&control))
            return "chunk_size " + std::to_string(size->bytes);
        if (const auto* window = std::get_if<WindowAckSize>(&control))
            return "window " + std::to_string(window->bytes);
        if (const auto* acknowledged = std::get_if<Acknowledgement>(&control))
            return "acknowledgement " + std::to_string(acknowledged->bytes_received);
        if (const auto* bandwidth = std::get_if<SetPeerBandwidth>(&control))
            return "bandwidth " + std::to_string(bandwidth->bytes) + " " + std::to_string(static_cast<int>(bandwidth->limit));
        if (const auto* user = std::get_if<UserControl>(&control))
            return "user " + std::to_string(static_cast<int>(user->event)) + " " + std::to_string(user->value);
        return "control";
    }
    if (message.type == MessageType::amf0_command) {
        const Command command = MUST(parse_command(message));
        std::string words = command.name;
        if (command.name == "_result" || command.name == "_error")
            words += " " + std::to_string(static_cast<int>(command.transaction));
        for (const wire::amf::Value& value : command.arguments) {
            if (const wire::amf::Value* code = value.find("code"))
                words += " " + std::string(code->string().value_or("?"));
        }
        return words;
    }
    ByteReader in(message.payload.bytes());
    if (message.type == MessageType::amf0_data)
        return "data " + std::string(MUST(wire::amf::read_amf0(in)).string().value_or("?"));
    return "type " + std::to_string(static_cast<int>(message.type));
}

// A handwritten client.
class RawClient {
public:
    // A simple handshake; the caller discards the server's answer.
    static Octets handshake() {
        Octets bytes(1 + 2 * 1536, 0);
        bytes[0] = 3;
        return bytes;
    }
    static Octets message(wire::rtmp::MessageType type, Bytes payload, std::uint32_t timestamp_ms = 0,
                          std::uint32_t chunk_stream = 3, std::uint32_t chunk_size = 128) {
        ByteWriter out;
        wire::rtmp::write_message(out, chunk_stream, type, timestamp_ms, 1, payload, chunk_size);
        return out.release();
    }
    static Octets call(std::string_view name, double transaction, std::initializer_list<wire::amf::Value> values) {
        return message(wire::rtmp::MessageType::amf0_command, write_command(name, transaction, values));
    }
    static Octets control(const wire::rtmp::ControlMessage& message) {
        ByteWriter out;
        wire::rtmp::write_control(out, message);
        return out.release();
    }
    static Octets connect() {
        return call("connect", 1, {wire::amf::Value::object({{"app", "live"}, {"tcUrl", "rtmp://h/live"}})});
    }
};

// Passes bytes on in pieces: all at once, one byte at a time, or random cuts.
class Cuts {
public:
    explicit Cuts(unsigned seed) : random_(seed), seed_(seed) {}

    std::size_t next(std::size_t left) {
        if (seed_ == 0)
            return left;
        if (seed_ == 1)
            return 1;
        return std::min<std::size_t>(left, 1 + random_() % (seed_ % 2 == 0 ? 40 : 3000));
    }

private:
    std::mt19937 random_;
    unsigned seed_;
};

}  // namespace live::engine::rtmp
