#include "media/ring/data_message.hpp"

#include <limits>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/check.hpp"
#include "wire/amf/amf.hpp"

namespace live::media {

namespace amf = wire::amf;

namespace {

Result<std::uint32_t> read_number(ByteReader& reader, std::uint32_t max) {
    const auto number = TRY(amf::read_amf0(reader)).number();
    if (!number || !(*number >= 0 && *number <= max))
        return Error(Errc::malformed, "a data message with a number out of range");
    return static_cast<std::uint32_t>(*number);
}

}  // namespace

Slice write_data_message(const Packet& packet, std::int64_t time_ms) {
    CHECK(packet.codec == Codec::rtp_data);
    const DataRole role = packet.is_config() ? DataRole::description : packet.key ? DataRole::marked_packet : DataRole::packet;
    ByteWriter writer;
    amf::write_amf0(writer, amf::Value(kDataMessageName));
    for (const std::uint32_t number : {std::uint32_t{static_cast<std::uint8_t>(packet.track)},
                                       static_cast<std::uint32_t>(time_ms), std::uint32_t{static_cast<std::uint8_t>(role)}})
        amf::write_amf0(writer, amf::Value(double{number * 1.0}));
    amf::write_amf0(writer, amf::Value(as_text(packet.frame())));
    return Slice::copy_of(writer.written());
}

Result<DataMessage> read_data_message(Bytes body) {
    ByteReader reader(body);
    if (TRY(amf::read_amf0(reader)).string() != kDataMessageName)
        return Error(Errc::malformed, "not a data message");
    const auto track = TRY(read_number(reader, std::numeric_limits<std::uint8_t>::max()));
    const auto time_ms = TRY(read_number(reader, std::numeric_limits<std::uint32_t>::max()));
    const auto role = TRY(read_number(reader, static_cast<std::uint32_t>(DataRole::description)));
    const amf::Value payload = TRY(amf::read_amf0(reader));
    if (!payload.string())
        return Error(Errc::malformed, "a data message without its payload");
    const bool is_description = role == static_cast<std::uint32_t>(DataRole::description);
    return DataMessage{.frame = {.codec = Codec::rtp_data,
                                 .content = is_description ? Content::config : Content::frame,
                                 .key = role == static_cast<std::uint32_t>(DataRole::marked_packet),
                                 .track = TrackId(track),
                                 .data = Slice::copy_of(as_bytes(*payload.string()))},
                       .time_ms = time_ms};
}

bool is_data_message(Bytes body) {
    ByteReader reader(body);
    const auto name = amf::read_amf0(reader);
    return name.ok() && name->string() == kDataMessageName;
}

Packet as_data_message(const Packet& packet, std::int64_t time_ms) {
    Packet message;
    message.track = packet.track;
    message.dts = packet.dts;
    message.payload = write_data_message(packet, time_ms);
    return message;
}

}  // namespace live::media
