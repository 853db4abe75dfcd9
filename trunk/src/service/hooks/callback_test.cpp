#include "service/hooks/callback.hpp"

#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace live::service::hooks {
namespace {

using Json = nlohmann::json;

const ServerIdentity kServer{"vid-4k2m9xa", "s7d01k2p"};

Subject subject() {
    Subject made;
    session::ClientRequest& request = made.request;
    request.id = "k3x9q0ab";
    request.ip = "203.0.113.7";
    request.vhost = "203.0.113.1";
    request.app = "live";
    request.stream = "cam1";
    request.param = "?token=abc&salt=1";
    request.tc_url = "rtmp://203.0.113.1/live?vhost=x";
    request.page_url = "http://pages.example.com/p.html";
    made.vhost = "__defaultVhost__";
    made.stream_url = "/live/cam1";
    return made;
}

Json body(Action action, const Details& details = {}) { return Json::parse(body_of(action, kServer, subject(), details)); }

std::set<std::string> keys_of(const Json& object) {
    std::set<std::string> keys;
    for (const auto& [key, value] : object.items())
        keys.insert(key);
    return keys;
}

std::set<std::string> with_common(std::set<std::string> keys) {
    keys.merge(std::set<std::string>{"server_id", "service_id", "action", "client_id", "ip", "vhost", "app"});
    return keys;
}

TEST(CallbackBody, HasExactlyTheMembersOfItsAction) {
    const std::set<std::string> stream{"tcUrl", "stream", "param", "stream_url", "stream_id"};
    std::set<std::string> play = stream;
    play.insert("pageUrl");
    EXPECT_EQ(keys_of(body(Action::on_connect)), with_common({"tcUrl", "pageUrl", "stream", "param"}));
    EXPECT_EQ(keys_of(body(Action::on_close)), with_common({"send_bytes", "recv_bytes"}));
    EXPECT_EQ(keys_of(body(Action::on_publish)), with_common(stream));
    EXPECT_EQ(keys_of(body(Action::on_unpublish)), with_common(stream));
    EXPECT_EQ(keys_of(body(Action::on_play)), with_common(play));
    EXPECT_EQ(keys_of(body(Action::on_stop)), with_common(stream));
    EXPECT_EQ(keys_of(body(Action::on_forward)), with_common({"tcUrl", "stream", "param"}));
}

TEST(CallbackBody, HasFileAndErrorOfARecording) {
    Json whole = Json::parse(body_of(RecordedFile{"/srv", "./rec/x.flv", ""}, kServer, subject(), "vid-9a0b1c2"));
    EXPECT_EQ(keys_of(whole), with_common({"tcUrl", "stream", "param", "cwd", "file", "stream_url", "stream_id"}));
    EXPECT_EQ(whole["action"], "on_dvr");
    EXPECT_EQ(whole["cwd"], "/srv");
    EXPECT_EQ(whole["file"], "./rec/x.flv");
    EXPECT_EQ(whole["stream_id"], "vid-9a0b1c2");
    const Json failed = Json::parse(body_of(RecordedFile{"/srv", "x", "disk full"}, kServer, subject(), ""));
    EXPECT_EQ(failed["error"], "disk full");
}

TEST(NotifyUrls, ExpandTheTemplates) {
    Fragment fragment;
    fragment.url = "cam-7.ts";
    const auto urls = [&](std::vector<std::string> forms) { return notify_urls(std::move(forms), fragment, kServer, subject()); };
    EXPECT_EQ(urls({"http://a/[app]/[stream]/[ts_url][param]", "http://b/[server_id]/[service_id]"}),
              (std::vector<std::string>{"http://a/live/cam1/cam-7.ts?token=abc&salt=1", "http://b/vid-4k2m9xa/s7d01k2p"}));
    Subject odd = subject();
    odd.request.app = "le caf\xC3\xA9";
    odd.request.stream = R"(a&b "c")";
    EXPECT_EQ(notify_urls({"http://a/[app]/[stream]"}, fragment, kServer, odd),
              std::vector<std::string>{"http://a/le%20caf%C3%A9/a%26b%20%22c%22"});
    EXPECT_TRUE(urls({}).empty());
    fragment.url = "https://cdn.example.com/live/cam-7.ts";
    EXPECT_EQ(urls({"http://a/[ts_url]", "http://b/"}), std::vector<std::string>{fragment.url}) << "once";
    EXPECT_TRUE(urls({}).empty()) << "nobody asked for it";
}

TEST(CallbackBody, HasTheValuesOfTheClient) {
    Details details;
    details.stream_id = "vid-9a0b1c2";
    details.clients = 3;
    const Json play = body(Action::on_play, details);
    EXPECT_EQ(play, Json::parse(R"({"server_id":"vid-4k2m9xa","service_id":"s7d01k2p","action":"on_play",
        "client_id":"k3x9q0ab","ip":"203.0.113.7","vhost":"__defaultVhost__","app":"live","tcUrl":"rtmp://203.0.113.1/live",
        "pageUrl":"http://pages.example.com/p.html","stream":"cam1","param":"?token=abc&salt=1","stream_url":"/live/cam1",
        "stream_id":"vid-9a0b1c2","clients":3})"));
    details.traffic = {.received_bytes = 5'000'000'000, .sent_bytes = 7};
    const Json close = body(Action::on_close, details);
    EXPECT_EQ(close["recv_bytes"], 5'000'000'000);
    EXPECT_EQ(close["send_bytes"], 7);
}

TEST(CallbackBody, ReplacesInvalidUtf8AndEscapesQuotes) {
    Subject rude = subject();
    rude.request.page_url = "\xff\xfe\"}\n";
    rude.request.param = std::string("?a=\0b", 5);
    const Json play = Json::parse(body_of(Action::on_play, kServer, rude, {}));
    EXPECT_EQ(play["pageUrl"], "\xEF\xBF\xBD\xEF\xBF\xBD\"}\n");
    EXPECT_EQ(play["param"], std::string("?a=\0b", 5));
}

TEST(CallbackAnswer, SuccessIsAZeroOrACodeOfZero) {
    for (const int status : {200, 201})
        for (const char* text : {"0", "{\"code\":0}", "{\"code\": 0, \"data\": null}", " {\"code\":0} \n", "{\"code\":-0}"})
            EXPECT_TRUE(check_answer(status, text).ok()) << text;
}

TEST(CallbackAnswer, RefusesEverythingElse) {
    for (const char* text : {"",
                             " 0",
                             "0\n",
                             "00",
                             "1",
                             "-1",
                             "\"0\"",
                             "null",
                             "[]",
                             "[0]",
                             "{}",
                             "{\"code\":\"0\"}",
                             "{\"code\":0.0}",
                             "{\"code\":null}",
                             "{\"code\":false}",
                             "{\"code\":0",
                             "code=0",
                             "<html>0</html>",
                             "{\"Code\":0}",
                             "{\"data\":{\"code\":0}}",
                             "\xff"})
        EXPECT_EQ(check_answer(200, text).code(), Errc::malformed) << text;
    for (const int status : {100, 199, 202, 204, 301, 302, 400, 401, 404, 500, 503})
        EXPECT_EQ(check_answer(status, "0").code(), Errc::malformed) << status;
}

TEST(CallbackAnswer, RefusesEveryTruncationOfASuccess) {
    const std::string_view whole = "{\"code\":0,\"data\":{\"urls\":[\"rtmp://h/live/cam\"]}}";
    ASSERT_TRUE(check_answer(200, whole).ok());
    for (std::size_t size = 0; size < whole.size(); ++size)
        EXPECT_FALSE(check_answer(200, whole.substr(0, size)).ok()) << whole.substr(0, size);
}

TEST(CallbackAnswer, HasTheReasonOfARefusal) {
    const auto sentence = [](const char* text) {
        const auto checked = check_answer(200, text);
        EXPECT_EQ(checked.code(), Errc::denied) << text;
        return checked.error().sentence();
    };
    EXPECT_EQ(sentence("{\"code\":403,\"msg\":\"token expired\"}"), "refused by the callback: token expired (code 403)");
    EXPECT_EQ(sentence("{\"code\":-1,\"message\":\"no\"}"), "refused by the callback: no (code -1)");
    EXPECT_EQ(sentence("{\"code\":18446744073709551615}"), "refused by the callback (code 18446744073709551615)");
    EXPECT_EQ(sentence("{\"code\":1,\"msg\":7}"), "refused by the callback (code 1)");
    EXPECT_EQ(sentence("{\"code\":1,\"msg\":\"a\\nb\\u0000c\"}"), "refused by the callback: a b c (code 1)");
}

TEST(CallbackAnswer, BoundsTheReasonWithoutCuttingACharacter) {
    const auto size = [](const std::string& reason) {
        return check_answer(200, "{\"code\":1,\"msg\":\"" + reason + "\"}").error().sentence().size();
    };
    const std::size_t rest = size("");
    const std::size_t separator = 2;
    EXPECT_EQ(size(std::string(kReasonBytesMax, 'a')), rest + separator + kReasonBytesMax);
    EXPECT_EQ(size(std::string(kReasonBytesMax + 1, 'a')), rest + separator + kReasonBytesMax);
    EXPECT_EQ(size(std::string(kReasonBytesMax - 1, 'a') + "\xC3\xA9"), rest + separator + kReasonBytesMax - 1);
}

TEST(CallbackAnswer, RefusesDeepNesting) {
    for (const char* const piece : {"[", "{\"a\":", "[["}) {
        std::string deep;
        while (deep.size() < (64 << 10))
            deep += piece;
        EXPECT_EQ(check_answer(200, deep).code(), Errc::malformed);
    }
    const std::string nested = std::string(30'000, '[') + std::string(30'000, ']');
    EXPECT_TRUE(check_answer(200, "{\"code\":0,\"data\":" + nested + "}").ok());
}

TEST(ForwardAnswer, ReturnsTheUrls) {
    const auto urls = forward_urls_of(200, "{\"code\":0,\"data\":{\"urls\":[\"rtmp://a/live/cam\",\"rtmp://b/live/cam\"]}}");
    ASSERT_TRUE(urls.ok());
    EXPECT_EQ(*urls, (std::vector<std::string>{"rtmp://a/live/cam", "rtmp://b/live/cam"}));
    EXPECT_TRUE(forward_urls_of(200, "{\"code\":0,\"data\":{\"urls\":[]}}")->empty());
}

TEST(ForwardAnswer, RefusesAnythingElse) {
    for (const char* text : {"0", "{\"code\":0}", "{\"code\":0,\"data\":null}", "{\"code\":0,\"data\":[]}",
                             "{\"code\":0,\"data\":{}}", "{\"code\":0,\"data\":{\"urls\":null}}",
                             "{\"code\":0,\"data\":{\"urls\":\"rtmp://a/b/c\"}}", "{\"code\":0,\"data\":{\"urls\":[7]}}"})
        EXPECT_EQ(forward_urls_of(200, text).code(), Errc::malformed) << text;
    EXPECT_EQ(forward_urls_of(200, "{\"code\":1,\"data\":{\"urls\":[]}}").code(), Errc::denied);
    EXPECT_EQ(forward_urls_of(500, "{\"code\":0,\"data\":{\"urls\":[]}}").code(), Errc::malformed);
}

TEST(ForwardAnswer, BoundsTheNumberOfUrls) {
    const auto count = [](std::size_t number) {
        std::string list;
        for (std::size_t i = 0; i < number; ++i)
            list += std::string(i == 0 ? "" : ",") + "\"rtmp://a/live/" + std::to_string(i) + "\"";
        return forward_urls_of(200, "{\"code\":0,\"data\":{\"urls\":[" + list + "]}}")->size();
    };
    EXPECT_EQ(count(kForwardUrlsMax), kForwardUrlsMax);
    EXPECT_EQ(count(kForwardUrlsMax + 1), kForwardUrlsMax);
}

TEST(CallbackAnswer, MayHaveThePassphraseOfAStream) {
    EXPECT_EQ(granted_by(200, R"({"code":0,"data":{"srt_passphrase":"ten letters"}})")->srt_passphrase, "ten letters");
    EXPECT_EQ(granted_by(200, R"({"code":0,"data":{"srt_passphrase":""}})")->srt_passphrase, "") << "no encryption";
    for (const char* text : {"0", R"({"code":0})", R"({"code":0,"data":null})", R"({"code":0,"data":{"urls":[]}})"})
        EXPECT_EQ(granted_by(200, text)->srt_passphrase, std::nullopt) << text;
    EXPECT_EQ(granted_by(200, R"({"code":0,"data":{"srt_passphrase":"too short"}})").code(), Errc::malformed);
    EXPECT_EQ(granted_by(200, R"({"code":0,"data":{"srt_passphrase":")" + std::string(80, 'x') + R"("}})").code(),
              Errc::malformed);
    EXPECT_TRUE(granted_by(200, R"({"code":0,"data":{"srt_passphrase":")" + std::string(79, 'x') + R"("}})").ok());
    EXPECT_EQ(granted_by(200, R"({"code":0,"data":{"srt_passphrase":7}})").code(), Errc::malformed);
    EXPECT_EQ(granted_by(200, R"({"code":1,"data":{"srt_passphrase":"ten letters"}})").code(), Errc::denied);
}

}  // namespace
}  // namespace live::service::hooks
