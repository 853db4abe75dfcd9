#include "wire/ts/read/audio_frames.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/audio/ac3.hpp"
#include "wire/codec/audio/adts.hpp"
#include "wire/codec/audio/mp3.hpp"
#include "wire/codec/audio/opus.hpp"

namespace live::wire::ts {

using codec::Codec;
using codec::Content;

namespace {

constexpr std::uint32_t kAacSamples = 1'024;
constexpr std::uint32_t kOpusRate = 48'000;

Error cut(std::size_t wanted, std::size_t there) {
    return {Errc::need_more, "a frame of " + std::to_string(wanted) + " bytes, of which " + std::to_string(there) + " are there"};
}

// "Encapsulation of Opus in ISO/IEC 13818-1", opus_control_header(): returns the bytes of the packet that follows.
Result<std::size_t> read_control_header(ByteReader& in) {
    constexpr std::uint16_t kPrefix = 0x3FF;  // eleven bits
    const auto head = TRY(in.u16be());
    if (head >> 5 != kPrefix)
        return Error(Errc::malformed, "an Opus packet without its control header");
    std::size_t size = 0;
    for (std::uint8_t part = 0xFF; part == 0xFF; size += part)
        part = TRY(in.u8());
    if ((head & 0x10) != 0)
        TRY(in.skip(2));  // start_trim
    if ((head & 0x08) != 0)
        TRY(in.skip(2));  // end_trim
    if ((head & 0x04) != 0)
        TRY(in.skip(TRY(in.u8())));
    return size;
}

// Where a frame may begin, from `at` on.
std::size_t next_sync(StreamFormat format, Bytes input, std::size_t at) {
    const auto first = [format]() -> std::uint8_t {
        switch (format) {
            case StreamFormat::latm: return 0x56;
            case StreamFormat::ac3:
            case StreamFormat::eac3: return 0x0B;
            case StreamFormat::opus: return 0x7F;
            default: return 0xFF;
        }
    };
    const auto found = std::ranges::find(input.subspan(at), first());
    return static_cast<std::size_t>(found - input.begin());
}

}  // namespace

std::size_t AudioFrames::push(Bytes payload, std::optional<MediaTime> pts, std::vector<codec::Frame>& out) {
    const std::size_t held = held_.size();
    std::vector<std::uint8_t> joined;
    if (held > 0) {
        joined = std::move(held_);
        joined.insert(joined.end(), payload.begin(), payload.end());
    }
    auto before = std::exchange(held_pts_, std::nullopt);
    held_.clear();
    const Bytes input = held > 0 ? Bytes(joined) : payload;
    std::size_t skipped = 0;
    for (std::size_t at = 0; at < input.size();) {
        const Bytes rest = input.subspan(at);
        auto found = find(rest);
        // Each Opus packet is in one PES packet.
        if (!found.ok() && found.code() == Errc::need_more && rest.size() < kHeldBytesMax && format_ != StreamFormat::opus) {
            held_.assign(rest.begin(), rest.end());
            held_pts_ = at < held ? before : pts;
            break;
        }
        if (!found.ok()) {
            const std::size_t next = next_sync(format_, input, at + 1);
            skipped += next - at;
            at = next;
            continue;
        }
        if (const auto time = std::exchange(at < held ? before : pts, std::nullopt)) {
            begin_ = time;
            samples_ = 0;
        }
        at += found->bytes;
        emit(*std::move(found), out);
    }
    return skipped;
}

MediaTime AudioFrames::now() const {
    constexpr std::uint64_t kMicros = 1'000'000;
    if (rate_ == 0)
        return *begin_;
    return *begin_ + MediaTime(static_cast<std::int64_t>(samples_ / rate_ * kMicros + samples_ % rate_ * kMicros / rate_));
}

void AudioFrames::emit(Found found, std::vector<codec::Frame>& out) {
    if (!begin_) {
        adts_config_.reset();  // its configuration was not returned
        return;
    }
    if (found.rate != rate_) {
        begin_ = now();
        samples_ = 0;
        rate_ = found.rate;
    }
    emit_config(found, out);
    for (Slice& frame : found.frames) {
        out.push_back({.codec = found.codec,
                       .content = Content::frame,
                       .key = false,
                       .track = {},
                       .dts = now(),
                       .cts = {},
                       .data = std::move(frame)});
        samples_ += found.samples;
    }
}

void AudioFrames::emit_config(const Found& found, std::vector<codec::Frame>& out) {
    if (found.config.empty() || found.config == config_)
        return;
    config_ = found.config;
    out.push_back({.codec = found.codec,
                   .content = Content::config,
                   .key = false,
                   .track = {},
                   .dts = now(),
                   .cts = {},
                   .data = Slice::copy_of(config_)});
}

Result<AudioFrames::Found> AudioFrames::find(Bytes input) {
    switch (format_) {
        case StreamFormat::aac: return find_adts(input);
        case StreamFormat::latm: return find_latm(input);
        case StreamFormat::mpeg_audio: return find_mpeg(input);
        case StreamFormat::ac3:
        case StreamFormat::eac3: return find_ac3(input);
        case StreamFormat::opus: return find_opus(input);
        default: return Error(Errc::unsupported, "no audio");
    }
}

Result<AudioFrames::Found> AudioFrames::find_adts(Bytes input) {
    ByteReader in(input);
    const auto frame = TRY(codec::read_adts_frame(in));
    Found found;
    found.bytes = in.position();
    if (!frame.data.empty())
        found.frames.push_back(Slice::copy_of(frame.data));
    if (adts_config_ != frame.header.config) {
        ByteWriter config;
        codec::write_aac_config(config, frame.header.config);
        found.config = config.release();
        adts_config_ = frame.header.config;
    }
    found.codec = Codec::aac;
    found.samples = kAacSamples;
    found.rate = frame.header.config.sample_rate;
    return found;
}

Result<AudioFrames::Found> AudioFrames::find_latm(Bytes input) {
    ByteReader in(input);
    Found found;
    const auto read = latm_.read(in, found.frames);
    if (!read.ok() && in.position() == 0)
        return read.error();
    // An element that is broken inside is skipped as a whole.
    found.bytes = in.position();
    if (!read.ok())
        found.frames.clear();
    found.config = latm_.config();
    found.codec = Codec::aac;
    found.samples = kAacSamples;
    found.rate = latm_.parsed().sample_rate;
    return found;
}

Result<AudioFrames::Found> AudioFrames::find_mpeg(Bytes input) const {
    const auto header = TRY(codec::parse_mpeg_audio_header(input));
    if (header.frame_bytes < codec::kMp3HeaderBytes)
        return Error(Errc::malformed, "an MPEG audio frame shorter than its header");
    if (header.frame_bytes > input.size())
        return cut(header.frame_bytes, input.size());
    Found found;
    found.bytes = header.frame_bytes;
    found.frames.push_back(Slice::copy_of(input.first(header.frame_bytes)));
    found.codec = Codec::mp3;
    found.samples = header.samples;
    found.rate = header.sample_rate;
    return found;
}

// Includes the E-AC-3 substreams that follow the frame, as far as they are in this packet.
Result<AudioFrames::Found> AudioFrames::find_ac3(Bytes input) const {
    const auto header = TRY(codec::parse_ac3_header(input));
    if (header.continues)
        return Error(Errc::malformed, "a substream of E-AC-3 without its first");
    std::size_t bytes = header.frame_bytes;
    while (bytes < input.size()) {
        const auto next = codec::parse_ac3_header(input.subspan(bytes));
        if (!next.ok() || !next->continues || bytes + next->frame_bytes > codec::kAc3FrameBytesMax)
            break;
        bytes += next->frame_bytes;
    }
    if (bytes > input.size())
        return cut(bytes, input.size());
    Found found;
    found.bytes = bytes;
    found.frames.push_back(Slice::copy_of(input.first(bytes)));
    found.codec = header.enhanced ? Codec::eac3 : Codec::ac3;
    found.samples = header.samples;
    found.rate = header.sample_rate;
    return found;
}

Result<AudioFrames::Found> AudioFrames::find_opus(Bytes input) const {
    ByteReader in(input);
    const std::size_t size = TRY(read_control_header(in));
    const Bytes packet = TRY(in.take(size));
    Found found;
    found.samples = TRY(codec::opus_samples(packet));
    found.config = TRY(codec::make_opus_head(opus_channels_));
    found.bytes = in.position();
    found.frames.push_back(Slice::copy_of(packet));
    found.codec = Codec::opus;
    found.rate = kOpusRate;
    return found;
}

}  // namespace live::wire::ts
