#include "media/wire_log/rtsp_wire_encoder.hpp"

#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/byte_reader.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/wire_cursor.hpp"
#include "wire/rtcp/report.hpp"
#include "wire/rtp/packet.hpp"
#include "wire/rtp_payload/aac.hpp"
#include "wire/rtp_payload/nal.hpp"

namespace live::media {
namespace {

namespace rtp_payload = wire::rtp_payload;

struct SentFrame {
    std::uint8_t channel = 0;
    std::vector<std::uint8_t> bytes;
};

// A source with H.264 and AAC: an image every 40 ms, a key frame every second.
struct RtspStage {
    RtspStage() {
        append_tag(*source, MediaKind::video, false, true, 0ms, avc_config_body());
        append_tag(*source, MediaKind::audio, false, true, 0ms, aac_config_body());
    }
    void image(std::size_t bytes = 100) {
        const bool key = images % 25 == 0;
        const MediaTime at = std::chrono::milliseconds(40 * images++);
        ByteWriter body;
        body.u8(key ? 0x17 : 0x27).u8(1).u24be(0).u32be(static_cast<std::uint32_t>(bytes + 2));
        body.u8(key ? 0x65 : 0x41).u8(0x88).zeros(bytes);
        append_tag(*source, MediaKind::video, key, false, at, Slice::copy_of(body.written()));
        append_tag(*source, MediaKind::audio, false, false, at + 10ms, tag_body(hex("af01"), hex("2122")));
    }
    void seconds(int count) {
        for (int i = 0; i < 25 * count; ++i)
            image();
    }

    SlabPool pool;
    Ref<Source> source = make_ref<Source>("/live/rtsp", PlayOptions(), 4096U, pool);
    int images = 0;
};

std::vector<SentFrame> read_frames(WireCursor& cursor) {
    std::vector<std::uint8_t> bytes;
    for (;;) {
        std::array<::iovec, 8> parts;
        const auto batch = cursor.take(parts);
        if (batch.bytes == 0)
            break;
        std::size_t taken = 0;
        for (std::size_t i = 0; i < batch.spans; ++i) {
            const auto* data = static_cast<const std::uint8_t*>(parts[i].iov_base);
            bytes.insert(bytes.end(), data, data + parts[i].iov_len);
            taken += parts[i].iov_len;
        }
        cursor.advance(taken);
    }
    std::vector<SentFrame> sent;
    ByteReader in(bytes);
    while (!in.at_end()) {
        EXPECT_EQ(*in.u8(), '$');
        const std::uint8_t channel = *in.u8();
        const Bytes packet = *in.take(*in.u16be());
        sent.push_back({channel, {packet.begin(), packet.end()}});
    }
    return sent;
}

constexpr TrackList::Place kVideoPlace{MediaKind::video, true, {}};
constexpr TrackList::Place kAudioPlace{MediaKind::audio, true, {}};

// All places are set up, or one.
WireFormat format_of(std::initializer_list<TrackList::Place> places = {kVideoPlace, kAudioPlace},
                     std::optional<std::size_t> one = std::nullopt) {
    WireFormat format;
    format.container = kRtsp;
    format.tracks = TrackSelection::every;
    for (const TrackList::Place& place : places)
        format.list.add(place);
    for (std::size_t i = 0; i < places.size(); ++i)
        if (!one || *one == i)
            format.list.set_up(i);
    return format;
}

TEST(RtspWireEncoder, BeginsWithReportsAndAKeyFrameAndItsParameterSets) {
    RtspStage stage;
    stage.seconds(2);
    WireCursor cursor(stage.source, format_of());
    const auto sent = read_frames(cursor);
    ASSERT_GT(sent.size(), 4U);
    EXPECT_EQ(sent[0].channel, 1);
    EXPECT_EQ(sent[1].channel, 3);
    wire::rtcp::PacketReader reader(sent[0].bytes);
    const auto report = wire::rtcp::parse_sender_report(**reader.next());
    ASSERT_TRUE(report.ok());
    EXPECT_EQ(report->rtp_time, 90'000U);
    std::size_t first = 0;
    while (sent[first].channel % 2 != 0)
        ++first;
    const auto packet = wire::rtp::parse_packet(sent[first].bytes);
    EXPECT_EQ(packet->ssrc, report->ssrc);
    EXPECT_EQ(packet->timestamp, 90'000U);
    EXPECT_EQ(packet->payload_type, 96);
    rtp_payload::NalDepacketizer depacketizer(rtp_payload::NalCodec::avc);
    ASSERT_TRUE(depacketizer.push({1, packet->timestamp, packet->marker, packet->payload}).ok());
    const auto frame = depacketizer.poll();
    ASSERT_TRUE(frame && frame->is_key);
    EXPECT_EQ(frame->data[4], 0x67) << "a parameter set precedes the image";
}

TEST(RtspWireEncoder, ReportsAllTracksForEachPlayerThatJoins) {
    RtspStage stage;
    WireCursor early(stage.source, format_of());
    stage.seconds(3);
    read_frames(early);
    WireCursor late(stage.source, format_of());
    const auto sent = read_frames(late);
    EXPECT_EQ(sent[0].channel, 1);
    EXPECT_EQ(sent[1].channel, 3);
    EXPECT_EQ(sent[2].channel, 0);
}

TEST(RtspWireEncoder, ReportsTheTimeOfDay) {
    RtspStage stage;
    stage.seconds(2);
    stage.source->wire_logs().set_unix_at_zero(std::chrono::seconds(1'700'000'000));
    WireCursor cursor(stage.source, format_of());
    const auto sent = read_frames(cursor);
    for (const std::size_t i : {0U, 1U}) {
        wire::rtcp::PacketReader reader(sent[i].bytes);
        const auto report = wire::rtcp::parse_sender_report(**reader.next());
        ASSERT_TRUE(report.ok());
        EXPECT_EQ(report->ntp >> 32, 2'208'988'800U + 1'700'000'001U) << "at the key frame, one second after zero";
    }
}

TEST(RtspWireEncoder, NumbersPacketsWithoutAGapAndTimesAudioBySamples) {
    RtspStage stage;
    WireCursor cursor(stage.source, format_of());
    for (int i = 0; i < 50; ++i)
        stage.image(i == 3 ? 20'000 : 10);
    std::array<std::optional<std::uint16_t>, 4> last;
    std::optional<std::uint32_t> stamp;
    std::size_t markers = 0;
    for (const SentFrame& one : read_frames(cursor)) {
        if (one.channel % 2 != 0)
            continue;
        ASSERT_LE(one.bytes.size(), RtspWireEncoder::kPayloadBytesMax + wire::rtp::kHeaderBytes);
        const auto packet = wire::rtp::parse_packet(one.bytes);
        const auto expected = static_cast<std::uint16_t>(last[one.channel].value_or(packet->sequence - 1) + 1);
        EXPECT_EQ(packet->sequence, expected);
        last[one.channel] = packet->sequence;
        markers += one.channel == 0 && packet->marker ? 1U : 0U;
        if (one.channel == 2) {
            // The frames are further apart than their samples: the stamps count.
            const std::uint32_t by_samples = stamp.value_or(packet->timestamp - 1'024) + 1'024;
            EXPECT_GE(packet->timestamp, by_samples);
            stamp = packet->timestamp;
        }
    }
    EXPECT_EQ(markers, 50U);
    EXPECT_TRUE(last[2]);
}

TEST(RtspWireEncoder, CarriesOneKindOnItsChannel) {
    RtspStage stage;
    stage.seconds(1);
    WireCursor beside_video(stage.source, format_of({kVideoPlace, kAudioPlace}, 1));
    for (const SentFrame& one : read_frames(beside_video))
        EXPECT_GE(one.channel, 2);
    WireCursor alone(stage.source, format_of({kAudioPlace}));
    const auto sent = read_frames(alone);
    ASSERT_GT(sent.size(), 2U);
    EXPECT_EQ(sent[0].channel, 1);
    EXPECT_EQ(sent[1].channel, 0);
    rtp_payload::AacDepacketizer depacketizer({}, 1'024);
    const auto packet = wire::rtp::parse_packet(sent[1].bytes);
    EXPECT_EQ(packet->payload_type, 97);
    ASSERT_TRUE(depacketizer.push({1, packet->timestamp, packet->marker, packet->payload}).ok());
    EXPECT_EQ(depacketizer.poll()->data, hex("2122"));
}

Packet extra_packet(MediaKind kind, Codec codec, std::uint8_t track, Content content, std::vector<std::uint8_t> payload,
                    MediaTime dts = 0ms) {
    Packet packet;
    packet.kind = kind;
    packet.codec = codec;
    packet.content = content;
    packet.track = TrackId(track);
    packet.extra = true;
    packet.dts = dts;
    packet.payload = Slice::copy_of(payload);
    return packet;
}

TEST(RtspWireEncoder, CarriesFurtherTracksAndDataAsTheyCame) {
    RtspStage stage;
    stage.image();
    const std::string description = "vnd.onvif.metadata/90000\nx=1";
    stage.source->append(
        extra_packet(MediaKind::data, Codec::rtp_data, 0, Content::config, {description.begin(), description.end()}));
    stage.source->append(extra_packet(MediaKind::audio, Codec::aac, 1, Content::config, hex("1190")));
    stage.source->append(extra_packet(MediaKind::audio, Codec::aac, 1, Content::frame, hex("3132"), 10ms));
    Packet data = extra_packet(MediaKind::data, Codec::rtp_data, 0, Content::frame, hex("3c2f3e"), 20ms);
    stage.source->append(Packet(data));
    data.key = true;
    stage.source->append(Packet(data));
    const media::Track* const known = stage.source->tracks().find(MediaKind::data, TrackId(0));
    ASSERT_NE(known, nullptr);
    EXPECT_EQ(as_text(known->config.bytes()), description);
    EXPECT_TRUE(stage.source->tracks().metadata().bytes().empty()) << "data is no metadata";

    const TrackList::Place second{MediaKind::audio, false, TrackId(1)};
    const TrackList::Place place{MediaKind::data, false, TrackId(0)};
    WireCursor cursor(stage.source, format_of({kVideoPlace, kAudioPlace, second, place}));
    std::vector<wire::rtp::Packet> further;
    std::vector<wire::rtp::Packet> xml;
    const auto sent = read_frames(cursor);
    for (const SentFrame& one : sent)
        if (one.channel == 4)
            further.push_back(*wire::rtp::parse_packet(one.bytes));
        else if (one.channel == 6)
            xml.push_back(*wire::rtp::parse_packet(one.bytes));
    ASSERT_EQ(further.size(), 1U);
    EXPECT_EQ(further[0].payload_type, 100);
    EXPECT_EQ(further[0].timestamp, 480U) << "10 ms of 48 kHz";
    ASSERT_EQ(xml.size(), 2U);
    EXPECT_EQ(xml[0].payload_type, 101);
    EXPECT_EQ(xml[0].timestamp, 1'800U);
    EXPECT_TRUE(std::ranges::equal(xml[0].payload, hex("3c2f3e")));
    EXPECT_FALSE(xml[0].marker);
    EXPECT_TRUE(xml[1].marker);
    EXPECT_NE(xml[0].ssrc, further[0].ssrc);

    WireFormat rtmp;
    rtmp.tracks = TrackSelection::all;
    WireCursor player(stage.source, rtmp);
    std::array<::iovec, 64> parts;
    const auto batch = player.take(parts);
    for (std::size_t i = 0; i < batch.spans; ++i)
        EXPECT_EQ(std::string_view(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len).find("</>"),
                  std::string_view::npos)
            << "RTMP carries no RTP data";
}

TEST(RtspTrack, NumbersThePayloadTypesOfFurtherTracks) {
    TrackList list;
    list.add({MediaKind::video, true, {}});
    list.add({MediaKind::audio, false, TrackId(1)});
    list.add({MediaKind::data, false, TrackId(0)});
    list.add({MediaKind::audio, false, TrackId(2)});
    EXPECT_EQ(rtsp_track_at(list, 0, Codec::mjpeg, {})->payload_type, 26);
    EXPECT_EQ(rtsp_track_at(list, 1, Codec::opus, {})->payload_type, 99);
    EXPECT_EQ(rtsp_track_at(list, 2, Codec::rtp_data, as_bytes("a/8000"))->clock_rate, 8'000U);
    EXPECT_EQ(rtsp_track_at(list, 3, Codec::mp3, {})->payload_type, 14);
    EXPECT_FALSE(rtsp_track_at(list, 2, Codec::rtp_data, as_bytes("a")));
}

TEST(RtspTrack, NeedsAConfigurationThatDescribesTheCodec) {
    const auto avc = wire::codec::avc_vectors().front().record;
    EXPECT_EQ(rtsp_track_of(MediaKind::video, Codec::avc, avc)->clock_rate, 90'000U);
    EXPECT_FALSE(rtsp_track_of(MediaKind::video, Codec::avc, {}));
    EXPECT_EQ(rtsp_track_of(MediaKind::audio, Codec::aac, hex("1210"))->clock_rate, 44'100U);
    EXPECT_FALSE(rtsp_track_of(MediaKind::audio, Codec::aac, {}));
    EXPECT_EQ(rtsp_track_of(MediaKind::audio, Codec::g711a, {})->payload_type, 8);
    EXPECT_FALSE(rtsp_track_of(MediaKind::video, Codec::sorenson, {}));
    EXPECT_FALSE(rtsp_track_of(MediaKind::audio, Codec::speex, {}));
    EXPECT_FALSE(rtsp_track_of(MediaKind::data, Codec::aac, hex("1210")));
}

}  // namespace
}  // namespace live::media
