#include "api/common/aggregate_handler.hpp"

#include <map>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "service/workers/no_events_fixture.hpp"
#include "service/workers/worker_fixture.hpp"

namespace live::api {
namespace {

using Json = nlohmann::ordered_json;
using engine::workers::Combine;
using engine::workers::Row;
using engine::workers::Rows;

// This is worker 2 of three. The test answers as all three; a worker without an answer closes the connection.
class AggregateHandlerTest : public service::workers::WorkerFixture {
protected:
    AggregateHandlerTest() : WorkerFixture({2, 3}) {
        MUST(workers_.start(fibers_, io::Deadline::never()));
        answer_as_others([this](engine::workers::Worker worker, const std::string& request) -> std::optional<std::string> {
            asked_.push_back(std::to_string(worker) + request.substr(3, request.find(" HTTP") - 3));
            const auto answer = answers_.find(worker);
            return answer == answers_.end() ? std::nullopt : std::optional(answer->second);
        });
    }
    ~AggregateHandlerTest() override { MUST(fibers_.stop(io::Deadline::after(io::kSoon))); }

    // The connection of the handler to this worker itself.
    void answer_own(std::unique_ptr<io::TcpStream> link) {
        own_links_.push_back(std::move(link));
        MUST(fibers_.start("own", [this, stream = own_links_.back().get()](io::Deadline forever) {
            std::array<std::uint8_t, 1024> request{};
            if (!stream->read_some(request, forever).ok())
                return;
            const std::string body = answers_.contains(2) ? answers_.at(2) : "";
            const std::string whole = "HTTP/1.1 " + std::string(answers_.contains(2) ? "200 OK" : "404 Not Found") +
                                      "\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
            const std::array parts{io::as_part(as_bytes(whole))};
            MUST(stream->write_all(parts, io::Deadline::after(io::kSoon)));
        }));
    }
    session::http::Reply ask(const std::string& target) {
        session::http::Request request = request_of(target);
        request.message.headers.add("Host", "h");
        EXPECT_TRUE(handler_.takes(request)) << target;
        return handler_.handle(request, io::Deadline::after(io::kSoon));
    }
    Json ask_json(const std::string& target) { return Json::parse(ask(target).body, nullptr, false); }

    static std::string list(const Rows& rows, std::uint64_t total) {
        std::string report = engine::workers::write_row_report({{"total", total, Combine::add}});
        for (const Row& row : rows)
            engine::workers::append_row(report, row);
        return report;
    }
    static Row client(std::string_view id) { return {{"id", id}, {"worker", engine::workers::Workers()}}; }
    static Row stream(std::string_view id, bool is_published, unsigned clients) {
        Row row = {{"id", id}, {"published", is_published}, {"clients", clients, Combine::add}};
        row.key = id;
        row.rank = is_published;
        return row;
    }

    std::map<std::size_t, std::string> answers_;  // by worker
    std::vector<std::string> asked_;              // of the others
    std::vector<std::unique_ptr<io::TcpStream>> own_links_;
    ServerInfo info_;
    service::workers::NoEvents events_;
    service::workers::WorkerService workers_{
        {line_.get(), streams_, http_, [this](auto, auto link) { answer_own(std::move(link)); }, {}}, events_, log_};
    AggregateHandler handler_{info_, workers_, AggregateHandler::Scope::all};
};

TEST_F(AggregateHandlerTest, MakesOneListOfThoseOfAllWorkers) {
    answers_ = {{1, list({client("a")}, 1)}, {2, list({client("b"), client("c")}, 2)}, {3, list({client("d")}, 7)}};
    const Json all = ask_json("/api/v1/clients/");
    EXPECT_EQ(all["clients"], Json::parse(R"([{"id":"a","worker":1},{"id":"b","worker":2},
                                              {"id":"c","worker":2},{"id":"d","worker":3}])"));
    EXPECT_EQ(all["total"], 10);
    const Json page = ask_json("/api/v1/clients/?start=1&count=1");
    EXPECT_EQ(page["clients"], Json::parse(R"([{"id":"b","worker":2}])"));
    EXPECT_EQ(page["next"], 2);
    EXPECT_EQ(asked_, (std::vector<std::string>{"1 /api/v1/clients/?start=0&count=10", "3 /api/v1/clients/?start=0&count=10",
                                                "1 /api/v1/clients/?start=0&count=2", "3 /api/v1/clients/?start=0&count=2"}));
}

TEST_F(AggregateHandlerTest, JoinsEntriesOfSeveralWorkers) {
    answers_ = {
        {1, list({stream("x", false, 3)}, 1)}, {2, list({stream("y", true, 1)}, 1)}, {3, list({stream("x", true, 2)}, 1)}};
    const Json all = ask_json("/api/v1/streams/?count=1");
    EXPECT_EQ(all["streams"], Json::parse(R"([{"id":"x","published":true,"clients":5}])"));
    EXPECT_EQ(all["total"], 2);
    EXPECT_EQ(ask_json("/api/v1/streams/y")["stream"], Json::parse(R"({"id":"y","published":true,"clients":1})"));
}

TEST_F(AggregateHandlerTest, LeavesOutWorkersWithoutReport) {
    answers_ = {{1, R"({"code":0,"clients":[{"id":"of an older program"}]})"}, {2, list({client("b")}, 1)}};
    const Json all = ask_json("/api/v1/clients/");
    EXPECT_EQ(all["clients"], Json::parse(R"([{"id":"b","worker":2}])"));
    EXPECT_EQ(all["total"], 1);
}

TEST_F(AggregateHandlerTest, CombinesObjectsWithItsOwnFirst) {
    const auto drain = [](std::string_view state, unsigned players) {
        return engine::workers::write_row_report({{"state", state}, {"players", players, Combine::add}});
    };
    answers_ = {{1, drain("serving", 1)}, {2, drain("draining", 2)}, {3, drain("serving", 4)}};
    EXPECT_EQ(ask_json("/api/v1/drain")["data"], Json::parse(R"({"state":"draining","players":7})"));
}

TEST_F(AggregateHandlerTest, ReturnsItsOwnAnswerWhenThereIsNoReport) {
    answers_ = {{2, R"({"own":1})"}};
    const auto reply = ask("/api/v1/drain");
    EXPECT_EQ(reply.body, R"({"own":1})");
    EXPECT_EQ(reply.headers, (decltype(reply.headers){{"X-Worker", "2"}}));
}

TEST_F(AggregateHandlerTest, PassesARequestOnUntilAWorkerHasTheObject) {
    answers_ = {{1, "unused"}, {3, "well"}};
    const auto reply = ask("/api/v1/doctor/srt");
    EXPECT_EQ(reply.body, "well");
    EXPECT_EQ(reply.headers, (decltype(reply.headers){{"X-Worker", "3"}}));
    EXPECT_EQ(asked_, std::vector<std::string>{"3 /api/v1/doctor/srt"});
}

}  // namespace
}  // namespace live::api
