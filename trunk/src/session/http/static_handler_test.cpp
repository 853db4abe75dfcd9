#include "session/http/static_handler.hpp"

#include <array>
#include <filesystem>
#include <fstream>
#include <memory>

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/bytes/hex_fixture.hpp"
#include "engine/http1/parser.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/wait_fixture.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/self_signed.hpp"
#include "io/tls/tls_context.hpp"
#include "io/tls/tls_stream.hpp"
#include "session/http/acceptor.hpp"
#include "session/http/flv_start.hpp"
#include "session/http/mime.hpp"

namespace live::session::http {
namespace {

namespace fs = std::filesystem;
using io::kSoon;

class OneFolder final : public FileRoots {
public:
    std::optional<FilePlace> find(const Request& request) const override {
        if (request.path().starts_with("/none/"))
            return std::nullopt;
        return FilePlace{folder, request.path()};
    }
    std::string folder;
};

// Files over a loopback connection.
struct StaticHandlerTest : ::testing::Test {
    StaticHandlerTest() {
        char name[] = "/tmp/live_static_test.XXXXXX";
        roots.folder = ::mkdtemp(name);
        router.add("/", handler);
        write("a.txt", "0123456789");
        write("index.html", "<p>root");
        write("sub/index.html", "<p>sub");
        fs::create_directories(roots.folder + "/bare");
        acceptor = std::make_unique<Acceptor>(MUST(io::TcpListener::listen({"127.0.0.1", 0})), nullptr, context, places,
                                              ConnectionLimits::Kind::client, connections, log);
        MUST(listeners.start("listener", [this](io::Deadline forever) { acceptor->run(forever); }));
    }
    ~StaticHandlerTest() override {
        EXPECT_TRUE(listeners.stop(io::Deadline::after(kSoon)).ok());
        EXPECT_TRUE(connections.stop(io::Deadline::after(kSoon)).ok());
        fs::remove_all(roots.folder);
    }
    void write(const std::string& path, const std::string& text) const {
        fs::create_directories(fs::path(roots.folder + "/" + path).parent_path());
        std::ofstream(roots.folder + "/" + path, std::ios::binary) << text;
    }
    engine::http1::Response ask(const std::string& target, const std::string& headers = "", const std::string& method = "GET") {
        using engine::http1::ResponseParser;
        const auto stream = MUST(io::TcpStream::connect(acceptor->listener().endpoint(), io::Deadline::after(kSoon)));
        const std::string text = method + " " + target + " HTTP/1.1\r\nHost: h\r\n" + headers + "Connection: close\r\n\r\n";
        MUST(stream->write_all(std::array{io::as_part(as_bytes(text))}, io::Deadline::after(kSoon)));
        ResponseParser parser(method == "HEAD" ? ResponseParser::RequestWas::head : ResponseParser::RequestWas::other,
                              {.body_bytes = 64 << 20});
        std::array<std::uint8_t, 4096> buffer;
        for (;;) {
            const auto count = stream->read_some(buffer, io::Deadline::after(kSoon));
            if (!count.ok())
                return {};
            MUST(parser.feed(Bytes(buffer).first(*count)));
            if (auto response = parser.next())
                return *response;
        }
    }

    // Requests a file whose response the caller reads.
    std::unique_ptr<io::TcpStream> begin(const std::string& target) {
        auto stream = MUST(io::TcpStream::connect(acceptor->listener().endpoint(), io::Deadline::after(kSoon)));
        const std::string text = "GET " + target + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        MUST(stream->write_all(std::array{io::as_part(as_bytes(text))}, io::Deadline::after(kSoon)));
        MUST(stream->wait_readable(io::Deadline::after(kSoon)));
        return stream;
    }
    // The number of bytes until the server closes the connection.
    static std::size_t rest_of(io::Stream& stream) {
        std::vector<std::uint8_t> buffer(64 * 1024);
        std::size_t sum = 0;
        for (;;) {
            const auto count = stream.read_some(buffer, io::Deadline::after(kSoon));
            if (!count.ok()) {
                EXPECT_EQ(count.code(), Errc::closed);
                return sum;
            }
            sum += *count;
        }
    }

    std::unique_ptr<io::Loop> loop = *io::Loop::create();
    std::vector<std::uint8_t> scratch = std::vector<std::uint8_t>(64 * 1024);
    Log log;
    OneFolder roots;
    StaticHandler handler{roots};
    Router router;
    Context context{.router = router, .scratch = scratch, .server = "S/1", .auth = {}, .limits = {}};
    ConnectionLimits places{10, log};
    io::Scope connections{"connections"};
    io::Scope listeners{"listeners"};
    std::unique_ptr<Acceptor> acceptor;
};

TEST_F(StaticHandlerTest, ReturnsWholeFilesWithHeaders) {
    const auto response = ask("/a.txt");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.body, "0123456789");
    EXPECT_EQ(response.headers.find("Content-Type"), "text/plain");
    EXPECT_EQ(response.headers.find("Content-Length"), "10");
    EXPECT_EQ(response.headers.find("Accept-Ranges"), "bytes");
    EXPECT_EQ(response.headers.find("Server"), "S/1");
    EXPECT_TRUE(response.headers.find("ETag"));
    EXPECT_TRUE(response.headers.find("Last-Modified"));
    EXPECT_FALSE(response.headers.find("Cache-Control"));
    EXPECT_EQ(ask("/").headers.find("Cache-Control"), "no-cache");
    write("empty.bin", "");
    const auto empty = ask("/empty.bin");
    EXPECT_EQ(empty.status, 200);
    EXPECT_EQ(empty.headers.find("Content-Length"), "0");
    EXPECT_EQ(empty.headers.find("Content-Type"), "application/octet-stream");
}

TEST_F(StaticHandlerTest, AFolderIsItsIndexAndNeverAList) {
    EXPECT_EQ(ask("/").body, "<p>root");
    EXPECT_EQ(ask("/sub/").body, "<p>sub");
    const auto redirect = ask("/sub?x=%20");
    EXPECT_EQ(redirect.status, 302);
    EXPECT_EQ(redirect.headers.find("Location"), "/sub/?x=%20");
    fs::create_directories(roots.folder + "/a b");
    EXPECT_EQ(ask("//a%20b").headers.find("Location"), "/a%20b/") << "two slashes would name another host";
    EXPECT_EQ(ask("/bare/").status, 404);
    fs::create_directories(roots.folder + "/odd/index.html");
    EXPECT_EQ(ask("/odd/").status, 404);
}

TEST_F(StaticHandlerTest, BrowsersGetTheFoldersPageForMissingFiles) {
    constexpr const char* kBrowser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";
    EXPECT_EQ(ask("/missing", kBrowser).headers.find("Content-Type"), "text/plain") << "there is no page";
    write("404.html", "<p>nothing here");
    for (const char* path : {"/missing", "/sub/missing.html", "/bare/"}) {
        const auto page = ask(path, kBrowser);
        EXPECT_EQ(page.status, 404) << path;
        EXPECT_EQ(page.body, "<p>nothing here") << path;
        EXPECT_EQ(page.headers.find("Content-Type"), "text/html") << path;
    }
    EXPECT_EQ(ask("/missing").headers.find("Content-Type"), "text/plain") << "a program";
    EXPECT_EQ(ask("/missing", "Accept: */*\r\n").headers.find("Content-Type"), "text/plain");
    EXPECT_EQ(ask("/missing", kBrowser, "HEAD").status, 404);
    write("404.html", std::string(100'000, 'x'));
    EXPECT_EQ(ask("/missing", kBrowser).headers.find("Content-Type"), "text/plain") << "it is too long";
}

TEST_F(StaticHandlerTest, MissingAndOutsideFilesGetTheSameAnswer) {
    fs::create_symlink("/etc/passwd", roots.folder + "/out");
    const auto missing = ask("/missing.txt");
    EXPECT_EQ(missing.status, 404);
    EXPECT_EQ(missing.headers.find("Content-Type"), "text/plain");
    for (const char* path : {"/out", "/none/x", "/a.txt/x", "/sub/./missing"})
        EXPECT_EQ(ask(path).status, 404) << path;
    EXPECT_EQ(ask("/out").body, missing.body);
    for (const char* path : {"/../a.txt", "/%2e%2e/a.txt", "/sub/..%2f..%2fa.txt", "/a.txt%00.html"})
        EXPECT_EQ(ask(path).status, 400) << path;
}

TEST_F(StaticHandlerTest, OnlyGetAndHeadReadFiles) {
    const auto head = ask("/a.txt", "", "HEAD");
    EXPECT_EQ(head.status, 200);
    EXPECT_EQ(head.headers.find("Content-Length"), "10");
    EXPECT_EQ(head.body, "");
    for (const char* method : {"PUT", "DELETE"})
        EXPECT_EQ(ask("/a.txt", "", method).status, 405);
    const auto posted = ask("/a.txt", "Content-Length: 0\r\n", "POST");
    EXPECT_EQ(posted.status, 405);
    EXPECT_EQ(posted.headers.find("Allow"), "GET, HEAD, OPTIONS");
}

TEST_F(StaticHandlerTest, GivesRanges) {
    const auto part = ask("/a.txt", "Range: bytes=2-4\r\n");
    EXPECT_EQ(part.status, 206);
    EXPECT_EQ(part.body, "234");
    EXPECT_EQ(part.headers.find("Content-Range"), "bytes 2-4/10");
    EXPECT_EQ(part.headers.find("Content-Length"), "3");
    EXPECT_EQ(ask("/a.txt", "Range: bytes=-3\r\n").body, "789");
    EXPECT_EQ(ask("/a.txt?range=1-2").body, "12");
    EXPECT_EQ(ask("/a.txt?bytes=8-").body, "89");
    EXPECT_EQ(ask("/a.txt", "Range: bytes=0-1,4-5\r\n").status, 200);
    const auto behind = ask("/a.txt", "Range: bytes=10-\r\n");
    EXPECT_EQ(behind.status, 416);
    EXPECT_EQ(behind.headers.find("Content-Range"), "bytes */10");
}

TEST_F(StaticHandlerTest, ARangeIsOnlyOfTheFileThatWasBegun) {
    const std::string tag(*ask("/a.txt").headers.find("ETag"));
    const std::string date(*ask("/a.txt").headers.find("Last-Modified"));
    EXPECT_EQ(ask("/a.txt", "Range: bytes=2-4\r\nIf-Range: " + tag + "\r\n").status, 206);
    EXPECT_EQ(ask("/a.txt", "Range: bytes=2-4\r\nIf-Range: " + date + "\r\n").status, 206);
    EXPECT_EQ(ask("/a.txt", "Range: bytes=2-4\r\nIf-Range: \"other\"\r\n").status, 200);
    EXPECT_EQ(ask("/a.txt", "Range: bytes=2-4\r\nIf-Range: Sun, 06 Nov 1994 08:49:37 GMT\r\n").status, 200);
}

TEST_F(StaticHandlerTest, AClientThatHasItGetsNotModified) {
    const auto first = ask("/a.txt");
    const std::string tag(*first.headers.find("ETag"));
    const std::string date(*first.headers.find("Last-Modified"));
    const auto again = ask("/a.txt", "If-None-Match: \"x\", " + tag + "\r\n");
    EXPECT_EQ(again.status, 304);
    EXPECT_EQ(again.body, "");
    EXPECT_EQ(again.headers.find("ETag"), tag);
    EXPECT_FALSE(again.headers.find("Content-Length"));
    EXPECT_EQ(ask("/a.txt", "If-Modified-Since: " + date + "\r\n").status, 304);
    EXPECT_EQ(ask("/a.txt", "If-Modified-Since: Sun, 06 Nov 1994 08:49:37 GMT\r\n").status, 200);
    EXPECT_EQ(ask("/a.txt", "If-None-Match: \"x\"\r\nIf-Modified-Since: " + date + "\r\n").status, 200) << "the tag wins";
    EXPECT_EQ(ask("/a.txt", "If-Modified-Since: yesterday\r\n").status, 200);
    write("a.txt", "other");
    EXPECT_EQ(ask("/a.txt", "If-None-Match: " + tag + "\r\n").body, "other");
}

TEST_F(StaticHandlerTest, AFileLargerThanEveryBufferArrivesWhole) {
    std::string text;
    text.reserve(9 << 20);
    for (std::uint32_t i = 0; text.size() < (9 << 20); ++i)
        text += std::to_string(i) + ",";
    write("large.bin", text);
    EXPECT_TRUE(ask("/large.bin").body == text);
    EXPECT_TRUE(ask("/large.bin?range=1000000-8999999").body == text.substr(1'000'000, 8'000'000));
}

TEST_F(StaticHandlerTest, AFileTruncatedWhileItIsSentEndsTheConnection) {
    constexpr std::size_t kSize = 32 << 20;  // more than both sockets hold
    write("large.bin", std::string(kSize, 'x'));
    const auto stream = begin("/large.bin");
    fs::resize_file(roots.folder + "/large.bin", 1 << 20);
    EXPECT_LT(rest_of(*stream), kSize);
    EXPECT_EQ(ask("/a.txt").body, "0123456789");
    EXPECT_EQ(ask("/large.bin").body.size(), std::size_t{1} << 20);
}

TEST_F(StaticHandlerTest, AFileRemovedWhileItIsSentArrivesWhole) {
    constexpr std::size_t kSize = 32 << 20;
    write("large.bin", std::string(kSize, 'x'));
    const auto stream = begin("/large.bin");
    fs::remove(roots.folder + "/large.bin");
    EXPECT_GE(rest_of(*stream), kSize);
    EXPECT_EQ(ask("/large.bin").status, 404);
}

TEST_F(StaticHandlerTest, SendsFilesOverTls) {
    const std::string certificate = roots.folder + "/a.crt";
    const std::string key = roots.folder + "/a.key";
    MUST(io::make_self_signed(certificate, key));
    const auto server = MUST(io::TlsContext::server(certificate, key));
    const auto client = MUST(io::TlsContext::client(io::TlsVerify::none));
    Acceptor secured(MUST(io::TcpListener::listen({"127.0.0.1", 0})), server.get(), context, places,
                     ConnectionLimits::Kind::client, connections, log);
    io::Scope scope("secured");
    MUST(scope.start("listener", [&](io::Deadline forever) { secured.run(forever); }));
    const auto begin_secured = [&](const std::string& target) {
        auto tcp = MUST(io::TcpStream::connect(secured.listener().endpoint(), io::Deadline::after(kSoon)));
        auto stream = MUST(io::TlsStream::connect(std::move(tcp), *client, "localhost", io::Deadline::after(kSoon)));
        const std::string text = "GET " + target + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n";
        MUST(stream->write_all(std::array{io::as_part(as_bytes(text))}, io::Deadline::after(kSoon)));
        return stream;
    };
    std::string text(9'000'001, '\0');
    for (std::size_t i = 0; i < text.size(); ++i)
        text[i] = static_cast<char>(i * 31 + i / 251);
    write("large.bin", text);
    const auto stream = begin_secured("/large.bin");
    std::string got;
    std::vector<std::uint8_t> buffer(64 * 1024);
    for (auto count = stream->read_some(buffer, io::Deadline::after(kSoon)); count.ok();
         count = stream->read_some(buffer, io::Deadline::after(kSoon)))
        got += as_text(Bytes(buffer).first(*count));
    EXPECT_TRUE(got.substr(got.find("\r\n\r\n") + 4) == text);
    constexpr std::size_t kSize = 32 << 20;
    write("large.bin", std::string(kSize, 'x'));
    const auto cut = begin_secured("/large.bin");
    MUST(cut->read_some(buffer, io::Deadline::after(kSoon)));
    fs::resize_file(roots.folder + "/large.bin", 1 << 20);
    EXPECT_LT(rest_of(*cut), kSize);
    EXPECT_TRUE(scope.stop(io::Deadline::after(kSoon)).ok());
    EXPECT_TRUE(connections.stop(io::Deadline::after(kSoon)).ok());
}

TEST_F(StaticHandlerTest, SendsTheNewFileAfterAReplacement) {
    EXPECT_EQ(ask("/a.txt").body, "0123456789");
    write("new", "replaced");
    fs::rename(roots.folder + "/new", roots.folder + "/a.txt");
    EXPECT_EQ(ask("/a.txt").body, "replaced");
    write("a.txt", "rewritten");
    EXPECT_EQ(ask("/a.txt").body, "rewritten");
    fs::remove(roots.folder + "/a.txt");
    EXPECT_EQ(ask("/a.txt").status, 404);
}

TEST_F(StaticHandlerTest, FlvStartsInTheMiddleWithConfigurations) {
    const auto text = [](std::string_view digits) {
        const auto bytes = hex(digits);
        return std::string(as_text(bytes));
    };
    const std::string begin = text("464c5601 05 00000009 00000000");
    const std::string video = text("09 000009 000000 00 000000 17 00 000000 01640028 00000014");
    const std::string audio = text("08 000004 000000 00 000000 af 00 1210 0000000f");
    const std::string rest = text("09 000006 000028 00 000000 17 01 000000 aa 00000011");
    write("v.flv", begin + video + audio + rest);
    const std::size_t at = begin.size() + video.size() + audio.size();
    const auto response = ask("/v.flv?start=" + std::to_string(at));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.headers.find("Content-Type"), "video/x-flv");
    EXPECT_TRUE(response.body == begin + video + audio + rest);
    EXPECT_TRUE(ask("/v.flv?start=0").body == begin + video + audio + rest);
    EXPECT_TRUE(ask("/v.flv?start=x").body == begin + video + audio + rest);
    EXPECT_EQ(ask("/v.flv?start=100000").status, 416);
    EXPECT_EQ(ask("/a.txt?start=5").body, "0123456789") << "only FLV files start in the middle";
    write("no.flv", "0123456789");
    EXPECT_EQ(ask("/no.flv?start=5").body, "56789");
}

TEST(FlvPreamble, LeavesOutEverythingButHeadersAndMetadata) {
    const auto file =
        hex("464c5601 05 00000009 00000000"
            "12 000001 000005 00 000000 02 0000000c"          // metadata, at 5 ms
            "12 000001 000005 00 000000 03 0000000c"          // continuation of it
            "08 000003 000000 00 000000 af 01 21 0000000e"    // audio before its header
            "08 000004 000007 00 000000 af 00 1210 0000000f"  // audio header
            "09 000009 000000 00 000000 17 00 000000 01640028 00000014"
            "09 000006 000028 00 000000 17 01 000000 aa 00000011");
    const auto wanted =
        hex("464c5601 05 00000009 00000000"
            "12 000001 000000 00 000000 02 0000000c"
            "08 000004 000000 00 000000 af 00 1210 0000000f"
            "09 000009 000000 00 000000 17 00 000000 01640028 00000014");
    EXPECT_EQ(flv_preamble(file), wanted);
    for (std::size_t size = 0; size < file.size(); ++size) {
        const auto cut = flv_preamble(Bytes(file).first(size));
        EXPECT_TRUE(std::equal(cut.begin(), cut.end(), wanted.begin())) << size;
    }
    EXPECT_TRUE(flv_preamble(hex("00112233445566778899")).empty());
}

TEST(Mime, KnowsEndings) {
    EXPECT_EQ(mime_of("/live/cam.ts"), "video/MP2T");
    EXPECT_EQ(mime_of("cam.m3u8"), "application/vnd.apple.mpegurl");
    EXPECT_EQ(mime_of("cam.FLV"), "video/x-flv");
    EXPECT_EQ(mime_of("a.mp4"), "video/mp4");
    EXPECT_EQ(mime_of("a.m4v"), "video/x-m4v");
    EXPECT_EQ(mime_of("a.m4s"), "video/iso.segment");
    EXPECT_EQ(mime_of("a.mpd"), "application/dash+xml");
    EXPECT_EQ(mime_of("a.html"), "text/html");
    EXPECT_EQ(mime_of("a.js"), "text/javascript");
    EXPECT_EQ(mime_of("a.b/c"), "application/octet-stream");
    EXPECT_EQ(mime_of(""), "application/octet-stream");
    EXPECT_EQ(mime_of("."), "application/octet-stream");
    EXPECT_TRUE(is_changing("/live/cam.m3u8"));
    EXPECT_FALSE(is_changing("/live/cam-1.ts"));
}

}  // namespace
}  // namespace live::session::http
