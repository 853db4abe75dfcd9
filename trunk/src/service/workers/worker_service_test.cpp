#include "service/workers/worker_service.hpp"

#include "io/fibers/wait_fixture.hpp"
#include "service/workers/worker_fixture.hpp"
#include "service/workers/workers_resolver.hpp"

namespace live::service::workers {
namespace {

using engine::workers::Kind;
using engine::workers::Message;
using engine::workers::Verdict;

struct NoResolver final : relay::Resolver {
    relay::Location find(const std::string&, const relay::ClusterOptions&, io::Deadline) override {
        return relay::Nowhere{"the next one"};
    }
};

struct Events final : cluster::ClusterEvents {
    void on_taken(const std::string& url) override { said.push_back("taken " + url); }
    void on_lost(const std::string& url, const std::string&) override { said.push_back("lost " + url); }
    void on_moved(const std::string& url) override { said.push_back("moved " + url); }
    void on_elsewhere(const std::string& url) override { said.push_back("elsewhere " + url); }
    std::vector<std::string> said;
};

class WorkerServiceTest : public WorkerFixture {
protected:
    WorkerServiceTest() : WorkerFixture({2, 3}) {
        service_ = std::make_unique<WorkerService>(
            WorkerContext{line_.get(), streams_, http_,
                          [this](engine::workers::Purpose purpose, std::unique_ptr<io::TcpStream> stream) {
                              links_.emplace_back(purpose, std::move(stream));
                          },
                          [this] { ended_ = true; }},
            events_, log_);
        MUST(service_->start(fibers_, io::Deadline::never()));
    }
    ~WorkerServiceTest() override { MUST(fibers_.stop(io::Deadline::after(io::kSoon))); }

    // The next message but beats.
    Message next(io::Socket* passed = nullptr) {
        auto next = told();
        for (; !next; next = told())
            EXPECT_TRUE(MUST(master_->wait(io::Interest::readable, nullptr, io::Deadline::after(io::kSoon))).readable);
        if (passed != nullptr)
            *passed = std::move(next->passed);
        return std::move(next->message);
    }

    Events events_;
    std::vector<std::pair<engine::workers::Purpose, std::unique_ptr<io::TcpStream>>> links_;
    bool ended_ = false;
    std::unique_ptr<WorkerService> service_;
};

TEST_F(WorkerServiceTest, FindsAStreamAtTheMaster) {
    Result<void> claimed = Error(Errc::system, "not asked");
    io::Scope asking("asking");
    const auto claim = [&](bool replaces) {
        MUST(asking.start("claim",
                          [&, replaces](io::Deadline forever) { claimed = service_->claim("/live/a", replaces, forever); }));
    };
    claim(false);
    Message asked = next();
    EXPECT_EQ(asked, (Message{Kind::claim, 0, 0, asked.ticket, 0, "/live/a"}));
    say({Kind::claimed, static_cast<std::uint8_t>(Verdict::refused), 3, asked.ticket + 7, 0, "/live/a"});
    say({Kind::claimed, static_cast<std::uint8_t>(Verdict::refused), 3, asked.ticket, 0, "/live/a"});
    asked = next();  // its publisher may have gone
    MUST(io::sleep(io::Deadline::after(WorkerService::kComingOverLimit)));
    say({Kind::claimed, static_cast<std::uint8_t>(Verdict::refused), 3, asked.ticket, 0, "/live/a"});
    MUST(asking.join(io::Deadline::after(io::kSoon)));
    EXPECT_EQ(claimed.code(), Errc::conflict);
    claim(true);
    asked = next();
    EXPECT_EQ(asked.flag, 1);
    say({Kind::claimed, static_cast<std::uint8_t>(Verdict::granted), 2, asked.ticket, 0, "/live/a"});
    MUST(asking.join(io::Deadline::after(io::kSoon)));
    EXPECT_TRUE(claimed.ok());
    claim(false);
    asked = next();
    MUST(asking.join(io::Deadline::after(io::kSoon)));
    EXPECT_EQ(claimed.code(), Errc::timed_out) << "the master says nothing";
}

TEST_F(WorkerServiceTest, AnnouncesPublishedStreams) {
    session::ClientRequest request;
    session::StreamPlan plan;
    plan.url = "/live/a";
    request.kind = session::ClientKind::relay_pull;
    service_->on_published(request, plan);
    service_->on_unpublished("/live/a");
    EXPECT_FALSE(service_->publishes("/live/a")) << "a pull is another worker's";
    request.kind = session::ClientKind::fmle_publish;
    service_->on_published(request, plan);
    EXPECT_TRUE(service_->publishes("/live/a"));
    EXPECT_EQ(next(), (Message{Kind::announce, 0, 0, 0, 0, "/live/a"}));
    service_->on_unpublished("/live/a");
    EXPECT_EQ(next(), (Message{Kind::withdraw, 0, 0, 0, 0, "/live/a"}));
}

TEST_F(WorkerServiceTest, ReceivesAnnouncements) {
    say({Kind::moved, 0, 1, 0, 5, "/live/a"});
    say({Kind::lost, 0, 1, 0, 0, "/live/b"});
    say({Kind::lost, 0, 0, 0, 0, "/live/c"});
    io::wait_until([this] { return events_.said.size() == 4; });
    EXPECT_EQ(events_.said, (std::vector<std::string>{"moved /live/a", "taken /live/b", "lost /live/b", "lost /live/c"}));
}

TEST_F(WorkerServiceTest, FindsTheWorkerOfAStream) {
    NoResolver nobody;
    WorkersResolver resolver(*service_, nobody);
    relay::Location location;
    relay::ClusterOptions options;
    io::Scope asking("asking");
    const auto find = [&](engine::workers::Worker answer) {
        MUST(asking.start("find", [&](io::Deadline forever) { location = resolver.find("/live/a", options, forever); }));
        const Message asked = next();
        EXPECT_EQ(asked.kind, Kind::find);
        say({Kind::found, 0, answer, asked.ticket, 9, "/live/a"});
        MUST(asking.join(io::Deadline::after(io::kSoon)));
    };
    find(3);
    ASSERT_TRUE(std::holds_alternative<relay::Located>(location));
    EXPECT_EQ(std::get<relay::Located>(location).origins.front().text(), "worker://127.0.0.1:3");
    EXPECT_EQ(std::get<relay::Located>(location).epoch, 9U);
    find(0);
    EXPECT_TRUE(std::holds_alternative<relay::Nowhere>(location));
    find(2);
    EXPECT_TRUE(std::holds_alternative<relay::Nowhere>(location)) << "itself";
    options.mode = relay::ClusterMode::remote;
    EXPECT_EQ(std::get<relay::Nowhere>(resolver.find("/live/a", options, io::Deadline::never())).why, "the next one");
}

TEST_F(WorkerServiceTest, ConnectsWithOthers) {
    const auto near = MUST(service_->connect(3, engine::workers::Purpose::control));
    io::Socket passed;
    EXPECT_EQ(next(&passed), (Message{Kind::link, 1, 3, 0, 0, ""}));
    ASSERT_TRUE(passed.is_open());
    EXPECT_TRUE(MUST(master_->try_send(engine::workers::write_message({Kind::link, 0, 1, 0, 0, ""}), passed.fd())));
    io::wait_until([this] { return links_.size() == 1; });
    EXPECT_EQ(links_[0].first, engine::workers::Purpose::media);
    const auto own = MUST(service_->connect(2, engine::workers::Purpose::control));
    ASSERT_EQ(links_.size(), 2U) << "to itself, without the master";
    const std::array parts{io::as_part(as_bytes("x"))};
    MUST(own->write_all(parts, io::Deadline::after(io::kSoon)));
    EXPECT_EQ(MUST(links_[1].second->read_some(scratch_, io::Deadline::after(io::kSoon))), 1U);
}

// A process that was alone, and that hands over to another.
class UpgradeTest : public WorkerFixture, protected supervisor::UpgradeListener {
protected:
    UpgradeTest() : WorkerFixture({0, 0, 1}) { MUST(service_.start(fibers_, io::Deadline::never())); }
    ~UpgradeTest() override { MUST(fibers_.stop(io::Deadline::after(io::kSoon))); }

    void on_give() override { said_.emplace_back("give"); }
    void on_upgraded(std::optional<std::uint32_t> pid, const std::string& why) override {
        said_.push_back(pid ? "upgraded " + std::to_string(*pid) : "not upgraded: " + why);
    }
    void on_take() override { said_.emplace_back("take"); }

    std::vector<Message> all_told() {
        std::vector<Message> all;
        while (auto next = told())
            all.push_back(std::move(next->message));
        return all;
    }

    Events events_;
    std::vector<std::string> said_;
    std::vector<std::size_t> others_;
    bool ended_ = false;
    WorkerService service_{{nullptr,
                            streams_,
                            http_,
                            {},
                            [this] { ended_ = true; },
                            this,
                            {},
                            [this](const auto& others) { others_.push_back(others.size()); }},
                           events_,
                           log_};
};

TEST_F(UpgradeTest, AnnouncesPublishedStreamsToANewMaster) {
    session::ClientRequest request;
    request.kind = session::ClientKind::fmle_publish;
    session::StreamPlan plan;
    plan.url = "/live/a";
    service_.on_published(request, plan);
    EXPECT_FALSE(service_.is_on());
    EXPECT_EQ(service_.connect(2, engine::workers::Purpose::media).code(), Errc::closed);
    EXPECT_EQ(service_.find("/live/b", io::Deadline::after(io::kSoon)).code(), Errc::closed);
    MUST(service_.attach(*line_));
    EXPECT_TRUE(service_.is_on());
    EXPECT_FALSE(service_.identity().is_worker());
    EXPECT_EQ(all_told(), (std::vector<Message>{{Kind::announce, 0, 0, 0, 0, "/live/a"}}));
    service_.on_unpublished("/live/a");
    EXPECT_EQ(all_told(), (std::vector<Message>{{Kind::withdraw, 0, 0, 0, 0, "/live/a"}}));
}

TEST_F(UpgradeTest, ReceivesTheStepsOfAnUpgrade) {
    MUST(service_.attach(*line_));
    say({Kind::give});
    say({Kind::upgraded, 1, 0, 0, 0, "no file"});
    say({Kind::members, 0, 0, 0, 0, std::string("\x01\x03\x04")});
    say({Kind::upgraded, 0, 0, 77, 0, ""});
    say({Kind::take});
    io::wait_until([this] { return said_.size() == 4; });
    EXPECT_EQ(said_, (std::vector<std::string>{"give", "not upgraded: no file", "upgraded 77", "take"}));
    EXPECT_EQ(service_.others(), (std::vector<engine::workers::Worker>{3, 4})) << "without itself";
}

TEST_F(UpgradeTest, AcceptsANewMasterAfterLosingOne) {
    MUST(service_.attach(*line_));
    say({Kind::members, 0, 0, 0, 0, std::string("\x01\x02")});
    io::wait_until([this] { return others_ == std::vector<std::size_t>{1}; });
    master_->close();
    io::wait_until([this] { return !service_.is_on(); });
    EXPECT_EQ(others_, (std::vector<std::size_t>{1, 0}));
    EXPECT_EQ(said_, std::vector<std::string>{"take"}) << "nobody is there who holds it back";
    EXPECT_FALSE(ended_);
    auto [mine, its] = MUST(io::MessageSocket::pair());
    master_ = std::make_unique<io::MessageSocket>(std::move(mine));
    line_ = std::make_unique<supervisor::MasterLine>(engine::workers::WorkerIdentity{0, 0, 5}, std::move(its));
    MUST(service_.attach(*line_));
    say({Kind::give});
    io::wait_until([this] { return said_.back() == "give"; });
    EXPECT_EQ(service_.identity().address(), 5);
}

TEST_F(WorkerServiceTest, DistinguishesWorkersOfOtherPrograms) {
    using Workers = std::vector<engine::workers::Worker>;
    EXPECT_EQ(service_->everybody_else(), (Workers{3, 1})) << "nobody has to name them";
    say({Kind::members, 0, 0, 0, 0, std::string("\x01\x02\x04\x05")});
    io::wait_until([this] { return service_->others().size() == 3; });
    EXPECT_EQ(service_->everybody_else(), (Workers{3, 1, 4, 5}));
    Result<void> claimed;
    io::Scope asking("asking");
    MUST(asking.start("claim", [&](io::Deadline forever) { claimed = service_->claim("/live/a", false, forever); }));
    Message asked = next();
    say({Kind::claimed, static_cast<std::uint8_t>(Verdict::refused), 5, asked.ticket, 0, "/live/a"});
    asked = next();  // its publisher may be coming over
    say({Kind::claimed, static_cast<std::uint8_t>(Verdict::granted), 2, asked.ticket, 0, "/live/a"});
    MUST(asking.join(io::Deadline::after(io::kSoon)));
    EXPECT_TRUE(claimed.ok());
}

TEST_F(WorkerServiceTest, EndsWithItsMaster) {
    master_->close();
    io::wait_until([this] { return ended_; });
}

}  // namespace
}  // namespace live::service::workers
