#include "settings/files.hpp"

#include <gtest/gtest.h>

#include "wire/http/target.hpp"

namespace live::settings {
namespace {

Vhost vhost(const std::string& name, const std::string& mount, const std::string& dir) {
    Vhost made;
    made.name = name;
    made.http_static = {true, mount, dir};
    return made;
}

struct SettingsFilesTest : ::testing::Test {
    std::string find(const std::string& host, const std::string& target) {
        current.propose(settings);
        current.replace();
        session::http::Request request;
        request.message.headers.add("Host", host);
        request.target = MUST(wire::http::parse_target(target));
        const auto place = files.find(request);
        return place ? place->folder + " " + place->path : "none";
    }
    Settings settings = [] {
        Settings made;
        made.http_server.dir = "./html";
        made.vhosts = {vhost(std::string(kDefaultVhost), "[vhost]/files", "/default"), vhost("a.example", "[vhost]/", "/a"),
                       vhost("b.example", "/everywhere/", "/b"), vhost("off.example", "[vhost]/", "/off")};
        made.vhosts[3].http_static.enabled = false;
        return made;
    }();
    CurrentSettings current{settings};
    Files files{current};
};

TEST_F(SettingsFilesTest, AVirtualHostsOwnFilesComeFirst) {
    EXPECT_EQ(find("a.example:8080", "/x/y.html"), "/a x/y.html");
    EXPECT_EQ(find("a.example", "/"), "/a ");
    EXPECT_EQ(find("other.example", "/x.html?vhost=a.example"), "/a x.html");
    EXPECT_EQ(find("a.example", "/everywhere/x"), "/a everywhere/x");
}

TEST_F(SettingsFilesTest, TheDefaultHostsPartOfAMountIsLeftOut) {
    EXPECT_EQ(find("other.example", "/files/x.html"), "/default x.html");
    EXPECT_EQ(find("other.example", "/filesx.html"), "./html /filesx.html");
}

TEST_F(SettingsFilesTest, AMountWithoutAHostIsOnAllOfThem) {
    EXPECT_EQ(find("other.example", "/everywhere/x"), "/b x");
    EXPECT_EQ(find("b.example", "/everywhere/x"), "/b x");
}

TEST_F(SettingsFilesTest, EverythingElseIsTheServersFolder) {
    EXPECT_EQ(find("off.example", "/x.html"), "./html /x.html");
    EXPECT_EQ(find("", "/console/"), "./html /console/");
    settings.vhosts[1].enabled = false;
    EXPECT_EQ(find("a.example", "/x.html"), "./html /x.html");
}

}  // namespace
}  // namespace live::settings
