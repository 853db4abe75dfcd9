#include "engine/rtmp/command.hpp"

#include <array>
#include <string>

#include <fmt/format.h>

#include "base/bytes/byte_reader.hpp"
#include "wire/amf/amf.hpp"

namespace live::engine::rtmp {
namespace {

using wire::amf::Value;

// The body of an AMF3 command starts with a format byte of 0; the rest is AMF0, which can switch to AMF3 for single values with
// its own marker.
Bytes without_format_byte(Bytes body) { return !body.empty() && body[0] == 0 ? body.subspan(1) : body; }

}  // namespace

const Value& Command::argument(std::size_t index) const {
    static const Value kNothing;
    return index < arguments.size() ? arguments[index] : kNothing;
}

std::string_view Command::text(std::size_t index) const { return argument(index).string().value_or(std::string_view()); }

Result<Command> parse_command(const wire::rtmp::Message& message) {
    Bytes body = message.payload.bytes();
    if (message.type == wire::rtmp::MessageType::amf3_command)
        body = without_format_byte(body);
    ByteReader in(body);
    Command command;
    const Value name = TRY(wire::amf::read_amf0(in));
    if (!name.string())
        return Error(Errc::malformed, "a call does not begin with its name");
    command.name = *name.string();
    if (in.at_end())
        return command;
    const Value transaction = TRY(wire::amf::read_amf0(in));
    command.transaction = transaction.number().value_or(0);
    if (in.at_end())
        return command;
    command.object = TRY(wire::amf::read_amf0(in));
    while (!in.at_end()) {
        if (command.arguments.size() == kCommandArgumentsMax)
            return Error(Errc::limit, "a call with more than " + std::to_string(kCommandArgumentsMax) + " arguments");
        command.arguments.push_back(TRY(wire::amf::read_amf0(in)));
    }
    return command;
}

std::vector<std::uint8_t> write_command(std::string_view name, double transaction, std::initializer_list<Value> values) {
    ByteWriter out;
    wire::amf::write_amf0(out, Value(name));
    wire::amf::write_amf0(out, Value(transaction));
    for (const Value& value : values)
        wire::amf::write_amf0(out, value);
    return out.release();
}

Result<Slice> data_from_amf3(Bytes body) {
    ByteReader in(without_format_byte(body));
    ByteWriter out;
    for (std::size_t count = 0; !in.at_end(); ++count) {
        if (count == kCommandArgumentsMax)
            return Error(Errc::limit, fmt::format("a data message with more than {} values", kCommandArgumentsMax));
        wire::amf::write_amf0(out, TRY(wire::amf::read_amf0(in)));
    }
    return Slice::copy_of(out.written());
}

Value status_object(StatusLevel level, std::string_view code, std::string_view description) {
    constexpr std::array<const char*, 3> kNames = {"status", "warning", "error"};
    return Value::object({{"level", kNames[static_cast<std::size_t>(level)]},
                          {"code", std::string(code)},
                          {"description", std::string(description)}});
}

}  // namespace live::engine::rtmp
