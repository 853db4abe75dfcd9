#include "media/ingest/framed_aac.hpp"

#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "wire/codec/audio/adts.hpp"

namespace live::media {

namespace codec = wire::codec;

namespace {

// A raw frame cannot begin with either sync word: its first element would be the end, or a coupling channel without the channels
// that it refers to.
bool begins_adts(Bytes body) { return body.size() > codec::kAdtsHeaderBytes && body[0] == 0xFF && (body[1] & 0xF6U) == 0xF0; }

// LOAS elements from the first to the last byte.
bool is_latm(Bytes body) {
    constexpr std::size_t kHeadBytes = 3;
    if (body.size() <= kHeadBytes)
        return false;
    while (body.size() > kHeadBytes) {
        const std::size_t length = (body[1] & 0x1FU) << 8 | body[2];
        if (body[0] != 0x56 || (body[1] & 0xE0U) != 0xE0 || length > body.size() - kHeadBytes)
            return false;
        body = body.subspan(kHeadBytes + length);
    }
    return body.empty();
}

std::optional<FramedAac::Frames> read_adts(Bytes body) {
    ByteReader in(body);
    FramedAac::Frames frames;
    for (std::size_t count = 0; !in.at_end() && count < FramedAac::kFramesMax; ++count) {
        const auto frame = codec::read_adts_frame(in);
        if (!frame.ok() && count == 0)
            return std::nullopt;
        if (!frame.ok())
            break;
        frames.parsed = frame->header.config;
        if (!frame->data.empty())
            frames.raw.push_back(Slice::copy_of(frame->data));
    }
    if (frames.parsed.channels != 0) {
        ByteWriter config;
        codec::write_aac_config(config, frames.parsed);
        frames.config = config.release();
    }
    return frames;
}

FramedAac::Frames read_latm(codec::LatmReader& reader, Bytes body) {
    ByteReader in(body);
    FramedAac::Frames frames;
    while (!in.at_end() && frames.raw.size() < FramedAac::kFramesMax)
        if (const auto read = reader.read(in, frames.raw); !read.ok() && read.code() == Errc::need_more)
            break;
    frames.config = reader.config();
    frames.parsed = reader.parsed();
    return frames;
}

}  // namespace

std::optional<FramedAac::Frames> FramedAac::read(TrackId track, Bytes body) {
    std::optional<Frames> frames;
    if (begins_adts(body))
        frames = read_adts(body);
    else if (is_latm(body))
        frames = read_latm(latm_[track], body);
    if (frames) {
        has_read_ = true;
        tracks_.set(static_cast<std::uint8_t>(track));
    }
    return frames;
}

}  // namespace live::media
