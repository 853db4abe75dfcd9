#include "engine/redis/reply.hpp"

#include <gtest/gtest.h>

#include <array>

namespace live::engine::redis {
namespace {

using Kind = Reply::Kind;

Reply text(std::string words) { return {Kind::text, 0, std::move(words), {}}; }
Reply number(std::int64_t value) { return {Kind::number, value, {}, {}}; }
Reply list(std::vector<Reply> items) { return {Kind::list, 0, {}, std::move(items)}; }

struct Vector {
    std::string_view bytes;
    Reply reply;
};
std::vector<Vector> vectors() {
    return {
        {"+OK\r\n", {Kind::status, 0, "OK", {}}},
        {"-NOAUTH Authentication required.\r\n", {Kind::error, 0, "NOAUTH Authentication required.", {}}},
        {":-42\r\n", number(-42)},
        {"$-1\r\n", {}},
        {"*-1\r\n", {}},
        {"$0\r\n\r\n", text("")},
        {"$6\r\na\r\nb\xFF\x01\r\n", text("a\r\nb\xFF\x01")},
        {"*0\r\n", list({})},
        {"*3\r\n:1\r\n$3\r\nown\r\n*2\r\n$-1\r\n+x\r\n", list({number(1), text("own"), list({{}, {Kind::status, 0, "x", {}}})})}};
}

TEST(RedisReply, ReadsWholeReplies) {
    ReplyReader reader;
    for (const auto& [bytes, reply] : vectors()) {
        ASSERT_TRUE(reader.feed(as_bytes(bytes)).ok());
        EXPECT_EQ(MUST(reader.next()), reply) << bytes;
        EXPECT_EQ(MUST(reader.next()), std::nullopt);
    }
}

TEST(RedisReply, WaitsForTheRest) {
    for (const auto& [bytes, reply] : vectors())
        for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
            ReplyReader reader;
            ASSERT_TRUE(reader.feed(as_bytes(bytes.substr(0, cut))).ok());
            ASSERT_EQ(MUST(reader.next()), std::nullopt) << bytes << " until " << cut;
            ASSERT_TRUE(reader.feed(as_bytes(bytes.substr(cut))).ok());
            EXPECT_EQ(MUST(reader.next()), reply) << bytes << " from " << cut;
        }
}

TEST(RedisReply, ReadsManyRepliesAtOnce) {
    std::string all;
    for (const auto& one : vectors())
        all += one.bytes;
    ReplyReader reader;
    ASSERT_TRUE(reader.feed(as_bytes(all)).ok());
    for (const auto& one : vectors())
        EXPECT_EQ(MUST(reader.next()), one.reply);
}

TEST(RedisReply, MalformedInputEndsTheReader) {
    for (const char* bytes :
         {"HTTP/1.1 400\r\n", "*x\r\n", "$x\r\n", ":x\r\n", "*2147483647\r\n", "*99999999999999\r\n",
          "*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n:1\r\n", ",1.5\r\n", "#t\r\n", "%1\r\n+a\r\n:1\r\n",
          "~1\r\n+a\r\n", ">1\r\n+a\r\n", "(12345678901234567890\r\n", "=5\r\ntxt:a\r\n"}) {
        ReplyReader reader;
        ASSERT_TRUE(reader.feed(as_bytes(std::string_view(bytes))).ok());
        EXPECT_EQ(reader.next().code(), Errc::malformed) << bytes;
    }
}

// Which would be destroyed one in the other.
TEST(RedisReply, LimitsTheDepthOfLists) {
    std::string bytes;
    for (std::size_t i = 0; i < ReplyReader::kDepthMax; ++i)
        bytes += "*1\r\n";
    ReplyReader deep;
    ASSERT_TRUE(deep.feed(as_bytes(bytes + ":1\r\n")).ok());
    EXPECT_TRUE(MUST(deep.next()));
    ReplyReader deeper;
    ASSERT_TRUE(deeper.feed(as_bytes(bytes + "*1\r\n:1\r\n")).ok());
    EXPECT_EQ(deeper.next().code(), Errc::malformed);
}

TEST(RedisReply, LimitsTheSizeOfAReply) {
    ReplyReader reader;
    ASSERT_TRUE(reader.feed(as_bytes(std::string_view("$2000000000\r\n"))).ok());
    const std::string part(1 << 20, 'x');
    std::size_t taken = 0;
    while (reader.feed(as_bytes(part)).ok() && MUST(reader.next()) == std::nullopt)
        taken += part.size();
    EXPECT_LE(taken, ReplyReader::kReplyBytesMax);
    // Lists in lists count together.
    const std::string half = "*" + std::to_string(ReplyReader::kValuesMax / 2) + "\r\n";
    ReplyReader lists;
    ASSERT_TRUE(lists.feed(as_bytes(half + half)).ok());
    EXPECT_EQ(MUST(lists.next()), std::nullopt);
    ASSERT_TRUE(lists.feed(as_bytes(std::string_view("*1\r\n"))).ok());
    EXPECT_EQ(lists.next().code(), Errc::malformed);
}

TEST(RedisCommand, IsAListOfWords) {
    const std::array<std::string, 3> words = {"SET", "a b\r\n", ""};
    EXPECT_EQ(command_of(words), "*3\r\n$3\r\nSET\r\n$5\r\na b\r\n\r\n$0\r\n\r\n");
}

}  // namespace
}  // namespace live::engine::redis
