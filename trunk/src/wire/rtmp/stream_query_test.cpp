#include "wire/rtmp/stream_query.hpp"

#include <gtest/gtest.h>

#include "wire/rtmp/stream_url.hpp"

namespace live::wire::rtmp {
namespace {

struct Row {
    const char* query;
    const char* vhost;  // nullptr: names none
    const char* rest;
};

const Row kRows[] = {
    {"", nullptr, ""},
    {"?", nullptr, ""},
    {"?token=x", nullptr, "?token=x"},
    {"token=x&b=2", nullptr, "?token=x&b=2"},
    {"?vhost=a.example", "a.example", ""},
    {"?token=x&vhost=a.example&b=2", "a.example", "?token=x&b=2"},
    {"?domain=d&vhost=v", "v", ""},
    {"?vhost=open&domain=protected", "open", ""},
    {"?vhost=&domain=d", "d", ""},
    {"?vhost=a&vhost=b", "a", ""},
    {"?token=x?vhost=v", "v", "?token=x"},
    {"?token=x#vhost=v", "v", "?token=x"},
    {"??vhost=v", "v", ""},
    {"?a=1?b=2#c=3", nullptr, "?a=1?b=2#c=3"},
    {"?v%68ost=v", "v", ""},
    {"?%64omain=%61.example", "a.example", ""},
    {"?v%2568ost=v", nullptr, ""},
    {"?v%252568ost=v", nullptr, ""},
    {"?VHOST=v&Domain=w", nullptr, ""},
    {"?/vhost=v", nullptr, ""},
    {"? vhost=v&+vhost=v&%26vhost=v", nullptr, ""},
    {"?a=1...vhost...v", nullptr, ""},
    {"?a=1%2e..vhost...v", nullptr, ""},
    {"?vhost=v/", "v", ""},
    {"?vhost", nullptr, ""},
    {"?xvhost=v&vhost2=w&x=vhost=v&x=&domains=1", nullptr, "?xvhost=v&vhost2=w&x=vhost=v&x=&domains=1"},
    {"?token=a+b%2Fc==&sign=%zz%", nullptr, "?token=a+b%2Fc==&sign=%zz%"},
};

TEST(StreamQuery, NamesOneVirtualHostAndKeepsTheRestAsItWas) {
    for (const Row& row : kRows) {
        EXPECT_EQ(named_vhost(row.query), row.vhost == nullptr ? std::nullopt : std::optional<std::string>(row.vhost))
            << row.query;
        EXPECT_EQ(without_vhost(row.query), row.rest) << row.query;
    }
}

// Every way in which this server reads a query, and every cut of each query.
TEST(StreamQuery, LeavesNothingThatAReaderTakesForAVirtualHost) {
    for (const Row& row : kRows)
        for (std::string_view query = row.query;; query.remove_suffix(1)) {
            const std::string rest = without_vhost(query);
            EXPECT_EQ(without_vhost(rest), rest) << query;
            EXPECT_EQ(named_vhost(rest), std::nullopt) << query;
            EXPECT_EQ(MUST(parse_stream_url("rtmp://host/live", "cam" + rest)).vhost, "host") << query;
            EXPECT_EQ(MUST(parse_stream_url("rtmp://host/live" + rest, "cam")).vhost, "host") << query;
            if (query.empty())
                break;
        }
}

TEST(StreamQuery, IsReadAlikeInEveryProtocol) {
    for (const Row& row : kRows) {
        const std::string_view query = row.query;
        const std::string_view bare = query.substr(query.starts_with('?') ? 1 : 0);
        if (query.find("...") != std::string_view::npos)
            continue;  // the old mark is one of names, not of queries
        EXPECT_EQ(MUST(parse_stream_url("rtmp://host/live", "cam?" + std::string(bare))).vhost,
                  row.vhost == nullptr ? "host" : row.vhost)
            << query;
    }
}

}  // namespace
}  // namespace live::wire::rtmp
