#include "service/hls/hls_service.hpp"

#include <algorithm>
#include <filesystem>
#include <future>

#include "io/fibers/off_loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/ring/sync_message.hpp"
#include "service/files/frame_limit.hpp"
#include "service/hls/hls_service_fixture.hpp"
#include "service/hls/previous_playlist.hpp"
#include "service/segments/segment_sync.hpp"

namespace live::service::hls {
namespace {

TEST_F(HlsServiceTest, ContinuesNumbersAfterADiscontinuity) {
    publish();
    seconds(2);
    unpublish();
    wait_written(1);
    publish();
    seconds(2);
    unpublish();
    wait_written(3);
    io::wait_until([this] { return on_disk().media_sequence == 1; });
    const auto playlist = on_disk();
    ASSERT_EQ(playlist.segments.size(), 3U);
    EXPECT_EQ(playlist.discontinuity_sequence, 1U);
    EXPECT_FALSE(playlist.segments[0].discontinuity);
    EXPECT_TRUE(playlist.segments[1].discontinuity);
    EXPECT_FALSE(playlist.segments[2].discontinuity);
    EXPECT_EQ(playlist.segments[2].uri, "cam-3.ts");
    EXPECT_EQ(fragments_.numbers, (std::vector<std::uint64_t>{0, 1, 2, 3}));
}

TEST_F(HlsServiceTest, RemovesFilesThatHaveLeftTheList) {
    publish();
    seconds(20);
    wait_written(18);
    io::wait_until([this] { return !is_on_disk("live/cam-10.ts"); });
    EXPECT_TRUE(is_on_disk("live/cam-18.ts"));
    EXPECT_FALSE(is_on_disk("live/cam-0.ts"));
    EXPECT_LT(service_->index().size(), 12U);
}

TEST_F(HlsServiceTest, FreesPartsAfterTheyWereListed) {
    options_.ll = true;
    publish();
    seconds(2);
    const auto path = std::filesystem::path(folder_.file("live/cam-0.0.ts")).lexically_normal().string();
    const segments::Store& store = service_->index().store();
    io::wait_until([&] { return store.find(path) != nullptr && store.find(path)->is_whole(); });
    const std::weak_ptr block = store.find(path)->blocks().at(0);
    seconds(8);
    io::wait_until([&] { return block.expired(); });
    EXPECT_EQ(store.find(path), nullptr);
    EXPECT_LT(store.size(), 60U) << "five parts a second, of six seconds";
}

TEST_F(HlsServiceTest, ShortensAWindowOfTooManyBytesAndLogsItOnce) {
    options_.window_bytes = 9'000;  // one and a half fragments
    publish();
    seconds(6);
    wait_written(4);
    EXPECT_EQ(output()->together().list().listed().size(), 1U);
    EXPECT_LE(output()->together().list().bytes(), options_.window_bytes);
    EXPECT_TRUE(is_on_disk("live/cam-3.ts")) << "for players with the previous playlist";
    ASSERT_EQ(errors_.warnings.size(), 1U);
    EXPECT_TRUE(errors_.warnings[0].starts_with("HLS /live/cam: its fragments exceed hls_window_bytes (9000)"));
}

TEST_F(HlsServiceTest, DropsAHugeFrameAndLogsItOnce) {
    publish();
    seconds(1);
    for (int i = 0; i < 2; ++i, at_ += 40ms)
        source_->append(media::tag_packet(MediaKind::video, true, false, at_, picture(true, 0, files::kFrameBytesMax)));
    at_ = 12s;
    seconds(3);
    wait_written(2);
    EXPECT_LT(output()->together().list().bytes(), files::kFrameBytesMax);
    ASSERT_EQ(errors_.warnings.size(), 1U);
    EXPECT_NE(errors_.warnings[0].find("is left out, as are all of over 4194304"), std::string::npos) << errors_.warnings[0];
}

// Publishers start and leave before the fiber has read their packets.
TEST_F(HlsServiceTest, SegmentsEachPublisherSeparately) {
    publish();
    seconds(0);
    for (int i = 0; i < 3; ++i) {
        for (int k = 0; k < 25; ++k, at_ += 40ms)
            source_->append(media::tag_packet(MediaKind::video, k == 0, false, at_, picture(k == 0)));
        unpublish();
        publish();
    }
    seconds(3);
    wait_written(4);
    int discontinuities = 0;
    for (const ListedSegment& segment : output()->together().list().listed())
        discontinuities += segment.discontinuity ? 1 : 0;
    EXPECT_EQ(output()->together().list().next_number(), 5U) << "three of one second, and two of the last publisher";
    EXPECT_GE(discontinuities, 1);
}

TEST_F(HlsServiceTest, KeepsFilesWithoutCleanup) {
    options_.cleanup = false;
    publish();
    seconds(20);
    wait_written(18);
    EXPECT_TRUE(is_on_disk("live/cam-0.ts"));
    EXPECT_LT(service_->index().size(), 12U);
}

// A stream of the same name on another virtual host, with the same templates.
TEST_F(HlsServiceTest, RefusesTheFilesOfAnotherStream) {
    publish();
    seconds(2);
    wait_written(0);
    session::StreamPlan other = plan_;
    other.vhost = "other.example";
    other.url = "other.example/live/cam";
    MUST(streams_.find_or_create(other.url, {}, 60'000));
    service_->on_published(request_, other);
    const std::string sentence = "HLS other.example/live/cam is not made for this publisher: " +
                                 std::filesystem::path(folder_.file("live/cam.m3u8")).lexically_normal().string() +
                                 " belongs to the HLS of /live/cam";
    EXPECT_EQ(errors_.errors, std::vector<std::string>{sentence});
    EXPECT_EQ(service_->size(), 1U);
    EXPECT_EQ(output()->url(), "/live/cam");
    const HlsOptions before = options_;
    options_.m3u8_file = "[vhost]/[stream].m3u8";
    service_->on_published(request_, other);
    EXPECT_EQ(service_->size(), 1U) << "its fragments would belong to the other stream";
    for (std::string* form : {&options_.ts_file, &options_.fmp4_file, &options_.init_file})
        form->insert(0, "[vhost]/");
    service_->on_published(request_, other);
    EXPECT_EQ(service_->size(), 2U);
    options_ = before;
    stop();
    EXPECT_EQ(claims_.size(), 0U);
    start();
}

TEST_F(HlsServiceTest, DisposesOfFilesWithoutAPublisher) {
    options_.dispose = 50ms;
    publish();
    seconds(3);
    wait_written(1);
    unpublish();
    io::wait_until([this] { return !is_on_disk("live/cam.m3u8"); });
    io::wait_until([this] { return std::filesystem::is_empty(folder_.file("live")); });
    io::wait_until([this] { return output() == nullptr; });
    EXPECT_EQ(service_->index().size(), 0U);
    fragments_.numbers.clear();
    publish();
    seconds(2);
    wait_written(0);
    EXPECT_TRUE(is_on_disk("live/cam-0.ts")) << "it starts again";
}

TEST_F(HlsServiceTest, ContinuesTheListOfAnEarlierProcess) {
    options_.dispose = 0s;
    publish();
    seconds(4);
    wait_written(2);
    restart();
    const auto left = on_disk();
    ASSERT_EQ(left.segments.back().uri, "cam-3.ts");
    publish();
    seconds(2);
    wait_written(4);
    io::wait_until([this] { return on_disk().segments.back().uri == "cam-4.ts"; });
    const auto playlist = on_disk();
    ASSERT_EQ(playlist.segments.size(), 3U);
    EXPECT_EQ(playlist.segments[0], left.segments[1]);
    EXPECT_EQ(playlist.segments[1], left.segments[2]);
    EXPECT_TRUE(playlist.segments[2].discontinuity);
    // A new node that relays the stream counts from zero. The message shows that the origin does not.
    ASSERT_EQ(source_->syncs().newest().size(), 1U);
    const auto sync = MUST(segments::read_segment_sync(source_->syncs().newest().front().message.text));
    EXPECT_GE(std::get<segments::SegmentState>(sync.event).number, 4U);
}

// The earlier process may have served parts of that fragment.
TEST_F(HlsServiceTest, SkipsTheNameOfAnUnfinishedFragment) {
    options_.dispose = 0s;
    options_.ll = true;
    publish();
    seconds(4);
    wait_written(2);
    restart();
    ASSERT_EQ(on_disk().segments.back().uri, "cam-3.ts");
    publish();
    seconds(2);
    wait_written(5);
    io::wait_until([this] { return on_disk().segments.back().uri == "cam-5.ts"; });
    const auto playlist = on_disk();
    ASSERT_GE(playlist.segments.size(), 3U);
    EXPECT_EQ((playlist.segments.end() - 2)->uri, "cam-4.ts");
    EXPECT_TRUE((playlist.segments.end() - 2)->gap);
    EXPECT_TRUE(playlist.segments.back().discontinuity);
    const auto left = MUST(read_previous_playlist(output()->together().names(), io::Deadline::after(io::kSoon)));
    EXPECT_EQ(left.segments.size(), playlist.segments.size()) << "a gap has no file, and the next process lists it";
}

TEST_F(HlsServiceTest, ListsNoFragmentsThatAreMissingOnDisk) {
    options_.dispose = 0s;
    publish();
    seconds(4);
    wait_written(2);
    restart();
    std::filesystem::remove(folder_.file("live/cam-2.ts"));
    publish();
    seconds(2);
    wait_written(4);
    io::wait_until([this] { return on_disk().segments.back().uri == "cam-4.ts"; });
    const auto playlist = on_disk();
    SCOPED_TRACE(folder_.read("live/cam.m3u8"));
    EXPECT_EQ(playlist.media_sequence, 3U);
    EXPECT_EQ(playlist.discontinuity_sequence, 1U) << "the discontinuity of the first, retired segment";
    EXPECT_EQ(playlist.segments.size(), 2U);
}

TEST_F(HlsServiceTest, RestartsNumbersWithoutRecovery) {
    options_.dispose = 0s;
    options_.recover = false;
    publish();
    seconds(4);
    wait_written(2);
    restart();
    fragments_.numbers.clear();
    publish();
    seconds(2);
    wait_written(0);
    io::wait_until([this] { return on_disk().segments.front().uri == "cam-0.ts"; });
    EXPECT_EQ(on_disk().media_sequence, 0U);
}

TEST_F(HlsServiceTest, ChoosesTheContainerForTheCodecs) {
    publish();
    seconds(2);
    unpublish();
    wait_written(1);
    io::wait_until([this] { return on_disk().segments.back().uri == "cam-1.ts"; });
    is_av1_ = true;
    publish();
    seconds(2);
    unpublish();
    wait_written(3);
    io::wait_until([this] { return on_disk().segments.back().uri == "cam-3.m4s"; });
    const auto playlist = on_disk();
    EXPECT_EQ(playlist.media_sequence, 2U) << "fMP4 only: many players decide by the first segment";
    EXPECT_EQ(playlist.discontinuity_sequence, 1U);
    EXPECT_TRUE(playlist.segments[0].discontinuity);
    EXPECT_EQ(playlist.segments[0].map, "cam/init.mp4");
    EXPECT_TRUE(is_on_disk("live/cam/init.mp4"));
    EXPECT_TRUE(is_on_disk("live/cam-1.ts")) << "for players with the previous playlist";
    is_av1_ = false;
    publish();
    seconds(2);
    wait_written(4);
    io::wait_until([this] { return on_disk().segments.back().uri == "cam-4.m4s"; });
    EXPECT_EQ(on_disk().segments.front().uri, "cam-2.m4s") << "it stays fMP4";
    EXPECT_TRUE(errors_.warnings.empty());
}

TEST_F(HlsServiceTest, ACodecMayChangeWhileSomebodyPublishes) {
    publish();
    seconds(2);
    is_av1_ = true;
    source_->append(config_packet(MediaKind::video, av1_config(), at_));
    seconds(2);
    wait_written(2);
    io::wait_until([this] { return on_disk().segments.back().uri == "cam-2.m4s"; });
    EXPECT_EQ(on_disk().segments.size(), 1U);
}

TEST_F(HlsServiceTest, ContinuesTheContainerOfAListLeftByAnotherServer) {
    options_.dispose = 0s;
    is_av1_ = true;
    publish();
    seconds(3);
    wait_written(1);
    restart();
    is_av1_ = false;
    publish();
    seconds(2);
    wait_written(3);
    io::wait_until([this] { return on_disk().segments.back().uri == "cam-3.m4s"; });
    EXPECT_EQ(on_disk().segments.front().uri, "cam-1.m4s");
}

TEST_F(HlsServiceTest, LogsAnUnsupportedCodecOnce) {
    options_.use_fmp4 = Fmp4::off;
    is_av1_ = true;
    publish();
    source_->append(config_packet(MediaKind::audio, aac_config(), at_));
    for (int i = 0; i < 3; ++i) {
        source_->append(config_packet(MediaKind::video, av1_config(), at_));
        seconds(1);
    }
    io::wait_until([this] { return !errors_.warnings.empty(); });
    EXPECT_EQ(errors_.warnings,
              std::vector<std::string>{"HLS /live/cam: AV1 is left out, MPEG-TS cannot carry it; hls_use_fmp4 auto would"});
    unpublish();
    publish();
    seconds(1);
    io::wait_until([this] { return errors_.warnings.size() == 2; });
}

// All worker threads that could write are busy.
TEST_F(HlsServiceTest, ASlowDiskStopsNoPlayer) {
    options_.recover = false;
    std::promise<void> goes_on;
    const std::shared_future<void> waits(goes_on.get_future());
    io::Scope disk("disk");
    for (std::size_t i = 0; i < io::WorkerPool::kThreads[0]; ++i)
        MUST(disk.start("disk",
                        [waits](io::Deadline forever) { static_cast<void>(io::off_loop([waits] { waits.wait(); }, forever)); }));
    static_cast<void>(io::yield(io::Deadline::never()));
    publish();
    seconds(4);
    io::wait_until([this] { return output() != nullptr && output()->together().list().next_number() >= 3; });
    const auto text = output()->together().playlist_text(SegmentList::Form::players, "");
    ASSERT_TRUE(text.has_value());
    EXPECT_NE(text->find("cam-2.ts"), std::string::npos);
    const ListedSegment* newest = output()->together().list().find(2);
    ASSERT_NE(newest, nullptr);
    EXPECT_FALSE(newest->file->blocks().empty());
    EXPECT_FALSE(is_on_disk("live/cam-0.ts"));
    goes_on.set_value();
    wait_written(2);
    MUST(disk.stop(io::Deadline::after(kSoon)));
}

class BrokenDisk : public HlsServiceTest {
protected:
    void publish_with(OnError on_error) {
        folder_.write("file", "");
        options_.path = folder_.file("file");  // not a directory
        options_.on_error = on_error;
        publish();
        seconds(3);
    }
    StreamOutput* made_for_memory() const {
        const auto path = std::filesystem::path(folder_.file("file/live/cam.m3u8")).lexically_normal().string();
        const auto* file = service_->index().find(path);
        return file == nullptr ? nullptr : file->output;
    }
};

TEST_F(BrokenDisk, ServesPlayersIfHlsContinues) {
    publish_with(OnError::carry_on);
    io::wait_until([this] { return made_for_memory() != nullptr && made_for_memory()->together().list().next_number() >= 2; });
    io::wait_until([this] { return !errors_.errors.empty(); });
    seconds(2);
    io::wait_until([this] { return made_for_memory()->together().list().next_number() >= 4; });
    EXPECT_TRUE(source_->is_published());
    EXPECT_TRUE(fragments_.numbers.empty());
}

TEST_F(BrokenDisk, EndsHlsOfThePublisherIfErrorsAreIgnored) {
    publish_with(OnError::ignore);
    io::wait_until([this] {
        auto* output = made_for_memory();
        const std::uint64_t before = output == nullptr ? 0 : output->together().list().next_number();
        seconds(2);
        return output != nullptr && before > 0 && output->together().list().next_number() == before;
    });
    EXPECT_TRUE(source_->is_published());
}

TEST_F(BrokenDisk, DisconnectsThePublisherIfConfigured) {
    publish_with(OnError::disconnect);
    io::wait_until([this] { return !publication_->is_current(); });
}

}  // namespace
}  // namespace live::service::hls
