#include "service/service_list.hpp"

#include <utility>

#include <gtest/gtest.h>

namespace live::service {
namespace {

using Calls = std::vector<std::string>;

// Records the calls.
class Noted final : public Service, public StreamHolder {
public:
    Noted(std::string name, Calls& calls) : name_(std::move(name)), calls_(calls) {}

    std::string_view name() const override { return name_; }
    Result<void> start(io::Scope&, io::Deadline) override { return note("start"); }
    Result<void> prepare(io::Deadline) override { return note("prepare"); }
    void apply(io::Deadline) override { static_cast<void>(note("apply")); }
    void on_published(const session::ClientRequest&, const session::StreamPlan& plan) override {
        static_cast<void>(note("published " + plan.url));
    }
    void on_unpublished(const std::string& url) override { static_cast<void>(note("unpublished " + url)); }
    void on_tick() override { static_cast<void>(note("tick")); }
    Result<void> close(io::Deadline) override { return note("close"); }
    Result<void> stop(io::Deadline) override { return note("stop"); }
    StreamHolder* memory() override { return this; }
    std::vector<Held> held() const override { return {}; }
    void give_up(const std::string&) override {}

    std::string fails_at;

private:
    Result<void> note(const std::string& what) {
        calls_.push_back(name_ + " " + what);
        return what == fails_at ? Error(Errc::timed_out, "it takes too long") : Result<void>();
    }

    const std::string name_;
    Calls& calls_;
};

class Idle final : public Service {
public:
    std::string_view name() const override { return "idle"; }
};

class Warnings final : public LogSink {
public:
    LogLevel level() const override { return LogLevel::warn; }
    void write(LogLevel, std::string_view, std::string_view text, int) override { lines.emplace_back(text); }
    std::vector<std::string> lines;
};

class ServiceListTest : public testing::Test {
protected:
    void SetUp() override {
        services_.add(first_);
        services_.add(idle_);
        services_.add(second_);
    }
    Calls take() { return std::exchange(calls_, {}); }

    const io::Deadline soon_ = io::Deadline::after(std::chrono::seconds(1));
    Warnings warnings_;
    Log log_{warnings_, ""};
    Calls calls_;
    Noted first_{"a", calls_};
    Idle idle_;
    Noted second_{"b", calls_};
    ServiceList services_{log_};
    io::Scope fibers_{"test"};
};

TEST_F(ServiceListTest, StartsInOrderAndStopsInTheOppositeOne) {
    EXPECT_TRUE(services_.start(fibers_, soon_).ok());
    services_.close(soon_);
    services_.stop(soon_);
    EXPECT_EQ(take(), (Calls{"a start", "b start", "a close", "b close", "b stop", "a stop"}));
    EXPECT_TRUE(warnings_.lines.empty());
}

TEST_F(ServiceListTest, FailedServiceEndsTheStart) {
    first_.fails_at = "start";
    EXPECT_EQ(services_.start(fibers_, soon_).code(), Errc::timed_out);
    EXPECT_EQ(take(), Calls{"a start"});
}

TEST_F(ServiceListTest, RefusalByOneServiceRefusesTheSettings) {
    EXPECT_TRUE(services_.prepare(soon_).ok());
    first_.fails_at = "prepare";
    EXPECT_EQ(services_.prepare(soon_).code(), Errc::timed_out);
    services_.apply(soon_);
    EXPECT_EQ(take(), (Calls{"a prepare", "b prepare", "a prepare", "a apply", "b apply"}));
}

TEST_F(ServiceListTest, EveryServiceIsNotifiedOfStreamsAndOfTime) {
    session::StreamPlan plan;
    plan.url = "/live/cam";
    services_.on_published({}, plan);
    services_.on_unpublished(plan.url);
    services_.on_tick();
    EXPECT_EQ(take(), (Calls{"a published /live/cam", "b published /live/cam", "a unpublished /live/cam",
                             "b unpublished /live/cam", "a tick", "b tick"}));
}

TEST_F(ServiceListTest, ServiceThatDoesNotStopDelaysNoOther) {
    first_.fails_at = "close";
    second_.fails_at = "stop";
    services_.close(soon_);
    services_.stop(soon_);
    EXPECT_EQ(take(), (Calls{"a close", "b close", "b stop", "a stop"}));
    ASSERT_EQ(warnings_.lines.size(), 2U);
    EXPECT_TRUE(warnings_.lines[0].starts_with("closing a: ")) << warnings_.lines[0];
    EXPECT_TRUE(warnings_.lines[1].starts_with("stopping b: ")) << warnings_.lines[1];
}

TEST_F(ServiceListTest, CollectsHoldersOfMemory) {
    EXPECT_EQ(services_.memory(), (std::vector<StreamHolder*>{&first_, &second_}));
}

class Speaking final : public Service {
public:
    std::string_view name() const override { return "speaking"; }
    std::optional<session::Protocol> protocol() override { return session::Protocol{.name = "hello"}; }
    void write_metrics(MetricsText& text) const override {
        text.family("srs_words", MetricsText::Type::gauge, "Words.").sample(std::uint64_t{3});
    }
};

TEST_F(ServiceListTest, CollectsProtocolsAndMetrics) {
    Speaking speaking;
    services_.add(speaking);
    const session::Protocols protocols = services_.protocols();
    ASSERT_EQ(protocols.size(), 1U);
    EXPECT_EQ(protocols[0].name, "hello");
    MetricsText text;
    services_.write_metrics(text);
    EXPECT_NE(text.take().find("\nsrs_words 3\n"), std::string::npos);
}

}  // namespace
}  // namespace live::service
