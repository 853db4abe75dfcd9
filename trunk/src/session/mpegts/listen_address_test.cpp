#include "session/mpegts/listen_address.hpp"

#include <gtest/gtest.h>

namespace live::session::mpegts {
namespace {

ListenAddress one(std::string_view text) {
    const auto addresses = parse_listen_address(text);
    EXPECT_TRUE(addresses.ok()) << text;
    return addresses.ok() && addresses->size() == 1 ? addresses->front() : ListenAddress{};
}

TEST(ListenAddress, ReadsEveryForm) {
    EXPECT_EQ(one("127.0.0.1:8935"), (ListenAddress{{"127.0.0.1", 8935}, false, "", "", false}));
    EXPECT_EQ(one("239.1.1.1:5000"), (ListenAddress{{"239.1.1.1", 5000}, true, "", "", false}));
    EXPECT_EQ(one("239.1.1.1:5000/eth0"), (ListenAddress{{"239.1.1.1", 5000}, true, "", "eth0", false}));
    EXPECT_EQ(one("239.1.1.1@192.0.2.7:5000/br-lan.7"),
              (ListenAddress{{"239.1.1.1", 5000}, true, "192.0.2.7", "br-lan.7", false}));
    EXPECT_EQ(one("239.1.1.1@0.0.0.0:5000"), (ListenAddress{{"239.1.1.1", 5000}, true, "", "", false}));
    EXPECT_EQ(one("239.1.1.1@5000"), (ListenAddress{{"239.1.1.1", 5000}, true, "", "", false}));
    EXPECT_EQ(one("[ff15::1]@[2001:db8::1]:5000/lo"), (ListenAddress{{"ff15::1", 5000}, true, "2001:db8::1", "lo", false}));
    const auto both = parse_listen_address("8935").value();
    ASSERT_EQ(both.size(), 2u);
    EXPECT_FALSE(both[0].may_be_missing);
    EXPECT_TRUE(both[1].may_be_missing);
    EXPECT_EQ(one("239.1.1.1@192.0.2.7:5000/lo").text(), "239.1.1.1:5000, from 192.0.2.7, on lo");
}

TEST(ListenAddress, RefusesTheRest) {
    for (const char* text :
         {"", "0", "65536", "x", "1.2.3.4", "1.2.3.4:5/eth0", "8935/eth0", "10.0.0.1@1.2.3.4:5", "239.1.1.1@x:5", "239.1.1.1:5/",
          "239.1.1.1:5/a b", "239.1.1.1:5/abcdefghijklmnop", "@1.2.3.4:5", "239.1.1.1@[2001:db8::1]:5", "239.1.1.1@@1.2.3.4:5"}) {
        const auto read = parse_listen_address(text);
        EXPECT_EQ(read.ok() ? Errc::closed : read.code(), Errc::malformed) << text;
    }
}

TEST(ListenAddress, OutputsHaveThePortInThem) {
    EXPECT_EQ(output_of("rtmp://127.0.0.1/live/[port]", 8935).value(), "rtmp://127.0.0.1/live/8935");
    EXPECT_EQ(output_of("rtmp://a.example/[port]/x[port]", 1).value(), "rtmp://a.example/1/x1");
    for (const char* text : {"", "live/x", "rtmp://127.0.0.1/live/[stream]", "rtmp://127.0.0.1/live/../x"})
        EXPECT_FALSE(output_of(text, 8935).ok()) << text;
}

}  // namespace
}  // namespace live::session::mpegts
