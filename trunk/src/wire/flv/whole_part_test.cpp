#include "wire/flv/whole_part.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "base/files/whole_part_fixture.hpp"
#include "wire/flv/file_writer.hpp"

namespace live::wire::flv {
namespace {

using Body = std::vector<std::uint8_t>;

Result<WholePart> part_of(const Body& file) { return look_at(whole_part, file); }

// A file as a recorder writes it.
struct CutFile {
    ByteWriter out;
    FileWriter writer{Bytes(), "us/1.0", out};
    std::vector<std::size_t> ends;  // end offsets of the tags

    CutFile() {
        add(TagType::video, 0, hex("17 00 000000 01"), false);
        for (std::uint32_t i = 0; i < 10; ++i) {
            const bool is_key = i % 5 == 0;
            add(TagType::video, i * 40, is_key ? hex("17 01 000000 00000001 65") : hex("27 01 000000 00000001 41"), is_key);
            add(TagType::audio, i * 40 + 3, hex("af 01 21"), false);
        }
    }
    void add(TagType type, std::uint32_t ms, const Body& body, bool is_key) {
        writer.write(type, ms, body, is_key ? FileWriter::Index::yes : FileWriter::Index::no, out);
        ends.push_back(out.size());
    }
    Body open() const { return {out.written().begin(), out.written().end()}; }
};

TEST(FlvWholePart, CompletesAnUnclosedFileAsACloseDoes) {
    const CutFile file;
    const auto part = MUST(part_of(file.open()));
    EXPECT_EQ(part.bytes, file.out.size());
    EXPECT_TRUE(part.has_media);
    EXPECT_EQ(part.duration, 363ms);
    ASSERT_TRUE(part.patch);
    EXPECT_EQ(part.patch->bytes, file.writer.finish().bytes);
    // Closing without effect: nothing changes.
    Body closed = file.open();
    std::ranges::copy(part.patch->bytes, closed.begin());
    EXPECT_EQ(MUST(part_of(closed)).patch->bytes, part.patch->bytes);
}

TEST(FlvWholePart, EndsAtTheLastWholeTag) {
    const CutFile file;
    const Body whole = file.open();
    const std::size_t beginning = file.ends.front() - (kTagHeaderBytes + 6 + kTagSizeBytes);
    for (std::size_t size = 0; size < whole.size(); ++size) {
        const auto part = part_of(Body(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
        if (size < beginning) {
            EXPECT_EQ(part.code(), Errc::malformed);
            continue;
        }
        std::size_t expected = beginning;
        for (const std::size_t end : file.ends)
            if (end <= size)
                expected = end;
        ASSERT_EQ(MUST(part).bytes, expected) << size;
    }
}

TEST(FlvWholePart, StopsAtBytesThatAreNoTag) {
    const CutFile file;
    Body zeros = file.open();
    zeros.resize(zeros.size() + 5'000);  // as after a power failure
    EXPECT_EQ(MUST(part_of(zeros)).bytes, file.out.size());
    Body broken = file.open();
    broken[file.ends[4] - 1] ^= 1;  // the size field after a tag
    EXPECT_EQ(MUST(part_of(broken)).bytes, file.ends[3]);
}

TEST(FlvWholePart, RefusesForeignFiles) {
    EXPECT_EQ(part_of(hex("00 01 02 03")).code(), Errc::malformed);
    EXPECT_EQ(part_of(Body(1'000, 0)).code(), Errc::malformed);
    EXPECT_EQ(part_of(hex("464c5601 05 00000009 00000000 09 000001 000000 00 000000 17 0000000c")).code(), Errc::malformed)
        << "no metadata";
    EXPECT_EQ(part_of(hex("464c5601 05 00000009 00000000 12 100001 000000 00 000000 00 00000000")).code(), Errc::malformed)
        << "more metadata than the bound";
    // Metadata of another writer: the tags are complete, and there is no patch.
    const auto foreign =
        MUST(part_of(hex("464c5601 05 00000009 00000000 12 000001 000000 00 000000 00 0000000c"
                         "08 000003 000000 00 000000 af0121 0000000e")));
    EXPECT_TRUE(foreign.has_media);
    EXPECT_FALSE(foreign.patch);
    EXPECT_EQ(foreign.bytes, 13u + 16 + 18);
}

}  // namespace
}  // namespace live::wire::flv
