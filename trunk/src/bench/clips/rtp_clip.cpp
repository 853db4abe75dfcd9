#include "bench/clips/rtp_clip.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/flv/video_tag.hpp"
#include "wire/rtp_payload/nal.hpp"

namespace live::bench {
namespace {

namespace flv = wire::flv;
namespace rtp_payload = wire::rtp_payload;

constexpr std::uint8_t kTypeMask = 0x1F;
constexpr std::uint8_t kSps = 7;
constexpr std::uint8_t kPps = 8;
constexpr std::uint8_t kDelimiter = 9;  // RTP uses its marker bit instead

class Maker {
public:
    explicit Maker(std::uint32_t round_ms) { clip.round_ms = round_ms; }

    Result<void> add(const ClipMessage& message) {
        if (message.type != wire::rtmp::MessageType::video)
            return {};
        const flv::VideoTag tag = TRY(flv::parse_video_tag(message.body.bytes()));
        if (tag.codec != wire::codec::Codec::avc)
            return Error(Errc::unsupported,
                         fmt::format("the file has {}; only H.264 is published here", wire::codec::name_of(tag.codec)));
        if (tag.kind == flv::PacketKind::sequence_header)
            return set_config(tag.body);
        if (tag.kind != flv::PacketKind::frames || tag.body.empty())
            return {};
        return add_frame(message.time_ms, tag);
    }

    RtpClip clip;

private:
    Result<void> set_config(Bytes record) {
        const auto config = TRY(wire::codec::parse_avc_config(record));
        ByteWriter sets;
        for (const auto* units : {&config.sps, &config.pps})
            for (const Bytes unit : *units)
                put(sets, unit);
        sets_ = sets.release();
        length_bytes_ = config.nal_length_size;
        clip.format = wire::codec::avc_rtp_format(config);
        return {};
    }

    Result<void> add_frame(std::uint32_t time_ms, const flv::VideoTag& tag) {
        ByteWriter sets;
        ByteWriter picture;
        ByteReader in(tag.body);
        while (!in.at_end()) {
            std::uint32_t length = 0;
            for (std::uint8_t i = 0; i < length_bytes_; ++i)
                length = length << 8 | TRY(in.u8());
            const Bytes unit = TRY(in.take(length));
            if (unit.empty())
                continue;
            const std::uint8_t type = unit[0] & kTypeMask;
            if (type != kDelimiter)
                put(type == kSps || type == kPps ? sets : picture, unit);
        }
        if (picture.size() == 0)
            return {};
        if (tag.key && sets.size() == 0)
            sets.bytes(sets_);
        // B-frames are shown later than sent, and possibly before frames that were sent earlier.
        const auto shown = std::max<std::int64_t>(0, std::int64_t{time_ms} + tag.composition.count());
        TRY(add_packets(time_ms, static_cast<std::uint32_t>(shown), sets.written(), picture.written()));
        ++clip.pictures;
        return {};
    }

    Result<void> add_packets(std::uint32_t time_ms, std::uint32_t shown_ms, Bytes sets, Bytes picture) {
        rtp_payload::PayloadList payloads;
        if (!sets.empty())
            TRY(packetize_nal(rtp_payload::NalCodec::avc, sets, RtpClip::kPayloadBytesMax, payloads));
        const std::size_t before = payloads.size();
        TRY(packetize_nal(rtp_payload::NalCodec::avc, picture, RtpClip::kPayloadBytesMax, payloads));
        for (std::size_t i = 0; i < payloads.size(); ++i)
            clip.packets.push_back({time_ms, shown_ms, i + 1 == payloads.size(), i == before, Slice::copy_of(payloads[i])});
        return {};
    }

    static void put(ByteWriter& out, Bytes unit) { out.u32be(static_cast<std::uint32_t>(unit.size())).bytes(unit); }

    std::vector<std::uint8_t> sets_;
    std::uint8_t length_bytes_ = 4;
};

}  // namespace

Result<RtpClip> make_rtp_clip(const FlvClip& clip) {
    Maker maker(clip.round_ms);
    for (const ClipMessage& message : clip.messages)
        TRY(maker.add(message));
    if (maker.clip.packets.empty())
        return Error(Errc::unsupported, "the file has no H.264, and nothing else is published here");
    return std::move(maker.clip);
}

}  // namespace live::bench
