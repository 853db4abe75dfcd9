#include "service/relay/origins/cluster_answer.hpp"

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

std::string answer_with(const std::string& origin) {
    return R"({"code":0,"server":"vid-1","data":{"query":{"ip":"h","vhost":"v","app":"live","stream":"cam"},"origin":)" + origin +
           "}}";
}

TEST(ClusterQuestion, NamesStreamAndPeer) {
    session::ClientRequest client;
    client.vhost = "a.example";
    client.app = "live/x";
    client.stream = "cam=1";
    EXPECT_EQ(cluster_question("192.0.2.1", "192.0.2.1:9090", client),
              "/api/v1/clusters?vhost=a.example&ip=192.0.2.1&app=live%2Fx&stream=cam%3D1&coworker=192.0.2.1%3A9090");
}

TEST(ClusterAnswer, HasAddressOfStream) {
    const auto full = parse_cluster_answer(200, answer_with(R"({"ip":"192.0.2.1","port":19350,"vhost":"__defaultVhost__",
        "api":"192.0.2.1:9090","routers":["192.0.2.1:9090"],"http":"192.0.2.1:8080"})"));
    ASSERT_TRUE(full.ok() && *full);
    EXPECT_EQ((*full)->rtmp, "192.0.2.1:19350");
    EXPECT_EQ((*full)->http, "192.0.2.1:8080");
    EXPECT_EQ((*full)->api, "192.0.2.1:9090");
    const auto short_form = parse_cluster_answer(200, answer_with(R"({"ip":"2001:db8::1","port":1935,"api":7,"http":"x"})"));
    ASSERT_TRUE(short_form.ok() && *short_form);
    EXPECT_EQ((*short_form)->rtmp, "[2001:db8::1]:1935");
    EXPECT_TRUE((*short_form)->http.empty() && (*short_form)->api.empty()) << "malformed addresses are skipped";
    EXPECT_FALSE(*parse_cluster_answer(200, answer_with("null")));
}

TEST(ClusterAnswer, RejectsAnyOtherAnswer) {
    EXPECT_EQ(parse_cluster_answer(500, answer_with("null")).code(), Errc::malformed);
    const std::string wrong[] = {"",
                                 "[]",
                                 "null",
                                 "0",
                                 R"({"code":0})",
                                 R"({"code":1,"data":{"origin":null}})",
                                 R"({"code":"0","data":{"origin":null}})",
                                 R"({"code":0,"data":[]})",
                                 R"({"code":0,"data":{}})",
                                 answer_with("1"),
                                 answer_with("{}"),
                                 answer_with(R"({"ip":"h"})"),
                                 answer_with(R"({"ip":"h","port":0})"),
                                 answer_with(R"({"ip":"h","port":65536})"),
                                 answer_with(R"({"ip":"h","port":-1})"),
                                 answer_with(R"({"ip":"h","port":1.5})"),
                                 answer_with(R"({"ip":"h","port":"1935"})"),
                                 answer_with(R"({"ip":"h:1","port":1935})"),
                                 answer_with(R"({"ip":"h/x","port":1935})"),
                                 answer_with(R"({"ip":"h\r\nX: y","port":1935})"),
                                 answer_with(R"({"ip":"","port":1935})"),
                                 answer_with(std::string(10'000, '['))};
    for (const std::string& body : wrong)
        EXPECT_EQ(parse_cluster_answer(200, body).code(), Errc::malformed) << body.substr(0, 200);
    const std::string good = answer_with(R"({"ip":"192.0.2.1","port":19350})");
    for (std::size_t size = 0; size < good.size(); ++size)
        EXPECT_EQ(parse_cluster_answer(200, good.substr(0, size)).code(), Errc::malformed) << size;
}

}  // namespace
}  // namespace live::service::relay
