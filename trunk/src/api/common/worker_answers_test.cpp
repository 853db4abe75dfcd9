#include "api/common/worker_answers.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace live::api {
namespace {

std::string stream(const char* id, const char* url, int clients, bool published) {
    return std::string(R"({"id":")") + id + R"(","url":")" + url + R"(","vhost":"v","clients":)" + std::to_string(clients) +
           R"(,"send_bytes":100,"recv_bytes":1,"kbps":{"recv_30s":1,"send_30s":2},"publish":{"active":)" +
           (published ? "true" : "false") + "}}";
}

std::string streams(const std::string& entries) { return R"({"code":0,"streams":[)" + entries + "]}"; }

TEST(WorkerAnswers, CombinesAStreamIntoOneEntry) {
    const WorkerAnswers answers = {{2, streams(stream("x", "/live/a", 3, false) + "," + stream("y", "/live/b", 1, true))},
                                   {1, streams(stream("x", "/live/a", 2, true))}};
    EXPECT_EQ(merge_streams(answers, {0, 10}).entries,
              R"([{"id":"x","url":"/live/a","vhost":"v","clients":5,"send_bytes":200,"recv_bytes":2,)"
              R"("kbps":{"recv_30s":2,"send_30s":4},"publish":{"active":true},"workers":[2,1]},)"
              R"({"id":"y","url":"/live/b","vhost":"v","clients":1,"send_bytes":100,"recv_bytes":1,)"
              R"("kbps":{"recv_30s":1,"send_30s":2},"publish":{"active":true},"workers":[2]}])");
    EXPECT_EQ(entry_of(merge_streams(answers, {1, 1}).entries, "x"), std::nullopt) << "the page begins behind it";
    EXPECT_NE(entry_of(merge_streams(answers, {1, 1}).entries, "y"), std::nullopt);
    EXPECT_EQ(merge_streams(answers, {5, 10}).entries, "[]");
    EXPECT_EQ(merge_streams(answers, {5, 10}).total, 2U);
}

TEST(WorkerAnswers, ClientsHaveAWorkerNumber) {
    const WorkerAnswers answers = {{1, R"({"clients":[{"id":"a"}],"total":1})"},
                                   {3, R"({"clients":[{"id":"b"},{"id":"c"}],"total":7})"}};
    EXPECT_EQ(merge_list("clients", answers, {1, 1}).entries, R"([{"id":"b","worker":3}])");
    EXPECT_EQ(merge_list("clients", answers, {1, 1}).total, 8U);
    EXPECT_FALSE(are_whole("clients", answers));
    EXPECT_TRUE(are_whole("clients", {answers.front()}));
}

TEST(WorkerAnswers, AddsMemory) {
    const auto memory = [](int objects, int bytes) {
        return R"({"code":0,"data":{"since_seconds":null,"kinds":{"sources":{"objects":)" + std::to_string(objects) +
               R"(,"bytes":)" + std::to_string(bytes) +
               R"(},"half_open":{"objects":1,"bytes":null,"growth":{"objects":-1,"bytes":null}}}}})";
    };
    EXPECT_EQ(merge_memory({{2, memory(3, 100)}, {1, "no json"}, {3, R"({"data":{"kinds":7}})"}, {1, memory(4, 50)}}),
              R"({"since_seconds":null,"kinds":{"sources":{"objects":7,"bytes":150},)"
              R"("half_open":{"objects":2,"bytes":null,"growth":{"objects":-2,"bytes":null}}},)"
              R"("workers":[{"worker":2,"objects":4,"bytes":100,"growth":{"objects":-1,"bytes":0}},)"
              R"({"worker":1,"objects":5,"bytes":50,"growth":{"objects":-1,"bytes":0}}]})");
    EXPECT_EQ(merge_memory({}), "{}");
}

TEST(WorkerAnswers, AddsClientsOfADrain) {
    const auto drain = [](std::string_view state, int publishers, int players) {
        return fmt::format(
            R"({{"code":0,"data":{{"state":"{}","lasted_ms":7,"publishers":{},"players":{},"asked":1,"redirected":0}}}})", state,
            publishers, players);
    };
    EXPECT_EQ(merge_drain({{2, drain("draining", 1, 2)}, {1, drain("serving", 3, 4)}, {3, "no json"}}),
              R"({"state":"draining","lasted_ms":7,"publishers":4,"players":6,"asked":2,"redirected":0})");
    EXPECT_EQ(merge_drain({}), "{}");
}

TEST(WorkerAnswers, CombinesOriginsAndNumbersPulls) {
    const auto clusters = [](std::string_view state, int tries, std::string_view stream) {
        return fmt::format(
            R"({{"code":0,"data":{{"origins":[{{"url":"rtmp://o","state":"{}","tries":{},"failures":1}}],"pulls":[{{"stream":"{}"}}],)"
            R"("pushes":1,"totals":{{"pulls":2,"connections":3,"failovers":0}}}}}})",
            state, tries, stream);
    };
    EXPECT_EQ(
        merge_clusters({{2, clusters("down", 4, "/a")}, {1, "no json"}, {3, clusters("up", 1, "/b")}, {4, R"({"data":7})"}}),
        R"({"origins":[{"url":"rtmp://o","state":"up","tries":5,"failures":2}],)"
        R"("pulls":[{"stream":"/a","worker":2},{"stream":"/b","worker":3}],)"
        R"("pushes":2,"totals":{"pulls":4,"connections":6,"failovers":0}})");
    EXPECT_EQ(merge_clusters({{1, R"({"data":{"origins":7,"pulls":[7]}})"}, {2, R"({"data":{}})"}}),
              R"({"origins":[],"pulls":[]})");
    EXPECT_EQ(merge_clusters({}), "{}");
}

TEST(WorkerAnswers, AddsVhosts) {
    const std::string vhost = R"({"vhosts":[{"id":"v","name":"n","clients":2,"streams":9,"send_bytes":5,"recv_bytes":0}]})";
    EXPECT_EQ(
        merge_vhosts({{1, vhost}, {2, vhost}},
                     {{1, streams(stream("x", "/live/a", 1, true))}, {2, streams(stream("x", "/live/a", 1, false))}}, {0, 10})
            .entries,
        R"([{"id":"v","name":"n","clients":4,"streams":1,"send_bytes":10,"recv_bytes":0}])");
}

TEST(WorkerAnswers, AddsSummaries) {
    const auto summary = [](int pid) {
        return R"({"code":0,"data":{"ok":true,"self":{"pid":)" + std::to_string(pid) +
               R"(,"mem_kbyte":10,"cpu_percent":0.5,"srs_uptime":3},"system":{"cpu_percent":1,"conn_srs":2}}})";
    };
    EXPECT_EQ(merge_summaries({{2, summary(7)}, {1, summary(6)}, {3, "broken"}}),
              R"({"ok":true,"self":{"pid":7,"mem_kbyte":20,"cpu_percent":1.0,"srs_uptime":3},)"
              R"("system":{"cpu_percent":1,"conn_srs":4},"workers":[)"
              R"({"worker":2,"pid":7,"mem_kbyte":10,"cpu_percent":0.5,"srs_uptime":3,"conn_srs":2},)"
              R"({"worker":1,"pid":6,"mem_kbyte":10,"cpu_percent":0.5,"srs_uptime":3,"conn_srs":2}]})");
}

TEST(WorkerAnswers, ReportsWhetherAnAnswerHasAnOrigin) {
    EXPECT_TRUE(says_origin(R"({"code":0,"data":{"query":{},"origin":{"ip":"192.0.2.1","port":1935}}})"));
    for (const char* body : {"", "7", R"({"data":null})", R"({"data":{"origin":null}})", R"({"origin":{}})"})
        EXPECT_FALSE(says_origin(body)) << body;
}

TEST(WorkerAnswers, AcceptsMalformedAnswers) {
    for (const char* body :
         {"", "[]", "{", R"({"streams":1})", R"({"streams":[1,null,"x"]})", R"({"data":{"self":1}})", "x\n\n y"}) {
        const WorkerAnswers answers = {{1, body}, {2, body}};
        EXPECT_EQ(merge_streams(answers, {0, 10}).entries, "[]");
        EXPECT_EQ(merge_list("clients", answers, {0, 10}).entries, "[]");
        EXPECT_EQ(merge_vhosts(answers, answers, {0, 10}).entries, "[]");
        EXPECT_EQ(merge_summaries(answers), "{}");
    }
}

}  // namespace
}  // namespace live::api
