// RTCP packets that are due at one moment, put together to datagrams of a moderate length (RFC 5506 allows any mix).
#pragma once

#include <vector>

#include "base/byte_writer.hpp"

namespace live::engine::rtp {

class RtcpOutput {
public:
    // A datagram longer than this takes no further packet.
    static constexpr std::size_t kFullBytes = 700;

    // Where to write one more packet.
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
