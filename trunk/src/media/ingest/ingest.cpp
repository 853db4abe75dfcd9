#include "media/ingest/ingest.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/log/log_format.hpp"
#include "base/version.hpp"
#include "media/ingest/announced_kinds.hpp"
#include "media/ring/data_message.hpp"
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

}  // namespace

Ingest::Ingest(Publication& publication, const PlayOptions& options, const PublishOptions& publish_options, const Log& log)
    : publication_(publication),
      options_(options),
      publish_options_(publish_options),
      log_(log),
      annex_b_(publish_options.try_annexb_first) {
    if (publication_.is_waiting())
        gate_ = std::make_unique<KeyGate>();
    else if (publication_.is_current())
        publication_.source().timeline().allow_gap(publish_options_.normal_timeout);
}

Ingest::~Ingest() {
    joiner_.finish();
    push_joined();
    while (auto packet = interleaver_.drain())
        if (publication_.is_current())
            publication_.source().append(*std::move(packet));
}

bool Ingest::is_first(Notice notice, MediaKind kind) {
    const std::uint32_t bit = 1U << (static_cast<std::size_t>(notice) * kMediaKindCount + index_of(kind));
    return (std::exchange(noticed_, noticed_ | bit) & bit) == 0;
}

void Ingest::drop(std::string_view what, const Error& error) {
    if (dropped_++ == 0)
        LOG_WARN(log_, "dropped a broken {} body ({}); further ones are counted only", what, error.text());
}

// Consecutive bodies share a block of memory, and each one keeps the whole block alive. If most of a block is dropped (broken
// bodies, the other parts of an aggregate), the ring would hold many times the bytes it counts; then the block's bodies are
// copied.
void Ingest::count_block(MediaKind kind, const Slice& body) {
    if (kept_bytes_ > kKeptReset) {
        kept_bytes_ = body.size();
        held_bytes_ = 0;
    }
    newest_memory_[index_of(kind)] = body.memory();
    held_bytes_ += body.memory_bytes();
    copies_bodies_ = held_bytes_ > kHeldTimesMax * kept_bytes_ + kHeldSlack;
}

// Runs once per frame. A frame of the default track that is a whole image takes none of the calls before Timeline::map().
void Ingest::push_packet(TagPacket&& tagged, std::uint32_t stamp_ms, Stage stage) {
    if (!publication_.is_current())
        return;
    if (gate_ != nullptr && !begins_with(tagged, stamp_ms))
        return;
    Packet& packet = tagged.packet;
    Source& source = publication_.source();
    if (stage == Stage::arrived) {
        if (!source.tracks().has_room_for(packet.kind, packet.track))
            return leave_out(packet);
        if (packet.codec == Codec::aac && framed_aac_.may_read(packet.frame()) && push_framed_aac(tagged, stamp_ms))
            return;
        if (packet.kind == MediaKind::video && !joiner_.passes(packet, stamp_ms)) {
            joiner_.push(std::move(tagged), stamp_ms, source.ring());
            return push_joined();
        }
    }
    if (packet.is_config() && !takes_config(packet))
        return;
    if (packet.kind == MediaKind::audio || packet.codec == Codec::unknown)
        note_track(tagged);

    kept_bytes_ += packet.payload.size();
    if (packet.payload.memory() != newest_memory_[index_of(packet.kind)])
        count_block(packet.kind, packet.payload);
    if (copies_bodies_)
        packet.payload = Slice::copy_of(packet.payload.bytes());

    Timeline& timeline = source.timeline();
    if (packet.kind != MediaKind::data && packet.content != Content::frame) {
        packet.dts += timeline.header_time(packet.kind);
    } else if (!source.tracks().is_default(packet.kind, packet.track)) {
        packet.dts += timeline.follow(packet.kind, packet.track, stamp_ms, source.arrival());
    } else {
        const auto stamp = timeline.map(packet.kind, stamp_ms, source.arrival());
        packet.dts += stamp.dts;
        if (stamp.event != Timeline::Event::none)
            note_unusual_stamp(stamp, stamp_ms);
        if (packet.kind == MediaKind::video && stamp.event != Timeline::Event::doubt) {
            const std::uint32_t shown_ms = stamp_ms + static_cast<std::uint32_t>(to_ms(packet.cts));
            if (has_shown_ && static_cast<std::int32_t>(shown_ms - newest_shown_ms_) < 0)
                note_earlier_image(packet, shown_ms);
            else
                newest_shown_ms_ = shown_ms;
            has_shown_ = true;
        }
    }
    if (options_.mix_correct)
        return append_in_order(std::move(packet));
    source.append(std::move(packet));
}

// A stand-in feeds the stream until the publisher's first key frame. The headers before it are pushed then.
bool Ingest::begins_with(const TagPacket& tagged, std::uint32_t stamp_ms) {
    if (publication_.is_waiting() && !gate_->admits(tagged, stamp_ms, publication_.source().arrival()))
        return false;
    publication_.begin();
    publication_.source().timeline().allow_gap(publish_options_.normal_timeout);
    const auto gate = std::exchange(gate_, nullptr);
    for (KeyGate::Data& data : gate->take_data())
        push_data(data.stamp_ms, std::move(data.body));
    for (KeyGate::Config& config : gate->take_configs())
        push_packet(std::move(config.tagged), config.stamp_ms, Stage::arrived);
    return true;
}

void Ingest::append_in_order(Packet&& packet) {
    interleaver_.push(std::move(packet));
    while (auto next = interleaver_.pop())
        publication_.source().append(*std::move(next));
}

void Ingest::note_unusual_stamp(const Timeline::Stamp& stamp, std::uint32_t stamp_ms) {
    if (stamp.event == Timeline::Event::jump) {
        has_shown_ = false;
        LOG_WARN(log_, "timestamp jump to {} ms, repaired: the stream continues at {} ms", stamp_ms, stamp.dts / 1ms);
    } else if (stamp.event == Timeline::Event::stray && is_first(Notice::stray_stamp)) {
        LOG_WARN(log_, "stray timestamp, repaired: the stream continues at {} ms; further ones are not logged", stamp.dts / 1ms);
    }
}

// An image is shown before an earlier one: a B-frame, unless a key frame starts anew.
void Ingest::note_earlier_image(const Packet& packet, std::uint32_t shown_ms) {
    Tracks& tracks = publication_.source().tracks();
    if (packet.key) {
        newest_shown_ms_ = shown_ms;
    } else if (!tracks.has_b_frames()) {
        tracks.note_b_frames();
        LOG_INFO(log_, "the stream has B-frames; WebRTC players get it without them, or stutter");
    }
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
    if (is_first(Notice::bad_config, packet.kind)) {
        LOG_WARN(log_,
                 "dropped a bad {} sequence header of {} bytes ({}), keeping the last good one; further ones are counted only",
                 name_of(packet.kind), packet.frame_bytes(), checked.error().text());
    }
    return true;
}

void Ingest::push_body(MediaKind kind, std::uint32_t stamp_ms, Slice body) {
    auto tagged = read_tag(kind, std::move(body));
    if (!tagged.ok())
        return drop(name_of(kind), tagged.error());
    if (!tagged->is_plain() && !convert_unusual(*tagged, stamp_ms))
        return;
    push_packet(std::move(*tagged), stamp_ms, Stage::arrived);
}

// Returns false if nothing of the body is left to push.
bool Ingest::convert_unusual(TagPacket& tagged, std::uint32_t stamp_ms) {
    if (tagged.has_more) {
        push_tracks(tagged.packet.kind, stamp_ms, tagged.packet.payload.bytes());
        return false;
    }
    if (tagged.may_be_annex_b && !convert_annex_b(tagged, stamp_ms))
        return false;
    if (tagged.reserved_type)
        find_frame_type(tagged);
    return true;
}

// Returns false if the body is dropped.
bool Ingest::convert_annex_b(TagPacket& tagged, std::uint32_t stamp_ms) {
    const Packet& packet = tagged.packet;
    auto config = annex_b_.convert(tagged, joiner_.length_size(packet.track),
                                   publication_.source().tracks().config_of(packet.kind, packet.track));
    if (!config.ok()) {
        drop("video", config.error());
        return false;
    }
    if (annex_b_.has_converted() && is_first(Notice::annex_b))
        LOG_INFO(log_, "the publisher sends Annex B byte streams inside RTMP; they are converted");
    if (*config)
        push_packet(**std::move(config), stamp_ms, Stage::arrived);
    return true;
}

// Some publishers leave the frame type 0, but players and other nodes find key frames by it.
void Ingest::find_frame_type(TagPacket& tagged) {
    const Packet& packet = tagged.packet;
    if (packet.content != Content::frame && packet.content != Content::config)
        return;
    set_frame_type(tagged, wire::codec::is_random_access(packet.codec, joiner_.length_size(packet.track), packet.frame()));
    if (is_first(Notice::reserved_type))
        LOG_INFO(log_, "the publisher sends reserved frame types: key frames are found by their contents");
}

void Ingest::push_tracks(MediaKind kind, std::uint32_t stamp_ms, Bytes body) {
    auto parts = split_tag(kind, body);
    if (!parts.ok())
        return drop(name_of(kind), parts.error());
    for (Slice& part : *parts)
        push_body(kind, stamp_ms, std::move(part));
}

void Ingest::push_frame(MediaKind kind, std::uint32_t stamp_ms, wire::codec::Frame frame) {
    TagPacket tagged{.packet = make_packet(kind, std::move(frame))};
    tagged.packet.extra = kind == MediaKind::data;
    push_packet(std::move(tagged), stamp_ms, Stage::arrived);
}

void Ingest::push_joined() {
    while (auto picture = joiner_.pop())
        push_packet(std::move(picture->tagged), picture->stamp_ms, Stage::whole);
    if (joiner_.has_joined() && is_first(Notice::joined))
        LOG_INFO(log_, "the publisher sends images in several messages; each image is put together");
}

// Returns false if the AAC is raw, as it should be. The frames' own headers count, and not the publisher's sequence header, which
// may differ from them: one that agrees with them is kept, as it may say more.
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
        LOG_INFO(log_, "the AAC of audio track {} arrives in ADTS or LATM: converted to raw AAC with a sequence header",
                 static_cast<unsigned>(packet.track));
    const auto push_part = [&](Content content, Slice data, MediaTime offset) {
        TagPacket part;
        part.packet = make_packet(MediaKind::audio,
                                  {.codec = Codec::aac, .content = content, .track = packet.track, .data = std::move(data)});
        part.packet.dts = packet.dts + offset;
        part.audio = tagged.audio;
        push_packet(std::move(part), stamp_ms, Stage::whole);
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

// Reports whether a configuration is new and can be used. Metadata always is.
bool Ingest::takes_config(const Packet& packet) {
    if (packet.kind == MediaKind::data)
        return true;
    if (is_bad_config(packet))
        return false;
    if (packet.kind == MediaKind::video)
        joiner_.note_config(packet);
    if (is_repeated_config(packet))
        return false;
    log_config(packet);
    return true;
}

void Ingest::leave_out(const Packet& packet) {
    if (is_first(Notice::too_many_tracks, packet.kind))
        LOG_WARN(log_, "the publisher sends more than {} {} tracks; the others are left out", Tracks::kMax, name_of(packet.kind));
}

// Reports to the source what the packets themselves do not carry.
void Ingest::note_track(const TagPacket& tagged) {
    const Packet& packet = tagged.packet;
    if (packet.content == Content::other)
        return;
    if (packet.kind == MediaKind::audio)
        publication_.source().tracks().note_audio(packet.track, packet.codec, tagged.audio);
    if (packet.codec == Codec::aac && packet.track != headed_track_ && headerless_frames_ < kHeaderlessFrames)
        note_headerless(packet);
    if (packet.codec == Codec::unknown && is_first(Notice::unknown_codec, packet.kind))
        LOG_WARN(log_, "the {} codec{} is unknown: RTMP and FLV relay it unchanged, other protocols leave it out",
                 name_of(packet.kind), text_of(tagged.fourcc));
}

void Ingest::note_headerless(const Packet& packet) {
    if (packet.content == Content::config || publication_.source().tracks().config_of(packet.kind, packet.track) != nullptr) {
        headed_track_ = packet.track;
        return;
    }
    if (++headerless_frames_ == kHeaderlessFrames)
        LOG_WARN(
            log_,
            "the AAC of audio track {} has no sequence header: RTMP and FLV relay it unchanged, other protocols leave it out",
            static_cast<unsigned>(packet.track));
}

void Ingest::push_data(std::uint32_t stamp_ms, Slice body) {
    if (gate_ != nullptr && publication_.is_waiting())
        return gate_->keep_data(stamp_ms, body);
    auto event = read_event(std::move(body));
    if (!event.ok())
        return drop("data", event.error());
    if (event->empty())
        return;
    body = *std::move(event);
    auto metadata = rewrite_metadata(body.bytes());
    if (!metadata.ok())
        return drop("data", metadata.error());
    TagPacket tagged;
    tagged.packet.content = metadata->has_value() ? Content::config : Content::other;
    tagged.packet.payload = metadata->has_value() ? **std::move(metadata) : std::move(body);
    push_packet(std::move(tagged), stamp_ms, Stage::whole);
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
    if (name.string() == kSyncMessageName || name.string() == kDataMessageName)
        return Error(Errc::denied, "only other nodes send such messages");
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
    publication_.announce(announced_by(values));
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
