// AAC in forms that RTMP does not have.
#include <algorithm>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "media/ingest/ingest.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/rtp/bridge_fixture.hpp"
#include "media/source/cursor.hpp"
#include "media/source/publication.hpp"
#include "wire/codec/audio/latm_fixture.hpp"

namespace live::media {
namespace {

using Octets = std::vector<std::uint8_t>;

// ADTS of a frame of two bytes: AAC-LC, 44,100 Hz, stereo.
const std::string kAdts = "fff15080013ffc 2110";
// The same, mono.
const std::string kMonoAdts = "fff15040013ffc 2110";

class AacForms : public testing::Test {
protected:
    void push(std::uint32_t stamp_ms, const std::string& body) {
        ingest_.push_body(MediaKind::audio, stamp_ms, Slice::copy_of(hex(body)));
    }
    std::vector<Packet> taken() {
        std::vector<Packet> all;
        while (auto packet = reader_.take())
            all.push_back(*std::move(packet));
        return all;
    }
    static bool is(const Packet& packet, const std::string& body) { return body_of(packet) == hex(body); }

    SlabPool pool_;
    PlayOptions options_;
    bridge_test::Lines lines_;
    Log log_{lines_, "test"};
    Ref<Source> source_ = make_ref<Source>("/live/test", options_, 60'000U, pool_);
    std::unique_ptr<Publication> publication_ = *Publication::start(source_, Takeover::refuse);
    Cursor reader_{source_};
    Ingest ingest_{*publication_, options_, PublishOptions{}, log_};
};

TEST_F(AacForms, AdtsGetsASequenceHeaderAndBecomesRaw) {
    push(0, "af 01 " + kAdts + kAdts);
    push(46, "af 01 " + kAdts);
    const auto packets = taken();
    ASSERT_EQ(packets.size(), 4U);
    EXPECT_TRUE(packets[0].is_config() && is(packets[0], "af 00 1210"));
    for (std::size_t i = 1; i < 4; ++i)
        EXPECT_TRUE(is(packets[i], "af 01 2110")) << i;
    EXPECT_EQ(packets[2].dts - packets[1].dts, std::chrono::microseconds(23'219)) << "1,024 samples";
    EXPECT_EQ(packets[3].dts - packets[1].dts, 46ms);
    EXPECT_EQ(lines_.count("arrives in ADTS or LATM"), 1U);
}

TEST_F(AacForms, KeepsSequenceHeaderThatAgreesWithAdts) {
    push(0, "af 00 121056e500");
    push(0, "af 01 " + kAdts);
    push(23, "af 00 121056e500");
    push(23, "af 01 " + kMonoAdts);
    push(46, "af 00 1210");
    const auto packets = taken();
    ASSERT_EQ(packets.size(), 4U) << "later headers are the publisher's guess";
    EXPECT_TRUE(is(packets[0], "af 00 121056e500"));
    EXPECT_TRUE(is(packets[1], "af 01 2110"));
    EXPECT_TRUE(packets[2].is_config() && is(packets[2], "af 00 1208")) << "the channels have changed";
    EXPECT_TRUE(is(packets[3], "af 01 2110"));
}

TEST_F(AacForms, LatmBecomesRaw) {
    using wire::codec::latm_test::element;
    Octets body = hex("af 01");
    const auto latm = element(hex("211004"), wire::codec::latm_test::Mux{});
    body.insert(body.end(), latm.begin(), latm.end());
    ingest_.push_body(MediaKind::audio, 0, Slice::copy_of(body));
    const auto packets = taken();
    ASSERT_EQ(packets.size(), 2U);
    EXPECT_TRUE(is(packets[0], "af 00 1210"));
    EXPECT_TRUE(is(packets[1], "af 01 211004"));
}

TEST_F(AacForms, EnhancedBodiesAndOtherTracksAreConvertedToo) {
    push(0, "91 6d703461 " + kAdts);
    push(0, "95 11 6d703461 01 00000a fff15080015ffc 211004");
    const auto packets = taken();
    ASSERT_EQ(packets.size(), 2U) << "the reader takes default tracks";
    EXPECT_TRUE(packets[0].is_config());
    EXPECT_TRUE(std::ranges::equal(packets[1].frame(), hex("2110")));
    ASSERT_NE(source_->tracks().config_of(MediaKind::audio, TrackId(1)), nullptr);
    EXPECT_TRUE(std::ranges::equal(source_->tracks().config_of(MediaKind::audio, TrackId(1))->frame(), hex("1210")));
}

TEST_F(AacForms, AMissingSequenceHeaderIsReportedOnce) {
    for (std::uint32_t i = 0; i < 200; ++i)
        push(23 * i, "af 01 211004");
    EXPECT_EQ(taken().size(), 200U);
    EXPECT_EQ(lines_.count("has no sequence header"), 1U);
}

TEST_F(AacForms, ASequenceHeaderThatComesASecondLateIsNotMissed) {
    push(0, "af 01 211004");
    push(0, "af 00 1210");
    for (std::uint32_t i = 1; i < 200; ++i)
        push(23 * i, "af 01 211004");
    EXPECT_EQ(lines_.count("has no sequence header"), 0U);
}

}  // namespace
}  // namespace live::media
