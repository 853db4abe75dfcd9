#include "engine/rtp/receive/layer_choice.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "engine/rtp/receive/key_requests.hpp"

namespace live::engine::rtp {
namespace {

TEST(LayerChoice, TakesTheBestThatIsAlive) {
    const std::vector<LayerState> layers{{100, true}, {900, false}, {400, true}};
    EXPECT_EQ(choose_layer(layers, std::nullopt), 2U);
    EXPECT_EQ(choose_layer(layers, 0), 2U);
    EXPECT_EQ(choose_layer(layers, 1), 2U) << "what is forwarded has died";
    EXPECT_EQ(choose_layer({}, std::nullopt), std::nullopt);
}

TEST(LayerChoice, KeepsLayerOfSimilarQuality) {
    EXPECT_EQ(choose_layer(std::vector<LayerState>{{300, true}, {400, true}}, 0), 0U);
    EXPECT_EQ(choose_layer(std::vector<LayerState>{{300, true}, {401, true}}, 0), 1U);
    EXPECT_EQ(choose_layer(std::vector<LayerState>{{300, true}, {200, true}}, 0), 0U);
}

TEST(LayerChoice, TheBestWithinALimit) {
    const std::vector<LayerState> layers{{100, true}, {900, true}, {400, true}};
    EXPECT_EQ(best_layer_within(layers, 900), 1U);
    EXPECT_EQ(best_layer_within(layers, 899), 2U);
    EXPECT_EQ(best_layer_within(layers, 50), 0U) << "something has to be sent";
    const std::vector<LayerState> dead{{100, false}, {900, true}, {400, true}};
    EXPECT_EQ(best_layer_within(dead, 50), 2U) << "the smallest that is alive";
    EXPECT_EQ(best_layer_within({}, 50), std::nullopt);
}

TEST(LayerChoice, KeepsLayerWhenAllAreSilent) {
    EXPECT_EQ(choose_layer(std::vector<LayerState>{{300, false}, {400, false}}, 0), 0U);
}

TEST(KeyRequests, AreMadeAtOnceThenRarelyAndAgainWhileNeeded) {
    KeyRequests keys;
    TimePoint now{1h};
    EXPECT_FALSE(keys.due());
    keys.want();
    EXPECT_TRUE(keys.take(now));
    EXPECT_FALSE(keys.due()) << "wanted, but not needed";
    keys.need();
    EXPECT_FALSE(keys.take(now + KeyRequests::kInterval - 1ms));
    now += KeyRequests::kInterval;
    EXPECT_TRUE(keys.take(now));
    EXPECT_FALSE(keys.take(now + KeyRequests::kRepeat - 1ms));
    EXPECT_TRUE(keys.take(now + KeyRequests::kRepeat));
    keys.arrived();
    EXPECT_FALSE(keys.due());
}

}  // namespace
}  // namespace live::engine::rtp
