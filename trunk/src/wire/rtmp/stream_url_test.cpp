#include "wire/rtmp/stream_url.hpp"

#include <gtest/gtest.h>

namespace live::wire::rtmp {
namespace {

struct Case {
    const char* url;
    const char* vhost;
    const char* app;
    const char* stream;
    const char* param;
};

void expect(const Case& wanted, const Result<StreamUrl>& url) {
    SCOPED_TRACE(wanted.url);
    ASSERT_TRUE(url.ok()) << url.error().text();
    EXPECT_EQ(url->vhost, wanted.vhost);
    EXPECT_EQ(url->app, wanted.app);
    EXPECT_EQ(url->stream, wanted.stream);
    EXPECT_EQ(url->param, wanted.param);
}

TEST(StreamUrl, TakesWholeUrlsApart) {
    const Case cases[] = {
        {"rtmp://h/live/cam", "h", "live", "cam", ""},
        {"rtmp://h/live?vhost=v/cam", "v", "live", "cam", "?vhost=v"},
        {"rtmp://h/live/cam?vhost=v&token=t", "v", "live", "cam", "?vhost=v&token=t"},
        {"rtmp://h/live?domain=v/cam", "v", "live", "cam", "?domain=v"},
        {"rtmp://h/live...vhost...v/cam", "v", "live", "cam", "?vhost=v"},
        {"rtmp://h/live/cam...vhost...v", "v", "live", "cam", "?vhost=v"},
        {"rtmp://h/live?token=t...vhost...v/cam", "v", "live", "cam", "?token=t&vhost=v"},
        {"rtmp://h/live#token=t/cam", "h", "live", "cam", "?token=t"},
        {"rtmp://h/live/cam#token=t", "h", "live", "cam", "?token=t"},
        {"rtmp://h/a/b/cam", "h", "a/b", "cam", ""},
        {"rtmp://h/live/_definst_/cam", "h", "live", "cam", ""},
        {"rtmp://h/live/_definst_x/cam", "h", "live/_definst_x", "cam", ""},
        {"rtmp://h/_definst_/cam", "h", "__defaultApp__", "cam", ""},
        {"rtmp://h/cam", "h", "__defaultApp__", "cam", ""},
        {"rtmp://h", "h", "__defaultApp__", "", ""},
        {"rtmp://h/live/cam?vhost=__defaultVhost__", "h", "live", "cam", ""},
        {"rtmp://h/live/cam?vhost=__defaultVhost__&token=t", "h", "live", "cam", "?vhost=__defaultVhost__&token=t"},
        {"rtmp://h/live/cam?vhost=", "h", "live", "cam", "?vhost="},
        {"rtmp://h/live/cam?token=t?vhost=v", "v", "live", "cam", "?token=t?vhost=v"},
        {"rtmp://h/live/cam?xvhost=v", "h", "live", "cam", "?xvhost=v"},
        {"rtmp://h/live/cam?vhost=a&domain=b", "a", "live", "cam", "?vhost=a&domain=b"},
        {"rtmp://h/ li\tve / c\ra\nm ", "h", "live", "cam", ""},
        {"rtmp://h//live//cam", "h", "live", "cam", ""},
        {"webrtc://h/live/cam?eip=1.2.3.4", "h", "live", "cam", "?eip=1.2.3.4"},
    };
    for (const Case& wanted : cases)
        expect(wanted, parse_stream_url(wanted.url));
}

TEST(StreamUrl, JoinsTcUrlAndStreamName) {
    struct Pair {
        const char* tc_url;
        const char* stream;
        Case wanted;
    };
    const Pair pairs[] = {
        {"rtmp://h/live", "cam", {"plain", "h", "live", "cam", ""}},
        {"rtmp://h/live/", "cam", {"slash at the end of tcUrl", "h", "live", "cam", ""}},
        {"rtmp://h/live", "/cam/", {"slashes around the stream", "h", "live", "cam", ""}},
        {"rtmp://h/live?vhost=v", "cam?token=t", {"both queries", "v", "live", "cam", "?vhost=v&token=t"}},
        {"rtmp://h/live?vhost=v/", "cam", {"slash in the vhost", "v", "live", "cam", "?vhost=v"}},
        {"rtmp://h/live", "cam?vhost=v/w", {"slash inside the vhost", "vw", "live", "cam", "?vhost=v/w"}},
        {"rtmp://h/live", "room/cam", {"a stream may have slashes", "h", "live", "room/cam", ""}},
        {"rtmp://h/a/b", "", {"no stream: the last slash splits", "h", "a", "b", ""}},
        {"rtmp://h/a/b/c", "", {"only the last", "h", "a/b", "c", ""}},
        {"rtmp://h/a//b/", "", {"slashes around it go", "h", "a", "b", ""}},
        {"rtmp://h/live/_definst_/cam", "", {"no stream, with an instance", "h", "live", "cam", ""}},
        {"rtmp://h/live/cam", "?token=t", {"no stream, and parameters in its place", "h", "live", "cam", "?token=t"}},
        {"rtmp://h/live/cam?vhost=v&token=t", "", {"no stream, parameters behind tcUrl", "v", "live", "cam", "?vhost=v&token=t"}},
        {"rtmp://h/live/cam...vhost...v", "", {"no stream, the old spelling", "v", "live", "cam", "?vhost=v"}},
        {"rtmp://h/live", "", {"no stream and nothing to split", "h", "live", "", ""}},
        {"rtmp://h/live", "?token=t", {"only parameters", "h", "live", "", "?token=t"}},
        {"rtmp://h?vhost=v", "cam", {"no path at all", "v", "__defaultApp__", "cam", "?vhost=v"}},
    };
    for (const Pair& pair : pairs)
        expect(pair.wanted, parse_stream_url(pair.tc_url, pair.stream));
}

TEST(StreamUrl, TakesTheStreamFromAppWhenNothingElseNamesIt) {
    struct Triple {
        const char* tc_url;
        const char* stream;
        const char* app;
        Case wanted;
    };
    const Triple triples[] = {
        {"rtmp://h/live/cam", "", "live/cam", {"both have it (gortmplib)", "h", "live", "cam", ""}},
        {"rtmp://h/live/cam", "cam", "live", {"tcUrl is the whole URL", "h", "live", "cam", ""}},
        {"rtmp://h/a/b/cam?t=1", "cam?t=1", "a/b", {"tcUrl is the whole URL with its query", "h", "a/b", "cam", "?t=1"}},
        {"rtmp://h/live/cam?t=1", "cam?t=2", "live", {"two queries", "h", "live", "cam", "?t=1&t=2"}},
        {"rtmp://h/live/room", "cam", "live", {"app is cut", "h", "live/room", "cam", ""}},
        {"rtmp://h/live/cam", "cam", "live/cam", {"an app like the stream", "h", "live/cam", "cam", ""}},
        {"rtmp://h/live/cam", "cam", "", {"no app", "h", "live/cam", "cam", ""}},
        {"rtmp://h/live", "", "live/cam", {"only app has it", "h", "live", "cam", ""}},
        {"rtmp://h", "", "a/b/cam?vhost=v&token=t", {"with parameters", "v", "a/b", "cam", "?vhost=v&token=t"}},
        {"rtmp://h/live?vhost=v", "", "live/cam?vhost=w", {"tcUrl's parameters count", "v", "live", "cam", "?vhost=v"}},
        {"rtmp://h/live", "cam", "other/thing", {"the name says it", "h", "live", "cam", ""}},
        {"rtmp://h/live", "", "live", {"nobody does", "h", "live", "", ""}},
        {"rtmp://h/live", "?token=t", "live/cam", {"parameters in the name's place", "h", "live", "cam", "?token=t"}},
    };
    for (const Triple& triple : triples)
        expect(triple.wanted, parse_stream_url(triple.tc_url, triple.stream, triple.app));
    const std::string long_app(kUrlBytesMax + 1, 'x');
    EXPECT_EQ(parse_stream_url("rtmp://h/live", "", long_app).code(), Errc::limit);
}

TEST(StreamUrl, ReadsHostsAndPorts) {
    struct Port {
        const char* url;
        const char* schema;
        const char* host;
        int port;
    };
    const Port ports[] = {
        {"rtmp://h/live/cam", "rtmp", "h", 1935},
        {"rtmps://h/live/cam", "rtmps", "h", 443},
        {"https://h/live/cam", "https", "h", 443},
        {"http://h/live/cam", "http", "h", 80},
        {"webrtc://h/live/cam", "webrtc", "h", 80},
        {"rtmp://h:19350/live/cam", "rtmp", "h", 19350},
        {"rtmp://10.0.0.1:1/live/cam", "rtmp", "10.0.0.1", 1},
        {"rtmp://[::1]:1936/live/cam", "rtmp", "::1", 1936},
        {"rtmp://[::1]/live/cam", "rtmp", "::1", 1935},
        {"RTMP://h:65535/live/cam", "rtmp", "h", 65535},
        {"rtmp://user:secret@h:1936/live/cam", "rtmp", "h", 1936},
        {"rtmp://h:/live/cam", "rtmp", "h", 1935},
    };
    for (const Port& wanted : ports) {
        const auto url = parse_stream_url(wanted.url);
        ASSERT_TRUE(url.ok()) << wanted.url << ": " << url.error().text();
        EXPECT_EQ(url->schema, wanted.schema) << wanted.url;
        EXPECT_EQ(url->host, wanted.host) << wanted.url;
        EXPECT_EQ(url->port, wanted.port) << wanted.url;
    }
}

TEST(StreamUrl, RefusesInvalidUrls) {
    for (const char* url :
         {"", "live", "/live/cam", "://h/live", "rtmp://", "rtmp:///live/cam", "rtmp://:1935/live/cam", "rtmp://h:0/live/cam",
          "rtmp://h:65536/live/cam", "rtmp://h:12x/live/cam", "rtmp://[::1/live/cam", "rtmp://[::1]x/live/cam"})
        EXPECT_EQ(parse_stream_url(url).code(), Errc::malformed) << url;
}

TEST(StreamUrl, BoundsTheLength) {
    const std::string longest(kUrlBytesMax - 9, 'x');
    EXPECT_TRUE(parse_stream_url("rtmp://h/" + longest, "").ok());
    EXPECT_EQ(parse_stream_url("rtmp://h/" + longest + "x", "").code(), Errc::limit);
    EXPECT_EQ(parse_stream_url("rtmp://h/live", std::string(kUrlBytesMax + 1, 'x')).code(), Errc::limit);
}

TEST(AdmitName, LetsOrdinaryNamesThrough) {
    for (const char* name : {"cam", "a/b/c", "10.0.0.1", "__defaultVhost__", "user@site", "key=value", "a+b", "v1.2", "::1",
                             "a,b", "~x", "-x", ".hidden", "a.b.c"})
        EXPECT_TRUE(admit_name(name).ok()) << name;
    EXPECT_TRUE(admit_name(std::string(kNameBytesMax, 'x')).ok());
}

TEST(AdmitName, TakesNamesOfAllScriptsInUtf8) {
    for (const char* name : {"\xD0\xBA\xD0\xB0\xD0\xBC-1", "\xC3\xA9t\xC3\xA9/\xE6\x97\xA5\xE6\x9C\xAC", "\xF0\x9F\x8E\xA5"})
        EXPECT_TRUE(admit_name(name).ok()) << name;
    for (const char* name : {"a\xC2\x85", "a\xE2\x80\xAE", "\xFF", "\xC0\xAE\xC0\xAE", "\xED\xA0\x80", "a\xC3", "../\xC3\xA9",
                             "\xC3\xA9//b", "\xC3\xA9|b", "\xC3\xA9%62", "\xC3\xA9 ", "<\xC3\xA9"})
        EXPECT_EQ(admit_name(name).code(), Errc::denied) << name;
}

TEST(AdmitName, TakesASpaceAnAmpersandAndQuotes) {
    for (const char* name : {"a b", "a&b", "a'b", "a\"b", "'a'", "\"", "&", "le \"grand\" caf\xC3\xA9 & bar's", "a b/c d"})
        EXPECT_TRUE(admit_name(name).ok()) << name;
    for (const char* name : {" ", " a", "a ", "a/ b", "a /b", "a\tb", ".. /b"})
        EXPECT_EQ(admit_name(name).code(), Errc::denied) << name;
}

TEST(AdmitVhost, TakesNoSpaceNoAmpersandAndNoQuotes) {
    EXPECT_TRUE(admit_vhost("v.example.com").ok());
    EXPECT_TRUE(admit_vhost("\xC3\xA9t\xC3\xA9.example").ok());
    for (const char* name : {"a b", "a&b", "a'b", "a\"b", "..", ""})
        EXPECT_EQ(admit_vhost(name).code(), Errc::denied) << name;
    EXPECT_EQ(admit(*parse_stream_url("rtmp://h/live/cam?vhost=a%26b")).error().sentence(),
              "virtual host refused: the name 'a&b' has a character other than letters, digits and _-./@=+:,~");
}

TEST(StreamUrl, KeepsSpacesWithinNames) {
    const auto url = parse_stream_url("rtmp://h/le grand ", " caf\xC3\xA9 & bar?token=x");
    EXPECT_EQ(url->app, "le grand");
    EXPECT_EQ(url->stream, "caf\xC3\xA9 & bar");
    EXPECT_EQ(url->param, "?token=x");
    EXPECT_EQ(parse_stream_url("rtmp://h/le grand/a b")->stream, "a b");
}

TEST(AdmitName, RefusesPathsOutsideTheFolder) {
    for (const char* name :
         {"",        "..",   "../../etc", "a/../b", "a..b", "/etc", "a/",  "a//b", ".",   "a/./b", "./a", "a\nb",
          "a%2e%2e", "a\\b", "a;b",       "$x",     "`x`",  "a|b",  "a?b", "a#b",  "a<b", "a>b",   "a*",  "\x7f"})
        EXPECT_EQ(admit_name(name).code(), Errc::denied) << name;
    EXPECT_EQ(admit_name(std::string_view("a\0b", 3)).code(), Errc::denied);
    EXPECT_EQ(admit_name(std::string(kNameBytesMax + 1, 'x')).code(), Errc::denied);
}

TEST(AdmitName, ReportsErrorsWithoutControls) {
    const auto url = parse_stream_url("rtmp://h/live", "../../etc");
    EXPECT_EQ(admit(*url).error().sentence(), "stream refused: the name '../../etc' contains '..'");
    EXPECT_EQ(admit_name("a\nb\x1b[2J").error().sentence(),
              "the name 'a?b?[2J' has a character other than letters, digits, spaces, quotes and _-./@=+:,~&");
    EXPECT_LT(admit_name(std::string(100'000, 'x')).error().sentence().size(), 150u);
}

TEST(AdmitName, ChecksAllThreePartsOfAUrl) {
    EXPECT_TRUE(admit(*parse_stream_url("rtmp://h/live/cam")).ok());
    EXPECT_EQ(admit(*parse_stream_url("rtmp://h/live", "")).error().sentence(), "stream refused: the name is empty");
    EXPECT_EQ(admit(*parse_stream_url("rtmp://h/../cam")).error().sentence(), "application refused: the name '..' contains '..'");
    EXPECT_EQ(admit(*parse_stream_url("rtmp://h/live/cam?vhost=..")).error().sentence(),
              "virtual host refused: the name '..' contains '..'");
}

}  // namespace
}  // namespace live::wire::rtmp
