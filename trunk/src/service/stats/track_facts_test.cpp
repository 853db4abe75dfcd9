#include "service/stats/track_facts.hpp"

#include <optional>
#include <type_traits>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "wire/codec/codec_vectors.hpp"

namespace live::service::stats {
namespace {

std::vector<std::uint8_t> joined(std::string_view head, const std::vector<std::uint8_t>& record) {
    std::vector<std::uint8_t> bytes = hex(head);
    bytes.insert(bytes.end(), record.begin(), record.end());
    return bytes;
}

// For a stream with that one tag.
template <class Facts>
std::optional<Facts> read_facts(MediaKind kind, Bytes body) {
    const auto tagged = media::read_tag(kind, Slice::copy_of(body));
    if (!tagged.ok() || tagged->packet.codec == media::Codec::none)
        return std::nullopt;
    media::Track track;
    track.kind = kind;
    track.codec = tagged->packet.codec;
    track.audio = tagged->audio;
    if (tagged->packet.is_config())
        track.config = tagged->packet.frame_slice();
    if constexpr (std::is_same_v<Facts, VideoFacts>)
        return video_facts_of(track);
    else
        return audio_facts_of(track);
}
std::optional<VideoFacts> read_video_facts(Bytes body) { return read_facts<VideoFacts>(MediaKind::video, body); }
std::optional<AudioFacts> read_audio_facts(Bytes body) { return read_facts<AudioFacts>(MediaKind::audio, body); }

TEST(VideoFacts, ReadsEveryVectorOfEveryCodec) {
    const auto check = [](std::string_view head, const auto& vectors, const std::string& codec,
                          const std::vector<std::pair<const char*, const char*>>& wanted) {
        ASSERT_EQ(vectors.size(), wanted.size());
        for (std::size_t i = 0; i < vectors.size(); ++i) {
            SCOPED_TRACE(vectors[i].name);
            const auto facts = read_video_facts(joined(head, vectors[i].record));
            ASSERT_TRUE(facts);
            EXPECT_EQ(*facts, (VideoFacts{codec, wanted[i].first, wanted[i].second, vectors[i].width, vectors[i].height}));
        }
    };
    check("17 00 000000", wire::codec::avc_vectors(), "H264",
          {{"High", "3.1"},
           {"High", "4"},
           {"Baseline(Constrained)", "3"},
           {"High", "3"},
           {"High(444+Predictive)", "1.3"},
           {"High(422)", "1.3"}});
    check("90 68766331", wire::codec::hevc_vectors(), "HEVC", {{"Main", "3.1"}, {"Main10", "4"}});
    check("90 61763031", wire::codec::av1_vectors(), "AV1", {{"Main", "2.1"}, {"Main", "2"}});
}

TEST(VideoFacts, UnreadableHeaderGivesTheCodecOnly) {
    EXPECT_EQ(read_video_facts(hex("24 00")), (VideoFacts{"VP6", "Other", "Other", 0, 0}));
    EXPECT_EQ(read_video_facts(hex("27 01 000000 00")), (VideoFacts{"H264", "Other", "Other", 0, 0}));
    EXPECT_EQ(read_video_facts(hex("12 0000")), (VideoFacts{"Other(H263)", "Other", "Other", 0, 0}));
    EXPECT_EQ(read_video_facts(hex("57 00")), std::nullopt);
    EXPECT_EQ(read_video_facts({}), std::nullopt);
}

TEST(VideoFacts, TruncatedHeaderGivesTheCodecOnly) {
    const auto whole = joined("17 00 000000", wire::codec::avc_vectors().front().record);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto facts = read_video_facts(Bytes(whole).first(size));
        EXPECT_TRUE(!facts || facts->codec == "H264") << size;
    }
}

TEST(VideoFacts, NamesProfilesAndLevelsAsTheFamilyDoes) {
    EXPECT_EQ(avc_profile_text(66, 0), "Baseline");
    EXPECT_EQ(avc_profile_text(77, 0x40), "Main");
    EXPECT_EQ(avc_profile_text(88, 0), "Extended");
    EXPECT_EQ(avc_profile_text(110, 0), "High(10)");
    EXPECT_EQ(avc_profile_text(110, 0x10), "High(10+Intra)");
    EXPECT_EQ(avc_profile_text(122, 0x10), "High(422+Intra)");
    EXPECT_EQ(avc_profile_text(144, 0), "High(444)");
    EXPECT_EQ(avc_profile_text(244, 0x10), "High(444+Intra)");
    EXPECT_EQ(avc_profile_text(118, 0), "Other");
    EXPECT_EQ(avc_level_text(9), "1b");
    EXPECT_EQ(avc_level_text(10), "1");
    EXPECT_EQ(avc_level_text(13), "1.3");
    EXPECT_EQ(avc_level_text(51), "5.1");
    EXPECT_EQ(avc_level_text(23), "Other");
    EXPECT_EQ(avc_level_text(63), "Other");
    EXPECT_EQ(avc_level_text(0), "Other");
    EXPECT_EQ(hevc_profile_text(3), "Main Still Picture");
    EXPECT_EQ(hevc_profile_text(4), "Rext");
    EXPECT_EQ(hevc_profile_text(9), "Other");
    EXPECT_EQ(hevc_level_text(186), "6.2");
    EXPECT_EQ(hevc_level_text(94), "Other");
    EXPECT_EQ(av1_level_text(0), "2");
    EXPECT_EQ(av1_level_text(9), "4.1");
    EXPECT_EQ(av1_level_text(31), "Other");
}

TEST(VideoFacts, ReadsTheDescriptionOfAnRtpTrack) {
    EXPECT_EQ(video_facts_of("H264", "packetization-mode=1;profile-level-id=42e01f"),
              (VideoFacts{"H264", "Baseline(Constrained)", "3.1", 0, 0}));
    EXPECT_EQ(video_facts_of("h264", "Profile-Level-Id=640028;x=1").level, "4");
    for (const char* format : {"", "profile-level-id=", "profile-level-id=42e0", "profile-level-id=zzzzzz"})
        EXPECT_EQ(video_facts_of("H264", format), (VideoFacts{"H264", "Other", "Other", 0, 0})) << format;
    EXPECT_EQ(video_facts_of("VP8", "profile-level-id=42e01f"), (VideoFacts{"VP8", "Other", "Other", 0, 0}));
    EXPECT_EQ(video_facts_of("H265", "").codec, "HEVC");
    EXPECT_EQ(audio_facts_of("opus", 48'000, 2), (AudioFacts{"Opus", 48'000, 2, "Other"}));
}

TEST(AudioFacts, ReadsHeadersAndPackets) {
    EXPECT_EQ(read_audio_facts(hex("af 00 1210")), (AudioFacts{"AAC", 44'100, 2, "LC"}));
    EXPECT_EQ(read_audio_facts(hex("af 00 1188")), (AudioFacts{"AAC", 48'000, 1, "LC"}));
    EXPECT_EQ(read_audio_facts(hex("af 00 2b920800")), (AudioFacts{"AAC", 44'100, 2, "HE"}));
    EXPECT_EQ(read_audio_facts(hex("af 00 ff")), (AudioFacts{"AAC", 44'100, 2, "Other", "AAC with a bad sequence header"}));
    EXPECT_EQ(read_audio_facts(hex("af 01 21")), (AudioFacts{"AAC", 44'100, 2, "Other", "AAC without a sequence header"}));
    EXPECT_EQ(read_audio_facts(hex("2f fffb")), (AudioFacts{"MP3", 44'100, 2, "Other"}));
    EXPECT_EQ(read_audio_facts(hex("90 4f707573 4f707573486561640101380180bb0000000000")),
              (AudioFacts{"Opus", 48'000, 1, "Other"}));
    EXPECT_EQ(read_audio_facts(hex("91 4f707573 fc")), (AudioFacts{"Opus", 48'000, 2, "Other"}));
    EXPECT_EQ(read_audio_facts(hex("b6 00")), (AudioFacts{"Other(Speex)", 16'000, 1, "Other"}));
    EXPECT_EQ(read_audio_facts({}), std::nullopt);
    EXPECT_EQ(read_audio_facts(hex("af")), std::nullopt);
}

}  // namespace
}  // namespace live::service::stats
