#include "service/relay/upstream/upstream_request.hpp"

#include <gtest/gtest.h>

namespace live::service::relay {
namespace {

using session::ClientKind;

session::ClientRequest player(std::string param) {
    session::ClientRequest request;
    request.app = "live";
    request.stream = "cam";
    request.param = std::move(param);
    return request;
}

const Node kNode{"vid-1", "Millrace/7", "7.1.0", 42};

TEST(UpstreamRequest, RequestsSameStreamWithClientsQuery) {
    const auto wanted = wanted_from({"192.0.2.1", 19350}, player("?token=x&vhost=a.example&b=2"), "__defaultVhost__", {});
    const auto request = rtmp_request(wanted, {}, kNode, {"vid-1", "proof"});
    EXPECT_EQ(request.tc_url, "rtmp://192.0.2.1:19350/live");
    EXPECT_EQ(request.app, "live");
    EXPECT_EQ(request.stream, "cam?token=x&b=2");
    EXPECT_EQ(request.connect_arguments.find("millrace_path")->string(), "vid-1");
    EXPECT_EQ(request.connect_arguments.find("srs_id")->string(), "vid-1");
    EXPECT_EQ(request.connect_arguments.find("millrace_proof")->string(), "proof");
    EXPECT_EQ(request.connect_arguments.find("millrace_traceparent"), nullptr);
}

TEST(UpstreamRequest, NamesTheTraceIfThereIsOne) {
    const auto wanted = wanted_from({"192.0.2.1", 8080, Scheme::http}, player(""), "__defaultVhost__", {});
    const Introduction introduction{.path = "vid-1", .trace_parent = "00-1-2-01"};
    EXPECT_EQ(rtmp_request(wanted, {}, kNode, introduction).connect_arguments.find("millrace_traceparent")->string(),
              "00-1-2-01");
    EXPECT_NE(flv_request(wanted, kNode, introduction).find("\r\ntraceparent: 00-1-2-01\r\n"), std::string::npos);
    EXPECT_EQ(flv_request(wanted, kNode, {"vid-1"}).find("traceparent"), std::string::npos);
}

// Some server reads each query as a virtual host. In each protocol, the requested stream is the one that the client was admitted
// to.
TEST(UpstreamRequest, KeepsVirtualHostForAnyClientQuery) {
    const char* queries[] = {
        "?vhost=open&domain=protected",  "?x?vhost=protected",    "?x#vhost=protected",  "?v%68ost=protected",
        "?x=1...vhost...protected",      "??domain=protected",    "?/vhost=protected",   "?v%2568ost=protected",
        "?vhost=open&v%68ost=protected", "?x?d%6Fmain=protected", "?VHost=protected&a&", "vhost=protected"};
    for (const char* query : queries)
        for (const char* vhost : {"__defaultVhost__", "open"}) {
            const bool is_default = std::string_view(vhost) != "open";
            const auto rtmp = rtmp_request(wanted_from({"192.0.2.1", 1935}, player(query), vhost, {}), {}, kNode, {"p"});
            EXPECT_EQ(rtmp.connect_arguments.find("millrace_vhost")->string(), is_default ? "192.0.2.1" : "open") << query;
            EXPECT_EQ(rtmp.stream.find("protected"), std::string::npos) << query;
            const auto flv = flv_request(wanted_from({"192.0.2.1", 80, Scheme::http}, player(query), vhost, {}), kNode, {"p"});
            EXPECT_NE(flv.find(is_default ? "\r\nX-Millrace-Vhost: 192.0.2.1\r\n" : "\r\nX-Millrace-Vhost: open\r\n"),
                      std::string::npos);
            EXPECT_EQ(flv.find("protected"), std::string::npos) << query;
            const auto srt = MUST(
                srt_request(wanted_from({"h", 9000, Scheme::srt}, player(query), vhost, {}), session::srt::Mode::request, "p"));
            EXPECT_EQ(srt.stream_id.find("protected"), std::string::npos) << query;
        }
    const auto worker = wanted_from(worker_origin(2), player("?domain=protected"), "__defaultVhost__", {});
    const auto asked = rtmp_request(worker, {}, kNode, {"p", "", {}, "/live/cam"});
    EXPECT_EQ(asked.connect_arguments.find("millrace_vhost")->string(), "__defaultVhost__");
    EXPECT_EQ(asked.connect_arguments.find("millrace_url")->string(), "/live/cam");
    EXPECT_EQ(asked.stream, "cam");
}

TEST(UpstreamRequest, NamesClusterNode) {
    const auto wanted = wanted_from({"192.0.2.1", 19350}, player(""), "__defaultVhost__", {});
    Node node = kNode;
    EXPECT_EQ(rtmp_request(wanted, {}, node, {"vid-1"}).connect_arguments.find("millrace_node"), nullptr);
    node.cluster_node = "n1";
    EXPECT_EQ(rtmp_request(wanted, {}, node, {"vid-1"}).connect_arguments.find("millrace_node")->string(), "n1");
}

TEST(UpstreamRequest, HasAgeOfNewestPacket) {
    const auto wanted = wanted_from({"192.0.2.1", 19350}, player(""), "__defaultVhost__", {});
    EXPECT_EQ(rtmp_request(wanted, {}, kNode, {"vid-1"}).connect_arguments.find("millrace_has"), nullptr);
    const auto at = std::chrono::milliseconds(340);
    EXPECT_EQ(rtmp_request(wanted, {}, kNode, {"vid-1", "", at}).connect_arguments.find("millrace_has")->string(), "340");
    EXPECT_NE(flv_request(wanted, kNode, {"vid-1", "", at}).find("\r\nX-Millrace-Has: 340\r\n"), std::string::npos);
}

TEST(UpstreamRequest, NamesVirtualHostAtOrigin) {
    ClusterOptions options;
    options.debug_srs_upnode = false;
    const auto request = [&](const Origin& origin, const std::string& vhost) {
        return rtmp_request(wanted_from(origin, player(""), vhost, options), options, kNode, {"p"});
    };
    const Origin origin{"192.0.2.1", 1935};
    EXPECT_EQ(request(origin, "edge.example").tc_url, "rtmp://edge.example/live");
    options.vhost = "origin-[vhost]";
    EXPECT_EQ(request(origin, "edge.example").tc_url, "rtmp://origin-edge.example/live");
    EXPECT_EQ(request(origin, "edge.example").stream, "cam");
    EXPECT_EQ(request(origin, "edge.example").connect_arguments.find("srs_id"), nullptr);
    options.vhost = "[vhost]";
    EXPECT_EQ(request({"2001:db8::1", 1935, Scheme::rtmps}, "__defaultVhost__").tc_url, "rtmps://[2001:db8::1]:1935/live");
}

std::string stream_id_for(const std::string& param, const std::string& vhost = "__defaultVhost__", const std::string& query = "",
                          const std::string& path = "vid-1") {
    const Origin origin{"h", 9000, Scheme::srt, false, "", query};
    return MUST(srt_request(wanted_from(origin, player(param), vhost, {}), session::srt::Mode::request, path)).stream_id;
}

TEST(SrtRequest, StreamIdHasClientsQueryAndPath) {
    EXPECT_EQ(stream_id_for(""), "#!::r=live/cam,m=request,millrace_path=vid-1");
    EXPECT_EQ(stream_id_for("?token=x&vhost=a.example&b=1=2", "v.example", "", "vid-0,vid-1"),
              "#!::h=v.example,r=live/cam,m=request,token=x,b=1=2,millrace_path=vid-0:vid-1");
    const Origin origin{"h", 9000, Scheme::srt, false, "", "?passphrase=a%20passphrase&pbkeylen=32&latency=200"};
    const Wanted wanted = wanted_from(origin, player(""), "__defaultVhost__", {});
    const auto call = MUST(srt_request(wanted, session::srt::Mode::publish, "vid-1"));
    EXPECT_EQ(call.stream_id, "#!::r=live/cam,m=publish,millrace_path=vid-1");
    EXPECT_EQ(call.passphrase, "a passphrase");
    EXPECT_EQ(call.key_bytes, 32U);
    EXPECT_EQ(call.latency, 200ms);
}

TEST(SrtRequest, KeepsConfiguredStreamId) {
    EXPECT_EQ(stream_id_for("?token=x", "__defaultVhost__", "?streamid=read:[app]/[stream]:::[param]"),
              "read:live/cam:::token=x");
    EXPECT_EQ(stream_id_for("?token=x", "__defaultVhost__", "?streamid=camera"), "camera");
}

// Otherwise a client could play a stream that it was not admitted to, or publish.
TEST(SrtRequest, KeepsStreamForAnyClientQuery) {
    EXPECT_EQ(stream_id_for("?r=live/other&m=publish&h=v&t=file&millrace_path=x&ok=1"),
              "#!::r=live/cam,m=request,ok=1,millrace_path=vid-1");
    EXPECT_EQ(stream_id_for("?a=1,r=live/other&b=2?m=publish&c= d"),
              "#!::r=live/cam,m=request,a=1%2Cr=live/other,b=2%3Fm=publish,c=%20d,millrace_path=vid-1");
    Wanted wanted = wanted_from({"h", 9000, Scheme::srt}, player(""), "__defaultVhost__", {});
    wanted.stream = "cam,r=live/other";
    EXPECT_EQ(srt_request(wanted, session::srt::Mode::request, "p").code(), Errc::unsupported);
    wanted = wanted_from({"h", 9000, Scheme::srt}, player("?token=" + std::string(500, 'x')), "__defaultVhost__", {});
    EXPECT_EQ(srt_request(wanted, session::srt::Mode::request, "p").code(), Errc::limit);
}

TEST(FlvRequest, HasQueryPathAndVirtualHost) {
    const Origin origin{"192.0.2.1", 8080, Scheme::http};
    const auto wanted = wanted_from(origin, player("?token=x&vhost=a.example"), "edge.example", {});
    EXPECT_EQ(flv_request(wanted, kNode, {"vid-0,vid-1", "1,2,3,4"}),
              "GET /live/cam.flv?token=x&vhost=edge.example HTTP/1.1\r\nHost: 192.0.2.1:8080\r\nConnection: keep-alive\r\n"
              "User-Agent: Millrace/7\r\nAccept: */*\r\nX-Millrace-Path: vid-0,vid-1\r\nX-Millrace-Vhost: edge.example\r\n"
              "X-Millrace-Proof: 1,2,3,4\r\n"
              "X-Millrace-Marks: 1\r\n\r\n");
    const auto plain = wanted_from({"192.0.2.7", 443, Scheme::https, false, "o.example"}, player(""), "__defaultVhost__", {});
    EXPECT_TRUE(flv_request(plain, kNode, {"p"}).starts_with("GET /live/cam.flv HTTP/1.1\r\nHost: o.example\r\n"));
}

TEST(FlvRequest, EscapesLineEndsInQuery) {
    const auto wanted = wanted_from({"h", 80, Scheme::http}, player("?a=b c\r\nX: y#\"\xC3"), "__defaultVhost__", {});
    EXPECT_TRUE(flv_request(wanted, kNode, {"p"}).starts_with("GET /live/cam.flv?a=b%20c%0D%0AX:%20y%23%22%C3 HTTP/1.1\r\n"));
}

struct RedirectRow {
    const char* url;
    const char* origin;  // nullptr: refused
    const char* vhost = "v";
    const char* app = "live";
    const char* stream = "cam";
    const char* query = "?a=1";
    const char* target = "";
};

TEST(Redirect, IsUrlOfServerOrStream) {
    const RedirectRow rows[] = {
        {"rtmp://b.example/live/cam", "rtmp://b.example:1935"},
        {"rtmp://b.example:19350", "rtmp://b.example:19350"},
        {"rtmp://b.example/other", "rtmp://b.example:1935"},
        {"rtmps://[2001:db8::1]/live/cam2?x=2", "rtmps://[2001:db8::1]:443", "v", "live", "cam2", "?x=2"},
        {"rtmp://b/live/cam?vhost=w&x=2", "rtmp://b:1935", "w", "live", "cam", "?x=2"},
        {"rtmp://b/a/b/c", "rtmp://b:1935", "v", "a/b", "c"},
        {"http://b:8080/x/y.flv?k=1", "http://b:8080", "v", "live", "cam", "?a=1", "/x/y.flv?k=1"},
        {"https://b/x.flv", "https://b:443", "v", "live", "cam", "?a=1", "/x.flv"},
        {"https://b", "https://b:443", "v", "live", "cam", "?a=1", "/"},
        {"http://b:1985/api/v1/raw?rpc=reload", nullptr},
        {"http://b:1985/api/v1/raw?rpc=reload&x=.flv", nullptr},
        {"http://b/x.flv?vhost=w", "http://b:80", "w", "live", "cam", "?a=1", "/x.flv?vhost=w"},
        {"http://b/x.flv?vhost=%00", nullptr},
        {"/other.flv", "http://a.example:80", "v", "live", "cam", "?a=1", "/other.flv"},
        {"", nullptr},
        {"rtmp://", nullptr},
        {"rtmp://b:0/live/cam", nullptr},
        {"rtmp://b/live/../cam", nullptr},
        {"http://", nullptr},
        {"http://user@b/", nullptr},
        {"other.flv", nullptr},
        {"ftp://b/", nullptr},
        {"/a b", nullptr},
    };
    const Wanted from{{"a.example", 80, Scheme::http}, "v", "live", "cam", "?a=1", "/first.flv"};
    for (const RedirectRow& row : rows) {
        const auto to = follow_redirect(from, row.url);
        ASSERT_EQ(to.ok(), row.origin != nullptr) << row.url;
        if (!to.ok())
            continue;
        EXPECT_EQ(to->origin.text(), row.origin) << row.url;
        EXPECT_EQ(to->vhost, row.vhost) << row.url;
        EXPECT_EQ(to->app, row.app) << row.url;
        EXPECT_EQ(to->stream, row.stream) << row.url;
        EXPECT_EQ(to->query, row.query) << row.url;
        EXPECT_EQ(to->target, row.target) << row.url;
    }
    EXPECT_EQ(follow_redirect(from, "rtmp://b/live/" + std::string(kRedirectBytesMax, 'x')).code(), Errc::limit);
    EXPECT_EQ(follow_redirect({worker_origin(2), "v", "live", "cam"}, "rtmp://b/live/cam").code(), Errc::denied);
    EXPECT_FALSE(follow_redirect({{"a", 1935}, "v", "live", "cam"}, "/other.flv").ok()) << "RTMP needs full addresses";
}

TEST(Redirect, KeepsTrustForTheSameStream) {
    const Wanted from{{"192.0.2.1", 1935}, "__defaultVhost__", "live", "cam"};
    const auto keeps = [](const Wanted& one, const char* url) { return keeps_trust(one, MUST(follow_redirect(one, url))); };
    EXPECT_TRUE(keeps(from, "rtmp://192.0.2.2/live/cam"));
    EXPECT_TRUE(keeps(from, "rtmps://192.0.2.2"));
    EXPECT_TRUE(keeps(from, "rtmp://192.0.2.2/live/cam?vhost=192.0.2.1")) << "the origin's own name";
    EXPECT_FALSE(keeps(from, "rtmp://192.0.2.2/live/cam?vhost=w"));
    EXPECT_FALSE(keeps(from, "rtmp://192.0.2.2/live/cam2"));
    EXPECT_FALSE(keeps(from, "rtmp://192.0.2.2/live2/cam"));
    EXPECT_FALSE(keeps({{"192.0.2.1", 443, Scheme::rtmps}, "v", "live", "cam"}, "rtmp://192.0.2.2/live/cam"));
}

TEST(FollowClient, MapsProtocols) {
    session::ClientRequest request = player("");
    request.kind = ClientKind::rtmp_play;
    EXPECT_EQ(protocol_of(request), PullProtocol::rtmp);
    request.kind = ClientKind::flv_play;
    EXPECT_EQ(protocol_of(request), PullProtocol::flv);
    request.is_secure = true;
    EXPECT_EQ(protocol_of(request), PullProtocol::flvs);
    request.kind = ClientKind::hls_play;
    EXPECT_EQ(protocol_of(request), std::nullopt);
}

TEST(RelayPath, GrowsUntilLoopOrLimit) {
    EXPECT_EQ(extend_path("", "a").value(), "a");
    EXPECT_EQ(extend_path("a", "b").value(), "a,b");
    EXPECT_EQ(extend_path("a,b", "a").code(), Errc::denied);
    EXPECT_EQ(extend_path("a,b", "b").code(), Errc::denied);
    EXPECT_TRUE(extend_path("aa,bb", "a").ok()) << "a prefix of a name is another name";
    std::string path;
    for (std::size_t i = 0; i < kHopsMax; ++i)
        path = extend_path(path, "s" + std::to_string(i)).value();
    EXPECT_EQ(extend_path(path, "z").code(), Errc::denied);
    EXPECT_EQ(extend_path(std::string(kPathBytesMax, 'x'), "z").code(), Errc::denied);
    EXPECT_TRUE(extend_path(",,,", "z").ok());
}

}  // namespace
}  // namespace live::service::relay
