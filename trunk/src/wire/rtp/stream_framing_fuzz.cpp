// Arbitrary bytes as a stream of frames, in portions of a length that the first byte chooses: the result must equal that of a
// single portion, and written again it must be the stream without its empty frames.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "wire/rtp/stream_framing.hpp"

using namespace live;
using namespace live::wire::rtp;

namespace {

std::vector<std::uint8_t> rewritten(Bytes stream, std::size_t piece) {
    StreamUnframer unframer;
    std::vector<std::uint8_t> out;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
        if (!unframer.feed(stream.subspan(at, std::min(piece, stream.size() - at))).ok())
            break;
        while (const auto datagram = unframer.next())
            write_frame(out, *datagram);
        CHECK(unframer.waiting_bytes() < kFrameBytesMax + kFrameHeadBytes);
    }
    return out;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Bytes stream(data + 1, size - 1);
    const auto cut = rewritten(stream, static_cast<std::size_t>(data[0]) + 1);
    CHECK(rewritten(cut, cut.size() + 1) == cut);
    return 0;
}
