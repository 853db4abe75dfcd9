#include "media/ring/timed_event.hpp"

#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/base64.hpp"
#include "base/bytes/byte_writer.hpp"
#include "wire/amf/amf.hpp"
#include "wire/id3/tag.hpp"
#include "wire/scte35/splice_info.hpp"
#include "wire/scte35/splice_info_vectors.hpp"

namespace live::media {
namespace {

namespace scte = wire::scte35;

Packet message(std::vector<wire::amf::Value> values, MediaTime dts = 10s) {
    ByteWriter out;
    for (const auto& value : values)
        wire::amf::write_amf0(out, value);
    Packet packet;
    packet.dts = dts;
    packet.payload = Slice::copy_of(out.written());
    return packet;
}

Packet message_of(const TimedEvent& event, MediaTime sent) {
    Packet packet;
    packet.dts = sent;
    packet.payload = write_timed_event(event, sent);
    return packet;
}

std::vector<std::uint8_t> sample_section() { return scte::splice_vectors()[1].bytes; }

TEST(TimedEvent, EachKindIsReadAsItWasWritten) {
    const auto section = sample_section();
    const auto tag = wire::id3::write_text_tag("a", "b");
    const TimedEvent events[] = {
        {.kind = TimedEvent::Kind::splice, .at = 12'345ms, .data = Slice::copy_of(section)},
        {.kind = TimedEvent::Kind::id3, .at = 12'345ms, .data = Slice::copy_of(tag)},
        {.kind = TimedEvent::Kind::text,
         .at = 12'345ms,
         .data = Slice::copy_of(as_bytes("Gr\xC3\xBC\xC3\x9F")),
         .duration = 2'500ms,
         .language = "de"},
    };
    for (const TimedEvent& event : events) {
        const auto read = read_timed_event(message_of(event, 10s));
        ASSERT_TRUE(read) << name_of(event.kind);
        EXPECT_EQ(read->kind, event.kind);
        EXPECT_EQ(read->at, event.at);
        EXPECT_TRUE(std::ranges::equal(read->data.bytes(), event.data.bytes()));
        EXPECT_EQ(read->duration, event.duration);
        EXPECT_EQ(read->language, event.language);
    }
}

TEST(TimedEvent, TimesBeforeTheMessageAreThatOfTheMessage) {
    const TimedEvent event{.kind = TimedEvent::Kind::splice, .at = 9s, .data = Slice::copy_of(sample_section())};
    EXPECT_EQ(read_timed_event(message_of(event, 10s))->at, 10s);
}

TEST(TimedEvent, MessagesAboutTheStreamAreNone) {
    using wire::amf::Value;
    EXPECT_FALSE(read_timed_event(message({"onMetaData", Value::object()})));
    EXPECT_FALSE(read_timed_event(message({"onFI", Value::object()})));
    EXPECT_FALSE(read_timed_event(message({"|RtmpSampleAccess", true, true})));
    EXPECT_FALSE(read_timed_event(message({Value(5)})));
    EXPECT_FALSE(read_timed_event(message({"onScte35", "nonsense"})));
    EXPECT_FALSE(read_timed_event(message({"onId3", Value::object({{"data", "nonsense"}})})));
    Packet video = message({"x", Value::object()});
    video.kind = MediaKind::video;
    EXPECT_FALSE(read_timed_event(video));
    Packet config = message({"x", Value::object()});
    config.content = Content::config;
    EXPECT_FALSE(read_timed_event(config));
}

TEST(TimedEvent, OtherMessagesBecomeTags) {
    const auto event = read_timed_event(message({"onSong", wire::amf::Value::object({{"title", "x"}, {"n", 2}})}));
    ASSERT_TRUE(event);
    EXPECT_EQ(event->kind, TimedEvent::Kind::id3);
    EXPECT_EQ(event->at, 10s);
    const auto tag = wire::id3::write_text_tag("onSong", R"({"n":2,"title":"x"})");
    EXPECT_TRUE(std::ranges::equal(event->data.bytes(), tag));
}

TEST(TimedEvent, ReadsSectionsOfOtherEncoders) {
    using wire::amf::Value;
    const std::string text = base64(sample_section());
    const Packet packets[] = {
        message({"onScte35", text}),
        message({"scte35", Value::object({{"cue", text}})}),
        message({"onCuePoint", Value::object({{"name", "scte35"}, {"parameters", Value::object({{"data", text}})}})}),
        message({"onAdCue", Value::object({{"cue", text}, {"duration", 10}})}),
    };
    for (const Packet& packet : packets) {
        const auto event = read_timed_event(packet);
        ASSERT_TRUE(event);
        EXPECT_EQ(event->kind, TimedEvent::Kind::splice);
        EXPECT_EQ(event->at, 10s);
        EXPECT_TRUE(std::ranges::equal(event->data.bytes(), sample_section()));
    }
}

TEST(TimedEvent, AnnouncedBreaksBecomeSections) {
    using wire::amf::Value;
    const auto event = read_timed_event(message({"onCuePoint", Value::object({{"type", "com.youtube.cuepoint"},
                                                                              {"pre_roll_time_sec", 2.5},
                                                                              {"cue_point_start", true},
                                                                              {"break_duration_sec", 30},
                                                                              {"splice_event_id", 7}})}));
    ASSERT_TRUE(event);
    EXPECT_EQ(event->at, 12'500ms);
    const auto cues = scte::cues_of(scte::parse_splice_info(event->data.bytes()).value());
    ASSERT_EQ(cues.size(), 1u);
    EXPECT_EQ(cues[0].kind, scte::CueKind::out);
    EXPECT_EQ(cues[0].event_id, 7u);
    EXPECT_EQ(cues[0].ticks, 2'700'000u);
}

// 33 bits wrap; an immediate splice and one in the past are now.
TEST(TimedEvent, PlacesSectionsOnTheTimeline) {
    const auto section = sample_section();  // at 0x7369C02E
    EXPECT_EQ(splice_event(section, 10s, 0x7369'C02E - 180'000)->at, 12s);
    EXPECT_EQ(splice_event(section, 10s, 0x7369'C02E + 180'000)->at, 10s);
    const auto wrapped = scte::with_adjustment(section, scte::kTicksMask - 0x7369'C02E);  // at the last tick
    EXPECT_EQ(splice_event(wrapped, 10s, scte::kTicksMask - 90'000)->at, 11s);
    EXPECT_EQ(splice_event(scte::with_adjustment(section, scte::kTicksMask - 0x7369'C02E + 90'001), 10s, scte::kTicksMask)->at,
              11s + 11us);
    const auto now =
        scte::write_splice_info({.command = scte::Command::splice_insert, .insert = scte::SpliceInsert{.immediate = true}});
    EXPECT_EQ(splice_event(now, 10s, 5)->at, 10s);
    EXPECT_EQ(splice_event(Bytes(section).first(20), 10s, 5).code(), Errc::need_more);
}

TEST(TimedEvent, SectionsGetTheTimeOfTheOutput) {
    const TimedEvent event{.kind = TimedEvent::Kind::splice, .at = 1s, .data = Slice::copy_of(sample_section())};
    for (const std::uint64_t ticks : {std::uint64_t{99'000}, scte::kTicksMask}) {
        const auto section = section_for(event, ticks);
        EXPECT_EQ(scte::splice_ticks(scte::parse_splice_info(section).value()), ticks);
    }
}

TEST(TimedEvent, LimitsTheSize) {
    using wire::amf::Value;
    const std::string fits(TimedEvent::kBytesMax - 8, 'x');  // {"a":"…"}
    EXPECT_TRUE(read_timed_event(message({"onA", Value::object({{"a", fits}})})));
    EXPECT_FALSE(read_timed_event(message({"onA", Value::object({{"a", fits + "x"}})})));
}

}  // namespace
}  // namespace live::media
