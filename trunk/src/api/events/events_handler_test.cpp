#include "api/events/events_handler.hpp"

#include <gtest/gtest.h>

#include "base/bytes/base64.hpp"
#include "wire/id3/tag.hpp"
#include "wire/scte35/splice_info.hpp"
#include "wire/scte35/splice_info_vectors.hpp"

namespace live::api {
namespace {

std::optional<media::TimedEvent> posted(const std::string& body) {
    const auto event = read_posted_event(body);
    if (!event.ok())
        return std::nullopt;
    media::Packet packet;
    packet.dts = 10s;
    packet.payload = event->message;
    const auto read = media::read_timed_event(packet);
    if (read) {
        EXPECT_EQ(event->kind, name_of(read->kind));
    }
    return read;
}

TEST(EventsHandler, ReadsCues) {
    const auto out = posted(R"({"cue": "out", "id": 7, "duration": 30, "delay": 2.5})");
    ASSERT_TRUE(out);
    EXPECT_EQ(out->at, 12'500ms);
    const auto cues = wire::scte35::cues_of(wire::scte35::parse_splice_info(out->data.bytes()).value());
    ASSERT_EQ(cues.size(), 1u);
    EXPECT_EQ(cues[0].kind, wire::scte35::CueKind::out);
    EXPECT_EQ(cues[0].event_id, 7u);
    EXPECT_EQ(cues[0].ticks, 2'700'000u);
    const auto in = posted(R"({"cue": "in"})");
    ASSERT_TRUE(in);
    EXPECT_EQ(in->at, 10s);
}

TEST(EventsHandler, ReadsSectionsTagsTextsAndMessages) {
    const auto section = wire::scte35::splice_vectors()[0].bytes;
    EXPECT_EQ(posted(R"({"scte35": ")" + base64(section) + "\"}")->kind, media::TimedEvent::Kind::splice);
    const auto tag = wire::id3::write_text_tag("a", "b");
    EXPECT_EQ(posted(R"({"id3": ")" + base64(tag) + "\"}")->kind, media::TimedEvent::Kind::id3);
    const auto text = posted(R"({"text": "Hello", "duration": 2, "language": "en"})");
    ASSERT_TRUE(text);
    EXPECT_EQ(text->language, "en");
    EXPECT_EQ(text->duration, 2s);
    const auto message = posted(R"({"name": "onSong", "data": {"title": "x"}, "delay": 1})");
    ASSERT_TRUE(message);
    EXPECT_EQ(message->at, 11s);
}

TEST(EventsHandler, RejectsOtherBodies) {
    for (const char* const body :
         {"", "[]", "{}", R"({"cue": "off"})", R"({"cue": "out", "delay": -1})", R"({"cue": "out", "delay": 601})",
          R"({"scte35": "AAAA"})", R"({"scte35": 5})", R"({"id3": "AAAA"})", R"({"text": "x"})", R"({"name": "x"})",
          R"({"name": "onMetaData", "data": {}})", R"({"text": "", "duration": 1})"})
        EXPECT_FALSE(read_posted_event(body).ok()) << body;
}

}  // namespace
}  // namespace live::api
