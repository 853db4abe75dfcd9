#include "session/srt/stream_id.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace live::session::srt {
namespace {

using enum Mode;

struct Vector {
    const char* text;
    Mode mode;
    const char* vhost;
    const char* app;
    const char* stream;
    const char* param;
};

constexpr const char* kDefault = "__defaultVhost__";

const std::vector<Vector>& vectors() {
    static const std::vector<Vector> kVectors = {
        // The standard form.
        {"#!::r=live/cam,m=publish", publish, kDefault, "live", "cam", ""},
        {"#!::r=live/a \"b\" & c's,m=publish", publish, kDefault, "live", "a \"b\" & c's", ""},
        {"live/a%20%22b%22%20%26%20c's?secret=x", request, kDefault, "live", "a \"b\" & c's", "?secret=x"},
        {"#!::r=live/cam", request, kDefault, "live", "cam", ""},
        {"#!::m=PUBLISH,r=live/cam", publish, kDefault, "live", "cam", ""},
        {"#!::r=cam,m=request", request, kDefault, "live", "cam", ""},
        {"#!::r=/live/cam,m=request", request, kDefault, "live", "cam", ""},
        {"#!::r=live/a/b,m=request", request, kDefault, "live", "a/b", ""},
        {"#!::h=v.example.com,r=live/cam,m=publish", publish, "v.example.com", "live", "cam", "?vhost=v.example.com"},
        {"#!::h=v,r=live/cam,z=1,a=2,m=publish", publish, "v", "live", "cam", "?vhost=v&a=2&z=1"},
        {"#!::r=live/cam?secret=x,m=publish", publish, kDefault, "live", "cam", "?secret=x"},
        {"#!::r=live/cam,u=me,s=x,t=stream,m=publish", publish, kDefault, "live", "cam", "?s=x&u=me"},
        {"#!::r=live/cam,token=a=b,,=c,d", request, kDefault, "live", "cam", "?d=&token=a=b"},
        // Older forms of it.
        {"#!::h=live/cam,m=publish", publish, kDefault, "live", "cam", ""},
        {"#!::h=v/live/cam,m=publish", publish, "v", "live", "cam", "?vhost=v"},
        // Plain names.
        {"live/cam", request, kDefault, "live", "cam", ""},
        {"cam", request, kDefault, "live", "cam", ""},
        {"/live/cam", request, kDefault, "live", "cam", ""},
        {"a/b/c", request, kDefault, "a", "b/c", ""},
        {"live/cam?secret=x", request, kDefault, "live", "cam", "?secret=x"},
        {"live/cam?vhost=v", request, "v", "live", "cam", "?vhost=v"},
        // Other servers' forms.
        {"publish:live/cam", publish, kDefault, "live", "cam", ""},
        {"read:cam", request, kDefault, "live", "cam", ""},
        {"publish:live/cam:me:x", publish, kDefault, "live", "cam", "?u=me&s=x"},
        {"publish:live/cam:me:x:a=1&b=2", publish, kDefault, "live", "cam", "?u=me&s=x&a=1&b=2"},
        {"publish:live/cam:::a=1", publish, kDefault, "live", "cam", "?a=1"},
        {"srt://v.example.com:9999/live/cam", request, "v.example.com", "live", "cam", "?vhost=v.example.com"},
        {"srt://[::1]:9999/live/cam?a=1", request, kDefault, "live", "cam", "?a=1"},
        {"srt%3A%2F%2Fv%3A9999%2Flive%2Fcam%3Fa%3D1", request, "v", "live", "cam", "?vhost=v&a=1"},
        {"live%2Fcam", request, kDefault, "live", "cam", ""},
        {"%23!::r=live/cam,m=publish", publish, kDefault, "live", "cam", ""},
    };
    return kVectors;
}

TEST(StreamId, ReadsEveryForm) {
    for (const Vector& vector : vectors()) {
        const auto id = parse_stream_id(vector.text, {});
        ASSERT_TRUE(id.ok()) << vector.text << ": " << id.error().text();
        EXPECT_EQ(id->mode, vector.mode) << vector.text;
        EXPECT_EQ(id->url.vhost, vector.vhost) << vector.text;
        EXPECT_EQ(id->url.app, vector.app) << vector.text;
        EXPECT_EQ(id->url.stream, vector.stream) << vector.text;
        EXPECT_EQ(id->url.param, vector.param) << vector.text;
        EXPECT_EQ(id->url.schema, "srt");
    }
}

TEST(StreamId, EveryTruncationIsReadOrRefused) {
    for (const Vector& vector : vectors()) {
        const std::string_view text = vector.text;
        for (std::size_t size = 0; size < text.size(); ++size) {
            const auto id = parse_stream_id(text.substr(0, size), {});
            EXPECT_TRUE(!id.ok() || wire::rtmp::admit(id->url).ok()) << text.substr(0, size);
        }
    }
}

TEST(StreamId, DefaultsFillMissingParts) {
    const StreamIdDefaults defaults{"other", publish};
    EXPECT_EQ(parse_stream_id("cam", defaults)->mode, publish);
    EXPECT_EQ(parse_stream_id("cam", defaults)->url.app, "other");
    EXPECT_EQ(parse_stream_id("#!::r=cam", defaults)->url.app, "other");
    EXPECT_EQ(parse_stream_id("#!::r=cam", defaults)->mode, request) << "the standard form says what it asks for";
    EXPECT_EQ(parse_stream_id("read:cam", defaults)->mode, request);
}

TEST(StreamId, RefusesTheRest) {
    const std::pair<std::string, Errc> refused[] = {
        {"", Errc::malformed},
        {"#!::", Errc::malformed},
        {"#!::m=publish", Errc::malformed},
        {"#!::h=v,m=publish", Errc::malformed},
        {"#!::r=live/,m=publish", Errc::malformed},
        {"publish:", Errc::malformed},
        {"srt://v", Errc::malformed},
        {"srt://v/", Errc::malformed},
        {"/", Errc::malformed},
        {"?a=1", Errc::malformed},
        {"live/%zz", Errc::malformed},
        {std::string("live/cam\0", 9), Errc::malformed},
        {"live/cam%00", Errc::malformed},
        {"live/cam\n", Errc::malformed},
        {"#!::r=live/cam,m=bidirectional", Errc::unsupported},
        {"#!::r=live/cam,m=", Errc::unsupported},
        {"#!::r=live/cam,t=file", Errc::unsupported},
        {"#!::r=live/cam,t=auth,m=publish", Errc::unsupported},
        {"live/../cam", Errc::denied},
        {"live/c$m", Errc::denied},
        {"#!::h=<v>,r=live/cam", Errc::denied},
        {std::string(kStreamIdBytesMax + 1, 'a'), Errc::limit},
        {std::string(kStreamIdBytesMax, 'a'), Errc::denied},
    };
    for (const auto& [text, code] : refused) {
        const auto id = parse_stream_id(text, {});
        ASSERT_FALSE(id.ok()) << text;
        EXPECT_EQ(id.code(), code) << text << ": " << id.error().text();
    }
}

TEST(StreamId, LogsHaveNoSecrets) {
    EXPECT_EQ(loggable("?vhost=v&s=x&u=me&secret=y&b=s=1"), "?vhost=v&s=***&u=me&secret=***&b=s=1");
    EXPECT_EQ(loggable("?s=x"), "?s=***");
    EXPECT_EQ(loggable(""), "");
}

TEST(SrtStreamId, CarriesTheServersOfARequest) {
    EXPECT_EQ(path_parameter("vid-0,vid-1"), "millrace_path=vid-0:vid-1");
    const auto id = MUST(parse_stream_id("#!::r=live/cam,m=request,a=1," + path_parameter("vid-0,vid-1"), {}));
    EXPECT_EQ(id.relay_path, "vid-0,vid-1");
    EXPECT_EQ(id.url.param, "?a=1") << "it is no parameter of the client";
    EXPECT_EQ(MUST(parse_stream_id("#!::r=live/cam", {})).relay_path, "");
}

}  // namespace
}  // namespace live::session::srt
