#include "session/content/gzip.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

namespace live::session::content {
namespace {

std::string inflated(std::string_view packed) {
    z_stream stream{};
    EXPECT_EQ(::inflateInit2(&stream, MAX_WBITS + 16), Z_OK);
    std::string out(1 << 20, '\0');
    stream.next_in = const_cast<Bytef*>(as_bytes(packed).data());
    stream.avail_in = static_cast<uInt>(packed.size());
    stream.next_out = static_cast<Bytef*>(static_cast<void*>(out.data()));
    stream.avail_out = static_cast<uInt>(out.size());
    EXPECT_EQ(::inflate(&stream, Z_FINISH), Z_STREAM_END);
    out.resize(stream.total_out);
    ::inflateEnd(&stream);
    return out;
}

std::string body_of(std::size_t number) {
    std::string text = "#EXTM3U\n";
    for (std::size_t i = 0; text.size() < 2000; ++i)
        text += "#EXTINF:2.000, no desc\ncam-" + std::to_string(number + i) + ".ts\n";
    return text;
}

TEST(Gzip, IsReadByZlib) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{100'000}}) {
        std::string text(size, '\0');
        for (std::size_t i = 0; i < size; ++i)
            text[i] = static_cast<char>(i * i % 251);
        EXPECT_TRUE(inflated(gzip(as_bytes(text))) == text) << size;
    }
}

TEST(Gzip, IsForTextOnly) {
    for (const char* type : {"text/html", "text/plain; charset=utf-8", "application/json", "application/vnd.apple.mpegurl"})
        EXPECT_TRUE(is_compressible(type)) << type;
    for (const char* type : {"", "video/MP2T", "video/mp4", "image/png", "application/octet-stream", "font/woff2"})
        EXPECT_FALSE(is_compressible(type)) << type;
}

TEST(RepeatedBodies, CompressesTheSecondTime) {
    RepeatedBodies bodies;
    const std::string body = body_of(1);
    EXPECT_EQ(bodies.compressed(body), nullptr);
    const auto packed = bodies.compressed(body);
    ASSERT_NE(packed, nullptr);
    EXPECT_LT(packed->size(), body.size());
    EXPECT_TRUE(inflated(*packed) == body);
    EXPECT_EQ(bodies.compressed(body), packed) << "once";
    EXPECT_EQ(bodies.compressed(body_of(2)), nullptr) << "another body";
}

TEST(RepeatedBodies, SendsShortLongAndDenseBodiesAsTheyAre) {
    RepeatedBodies bodies;
    std::string noise(4000, '\0');
    std::uint32_t state = 1;
    for (char& byte : noise)
        byte = static_cast<char>((state = state * 1664525 + 1013904223) >> 24);
    for (const std::string& body : {std::string(kGzipBodyMin - 1, 'x'), std::string(RepeatedBodies::kBodyMax + 1, 'x'), noise})
        for (int i = 0; i < 3; ++i)
            EXPECT_EQ(bodies.compressed(body), nullptr) << body.size();
}

TEST(RepeatedBodies, KeepsTheNewestWithinItsBound) {
    RepeatedBodies bodies;
    for (std::size_t i = 0; i <= RepeatedBodies::kKeptMax; ++i)
        for (int time = 0; time < 2; ++time)
            bodies.compressed(body_of(i * 1000));
    const auto newest = bodies.compressed(body_of(RepeatedBodies::kKeptMax * 1000));
    ASSERT_NE(newest, nullptr);
    EXPECT_EQ(newest.use_count(), 2);
    const auto oldest = bodies.compressed(body_of(0));
    EXPECT_TRUE(oldest == nullptr || inflated(*oldest) == body_of(0)) << "made anew";
}

}  // namespace
}  // namespace live::session::content
