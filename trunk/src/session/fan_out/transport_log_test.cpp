#include "session/fan_out/transport_log.hpp"

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "media/source/stream_table.hpp"
#include "wire/ts/read/ts_builder_fixture.hpp"

namespace live::session {
namespace {

using wire::ts::BuiltStream;
using wire::ts::TsBuilder;
using Buffer = std::vector<std::uint8_t>;

constexpr std::uint16_t kVideo = 0x101;
constexpr std::uint16_t kAudio = 0x102;
const BuiltStream kAvc{0x1B, kVideo, {}};
const BuiltStream kAac{0x0F, kAudio, {}};

// A publisher whose stream is read and appended to the log.
struct Publisher {
    TsBuilder ts;
    wire::ts::TsReader reader;
    media::SlabPool slabs;
    TransportLog log{slabs, 1};

    // Sends the bytes built since the last call, in units of so many packets.
    void send(std::size_t packets = 7) {
        const Buffer bytes = std::exchange(ts.bytes, {});
        for (Bytes rest = bytes; !rest.empty();) {
            const Bytes unit = rest.first(std::min(rest.size(), packets * 188));
            rest = rest.subspan(unit.size());
            reader.feed(unit);
            log.append(unit, reader);
            while (auto one = reader.next())
                if (one->kind == MediaKind::video)
                    log.note_video(one->frame);
        }
    }
    Buffer read(TransportLog::Position from, TransportLog::Position to) const {
        std::array<::iovec, 64> parts;
        const std::size_t count = log.spans(from, to, parts);
        Buffer bytes;
        for (std::size_t i = 0; i < count; ++i) {
            const Bytes part(static_cast<const std::uint8_t*>(parts[i].iov_base), parts[i].iov_len);
            bytes.insert(bytes.end(), part.begin(), part.end());
        }
        return bytes;
    }
    // With random_access_indicator, if `flagged`; returns where it begins if everything is sent afterwards.
    TransportLog::Position picture(bool key, bool flagged, std::size_t bytes = 600) {
        return unit(
            key ? hex("00000001 6764001facd9405005bb011000000300100000030320f18319600100 00000001 68ebe3cb22c0 00000001 65")
                : hex("00000001 41"),
            flagged, bytes);
    }
    TransportLog::Position unit(Buffer payload, bool flagged, std::size_t bytes = 600) {
        payload.resize(std::max(bytes, payload.size()), 0x5A);
        const Buffer pes = wire::ts::built_pes(0xE0, {.pts = pts_ += 3'600}, payload, false);
        const std::size_t at = ts.bytes.size();
        // The first packet has room for flags.
        const std::size_t first = std::min<std::size_t>(pes.size(), 100);
        ts.packet(kVideo, true, Bytes(pes).first(first));
        if (flagged)
            ts.bytes[at + 5] |= 0x40;
        for (Bytes rest = Bytes(pes).subspan(first); !rest.empty();) {
            const Bytes part = rest.first(std::min<std::size_t>(rest.size(), 184));
            ts.packet(kVideo, false, part);
            rest = rest.subspan(part.size());
        }
        return log.end() + at;
    }

private:
    std::uint64_t pts_ = 90'000;
};

TEST(TransportLog, APlayerBeginsAtAFlaggedPacketAndGetsTheRestUnchanged) {
    Publisher publisher;
    publisher.ts.tables({kAvc, kAac});
    publisher.picture(false, false);
    EXPECT_FALSE(publisher.log.entry(0));
    const auto key = publisher.picture(true, true);
    publisher.picture(false, false);
    const Buffer sent = publisher.ts.bytes;
    publisher.send();
    ASSERT_EQ(publisher.log.entry(0), key);
    EXPECT_FALSE(publisher.log.entry(publisher.log.end())) << "the next one is waited for";
    EXPECT_EQ(publisher.read(key, publisher.log.end()), Buffer(sent.begin() + static_cast<std::ptrdiff_t>(key), sent.end()));
    // The tables make it readable.
    const Slice tables = publisher.log.opening(key);
    EXPECT_EQ(tables.size(), 2 * 188U);
    wire::ts::TsReader reader;
    reader.feed(tables.bytes());
    reader.finish();
    EXPECT_EQ(reader.tracks().size(), 2U);
}

struct Played {
    std::size_t configs = 0;
    std::size_t key_frames = 0;
    wire::ts::TsReader::Counters counters;
};

// Reads the stream as a player that begins at the entry.
Played played(const Publisher& publisher, TransportLog::Position entry) {
    wire::ts::TsReader reader;
    reader.feed(publisher.log.opening(entry).bytes());
    reader.feed(publisher.read(entry, publisher.log.end()));
    reader.finish();
    Played all;
    while (auto one = reader.next()) {
        all.configs += one->frame.content == wire::codec::Content::config ? 1 : 0;
        all.key_frames += one->frame.content == wire::codec::Content::frame && one->frame.key ? 1 : 0;
    }
    all.counters = reader.counters();
    return all;
}

// As GStreamer's h264parse does by default.
TEST(TransportLog, SendsEarlierParameterSetsToLaterPlayers) {
    for (const bool flagged : {true, false}) {
        Publisher publisher;
        publisher.ts.tables({kAvc, kAac});
        const auto first = publisher.picture(true, flagged);
        publisher.picture(false, false);
        publisher.send();
        EXPECT_EQ(publisher.log.opening(first).size(), 2 * 188U) << "it has them";
        const auto later = publisher.unit(hex("00000001 09f0 00000001 65"), flagged);
        publisher.picture(false, false);
        publisher.send();
        ASSERT_EQ(publisher.log.entry(0), later);
        EXPECT_EQ(publisher.log.opening(later).size(), 3 * 188U);
        const Played got = played(publisher, later);
        EXPECT_EQ(got.configs, 1U);
        EXPECT_EQ(got.key_frames, 1U);
        EXPECT_EQ(got.counters.gaps + got.counters.lost_units + got.counters.damaged, 0U);
    }
}

TEST(TransportLog, HevcAndItsParameterSetsToo) {
    const auto sets =
        hex("00000001 40010c01ffff016000000300900000030000"
            "03005d959809 00000001 42010101600000030090000003000003005da00280802d165959a4932bc05a02 00000001 4401c172b46240");
    Publisher publisher;
    publisher.ts.tables({{0x24, kVideo, {}}});
    auto payload = sets;
    const auto picture = hex("00000001 260111");
    payload.insert(payload.end(), picture.begin(), picture.end());
    const auto first = publisher.unit(payload, true);
    publisher.unit(hex("00000001 020111"), false);
    publisher.send();
    EXPECT_EQ(publisher.log.opening(first).size(), 2 * 188U);
    const auto later = publisher.unit(picture, true);
    publisher.unit(hex("00000001 020111"), false);
    publisher.send();
    const Played got = played(publisher, later);
    EXPECT_EQ(got.configs, 1U);
    EXPECT_EQ(got.key_frames, 1U);
    EXPECT_EQ(got.counters.gaps, 0U);
}

TEST(TransportLog, WithoutFlagsTheKeyFramesOfTheReaderCount) {
    Publisher publisher;
    publisher.ts.tables({kAvc});
    publisher.picture(false, false);
    publisher.send();
    const auto key = publisher.picture(true, false);
    publisher.send();
    EXPECT_FALSE(publisher.log.entry(0)) << "it may go on";
    publisher.picture(false, false);
    publisher.send();
    EXPECT_EQ(publisher.log.entry(0), key);
}

TEST(TransportLog, SeparatesSeveralImagesInOneUnit) {
    Publisher publisher;
    publisher.ts.tables({kAvc});
    publisher.picture(false, false, 100);
    publisher.send();
    const auto key = publisher.picture(true, false, 100);
    for (int i = 0; i < 4; ++i)
        publisher.picture(false, false, 20);
    publisher.send();
    EXPECT_EQ(publisher.log.entry(0), key);
}

TEST(TransportLog, IgnoresFlagsOnEveryImage) {
    Publisher publisher;
    publisher.ts.tables({kAvc});
    TransportLog::Position key = 0;
    for (int i = 0; i < 40; ++i) {
        const auto at = publisher.picture(i % 20 == 10, true);
        if (i % 20 == 10)
            key = at;
        publisher.send();
    }
    EXPECT_EQ(publisher.log.entry(0), key);
}

TEST(TransportLog, AudioAloneBeginsAnywhere) {
    Publisher publisher;
    publisher.ts.tables({kAac});
    publisher.ts.unit(kAudio, wire::ts::built_pes(0xC0, {.pts = 90'000}, Buffer(500, 0x21)));
    publisher.send();
    EXPECT_EQ(publisher.log.entry(0), 2 * 188U);
}

TEST(TransportLog, KeepsOneOrTwoGops) {
    Publisher publisher;
    publisher.ts.tables({kAvc});
    std::vector<TransportLog::Position> keys;
    for (int i = 0; i < 6; ++i) {
        keys.push_back(publisher.picture(true, true, 100'000));
        for (int more = 0; more < 20; ++more)
            publisher.picture(false, false, 100'000);
        publisher.send();
    }
    EXPECT_EQ(publisher.log.entry(0), keys.back());
    EXPECT_LE(publisher.log.begin(), keys[keys.size() - 2]);
    EXPECT_GT(publisher.log.begin(), keys[keys.size() - 3]);
    EXPECT_LE(publisher.log.held_bytes(), publisher.log.end() - publisher.log.begin() + 2 * media::SlabPool::kSlabBytes);
}

TEST(TransportLog, AGopWithoutEndIsBounded) {
    Publisher publisher;
    publisher.ts.tables({kAvc});
    publisher.picture(true, true);
    publisher.send();
    for (int i = 0; i < 40; ++i) {
        publisher.picture(false, false, 1'000'000);
        publisher.send();
    }
    EXPECT_LE(publisher.log.held_bytes(), TransportLog::kBytesMax + 2 * media::SlabPool::kSlabBytes);
    EXPECT_GT(publisher.log.end() - publisher.log.begin(), TransportLog::kBytesMax - 2'000);
    EXPECT_EQ(publisher.log.begin() % 188, 0U);
    EXPECT_FALSE(publisher.log.entry(0)) << "its beginning has gone";
}

TEST(TransportLog, PartialPacketsSpoilTheLog) {
    Publisher publisher;
    publisher.ts.tables({kAvc});
    publisher.send();
    EXPECT_TRUE(publisher.log.is_whole());
    for (const Buffer& bad : {Buffer(187, 0x47), Buffer(188, 0x48), Buffer(1, 0x47)}) {
        TransportLog log(publisher.slabs);
        log.append(Buffer(188'000, 0x47), publisher.reader);
        EXPECT_TRUE(log.is_whole());
        log.append(bad, publisher.reader);
        EXPECT_FALSE(log.is_whole());
        EXPECT_LE(log.held_bytes(), media::SlabPool::kSlabBytes);
        log.append(Buffer(188, 0x47), publisher.reader);
        EXPECT_FALSE(log.is_whole());
        EXPECT_EQ(log.begin(), log.end());
        log.show(188);
        EXPECT_EQ(log.begin(), log.end());
    }
}

// A log whose bytes are shown some time after they were read and appended, beside one that gets them only then.
TEST(TransportLog, HiddenBytesChangeNothingUntilTheyAreShown) {
    constexpr std::size_t kAhead = 60;  // units
    Publisher publisher;
    publisher.ts.tables({kAvc});
    for (int i = 0; i < 400; ++i) {
        if (i == 100)
            publisher.ts.tables({kAvc, kAac}, 1);
        if (i == 200)
            publisher.ts.tables({{0x1B, kVideo + 8, {}}, kAac}, 2);
        if (i == 300)
            publisher.ts.tables({kAvc}, 3);
        // Also flags that are not trusted.
        publisher.picture(i % 7 == 0, i % 14 == 0 || i > 350, 8'000);
    }
    const Buffer sent = publisher.ts.bytes;
    std::vector<Bytes> units;
    for (Bytes rest = sent; !rest.empty(); rest = rest.subspan(units.back().size()))
        units.push_back(rest.first(std::min<std::size_t>(rest.size(), 7 * 188)));
    wire::ts::TsReader early;
    wire::ts::TsReader late;
    TransportLog hidden(publisher.slabs, 1);
    TransportLog& plain = publisher.log;
    std::size_t entries = 0;
    for (std::size_t i = 0; i < units.size() + kAhead; ++i) {
        if (i < units.size()) {
            early.feed(units[i]);
            while (early.next())
                continue;
            hidden.append_hidden(units[i], early);
        }
        if (i < kAhead)
            continue;
        const Bytes unit = units[i - kAhead];
        late.feed(unit);
        plain.append(unit, late);
        hidden.show(unit.size());
        while (const auto one = late.next())
            if (one->kind == MediaKind::video)
                for (TransportLog* const log : {&plain, &hidden})
                    log->note_video(one->frame);
        ASSERT_EQ(hidden.begin(), plain.begin());
        ASSERT_EQ(hidden.end(), plain.end());
        ASSERT_EQ(hidden.entry(0), plain.entry(0));
        if (const auto entry = plain.entry(0)) {
            ++entries;
            ASSERT_TRUE(std::ranges::equal(hidden.opening(*entry).bytes(), plain.opening(*entry).bytes()));
        }
        ASSERT_LE(hidden.held_bytes(), plain.held_bytes() + kAhead * 7 * 188 + 2 * media::SlabPool::kSlabBytes);
    }
    EXPECT_EQ(hidden.end(), sent.size());
    EXPECT_GT(entries, units.size() / 2);
    // More than there is.
    hidden.show(1'000);
    EXPECT_EQ(hidden.end(), sent.size());
}

TEST(TransportLogs, TheNewestOfASourceIsFound) {
    media::SlabPool slabs;
    media::StreamTable streams(slabs);
    const auto source = MUST(streams.find_or_create("/live/cam", {}, 60'000));
    TransportLogs logs(slabs);
    EXPECT_EQ(logs.find(*source), nullptr);
    auto first = std::make_unique<TransportLogs::Holder>(logs, source);
    EXPECT_EQ(logs.find(*source), &first->log);
    const TransportLogs::Holder second(logs, source);
    EXPECT_NE(first->log.id(), second.log.id());
    first.reset();
    EXPECT_EQ(logs.find(*source), &second.log) << "the one that was taken over leaves later";
}

}  // namespace
}  // namespace live::session
