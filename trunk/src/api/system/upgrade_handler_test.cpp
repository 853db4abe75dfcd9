#include "api/system/upgrade_handler.hpp"

#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "service/workers/no_events_fixture.hpp"
#include "service/workers/worker_fixture.hpp"

namespace live::api {
namespace {

struct Drained final : DrainControl {
    DrainFacts facts() const override {
        DrainFacts facts;
        facts.clients = {2, 3};
        return facts;
    }
    void request_drain() override { ++asked; }
    bool is_api_guarded() const override { return is_guarded; }
    int asked = 0;
    bool is_guarded = false;
};

struct Upgraded final : UpgradeControl {
    UpgradeFacts upgrade_facts() const override { return facts; }
    Result<std::uint32_t> upgrade(io::Deadline) override {
        ++asked;
        if (why_not)
            return Error(*why_not, "it is so");
        return 4712U;
    }
    UpgradeFacts facts{UpgradeFacts::State::serving, 4711, std::nullopt, "no file"};
    std::optional<Errc> why_not;
    int asked = 0;
};

class UpgradeHandlerTest : public service::workers::WorkerFixture {
protected:
    UpgradeHandlerTest() : WorkerFixture({1, 2}) { endpoints_.mount(router_, Ports::api); }

    template <class HandlerType>
    session::http::Reply ask(HandlerType& handler, const std::string& method, const std::string& ip, bool is_sibling = false,
                             const std::string& query = "?own=1") {
        session::http::Request request = request_of(std::string(HandlerType::kPath) + query, method);
        request.peer_ip = ip;
        request.is_sibling = is_sibling;
        endpoints_.serve(HandlerType::kPath, handler);
        return router_.find(request).handler->handle(request, io::Deadline::after(io::kSoon));
    }

    ServerInfo info_;
    session::http::Router router_;
    Endpoints endpoints_{info_};
    service::workers::NoEvents events_;
    service::workers::WorkerService workers_{{nullptr, streams_, http_, {}, {}}, events_, log_};
    Drained drained_;
    Upgraded upgraded_;
    DrainHandler drain_{info_, drained_};
    UpgradeHandler upgrade_{info_, upgraded_, drained_, workers_};
};

TEST_F(UpgradeHandlerTest, ReportsTheProgress) {
    const auto json = nlohmann::json::parse(ask(upgrade_, "GET", "192.0.2.1").body, nullptr, false);
    EXPECT_EQ(json["data"]["state"], "serving");
    EXPECT_EQ(json["data"]["pid"], 4711);
    EXPECT_EQ(json["data"]["error"], "no file");
    EXPECT_EQ(json["data"]["publishers"], 2);
    EXPECT_EQ(json["data"]["players"], 3);
}

TEST_F(UpgradeHandlerTest, HasEveryStateAndOtherProcesses) {
    upgraded_.facts = {UpgradeFacts::State::starting, 4711, std::nullopt, ""};
    const auto whole = [&] { return nlohmann::json::parse(ask(upgrade_, "GET", "192.0.2.1", false, "").body, nullptr, false); };
    EXPECT_EQ(whole()["data"]["state"], "starting");
    EXPECT_TRUE(whole()["data"]["successor"].is_null());
    upgraded_.facts = {UpgradeFacts::State::draining, 4711, 4712, ""};
    EXPECT_EQ(whole()["data"]["state"], "draining");
    EXPECT_EQ(whole()["data"]["successor"], 4712);
    EXPECT_EQ(whole()["data"]["others"], nlohmann::json::array()) << "nobody has come yet";
}

TEST_F(UpgradeHandlerTest, HasTheReasonOfARefusal) {
    EXPECT_EQ(ask(upgrade_, "PUT", "127.0.0.1").status, 405);
    EXPECT_EQ(ask(drain_, "PUT", "127.0.0.1").status, 405);
    upgraded_.why_not = Errc::conflict;
    EXPECT_EQ(ask(upgrade_, "POST", "127.0.0.1").status, 409);
    upgraded_.why_not = Errc::system;
    const auto reply = ask(upgrade_, "POST", "127.0.0.1");
    EXPECT_EQ(reply.status, 500);
    EXPECT_NE(reply.body.find("it is so"), std::string::npos);
}

class UpgradeOfWorkersTest : public UpgradeHandlerTest {
protected:
    UpgradeOfWorkersTest() {
        MUST(workers_.start(fibers_, io::Deadline::never()));
        MUST(workers_.attach(*line_));
        say({engine::workers::Kind::members, 0, 0, 0, 0, std::string("\x01\x02\x03\x04\x05\x06")});
        io::wait_until([this] { return workers_.everybody_else().size() == 5; });
    }
    ~UpgradeOfWorkersTest() override { MUST(fibers_.stop(io::Deadline::after(io::kSoon))); }
};

TEST_F(UpgradeOfWorkersTest, CombinesTheWorkersOfOneProgram) {
    answer_as_others([](engine::workers::Worker worker, const std::string& request) -> std::optional<std::string> {
        EXPECT_TRUE(request.starts_with("GET /api/v1/upgrade?own=1 ")) << request;
        switch (worker) {
            case 2: return R"({"data": {"pid": 4711, "publishers": 10, "players": 20, "asked": 1, "lasted_ms": 7}})";
            case 3:
            case 4:
                return R"({"data": {"pid": 99, "publishers": 1, "players": -1, "asked": 2, "lasted_ms": )" +
                       std::to_string(10 - worker) + "}}";
            case 5: return R"({"data": "no object"})";
            default: return std::nullopt;
        }
    });
    const auto data = nlohmann::json::parse(ask(upgrade_, "GET", "192.0.2.1", false, "").body, nullptr, false)["data"];
    EXPECT_EQ(data["publishers"], 12);
    EXPECT_EQ(data["players"], 23);
    EXPECT_EQ(data["asked"], 1);
    EXPECT_EQ(data["lasted_ms"], 7);
    ASSERT_EQ(data["others"].size(), 1U) << data;
    EXPECT_EQ(data["others"][0]["pid"], 99);
    EXPECT_EQ(data["others"][0]["publishers"], 2);
    EXPECT_EQ(data["others"][0]["players"], 0) << "no number of players at all";
    EXPECT_EQ(data["others"][0]["asked"], 4);
    EXPECT_EQ(data["others"][0]["lasted_ms"], 7) << "the longest";
}

// Another worker passes a request on from whoever has asked it, and is on this machine itself.
TEST_F(UpgradeHandlerTest, RequiresALocalClientWithoutAPassword) {
    for (const auto& [ip, is_sibling] : {std::pair("192.0.2.1", false), std::pair("127.0.0.1", true)}) {
        EXPECT_EQ(ask(upgrade_, "POST", ip, is_sibling).status, 403) << ip;
        EXPECT_EQ(ask(drain_, "POST", ip, is_sibling).status, 403) << ip;
        EXPECT_EQ(ask(upgrade_, "GET", ip, is_sibling).status, 200) << ip;
    }
    EXPECT_EQ(upgraded_.asked + drained_.asked, 0);
    EXPECT_EQ(ask(upgrade_, "POST", "127.0.0.1").status, 200);
    EXPECT_EQ(ask(drain_, "POST", "127.0.0.1").status, 200);
    drained_.is_guarded = true;
    EXPECT_EQ(ask(upgrade_, "POST", "192.0.2.1", true).status, 200);
    EXPECT_EQ(ask(drain_, "POST", "192.0.2.1").status, 200);
    EXPECT_EQ(upgraded_.asked, 2);
    EXPECT_EQ(drained_.asked, 2);
}

}  // namespace
}  // namespace live::api
