// For tests of the converters between frames and RTP: packets, a transcoder that only counts, and readers of an RTP log.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/bytes/byte_writer.hpp"
#include "base/bytes/hex_fixture.hpp"
#include "base/log/log.hpp"
#include "media/ring/packet.hpp"
#include "media/ring/tag_packet.hpp"
#include "media/rtp/audio_transcoder.hpp"
#include "media/rtp/rtp_log.hpp"
#include "wire/codec/audio/opus.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/hevc.hpp"

namespace live::media::bridge_test {

using Octets = std::vector<std::uint8_t>;

class Lines final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::info; }
    void write(LogLevel, std::string_view, std::string_view message, int) override { lines.emplace_back(message); }
    std::size_t count(std::string_view part) const {
        std::size_t found = 0;
        for (const std::string& line : lines)
            found += line.find(part) != std::string::npos;
        return found;
    }
    std::vector<std::string> lines;
};

// An SPS that rules out reordering.
inline const Octets kSps = hex("67640028acb403c0113f2e02200000030020000006d1e30654");
inline const Octets kPps = hex("68ee3cb0");

// A NAL unit of `size` bytes with this header; its slice header marks the first slice of a frame.
inline Octets unit(std::initializer_list<std::uint8_t> head, std::size_t size, std::uint8_t fill = 0xAB) {
    Octets bytes(size, fill);
    std::size_t at = 0;
    for (const std::uint8_t byte : head)
        bytes[at++] = byte;
    return bytes;
}
inline Octets idr(std::size_t size) { return unit({0x65}, size); }
// Slice headers begin with 0 (first_mb_in_slice) and slice type 5 (all slices are P) or 6 (all are B).
inline Octets inter(std::size_t size) { return unit({0x41, 0x9A}, size); }        // used for reference
inline Octets reference_b(std::size_t size) { return unit({0x41, 0x9E}, size); }  // used for reference
inline Octets disposable(std::size_t size) { return unit({0x01, 0x9E}, size); }   // not used for reference

inline Octets with_lengths(const std::vector<Octets>& units, int length_bytes = 4) {
    ByteWriter out;
    for (const Octets& nal : units) {
        const auto size = static_cast<std::uint32_t>(nal.size());
        for (int i = length_bytes; i-- > 0;)
            out.u8(static_cast<std::uint8_t>(size >> (8 * i)));
        out.bytes(nal);
    }
    return out.release();
}

inline Packet packet_of(MediaKind kind, wire::codec::Frame frame, Bytes data, MediaTime dts) {
    frame.data = Slice::copy_of(data);
    Packet packet = make_packet(kind, std::move(frame));
    packet.dts = dts;
    packet.arrived = TimePoint{} + dts;
    return packet;
}

inline Packet video_config(Codec codec, Bytes record) {
    return packet_of(MediaKind::video, {.codec = codec, .content = Content::config}, record, {});
}

inline Packet avc_config(std::uint8_t length_bytes = 4, const Octets& sps = kSps) {
    ByteWriter out;
    write_avc_config(out, wire::codec::AvcConfig{.profile = 0x64,
                                                 .compatibility = 0,
                                                 .level = 0x28,
                                                 .nal_length_size = length_bytes,
                                                 .sps = {sps},
                                                 .pps = {kPps},
                                                 .extension = {}});
    return video_config(Codec::avc, out.written());
}

enum class Picture : bool { inter, key };

inline Packet video_frame(Codec codec, Picture is, MediaTime dts, Bytes data, MediaTime cts = {}) {
    return packet_of(MediaKind::video, {.codec = codec, .key = is == Picture::key, .cts = cts}, data, dts);
}

inline Packet avc_frame(Picture is, MediaTime dts, const std::vector<Octets>& units, MediaTime cts = {}) {
    return video_frame(Codec::avc, is, dts, with_lengths(units), cts);
}

inline Packet audio_packet(Codec codec, Content content, MediaTime dts, Bytes data) {
    return packet_of(MediaKind::audio, {.codec = codec, .content = content}, data, dts);
}

// The packets of one kind in an RTP log, with unwrapped sequence numbers first.
inline std::vector<RtpPacket> packets_of(const RtpLog& rtp_log, MediaKind kind) {
    std::vector<RtpPacket> packets;
    for (Sequence sequence = rtp_log.first(); sequence < rtp_log.next(); ++sequence)
        if (rtp_log.at(sequence).kind == kind)
            packets.push_back(rtp_log.at(sequence));
    return packets;
}

// Returns each frame unchanged, with its time; a frame of 0xEE is an error. While `later` is set, only after come().
class EchoTranscoder final : public AudioTranscoder {
public:
    EchoTranscoder(Octets config, AudioListener& listener, const bool& later)
        : config_(std::move(config)), listener_(listener), later_(later) {}
    Result<void> push(Bytes frame, MediaTime time) override {
        if (!frame.empty() && frame[0] == 0xEE)
            return Error(Errc::malformed, "broken on purpose");
        if (!frame.empty() && frame[0] == 0xFF)
            return Error(Errc::limit, "full on purpose");
        (later_ ? waiting_ : frames_).push_back({Slice::copy_of(frame), time});
        return {};
    }
    void come() {
        frames_.insert(frames_.end(), waiting_.begin(), waiting_.end());
        waiting_.clear();
        listener_.on_audio();
    }
    Result<std::optional<AudioFrame>> poll() override {
        if (frames_.empty())
            return std::optional<AudioFrame>();
        AudioFrame frame = std::move(frames_.front());
        frames_.pop_front();
        return std::optional(std::move(frame));
    }
    Bytes config() const override { return config_; }
    bool is_idle() const override { return frames_.empty() && waiting_.empty(); }

private:
    std::deque<AudioFrame> frames_;
    std::deque<AudioFrame> waiting_;
    Octets config_;
    AudioListener& listener_;
    const bool& later_;
};

class EchoTranscoders final : public AudioTranscoders {
public:
    Result<std::unique_ptr<AudioTranscoder>> create(const Transcoding& what, AudioListener& listener) override {
        made.push_back(what);
        made.back().config = {};
        if (what.from == refused)
            return Error(Errc::unsupported, "refused on purpose");
        const bool is_aac = what.to == Codec::aac;
        auto transcoder = std::make_unique<EchoTranscoder>(is_aac ? hex("1190") : Octets{}, listener, later);
        newest = transcoder.get();
        return std::unique_ptr<AudioTranscoder>(std::move(transcoder));
    }
    std::vector<Transcoding> made;
    EchoTranscoder* newest = nullptr;
    Codec refused = Codec::none;
    bool later = false;
};

// For converters tested in isolation.
class NoListener final : public AudioListener {
public:
    void on_audio() override {}
};

}  // namespace live::media::bridge_test
