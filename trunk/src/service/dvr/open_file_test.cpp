#include "service/dvr/open_file.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "service/segments/segmenter_fixture.hpp"

namespace live::service::dvr {
namespace {

class OpenFileTest : public testing::Test {
protected:
    OpenFileTest() {
        context_.claims = &claims_;
        context_.open = &open_;
        plan_.url = "/live/cam";
    }
    void create() { MUST(file_.create(path_, FileFormat::flv, {}, {}, io::Deadline::never())); }
    void push_frame() { MUST(file_.recording().push(segments::video_packet(0s, true), {})); }
    std::size_t remembered() { return MUST(open_.left(io::Deadline::never())).size(); }

    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    ScratchFolder folder_;
    files::PathClaims claims_;
    OpenRecordings open_{folder_.file("open")};
    DvrContext context_;
    session::ClientRequest request_;
    session::StreamPlan plan_;
    const std::string path_ = folder_.file("cam.flv");
    OpenFile file_{request_, plan_, context_, Log()};
};

TEST_F(OpenFileTest, CompletesAFile) {
    create();
    EXPECT_TRUE(file_.is_open());
    EXPECT_EQ(remembered(), 1U);
    push_frame();
    EXPECT_TRUE(MUST(file_.write(Recording::Last::yes, io::Deadline::never())));
    const std::uint64_t bytes = file_.bytes();
    EXPECT_GT(bytes, 0U);
    MUST(file_.commit(io::Deadline::never()));
    EXPECT_FALSE(file_.is_open());
    EXPECT_EQ(std::filesystem::file_size(path_), bytes);
    EXPECT_EQ(remembered(), 0U);
}

TEST_F(OpenFileTest, DiscardsAFileWithoutMedia) {
    create();
    MUST(file_.discard(io::Deadline::never()));
    EXPECT_FALSE(file_.is_open());
    EXPECT_FALSE(std::filesystem::exists(path_));
    EXPECT_EQ(remembered(), 0U);
    create();
    EXPECT_TRUE(file_.is_open()) << "the claim has been released";
}

TEST_F(OpenFileTest, KeepsTheWrittenBytesAfterAnError) {
    create();
    push_frame();
    EXPECT_TRUE(MUST(file_.write(Recording::Last::no, io::Deadline::never())));
    push_frame();
    EXPECT_TRUE(file_.keep_written(Error(Errc::system, "disk full"), io::Deadline::never()));
    EXPECT_TRUE(std::filesystem::exists(path_));
    EXPECT_EQ(remembered(), 0U);
    file_.abandon();
    EXPECT_FALSE(file_.is_open());
}

TEST_F(OpenFileTest, RefusesAPathThatIsClaimedOrTaken) {
    {
        OpenFile other(request_, plan_, context_, Log());
        MUST(other.create(path_, FileFormat::flv, {}, {}, io::Deadline::never()));
        EXPECT_EQ(file_.create(path_, FileFormat::flv, {}, {}, io::Deadline::never()).code(), Errc::conflict);
    }
    folder_.write("cam.flv", "");
    EXPECT_EQ(file_.create(path_, FileFormat::flv, {}, {}, io::Deadline::never()).code(), Errc::conflict);
    EXPECT_FALSE(file_.is_open());
}

}  // namespace
}  // namespace live::service::dvr
