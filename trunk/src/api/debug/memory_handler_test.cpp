#include "api/debug/memory_handler.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "api/common/handler_fixture.hpp"
#include "api/common/rows.hpp"

namespace live::api {
namespace {

class SomeMemory final : public MemoryCounts {
public:
    std::vector<MemoryKind> count() const override { return {{"packets", packets, packets * 100}, {"fibers", fibers, {}}}; }
    std::uint64_t packets = 7;
    std::uint64_t fibers = 3;
};

struct MemoryHandlerTest : HandlerFixtureOf<nlohmann::ordered_json> {
    MemoryHandlerTest() { endpoints.serve("/api/v1/memory", handler); }
    Json data(const std::string& query) { return ask_json("/api/v1/memory" + query)["data"]; }

    SomeMemory memory;
    MemoryHandler handler{info, memory};
};

TEST_F(MemoryHandlerTest, ShowsObjectsAndBytesOfEachKind) {
    const Json shown = data("");
    expect_fields(shown, {{"since_seconds", kNull}, {"kinds", kObject}});
    EXPECT_EQ(shown["kinds"], Json::parse(R"({"packets":{"objects":7,"bytes":700},"fibers":{"objects":3,"bytes":null}})"));
}

TEST_F(MemoryHandlerTest, ShowsTheGrowthSinceTheNewestMark) {
    data("?mark=1");
    memory.packets = 9;
    memory.fibers = 1;
    const Json shown = data("?since=mark");
    EXPECT_TRUE(shown["since_seconds"].is_number());
    EXPECT_EQ(shown["kinds"]["packets"]["growth"], Json::parse(R"({"objects":2,"bytes":200})"));
    EXPECT_EQ(shown["kinds"]["fibers"]["growth"], Json::parse(R"({"objects":-2,"bytes":null})"));
    EXPECT_FALSE(data("")["kinds"]["packets"].contains("growth"));
    // Both at once: growth is since the old mark, which the new one replaces.
    EXPECT_EQ(data("?since=mark&mark=1")["kinds"]["packets"]["growth"]["objects"], 2);
    EXPECT_EQ(data("?since=mark")["kinds"]["packets"]["growth"]["objects"], 0);
}

TEST_F(MemoryHandlerTest, ReportsItsOwnSumToOtherWorkers) {
    EXPECT_FALSE(data("").contains("workers"));
    data("?mark=1");
    memory.packets = 9;
    engine::workers::RowReport sum;
    add_report(sum, 2, ask_report("/api/v1/memory?since=mark"));
    add_report(sum, 1, ask_report("/api/v1/memory"));
    const Json shown = Json::parse(json_text(sum.head), nullptr, false);
    EXPECT_EQ(shown["kinds"]["packets"], Json::parse(R"({"objects":18,"bytes":1800,"growth":{"objects":2,"bytes":200}})"));
    EXPECT_EQ(shown["kinds"]["fibers"]["bytes"], nullptr);
    EXPECT_EQ(shown["workers"], Json::parse(R"([{"worker":2,"objects":12,"bytes":900,"growth":{"objects":2,"bytes":200}},
                                                {"worker":1,"objects":12,"bytes":900}])"));
}

TEST_F(MemoryHandlerTest, RefusesInvalidParameters) {
    EXPECT_EQ(ask("/api/v1/memory?since=mark").status, 400);
    data("?mark=1");
    EXPECT_EQ(ask("/api/v1/memory?since=yesterday").status, 400);
    EXPECT_EQ(ask("/api/v1/memory", "POST").status, 405);
}

}  // namespace
}  // namespace live::api
