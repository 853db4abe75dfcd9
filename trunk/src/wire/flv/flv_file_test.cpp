#include "wire/flv/flv_file.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace live::wire::flv {
namespace {

std::vector<std::uint8_t> sample_file() {
    ByteWriter out;
    write_file_header(out, {.has_audio = true, .has_video = true});
    write_tag(out, TagType::script, 0, as_bytes("metadata"));
    write_tag(out, TagType::video, 40, as_bytes("picture"));
    write_tag(out, TagType::audio, 0x12345678, {});
    write_tag(out, TagType::audio, 0xFFFFFFFF, as_bytes("x"));
    return out.release();
}

struct Seen {
    TagHeader header;
    std::string body;

    bool operator==(const Seen&) const = default;
};

const std::vector<Seen> kSampleTags = {
    {{TagType::script, 8, 0}, "metadata"},
    {{TagType::video, 7, 40}, "picture"},
    {{TagType::audio, 0, 0x12345678}, ""},
    {{TagType::audio, 1, 0xFFFFFFFF}, "x"},
};

Result<std::vector<Seen>> read_all(FlvReader& reader, Bytes input, std::size_t portion) {
    std::vector<Seen> seen;
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        while (!part.empty()) {
            part = part.subspan(TRY(reader.feed(part)));
            if (auto tag = reader.next())
                seen.push_back({tag->header, std::string(as_text(tag->body.bytes()))});
        }
    }
    return seen;
}

TEST(FlvReader, GivesTheSameTagsForEveryPortionSize) {
    const auto file = sample_file();
    for (std::size_t portion = 1; portion <= file.size(); ++portion) {
        FlvReader reader;
        const auto tags = read_all(reader, file, portion);
        ASSERT_TRUE(tags.ok()) << portion;
        EXPECT_EQ(*tags, kSampleTags) << portion;
        EXPECT_EQ(reader.file_header(), (FileHeader{true, true}));
    }
}

TEST(FlvReader, ATruncatedFileGivesTheTagsThatAreWhole) {
    const auto file = sample_file();
    for (std::size_t size = 0; size < file.size(); ++size) {
        FlvReader reader;
        const auto tags = read_all(reader, Bytes(file).first(size), 7);
        ASSERT_TRUE(tags.ok()) << size;
        ASSERT_LE(tags->size(), kSampleTags.size());
        EXPECT_TRUE(std::equal(tags->begin(), tags->end(), kSampleTags.begin())) << size;
    }
}

TEST(FlvReader, AnEmptyTagIsGivenWithoutFurtherInput) {
    ByteWriter out;
    write_file_header(out, {});
    write_tag_header(out, {TagType::video, 0, 5});
    FlvReader reader;
    EXPECT_EQ(read_all(reader, out.written(), 1'000)->size(), 1u);
}

TEST(FlvReader, SkipsALongerHeaderAndUnknownTags) {
    ByteWriter out;
    out.text("FLV").u8(1).u8(4).u32be(12).zeros(3).u32be(0);
    write_tag_header(out, {static_cast<TagType>(15), 3, 0});
    out.text("abc").bytes(tag_size_bytes(3));
    write_tag(out, TagType::audio, 1, as_bytes("x"));
    FlvReader reader;
    const auto tags = read_all(reader, out.written(), 5);
    ASSERT_TRUE(tags.ok());
    ASSERT_EQ(tags->size(), 1u);
    EXPECT_EQ((*tags)[0].body, "x");
    EXPECT_EQ(reader.file_header(), (FileHeader{true, false}));
}

TEST(FlvReader, RefusesOtherFiles) {
    const auto refused = [](Bytes header) {
        FlvReader reader;
        return read_all(reader, header, 100).code();
    };
    EXPECT_EQ(refused(as_bytes("MP4 file.....")), Errc::malformed);
    EXPECT_EQ(refused(ByteWriter().text("FLV").u8(2).u8(0).u32be(9).written()), Errc::unsupported);
    EXPECT_EQ(refused(ByteWriter().text("FLV").u8(1).u8(0).u32be(8).written()), Errc::malformed);
}

TEST(FlvReader, BoundsTagAndHeaderSizes) {
    FlvReader reader({.tag_bytes = 8, .header_bytes = 20});
    ByteWriter out;
    write_file_header(out, {});
    write_tag(out, TagType::video, 0, as_bytes("12345678"));
    EXPECT_EQ(read_all(reader, out.written(), 100)->size(), 1u);
    write_tag(out, TagType::video, 0, as_bytes("123456789"));
    FlvReader again({.tag_bytes = 8, .header_bytes = 20});
    EXPECT_EQ(read_all(again, out.written(), 100).code(), Errc::limit);

    const auto header = [](std::uint32_t bytes) { return ByteWriter().text("FLV").u8(1).u8(0).u32be(bytes).release(); };
    FlvReader at_bound({.tag_bytes = 8, .header_bytes = 20});
    EXPECT_TRUE(read_all(at_bound, header(20), 100).ok());
    FlvReader above({.tag_bytes = 8, .header_bytes = 20});
    EXPECT_EQ(read_all(above, header(21), 100).code(), Errc::limit);
}

TEST(FlvReader, KeepsTheBeginningOfEachBody) {
    ByteWriter out;
    write_file_header(out, {});
    for (const std::string_view body : {"", "123", "1234", "12345", "123456789"})
        write_tag(out, TagType::video, 0, as_bytes(body));
    for (std::size_t portion = 1; portion <= out.size(); ++portion) {
        FlvReader reader({.kept_bytes = 4});
        const auto tags = read_all(reader, out.written(), portion);
        ASSERT_EQ(tags->size(), 5u) << portion;
        for (const auto& [index, size, kept] :
             {std::tuple(0u, 0u, ""), {1u, 3u, "123"}, {2u, 4u, "1234"}, {3u, 5u, "1234"}, {4u, 9u, "1234"}}) {
            EXPECT_EQ((*tags)[index].header.size, size) << portion;
            EXPECT_EQ((*tags)[index].body, kept) << portion;
        }
    }
}

TEST(FlvFile, TagHeadersGoBothWays) {
    for (const TagHeader& header : {TagHeader{TagType::audio, 0, 0}, TagHeader{TagType::video, 0xFFFFFF, 0xFFFFFF},
                                    TagHeader{TagType::script, 1, 0x1000000}, TagHeader{TagType::video, 7, 0xFFFFFFFF}}) {
        const auto bytes = tag_header_bytes(header);
        ByteReader in{Bytes(bytes)};
        EXPECT_EQ(read_tag_header(in).value(), header);
        for (std::size_t size = 0; size < bytes.size(); ++size) {
            ByteReader cut(Bytes(bytes).first(size));
            EXPECT_EQ(read_tag_header(cut).code(), Errc::need_more);
        }
    }
}

TEST(FlvFile, RefusesEncryptedTags) {
    auto bytes = tag_header_bytes({TagType::video, 1, 0});
    bytes[0] |= 0x20;
    ByteReader in{Bytes(bytes)};
    EXPECT_EQ(read_tag_header(in).code(), Errc::unsupported);
}

TEST(FlvFile, TagSizeIncludesTheHeader) {
    EXPECT_EQ(tag_size_bytes(0), (std::array<std::uint8_t, 4>{0, 0, 0, 11}));
    EXPECT_EQ(tag_size_bytes(0x010000), (std::array<std::uint8_t, 4>{0, 1, 0, 11}));
}

TEST(FlvFileDeathTest, ATagOverTwentyFourBitsAborts) {
    EXPECT_DEATH(tag_header_bytes({TagType::video, 0x1000000, 0}), "CHECK failed");
}

}  // namespace
}  // namespace live::wire::flv
