#include "wire/id3/tag.hpp"

#include <string>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::id3 {
namespace {

TEST(Id3Tag, WritesATextTag) {
    EXPECT_EQ(write_text_tag("name", "value"),
              hex("494433 0400 00 00000016 54585858 0000000c 0000 03 6e616d65 00 76616c7565 00"));
}

TEST(Id3Tag, WritesAPrivateTag) {
    EXPECT_EQ(write_private_tag("me", hex("ff00")), hex("494433 0400 00 0000000f 50524956 00000005 0000 6d65 00 ff00"));
}

TEST(Id3Tag, ReadsWrittenTags) {
    const auto tag = write_text_tag("a", std::string(300, 'x'));
    const auto frames = parse_tag(tag).value();
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].id, "TXXX");
    EXPECT_EQ(frames[0].data.size(), 304u);
}

TEST(Id3Tag, ReadsVersion23WithPadding) {
    const auto tag = hex("494433 0300 00 00000010 54495432 00000002 0000 0061 00000000");
    const auto frames = parse_tag(tag).value();
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].id, "TIT2");
    EXPECT_EQ(frames[0].data.size(), 2u);
}

TEST(Id3Tag, NeedsTheWholeTag) {
    const auto tag = write_text_tag("name", "value");
    for (std::size_t size = 0; size < tag.size(); ++size)
        EXPECT_EQ(parse_tag(Bytes(tag).first(size)).code(), Errc::need_more) << size;
}

TEST(Id3Tag, RejectsOtherBytes) {
    EXPECT_EQ(parse_tag(hex("494434 0400 00 00000000")).code(), Errc::malformed);
    EXPECT_EQ(parse_tag(hex("494433 0200 00 00000000")).code(), Errc::unsupported);
    EXPECT_EQ(parse_tag(hex("494433 0400 80 00000000")).code(), Errc::unsupported);
    EXPECT_EQ(parse_tag(hex("494433 0400 00 00000080")).code(), Errc::malformed);
    EXPECT_EQ(parse_tag(hex("494433 0400 00 00000000 00")).code(), Errc::malformed);
    EXPECT_EQ(parse_tag(hex("494433 0400 00 00000004 54585858")).code(), Errc::malformed);
    EXPECT_EQ(parse_tag(hex("494433 0400 00 0000000a 54585858 00000001 0000")).code(), Errc::malformed);
}

TEST(Id3Tag, HasALimit) {
    const std::string text(kTagBytesMax - 20 - 3, 'x');
    EXPECT_EQ(write_text_tag("", text).size(), kTagBytesMax);
    auto tag = write_text_tag("", text);
    EXPECT_TRUE(parse_tag(tag).ok());
    tag.push_back(0);
    EXPECT_EQ(parse_tag(tag).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::id3
