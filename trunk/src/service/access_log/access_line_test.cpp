#include "service/access_log/access_line.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace live::service::access_log {
namespace {

using Json = nlohmann::json;

// 2024-05-06 07:08:09.123 UTC.
constexpr std::chrono::system_clock::time_point kTime{std::chrono::milliseconds(1'714'979'289'123)};

session::ClientRequest player() {
    session::ClientRequest request;
    request.id = "k3x9q0ab";
    request.kind = session::ClientKind::flv_play;
    request.protocol = "http-flv";
    request.peer = "10.0.0.7:51544";
    request.ip = "203.0.113.9";
    request.peer_ip = "10.0.0.7";
    request.vhost = "live.example";
    request.app = "live";
    request.stream = "cam";
    request.param = "?token=secret";
    request.tc_url = "rtmp://h/live?token=secret";
    request.page_url = "http://h/?token=secret";
    return request;
}

Visit visit_of(const session::ClientRequest& request) {
    Visit visit{kTime, request, "__defaultVhost__", std::chrono::milliseconds(12'345), {}, Outcome::ended, "the client stopped"};
    visit.figures.received_bytes = 77;
    visit.figures.sent_bytes = 5'000'000'000;
    visit.figures.dropped_packets = 3;
    return visit;
}

TEST(AccessLine, HasAllMembersInOneOrder) {
    const auto request = player();
    EXPECT_EQ(line_of(visit_of(request)),
              R"({"time":"2024-05-06T07:08:09.123Z","id":"k3x9q0ab","protocol":"http-flv","peer":"10.0.0.7:51544",)"
              R"("ip":"203.0.113.9","role":"play","vhost":"__defaultVhost__","app":"live","stream":"cam","duration":12.345,)"
              R"("received_bytes":77,"sent_bytes":5000000000,"dropped_packets":3,"result":"ended","reason":"the client stopped"})"
              "\n");
}

TEST(AccessLine, HasRoleAndResult) {
    auto request = player();
    const auto said = [&request](session::ClientKind kind, Outcome outcome) {
        request.kind = kind;
        Visit visit = visit_of(request);
        visit.outcome = outcome;
        const Json line = Json::parse(line_of(visit));
        return line["role"].get<std::string>() + " " + line["result"].get<std::string>();
    };
    EXPECT_EQ(said(session::ClientKind::fmle_publish, Outcome::failed), "publish failed");
    EXPECT_EQ(said(session::ClientKind::rtmp_play, Outcome::refused), "play refused");
    EXPECT_EQ(said(session::ClientKind::unknown, Outcome::refused), "unknown refused");
}

TEST(AccessLine, DurationsHaveMilliseconds) {
    const auto request = player();
    for (const auto& [duration, wanted] :
         {std::pair{0, "\"duration\":0.0,"}, {1, "\"duration\":0.001,"}, {86'400'007, "\"duration\":86400.007,"}}) {
        Visit visit = visit_of(request);
        visit.duration = std::chrono::milliseconds(duration);
        EXPECT_NE(line_of(visit).find(wanted), std::string::npos) << line_of(visit);
    }
}

TEST(AccessLine, StaysOneLineOfJsonWithHostileNames) {
    auto request = player();
    request.stream = "a\"b\\c\nd\x01 \xC3\xA4 \xFF";
    const std::string line = line_of(visit_of(request));
    EXPECT_EQ(line.find('\n'), line.size() - 1);
    EXPECT_NE(line.find(R"("stream":"a\"b\\c\nd\u0001 )"), std::string::npos) << line;
    EXPECT_EQ(Json::parse(line)["stream"], "a\"b\\c\nd\x01 \xC3\xA4 \xEF\xBF\xBD");
}

TEST(AccessLine, EscapesTerminalControlCharacters) {
    auto request = player();
    request.stream =
        "a\xC2\x9B"
        "31m\xE2\x80\xA8\xE2\x80\xAE\x7F";
    const std::string line = line_of(visit_of(request));
    EXPECT_NE(line.find(R"("stream":"a\u009b31m\u2028\u202e\u007f")"), std::string::npos) << line;
    EXPECT_EQ(Json::parse(line)["stream"], request.stream);
}

TEST(AccessLine, HidesStreamKeys) {
    const auto request = player();
    EXPECT_EQ(line_of(visit_of(request)).find("secret"), std::string::npos);
}

TEST(AccessLine, IsBoundedAndStaysJsonAtTheBound) {
    auto request = player();
    const std::string fits(kTextBytesMax, '\x1F');
    for (std::string* text : {&request.id, &request.protocol, &request.peer, &request.ip, &request.app, &request.stream})
        *text = fits + "cut";
    Visit visit = visit_of(request);
    const std::string longer = fits + "cut";
    visit.vhost = longer;
    visit.reason = longer;
    visit.duration = std::chrono::milliseconds::max();
    visit.figures = {UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, {}};
    const std::string line = line_of(visit);
    EXPECT_LE(line.size(), kLineBytesMax);
    EXPECT_GT(line.size(), kLineBytesMax - 512);
    EXPECT_EQ(Json::parse(line)["reason"], fits);
}

}  // namespace
}  // namespace live::service::access_log
