#include "service/hls/fragment_writer.hpp"

#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/scope.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "media/source/stream_table.hpp"

namespace live::service::hls {
namespace {

class ReportedFragments final : public HlsEvents {
public:
    void on_fragment(const FragmentEvent& event) override {
        numbers.push_back(event.number);
        file = event.file;
        uri = event.uri;
        playlist_url = event.playlist_url;
        publisher = event.publisher.id;
        stream_url = event.stream_url;
        duration = event.duration;
    }

    std::vector<std::uint64_t> numbers;
    std::string file;
    std::string uri;
    std::string playlist_url;
    std::string publisher;
    std::string stream_url;
    MediaTime duration{};
};

class FragmentWriterTest : public testing::Test {
protected:
    void SetUp() override {
        options_.enabled = true;
        options_.path = options_.key_file_path = folder_.file("");
        stream_ = std::make_shared<segments::StreamOfFiles>();
        feed_ = std::make_unique<segments::SourceFeed>("HLS", MUST(streams_.find_or_create(url_, {}, 60'000)),
                                                       media::WakeMode::batched, Log());
        disk_ = std::make_unique<Disk>(options_, *feed_, Log());
    }
    // After the options are set.
    void begin() {
        rendition_ = std::make_unique<Rendition>(Rendition::Shared{options_, store_, stream_, *disk_, ranges_},
                                                 Names(options_, name_, Zone::utc), ListRules{});
        writer_ = std::make_unique<FragmentWriter>(FragmentWriter::Setup{options_, name_, url_, *disk_, events_, store_, stream_},
                                                   rendition_->names());
        session::ClientRequest publisher;
        publisher.id = "p1";
        writer_->begin_publisher(publisher);
        MUST(scope_.start("disk", [this](io::Deadline deadline) { disk_->run(deadline); }));
    }
    void TearDown() override {
        disk_->close();
        MUST(scope_.join(io::Deadline::after(io::kSoon)));
    }
    static segments::SegmentMade segment(std::string_view content) {
        segments::SegmentMade made;
        made.duration = 2s;
        const Bytes bytes = as_bytes(content);
        made.pieces.emplace_back().blocks = {std::make_shared<const std::vector<std::uint8_t>>(bytes.begin(), bytes.end())};
        return made;
    }
    void add(const segments::SegmentMade& made) {
        writer_->write(*rendition_, rendition_->add(made, made.pieces.front(), writer_->keys()));
    }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
    HlsOptions options_;
    const StreamName name_{"", "live", "cam"};
    const std::string url_ = "/live/cam";
    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    segments::Store store_;
    segments::StreamOfFilesRef stream_;
    std::unique_ptr<segments::SourceFeed> feed_;
    std::unique_ptr<Disk> disk_;
    DateRanges ranges_;
    ReportedFragments events_;
    std::unique_ptr<Rendition> rendition_;
    std::unique_ptr<FragmentWriter> writer_;
    io::Scope scope_{"disk"};
};

TEST_F(FragmentWriterTest, ReportsAFragmentThatIsOnTheDisk) {
    begin();
    add(segment("fragment 0"));
    EXPECT_TRUE(events_.numbers.empty()) << "it is only queued";
    io::wait_until([this] { return !events_.numbers.empty(); });
    EXPECT_EQ(folder_.read("live/cam-0.ts"), "fragment 0");
    EXPECT_EQ(events_.numbers, (std::vector<std::uint64_t>{0}));
    EXPECT_EQ(events_.uri, "cam-0.ts");
    EXPECT_EQ(events_.file, folder_.file("live/cam-0.ts"));
    EXPECT_EQ(events_.playlist_url, "live/cam.m3u8");
    EXPECT_EQ(events_.publisher, "p1");
    EXPECT_EQ(events_.stream_url, "/live/cam");
    EXPECT_EQ(events_.duration, 2s);
}

TEST_F(FragmentWriterTest, AFailedWriteBecomesAGapAndIsNotReported) {
    begin();
    folder_.write("live", "a file in the place of the folder");
    add(segment("fragment 0"));
    io::wait_until([this] { return rendition_->list().listed().front().gap; });
    EXPECT_TRUE(events_.numbers.empty());
}

TEST_F(FragmentWriterTest, WritesAMasterPlaylistOnlyWhenItHasChanged) {
    begin();
    const auto written = [this](const std::string& text) { return folder_.read("live/cam.m3u8") == text; };
    writer_->write_master("#EXTM3U\n");
    io::wait_until([&] { return written("#EXTM3U\n"); });
    folder_.write("live/cam.m3u8", "another");
    writer_->write_master("#EXTM3U\n");
    add(segment("fragment 0"));
    io::wait_until([this] { return !events_.numbers.empty(); });
    EXPECT_TRUE(written("another")) << "the queue has one order";
    writer_->reset();
    writer_->write_master("#EXTM3U\n");
    io::wait_until([&] { return written("#EXTM3U\n"); });
}

TEST_F(FragmentWriterTest, EncryptsAllPiecesOfASegmentWithOneKey) {
    options_.keys = true;
    options_.fragments_per_key = 2;
    begin();
    std::vector<std::string> keys;
    for (std::uint64_t number = 0; number < 3; ++number) {
        auto made = segment("sixteen byte....");
        made.pieces.push_back(made.pieces.front());
        ASSERT_TRUE(writer_->seal(made, number, io::Deadline::after(io::kSoon)).ok());
        EXPECT_EQ(made.pieces[0].blocks.front()->size(), 32U) << "padded";
        EXPECT_EQ(*made.pieces[0].blocks.front(), *made.pieces[1].blocks.front());
        ASSERT_NE(writer_->keys(), nullptr);
        keys.push_back(writer_->keys()->key()->uri);
    }
    EXPECT_EQ(keys[0], keys[1]);
    EXPECT_NE(keys[1], keys[2]);
}

TEST_F(FragmentWriterTest, WithoutKeysASegmentIsUnchanged) {
    begin();
    auto made = segment("as it is");
    ASSERT_TRUE(writer_->seal(made, 0, io::Deadline::after(io::kSoon)).ok());
    EXPECT_EQ(writer_->keys(), nullptr);
    EXPECT_EQ(as_text(*made.pieces[0].blocks.front()), "as it is");
}

}  // namespace
}  // namespace live::service::hls
