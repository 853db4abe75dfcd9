#include "io/files/line_writer.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <sstream>
#include <thread>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/files/scratch_folder_fixture.hpp"
#include "base/time.hpp"

namespace live::io {
namespace {

constexpr auto kLong = 10s;

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
        lines.push_back(line);
    return lines;
}

// Lines of ten bytes, distinguished by number.
std::string numbered(int number) { return fmt::format("no {:06}\n", number); }

// Remarks are lines that begin with a number sign.
std::string as_line(std::string_view sentence) { return fmt::format("# {}\n", sentence); }

std::uint64_t lost_in(const std::string& remark) { return std::strtoull(remark.c_str() + 2, nullptr, 10); }

// A console that is read only on demand.
class Pipe {
public:
    explicit Pipe(int flags = 0) {
        CHECK(::pipe2(ends_.data(), O_CLOEXEC | flags) == 0);
        ::fcntl(ends_[1], F_SETPIPE_SZ, 4096);
    }
    ~Pipe() {
        ::close(ends_[0]);
        close_writer();
    }
    int writer() const { return ends_[1]; }
    void close_writer() {
        if (ends_[1] >= 0)
            ::close(std::exchange(ends_[1], -1));
    }
    // At most `size` bytes. Empty: the end.
    std::string read(std::size_t size) const {
        std::string bytes(size, '\0');
        const ssize_t count = ::read(ends_[0], bytes.data(), size);
        bytes.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
        return bytes;
    }

private:
    std::array<int, 2> ends_{};
};

struct LineWriterTest : ::testing::Test {
    LineWriter::Options to_file() const { return {.thread_name = "test", .path = folder.file("log")}; }
    static LineWriter::Options to(const Pipe& pipe) {
        return {.thread_name = "test", .path = "", .standing = pipe.writer(), .remark_line = as_line};
    }
    static void add(LineWriter& writer, int from, int to) {
        for (int number = from; number < to; ++number)
            writer.add(numbered(number));
    }
    // One line per batch, so that rotation happens not only in the middle of a batch.
    static void add_one_by_one(LineWriter& writer, int from, int to) {
        for (int number = from; number < to; ++number) {
            writer.add(numbered(number));
            ASSERT_TRUE(writer.wait_written(kLong));
        }
    }
    static std::string numbers(int from, int to) {
        std::string text;
        for (int number = from; number < to; ++number)
            text += numbered(number);
        return text;
    }

    ScratchFolder folder;
};

TEST_F(LineWriterTest, WritesAllLinesInTheirOrder) {
    folder.write("log", "before\n");
    const auto writer = MUST(LineWriter::create(to_file()));
    add(*writer, 0, 5000);
    EXPECT_TRUE(writer->wait_written(kLong));
    EXPECT_EQ(folder.read("log"), "before\n" + numbers(0, 5000));
    EXPECT_EQ(writer->counters().lost, 0U);
}

TEST_F(LineWriterTest, StopWritesQueuedLines) {
    {
        const auto writer = MUST(LineWriter::create(to_file()));
        add(*writer, 0, 5000);
    }
    EXPECT_EQ(folder.read("log"), numbers(0, 5000));
}

TEST_F(LineWriterTest, AFileThatCannotBeOpenedIsAnError) {
    EXPECT_EQ(LineWriter::create({.thread_name = "test", .path = folder.file("absent/log")}).code(), Errc::system);
}

TEST_F(LineWriterTest, MemoryIsGivenBackAfterACrowdOfLines) {
    const auto writer = MUST(LineWriter::create(to_file()));
    add(*writer, 0, 50'000);
    EXPECT_TRUE(writer->wait_written(kLong));
    for (int i = 0; i < 3; ++i)
        add_one_by_one(*writer, 0, 1);
    EXPECT_LE(writer->counters().memory_bytes, 200U << 10);
}

TEST_F(LineWriterTest, AnUnreadConsoleBlocksNoCaller) {
    Pipe pipe;
    auto writer = MUST(LineWriter::create(to(pipe)));
    const auto began = std::chrono::steady_clock::now();
    constexpr int kLines = 200'000;
    add(*writer, 0, kLines);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
    const auto counters = writer->counters();
    EXPECT_GT(counters.lost, kLines - (LineWriter::kWaitingBytesMax + 8192) / 10);
    EXPECT_LT(counters.lost, kLines - LineWriter::kWaitingBytesMax / 10 + 10);
    EXPECT_LE(counters.memory_bytes, 4 * LineWriter::kWaitingBytesMax);
    EXPECT_FALSE(writer->wait_written(50ms));
    // Once it is read again: first the queued lines, then the number of lost ones, then new lines.
    std::string text;
    while (!text.ends_with("in time\n"))
        text += pipe.read(65'536);
    writer->add("new\n");
    text += pipe.read(100);
    const auto lines = lines_of(text);
    ASSERT_GE(lines.size(), 3U);
    EXPECT_EQ(lines[lines.size() - 2], fmt::format("# {} lines lost here: not taken in time", counters.lost));
    EXPECT_EQ(lines.back(), "new");
    EXPECT_EQ(lines.size() - 2 + counters.lost, std::size_t{kLines});
    EXPECT_TRUE(text.starts_with(numbers(0, static_cast<int>(lines.size() - 2)) + "#"));
}

TEST_F(LineWriterTest, StopDoesNotWaitForABlockedConsole) {
    Pipe pipe;
    const auto began = std::chrono::steady_clock::now();
    {
        const auto writer = MUST(LineWriter::create(to(pipe)));
        add(*writer, 0, 5000);
    }
    const auto took = std::chrono::steady_clock::now() - began;
    EXPECT_GE(took, LineWriter::kEndLimit);
    EXPECT_LT(took, LineWriter::kEndLimit + 3s);
    // The thread keeps ownership of what it works with, and ends when it can.
    std::string text;
    while (text.size() < 50'000)
        text += pipe.read(65'536);
    EXPECT_EQ(text, numbers(0, 5000));
}

TEST_F(LineWriterTest, WaitsForANonBlockingPipe) {
    Pipe pipe;
    ::fcntl(pipe.writer(), F_SETFL, O_NONBLOCK);
    const auto writer = MUST(LineWriter::create(to(pipe)));
    add(*writer, 0, 5000);
    std::string text;
    while (text.size() < 50'000)
        text += pipe.read(1000);
    EXPECT_EQ(text, numbers(0, 5000));
}

// The output equals the input, however much the console takes and when, except for lost lines. Their number is reported in their
// place.
TEST_F(LineWriterTest, OutputEqualsInputExceptForReportedLosses) {
    for (unsigned seed = 1; seed <= 20; ++seed) {
        SCOPED_TRACE(seed);
        Pipe pipe;
        auto options = to(pipe);
        options.waiting_bytes_max = 3000;
        auto writer = MUST(LineWriter::create(std::move(options)));
        std::string text;
        std::thread reader([&pipe, &text, seed] {
            std::mt19937 random(seed);
            for (std::string part; !(part = pipe.read(1 + random() % 5000)).empty(); text += part)
                std::this_thread::sleep_for(std::chrono::microseconds(random() % 2000));
        });
        std::mt19937 random(seed + 1000);
        constexpr int kLines = 5000;
        for (int number = 0; number < kLines; ++number) {
            writer->add(numbered(number));
            if (random() % 200 == 0)
                std::this_thread::sleep_for(std::chrono::microseconds(random() % 8000));
        }
        EXPECT_TRUE(writer->wait_written(kLong));
        const std::uint64_t lost = writer->counters().lost;
        writer.reset();
        pipe.close_writer();
        reader.join();
        std::uint64_t said = 0;
        int next = 0;
        for (const std::string& line : lines_of(text)) {
            if (line.starts_with("#")) {
                said += lost_in(line);
                next += static_cast<int>(lost_in(line));
            } else {
                ASSERT_EQ(line + "\n", numbered(next));
                ++next;
            }
        }
        EXPECT_EQ(next, kLines);
        EXPECT_EQ(said, lost);
    }
}

TEST_F(LineWriterTest, ReopenFollowsAMovedFile) {
    const auto writer = MUST(LineWriter::create(to_file()));
    writer->add("one\n");
    ASSERT_TRUE(writer->wait_written(kLong));
    ASSERT_EQ(std::rename(folder.file("log").c_str(), folder.file("moved").c_str()), 0);
    writer->add("two\n");
    writer->reopen();
    writer->add("three\n");
    ASSERT_TRUE(writer->wait_written(kLong));
    EXPECT_EQ(folder.read("moved"), "one\ntwo\n");
    EXPECT_EQ(folder.read("log"), "three\n");
}

TEST_F(LineWriterTest, AFailedReopenLogsAndKeepsTheOldFile) {
    ASSERT_EQ(::mkdir(folder.file("logs").c_str(), 0755), 0);
    auto options = to_file();
    options.path = folder.file("logs/log");
    const auto writer = MUST(LineWriter::create(std::move(options)));
    ASSERT_EQ(std::rename(folder.file("logs").c_str(), folder.file("moved").c_str()), 0);
    writer->reopen();
    writer->add("still here\n");
    ASSERT_TRUE(writer->wait_written(kLong));
    EXPECT_EQ(folder.read("moved/log"), "still here\n");
    const auto remarks = writer->take_remarks();
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_EQ(remarks[0], "cannot open " + folder.file("logs/log") + ": No such file or directory (2); writing to the old file");
    EXPECT_TRUE(writer->take_remarks().empty());
}

// A disk with space for a line and a half.
class SmallDisk {
public:
    SmallDisk() : ignored_(std::signal(SIGXFSZ, SIG_IGN)) {
        CHECK(::getrlimit(RLIMIT_FSIZE, &before_) == 0);
        const ::rlimit small{15, before_.rlim_max};
        CHECK(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    }
    ~SmallDisk() {
        ::setrlimit(RLIMIT_FSIZE, &before_);
        std::signal(SIGXFSZ, ignored_);
    }

private:
    ::rlimit before_{};
    void (*ignored_)(int);
};

TEST_F(LineWriterTest, AFullDiskLosesNothingThatItTakesLater) {
    auto disk = std::make_unique<SmallDisk>();
    auto options = to_file();
    options.remark_line = as_line;
    const auto writer = MUST(LineWriter::create(std::move(options)));
    add(*writer, 0, 4);
    EXPECT_FALSE(writer->wait_written(100ms));
    disk.reset();
    EXPECT_EQ(folder.read("log"), numbered(0) + numbered(1).substr(0, 5));
    EXPECT_EQ(writer->counters().lost, 0U) << "it waits";
    add(*writer, 4, 5);
    ASSERT_TRUE(writer->wait_written(kLong));
    std::string lines;
    std::vector<std::string> remarks;
    for (const std::string& line : lines_of(folder.read("log")))
        line.starts_with("#") ? remarks.push_back(line) : void(lines += line + "\n");
    EXPECT_EQ(lines, numbers(0, 5));
    EXPECT_EQ(remarks, (std::vector<std::string>{
                           "# it takes nothing, and what does not fit into memory is lost: write: File too large (27)",
                           "# it is written to again"}));
}

TEST_F(LineWriterTest, CountsALineCutByReopenAsLost) {
    auto disk = std::make_unique<SmallDisk>();
    const auto writer = MUST(LineWriter::create(to_file()));
    add(*writer, 0, 4);
    EXPECT_FALSE(writer->wait_written(100ms));
    ASSERT_EQ(std::rename(folder.file("log").c_str(), folder.file("moved").c_str()), 0);
    writer->reopen();
    EXPECT_FALSE(writer->wait_written(100ms)) << "the new file is as small";
    disk.reset();
    EXPECT_TRUE(writer->wait_written(kLong));
    EXPECT_EQ(folder.read("moved"), numbered(0) + numbered(1).substr(0, 5));
    EXPECT_EQ(folder.read("log"), numbers(2, 4));
    EXPECT_EQ(writer->counters().lost, 1U);
    const auto remarks = writer->take_remarks();
    EXPECT_EQ(std::ranges::count(remarks, "1 line lost here: not taken in time"), 1);
}

TEST_F(LineWriterTest, LinesOfAFullDiskGoIntoTheFileThatReopenFinds) {
    auto options = to_file();
    ASSERT_EQ(::symlink("/dev/full", options.path.c_str()), 0);
    const auto writer = MUST(LineWriter::create(std::move(options)));
    add(*writer, 0, 3);
    EXPECT_FALSE(writer->wait_written(100ms));
    ASSERT_EQ(::unlink(folder.file("log").c_str()), 0);
    writer->reopen();
    add(*writer, 3, 5);
    EXPECT_TRUE(writer->wait_written(kLong));
    EXPECT_EQ(folder.read("log"), numbers(0, 5));
    EXPECT_EQ(writer->counters().lost, 0U);
}

TEST_F(LineWriterTest, AFullDiskDoesNotDelayTheEnd) {
    auto options = to_file();
    options.path = "/dev/full";
    auto opened = LineWriter::create(std::move(options));
    if (!opened.ok())
        GTEST_SKIP() << "no /dev/full here";
    const auto began = std::chrono::steady_clock::now();
    add(**opened, 0, 3);
    opened->reset();
    EXPECT_LT(std::chrono::steady_clock::now() - began, LineWriter::kEndLimit) << "it failed, it is not stuck";
}

TEST_F(LineWriterTest, RotatesAFullFileAndRemovesTheOldest) {
    auto options = to_file();
    options.rotation = {.file_bytes_max = 50, .backups = 2};
    const auto writer = MUST(LineWriter::create(std::move(options)));
    add_one_by_one(*writer, 0, 5);
    EXPECT_EQ(folder.read("log"), numbers(0, 5)) << "it is full, and no fuller";
    EXPECT_FALSE(std::filesystem::exists(folder.file("log.1")));
    add(*writer, 5, 23);
    EXPECT_TRUE(writer->wait_written(kLong));
    EXPECT_EQ(folder.read("log.2"), numbers(10, 15));
    EXPECT_EQ(folder.read("log.1"), numbers(15, 20));
    EXPECT_EQ(folder.read("log"), numbers(20, 23));
    EXPECT_FALSE(std::filesystem::exists(folder.file("log.3")));
    EXPECT_TRUE(writer->take_remarks().empty());
}

TEST_F(LineWriterTest, RemovesTheFullFileWithoutBackups) {
    auto options = to_file();
    options.rotation = {.file_bytes_max = 50, .backups = 0};
    const auto writer = MUST(LineWriter::create(std::move(options)));
    add_one_by_one(*writer, 0, 7);
    EXPECT_EQ(folder.read("log"), numbers(5, 7));
    EXPECT_FALSE(std::filesystem::exists(folder.file("log.1")));
}

TEST_F(LineWriterTest, CountsAnExistingFile) {
    folder.write("log", numbers(0, 40));
    auto options = to_file();
    options.rotation = {.file_bytes_max = 50, .backups = 1};
    const auto writer = MUST(LineWriter::create(std::move(options)));
    add_one_by_one(*writer, 40, 41);
    EXPECT_EQ(folder.read("log.1"), numbers(0, 40));
    EXPECT_EQ(folder.read("log"), numbers(40, 41));
}

TEST_F(LineWriterTest, WritesAnOversizedLineToItsOwnFile) {
    auto options = to_file();
    options.rotation = {.file_bytes_max = 50, .backups = 2};
    const auto writer = MUST(LineWriter::create(std::move(options)));
    const std::string longer = std::string(100, 'x') + "\n";
    writer->add(numbered(0));
    writer->add(longer);
    writer->add(numbered(1));
    EXPECT_TRUE(writer->wait_written(kLong));
    EXPECT_EQ(folder.read("log.2"), numbered(0));
    EXPECT_EQ(folder.read("log.1"), longer);
    EXPECT_EQ(folder.read("log"), numbered(1));
}

TEST_F(LineWriterTest, AFileThatAnotherProgramHasMovedIsLeftToIt) {
    auto options = to_file();
    options.rotation = {.file_bytes_max = 50, .backups = 2};
    const auto writer = MUST(LineWriter::create(std::move(options)));
    add_one_by_one(*writer, 0, 3);
    ASSERT_EQ(std::rename(folder.file("log").c_str(), folder.file("log.1").c_str()), 0);
    add_one_by_one(*writer, 3, 7);
    EXPECT_EQ(folder.read("log.1"), numbers(0, 5));
    EXPECT_EQ(folder.read("log"), numbers(5, 7));
    EXPECT_FALSE(std::filesystem::exists(folder.file("log.2")));
}

TEST_F(LineWriterTest, AFileThatAnotherProgramHasEmptiedIsNotFull) {
    auto options = to_file();
    options.rotation = {.file_bytes_max = 50, .backups = 2};
    const auto writer = MUST(LineWriter::create(std::move(options)));
    add_one_by_one(*writer, 0, 4);
    ASSERT_EQ(::truncate(folder.file("log").c_str(), 0), 0);
    add_one_by_one(*writer, 4, 8);
    EXPECT_EQ(folder.read("log"), numbers(4, 8));
    EXPECT_FALSE(std::filesystem::exists(folder.file("log.1")));
}

TEST_F(LineWriterTest, AFileThatCannotBeRenamedKeepsGrowingAndLogs) {
    ASSERT_EQ(::mkdir(folder.file("log.1").c_str(), 0755), 0);
    auto options = to_file();
    options.rotation = {.file_bytes_max = 50, .backups = 1};
    const auto writer = MUST(LineWriter::create(std::move(options)));
    add_one_by_one(*writer, 0, 10);
    EXPECT_EQ(folder.read("log"), numbers(0, 10));
    const auto remarks = writer->take_remarks();
    ASSERT_EQ(remarks.size(), 1U);
    EXPECT_EQ(remarks[0], "it is not rotated: cannot rename " + folder.file("log") + ": Is a directory (21)");
}

TEST_F(LineWriterTest, TheOwnerIsNotifiedOfEachFile) {
    int opened = 0;
    auto options = to_file();
    options.rotation = {.file_bytes_max = 50, .backups = 1};
    options.opened = [&opened](int descriptor) { opened += descriptor >= 0 ? 1 : 0; };
    const auto writer = MUST(LineWriter::create(std::move(options)));
    EXPECT_EQ(opened, 1);
    add_one_by_one(*writer, 0, 6);
    EXPECT_EQ(opened, 2);
    writer->reopen();
    ASSERT_TRUE(writer->wait_written(kLong));
    EXPECT_EQ(opened, 3);
}

TEST_F(LineWriterTest, AnAbortWaitsForTheLinesBeforeIt) {
    const auto crash = [this] {
        const auto writer = MUST(LineWriter::create(to_file()));
        writer->hold_crashes();
        add(*writer, 0, 9000);
        CHECK(writer == nullptr);
    };
    EXPECT_EXIT(crash(), testing::KilledBySignal(SIGABRT), "CHECK failed");
    EXPECT_EQ(folder.read("log"), numbers(0, 9000));
}

TEST_F(LineWriterTest, AbortDoesNotWaitForABlockedConsole) {
    Pipe pipe;
    const auto crash = [&pipe] {
        const auto writer = MUST(LineWriter::create(to(pipe)));
        writer->hold_crashes();
        add(*writer, 0, 9000);
        std::abort();
    };
    const auto began = std::chrono::steady_clock::now();
    EXPECT_EXIT(crash(), testing::KilledBySignal(SIGABRT), "");
    EXPECT_LT(std::chrono::steady_clock::now() - began, LineWriter::kCrashLimit + 3s);
}

}  // namespace
}  // namespace live::io
