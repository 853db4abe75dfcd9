#include "service/ingest/srt_pull.hpp"

#include <gtest/gtest.h>

namespace live::service::ingest {
namespace {

const IngestPlace kPullPlace{"v.example", 19350, "info", "./objs", Zone::utc};

IngestOptions camera() {
    IngestOptions ingest;
    ingest.id = "cam";
    ingest.enabled = true;
    ingest.input_type = InputType::stream;
    ingest.input_url = "srt://192.0.2.7:9000?streamid=camera&latency=200";
    ingest.engines.emplace_back();
    ingest.engines[0].output = "rtmp://127.0.0.1:[port]/live/[id]?vhost=[vhost]";
    return ingest;
}

std::optional<SrtPullTarget> target_of(const IngestOptions& ingest) {
    return srt_pull_target(ingest, ingest.engines[0], kPullPlace);
}

TEST(SrtPull, AcceptsInputsThatAreCopiedToThisServer) {
    const auto target = target_of(camera());
    ASSERT_TRUE(target);
    EXPECT_EQ(target->from.stream_id, "camera");
    EXPECT_EQ(target->to.vhost, "v.example");
    EXPECT_EQ(target->to.app, "live");
    EXPECT_EQ(target->to.stream, "cam");
    IngestOptions named = camera();
    named.engines[0].output = "rtmp://localhost:19350/live/cam";
    EXPECT_TRUE(target_of(named));
    named.engines[0].output = "rtmp://[::1]:19350/live/cam";
    EXPECT_TRUE(target_of(named));
}

TEST(SrtPull, LeavesTheRestToFfmpeg) {
    const auto with = [](auto change) {
        IngestOptions ingest = camera();
        change(ingest);
        return target_of(ingest);
    };
    EXPECT_FALSE(with([](IngestOptions& one) { one.input_type = InputType::file; }));
    EXPECT_FALSE(with([](IngestOptions& one) { one.input_url = "rtsp://192.0.2.7/1"; }));
    EXPECT_FALSE(with([](IngestOptions& one) { one.input_url = "srt://192.0.2.7:9000?mode=listener"; }));
    EXPECT_FALSE(with([](IngestOptions& one) { one.input_url = "srt://192.0.2.7:9000?latency=200000"; }))
        << "ffmpeg's microseconds";
    EXPECT_FALSE(with([](IngestOptions& one) { one.engines[0].enabled = true; }));
    EXPECT_FALSE(with([](IngestOptions& one) { one.engines[0].output = "rtmp://192.0.2.9:19350/live/cam"; }));
    EXPECT_FALSE(with([](IngestOptions& one) { one.engines[0].output = "rtmp://127.0.0.1:1935/live/cam"; }));
    EXPECT_FALSE(with([](IngestOptions& one) { one.engines[0].output = "/data/cam.flv"; }));
    EXPECT_FALSE(with([](IngestOptions& one) { one.engines[0].output = "rtmp://127.0.0.1:19350/live/../cam"; }));
}

}  // namespace
}  // namespace live::service::ingest
