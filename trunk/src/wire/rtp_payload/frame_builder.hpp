// Reassembles frames from the packets of one video stream, for any codec: determines which packets belong to a frame, and which
// frames are damaged by loss. Only frames with all their packets are returned. The codec interprets the payloads.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "wire/rtp_payload/frame.hpp"

namespace live::wire::rtp_payload {

class FrameBuilder {
public:
    // Call first for each packet. Returns true when it belongs to a frame that is intact so far: append its bytes. `may_begin`:
    // the payload can be the first of a frame; used only after a loss, where the start may be missing.
    bool admit(const Fragment& fragment, bool may_begin);
    // Frames above kFrameBytesMax are lost.
    void append(Bytes bytes);
    void set_key() { frame_.is_key = true; }
    // Marks a unit as started but not finished: if the frame ends before it does, the frame is lost.
    void set_unfinished(bool is_unfinished) { unfinished_ = is_unfinished; }
    // Drops the frame, because one of its packets is malformed.
    void lose();
    // True between admit() and the end of a frame that is intact so far.
    bool is_open() const { return open_; }
    // After admit(): whether this packet is the first of its frame.
    bool begins_with(const Fragment& fragment) const { return open_ && frame_.first_sequence == fragment.sequence; }
    std::vector<std::uint8_t>& data() { return frame_.data; }
    // Call last for each packet: the marker ends the frame.
    void finish(const Fragment& fragment);

    // Takes the memory of a frame that its reader has copied.
    static void recycle(std::vector<std::uint8_t> data);
    // Complete frames in order; at most two are pending after a packet.
    std::optional<Frame> poll();
    // Number of frames of which only some packets arrived.
    std::uint64_t lost_frames() const { return lost_; }

private:
    static constexpr std::size_t kUsualBytesMin = 1'024;

    void complete();

    Frame frame_;
    std::vector<Frame> ready_;
    std::optional<std::uint64_t> last_sequence_;
    std::optional<std::uint32_t> skipped_timestamp_;  // ignores the rest of a lost frame
    std::uint64_t lost_ = 0;
    std::size_t usual_bytes_ = 0;  // about the size of the latest frames
    bool open_ = false;
    bool unfinished_ = false;
    bool follows_loss_ = false;
};

}  // namespace live::wire::rtp_payload
