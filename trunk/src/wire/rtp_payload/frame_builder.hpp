// Puts the packets of one video stream together to frames, whatever the codec: which packets belong to one frame, and which
// frames a loss has spoiled. A frame comes out only when every packet of it came. The codec says what a packet holds.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

class FrameBuilder {
public:
    // Call first for each packet. True when it belongs to a frame that is whole so far: append its bytes. `may_begin` says
    // whether the payload can be the first of a frame; it is asked only behind a loss, where the beginning may be among what is
    // missing.
    bool admit(const Fragment& fragment, bool may_begin);
    // Frames above kFrameBytesMax are lost.
    void append(Bytes bytes);
    void set_key() { frame_.is_key = true; }
    // A unit of the frame has begun and its end must follow: a frame that ends meanwhile is lost.
    void set_unfinished(bool is_unfinished) { unfinished_ = is_unfinished; }
    // The frame is of no use: a packet of it breaks its format.
    void lose();
    // True between admit() and the end of a frame that is whole so far.
    bool is_open() const { return open_; }
    // Behind admit(): is this packet the first of its frame?
    bool begins_with(const Fragment& fragment) const { return open_ && frame_.first_sequence == fragment.sequence; }
    std::vector<std::uint8_t>& data() { return frame_.data; }
    // Call last for each packet: the marker ends the frame.
    void finish(const Fragment& fragment);

    // Frames in order, each once; at most two wait after a packet.
    std::optional<Frame> poll();
    // Frames of which some packets came, but not all.
    std::uint64_t lost_frames() const { return lost_; }

private:
    void complete();

    Frame frame_;
    std::vector<Frame> ready_;
    std::optional<std::uint64_t> last_sequence_;
    std::optional<std::uint32_t> skipped_timestamp_;  // the rest of a lost frame
    std::uint64_t lost_ = 0;
    bool open_ = false;
    bool unfinished_ = false;
    bool follows_loss_ = false;
};

}  // namespace live::wire::rtp_payload
