#include "wire/ts/read/early_reader.hpp"

#include <gtest/gtest.h>

#include "wire/ts/read/ts_builder_fixture.hpp"
#include "wire/ts/write/stream_fixture.hpp"

namespace live::wire::ts {
namespace {

constexpr std::size_t kPieceBytes = 7 * 188;

struct Seen {
    MediaKind kind;
    MediaTime dts;
    std::vector<std::uint8_t> bytes;

    bool operator==(const Seen&) const = default;
};

Seen seen(const TsReader::Unit& unit) {
    return {unit.kind, unit.frame.dts, {unit.frame.data.bytes().begin(), unit.frame.data.bytes().end()}};
}

std::vector<Bytes> pieces_of(Bytes stream) {
    std::vector<Bytes> pieces;
    for (; !stream.empty(); stream = stream.subspan(pieces.back().size()))
        pieces.push_back(stream.first(std::min(stream.size(), kPieceBytes)));
    return pieces;
}

TEST(EarlyReader, ReturnsTheFramesOfAPieceWhenItIsDue) {
    const auto stream = stream_of(50);
    const auto pieces = pieces_of(stream);
    // The frames of a reader that gets each piece when it is due, piece by piece.
    TsReader late;
    EarlyReader early;
    for (std::size_t i = 0; i < pieces.size(); ++i)
        early.read(pieces[i], 100 + 3 * i);
    EXPECT_FALSE(early.next(99));
    std::size_t frames = 0;
    const auto compare = [&](std::uint64_t due) {
        while (const auto unit = late.next()) {
            const auto found = early.next(due);
            ASSERT_TRUE(found);
            EXPECT_EQ(seen(*found), seen(*unit));
            ++frames;
        }
        EXPECT_FALSE(early.next(due)) << "due " << due;
    };
    for (std::size_t i = 0; i < pieces.size(); ++i) {
        late.feed(pieces[i]);
        compare(100 + 3 * i);
    }
    late.finish();
    early.finish();
    compare(100 + 3 * (pieces.size() - 1));
    EXPECT_GE(frames, 100U);
}

TEST(EarlyReader, CountsTheFramesItHolds) {
    const auto stream = stream_of(50);
    EarlyReader early;
    EXPECT_EQ(early.held_bytes(), 0U);
    std::size_t before = 0;
    for (std::size_t i = 0; const Bytes piece : pieces_of(stream)) {
        early.read(piece, i++);
        EXPECT_GE(early.held_bytes(), before);
        before = early.held_bytes() - early.reader().held_bytes();
    }
    early.finish();
    std::size_t frames = 0;
    std::size_t bytes = 0;
    const std::size_t held = early.held_bytes();
    while (const auto unit = early.next(~std::uint64_t{0})) {
        ++frames;
        bytes += unit->frame.data.size();
    }
    EXPECT_EQ(held, bytes + frames * EarlyReader::kFrameBytes);
    EXPECT_EQ(early.held_bytes(), 0U);
}

// A stream of images that nobody takes.
TEST(EarlyReader, IsFullSomeTimeBeforeItsMemoryGrowsFurther) {
    TsBuilder ts;
    ts.tables({{0x1B, 0x101, {}}});
    std::vector<std::uint8_t> image =
        hex("00000001 6764001facd9405005bb011000000300100000030320f18319600100 "
            "00000001 68ebe3cb22c0 00000001 65");
    image.resize(30'000, 0x5A);
    EarlyReader early;
    std::uint64_t position = 0;
    for (std::uint64_t i = 0; i < 2'000 && !early.is_full(); ++i) {
        ts.unit(0x101, built_pes(0xE0, {.pts = 90'000 + 3'600 * i}, image, false));
        const auto bytes = std::exchange(ts.bytes, {});
        for (const Bytes piece : pieces_of(bytes)) {
            if (early.is_full())
                break;
            early.read(piece, position++);
        }
    }
    EXPECT_TRUE(early.is_full());
    EXPECT_GT(early.held_bytes(), EarlyReader::kHeldBytesMax);
    EXPECT_LT(early.held_bytes(), EarlyReader::kHeldBytesMax + 100'000);
    while (early.next(position))
        continue;
    EXPECT_FALSE(early.is_full());
}

TEST(EarlyReader, LeavesOutDataThatIsNoEvent) {
    TsBuilder ts;
    ts.tables({{0x1B, 0x101, {}},
               {0x15, 0x103, hex("26 0d ffff 49443320 ff 49443320 000f")},
               {0x15, 0x104, hex("26 09 0100 ff 4b4c5641 000f")}});
    for (std::uint64_t i = 0; i < 5; ++i)
        for (const std::uint16_t pid : {std::uint16_t{0x103}, std::uint16_t{0x104}})
            ts.unit(pid, built_pes(0xBD, {.pts = 90'000 + 3'600 * i}, hex("494433040000000000000102")));
    EarlyReader early;
    early.read(ts.bytes, 1);
    early.finish();
    EXPECT_EQ(early.reader().tracks().size(), 3U);
    std::size_t units = 0;
    while (const auto unit = early.next(1)) {
        EXPECT_EQ(unit->format, StreamFormat::id3);
        ++units;
    }
    EXPECT_EQ(units, 5U);
    EXPECT_EQ(early.held_bytes(), 0U);
}

}  // namespace
}  // namespace live::wire::ts
