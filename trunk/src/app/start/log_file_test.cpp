#include "app/start/log_file.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include <nlohmann/json.hpp>

#include "base/files/scratch_folder_fixture.hpp"
#include "base/log/log_format.hpp"
#include "base/time.hpp"

namespace live::app {
namespace {

// 2024-05-06 07:08:09.123 UTC.
constexpr std::chrono::system_clock::time_point kTime{std::chrono::milliseconds(1'714'979'289'123)};

std::string line_of(LogLevel level, std::string_view message, int errno_value = 0, LogFormat format = {.utc = true}) {
    return format_log_line({kTime, level, 4321, "k3x9q0ab", message, errno_value}, format);
}

TEST(LogLine, HasTheFormOfTheDocument) {
    EXPECT_EQ(line_of(LogLevel::info, "message"), "[2024-05-06 07:08:09.123][INFO][4321][k3x9q0ab] message\n");
    EXPECT_EQ(line_of(LogLevel::trace, "m"), "[2024-05-06 07:08:09.123][TRACE][4321][k3x9q0ab] m\n");
    EXPECT_EQ(line_of(LogLevel::debug, "m"), "[2024-05-06 07:08:09.123][DEBUG][4321][k3x9q0ab] m\n");
}

TEST(LogLine, WarningsAndErrorsCarryErrno) {
    EXPECT_EQ(line_of(LogLevel::warn, "m", 11), "[2024-05-06 07:08:09.123][WARN][4321][k3x9q0ab][11] m\n");
    EXPECT_EQ(line_of(LogLevel::error, "m", ECONNREFUSED),
              "[2024-05-06 07:08:09.123][ERROR][4321][k3x9q0ab][111] m(Connection refused)\n");
    EXPECT_EQ(line_of(LogLevel::error, "m"), "[2024-05-06 07:08:09.123][ERROR][4321][k3x9q0ab][0] m\n");
}

TEST(LogLine, RemovesControlCharacters) {
    const std::pair<std::string_view, std::string_view> cases[] = {
        {"a\x1b[31m\n\x7f", "a?[31m??"},
        {"a\xc2\x9b"
         "31m",
         "a?31m"},                     // CSI, U+009B
        {"a\xc2\x80\xc2\x9f", "a??"},  // the first and the last of C1
        {"a\x9b"
         "31m \x80\x9f",
         "a?31m ??"},                                // the same as bytes
        {"a\xe0\x82\x9b \xf0\x80\x82\x9b", "a? ?"},  // overlong
        {"a\xc0\x9b", "a?"},
        {"\xc2\xa0 caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xa5", "\xc2\xa0 caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x8e\xa5"},
        {"a\xe2\x80\xa8"
         "b \xe2\x80\xae",
         "a?b ?"},               // a line separator, and a change of direction
        {"caf\xe9", "caf\xe9"},  // a letter in another character set
        {"\xe2\x82", "\xe2?"},   // truncated
    };
    for (const auto& [said, written] : cases)
        EXPECT_EQ(line_of(LogLevel::info, said), line_of(LogLevel::info, written)) << written;
}

TEST(LogLine, IsOneJsonObjectIfConfigured) {
    const LogFormat json{.colours = true, .lines = settings::LogLines::json};
    EXPECT_EQ(line_of(LogLevel::info, "a \"b\" \\\n\x1b", 0, json),
              R"({"time":"2024-05-06T07:08:09.123Z","level":"info","pid":4321,"id":"k3x9q0ab","message":"a \"b\" \\??"})"
              "\n");
    EXPECT_EQ(line_of(LogLevel::error, "m", ECONNREFUSED, json),
              R"({"time":"2024-05-06T07:08:09.123Z","level":"error","pid":4321,"id":"k3x9q0ab","message":"m","errno":111,)"
              R"("error":"Connection refused"})"
              "\n");
    for (const char* letter : {"a", "\"", "\x01", "\xff", "\xe2\x82\xac"}) {
        std::string message;
        while (message.size() < 3 * LogSink::kLineMax)
            message += letter;
        const std::string line = line_of(LogLevel::warn, message, 0, json);
        EXPECT_LE(line.size(), LogSink::kLineMax);
        EXPECT_GT(line.size(), LogSink::kLineMax * 9 / 10) << letter;
        EXPECT_TRUE(line.ends_with("\"}\n")) << letter;
        EXPECT_TRUE(nlohmann::json::accept(line)) << letter;
    }
}

TEST(LogLine, HasClassicNamesIfConfigured) {
    const LogFormat classic{.utc = true, .names = LevelNames::classic};
    const std::pair<LogLevel, std::string_view> names[] = {{LogLevel::trace, "[Verb]"},
                                                           {LogLevel::debug, "[Info]"},
                                                           {LogLevel::info, "[Trace]"},
                                                           {LogLevel::warn, "[Warn]"},
                                                           {LogLevel::error, "[Error]"}};
    for (const auto& [level, name] : names)
        EXPECT_NE(line_of(level, "m", 0, classic).find(name), std::string::npos) << name;
}

TEST(LogLine, ColoursWarningsYellowAndErrorsRed) {
    const LogFormat console{.utc = true, .colours = true};
    EXPECT_EQ(line_of(LogLevel::info, "m", 0, console)[0], '[');
    EXPECT_EQ(line_of(LogLevel::warn, "m", 0, console), "\033[33m[2024-05-06 07:08:09.123][WARN][4321][k3x9q0ab][0] m\033[0m\n");
    EXPECT_TRUE(line_of(LogLevel::error, "m", 0, console).starts_with("\033[31m["));
}

TEST(LogLine, IsLocalTimeUnlessUtcIsAsked) {
    ::setenv("TZ", "UTC-8", 1);
    ::tzset();
    EXPECT_TRUE(line_of(LogLevel::info, "m", 0, {.utc = false}).starts_with("[2024-05-06 15:08:09.123]"));
    EXPECT_TRUE(line_of(LogLevel::info, "m", 0, {.utc = true}).starts_with("[2024-05-06 07:08:09.123]"));
    ::unsetenv("TZ");
    ::tzset();
}

TEST(LogLine, IsCutAtItsBound) {
    const std::string head = line_of(LogLevel::info, "");
    const std::string fits(LogSink::kLineMax - head.size(), 'x');
    EXPECT_EQ(line_of(LogLevel::info, fits).size(), LogSink::kLineMax);
    const std::string cut = line_of(LogLevel::info, fits + "yz");
    EXPECT_EQ(cut.size(), LogSink::kLineMax);
    EXPECT_TRUE(cut.ends_with("x\n"));
    const std::string coloured = line_of(LogLevel::error, fits + fits, 0, {.colours = true});
    EXPECT_EQ(coloured.size(), LogSink::kLineMax);
    EXPECT_TRUE(coloured.ends_with("x\033[0m\n"));
}

TEST(LogLine, StaysOneLineWithHostileNames) {
    EXPECT_EQ(line_of(LogLevel::info, "stream=a\nb\033[31m\x7F"),
              "[2024-05-06 07:08:09.123][INFO][4321][k3x9q0ab] stream=a?b?[31m?\n");
}

TEST(LogLevelOf, ReadsBothGenerationsOfNames) {
    const auto level = [](std::string classic, std::string today) {
        settings::LogOptions options;
        options.level = std::move(classic);
        options.level_v2 = std::move(today);
        return log_level_of(options);
    };
    EXPECT_EQ(log_level_of(settings::LogOptions{}), LogLevel::info);
    EXPECT_EQ(level("verbose", ""), LogLevel::trace);
    EXPECT_EQ(level("info", ""), LogLevel::debug);
    EXPECT_EQ(level("trace", ""), LogLevel::info);
    EXPECT_EQ(level("warn", ""), LogLevel::warn);
    EXPECT_EQ(level("error", ""), LogLevel::error);
    EXPECT_EQ(level("error", "trace"), LogLevel::trace);
    EXPECT_EQ(level("trace", "error"), LogLevel::error);
}

std::unique_ptr<LogFile> file_log(const std::string& path, LogLevel level = LogLevel::info) {
    return MUST(LogFile::create({.tank = settings::LogTank::file, .path = path, .level = level}));
}

// The file's content once everything has been written.
std::string written(LogFile& log, const ScratchFolder& folder, const std::string& name) {
    EXPECT_TRUE(log.writer().wait_written(5s));
    return folder.read(name);
}

TEST(LogFile, AppendsLinesOfItsLevelAndAbove) {
    const ScratchFolder folder;
    folder.write("srs.log", "before\n");
    const auto sink = file_log(folder.file("srs.log"));
    const Log log(*sink, "k3x9q0ab");
    log.write(LogLevel::debug, "not this");
    log.write(LogLevel::info, "this");
    const std::string text = written(*sink, folder, "srs.log");
    EXPECT_TRUE(text.starts_with("before\n[")) << text;
    EXPECT_TRUE(text.ends_with("][" + std::to_string(::getpid()) + "][k3x9q0ab] this\n")) << text;
    EXPECT_EQ(text.find("not this"), std::string::npos);
}

TEST(LogFile, ReopenFollowsAMovedFile) {
    const ScratchFolder folder;
    const auto sink = file_log(folder.file("srs.log"));
    sink->write(LogLevel::info, "a", "one", 0);
    ASSERT_EQ(std::rename(folder.file("srs.log").c_str(), folder.file("srs.log.1").c_str()), 0);
    sink->write(LogLevel::info, "a", "two", 0);
    sink->reopen();
    sink->write(LogLevel::info, "a", "three", 0);
    EXPECT_NE(written(*sink, folder, "srs.log.1").find("two"), std::string::npos);
    EXPECT_EQ(folder.read("srs.log").find("two"), std::string::npos);
    EXPECT_NE(folder.read("srs.log").find("three"), std::string::npos);
}

TEST(LogFile, FailedReopenKeepsTheOldFile) {
    const ScratchFolder folder;
    ASSERT_EQ(::mkdir(folder.file("logs").c_str(), 0755), 0);
    const auto sink = file_log(folder.file("logs/srs.log"));
    ASSERT_EQ(std::rename(folder.file("logs").c_str(), folder.file("moved").c_str()), 0);
    sink->reopen();
    sink->write(LogLevel::info, "a", "still here", 0);
    const std::string text = written(*sink, folder, "moved/srs.log");
    EXPECT_NE(text.find("still here"), std::string::npos);
    EXPECT_NE(text.find("][log][0] the log: cannot open " + folder.file("logs/srs.log") +
                        ": No such file or directory (2); writing to the old file\n"),
              std::string::npos)
        << text;
}

TEST(LogFile, UnopenableFileIsAnError) {
    const auto log = LogFile::create({.tank = settings::LogTank::file, .path = "/nonexistent/srs.log"});
    ASSERT_FALSE(log.ok());
    EXPECT_EQ(log.error().sentence(), "the log file: cannot open /nonexistent/srs.log: No such file or directory (2)");
}

TEST(LogFile, CountsAndReportsSuppressedWarnings) {
    const ScratchFolder folder;
    const auto sink = file_log(folder.file("srs.log"));
    const Log log(*sink, "k3x9q0ab");
    for (int i = 0; i < 30; ++i) {
        LOG_WARN(log, "slow {}", i);
        LOG_INFO(log, "as many as there are");
    }
    EXPECT_EQ(sink->counters().left_out, 30 - LogThrottle::kOfClient.burst);
    sink->say_left_out();
    sink->say_left_out();
    const std::string text = written(*sink, folder, "srs.log");
    const auto count = [&text](std::string_view what) {
        std::size_t found = 0;
        for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
            ++found;
        return found;
    };
    EXPECT_EQ(count("[WARN]"), LogThrottle::kOfClient.burst + 1);
    EXPECT_EQ(count("[INFO]"), 30U);
    EXPECT_EQ(count("[log][0] 20 more like this were left out: slow 9\n"), 1U);
}

TEST(LogFile, RotatesByTheOptions) {
    settings::LogOptions options;
    EXPECT_EQ(rotation_of(options).file_bytes_max, 100U << 20);
    EXPECT_EQ(rotation_of(options).backups, 3U);
    options.max_size = 1'000'000;
    EXPECT_EQ(rotation_of(options).file_bytes_max, std::uint64_t{1'000'000} << 20);
    const ScratchFolder folder;
    const auto sink =
        MUST(LogFile::create({.tank = settings::LogTank::file, .path = folder.file("srs.log"), .rotation = {100, 1}}));
    sink->write(LogLevel::info, "a", std::string(50, '1'), 0);
    sink->write(LogLevel::info, "a", std::string(50, '2'), 0);
    EXPECT_NE(written(*sink, folder, "srs.log").find("22"), std::string::npos);
    EXPECT_NE(folder.read("srs.log.1").find("11"), std::string::npos);
}

TEST(LogFile, CountsLinesLostByTheConsole) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    const int before = ::dup(STDOUT_FILENO);
    ::dup2(pipe[1], STDOUT_FILENO);
    auto log = MUST(LogFile::create({.tank = settings::LogTank::console, .path = ""}));
    const std::string message(1000, 'x');
    for (std::size_t i = 0; i < 2 * io::LineWriter::kWaitingBytesMax / message.size(); ++i)
        log->write(LogLevel::info, "a", message, 0);
    EXPECT_GT(log->counters().lost, 500U);
    EXPECT_GE(log->counters().memory_bytes, io::LineWriter::kWaitingBytesMax / 2);
    ::close(pipe[0]);
    log.reset();
    ::dup2(before, STDOUT_FILENO);
    ::close(before);
    ::close(pipe[1]);
}

TEST(LogFile, TheConsoleIsStdout) {
    const auto log = MUST(LogFile::create({.tank = settings::LogTank::console, .path = ""}));
    testing::internal::CaptureStdout();
    log->write(LogLevel::warn, "a", "careful", 0);
    log->reopen();
    EXPECT_TRUE(log->writer().wait_written(5s));
    EXPECT_TRUE(testing::internal::GetCapturedStdout().starts_with("\033[33m["));
}

}  // namespace
}  // namespace live::app
