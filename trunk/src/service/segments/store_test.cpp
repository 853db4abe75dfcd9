#include "service/segments/store.hpp"

#include <array>
#include <string>

#include <unistd.h>

#include <gtest/gtest.h>

namespace live::service::segments {
namespace {

Block block_of(std::size_t size, std::uint8_t byte) { return std::make_shared<const std::vector<std::uint8_t>>(size, byte); }

// Returns the content of the copy that serves many requests for this file.
std::string copied(File& file) {
    File::Copy copy;
    for (std::size_t i = 0; i <= files::SentCopy::kAskedBefore; ++i)
        copy = file.copy_for_request();
    if (copy.file == nullptr)
        return "none";
    std::string text(file.bytes(), ' ');
    const auto count = ::pread(copy.file->native_handle(), text.data(), text.size(), static_cast<::off_t>(copy.offset));
    return count == static_cast<::ssize_t>(text.size()) ? text : "too short";
}

TEST(SegmentStore, FindsTheNewestFileOfAPath) {
    Store store;
    const auto first = store.add("a", nullptr);
    const auto second = store.add("a", nullptr, {block_of(3, 'x')});
    EXPECT_TRUE(second->is_whole());
    store.remove("a", first);
    EXPECT_EQ(store.find("a"), second);
    store.remove("a", second);
    EXPECT_EQ(store.find("a"), nullptr);
    const auto later = store.make(nullptr);
    EXPECT_EQ(store.size(), 0U);
    store.put("b", later);
    EXPECT_EQ(store.find("b"), later);
}

TEST(SegmentStore, SendsPartsFromTheCopyOfTheirSegment) {
    Store store;
    const auto segment = store.make(nullptr);
    const auto add_part = [&](const std::string& name, std::uint8_t byte) {
        const auto part = store.add_part(name, segment);
        part->add(block_of(File::kCopyMin, byte));
        segment->add(block_of(File::kCopyMin, byte));
        part->end();
        return part;
    };
    const auto first = add_part("1", 'a');
    EXPECT_EQ(copied(*first), std::string(File::kCopyMin, 'a'));
    const auto second = add_part("2", 'b');
    EXPECT_EQ(copied(*second), std::string(File::kCopyMin, 'b'));
    EXPECT_EQ(copied(*segment), std::string(File::kCopyMin, 'a') + std::string(File::kCopyMin, 'b'));
    segment->end();
    EXPECT_EQ(first->copy_for_request().file, segment->copy_for_request().file) << "one descriptor for all of them";
    const auto blocks = segment->release();
    EXPECT_EQ(blocks.size(), 2U);
    EXPECT_EQ(segment->copy_for_request().file, nullptr);
}

TEST(SegmentStore, CopiesNoSmallFiles) {
    Store store;
    const auto file = store.add("a.mpd", nullptr, {block_of(File::kCopyMin - 1, 'x')});
    EXPECT_EQ(copied(*file), "none");
}

TEST(SegmentStore, WakesWaitersForEachBlockAndForTheEnd) {
    Store store;
    const auto file = store.add("a", nullptr);
    Signal signal;
    file->waiters().add(signal);
    const auto is_raised = [&signal] { return signal.consume(); };
    file->add(block_of(1, 'x'));
    EXPECT_TRUE(is_raised());
    file->end();
    EXPECT_TRUE(is_raised());
    file->waiters().remove(signal);
}

}  // namespace
}  // namespace live::service::segments
