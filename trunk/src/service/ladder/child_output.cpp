#include "service/ladder/child_output.hpp"

#include <algorithm>
#include <utility>

#include "media/ring/tag_packet.hpp"

namespace live::service::ladder {

using wire::codec::Content;
using wire::codec::Frame;

void ChildOutput::set_times(Frame& frame, std::int64_t time_ms) {
    const MediaTime dts = std::chrono::milliseconds(time_ms);
    const MediaTime pts = dts + frame.cts;
    MediaTime shown = base_ + pts;
    frame.dts = base_ + dts + shift_;
    if (frame.key) {
        const auto of_source = keys_.find(std::chrono::floor<std::chrono::milliseconds>(pts).count());
        if (of_source) {
            shift_ = of_source->dts - (base_ + dts);
            frame.dts = of_source->dts;
            shown = of_source->pts;
        } else {
            ++extra_keys_;
        }
    }
    last_ = std::max(last_, frame.dts);
    frame.dts = last_;
    frame.cts = shown - frame.dts;
}

Result<void> ChildOutput::read(Bytes bytes, std::vector<Frame>& frames) {
    while (!bytes.empty()) {
        bytes = bytes.subspan(TRY(reader_.feed(bytes)));
        auto tag = reader_.next();
        if (!tag || tag->header.type != wire::flv::TagType::video)
            continue;
        const media::TagPacket read = TRY(media::read_tag(MediaKind::video, std::move(tag->body)));
        if (read.has_more || read.packet.content == Content::other || read.packet.codec == wire::codec::Codec::none)
            continue;
        Frame frame = media::frame_of(read.packet);
        frame.track = {};
        if (frame.content == Content::frame)
            set_times(frame, tag->header.timestamp_ms);
        else
            frame.dts = last_;
        frames.push_back(std::move(frame));
    }
    return {};
}

}  // namespace live::service::ladder
