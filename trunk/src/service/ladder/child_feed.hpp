// ChildFeed: writes the default video of a source as FLV for a child: from a key frame with its configuration, at times that
// begin at zero. Dry.
#pragma once

#include <optional>

#include "base/bytes/byte_writer.hpp"
#include "media/ring/packet.hpp"
#include "service/ladder/key_times.hpp"

namespace live::service::ladder {

class ChildFeed {
public:
    // `begin` is a key frame.
    ChildFeed(const media::Packet& config, const media::Packet& begin, KeyTimes& keys);

    // Appends a packet; nothing for other kinds and for packets before the first key frame.
    void write(const media::Packet& packet, ByteWriter& out);
    // Whether the packet describes another format than the first configuration: the child cannot follow.
    bool changes_format(const media::Packet& packet) const;
    MediaTime base() const { return base_; }

private:
    void write_tag(const media::Packet& packet, std::int64_t time_ms, ByteWriter& out);

    media::Packet config_;
    MediaTime base_;
    KeyTimes& keys_;
    bool has_begun_ = false;
};

}  // namespace live::service::ladder
