#include "service/snapshot/snapshot_service.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/packet_fixture.hpp"
#include "media/source/publication.hpp"

namespace live::service::snapshot {
namespace {

// A test picture of 32 by 32 in H.264, made with: ffmpeg -f lavfi -i testsrc=size=32x32 -frames:v 1 -pix_fmt yuv420p -c:v libx264
// -profile:v main -crf 38 -bsf:v filter_units=remove_types=6 -f flv
std::vector<std::uint8_t> config() {
    return hex("1700000000014d400affe10018674d400aa61125b011000003000100000300320f1226118001000668e8430312c8");
}
std::vector<std::uint8_t> key_frame() {
    return hex(
        "17010000000000008a658882063f7689d1b892bd34e1fda58847eeac93772a541da63e46ebf0ad447feaf3f16b50773f"
        "ffbeebf3b34d5d3c29aac24867d00b2cd92b2a32aa793103efdb6de3617759eaac64fff4bff225a0babcf52e384353a6"
        "d97a16a90a08101202804a69cc8a1ffc1e6e107e970653f990c31030a5126c08b2d9807e30053e35d7be8f6d11c6cdb6"
        "03317f");
}

// From the bodies of both.
Result<KeyFrame> key_frame_in(const std::vector<std::uint8_t>& frame, const std::vector<std::uint8_t>& config) {
    const auto packet = [](const std::vector<std::uint8_t>& body) {
        return body.empty() ? media::Packet() : MUST(media::read_tag(MediaKind::video, Slice::copy_of(body))).packet;
    };
    return key_frame_of(packet(frame), packet(config));
}

// Width and height from the frame header of a JPEG (ITU-T T.81, B.2.2).
std::pair<int, int> size_of(const std::vector<std::uint8_t>& jpeg) {
    for (std::size_t at = 2; at + 9 < jpeg.size(); at += 2U + (std::size_t{jpeg[at + 2]} << 8 | jpeg[at + 3])) {
        EXPECT_EQ(jpeg[at], 0xFF);
        if (jpeg[at + 1] == 0xC0)
            return {jpeg[at + 7] << 8 | jpeg[at + 8], jpeg[at + 5] << 8 | jpeg[at + 6]};
    }
    return {};
}

TEST(KeyFrame, IsTakenOutOfItsTag) {
    const auto frame = key_frame_in(key_frame(), config());
    ASSERT_TRUE(frame.ok());
    EXPECT_EQ(frame->codec, media::Codec::avc);
    EXPECT_EQ(frame->config.front(), 1);
    EXPECT_EQ(frame->data.size(), key_frame().size() - 5);
    EXPECT_EQ(key_frame_in(hex("27 01 000000 00000001 41"), config()).code(), Errc::malformed) << "no key";
    EXPECT_EQ(key_frame_in(config(), config()).code(), Errc::malformed) << "no frame";
    EXPECT_EQ(key_frame_in(hex("12 00"), {}).code(), Errc::unsupported) << "a codec of long ago";
}

TEST(KeyFrame, BecomesAJpeg) {
    const auto jpeg = jpeg_of(MUST(key_frame_in(key_frame(), config())));
    if (!jpeg.ok() && jpeg.code() == Errc::unsupported)
        GTEST_SKIP() << jpeg.error().sentence();
    ASSERT_TRUE(jpeg.ok()) << jpeg.error().sentence();
    EXPECT_EQ(jpeg->front(), 0xFF);
    EXPECT_EQ(jpeg->at(1), 0xD8);
    EXPECT_EQ(jpeg->at(jpeg->size() - 1), 0xD9);
    EXPECT_EQ(size_of(*jpeg), (std::pair{32, 32}));
}

TEST(KeyFrame, SurvivesTruncatedAndDamagedFrames) {
    const KeyFrame whole = MUST(key_frame_in(key_frame(), config()));
    for (std::size_t size = 0; size < whole.data.size(); size += 7) {
        KeyFrame cut = whole;
        cut.data.resize(size);
        static_cast<void>(jpeg_of(cut));
        cut = whole;
        cut.data[size] ^= 0x55;
        static_cast<void>(jpeg_of(cut));
    }
    for (std::size_t size = 0; size < whole.config.size(); ++size) {
        KeyFrame cut = whole;
        cut.config.resize(size);
        static_cast<void>(jpeg_of(cut));
    }
    EXPECT_FALSE(jpeg_of({media::Codec::avc, {}, {}}).ok());
}

struct SnapshotServiceTest : testing::Test {
    SnapshotServiceTest() { play.gop_cache = true; }
    ~SnapshotServiceTest() override { MUST(scope.stop(io::Deadline::after(io::kSoon))); }
    Ref<media::Source> publish(const std::string& url, bool has_key = true) {
        const auto source = MUST(streams.find_or_create(url, play, 60'000));
        publications.push_back(MUST(media::Publication::start(source, media::Takeover::refuse)));
        append(source, config(), false, true);
        append(source, has_key ? key_frame() : hex("27 01 000000 00000001 41"), has_key, false);
        return source;
    }
    static void append(const Ref<media::Source>& source, const std::vector<std::uint8_t>& body, bool key, bool config) {
        source->append(media::tag_packet(MediaKind::video, key, config, 1s, Slice::copy_of(body)));
        source->flush();
    }
    void ask(const std::string& url, int count) {
        for (int i = 0; i < count; ++i)
            MUST(scope.start("asks", [this, url](io::Deadline deadline) { answers.push_back(snapshots.take(url, deadline)); }));
    }
    void wait_for(std::size_t count) {
        io::wait_until([&] { return answers.size() >= count; });
        ASSERT_EQ(answers.size(), count);
    }

    std::unique_ptr<io::Loop> loop = MUST(io::Loop::create());
    media::PlayOptions play;
    media::SlabPool pool;
    media::StreamTable streams{pool};
    std::vector<std::unique_ptr<media::Publication>> publications;
    SnapshotService snapshots{streams};
    std::vector<Result<Block>> answers;
    io::Scope scope{"test"};
};

TEST_F(SnapshotServiceTest, SharesOneSnapshotAmongConcurrentRequests) {
    publish("/live/cam");
    ask("/live/cam", 5);
    wait_for(5);
    for (const auto& answer : answers) {
        ASSERT_EQ(answer.ok(), answers.front().ok());
        EXPECT_TRUE(!answer.ok() || *answer == *answers.front()) << "the same block";
    }
    publications.clear();
    ask("/live/cam", 1);
    wait_for(6);
    EXPECT_EQ(answers.back().code(), Errc::not_found) << "also when one is kept";
    EXPECT_EQ(snapshots.size(), 0u);
}

TEST_F(SnapshotServiceTest, FewAreMadeAtOnceAndFewWait) {
    publish("/live/a", false);
    publish("/live/b", false);
    publish("/live/c", false);
    ask("/live/a", static_cast<int>(SnapshotService::kWaitingMax) + 2);
    ask("/live/b", 1);
    ask("/live/c", 1);
    wait_for(2);  // the others wait for a key frame
    EXPECT_EQ(answers[0].code(), Errc::limit) << "one more than may wait";
    EXPECT_EQ(answers[1].code(), Errc::limit) << "a third stream";
    const auto source = streams.find("/live/a");
    append(source, key_frame(), true, false);
    wait_for(SnapshotService::kWaitingMax + 3);
    for (std::size_t i = 3; i < answers.size(); ++i)
        EXPECT_EQ(answers[i].ok(), answers[2].ok());
    scope.cancel();
    wait_for(SnapshotService::kWaitingMax + 4);
    EXPECT_EQ(answers.back().code(), Errc::cancelled);
}

TEST_F(SnapshotServiceTest, RefusesAStreamWithoutVideo) {
    const auto source = MUST(streams.find_or_create("/live/radio", play, 60'000));
    publications.push_back(MUST(media::Publication::start(source, media::Takeover::refuse)));
    ask("/live/radio", 1);
    wait_for(1);
    EXPECT_EQ(answers[0].code(), Errc::not_found);
}

TEST_F(SnapshotServiceTest, VideoMayComeAMomentAfterAudio) {
    const auto source = MUST(streams.find_or_create("/live/late", play, 60'000));
    publications.push_back(MUST(media::Publication::start(source, media::Takeover::refuse)));
    const auto audio = [&] {
        source->append(media::tag_packet(MediaKind::audio, false, false, 1s, Slice::copy_of(hex("af 01 21"))));
        source->flush();
    };
    audio();
    ask("/live/late", 1);
    static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    audio();
    static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    EXPECT_TRUE(answers.empty()) << "it waits";
    append(source, config(), false, true);
    append(source, key_frame(), true, false);
    wait_for(1);
    EXPECT_TRUE(answers[0].ok() || answers[0].code() == Errc::unsupported) << answers[0].error().sentence();
}

TEST_F(SnapshotServiceTest, KeepsAFewOfThem) {
    for (std::size_t i = 0; i < SnapshotService::kKeptMax + 5; ++i) {
        publish("/live/" + std::to_string(i));
        ask("/live/" + std::to_string(i), 1);
        wait_for(i + 1);
    }
    EXPECT_EQ(snapshots.size(), SnapshotService::kKeptMax);
}

}  // namespace
}  // namespace live::service::snapshot
