#include "wire/http/url.hpp"

#include <gtest/gtest.h>

namespace live::wire::http {
namespace {

struct Vector {
    const char* text;
    Url url;
    const char* authority;
};

const Vector kUrlVectors[] = {
    {"http://127.0.0.1:8085/api/v1/clients", {false, "127.0.0.1", 8085, "/api/v1/clients"}, "127.0.0.1:8085"},
    {"https://hooks.example.com/on_publish?token=a%20b&x=1",
     {true, "hooks.example.com", 443, "/on_publish?token=a%20b&x=1"},
     "hooks.example.com"},
    {"http://host", {false, "host", 80, "/"}, "host"},
    {"http://host:", {false, "host", 80, "/"}, "host"},
    {"http://host?x=1", {false, "host", 80, "/?x=1"}, "host"},
    {"http://host:80/a#part", {false, "host", 80, "/a"}, "host"},
    {"https://host:80/", {true, "host", 80, "/"}, "host:80"},
    {"HTTP://Host/Path", {false, "Host", 80, "/Path"}, "Host"},
    {"http://[::1]:8085/x", {false, "::1", 8085, "/x"}, "[::1]:8085"},
    {"https://[2001:db8::1]", {true, "2001:db8::1", 443, "/"}, "[2001:db8::1]"},
    {"http://host/a/../b//c", {false, "host", 80, "/a/../b//c"}, "host"},
};

TEST(HttpUrl, TakesVectorsApart) {
    for (const Vector& vector : kUrlVectors) {
        const auto url = parse_url(vector.text);
        ASSERT_TRUE(url.ok()) << vector.text << ": " << url.error().text();
        EXPECT_EQ(*url, vector.url) << vector.text;
        EXPECT_EQ(url->authority(), vector.authority) << vector.text;
    }
}

TEST(HttpUrl, RoundTrips) {
    for (const Vector& vector : kUrlVectors) {
        const Url& url = vector.url;
        EXPECT_EQ(*parse_url((url.is_secure ? "https://" : "http://") + url.authority() + url.target), url) << vector.text;
    }
}

// A truncated URL is a URL or an error: it never crashes and never gives another host's port.
TEST(HttpUrl, SurvivesEveryTruncation) {
    for (const Vector& vector : kUrlVectors) {
        const std::string_view text = vector.text;
        for (std::size_t size = 0; size < text.size(); ++size) {
            const auto url = parse_url(text.substr(0, size));
            if (url.ok()) {
                EXPECT_FALSE(url->host.empty()) << text.substr(0, size);
                EXPECT_EQ(url->is_secure, vector.url.is_secure);
            }
        }
    }
}

TEST(HttpUrl, RefusesInvalidUrls) {
    for (const char* text : {"http://",         "http:///path",         "http://?x",         "http://:80/",
                             "http://host:0/",  "http://host:65536/",   "http://host:8o/",   "http://host:-1/",
                             "http://host:+1/", "http://[::1/",         "http://[::1]8080/", "http://[host]/",
                             "http://[]/",      "http://a]b/",          "http://a\\b/",      "http://user:secret@host/",
                             "http://host/a b", "http://host/\r\nX: y", "http://host/\x7f",  "http://h\xc3\xb6st/",
                             "http://a:b:1/"})
        EXPECT_EQ(parse_url(text).code(), Errc::malformed) << text;
    for (const char* text : {"", "host", "ftp://host/", "http:/host", "rtmp://host/live", "//host/", "httpss://host"})
        EXPECT_EQ(parse_url(text).code(), Errc::unsupported) << text;
}

TEST(HttpUrl, LimitsTheLengthOfAUrl) {
    const std::string head = "http://host/";
    EXPECT_TRUE(parse_url(head + std::string(kUrlBytesMax - head.size(), 'a')).ok());
    EXPECT_EQ(parse_url(head + std::string(kUrlBytesMax - head.size() + 1, 'a')).code(), Errc::limit);
}

TEST(HttpUrl, ItsLabelHasNoQuery) {
    EXPECT_EQ(parse_url("https://host:8085/a?key=secret")->label(), "https://host:8085/a");
    EXPECT_EQ(parse_url("http://host?key=secret")->label(), "http://host/");
}

}  // namespace
}  // namespace live::wire::http
