#include "service/access/refer.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::service::access {
namespace {

struct Vector {
    const char* page;
    const char* host;
};

const Vector kVectors[] = {
    {"http://www.example.com/player.html?x=1", "www.example.com"},
    {"https://Example.COM:8443/", "Example.COM"},
    {"http://example.com", "example.com"},
    {"http://example.com?x=http://other.org/", "example.com"},
    {"http://example.com#@other.org", "example.com"},
    {"http://user:secret@example.com/", "example.com"},
    {"http://other.org@example.com/", "example.com"},
    {"http://example.com\\@other.org/", "example.com"},
    {"example.com/page", "example.com"},
    {"http://[2001:db8::1]:80/", "2001:db8::1"},
    {"http://[2001:db8::1", "2001:db8::1"},
    {"", ""},
    {"http://", ""},
    {"http:///path", ""},
    {"http://[", ""},
};

TEST(Refer, FindsTheHostOfAPage) {
    for (const Vector& vector : kVectors)
        EXPECT_EQ(host_of_page(vector.page), vector.host) << vector.page;
}

TEST(Refer, SurvivesEveryTruncation) {
    for (const Vector& vector : kVectors) {
        const std::string_view page = vector.page;
        for (std::size_t size = 0; size <= page.size(); ++size)
            EXPECT_LE(host_of_page(page.substr(0, size)).size(), size);
    }
}

TEST(Refer, HostMustEndWithAName) {
    const std::vector<std::string> names{"example.com", ".example.org"};
    for (const char* page : {"http://example.com/", "http://sub.example.com/", "http://EXAMPLE.com/", "http://badexample.com/",
                             "http://a.example.org/"})
        EXPECT_TRUE(check_refer(names, page).ok()) << page;
    for (const char* page : {"http://example.com.other.net/", "http://other.net/example.com", "http://other.net/?example.com",
                             "http://example.org/", "http://om/", "", "http://example.com@other.net/"})
        EXPECT_EQ(check_refer(names, page).code(), Errc::denied) << page;
}

TEST(Refer, EmptyListPermitsAllClients) {
    EXPECT_TRUE(check_refer({}, "").ok());
    EXPECT_TRUE(check_refer({}, "http://anywhere/").ok());
}

TEST(Refer, EmptyNameRequiresAPage) {
    const std::vector<std::string> names{""};
    EXPECT_TRUE(check_refer(names, "http://anywhere/").ok());
    EXPECT_EQ(check_refer(names, "").code(), Errc::denied);
}

TEST(Refer, TheSentenceIsForTheClient) {
    const std::vector<std::string> names{"example.com"};
    EXPECT_EQ(check_refer(names, "http://other.net/").error().sentence(), "clients from your page are not permitted (2015)");
}

}  // namespace
}  // namespace live::service::access
