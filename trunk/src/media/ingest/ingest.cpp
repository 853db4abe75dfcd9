#include "media/ingest/ingest.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"
#include "media/ingest/announced_kinds.hpp"
#include "wire/amf/amf.hpp"
#include "wire/codec/audio/aac.hpp"
#include "wire/codec/decoder_config.hpp"
#include "wire/codec/video/annex_b.hpp"
#include "wire/codec/video/avc.hpp"
#include "wire/codec/video/picture_units.hpp"

namespace live::media {

namespace amf = wire::amf;

namespace {

bool is_same_aac(Bytes config, const wire::codec::AudioSpecificConfig& other) {
    const auto parsed = wire::codec::parse_aac_config(config);
    return parsed.ok() && parsed->object_type == other.object_type && parsed->sample_rate == other.sample_rate &&
           parsed->channels == other.channels;
}

// The publisher chooses these four bytes freely; 0 means a classic header.
std::string text_of(std::uint32_t fourcc) {
    if (fourcc == 0)
        return "";
    std::string text = " ";
    for (const unsigned shift : {24U, 16U, 8U, 0U}) {
        const auto byte = static_cast<char>(fourcc >> shift & 0xFFU);
        text += byte >= ' ' && byte <= '~' ? byte : '?';
    }
    return text;
}

const char* text_of(MediaKind kind) { return kind == MediaKind::video ? "video" : "audio"; }

}  // namespace

Ingest::Ingest(Publication& publication, const PlayOptions& options, const PublishOptions& publish_options, const Log& log)
    : publication_(publication),
      options_(options),
      publish_options_(publish_options),
      log_(log),
      annex_b_(publish_options.try_annexb_first) {
    if (publication_.is_current())
        publication_.source().timeline().allow_gap(publish_options_.normal_timeout);
}

Ingest::~Ingest() {
    joiner_.finish();
    push_joined();
    while (auto packet = interleaver_.drain())
        if (publication_.is_current())
            publication_.source().append(*std::move(packet));
}

void Ingest::drop(const char* what, const Error& error) {
    if (dropped_++ == 0)
        LOG_WARN(log_, "dropped a broken {} body ({}); further ones are counted only", what, error.text());
}

// Consecutive bodies share a block of memory, and each one keeps the whole block alive. If most of a block is dropped (broken
// bodies, the other parts of an aggregate), the ring would hold many times the bytes it counts; then the body is copied.
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

// Returns the packet's time on the source's timeline.
Timeline::Stamp Ingest::place(const Packet& packet, std::uint32_t stamp_ms) {
    const Source& source = publication_.source();
    Timeline& timeline = publication_.source().timeline();
    if (packet.kind != MediaKind::data && packet.content != Content::frame)
        return {timeline.header_time(packet.kind), Timeline::Event::none};
    if (!source.tracks().is_default(packet.kind, packet.track))
        return {timeline.follow(packet.kind, packet.track, stamp_ms, source.arrival()), Timeline::Event::none};
    const auto stamp = timeline.map(packet.kind, stamp_ms, source.arrival());
    if (stamp.event == Timeline::Event::jump)
        LOG_WARN(log_, "timestamp jump to {} ms, repaired: the stream continues at {} ms", stamp_ms, stamp.dts / 1ms);
    else if (stamp.event == Timeline::Event::stray && !std::exchange(has_strays_, true))
        LOG_WARN(log_, "stray timestamp, repaired: the stream continues at {} ms; further ones are not logged", stamp.dts / 1ms);
    return stamp;
}

void Ingest::push(Packet&& packet, std::uint32_t stamp_ms) {
    if (!publication_.is_current())
        return;
    packet.payload = unshare(std::move(packet.payload));
    Source& source = publication_.source();
    const auto stamp = place(packet, stamp_ms);
    packet.dts += stamp.dts;
    has_shown_ = has_shown_ && stamp.event != Timeline::Event::jump;
    if (packet.kind == MediaKind::video && stamp.event != Timeline::Event::doubt)
        watch_order(packet, stamp_ms);
    if (!options_.mix_correct) {
        source.append(std::move(packet));
        return;
    }
    interleaver_.push(std::move(packet));
    while (auto next = interleaver_.pop())
        source.append(*std::move(next));
}

bool Ingest::is_repeated_config(const Packet& packet) const {
    if (!options_.reduce_sequence_header)
        return false;
    const Packet* const known = publication_.source().tracks().config_of(packet.kind, packet.track);
    if (known == nullptr || known->codec != packet.codec)
        return false;
    // One publisher may send frames with a header, and the next one without.
    if (known->needs_body_header() != packet.needs_body_header())
        return std::ranges::equal(known->frame(), packet.frame());
    return std::ranges::equal(known->payload.bytes(), packet.payload.bytes());
}

// A bad sequence header does not replace a good one: players that join later could not decode. One that is the first is relayed:
// players may understand it.
bool Ingest::is_bad_config(const Packet& packet) {
    const auto checked = wire::codec::check_config(packet.codec, packet.frame());
    if (checked.ok())
        return false;
    const Packet* const known = publication_.source().tracks().config_of(packet.kind, packet.track);
    if (known == nullptr || known->codec != packet.codec || !wire::codec::check_config(known->codec, known->frame()).ok())
        return false;
    ++dropped_;
    if (!bad_.has(packet.kind)) {
        bad_.add(packet.kind);
        LOG_WARN(log_,
                 "dropped a bad {} sequence header of {} bytes ({}), the last good one stays; further ones are counted only",
                 text_of(packet.kind), packet.frame_bytes(), checked.error().text());
    }
    return true;
}

void Ingest::push_audio(std::uint32_t stamp_ms, Slice body) { push_tag(MediaKind::audio, stamp_ms, std::move(body)); }

void Ingest::push_video(std::uint32_t stamp_ms, Slice body) { push_tag(MediaKind::video, stamp_ms, std::move(body)); }

void Ingest::push_tag(MediaKind kind, std::uint32_t stamp_ms, Slice body) {
    auto tagged = read_tag(kind, std::move(body));
    if (!tagged.ok())
        return drop(text_of(kind), tagged.error());
    if (tagged->has_more)
        return push_tracks(kind, stamp_ms, tagged->packet.payload.bytes());
    if (kind == MediaKind::video && wire::codec::may_be_annex_b(tagged->packet.frame()) && !convert_annex_b(*tagged, stamp_ms))
        return;
    if (tagged->reserved_type)
        find_frame_type(*tagged);
    push_media(std::move(*tagged), stamp_ms);
}

// False: it is dropped.
bool Ingest::convert_annex_b(TagPacket& tagged, std::uint32_t stamp_ms) {
    const Packet& packet = tagged.packet;
    auto config = annex_b_.convert(tagged, joiner_.length_size(packet.track),
                                   publication_.source().tracks().config_of(packet.kind, packet.track));
    if (!config.ok()) {
        drop("video", config.error());
        return false;
    }
    if (annex_b_.has_converted() && !std::exchange(has_annex_b_, true))
        LOG_INFO(log_, "the publisher sends Annex B byte streams inside RTMP; they are converted");
    if (*config)
        push_media(**std::move(config), stamp_ms);
    return true;
}

// Some publishers leave the frame type 0, but players and other nodes find key frames by it.
void Ingest::find_frame_type(TagPacket& tagged) {
    const Packet& packet = tagged.packet;
    if (packet.content != Content::frame && packet.content != Content::config)
        return;
    set_frame_type(tagged, wire::codec::is_random_access(packet.codec, joiner_.length_size(packet.track), packet.frame()));
    if (!std::exchange(has_reserved_types_, true))
        LOG_INFO(log_, "the publisher does not say which frames are key frames: they are found by their contents");
}

void Ingest::push_tracks(MediaKind kind, std::uint32_t stamp_ms, Bytes body) {
    auto parts = split_tag(kind, body);
    if (!parts.ok())
        return drop(text_of(kind), parts.error());
    for (Slice& part : *parts)
        push_tag(kind, stamp_ms, std::move(part));
}

void Ingest::push_frame(MediaKind kind, std::uint32_t stamp_ms, wire::codec::Frame frame) {
    push_media({.packet = make_packet(kind, std::move(frame))}, stamp_ms);
}

void Ingest::push_media(TagPacket&& tagged, std::uint32_t stamp_ms) {
    if (is_one_too_many(tagged.packet))
        return;
    if (tagged.packet.codec == Codec::aac && push_framed_aac(tagged, stamp_ms))
        return;
    if (tagged.packet.kind != MediaKind::video || joiner_.passes(tagged.packet, stamp_ms))
        return push_whole(std::move(tagged), stamp_ms);
    joiner_.push(std::move(tagged), stamp_ms, publication_.source().ring());
    push_joined();
}

void Ingest::push_joined() {
    while (auto picture = joiner_.pop())
        push_whole(std::move(picture->tagged), picture->stamp_ms);
    if (joiner_.has_joined() && !std::exchange(has_joined_, true))
        LOG_INFO(log_, "the publisher sends pictures in several messages; each picture is put together");
}

// False: it is raw, as it should be. The frames' own headers count, and not the publisher's sequence header, which may differ
// from them: one that agrees with them is kept, as it may say more.
bool Ingest::push_framed_aac(const TagPacket& tagged, std::uint32_t stamp_ms) {
    constexpr std::int64_t kFrameSamples = 1'024;
    const Packet& packet = tagged.packet;
    if (packet.content != Content::frame)
        return packet.is_config() && framed_aac_.has_come(packet.track);
    const bool is_first = !framed_aac_.has_come(packet.track);
    const auto frames = framed_aac_.read(packet.track, packet.frame());
    if (!frames)
        return false;
    if (is_first)
        LOG_INFO(log_, "the AAC of audio track {} comes in ADTS or LATM: it is made raw, with a sequence header",
                 static_cast<unsigned>(packet.track));
    const auto push_part = [&](Content content, Slice data, MediaTime offset) {
        TagPacket part;
        part.packet = make_packet(MediaKind::audio,
                                  {.codec = Codec::aac, .content = content, .track = packet.track, .data = std::move(data)});
        part.packet.dts = packet.dts + offset;
        part.audio = tagged.audio;
        push_whole(std::move(part), stamp_ms);
    };
    const Packet* const known = publication_.source().tracks().config_of(MediaKind::audio, packet.track);
    if (!frames->config.empty() &&
        (known == nullptr || known->codec != Codec::aac || !is_same_aac(known->frame(), frames->parsed)))
        push_part(Content::config, Slice::copy_of(frames->config), {});
    MediaTime offset{};
    for (const Slice& frame : frames->raw) {
        push_part(Content::frame, frame, offset);
        if (frames->parsed.sample_rate != 0)
            offset += MediaTime(kFrameSamples * 1'000'000 / frames->parsed.sample_rate);
    }
    return true;
}

void Ingest::push_whole(TagPacket&& tagged, std::uint32_t stamp_ms) {
    const Packet& packet = tagged.packet;
    if (packet.is_config()) {
        if (is_bad_config(packet))
            return;
        if (packet.kind == MediaKind::video)
            joiner_.note_config(packet);
        if (is_repeated_config(packet))
            return;
        log_config(packet);
    }
    watch_track(tagged);
    push(std::move(tagged.packet), stamp_ms);
}

// Packets of a track the source has no room for are dropped.
bool Ingest::is_one_too_many(const Packet& packet) {
    if (!publication_.is_current() || publication_.source().tracks().has_room_for(packet.kind, packet.track))
        return false;
    if (!too_many_.has(packet.kind)) {
        too_many_.add(packet.kind);
        LOG_WARN(log_, "the publisher sends more than {} {} tracks; the others are left out", Tracks::kMax, text_of(packet.kind));
    }
    return true;
}

// Reports to the source what the packets themselves do not carry.
void Ingest::watch_track(const TagPacket& tagged) {
    const Packet& packet = tagged.packet;
    if (!publication_.is_current() || packet.content == Content::other)
        return;
    if (packet.kind == MediaKind::audio)
        publication_.source().tracks().note_audio(packet.track, packet.codec, tagged.audio);
    if (packet.codec == Codec::aac && headerless_frames_ < kHeaderlessFrames)
        watch_header(packet);
    if (packet.codec != Codec::unknown || opaque_.has(packet.kind))
        return;
    opaque_.add(packet.kind);
    LOG_WARN(log_, "the {} codec{} is not known here: RTMP and FLV relay it as it is, everything else leaves it out",
             text_of(packet.kind), text_of(tagged.fourcc));
}

void Ingest::watch_header(const Packet& packet) {
    if (packet.content == Content::config || publication_.source().tracks().config_of(packet.kind, packet.track) != nullptr)
        return;
    if (++headerless_frames_ == kHeaderlessFrames)
        LOG_WARN(log_,
                 "the AAC of audio track {} comes without a sequence header: RTMP and FLV relay it as it is, everything else "
                 "leaves it out",
                 static_cast<unsigned>(packet.track));
}

void Ingest::watch_order(const Packet& packet, std::uint32_t stamp_ms) {
    if (packet.content != Content::frame || !publication_.source().tracks().is_default(packet.kind, packet.track))
        return;
    const std::uint32_t shown_ms = stamp_ms + static_cast<std::uint32_t>(to_ms(packet.cts));
    const bool is_later = static_cast<std::int32_t>(shown_ms - newest_shown_ms_) >= 0;
    if (!packet.key && has_shown_ && !is_later && publication_.is_current() && !publication_.source().tracks().has_b_frames()) {
        publication_.source().tracks().note_b_frames();
        LOG_INFO(log_, "the stream has B-frames; WebRTC players get it without them, or stutter");
    }
    if (packet.key || is_later || !has_shown_)
        newest_shown_ms_ = shown_ms;
    has_shown_ = true;
}

void Ingest::push_data(std::uint32_t stamp_ms, Slice body) {
    auto event = read_event(std::move(body));
    if (!event.ok())
        return drop("data", event.error());
    if (event->empty())
        return;
    body = *std::move(event);
    auto metadata = rewrite_metadata(body.bytes());
    if (!metadata.ok())
        return drop("data", metadata.error());
    Packet packet;
    packet.content = metadata->has_value() ? Content::config : Content::other;
    packet.payload = metadata->has_value() ? **std::move(metadata) : std::move(body);
    push(std::move(packet), stamp_ms);
}

// Returns the body without the leading "@setDataFrame": the event's name, then its values. "@clearDataFrame" is an order to the
// server; nothing is left of it.
Result<Slice> Ingest::read_event(Slice body) {
    ByteReader reader(body.bytes());
    const amf::Value command = TRY(amf::read_amf0(reader));
    if (command.string() == "@setDataFrame")
        return body.sub(reader.position(), reader.remaining());
    if (command.string() != "@clearDataFrame")
        return body;
    if (reader.remaining() > 0 && TRY(amf::read_amf0(reader)).string() == "onMetaData" && publication_.is_current())
        publication_.source().tracks().forget_metadata();
    return Slice();
}

// Returns the body without the duration (a live stream has none) and with our name; nothing for an event other than onMetaData.
Result<std::optional<Slice>> Ingest::rewrite_metadata(Bytes body) {
    ByteReader reader(body);
    const amf::Value name = TRY(amf::read_amf0(reader));
    if (name.string() == kSyncMessageName)
        return Error(Errc::denied, "only other nodes send sync messages");
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
    LOG_INFO_REPEATED(log_, "got metadata, width={:.0f}, height={:.0f}, vcodec={:.0f}, acodec={:.0f}", number("width"),
                      number("height"), number("videocodecid"), number("audiocodecid"));
    publication_.source().tracks().announce(announced_by(values));
    publication_.source().tracks().name_tracks(read_track_names(values, Tracks::kMax));
    const amf::Value* bravo_atc = values.find("bravo_atc");
    publication_.source().tracks().request_publisher_time(options_.atc_auto && bravo_atc != nullptr &&
                                                          bravo_atc->string() == "true");
    ByteWriter writer;
    amf::write_amf0(writer, name);
    amf::write_amf0(writer, values);
    return std::optional(Slice::copy_of(writer.written()));
}

void Ingest::log_config(const Packet& packet) const {
    constexpr int kAacId = 10;
    if (packet.kind == MediaKind::video)
        return log_video_config(packet);
    LOG_INFO_REPEATED(log_, "{}B audio sh, codec({}, {})", packet.frame_bytes(), packet.codec == Codec::aac ? kAacId : 0,
                      name_of(packet.codec));
}

void Ingest::log_video_config(const Packet& packet) const {
    if (packet.codec == Codec::avc && publish_options_.parse_sps) {
        const auto config = wire::codec::parse_avc_config(packet.frame());
        if (config.ok() && !config->sps.empty()) {
            if (const auto sps = wire::codec::parse_avc_sps(config->sps.front()); sps.ok()) {
                LOG_INFO_REPEATED(log_, "{}B video sh, codec(7, profile={}, level={}, {}x{}, {:.1f}fps)", packet.frame_bytes(),
                                  wire::codec::avc_profile_name(sps->profile), sps->level, sps->width, sps->height,
                                  sps->frames_per_second.value_or(0.0));
                return;
            }
        }
    }
    LOG_INFO_REPEATED(log_, "{}B video sh, codec({})", packet.frame_bytes(), name_of(packet.codec));
}

}  // namespace live::media
