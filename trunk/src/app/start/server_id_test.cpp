#include "app/start/server_id.hpp"

#include <gtest/gtest.h>

#include <string_view>

#include "base/files/scratch_folder_fixture.hpp"

namespace live::app {
namespace {

TEST(ServerId, IsBesideThePidFile) {
    EXPECT_EQ(server_id_path("./objs/srs.pid"), "./objs/srs.id");
    EXPECT_EQ(server_id_path("srs"), "srs.id");
    EXPECT_EQ(server_id_path("a.pid.old"), "a.pid.old.id");
}

TEST(ServerId, ConfigurationTakesPrecedence) {
    const ScratchFolder folder;
    folder.write("srs.id", "vid-kept");
    EXPECT_EQ(find_server_id("mine", folder.file("srs.pid")).id, "mine");
}

TEST(ServerId, KeepsANewIdForTheNextStart) {
    const ScratchFolder folder;
    const ServerId made = find_server_id("", folder.file("srs.pid"));
    EXPECT_TRUE(made.id.starts_with("vid-")) << made.id;
    EXPECT_EQ(made.id.size(), 11U) << made.id;
    EXPECT_EQ(made.id.find_first_not_of("0123456789abcdefghijklmnopqrstuvwxyz", 4), std::string_view::npos) << made.id;
    EXPECT_EQ(made.warning, "");
    EXPECT_EQ(folder.read("srs.id"), made.id);
    EXPECT_EQ(find_server_id("", folder.file("srs.pid")).id, made.id);
}

TEST(ServerId, ReplacesAFileWithoutAnId) {
    const ScratchFolder folder;
    for (const std::string& text :
         {std::string(), std::string("two words"), std::string(kServerIdMax + 1, 'x'), std::string("\x01\x02")}) {
        folder.write("srs.id", text);
        EXPECT_TRUE(find_server_id("", folder.file("srs.pid")).id.starts_with("vid-")) << text;
    }
    folder.write("srs.id", std::string(kServerIdMax, 'x') + "\n");
    EXPECT_EQ(find_server_id("", folder.file("srs.pid")).id, std::string(kServerIdMax, 'x'));
}

TEST(ServerId, WarnsAboutAnUnwritableFolder) {
    const ServerId made = find_server_id("", "/nonexistent/srs.pid");
    EXPECT_TRUE(made.id.starts_with("vid-"));
    EXPECT_NE(made.warning.find("/nonexistent/srs.id"), std::string::npos);
}

}  // namespace
}  // namespace live::app
