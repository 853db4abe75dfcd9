#include "wire/mp4/whole_part.hpp"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/files/whole_part_fixture.hpp"
#include "wire/mp4/box_reader_fixture.hpp"
#include "wire/mp4/fragment_writer.hpp"
#include "wire/mp4/media_fixture.hpp"
#include "wire/mp4/movie_writer.hpp"

namespace live::wire::mp4 {
namespace {

using Body = std::vector<std::uint8_t>;

Result<WholePart> part_of(const Body& file) { return look_at(whole_part, file); }

Body file_bytes(const ByteWriter& out) { return {out.written().begin(), out.written().end()}; }

// Two fragments of one second each, as both kinds of recorder write them. `ends` receives the fragment ends.
Body movie(std::vector<std::size_t>& ends, bool is_closed = false) {
    ByteWriter out;
    MovieWriter writer;
    writer.begin(out);
    const auto video = writer.add_track(avc_track()).value();
    const auto audio = writer.add_track(aac_track()).value();
    for (int second = 0; second < 2; ++second) {
        for (int i = 0; i < 4; ++i) {
            MUST(writer.push(video, sample_of(std::chrono::seconds(second) + i * 250ms, 10, 1, i == 0)));
            MUST(writer.push(audio, sample_of(std::chrono::seconds(second) + i * 250ms, 5, 2)));
        }
        writer.flush(out);
        ends.push_back(out.size());
    }
    if (!is_closed)
        return file_bytes(out);
    const FilePatch patch = writer.finish(out);
    Body bytes = file_bytes(out);
    std::ranges::copy(patch.bytes, bytes.begin() + static_cast<std::ptrdiff_t>(patch.offset));
    return bytes;
}

Body fragmented(std::vector<std::size_t>& ends) {
    ByteWriter out;
    FragmentWriter writer({avc_track(), aac_track()});
    writer.write_init(out);
    for (int second = 0; second < 2; ++second) {
        for (int i = 0; i < 4; ++i) {
            MUST(writer.push(0, sample_of(std::chrono::seconds(second) + i * 250ms, 10, 1, i == 0)));
            MUST(writer.push(1, sample_of(std::chrono::seconds(second) + i * 250ms, 5, 2)));
        }
        writer.cut(out, FragmentWriter::Next{.track = 0, .dts = std::chrono::seconds(second + 1)});
        ends.push_back(out.size());
    }
    return file_bytes(out);
}

std::uint32_t number_at(const Body& bytes, std::size_t at) { return MUST(ByteReader(Bytes(bytes).subspan(at)).u32be()); }

TEST(Mp4WholePart, UnclosedFileHasItsDuration) {
    for (const bool is_fragmented : {true, false}) {
        std::vector<std::size_t> ends;
        Body file = is_fragmented ? fragmented(ends) : movie(ends);
        const auto part = MUST(part_of(file));
        EXPECT_EQ(part.bytes, file.size());
        EXPECT_TRUE(part.has_media);
        EXPECT_EQ(part.duration, 2s);
        ASSERT_TRUE(part.patch);
        std::ranges::copy(part.patch->bytes, file.begin() + static_cast<std::ptrdiff_t>(part.patch->offset));
        const TestBox read = read_file(file);
        const TestBox& header = read.child("moov");
        EXPECT_EQ(number_at(header.child("mvhd").content, 16), 2'000u);
        const auto tracks = header.all("trak");
        EXPECT_EQ(number_at(tracks[0]->child("tkhd").content, 20), 2'000u);
        EXPECT_EQ(number_at(tracks[0]->child("mdia").child("mdhd").content, 16), 180'000u);
        EXPECT_EQ(fragment_samples(file).at(1).size(), 8u);
    }
}

TEST(Mp4WholePart, EndsAtTheLastWholeFragment) {
    for (const bool is_fragmented : {true, false}) {
        std::vector<std::size_t> ends;
        const Body whole = is_fragmented ? fragmented(ends) : movie(ends);
        for (std::size_t size = 0; size < whole.size(); ++size) {
            const auto part = part_of(Body(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
            if (!part.ok()) {
                EXPECT_LT(size, 32u);
                continue;
            }
            ASSERT_EQ(part->has_media, size >= ends[0]) << size;
            if (size >= ends[0]) {
                ASSERT_EQ(part->bytes, ends[0]) << size;
                ASSERT_EQ(part->duration.count() / 1'000, is_fragmented ? 1'000 : 1'000);
            }
        }
    }
}

TEST(Mp4WholePart, KeepsAClosedFileUnchanged) {
    std::vector<std::size_t> ends;
    const Body file = movie(ends, true);
    const auto part = MUST(part_of(file));
    EXPECT_EQ(part.bytes, file.size());
    EXPECT_TRUE(part.has_media);
    EXPECT_FALSE(part.patch);
}

TEST(Mp4WholePart, LeavesOutAnUnreferencedHeaderAtTheEnd) {
    std::vector<std::size_t> ends;
    Body file = movie(ends, true);
    std::ranges::copy(hex("00000010 66726565 00000000 00000000"), file.begin() + 28);
    const auto part = MUST(part_of(file));
    EXPECT_EQ(part.bytes, ends[1]);
    EXPECT_EQ(part.duration, 2s);
}

TEST(Mp4WholePart, RefusesForeignFiles) {
    EXPECT_EQ(part_of(Body(100, 0)).code(), Errc::malformed);
    EXPECT_EQ(part_of(hex("00000010 6d646174 00000000 00000000")).code(), Errc::malformed);
    std::vector<std::size_t> ends;
    Body zeros = movie(ends);
    zeros.resize(zeros.size() + 5'000);
    EXPECT_EQ(MUST(part_of(zeros)).bytes, ends[1]);
    // A file without its index, as left by earlier versions: not playable.
    EXPECT_FALSE(MUST(part_of(hex("00000008 66747970 00000001 6d646174 00000000 00000014 01020304"))).has_media);
}

}  // namespace
}  // namespace live::wire::mp4
