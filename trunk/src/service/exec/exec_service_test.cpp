#include "service/exec/exec_service.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/options_of_fixture.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"

namespace live::service::exec {
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

class ExecServiceTest : public testing::Test {
protected:
    void SetUp() override {
        std::filesystem::create_directories(folder_);
        options_.enabled = true;
    }
    void TearDown() override {
        MUST(service_.stop(io::Deadline::after(kSoon)));
        std::filesystem::remove_all(folder_);
    }

    static ffmpeg::SupervisorOptions quick() {
        ffmpeg::SupervisorOptions options;
        options.restart_first = 1ms;
        options.restart_max = 4ms;
        return options;
    }
    void publish(const std::string& stream, session::ClientKind kind = session::ClientKind::fmle_publish) {
        session::ClientRequest request;
        request.kind = kind;
        request.vhost = "v";
        request.app = "live";
        request.stream = stream;
        session::StreamPlan plan;
        plan.vhost = "v";
        plan.url = "v/live/" + stream;
        service_.on_published(request, plan);
    }
    std::vector<std::string> shell(const std::string& script) const {
        return {"sh", "-c", script, "sh", "[stream]", ">" + folder_ + "/[stream].out", "2>" + folder_ + "/[stream].err"};
    }
    std::string text_of(const std::string& name) const {
        std::ostringstream text;
        text << std::ifstream(folder_ + "/" + name).rdbuf();
        return text.str();
    }

    const std::string folder_ = std::filesystem::temp_directory_path() / ("live_exec_test." + std::to_string(::getpid()));
    std::unique_ptr<io::Loop> loop_ = MUST(io::Loop::create());
    Lines lines_;
    ExecOptions options_;
    SameOptions<ExecOptions> all_options_{options_};
    ExecService service_{all_options_, {[] { return std::uint16_t{19350}; }, Zone::utc, 0ms}, Log(lines_, "test"), quick()};
};

TEST_F(ExecServiceTest, RunsFromPublishToUnpublish) {
    options_.publish = {shell("echo \"$1\"; echo bad >&2; exec sleep 60"), {"sleep", "60"}};
    publish("cam");
    EXPECT_EQ(service_.size(), 2U);
    io::wait_until([&] { return text_of("cam.out") == "cam\n" && text_of("cam.err") == "bad\n"; });
    const auto metric = [this](const std::string& name) {
        MetricsText metrics;
        service_.write_metrics(metrics);
        const std::string text = metrics.take();
        const std::size_t at = text.find("\n" + name + " ");
        return at == std::string::npos ? -1.0 : std::stod(text.substr(at + name.size() + 2));
    };
    io::wait_until([&] { return metric("millrace_exec_children") == 2; });
    EXPECT_GT(metric("millrace_exec_children_memory_bytes"), 1'000);
    EXPECT_GE(metric("millrace_exec_children_cpu_seconds"), 0);
    publish("cam");  // taken over
    EXPECT_EQ(service_.size(), 2U);
    service_.on_unpublished("v/live/other");
    EXPECT_EQ(service_.size(), 2U);
    service_.on_unpublished("v/live/cam");
    EXPECT_EQ(service_.size(), 0U);
    io::wait_until([&] { return lines_.count("EXE stop") == 2; });
}

TEST_F(ExecServiceTest, RestartsAfterAFailureOnly) {
    options_.publish = {shell("echo again; exit 3")};
    publish("bad");
    io::wait_until([&] { return text_of("bad.out").size() >= 3 * std::string("again\n").size(); });
    service_.on_unpublished("v/live/bad");

    options_.publish = {shell("echo once")};
    publish("good");
    io::wait_until([&] { return service_.size() == 0; });
    EXPECT_EQ(text_of("good.out"), "once\n");
}

TEST_F(ExecServiceTest, RestartsAfterASuccessWhereTheConfSaysSo) {
    options_.restart = true;
    options_.publish = {shell("echo again")};
    publish("cam");
    io::wait_until([&] { return text_of("cam.out").size() >= 3 * std::string("again\n").size(); });
}

TEST_F(ExecServiceTest, StartsNothingForPulledStreamsAndBadNames) {
    options_.publish = {shell("echo made")};
    publish("pulled", session::ClientKind::relay_pull);
    EXPECT_EQ(service_.size(), 0U);
    publish("-rf");
    EXPECT_EQ(service_.size(), 0U);
    EXPECT_EQ(lines_.count("would become the option -rf"), 1);
}

TEST_F(ExecServiceTest, LimitsThePrograms) {
    options_.publish.assign(ExecService::kProgramsMax + 1, {"sleep", "60"});
    publish("cam");
    EXPECT_EQ(service_.size(), ExecService::kProgramsMax);
    EXPECT_EQ(lines_.count("programs are the limit"), 1);
}

}  // namespace
}  // namespace live::service::exec
