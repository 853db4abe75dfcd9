#include "service/recordings/recording_scan.hpp"

#include <algorithm>
#include <filesystem>

#include <gtest/gtest.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "wire/mp4/movie_writer.hpp"
#include "wire/mp4/read/recorded_files_fixture.hpp"

namespace live::service::recordings {
namespace {

namespace mp4 = wire::mp4;

class RecordingScanTest : public testing::Test {
protected:
    void write(const std::string& name, const mp4::FileBytes& bytes) const {
        std::filesystem::create_directories(std::filesystem::path(folder_.file(name)).parent_path());
        folder_.write(name, std::string(as_text(bytes)));
    }
    RecordingRoot root() const { return {"__defaultVhost__", folder_.file("[app]/[stream].[timestamp].mp4")}; }

    ScratchFolder folder_;
};

TEST_F(RecordingScanTest, NoteSaysStreamAndTimeWhateverTheName) {
    write("anything.mp4", mp4::recorded(2));
    const auto found = MUST(read_recording(root(), folder_.file("anything.mp4")));
    EXPECT_EQ(found.vhost, "__defaultVhost__");
    EXPECT_EQ(found.app, "live");
    EXPECT_EQ(found.stream, "cam");
    EXPECT_EQ(found.file.start, mp4::cam_note().start);
    EXPECT_EQ(found.file.format, FileFormat::fmp4);
    EXPECT_EQ(found.file.bytes, mp4::recorded(2).size());
}

TEST_F(RecordingScanTest, OtherMoviesAreNamedByTheTemplate) {
    ByteWriter out;
    mp4::MovieWriter writer;
    writer.begin(out);
    const auto video = MUST(writer.add_track(mp4::avc_track()));
    for (int i = 0; i < 50; ++i)
        MUST(writer.push(video, mp4::sample_of(i * 40ms, 100, 1, i == 0)));
    writer.flush(out);
    const FilePatch patch = writer.finish(out);
    mp4::FileBytes bytes = out.release();
    std::ranges::copy(patch.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(patch.offset));
    write("a/b/door.1764417600000.mp4", bytes);
    const auto before = std::filesystem::file_time_type::clock::now();
    const auto found = MUST(read_recording(root(), folder_.file("a/b/door.1764417600000.mp4")));
    EXPECT_EQ(found.app, "a/b");
    EXPECT_EQ(found.stream, "door");
    EXPECT_EQ(found.file.format, FileFormat::mp4);
    EXPECT_EQ(found.file.duration, 2s);
    const auto changed = std::chrono::floor<std::chrono::microseconds>(std::chrono::file_clock::to_sys(before));
    EXPECT_LT(found.file.start, changed - 1s);
    EXPECT_GT(found.file.start, changed - 1min);
}

TEST_F(RecordingScanTest, FindsTheFilesOfAllFoldersInOrder) {
    write("live/cam.2.mp4", mp4::recorded(1));
    write("x/y/z.3.mp4", mp4::recorded(2));
    write("live/no.mp4", mp4::FileBytes(100, 7));
    write("live/cam.5.mp4.tmp", mp4::recorded(1));
    write("live/readme.txt", mp4::FileBytes(10, 'a'));
    std::filesystem::create_symlink("/etc/passwd", folder_.file("live/link.9.mp4"));
    const Scan scan = scan_recordings({root(), root()});
    ASSERT_EQ(scan.found.size(), 2u);
    EXPECT_EQ(scan.unreadable, 1u);
    EXPECT_FALSE(scan.is_partial);
    EXPECT_TRUE(scan_recordings({{"v", folder_.file("none/[stream].mp4")}}).found.empty());
}

TEST_F(RecordingScanTest, FindsNewFilesAndThoseInProgressBesideKnownOnes) {
    write("live/cam.1.mp4", mp4::recorded(1));
    write("live/cam.2.mp4", mp4::recorded(2));
    const auto whole = mp4::recorded(4);
    write("live/cam.3.mp4.tmp", mp4::FileBytes(whole.begin(), whole.end() - 10));
    write("live/cam.4.mp4.tmp", mp4::FileBytes(whole.begin(), whole.begin() + 100));
    const KnownPaths known = {folder_.file("live/cam.1.mp4"), folder_.file("live/gone.mp4")};
    const Scan scan = scan_recordings({root()}, known, InProgress::found);
    EXPECT_EQ(scan.seen, KnownPaths{folder_.file("live/cam.1.mp4")});
    ASSERT_EQ(scan.found.size(), 2u);
    for (const FoundRecording& found : scan.found) {
        const bool is_open = found.file.path == folder_.file("live/cam.3.mp4");
        EXPECT_EQ(found.file.is_open, is_open);
        if (is_open) {
            EXPECT_EQ(found.file.duration, 3s) << "the last fragment is not whole";
        }
    }
    EXPECT_EQ(scan.unreadable, 0u);
}

TEST_F(RecordingScanTest, FolderIsThePartBeforeTheVariables) {
    EXPECT_EQ((RecordingRoot{"v", "./objs/dvr/[app]/[stream].flv"}.folder()), "./objs/dvr/");
    EXPECT_EQ((RecordingRoot{"v", "./objs/rec-[app].flv"}.folder()), "./objs/");
    EXPECT_EQ((RecordingRoot{"v", "[stream].flv"}.folder()), "");
}

// A damaged note must not put other names into lists.
TEST_F(RecordingScanTest, NamesWithControlCharactersAreRefused) {
    mp4::FileBytes bytes = mp4::recorded(1);
    const std::string_view name = "cam";
    const auto at = std::search(bytes.begin(), bytes.end(), name.begin(), name.end());
    *at = '\n';
    write("odd.mp4", bytes);
    EXPECT_EQ(read_recording(root(), folder_.file("odd.mp4")).code(), Errc::malformed);
}

}  // namespace
}  // namespace live::service::recordings
