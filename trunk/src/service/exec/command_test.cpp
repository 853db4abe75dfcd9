#include "service/exec/command.hpp"

#include <gtest/gtest.h>

namespace live::service::exec {
namespace {

const Variables kValues = {{"app", "live"}, {"stream", "cam"}, {"url", "rtmp://127.0.0.1:1935/live/cam?vhost=v"}};

using Words = std::vector<std::string>;

TEST(ExecCommand, ReplacesVariablesWithinArguments) {
    const auto command = MUST(build_command({"./ffmpeg", "-i", "[url]", "-y", "./[app]/[stream].flv", "[engine]"}, kValues));
    EXPECT_EQ(command.arguments,
              (Words{"./ffmpeg", "-i", "rtmp://127.0.0.1:1935/live/cam?vhost=v", "-y", "./live/cam.flv", "[engine]"}));
    EXPECT_EQ(command.output_path, "");
    EXPECT_EQ(command.error_path, "");
}

TEST(ExecCommand, TakesRedirectionsOut) {
    const auto command = MUST(build_command({"run", ">[stream].log", "a", "2>", "[stream].err", "b>c"}, kValues));
    EXPECT_EQ(command.arguments, (Words{"run", "a", "b>c"}));
    EXPECT_EQ(command.output_path, "cam.log");
    EXPECT_EQ(command.error_path, "cam.err");
    EXPECT_EQ(MUST(build_command({"run", "1>>x"}, kValues)).output_path, "x");
    EXPECT_EQ(MUST(build_command({"run", "1>x", "2>&1"}, kValues)).error_path, "x");
}

TEST(ExecCommand, NeedsAProgramAndFilesOfRedirections) {
    EXPECT_EQ(build_command({}, kValues).code(), Errc::malformed);
    EXPECT_EQ(build_command({">x"}, kValues).code(), Errc::malformed);
    EXPECT_EQ(build_command({"run", ">"}, kValues).code(), Errc::malformed);
}

TEST(ExecCommand, ValuesBecomeNeitherOptionsNorRedirectionsNorOtherFolders) {
    EXPECT_EQ(build_command({"run", "[stream]"}, {{"stream", "-rf"}}).code(), Errc::denied);
    EXPECT_EQ(MUST(build_command({"run", "-[stream]"}, {{"stream", "-rf"}})).arguments.back(), "--rf");
    EXPECT_EQ(MUST(build_command({"run", "[stream]"}, {{"stream", ">x"}})).arguments.back(), ">x");
    EXPECT_EQ(MUST(build_command({"run", "[stream]"}, {{"stream", "a; rm b"}})).arguments.back(), "a; rm b");
    EXPECT_EQ(build_command({"run", "./[app]/[stream].flv"}, {{"app", ".."}, {"stream", "a"}}).code(), Errc::denied);
    EXPECT_EQ(build_command({"run", ">[app]/x"}, {{"app", "a/.."}}).code(), Errc::denied);
    EXPECT_TRUE(build_command({"run", "../[app]..b"}, {{"app", "a"}}).ok());
}

TEST(ExecCommand, TheUrlPlaysTheStreamWithThePublishersQuery) {
    session::ClientRequest publisher;
    publisher.app = "live";
    publisher.stream = "cam";
    publisher.param = "?token=1";
    publisher.tc_url = "rtmp://host/live";
    const Variables values = variables_of(publisher, "__defaultVhost__", 19350);
    EXPECT_EQ(replace_variables("[url]", values), "rtmp://127.0.0.1:19350/live/cam?vhost=__defaultVhost__&token=1");
    EXPECT_EQ(replace_variables("[vhost] [port] [tcUrl]", values), "__defaultVhost__ 19350 rtmp://host/live");
}

}  // namespace
}  // namespace live::service::exec
