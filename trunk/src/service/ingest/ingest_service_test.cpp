#include "service/ingest/ingest_service.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::service::ingest {
namespace {

using io::kSoon;

class Lines final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::debug; }
    void write(LogLevel, std::string_view, std::string_view message, int) override { lines_.emplace_back(message); }
    long count(std::string_view part) const {
        return std::count_if(lines_.begin(), lines_.end(),
                             [&](const std::string& line) { return line.find(part) != std::string::npos; });
    }

private:
    std::vector<std::string> lines_;
};

class Wanted final : public WantedIngests {
public:
    std::vector<IngestSet> wanted() const override { return sets; }
    std::string url_of(const session::ClientRequest& stream) const override { return "/" + stream.app + "/" + stream.stream; }
    std::vector<IngestSet> sets;
};

class IngestServiceTest : public testing::Test {
protected:
    void SetUp() override { std::filesystem::create_directories(folder_); }
    void TearDown() override {
        MUST(service_->stop(io::Deadline::after(kSoon)));
        std::filesystem::remove_all(folder_);
    }

    // A program that replaces ffmpeg.
    std::string program(const std::string& name, const std::string& script) const {
        const std::string path = folder_ + "/" + name;
        std::ofstream(path) << "#!/bin/sh\n" << script << "\n";
        std::filesystem::permissions(path, std::filesystem::perms::owner_all);
        return path;
    }
    IngestOptions ingest(const std::string& id, const std::string& ffmpeg) const {
        IngestOptions options;
        options.id = id;
        options.enabled = true;
        options.input_url = "input.flv";
        options.ffmpeg = ffmpeg;
        options.engines.emplace_back();
        options.engines[0].output = "rtmp://127.0.0.1:[port]/live/" + id;
        return options;
    }
    void apply(std::vector<IngestOptions> ingests) {
        wanted_.sets = {{{"v", 1935, "info", folder_, Zone::utc}, std::move(ingests)}};
        service_->apply(io::Deadline::after(kSoon));
    }
    std::string log_of(const std::string& id) const {
        std::ostringstream text;
        text << std::ifstream(folder_ + "/ffmpeg-ingest-v-live-" + id + "-" + id + ".log").rdbuf();
        return text.str();
    }
    static ffmpeg::SupervisorOptions quick() {
        ffmpeg::SupervisorOptions options;
        options.restart_first = 1ms;
        options.restart_max = 4ms;
        return options;
    }

    IngestService::Links links() { return {streams_}; }
    IngestFacts facts_of(const std::string& id) const {
        for (IngestFacts& one : service_->list())
            if (one.id == id)
                return std::move(one);
        return {};
    }

    media::SlabPool pool_;
    media::StreamTable streams_{pool_};
    const std::string folder_ = std::filesystem::temp_directory_path() / ("live_ingest_test." + std::to_string(::getpid()));
    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    Lines lines_;
    Wanted wanted_;
    std::unique_ptr<IngestService> service_ = std::make_unique<IngestService>(wanted_, links(), Log(lines_, "test"), quick());
};

TEST_F(IngestServiceTest, PassesArgumentsAndLogToTheChild) {
    apply({ingest("cam", program("says", "echo \"words: $*\"; exec sleep 60"))});
    io::wait_until([&] { return log_of("cam").find("words:") != std::string::npos; });
    EXPECT_NE(log_of("cam").find(
                  "-loglevel info -nostats -re -i input.flv -vcodec copy -acodec copy -f flv -y rtmp://127.0.0.1:1935/live/cam"),
              std::string::npos);
    EXPECT_EQ(lines_.count("IGS start v/cam"), 1);
}

TEST_F(IngestServiceTest, RestartsAChildThatEnds) {
    apply({ingest("cam", program("ends", "exit 3"))});
    io::wait_until([&] { return lines_.count("IGS start v/cam") >= 3; });
    EXPECT_GE(lines_.count("exited with 3"), 2);
}

TEST_F(IngestServiceTest, KillsAChildThatIgnoresTheRequestToEnd) {
    ffmpeg::SupervisorOptions options = quick();
    options.stop_limit = 20ms;
    service_ = std::make_unique<IngestService>(wanted_, links(), Log(lines_, "test"), options);
    apply({ingest("cam", program("deaf", "trap '' TERM; echo ready; while :; do sleep 1; done"))});
    io::wait_until([&] { return log_of("cam").find("ready") != std::string::npos; });
    apply({});
    EXPECT_EQ(lines_.count("IGS stop v/cam, was ended by signal 9"), 1);
}

TEST_F(IngestServiceTest, ReportsAMissingProgramOnce) {
    apply({ingest("cam", folder_ + "/nothing-here")});
    io::wait_until([&] { return lines_.count("nothing-here") >= 1; });
    for (int i = 0; i < 20; ++i)
        static_cast<void>(io::sleep(io::Deadline::after(1ms)));
    EXPECT_EQ(lines_.count("nothing-here"), 1);
    EXPECT_EQ(service_->size(), 1U);
}

TEST_F(IngestServiceTest, ReloadRestartsOnlyChangedIngests) {
    const std::string stays = program("stays", "exec sleep 60");
    apply({ingest("a", stays), ingest("b", stays)});
    io::wait_until([&] { return lines_.count("IGS start") == 2; });
    IngestOptions changed = ingest("b", stays);
    changed.input_url = "other.flv";
    apply({ingest("a", stays), changed});
    io::wait_until([&] { return lines_.count("IGS start v/b") == 2; });
    EXPECT_EQ(lines_.count("IGS start v/a"), 1);
    EXPECT_EQ(lines_.count("IGS stop v/b"), 1);
    apply({});
    EXPECT_EQ(service_->size(), 0U);
    EXPECT_EQ(lines_.count("IGS stop v/a"), 1);
}

TEST_F(IngestServiceTest, LogsIngestsThatCannotRun) {
    IngestOptions off = ingest("off", "/bin/true");
    off.enabled = false;
    IngestOptions without_engine = ingest("none", "/bin/true");
    without_engine.engines.clear();
    IngestOptions without_input = ingest("blind", "/bin/true");
    without_input.input_url.clear();
    apply({off, without_engine, without_input});
    EXPECT_EQ(service_->size(), 0U);
    EXPECT_EQ(lines_.count("ingest none of v has no engine"), 1);
    EXPECT_EQ(lines_.count("ingest blind of v has no input"), 1);
}

TEST_F(IngestServiceTest, ReportsTheStateOfEachChild) {
    apply({ingest("cam", program("says", "exec sleep 60")), ingest("ends", program("ends", "exit 3"))});
    io::wait_until([&] { return facts_of("cam").pid.has_value() && facts_of("ends").restarts >= 2; });
    const IngestFacts runs = facts_of("cam");
    EXPECT_EQ(runs.state, IngestState::connecting) << "nothing is published yet";
    EXPECT_EQ(runs.stream_url, "/live/cam");
    EXPECT_EQ(runs.input, "input.flv");
    EXPECT_FALSE(runs.is_native);
    EXPECT_EQ(facts_of("ends").last_error, "exited with 3");
    MetricsText text;
    service_->write_metrics(text);
    const std::string metrics = text.take();
    EXPECT_NE(metrics.find("millrace_ingests{state=\"idle\"} 0"), std::string::npos);
    apply({});
    MetricsText after;
    service_->write_metrics(after);
    EXPECT_EQ(after.take().find("millrace_ingest_restarts_total 0"), std::string::npos) << "the total does not fall";
}

TEST_F(IngestServiceTest, KeepsABoundedNumberOfChildren) {
    std::vector<IngestOptions> many;
    for (std::size_t i = 0; i <= IngestService::kChildrenMax; ++i)
        many.push_back(ingest(std::to_string(i), folder_ + "/nothing-here"));
    apply(std::move(many));
    EXPECT_EQ(service_->size(), IngestService::kChildrenMax);
    EXPECT_EQ(lines_.count("are the limit"), 1);
}

}  // namespace
}  // namespace live::service::ingest
