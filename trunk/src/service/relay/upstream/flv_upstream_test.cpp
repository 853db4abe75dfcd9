#include "service/relay/upstream/flv_upstream.hpp"

#include <fmt/format.h>

#include <gtest/gtest.h>

#include "media/ring/sync_message.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::service::relay {
namespace {

std::string stream_of(std::initializer_list<std::pair<wire::flv::TagType, std::string>> tags) {
    ByteWriter out;
    wire::flv::write_file_header(out, {true, true});
    std::uint32_t time = 0;
    for (const auto& [type, body] : tags)
        wire::flv::write_tag(out, type, time += 40, as_bytes(body));
    return std::string(as_text(out.release()));
}

const std::string kStream = stream_of({{wire::flv::TagType::script, "meta"},
                                       {wire::flv::TagType::video, "\x17\x01 frame"},
                                       {wire::flv::TagType::audio, "\xAF\x01 sound"}});
const std::string kMedia = "18@40:4 9@80:8 8@120:8 ";
const std::string kPlainHead = "HTTP/1.1 200 OK\r\nContent-Type: video/x-flv\r\nConnection: close\r\n\r\n";

std::string chunked(const std::string& body, std::size_t size) {
    std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < body.size(); at += size) {
        const std::string part = body.substr(at, size);
        char head[16];
        std::snprintf(head, sizeof head, "%zx\r\n", part.size());
        text += head + part + "\r\n";
    }
    return text;
}

// Returns all events of the upstream as text; media as type@time:size.
class FlvEvents {
public:
    FlvEvents() : upstream_("GET / HTTP/1.1\r\n\r\n") { EXPECT_TRUE(upstream_.start({}).ok()); }

    Result<void> feed(std::string_view text, std::size_t piece = std::string::npos) {
        while (!text.empty()) {
            const std::string_view part = text.substr(0, piece);
            text.remove_prefix(part.size());
            const auto handled = upstream_.handle_bytes({}, as_bytes(part));
            drain();
            if (!handled.ok())
                return handled;
        }
        return {};
    }
    Result<void> end() {
        auto ended = upstream_.handle_end();
        drain();
        return ended;
    }
    FlvUpstream& upstream() { return upstream_; }
    const std::string& lines() const { return lines_; }

private:
    void drain() {
        while (auto event = upstream_.poll_event()) {
            if (const auto* media = std::get_if<engine::rtmp::GotMedia>(&*event))
                lines_ += std::to_string(static_cast<int>(media->type)) + "@" + std::to_string(media->timestamp_ms) + ":" +
                          std::to_string(media->payload.bytes().size()) + " ";
            else if (const auto* refused = std::get_if<Refused>(&*event))
                lines_ += "refused: " + refused->sentence;
            else if (const auto* sent = std::get_if<Redirected>(&*event))
                lines_ += "redirected: " + sent->url;
            else if (const auto* ended = std::get_if<Ended>(&*event))
                lines_ += ended->is_final ? "ended" : "paused";
        }
    }

    FlvUpstream upstream_;
    std::string lines_;
};

TEST(FlvUpstream, SendsRequestOnce) {
    FlvEvents events;
    std::vector<std::uint8_t> output;
    events.upstream().take_output(output);
    EXPECT_EQ(as_text(output), "GET / HTTP/1.1\r\n\r\n");
    output.clear();
    events.upstream().take_output(output);
    EXPECT_TRUE(output.empty());
}

TEST(FlvUpstream, ReadsPlainAndChunkedBodiesInAnyPortions) {
    for (const std::string& text : {kPlainHead + kStream, chunked(kStream, 7), chunked(kStream, 1000)})
        for (const std::size_t piece : {std::size_t{1}, std::size_t{3}, std::size_t{64}, std::string::npos}) {
            FlvEvents events;
            EXPECT_FALSE(events.upstream().is_started());
            ASSERT_TRUE(events.feed(text, piece).ok());
            EXPECT_TRUE(events.upstream().is_started());
            EXPECT_EQ(events.lines(), kMedia);
            EXPECT_EQ(events.upstream().bytes_received(), text.size());
        }
}

TEST(FlvUpstream, ParsesLongInputInPieces) {
    const std::string body(3 * FlvUpstream::kPieceBytes, 'x');
    FlvEvents events;
    ASSERT_TRUE(events.feed(chunked(stream_of({{wire::flv::TagType::video, body}}), body.size() * 2)).ok());
    EXPECT_EQ(events.lines(), "9@40:" + std::to_string(body.size()) + " ");
}

TEST(FlvUpstream, ReportsEndOfStream) {
    FlvEvents chunks;
    ASSERT_TRUE(chunks.feed(chunked(kStream, 50) + "0\r\n\r\n").ok());
    EXPECT_EQ(chunks.lines(), kMedia + "ended");
    EXPECT_EQ(chunks.end().code(), Errc::closed);
    FlvEvents plain;
    ASSERT_TRUE(plain.feed(kPlainHead + kStream).ok());
    EXPECT_TRUE(plain.end().ok());
    EXPECT_EQ(plain.lines(), kMedia + "ended");
}

std::string mark_of(const media::SyncMessage& mark) { return std::string(as_text(media::write_sync_message(mark).bytes())); }

// The publisher leaves and another one starts on the same connection.
TEST(FlvUpstream, ReportsEndByMark) {
    using wire::flv::TagType;
    const std::string mark = mark_of({"hls", "1 2 3", {}});
    const std::string body = stream_of({{TagType::video, "\x17\x01 frame"},
                                        {TagType::script, mark},
                                        {TagType::script, mark_of({std::string(media::kRelayEnd), {}, {}})},
                                        {TagType::video, "\x17\x01 other"}});
    const std::string marked = "HTTP/1.1 200 OK\r\nX-Millrace-Marks: 1\r\n\r\n";
    for (const std::size_t piece : {std::size_t{1}, std::string::npos}) {
        FlvEvents ours;
        ASSERT_TRUE(ours.feed(marked + body, piece).ok());
        EXPECT_TRUE(ours.upstream().keeps_timeline());
        EXPECT_EQ(ours.lines(), fmt::format("9@40:8 18@80:{} paused9@160:8 ", mark.size()));
        EXPECT_TRUE(ours.upstream().is_started());
    }
    // Without an agreement, a mark is a data message.
    FlvEvents other;
    ASSERT_TRUE(other.feed(kPlainHead + body).ok());
    EXPECT_FALSE(other.upstream().keeps_timeline());
    EXPECT_EQ(other.lines().find("paused"), std::string::npos);
}

TEST(FlvUpstream, ReportsBrokenConnection) {
    FlvEvents chunks;
    ASSERT_TRUE(chunks.feed(chunked(kStream, 50)).ok());
    EXPECT_EQ(chunks.end().code(), Errc::closed) << "the last chunk is missing";
    FlvEvents plain;
    ASSERT_TRUE(plain.feed((kPlainHead + kStream).substr(0, kPlainHead.size() + kStream.size() - 8)).ok());
    EXPECT_EQ(plain.end().code(), Errc::closed) << "in the middle of a tag";
    FlvEvents early;
    ASSERT_TRUE(early.feed("HTTP/1.1 20").ok());
    EXPECT_EQ(early.end().code(), Errc::closed);
}

// No truncation is an error, and only complete tags are reported.
TEST(FlvUpstream, WaitsForRemainingBytes) {
    const std::string text = chunked(kStream, 9);
    for (std::size_t size = 0; size < text.size(); ++size) {
        FlvEvents events;
        ASSERT_TRUE(events.feed(text.substr(0, size)).ok()) << size;
        EXPECT_TRUE(kMedia.starts_with(events.lines())) << size;
    }
}

TEST(FlvUpstream, ReportsReasonOfRefusal) {
    const auto answered = [](const std::string& head) {
        FlvEvents events;
        const auto fed = events.feed(head + "\r\n\r\n");
        EXPECT_FALSE(events.upstream().is_started()) << head;
        return fed.ok() ? events.lines() : "down";
    };
    EXPECT_EQ(answered("HTTP/1.1 404 Not Found"), "refused: the origin does not have the stream (status 404)");
    EXPECT_EQ(answered("HTTP/1.1 403 Forbidden"), "refused: the origin answers with status 403");
    EXPECT_EQ(answered("HTTP/1.1 204 No Content"), "refused: the origin answers with status 204");
    EXPECT_EQ(answered("HTTP/1.1 503 Busy"), "down");
    EXPECT_EQ(answered("HTTP/1.1 302 Found\r\nLocation: http://b/x.flv"), "redirected: http://b/x.flv");
    EXPECT_EQ(answered("HTTP/1.1 307 Later\r\nlocation: /y.flv\r\nContent-Length: 5"), "redirected: /y.flv");
    EXPECT_EQ(answered("HTTP/1.1 302 Found"), "down");
    EXPECT_EQ(answered("HTTP/1.1 302 Found\r\nLocation:"), "down");
    EXPECT_EQ(answered("SSH-2.0-x"), "down");
}

TEST(FlvUpstream, BoundsInput) {
    EXPECT_EQ(FlvEvents().feed("HTTP/1.1 200 OK\r\nX: " + std::string(2 * FlvUpstream::kHeaderBytesMax, 'x')).code(),
              Errc::limit);
    std::string many = "HTTP/1.1 200 OK\r\n";
    for (int i = 0; i < 200; ++i)
        many += "X: y\r\n";
    EXPECT_EQ(FlvEvents().feed(many).code(), Errc::limit);
    EXPECT_FALSE(FlvEvents().feed(kPlainHead + "no FLV at all").ok());
    const std::string huge_tag("\x09\xFF\xFF\xFF\0\0\0\0\0\0\0", 11);
    EXPECT_EQ(FlvEvents().feed(kPlainHead + stream_of({}) + huge_tag).code(), Errc::limit);
}

}  // namespace
}  // namespace live::service::relay
