#include "service/ingest/arguments.hpp"

#include <gtest/gtest.h>

namespace live::service::ingest {
namespace {

using Words = std::vector<std::string>;

const std::chrono::system_clock::time_point kMoment{std::chrono::seconds(1'715'000'007)};

IngestOptions demo() {
    IngestOptions ingest;
    ingest.id = "demo";
    ingest.enabled = true;
    ingest.input_url = "./doc/source.flv";
    ingest.ffmpeg = "./objs/ffmpeg/bin/ffmpeg";
    ingest.engines.emplace_back();
    ingest.engines[0].output = "rtmp://127.0.0.1:[port]/live/livestream?vhost=[vhost]";
    return ingest;
}

const IngestPlace kPlace{"__defaultVhost__", 19350, "info", "./objs", Zone::utc};

TEST(IngestArguments, ReadsAFileInRealTimeAndCopiesIt) {
    const IngestOptions ingest = demo();
    EXPECT_EQ(
        MUST(build_ingest_arguments(ingest, ingest.engines[0], kPlace, kMoment)),
        (Words{"./objs/ffmpeg/bin/ffmpeg", "-loglevel", "info", "-nostats", "-re", "-i", "./doc/source.flv", "-vcodec", "copy",
               "-acodec", "copy", "-f", "flv", "-y", "rtmp://127.0.0.1:19350/live/livestream?vhost=__defaultVhost__"}));
}

TEST(IngestArguments, ReadsAStreamWithoutPacing) {
    IngestOptions ingest = demo();
    ingest.input_type = InputType::stream;
    ingest.input_url = "rtsp://camera/1; reboot";
    const Words words = MUST(build_ingest_arguments(ingest, ingest.engines[0], kPlace, kMoment));
    EXPECT_EQ(Words(words.begin() + 4, words.begin() + 6), (Words{"-i", "rtsp://camera/1; reboot"}));
}

TEST(IngestArguments, OptionsOfTheInputStandBeforeIt) {
    IngestOptions ingest = demo();
    ingest.engines[0].enabled = true;
    ingest.engines[0].perfile = {{"re", ""}, {"stream_loop", "-1"}};
    const Words words = MUST(build_ingest_arguments(ingest, ingest.engines[0], kPlace, kMoment));
    EXPECT_EQ(Words(words.begin() + 4, words.begin() + 9), (Words{"-re", "-stream_loop", "-1", "-i", "./doc/source.flv"}));
}

TEST(IngestArguments, ReplacesVariablesInTheOutput) {
    IngestOptions ingest = demo();
    ingest.engines[0].name = "hd";
    ingest.engines[0].output = "/data/[id]-[engine]-[2006][01][02].flv";
    EXPECT_EQ(MUST(build_ingest_arguments(ingest, ingest.engines[0], kPlace, kMoment)).back(), "/data/demo-hd-20240506.flv");
}

TEST(IngestArguments, InputAndOutputAreNeeded) {
    IngestOptions ingest = demo();
    ingest.input_url.clear();
    EXPECT_EQ(build_ingest_arguments(ingest, ingest.engines[0], kPlace, kMoment).code(), Errc::malformed);
    ingest = demo();
    ingest.engines[0].output.clear();
    EXPECT_EQ(build_ingest_arguments(ingest, ingest.engines[0], kPlace, kMoment).code(), Errc::malformed);
}

TEST(IngestArguments, NamesTheLogAfterTheOutput) {
    const IngestOptions ingest = demo();
    EXPECT_EQ(ingest_log_path(ingest, ingest.engines[0], kPlace),
              "./objs/ffmpeg-ingest-__defaultVhost__-live-livestream-demo.log");
    IngestPlace silent = kPlace;
    silent.log_dir = "/dev/null";
    EXPECT_EQ(ingest_log_path(ingest, ingest.engines[0], silent), "");
}

}  // namespace
}  // namespace live::service::ingest
