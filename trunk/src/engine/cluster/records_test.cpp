#include "engine/cluster/records.hpp"

#include <gtest/gtest.h>

#include "engine/cluster/records_vectors.hpp"

namespace live::engine::cluster {
namespace {

TEST(ClusterRecords, SurviveRoundTrip) {
    for (const std::string_view text : kNodeTexts)
        EXPECT_EQ(text_of(MUST(parse_node("n", text))), text);
    for (const std::string_view text : kOwnTexts)
        EXPECT_EQ(text_of(MUST(parse_own(text))), text);
    for (const std::string_view text : kEventTexts)
        EXPECT_EQ(text_of(MUST(parse_event(text))), text);
}

TEST(ClusterRecords, HaveTheirFields) {
    const NodeRecord node = MUST(parse_node("node-a", kNodeTexts[0]));
    EXPECT_EQ(node, (NodeRecord{"node-a", 281'474'976'710'655, "192.0.2.1", 1935, 8080, 1985, "eu-west", NodeRecord::State::up,
                                1'250'000'000, 1000, "1.0.0"}));
    EXPECT_EQ(MUST(parse_node("b", kNodeTexts[1])).state, NodeRecord::State::draining);
    EXPECT_EQ(MUST(parse_own(kOwnTexts[0])), (OwnRecord{"node-a", 281'474'976'710'655, 1, 1'790'000'000'000}));
    EXPECT_EQ(MUST(parse_event(kEventTexts[1])), (Event{Event::Kind::gone, "node-a", 7, 1, "a.example/live/x|y"}));
}

// A shorter text is refused, or is another record: numbers, names and versions may end earlier.
template <class Parse>
void cut_everywhere(std::string_view text, Parse&& parse) {
    for (std::size_t length = 0; length < text.size(); ++length)
        if (const auto parsed = parse(text.substr(0, length)); parsed.ok())
            EXPECT_EQ(text_of(*parsed), text.substr(0, length));
        else
            EXPECT_EQ(parsed.code(), Errc::malformed);
}

TEST(ClusterRecords, AcceptTruncationAnywhere) {
    for (const std::string_view text : kNodeTexts)
        cut_everywhere(text, [](std::string_view part) { return parse_node("n", part); });
    for (const std::string_view text : kOwnTexts)
        cut_everywhere(text, parse_own);
    for (const std::string_view text : kEventTexts)
        cut_everywhere(text, parse_event);
}

TEST(ClusterRecords, RejectMalformedText) {
    for (const char* text : {"", "|", "1|h|1|1|1|r|up|0|0", "1|h|1|1|1|r|up|0|0|v|", "1|h|1|1|1|r|up|0|0|v|5",
                             "1|h|1|1|1|r|up|0|0|v|5|", "1|h|1|1|1|r|up|0|0|v|0123456789abcdef0123456789abcdef",
                             "1|h|1|1|1|r|up|0|0|v|9007199254740993|0123456789abcdef0123456789abcdef", "1|h|65536|1|1|r|up|0|0|v",
                             "1||1|1|1|r|up|0|0|v", "1|h h|1|1|1|r|up|0|0|v", "1|h:80|1|1|1|r|up|0|0|v",
                             "1|[::1]|1|1|1|r|up|0|0|v", "9007199254740993|h|1|1|1|r|up|0|0|v", "-1|h|1|1|1|r|up|0|0|v",
                             "1|h|1|1|1|r r|up|0|0|v", "1|h|1|1|1|r|down|0|0|v", "1|h|1|1|1|r|up|x|0|v", "1|h| 1|1|1|r|up|0|0|v"})
        EXPECT_EQ(parse_node("n", text).code(), Errc::malformed) << text;
    for (const std::string& id : {std::string(), std::string("a|b"), std::string("a b"), std::string(kIdBytesMax + 1, 'a')})
        EXPECT_EQ(parse_node(id, kNodeTexts[0]).code(), Errc::malformed) << id;
    EXPECT_TRUE(parse_node(std::string(kIdBytesMax, 'a'), kNodeTexts[0]).ok());
    for (const char* text :
         {"", "n", "n|1|1", "n|1|1|1|", "n|1|1|1|0123456789abcdef0123456789abcdeF", "n|1|1|1|0123456789abcdef0123456789abcdef|",
          "|1|1|1", "n|1|18446744073709551616|1", "n|1|9007199254740993|1", "n|1||1"})
        EXPECT_EQ(parse_own(text).code(), Errc::malformed) << text;
    for (const char* text : {"", "published|n|1|1|", "drain|n|1|0|s", "dancing|n|1|1|s", "drain:|n|1|0|", "drain:x|n|1|0|",
                             "drain:0123456789abcdef0123456789abcdef0|n|1|0|", "gone||1|1|s", "gone|n|1|1"})
        EXPECT_EQ(parse_event(text).code(), Errc::malformed) << text;
}

TEST(ClusterRecords, BoundFields) {
    const std::string head = "gone|n|1|1|";
    EXPECT_TRUE(parse_event(head + std::string(kStreamBytesMax, 's')).ok());
    EXPECT_FALSE(parse_event(head + std::string(kStreamBytesMax + 1, 's')).ok());
    const std::string name(253, 'h');
    EXPECT_TRUE(parse_node("n", "1|" + name + "|1|1|1||up|0|0|").ok());
    EXPECT_FALSE(parse_node("n", "1|" + name + "h|1|1|1||up|0|0|").ok());
    EXPECT_FALSE(parse_own("n|1|1|" + std::string(kRecordBytesMax, '0')).ok());
}

TEST(ClusterRecords, OrderClaims) {
    const OwnRecord a{"a", 1, 1, 0};
    const OwnRecord b{"b", 1, 1, 0};
    const OwnRecord later{"a", 1, 2, 0};
    EXPECT_TRUE(is_higher(b, a) && !is_higher(a, b));
    EXPECT_TRUE(is_higher(later, b) && !is_higher(b, later));
    EXPECT_FALSE(is_higher(a, a));
}

}  // namespace
}  // namespace live::engine::cluster
