// An RTMP command (RTMP 1.0, section 7.1.1): a name, a transaction, a command object and arguments. Reads AMF0 and AMF3 command
// messages, writes AMF0 ones, which every client accepts. Does not interpret the name.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/amf/value.hpp"
#include "wire/rtmp/message.hpp"

namespace live::engine::rtmp {

struct Command {
    std::string name;
    double transaction = 0;
    wire::amf::Value object;
    std::vector<wire::amf::Value> arguments;

    // Undefined if there are fewer.
    const wire::amf::Value& argument(std::size_t index) const;
    // The text of an argument; empty if it is not a string.
    std::string_view text(std::size_t index) const;
};

// The message stream of commands that belong to the connection as a whole (RTMP 1.0, section 7.2.1).
inline constexpr std::uint32_t kConnectionStreamId = 0;

// Values after the command object; a command with more is refused.
inline constexpr std::size_t kCommandArgumentsMax = 16;

// `message` is an amf0_command or amf3_command. Errc::malformed, Errc::limit.
Result<Command> parse_command(const wire::rtmp::Message& message);

// The body of a command: name, transaction, then the values, the first of which is the command object.
std::vector<std::uint8_t> write_command(std::string_view name, double transaction,
                                        std::initializer_list<wire::amf::Value> values);

// The AMF0 data message body that corresponds to this AMF3 one (message type 15).
Result<Slice> data_from_amf3(Bytes body);

enum class StatusLevel : std::uint8_t { status, warning, error };

// { level, code, description }, the content of onStatus and _error.
wire::amf::Value status_object(StatusLevel level, std::string_view code, std::string_view description);

}  // namespace live::engine::rtmp
