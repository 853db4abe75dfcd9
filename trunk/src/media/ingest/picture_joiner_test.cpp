#include "media/ingest/picture_joiner.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "media/ingest/ingest.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/source/cursor.hpp"
#include "media/source/publication.hpp"

namespace live::media {
namespace {

// Bodies of AVC, without their composition time of 0.
const std::string kKey = "17 01 000000 ";
const std::string kInter = "27 01 000000 ";
const std::string kDelimiter = "00000002 09f0 ";
const std::string kSei = "00000003 060101 ";
const std::string kSets = "00000002 6764 00000002 68eb ";
const std::string kIdr = "00000003 65b801 ";
const std::string kIdrRest = "00000003 654001 ";
const std::string kP = "00000003 419a02 ";
const std::string kPRest = "00000003 414002 ";
const std::string kPLast = "00000003 414003 ";
const std::string kFiller = "00000003 0cff80 ";

struct PictureJoinerTest : ::testing::Test {
    void push(std::uint32_t stamp_ms, const std::string& body) {
        ingest->push_body(MediaKind::video, stamp_ms, Slice::copy_of(hex(body)));
    }
    Sequence count() const { return source->ring().next(); }
    const Packet& packet(Sequence sequence) const { return source->ring().at(sequence); }
    void expect_packet(Sequence sequence, std::chrono::milliseconds dts, bool key, const std::string& body) const {
        ASSERT_GT(count(), sequence);
        const Packet& is = packet(sequence);
        EXPECT_EQ(is.dts, dts) << sequence;
        EXPECT_EQ(is.key, key) << sequence;
        EXPECT_TRUE(std::ranges::equal(is.payload.bytes(), hex(body))) << sequence;
    }

    SlabPool pool;
    bridge_test::Lines lines;
    Log log{lines, "test"};
    Ref<Source> source = make_ref<Source>("/live/test", PlayOptions{}, 60'000U, pool);
    std::unique_ptr<Publication> publication = *Publication::start(source, Takeover::refuse);
    std::unique_ptr<Cursor> reader = std::make_unique<Cursor>(source);  // keeps the packets in the ring
    std::unique_ptr<Ingest> ingest = std::make_unique<Ingest>(*publication, PlayOptions{}, PublishOptions{}, log);
};

TEST_F(PictureJoinerTest, OrdinaryMessagesPassUnchanged) {
    const std::string bodies[] = {kKey + kDelimiter + kSets + kSei + kIdr, kInter + kP, kInter + kDelimiter + kP + kPRest,
                                  kInter + kSei + kP, kKey + kIdr + kIdrRest};
    std::uint32_t at = 0;
    for (const std::string& body : bodies) {
        const Slice message = Slice::copy_of(hex(body));
        ingest->push_body(MediaKind::video, at += 40, message);
        ASSERT_EQ(source->ring().newest().payload.data(), message.data()) << body;
    }
    EXPECT_EQ(count(), 5U);
}

TEST_F(PictureJoinerTest, UnreadableContentsPassUnchanged) {
    for (std::uint32_t i = 0; i < 3; ++i) {
        const Slice message = Slice::copy_of(hex(i == 0 ? "17 01 000000 010203" : "27 01 000000 ffffffff 00"));
        ingest->push_body(MediaKind::video, 40 * i, message);
        ASSERT_EQ(source->ring().newest().payload.data(), message.data());
    }
    // Slices that are not the first of their picture, each with a time of its own: perhaps they are scrambled.
    push(200, kInter + kPRest);
    push(240, kInter + kPRest);
    EXPECT_EQ(count(), 5U);
}

TEST_F(PictureJoinerTest, LeadingPiecesPassWithTheirImage) {
    push(0, kInter + kDelimiter);
    push(0, kInter + kSets);
    push(0, kInter + kSei);
    push(0, kKey + kIdr);
    EXPECT_EQ(count(), 0U) << "slices may follow";
    push(40, kInter + kDelimiter);
    expect_packet(0, 0ms, true, kKey + kDelimiter + kSets + kSei + kIdr);
    push(40, kInter + kP);
    expect_packet(1, 40ms, false, kInter + kDelimiter + kP);
    EXPECT_EQ(count(), 2U) << "at once: this publisher sends the slices of a picture together";
    EXPECT_EQ(lines.count("sends images in several messages"), 1U);
    EXPECT_EQ(source->counters().key_frames, 1U);
}

TEST_F(PictureJoinerTest, SlicesAfterLeadingPiecesBelongToTheirImage) {
    push(0, kInter + kSei);
    push(0, kKey + kIdr);
    push(0, kKey + kIdrRest);
    push(0, kKey + kIdrRest);
    push(40, kInter + kP);
    expect_packet(0, 0ms, true, kKey + kSei + kIdr + kIdrRest + kIdrRest);
    push(40, kInter + kPRest);
    push(40, kInter + kPLast);
    EXPECT_EQ(count(), 1U);
    push(80, kInter + kSei);
    expect_packet(1, 40ms, false, kInter + kP + kPRest + kPLast);
    ingest.reset();
    EXPECT_EQ(count(), 2U) << "the end of the publisher: there is no picture behind the SEI";
}

TEST_F(PictureJoinerTest, ResendsKeyFrameWholeWhenItsRestFollows) {
    push(0, kKey + kIdr);
    EXPECT_EQ(count(), 1U) << "at once: it may be whole";
    ingest->push_body(MediaKind::audio, 0, Slice::copy_of(hex("af 01 0909")));
    push(0, kKey + kIdrRest);
    push(0, kKey + kIdrRest);
    push(40, kInter + kP);
    expect_packet(2, 0ms, true, kKey + kIdr + kIdrRest + kIdrRest);
    push(40, kInter + kPRest);
    push(80, kInter + kP);
    expect_packet(3, 40ms, false, kInter + kP + kPRest);
    ingest.reset();
    expect_packet(4, 80ms, false, kInter + kP);
}

TEST_F(PictureJoinerTest, DropsRestOfAnotherImageThatHasPassed) {
    push(0, kKey + kIdr);
    push(40, kInter + kP);
    push(40, kInter + kPRest);
    push(80, kInter + kP);
    push(80, kInter + kPRest);
    push(120, kInter + kP);
    ASSERT_EQ(count(), 3U);
    expect_packet(1, 40ms, false, kInter + kP);
    expect_packet(2, 80ms, false, kInter + kP + kPRest);
}

TEST_F(PictureJoinerTest, FillerAfterAnImageIsNotAnImage) {
    for (std::uint32_t at = 0; at < 200; at += 40) {
        push(at, (at == 0 ? kKey + kIdr : kInter + kP));
        push(at, kInter + kFiller);
        push(at, kInter + "00000001 0a");
    }
    ASSERT_EQ(count(), 5U);
    expect_packet(4, 160ms, false, kInter + kP);
}

TEST_F(PictureJoinerTest, ImagesWithOneTimestampPassSeparately) {
    for (int i = 0; i < 3; ++i)
        push(0, kKey + kIdr);
    EXPECT_EQ(count(), 3U) << "an encoder that stamps carelessly";
}

TEST_F(PictureJoinerTest, FieldsWithOneTimestampAreOneFrameInPieces) {
    push(0, kInter + kDelimiter);
    push(0, kKey + kIdr);
    push(0, kInter + kP);
    push(40, kInter + kDelimiter);
    expect_packet(0, 0ms, true, kKey + kDelimiter + kIdr + kP);
}

TEST_F(PictureJoinerTest, CompositionTimeAndKeyAreThoseOfTheSlices) {
    push(0, kKey + kDelimiter);
    push(0, "27 01 000050 " + kP);
    push(40, kInter + kDelimiter);
    expect_packet(0, 0ms, false, "27 01 000050 " + kDelimiter + kP);
    EXPECT_EQ(packet(0).cts, 80ms);
}

TEST_F(PictureJoinerTest, SequenceHeaderFollowsThePreviousImage) {
    push(0, kInter + kDelimiter);
    push(0, kKey + kIdr);
    ingest->push_body(MediaKind::video, 40, avc_config_body());
    EXPECT_FALSE(packet(0).is_config());
    EXPECT_TRUE(packet(1).is_config());
    push(40, kInter + kDelimiter);
    ingest->push_body(MediaKind::video, 40, tag_body(hex("17 00 000000"), wire::codec::avc_vectors().back().record));
    push(40, kKey + kIdr);
    EXPECT_TRUE(packet(2).is_config());
    expect_packet(3, 40ms, true, kKey + kDelimiter + kIdr);
}

TEST_F(PictureJoinerTest, UsesLengthSizeOfTheSequenceHeader) {
    auto record = wire::codec::avc_vectors().front().record;
    record[4] = 0xFD;
    ingest->push_body(MediaKind::video, 0, tag_body(hex("17 00 000000"), record));
    push(0, kKey + "0002 09f0");
    push(0, kKey + "0003 65b801");
    push(40, kInter + "0002 09f0");
    expect_packet(1, 0ms, true, kKey + "0002 09f0 0003 65b801");
}

TEST_F(PictureJoinerTest, JoinsHevcAndAv1) {
    push(0, "a1 68766331 000000 00000003 460110");
    push(0, "91 68766331 000000 00000004 2601af01");
    push(0, "91 68766331 000000 00000004 26012f02");
    push(40, "a1 68766331 000000 00000003 460110");
    expect_packet(0, 0ms, true, "91 68766331 000000 00000003 460110 00000004 2601af01 00000004 26012f02");
    push(40, "a1 68766331 000000 00000003 0201d0");
    push(80, "91 61763031 0a01 00");
    push(80, "a1 61763031 3201 20");
    push(80, "91 61763031 30 10");
    push(120, "a1 61763031 1200");
    expect_packet(1, 40ms, false, "a1 68766331 000000 00000003 460110 00000003 0201d0");
    expect_packet(2, 80ms, true, "91 61763031 0a01 00 3201 20 3201 10");  // the last OBU had no size
}

TEST_F(PictureJoinerTest, JoinsEachTrackSeparately) {
    const std::string other = "a6 01 61766331 01 000000 ";  // track 1
    push(0, kKey + kIdr);
    push(0, other + kSei);
    push(40, kInter + kP);
    push(40, other + kP);
    push(80, other + kSei);
    EXPECT_EQ(count(), 3U);
    expect_packet(2, 40ms, false, other + kSei + kP);
    EXPECT_EQ(packet(2).track, TrackId(1));
}

TEST_F(PictureJoinerTest, LastImagePassesAtPublishersEndButNotAfterTakeover) {
    push(0, kInter + kDelimiter);
    push(0, kKey + kIdr);
    auto newcomer = *Publication::start(source, Takeover::replace);
    ingest.reset();
    EXPECT_EQ(count(), 0U);
}

TEST_F(PictureJoinerTest, PiecesAreBounded) {
    for (std::size_t i = 0; i < 3 * PictureJoiner::kPiecesMax; ++i)
        push(0, kInter + kSei);
    push(40, kKey + kIdr);
    push(40, kKey + kIdrRest);
    push(80, kInter + kDelimiter);
    ASSERT_EQ(count(), 1U);
    EXPECT_LE(packet(0).frame_bytes(), 7 * (PictureJoiner::kPiecesMax + 1)) << "pieces in front are left out at the limit";
    const std::size_t large = 1U << 20;
    auto rest = hex(kInter + "00100000 4140");
    rest.resize(5 + 4 + large);
    push(80, kInter + kP);
    for (int i = 0; i < 40; ++i)
        ingest->push_body(MediaKind::video, 80, Slice::copy_of(rest));
    EXPECT_LE(source->held_bytes(), 64U << 20);
    EXPECT_GE(count(), 3U) << "what is held at the limit goes on";
    for (Sequence at = 0; at < count(); ++at)
        EXPECT_LE(packet(at).frame_bytes(), PictureJoiner::kHeldBytesMax);
}

}  // namespace
}  // namespace live::media
