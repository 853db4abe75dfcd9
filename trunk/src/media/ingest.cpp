#include "media/ingest.hpp"

#include <algorithm>
#include <utility>

#include "base/byte_reader.hpp"
#include "base/byte_writer.hpp"
#include "base/log_format.hpp"
#include "base/version.hpp"
#include "wire/amf/amf.hpp"
#include "wire/codec/avc.hpp"

namespace live::media {

namespace amf = wire::amf;
namespace flv = wire::flv;

Ingest::Ingest(Publication& publication, const PlayOptions& options, const PublishOptions& publish_options, const Log& log)
    : publication_(publication), options_(options), publish_options_(publish_options), log_(log) {}

Ingest::~Ingest() {
    while (auto packet = interleaver_.drain())
        if (publication_.is_current())
            publication_.source().append(*std::move(packet));
}

void Ingest::drop(const char* what, const Error& error) {
    if (dropped_++ == 0)
        LOG_WARN(log_, "dropped a broken {} body ({}); further ones are counted only", what, error.text());
}

// Bodies that follow each other share their memory, and one keeps all of it. Where most of it is left out (broken bodies, an
// aggregate's other parts), the ring would hold many times what it counts: then what is kept is copied.
Slice Ingest::unshare(Slice body) {
    if (kept_bytes_ > kKeptReset)
        kept_bytes_ = held_bytes_ = 0;
    kept_bytes_ += body.size();
    if (body.memory() != newest_memory_) {
        newest_memory_ = body.memory();
        held_bytes_ += body.memory_bytes();
    }
    return held_bytes_ > kHeldTimesMax * kept_bytes_ + kHeldSlack ? Slice::copy_of(body.bytes()) : body;
}

void Ingest::push(Packet packet, std::uint32_t stamp_ms) {
    if (!publication_.is_current())
        return;
    packet.payload = unshare(std::move(packet.payload));
    Source& source = publication_.source();
    const auto stamp = source.timeline().map(packet.kind, stamp_ms);
    packet.dts += stamp.dts;
    if (stamp.jumped)
        LOG_WARN(log_, "timestamp jump to {} ms, repaired: the stream goes on at {} ms", stamp_ms, stamp.dts / 1ms);
    if (!options_.mix_correct) {
        source.append(std::move(packet));
        return;
    }
    interleaver_.push(std::move(packet));
    while (auto next = interleaver_.pop())
        source.append(*std::move(next));
}

bool Ingest::is_repeated_config(Kind kind, const Slice& body) const {
    return options_.reduce_sequence_header && std::ranges::equal(publication_.source().config(kind).bytes(), body.bytes());
}

void Ingest::push_audio(std::uint32_t stamp_ms, Slice body) {
    const auto tag = flv::parse_audio_tag(body.bytes());
    if (!tag.ok())
        return drop("audio", tag.error());
    Packet packet{Kind::audio, false, tag->kind == flv::PacketKind::sequence_header, {}, std::move(body)};
    packet.dts = std::chrono::duration_cast<MediaTime>(tag->timestamp_offset);
    if (packet.config) {
        if (is_repeated_config(Kind::audio, packet.payload))
            return;
        log_audio_config(*tag);
    }
    push(std::move(packet), stamp_ms);
}

void Ingest::push_video(std::uint32_t stamp_ms, Slice body) {
    const auto tag = flv::parse_video_tag(body.bytes());
    if (!tag.ok())
        return drop("video", tag.error());
    Packet packet{Kind::video, tag->key, tag->kind == flv::PacketKind::sequence_header, {}, std::move(body)};
    packet.dts = std::chrono::duration_cast<MediaTime>(tag->timestamp_offset);
    if (packet.config) {
        if (is_repeated_config(Kind::video, packet.payload))
            return;
        log_video_config(*tag);
    }
    watch_order(*tag, stamp_ms);
    push(std::move(packet), stamp_ms);
}

void Ingest::watch_order(const flv::VideoTag& tag, std::uint32_t stamp_ms) {
    if (tag.kind != flv::PacketKind::frames)
        return;
    const std::uint32_t shown_ms = stamp_ms + static_cast<std::uint32_t>(tag.composition.count());
    const bool is_later = static_cast<std::int32_t>(shown_ms - newest_shown_ms_) >= 0;
    if (!tag.key && has_shown_ && !is_later && publication_.is_current() && !publication_.source().has_b_frames()) {
        publication_.source().note_b_frames();
        LOG_INFO(log_, "the stream has B-frames; WebRTC players do without them, or stutter");
    }
    if (tag.key || is_later || !has_shown_)
        newest_shown_ms_ = shown_ms;
    has_shown_ = true;
}

void Ingest::push_data(std::uint32_t stamp_ms, Slice body) {
    auto metadata = rewrite_metadata(body.bytes());
    if (!metadata.ok())
        return drop("data", metadata.error());
    Packet packet{Kind::data, false, metadata->has_value(), {}, std::move(body)};
    if (packet.config)
        packet.payload = **std::move(metadata);
    push(std::move(packet), stamp_ms);
}

// The body without the wrapper, without the duration (a live stream has none) and with our name; nothing when it is another
// event.
Result<std::optional<Slice>> Ingest::rewrite_metadata(Bytes body) {
    ByteReader reader(body);
    amf::Value name = TRY(amf::read_amf0(reader));
    if (name.string() == "@setDataFrame")
        name = TRY(amf::read_amf0(reader));
    if (name.string() != "onMetaData")
        return std::optional<Slice>();
    amf::Value values = TRY(amf::read_amf0(reader));
    if (!values.is(amf::Kind::object) && !values.is(amf::Kind::ecma_array))
        return Error(Errc::malformed, "onMetaData without an object or an array");
    values.erase("duration");
    values.set("server", amf::Value(kProduct));
    values.set("server_version", amf::Value(kVersion));

    const auto number = [&values](std::string_view key) {
        const amf::Value* value = values.find(key);
        return value == nullptr ? 0.0 : value->number().value_or(0.0);
    };
    LOG_INFO(log_, "got metadata, width={:.0f}, height={:.0f}, vcodec={:.0f}, acodec={:.0f}", number("width"), number("height"),
             number("videocodecid"), number("audiocodecid"));
    const amf::Value* bravo_atc = values.find("bravo_atc");
    publication_.source().force_atc(options_.atc_auto && bravo_atc != nullptr && bravo_atc->string() == "true");
    ByteWriter writer;
    amf::write_amf0(writer, name);
    amf::write_amf0(writer, values);
    return std::optional(Slice::copy_of(writer.written()));
}

void Ingest::log_video_config(const flv::VideoTag& tag) const {
    if (tag.codec == flv::VideoCodec::avc && publish_options_.parse_sps) {
        const auto config = wire::codec::parse_avc_config(tag.body);
        if (config.ok() && !config->sps.empty()) {
            if (const auto sps = wire::codec::parse_avc_sps(config->sps.front()); sps.ok()) {
                LOG_INFO(log_, "{}B video sh, codec(7, profile={}, level={}, {}x{}, {:.1f}fps)", tag.body.size(),
                         wire::codec::avc_profile_name(sps->profile), sps->level, sps->width, sps->height,
                         sps->frames_per_second.value_or(0.0));
                return;
            }
        }
    }
    LOG_INFO(log_, "{}B video sh, codec({})", tag.body.size(), flv::name_of(tag.codec));
}

void Ingest::log_audio_config(const flv::AudioTag& tag) const {
    constexpr int kAacId = 10;
    LOG_INFO(log_, "{}B audio sh, codec({}, {})", tag.body.size(), tag.codec == flv::AudioCodec::aac ? kAacId : 0,
             flv::name_of(tag.codec));
}

}  // namespace live::media
