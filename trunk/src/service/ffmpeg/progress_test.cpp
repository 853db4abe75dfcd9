#include "service/ffmpeg/progress.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace live::service::ffmpeg {
namespace {

// As ffmpeg 5.1 writes it.
constexpr std::string_view kReport =
    "frame=137\nfps=12.38\nstream_0_0_q=19.0\nbitrate= "
    "754.3kbits/s\ntotal_size=804504\nout_time_us=8533000\nout_time=00:00:08.533000\n"
    "dup_frames=1\ndrop_frames=2\nspeed=0.771x\nprogress=continue\n";

std::vector<std::string> lines_of(std::string_view text, std::size_t step) {
    LineReader reader;
    std::vector<std::string> lines;
    for (; !text.empty(); text.remove_prefix(std::min(step, text.size())))
        reader.read(text.substr(0, step), [&lines](std::string_view line) { lines.emplace_back(line); });
    return lines;
}

TEST(FfmpegProgress, ReadsAReport) {
    for (std::size_t step = 1; step < kReport.size(); ++step) {
        Progress progress;
        for (const std::string& line : lines_of(kReport, step))
            read_progress(line, progress);
        EXPECT_EQ(progress, (Progress{137, 12.38, 0.771, 2, 1, 8'533'000, 804'504})) << step;
        EXPECT_TRUE(progress.is_beyond({}));
    }
}

TEST(FfmpegProgress, IgnoresWhatIsNoNumber) {
    Progress progress{1, 2, 3, 4, 5};
    for (const char* line : {"speed=N/A", "fps=", "frame", "", "=", "drop_frames=-1", "frame=99999999999999999999999", "fps=-3"})
        read_progress(line, progress);
    EXPECT_EQ(progress, (Progress{1, 2, 3, 4, 5}));
}

TEST(FfmpegProgress, LinesHaveABound) {
    const auto lines = lines_of(std::string(10'000, 'x') + "\nshort\r\n\n", 100);
    ASSERT_EQ(lines.size(), 2U);
    EXPECT_EQ(lines[0].size(), LineReader::kLineMax);
    EXPECT_EQ(lines[1], "short");
}

TEST(FfmpegProgress, FindsAMissingEncoder) {
    EXPECT_EQ(missing_encoder("Unknown encoder 'h264_qsv'"), "h264_qsv");
    EXPECT_EQ(missing_encoder("[x] Unknown encoder 'cut"), "cut");
    EXPECT_EQ(missing_encoder("Conversion failed!"), "");
}

}  // namespace
}  // namespace live::service::ffmpeg
