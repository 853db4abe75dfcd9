#include "base/bytes/bytes.hpp"

#include <utility>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"

namespace live {
namespace {

TEST(Slice, IsEmptyByDefault) {
    const Slice slice;
    EXPECT_TRUE(slice.empty());
    EXPECT_EQ(slice.size(), 0u);
    EXPECT_TRUE(slice.bytes().empty());
    const Slice copy = slice;
    EXPECT_TRUE(copy.empty());
}

TEST(Slice, CopiesShareTheMemory) {
    const Slice first = Slice::copy_of(as_bytes("hello"));
    const Slice second = first;
    EXPECT_EQ(first.data(), second.data());
    EXPECT_EQ(as_text(second.bytes()), "hello");
}

TEST(Slice, APartKeepsTheWholeAlive) {
    Slice part;
    {
        const Slice whole = Slice::copy_of(as_bytes("hello"));
        part = whole.sub(1, 3);
    }
    EXPECT_EQ(as_text(part.bytes()), "ell");  // Otherwise the address sanitizer would report a read of freed memory.
    EXPECT_EQ(as_text(part.sub(2).bytes()), "l");
    EXPECT_TRUE(part.sub(3).empty());
}

TEST(Slice, MoveEmptiesTheSource) {
    Slice first = Slice::copy_of(as_bytes("x"));
    const Slice second = std::move(first);
    EXPECT_TRUE(first.empty());  // NOLINT: what is left behind is what is tested
    EXPECT_EQ(as_text(second.bytes()), "x");
}

TEST(Slice, AssigningItToItselfKeepsIt) {
    Slice slice = Slice::copy_of(as_bytes("x"));
    const Slice& same = slice;
    slice = same;
    EXPECT_EQ(as_text(slice.bytes()), "x");
}

TEST(Slice, MayBeEmpty) {
    EXPECT_TRUE(Slice::copy_of({}).empty());
    EXPECT_TRUE(Slice::allocate(0).empty());
}

TEST(Slice, FreshMemoryCanBeFilled) {
    Slice slice = Slice::allocate(3);
    slice.mutable_bytes()[0] = 'a';
    slice.mutable_bytes()[2] = 'c';
    slice.mutable_bytes()[1] = 'b';
    EXPECT_EQ(as_text(slice.bytes()), "abc");
}

TEST(Slice, GrowsAndKeepsItsBytesOnBothSidesOfHavingPagesOfItsOwn) {
    Slice slice = Slice::copy_of(as_bytes("hello"));
    for (const std::size_t size : {std::size_t{5}, std::size_t{6}, Slice::kOwnPagesMin - 1, Slice::kOwnPagesMin,
                                   3 * Slice::kOwnPagesMin + 1, 40 * Slice::kOwnPagesMin}) {
        slice.grow(size);
        ASSERT_EQ(slice.size(), size);
        EXPECT_EQ(slice.memory_bytes(), size);
        EXPECT_EQ(as_text(slice.bytes().first(5)), "hello");
        slice.mutable_bytes()[size - 1] = 'o';
    }
    const Slice part = slice.sub(1, 3);
    slice = Slice();
    EXPECT_EQ(as_text(part.bytes()), "ell");
}

TEST(Slice, ShrinksAndKeepsItsBytes) {
    for (const std::size_t size : {std::size_t{5}, std::size_t{5'000}, Slice::kOwnPagesMin, 40 * Slice::kOwnPagesMin}) {
        Slice slice = Slice::copy_of(as_bytes("hello"));
        slice.grow(size);
        for (const std::size_t smaller : {size, size / 2 + 3, std::size_t{5}}) {
            slice.shrink(smaller);
            ASSERT_EQ(slice.size(), smaller);
            EXPECT_EQ(slice.memory_bytes(), smaller);
            EXPECT_EQ(as_text(slice.bytes().first(5)), "hello");
        }
        slice.grow(size + 1);
        slice.mutable_bytes()[size] = 'o';
        EXPECT_EQ(as_text(slice.bytes().first(5)), "hello");
    }
}

TEST(SliceDeathTest, SharedMemoryDoesNotShrink) {
    Slice slice = Slice::copy_of(as_bytes("xy"));
    const Slice other = slice;
    EXPECT_DEATH(slice.shrink(1), "CHECK failed");
}

TEST(SliceDeathTest, SharedMemoryDoesNotGrow) {
    Slice slice = Slice::copy_of(as_bytes("x"));
    const Slice other = slice;
    EXPECT_DEATH(slice.grow(2), "CHECK failed");
}

TEST(CopyBytes, FillsTheBeginningAndReturnsTheRest) {
    std::vector<std::uint8_t> into = {9, 9, 9, 9, 9};
    const std::vector<std::uint8_t> from = {1, 2, 3};
    const MutBytes rest = copy_bytes(from, into);
    EXPECT_EQ(into, (std::vector<std::uint8_t>{1, 2, 3, 9, 9}));
    EXPECT_EQ(rest.data(), into.data() + 3);
    EXPECT_EQ(rest.size(), 2U);
    EXPECT_TRUE(copy_bytes(Bytes(from).first(2), rest).empty());
    EXPECT_EQ(into, (std::vector<std::uint8_t>{1, 2, 3, 1, 2}));
    EXPECT_EQ(copy_bytes(Bytes(), into).size(), 5U);
    // Overlapping.
    copy_bytes(Bytes(into).first(4), MutBytes(into).subspan(1));
    EXPECT_EQ(into, (std::vector<std::uint8_t>{1, 1, 2, 3, 1}));
}

TEST(CopyBytesDeathTest, NothingIsWrittenBeyondTheEnd) {
    std::vector<std::uint8_t> into(2);
    EXPECT_DEATH(copy_bytes(std::vector<std::uint8_t>(3), into), "CHECK failed");
}

TEST(SliceDeathTest, SharedMemoryIsNotWritten) {
    Slice slice = Slice::copy_of(as_bytes("x"));
    const Slice other = slice;
    EXPECT_DEATH(slice.mutable_bytes(), "CHECK failed");
}

TEST(SliceDeathTest, APartBeyondTheEndAborts) {
    const Slice slice = Slice::copy_of(as_bytes("abc"));
    EXPECT_DEATH(slice.sub(4, 0), "CHECK failed");
    EXPECT_DEATH(slice.sub(1, 3), "CHECK failed");
    EXPECT_DEATH(slice.sub(1, SIZE_MAX), "CHECK failed");
    EXPECT_DEATH(slice.sub(4), "CHECK failed");
}

TEST(Hex, ReadsPairsOfDigits) {
    EXPECT_EQ(hex(""), std::vector<std::uint8_t>());
    EXPECT_EQ(hex("00 ff 1a2b"), (std::vector<std::uint8_t>{0x00, 0xFF, 0x1A, 0x2B}));
}

TEST(HexDeathTest, AbortsOnAnythingElse) {
    EXPECT_DEATH(hex("0"), "CHECK failed");
    EXPECT_DEATH(hex("0g"), "CHECK failed");
    EXPECT_DEATH(hex("AA"), "CHECK failed");
}

}  // namespace
}  // namespace live
