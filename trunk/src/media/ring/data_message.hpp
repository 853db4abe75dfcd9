// Data messages: how packets of Codec::rtp_data travel between nodes and workers, whose connections carry data as AMF0:
// kDataMessageName, the track, the packet's time in ms, its role (DataRole), and the payload as a string of any bytes.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "media/ring/packet.hpp"

namespace live::media {

// A publisher's messages of this name are dropped.
inline constexpr std::string_view kDataMessageName = "onMillraceData";

enum class DataRole : std::uint8_t { packet, marked_packet, description };

struct DataMessage {
    wire::codec::Frame frame;  // without a time
    std::uint32_t time_ms = 0;
};

// Returns the body of a data message. `packet` is of Codec::rtp_data.
Slice write_data_message(const Packet& packet, std::int64_t time_ms);
// Errc::malformed: not a data message; errors as amf::read_amf0.
Result<DataMessage> read_data_message(Bytes body);
// Reports whether `body` begins with kDataMessageName.
bool is_data_message(Bytes body);
// Returns the packet for a connection that carries AMF0: with the data message as its payload.
Packet as_data_message(const Packet& packet, std::int64_t time_ms);

}  // namespace live::media
