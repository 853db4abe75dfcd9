#include "media/rtp/rtp_layers.hpp"

#include <gtest/gtest.h>

namespace live::media {
namespace {

struct RecordedLayers final : LayerSource, KeyFrameSource {
    void on_layer_wanted(std::size_t layer, bool is_wanted) override { wanted.emplace_back(layer, is_wanted); }
    void on_layer_key_frame_wanted(std::size_t layer) override { keys.push_back(layer); }
    void on_key_frame_wanted() override {}

    std::vector<std::pair<std::size_t, bool>> wanted;
    std::vector<std::size_t> keys;
};

struct CountedWakes final : RtpListener {
    void on_rtp() override { ++count; }
    int count = 0;
};

RtpPacket layer_packet(bool begins_key) {
    RtpPacket packet{.kind = MediaKind::video, .begins_key = begins_key};
    packet.payload = Slice::copy_of(std::vector<std::uint8_t>{1, 2, 3});
    packet.arrived = TimePoint{1h};
    return packet;
}

TEST(RtpLayers, FillsOnlyTheLogsThatAreHeld) {
    RecordedLayers publisher;
    RtpLog stream;
    RtpLayers layers(publisher, stream, {"q", "h"});
    layers.append(0, layer_packet(true));
    EXPECT_TRUE(layers.log(0).empty());
    RtpLog& log = layers.hold(0);
    layers.hold(0);
    EXPECT_EQ(publisher.wanted, (std::vector<std::pair<std::size_t, bool>>{{0, true}})) << "once";
    layers.append(0, layer_packet(true));
    layers.append(1, layer_packet(true));
    layers.append(9, layer_packet(true));
    EXPECT_EQ(log.size(), 1U);
    EXPECT_TRUE(layers.log(1).empty());
    log.want_key_frame();
    EXPECT_EQ(publisher.keys, std::vector<std::size_t>{0});
    layers.release(0);
    layers.release(0);
    EXPECT_EQ(publisher.wanted.back(), (std::pair<std::size_t, bool>{0, false}));
    EXPECT_TRUE(log.gop_start());
    EXPECT_FALSE(layers.hold(0).gop_start()) << "packets are missing since";
    EXPECT_EQ(log.first(), 0U) << "but old ones can be sent again";
}

TEST(RtpLayers, AveragesRatesAndKnowsNames) {
    RecordedLayers publisher;
    RtpLog stream;
    RtpLayers layers(publisher, stream, {"q", "h", "3", "4", "5", "6", "7", "8", "9"});
    EXPECT_EQ(layers.size(), RtpLayers::kMax);
    EXPECT_EQ(layers.find("h"), 1U);
    EXPECT_EQ(layers.find("9"), std::nullopt);
    layers.set_state(0, 1'000, true);
    EXPECT_EQ(layers.rate(0), 1'000U);
    layers.set_state(0, 2'000, true);
    EXPECT_EQ(layers.rate(0), 1'250U);
    layers.set_state(0, 0, false);
    EXPECT_FALSE(layers.is_alive(0));
    layers.set_state(0, 400, true);
    EXPECT_EQ(layers.rate(0), 400U) << "it begins anew";
    layers.set_state(8, 400, true);
    layers.set_state(1, 0, true);
    EXPECT_FALSE(layers.is_alive(1)) << "its rate is not known yet";
}

TEST(RtpLayers, WakeTheListenersOfTheStream) {
    RecordedLayers publisher;
    RtpLog log;
    CountedWakes wakes;
    log.add_listener(wakes);
    log.start_writer(&publisher);
    EXPECT_EQ(log.layers(), nullptr);
    RtpLayers layers(publisher, log, {"q", "h"});
    log.set_layers(layers);
    EXPECT_EQ(log.layers(), &layers);
    layers.hold(1);
    layers.append(1, layer_packet(true));
    log.flush();
    EXPECT_EQ(wakes.count, 1);
    log.flush();
    EXPECT_EQ(wakes.count, 1);
    EXPECT_GT(layers.held_bytes(), sizeof(RtpLayers));
    log.end_writer(&publisher);
    EXPECT_EQ(log.layers(), nullptr) << "they leave with their publisher";
    log.remove_listener(wakes);
}

}  // namespace
}  // namespace live::media
