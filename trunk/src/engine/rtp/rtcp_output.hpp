// Combines RTCP packets that are due at the same time into datagrams of moderate length (RFC 5506 allows any mix).
#pragma once

#include <vector>

#include "base/bytes/byte_writer.hpp"

namespace live::engine::rtp {

class RtcpOutput {
public:
    // A datagram longer than this gets no further packet.
    static constexpr std::size_t kFullBytes = 700;

    // Where to write the next packet.
    ByteWriter& next() {
        if (datagrams_.empty() || datagrams_.back().size() > kFullBytes)
            datagrams_.emplace_back();
        return datagrams_.back();
    }
    const std::vector<ByteWriter>& datagrams() const { return datagrams_; }

private:
    std::vector<ByteWriter> datagrams_;
};

}  // namespace live::engine::rtp
