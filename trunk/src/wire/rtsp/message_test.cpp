#include "wire/rtsp/message.hpp"

#include <string>

#include <gtest/gtest.h>

#include "wire/rtsp/rtsp_vectors.hpp"

namespace live::wire::rtsp {
namespace {

Errc code_of(std::string_view head) {
    const auto parsed = parse_head(head);
    return parsed.ok() ? Errc::cancelled : parsed.code();
}

TEST(RtspMessage, ReadsARequestAndWritesItBack) {
    const auto message = parse_head(kDescribe);
    ASSERT_TRUE(message.ok());
    EXPECT_TRUE(message->is_request());
    EXPECT_EQ(message->method, "DESCRIBE");
    EXPECT_EQ(message->url, "rtsp://127.0.0.1:8554/live/cam");
    EXPECT_EQ(message->find("cseq"), "2");
    EXPECT_FALSE(message->find("Session"));
    EXPECT_EQ(write(*message), kDescribe);
}

TEST(RtspMessage, ReadsAResponseAndWritesItBack) {
    const auto message = parse_head(kSetupResponse);
    ASSERT_TRUE(message.ok());
    EXPECT_FALSE(message->is_request());
    EXPECT_EQ(message->status, 200);
    EXPECT_EQ(message->reason, "OK");
    EXPECT_EQ(message->find("Session"), "1A2B3C4D;timeout=60");
    EXPECT_EQ(write(*message), kSetupResponse);
}

TEST(RtspMessage, AcceptsAResponseWithoutAReason) {
    const auto message = parse_head("RTSP/1.0 404\r\nCSeq:1\r\n");
    ASSERT_TRUE(message.ok());
    EXPECT_EQ(message->status, 404);
    EXPECT_EQ(message->find("CSeq"), "1");
}

TEST(RtspMessage, RefusesWhatIsNoMessage) {
    for (const std::string_view head :
         {"", "OPTIONS", "OPTIONS *", "OPTIONS * HTTP/1.1", "GET / HTTP/1.1\r\nHost: a", " * RTSP/1.0", "OPTIONS  RTSP/1.0",
          "RTSP/1.0 99 OK", "RTSP/1.0 1000 OK", "RTSP/1.0 2x0 OK", "RTSP/1.0", "OPTIONS * RTSP/1.0\r\nno colon",
          "OPTIONS * RTSP/1.0\r\nA b: c", "OPTIONS * RTSP/1.0\r\nA: b\x01", "OPTIONS * RTSP/1.0\r\n folded: x",
          "OPTI\tONS * RTSP/1.0"})
        EXPECT_EQ(code_of(head), Errc::malformed) << head;
    EXPECT_EQ(code_of("OPTIONS * RTSP/2.0"), Errc::unsupported);
}

TEST(RtspMessage, RefusesEveryTruncationOfAFirstLine) {
    const std::string line(kDescribe.substr(0, kDescribe.find("1.0\r\n")));
    for (std::size_t size = 0; size <= line.size(); ++size)
        EXPECT_NE(code_of(line.substr(0, size)), Errc::cancelled) << size;
}

TEST(RtspMessage, HasBoundsForUrlsHeadersAndHeads) {
    const auto request = [](std::size_t url_bytes) { return "OPTIONS " + std::string(url_bytes, 'a') + " RTSP/1.0\r\n"; };
    EXPECT_TRUE(parse_head(request(kUrlBytesMax)).ok());
    EXPECT_EQ(code_of(request(kUrlBytesMax + 1)), Errc::limit);
    std::string head = request(1);
    for (std::size_t i = 0; i < kHeadersMax; ++i)
        head += "A: b\r\n";
    EXPECT_TRUE(parse_head(head).ok());
    EXPECT_EQ(code_of(head + "A: b\r\n"), Errc::limit);
    std::string large = request(1) + "A: ";
    large.resize(kHeadBytesMax, 'x');
    EXPECT_TRUE(parse_head(large).ok());
    EXPECT_EQ(code_of(large + "x"), Errc::limit);
    EXPECT_EQ(code_of(std::string(kMethodBytesMax + 1, 'A') + " * RTSP/1.0"), Errc::malformed);
}

TEST(RtspMessage, ReadsTheLengthOfABody) {
    const auto length = [](std::string_view headers) {
        const auto message = parse_head("ANNOUNCE * RTSP/1.0\r\n" + std::string(headers));
        return body_bytes_of(*message);
    };
    EXPECT_EQ(*length(""), 0U);
    EXPECT_EQ(*length("content-length: 12"), 12U);
    EXPECT_EQ(*length("Content-Length: 12\r\nContent-Length: 12"), 12U);
    EXPECT_EQ(*length("Content-Length: 65536"), kBodyBytesMax);
    EXPECT_EQ(length("Content-Length: 65537").code(), Errc::limit);
    EXPECT_EQ(length("Content-Length: 99999999999999999999999").code(), Errc::limit);
    for (const std::string_view bad : {"Content-Length: 12\r\nContent-Length: 13", "Content-Length: -1", "Content-Length: +1",
                                       "Content-Length: 1 2", "Content-Length: 0x10", "Content-Length:"})
        EXPECT_EQ(length(bad).code(), Errc::malformed) << bad;
}

TEST(RtspMessage, NamesTheStandardReasons) {
    EXPECT_EQ(reason_of(status::kUnsupportedTransport), "Unsupported Transport");
    EXPECT_EQ(reason_of(status::kWrongState), "Method Not Valid in This State");
    EXPECT_EQ(reason_of(799), "Error");
}

}  // namespace
}  // namespace live::wire::rtsp
