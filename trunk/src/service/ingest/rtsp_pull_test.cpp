#include "service/ingest/rtsp_pull.hpp"

#include <gtest/gtest.h>

namespace live::service::ingest {
namespace {

const IngestPlace kCameraPlace{"v.example", 19350, "info", "./objs", Zone::utc};

std::optional<RtspPullTarget> camera_target(const std::string& url, bool transcodes = false) {
    IngestOptions ingest;
    ingest.id = "door";
    ingest.enabled = true;
    ingest.input_type = InputType::stream;
    ingest.input_url = url;
    ingest.engines.emplace_back();
    ingest.engines[0].enabled = transcodes;
    ingest.engines[0].output = "rtmp://127.0.0.1:[port]/live/[id]?vhost=[vhost]";
    return rtsp_pull_target(ingest, ingest.engines[0], kCameraPlace);
}

TEST(RtspPull, AcceptsCamerasThatAreCopiedToThisServer) {
    const auto target = camera_target("rtsp://u:p@192.0.2.7/1");
    ASSERT_TRUE(target);
    EXPECT_EQ(target->from.url, "rtsp://192.0.2.7/1");
    EXPECT_EQ(target->from.user, "u");
    EXPECT_EQ(target->to.vhost, "v.example");
    EXPECT_EQ(target->to.stream, "door");
    EXPECT_EQ(target->to.tc_url, "rtsp://v.example/live");
    ASSERT_TRUE(camera_target("rtsps://192.0.2.7/1"));
    EXPECT_TRUE(camera_target("rtsps://192.0.2.7/1")->from.is_secure);
}

TEST(RtspPull, LeavesTheRestToFfmpeg) {
    EXPECT_FALSE(camera_target("rtsp://192.0.2.7/1", true));
    EXPECT_FALSE(camera_target("rtsps://"));
    EXPECT_FALSE(camera_target("http://192.0.2.7/1"));
}

}  // namespace
}  // namespace live::service::ingest
