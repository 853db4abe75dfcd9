#include "bench/load/load_result.hpp"

#include <memory>
#include <nlohmann/json.hpp>

#include <gtest/gtest.h>

namespace live::bench {
namespace {

using std::chrono::milliseconds;
using Json = nlohmann::json;

// A client that received this many bytes for each of ten seconds of media, in ten seconds.
ClientMeter client_of(std::uint64_t bytes_a_second, int seconds_missing = 0) {
    ClientMeter meter;
    const TimePoint start(100s);
    meter.begin_task(start);
    meter.on_connected(start + 2ms);
    for (int i = 0; i <= 250; ++i) {
        if (i > 100 && i <= 100 + seconds_missing * 25)
            continue;
        meter.on_media(start + milliseconds(40 * i), static_cast<std::uint32_t>(40 * i));
        meter.on_bytes(bytes_a_second / 25);
    }
    meter.end_task(start + 10s, false);
    return meter;
}

TEST(Percentiles, AreOfTheNearestRank) {
    std::vector<double> values;
    for (int i = 100; i >= 1; --i)
        values.push_back(i);
    const auto found = percentiles_of(values);
    EXPECT_EQ(found.count, 100U);
    EXPECT_EQ(found.min, 1);
    EXPECT_EQ(found.p50, 50);
    EXPECT_EQ(found.p90, 90);
    EXPECT_EQ(found.p99, 99);
    EXPECT_EQ(found.max, 100);
    EXPECT_EQ(percentiles_of(std::vector<double>{}).count, 0U);
    EXPECT_EQ(percentiles_of(std::vector<double>{7}).p99, 7);
}

class LoadResultTest : public testing::Test {
protected:
    LoadOptions options_;
    std::unique_ptr<LoadTotals> totals_ = std::make_unique<LoadTotals>();
};

TEST_F(LoadResultTest, UsesTheMedianRateAndShowsClientsBelowIt) {
    options_.url = "rtmp://h/a/s";
    const std::vector<ClientMeter> clients = {client_of(62'500), client_of(62'500), client_of(62'500, 5)};
    const LoadResult result(Tool::rtmp_load, options_, *totals_, clients, std::chrono::seconds(12));
    EXPECT_NEAR(result.kbps(), 502, 3);
    const auto json = Json::parse(result.json());
    EXPECT_EQ(json["tool"], "sb_rtmp_load");
    EXPECT_EQ(json["seconds"], 12.0);
    EXPECT_NEAR(json["metrics"]["delivered"]["max"].get<double>(), 1.0, 0.01);
    EXPECT_NEAR(json["metrics"]["delivered"]["min"].get<double>(), 0.5, 0.01);
    EXPECT_EQ(json["metrics"]["gaps"]["max"], 1.0);
    EXPECT_EQ(json["metrics"]["gap_ms"]["max"], 5040.0);
    EXPECT_EQ(json["metrics"]["connect_ms"]["p50"], 2.0);
    ASSERT_EQ(json["per_client"].size(), 3U);
    EXPECT_EQ(json["per_client"][0].size(), json["client_fields"].size());
}

TEST_F(LoadResultTest, UsesTheConfiguredRate) {
    options_.kbps = 1000;
    const std::vector<ClientMeter> clients = {client_of(62'500)};
    const LoadResult result(Tool::rtmp_load, options_, *totals_, clients, std::chrono::seconds(12));
    EXPECT_NEAR(Json::parse(result.json())["metrics"]["delivered"]["p50"].get<double>(), 0.5, 0.01);
}

TEST_F(LoadResultTest, ClientsThatNeverPlayedAreNotInThePercentiles) {
    const std::vector<ClientMeter> clients(3);
    const LoadResult result(Tool::rtmp_load, options_, *totals_, clients, std::chrono::seconds(1));
    const auto json = Json::parse(result.json());
    EXPECT_EQ(json["metrics"]["first_frame_ms"]["count"], 0);
    EXPECT_EQ(json["metrics"]["delivered"]["count"], 0);
    EXPECT_EQ(result.text().find("first frame"), std::string::npos);
}

TEST_F(LoadResultTest, EscapesUrlsInJson) {
    options_.url = "rtmp://h/\xFF\"/s";
    const LoadResult result(Tool::rtmp_load, options_, *totals_, {}, std::chrono::seconds(1));
    EXPECT_TRUE(Json::accept(result.json()));
}

}  // namespace
}  // namespace live::bench
