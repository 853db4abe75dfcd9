#include "bench/clips/flv_clip.hpp"

#include <algorithm>
#include <optional>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "bench/clips/media_head.hpp"
#include "bench/measure/delay_stamp.hpp"
#include "wire/amf/amf.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::bench {

namespace {

namespace flv = wire::flv;
using wire::amf::Value;
using wire::rtmp::MessageType;

// The distance between two messages of a kind when the clip has only one.
constexpr std::uint32_t kStepMs = 40;

// Timing of the messages of one kind.
struct Kind {
    std::uint32_t first_ms = 0;
    std::uint32_t last_ms = 0;
    std::uint32_t count = 0;

    void add(std::uint32_t time_ms) {
        first_ms = count == 0 ? time_ms : first_ms;
        last_ms = std::max(last_ms, time_ms);
        ++count;
    }
    std::uint32_t end_ms() const {
        return count < 2 ? last_ms + kStepMs : last_ms + std::max((last_ms - first_ms) / (count - 1), 1U);
    }
};

// Nothing for script data other than metadata.
std::optional<Slice> metadata_of(Bytes body) {
    ByteReader in(body);
    auto name = wire::amf::read_amf0(in);
    if (name.ok() && name->string() == "@setDataFrame")
        name = wire::amf::read_amf0(in);
    if (!name.ok() || name->string() != "onMetaData")
        return std::nullopt;
    auto values = wire::amf::read_amf0(in);
    if (!values.ok() || !(values->is(wire::amf::Kind::object) || values->is(wire::amf::Kind::ecma_array)))
        return std::nullopt;
    values->set("duration", -1);
    values->erase("filesize");
    ByteWriter out;
    wire::amf::write_amf0(out, "@setDataFrame");
    wire::amf::write_amf0(out, "onMetaData");
    wire::amf::write_amf0(out, *values);
    return Slice::copy_of(out.written());
}

class Maker {
public:
    void add(flv::Tag tag) {
        const Bytes body = tag.body.bytes();
        if (tag.header.type == flv::TagType::script) {
            if (auto metadata = metadata_of(body))
                clip.messages.push_back({MessageType::amf0_data, 0, true, *std::move(metadata)});
            return;
        }
        if (body.empty())
            return;
        const bool is_video = tag.header.type == flv::TagType::video;
        const bool has_frames = carries_frames(tag.header.type, body);
        if (has_frames && !zero_ms_)
            zero_ms_ = tag.header.timestamp_ms;
        const std::uint32_t time_ms = !zero_ms_ ? 0 : tag.header.timestamp_ms - std::min(*zero_ms_, tag.header.timestamp_ms);
        if (is_video && !has_frames && has_long_nal_lengths(body))
            clip.takes_video_stamps = true;
        if (has_frames) {
            (is_video ? video : audio).add(time_ms);
            clip.media_bytes += body.size();
        }
        clip.messages.push_back({is_video ? MessageType::video : MessageType::audio, time_ms, !has_frames, std::move(tag.body)});
    }

    FlvClip clip;
    Kind audio, video;

private:
    std::optional<std::uint32_t> zero_ms_;
};

}  // namespace

double FlvClip::kbps() const { return static_cast<double>(media_bytes) * 8 / std::max(round_ms, 1U); }

Result<FlvClip> parse_clip(Bytes file) {
    Maker maker;
    flv::FlvReader reader;
    while (!file.empty()) {
        file = file.subspan(TRY(reader.feed(file)));
        if (auto tag = reader.next())
            maker.add(*std::move(tag));
    }
    if (maker.audio.count + maker.video.count == 0)
        return Error(Errc::malformed, "the FLV file has neither audio nor video");
    maker.clip.round_ms =
        std::max(maker.audio.count > 0 ? maker.audio.end_ms() : 0, maker.video.count > 0 ? maker.video.end_ms() : 0);
    return std::move(maker.clip);
}

}  // namespace live::bench
