#include "engine/workers/message.hpp"

#include <gtest/gtest.h>

#include "engine/workers/message_vectors.hpp"

namespace live::engine::workers {
namespace {

TEST(WorkerMessage, IsWrittenAndRead) {
    for (const MessageVector& vector : kMessageVectors) {
        EXPECT_EQ(as_text(write_message(vector.message)), vector.bytes);
        EXPECT_EQ(MUST(parse_message(as_bytes(vector.bytes))), vector.message);
    }
}

// A head that is cut is refused; a text that is cut is another text.
TEST(WorkerMessage, MayBeCutAnywhere) {
    for (const MessageVector& vector : kMessageVectors)
        for (std::size_t length = 0; length < vector.bytes.size(); ++length) {
            const auto parsed = parse_message(as_bytes(vector.bytes.substr(0, length)));
            const Kind kind = vector.message.kind;
            const bool may_be_empty =
                kind == Kind::claimed || kind == Kind::upgraded || kind == Kind::members || kind == Kind::launched;
            if (length < kHeadBytes || (length == kHeadBytes && !vector.message.text.empty() && !may_be_empty))
                EXPECT_EQ(parsed.code(), Errc::malformed) << length;
            else
                EXPECT_EQ(as_text(write_message(*parsed)), vector.bytes.substr(0, length));
        }
}

TEST(WorkerMessage, RefusesInvalidMessages) {
    const std::vector<std::uint8_t> good = write_message({Kind::link, 0, 1, 0, 0, ""});
    const auto with = [&](std::size_t at, std::uint8_t value) {
        std::vector<std::uint8_t> bad = good;
        bad[at] = value;
        return parse_message(bad).ok();
    };
    EXPECT_TRUE(parse_message(good).ok());
    EXPECT_FALSE(with(0, 0)) << "no kind";
    EXPECT_FALSE(with(0, 28)) << "an unknown kind";
    EXPECT_FALSE(with(1, 3)) << "an unknown purpose";
    EXPECT_FALSE(with(2, 193)) << "more workers than there can be";
    EXPECT_FALSE(with(3, 1));
    EXPECT_FALSE(parse_message(write_message({Kind::find, 0, 0, 1, 0, ""})).ok()) << "no stream";
    EXPECT_FALSE(parse_message(std::vector<std::uint8_t>(kMessageMax + 1, 3)).ok());
    EXPECT_EQ(write_message({Kind::failed, 0, 0, 1, 0, std::string(2 * kTextMax, 'x')}).size(), kMessageMax);
}

}  // namespace
}  // namespace live::engine::workers
