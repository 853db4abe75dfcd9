#include "media/ingest/annex_b_tags.hpp"

#include <algorithm>
#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "media/ingest/ingest.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/source/cursor.hpp"
#include "media/source/publication.hpp"
#include "wire/codec/video/annex_b.hpp"

namespace live::media {
namespace {

struct AnnexBTagsTest : ::testing::Test {
    void push(std::uint32_t stamp_ms, const std::string& body) {
        ingest->push_body(MediaKind::video, stamp_ms, Slice::copy_of(hex(body)));
    }
    void start(bool first = true) {
        reader = std::make_unique<Cursor>(source);
        options.try_annexb_first = first;
        ingest = std::make_unique<Ingest>(*publication, PlayOptions{}, options, log);
    }
    void expect_body(Sequence sequence, const std::string& body) const {
        ASSERT_GT(source->ring().next(), sequence);
        EXPECT_EQ(body_of(source->ring().at(sequence)), hex(body)) << sequence;
    }

    SlabPool pool;
    bridge_test::Lines lines;
    Log log{lines, "test"};
    PublishOptions options;
    Ref<Source> source = make_ref<Source>("/live/test", PlayOptions{}, 60'000U, pool);
    std::unique_ptr<Publication> publication = *Publication::start(source, Takeover::refuse);
    std::unique_ptr<Cursor> reader;
    std::unique_ptr<Ingest> ingest;
};

TEST_F(AnnexBTagsTest, StartCodesBecomeLengths) {
    start();
    ingest->push_body(MediaKind::video, 0, avc_config_body());
    push(0, "17 01 000050 00000001 09f0 00000001 060101 000001 65b80102");
    push(40, "27 01 000000 000001 419a 000001 4140");
    push(80, "27 01 000000 00000002 419a");
    expect_body(1, "17 01 000050 00000002 09f0 00000003 060101 00000004 65b80102");
    expect_body(2, "27 01 000000 00000002 419a 00000002 4140");
    expect_body(3, "27 01 000000 00000002 419a");
    EXPECT_EQ(source->ring().at(1).cts, 80ms);
    EXPECT_TRUE(source->ring().at(1).key);
    EXPECT_EQ(lines.count("Annex B"), 1U);
    EXPECT_EQ(ingest->dropped(), 0U);
}

TEST_F(AnnexBTagsTest, LengthsThatLookLikeStartCodesStay) {
    start();
    // The lengths 256 to 511 begin with 00 00 01.
    for (std::size_t size = 256; size < 512; ++size) {
        std::vector<std::uint8_t> body = hex("27 01 000000 0000");
        body.insert(body.end(), {static_cast<std::uint8_t>(size >> 8), static_cast<std::uint8_t>(size), 0x41, 0x9A});
        body.resize(5 + 4 + size, 0x55);
        const Slice message = Slice::copy_of(body);
        ingest->push_body(MediaKind::video, static_cast<std::uint32_t>(40 * size), message);
        ASSERT_EQ(source->ring().newest().payload.data(), message.data()) << size;
    }
    push(40 * 600, "27 01 000000 00000001 0a 00000002 419a");
    EXPECT_TRUE(std::ranges::equal(source->ring().newest().payload.bytes(), hex("27 01 000000 00000001 0a 00000002 419a")));
    EXPECT_EQ(lines.count("Annex B"), 0U);
}

// A frame that is valid in both forms: 0x141 bytes after a length, or a picture after a start code.
std::vector<std::uint8_t> frame_of_both() {
    std::vector<std::uint8_t> body = hex("27 01 000000 00000141 9a55");
    body.resize(5 + 4 + 0x141, 0x55);
    return body;
}

TEST_F(AnnexBTagsTest, InDoubtThePublishersFormDecides) {
    start();
    push(0, "17 01 000000 00000001 65b80102");
    ingest->push_body(MediaKind::video, 40, Slice::copy_of(frame_of_both()));
    EXPECT_EQ(source->ring().newest().frame()[3], 0x42) << "a unit more than its length said, which was its header";
}

TEST_F(AnnexBTagsTest, AmbiguousFramesAreLengthsIfConfigured) {
    start(false);
    push(0, "17 01 000000 00000001 65b80102");
    expect_body(0, "17 01 000000 00000004 65b80102");
    ingest->push_body(MediaKind::video, 40, Slice::copy_of(frame_of_both()));
    EXPECT_EQ(source->ring().next(), 1U) << "a unit that is no slice waits for its picture";
}

TEST_F(AnnexBTagsTest, SlicesBehindLengthsStayWhereBothFormsCome) {
    start();
    push(0, "17 01 000000 00000001 65b80102");
    std::vector<std::uint8_t> body = hex("27 01 000000 00000141 419a");
    body.resize(5 + 4 + 0x141, 0x55);
    ingest->push_body(MediaKind::video, 40, Slice::copy_of(body));
    EXPECT_TRUE(std::ranges::equal(source->ring().newest().payload.bytes(), body));
}

TEST_F(AnnexBTagsTest, ParameterSetsInTheStreamMakeASequenceHeader) {
    start();
    const auto config = *wire::codec::parse_avc_config(wire::codec::avc_vectors().front().record);
    std::vector<std::uint8_t> sets = hex("00000001");
    sets.insert(sets.end(), config.sps.front().begin(), config.sps.front().end());
    for (const auto byte : hex("00000001"))
        sets.push_back(byte);
    sets.insert(sets.end(), config.pps.front().begin(), config.pps.front().end());
    auto body = hex("17 01 000000");
    body.insert(body.end(), sets.begin(), sets.end());
    for (const auto byte : hex("00000001 65b801"))
        body.push_back(byte);
    ingest->push_body(MediaKind::video, 0, Slice::copy_of(body));
    ASSERT_EQ(source->ring().next(), 2U);
    const auto made = wire::codec::parse_avc_config(source->tracks().config(MediaKind::video).frame());
    ASSERT_TRUE(made.ok());
    EXPECT_TRUE(std::ranges::equal(made->sps.front(), config.sps.front()));
    EXPECT_TRUE(source->ring().at(1).key);
    ingest->push_body(MediaKind::video, 40, Slice::copy_of(body));
    EXPECT_EQ(source->ring().next(), 3U) << "it is known";
    // A sequence header in Annex B.
    auto header = hex("17 00 000000");
    header.insert(header.end(), sets.begin(), sets.end());
    ingest->push_body(MediaKind::video, 80, Slice::copy_of(header));
    EXPECT_TRUE(wire::codec::parse_avc_config(source->tracks().config(MediaKind::video).frame()).ok());
    EXPECT_EQ(source->ring().newest().payload.bytes()[5], 1) << "a record";
}

TEST_F(AnnexBTagsTest, HevcToo) {
    start();
    push(0, "91 68766331 000000 00000001 460110 000001 2601af01");
    push(40, "2c 01 000000 000001 0201d0");
    expect_body(0, "91 68766331 000000 00000003 460110 00000004 2601af01");
    expect_body(1, "2c 01 000000 00000003 0201d0");
}

TEST_F(AnnexBTagsTest, JoinsPiecesOfAnImage) {
    start();
    push(0, "27 01 000000 00000001 09f0");
    push(0, "17 01 000000 00000001 65b801");
    push(40, "27 01 000000 00000001 09f0");
    expect_body(0, "17 01 000000 00000002 09f0 00000003 65b801");
}

TEST_F(AnnexBTagsTest, UsesLengthSizeOfSequenceHeader) {
    start();
    auto record = wire::codec::avc_vectors().front().record;
    record[4] = 0xFC;
    ingest->push_body(MediaKind::video, 0, tag_body(hex("17 00 000000"), record));
    push(0, "17 01 000000 00000001 65b801");
    expect_body(1, "17 01 000000 03 65b801");
    std::vector<std::uint8_t> large = hex("27 01 000000 00000001 419a");
    large.resize(400, 0x55);
    ingest->push_body(MediaKind::video, 40, Slice::copy_of(large));
    EXPECT_EQ(ingest->dropped(), 1U);
}

TEST_F(AnnexBTagsTest, OtherCodecsAreLeftAlone) {
    start();
    push(0, "91 76703039 00000141 00");
    push(40, "91 76766331 00000107aabb");
    expect_body(0, "91 76703039 00000141 00");
    expect_body(1, "91 76766331 00000107aabb");
}

}  // namespace
}  // namespace live::media
