#include "media/wire_log/flv_wire_encoder.hpp"

#include <array>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "media/source/wire_cursor.hpp"
#include "media/source/wire_log_fixture.hpp"
#include "media/wire_log/stamped_batch.hpp"
#include "wire/flv/flv_file.hpp"

namespace live::media {
namespace {

namespace flv = wire::flv;

// Parses what a reader of one framing has been sent.
class FlvBytes {
public:
    explicit FlvBytes(Framing framing) : framing_(framing) {}

    void add(Bytes bytes) { bytes_.insert(bytes_.end(), bytes.begin(), bytes.end()); }

    std::vector<flv::Tag> tags() const {
        flv::FlvReader reader;
        std::vector<flv::Tag> tags;
        const std::vector<std::uint8_t> plain = unframed();
        Bytes rest(plain);
        while (!rest.empty()) {
            rest = rest.subspan(reader.feed(rest).value());
            if (auto tag = reader.next())
                tags.push_back(*std::move(tag));
        }
        return tags;
    }

private:
    std::vector<std::uint8_t> unframed() const {
        if (framing_ == Framing::none)
            return bytes_;
        std::vector<std::uint8_t> plain;
        for (std::size_t at = 0; at < bytes_.size();) {
            std::size_t size = 0;
            for (; bytes_.at(at) != '\r'; ++at)
                size = size * 16 + static_cast<std::size_t>(bytes_[at] <= '9' ? bytes_[at] - '0' : bytes_[at] - 'a' + 10);
            at += 2;
            plain.insert(plain.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                         bytes_.begin() + static_cast<std::ptrdiff_t>(at + size));
            EXPECT_EQ(bytes_.at(at + size), '\r');
            EXPECT_EQ(bytes_.at(at + size + 1), '\n');
            at += size + 2;
        }
        return plain;
    }

    Framing framing_;
    std::vector<std::uint8_t> bytes_;
};

struct FlvPlayer {
    FlvPlayer(Stage& stage, WireFormat format)
        : got(format.framing), cursor(stage.source, format, flv_file_head(format.framing, format.kinds)) {}

    bool read(std::size_t room) {
        std::array<::iovec, 8> spans;
        for (;;) {
            const auto batch = cursor.take(spans);
            std::size_t count = std::min(room, batch.bytes);
            room -= count;
            cursor_takes(std::span(spans).first(batch.spans), count);
            if (batch.bytes == 0 || count < batch.bytes)
                return batch.bytes == 0;
        }
    }
    void cursor_takes(std::span<::iovec> spans, std::size_t count) {
        std::size_t left = count;
        for (const ::iovec& span : spans) {
            const std::size_t part = std::min(left, span.iov_len);
            got.add(Bytes(static_cast<const std::uint8_t*>(span.iov_base), part));
            left -= part;
        }
        cursor.advance(count);
    }

    FlvBytes got;
    WireCursor cursor;
};

constexpr WireFormat kChunked{Container::flv, Framing::http_chunk, MediaKindSet::all()};

void expect_media(const Stage& stage, const std::vector<flv::Tag>& tags, std::uint32_t from, std::int64_t base_ms) {
    std::size_t at = 0;
    while (at < tags.size() && number_of(tags[at].body) >= 1'000'000)
        ++at;
    ASSERT_EQ(tags.size() - at, stage.sent.size() - from);
    for (std::uint32_t number = from; at < tags.size(); ++at, ++number) {
        const Packet& packet = stage.sent[number];
        ASSERT_TRUE(std::ranges::equal(tags[at].body.bytes(), packet.payload.bytes())) << number;
        const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(packet.dts).count() - base_ms;
        ASSERT_EQ(tags[at].header.timestamp_ms, static_cast<std::uint32_t>(time)) << number;
    }
}

TEST(FlvWireEncoder, StartsWithFileHeaderAndConfigurations) {
    Stage stage;
    stage.config();
    for (int i = 0; i < 60; ++i)
        stage.picture();
    FlvPlayer player(stage, kChunked);
    EXPECT_TRUE(player.read(1U << 30));
    const auto tags = player.got.tags();
    ASSERT_GT(tags.size(), 3U);
    EXPECT_EQ(tags[0].header.type, flv::TagType::script);
    EXPECT_EQ(tags[1].header.type, flv::TagType::audio);
    EXPECT_EQ(tags[2].header.type, flv::TagType::video);
    EXPECT_EQ(tags[2].header.timestamp_ms, 0U);
    expect_media(stage, tags, 100, 2000);
}

TEST(FlvWireEncoder, EachPlayerStartsAtZeroForAnySocket) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        std::mt19937 random(seed);
        Stage stage;
        stage.config();
        stage.picture();
        FlvPlayer first(stage, kChunked);
        for (int i = 0; i < 55; ++i)
            stage.picture();
        FlvPlayer late(stage, kChunked);
        for (int i = 0; i < 120; ++i) {
            stage.picture();
            first.read(random() % 9'000);
            late.read(random() % 9'000);
        }
        first.read(1U << 30);
        late.read(1U << 30);
        EXPECT_EQ(first.cursor.base_ms(), 0);
        EXPECT_EQ(late.cursor.base_ms(), 2000);
        expect_media(stage, first.got.tags(), 0, 0);
        expect_media(stage, late.got.tags(), 100, 2000);
        EXPECT_EQ(first.cursor.position(), late.cursor.position());
        EXPECT_TRUE(late.cursor.is_in_sync());
    }
}

TEST(FlvWireEncoder, OneCopyServesEveryZero) {
    Stage stage;
    stage.config();
    stage.picture();
    FlvPlayer first(stage, kChunked);
    for (int i = 0; i < 55; ++i)
        stage.picture();
    FlvPlayer late(stage, kChunked);
    first.read(1U << 30);
    late.read(1U << 30);
    for (int i = 0; i < 40; ++i)
        stage.picture();

    StampedBatch batch;
    const WireLog& wire_log = *stage.source->wire_logs().find(kChunked);
    for (auto at = first.cursor.position(); at < wire_log.head(); at = batch.end()) {
        batch.load(wire_log, stage.source->ring(), at);
        for (FlvPlayer* player : {&first, &late, &first}) {
            const Bytes bytes = batch.stamped_for(player->cursor.base_ms());
            ASSERT_EQ(bytes.size(), batch.end() - at);
            if (player->cursor.position() == at) {
                player->got.add(bytes);
                player->cursor.resume_at(batch.end());
            }
        }
    }
    expect_media(stage, first.got.tags(), 0, 0);
    expect_media(stage, late.got.tags(), 100, 2000);
}

TEST(FlvWireEncoder, APlayerThatTookPartOfACopyGetsTheRestOfThatMessage) {
    for (const std::size_t cut : {std::size_t{0}, std::size_t{1}, std::size_t{11}, std::size_t{3'030}, std::size_t{3'050}}) {
        Stage stage;
        stage.config();
        for (int i = 0; i < 56; ++i)
            stage.picture();
        FlvPlayer player(stage, kChunked);
        player.read(1U << 30);
        for (int i = 0; i < 10; ++i)
            stage.picture();
        const auto at = player.cursor.position();
        StampedBatch batch;
        batch.load(*stage.source->wire_logs().find(kChunked), stage.source->ring(), at);
        const Bytes bytes = batch.stamped_for(player.cursor.base_ms());
        player.got.add(bytes.first(cut));
        const std::uint64_t before = player.cursor.sent_bytes();
        const std::size_t end = batch.message_end(cut);
        player.cursor.resume_at(at + end, bytes.subspan(cut, end - cut));
        EXPECT_EQ(player.cursor.sent_bytes(), before + cut);
        stage.picture();
        player.read(1U << 30);
        expect_media(stage, player.got.tags(), 100, 2000);
    }
}

TEST(FlvWireEncoder, OmitsKindsThatTheReaderDidNotRequest) {
    MediaKindSet video_only = MediaKindSet::all();
    video_only.remove(MediaKind::audio);
    Stage stage;
    stage.config();
    stage.picture();
    const WireFormat format{Container::flv, Framing::none, video_only};
    FlvPlayer player(stage, format);
    for (int i = 0; i < 55; ++i)
        stage.picture();
    FlvPlayer late(stage, format);
    stage.picture();
    player.read(1U << 30);
    late.read(1U << 30);
    for (const FlvPlayer* reader : {&player, &late})
        for (const flv::Tag& tag : reader->got.tags())
            EXPECT_NE(tag.header.type, flv::TagType::audio);
    EXPECT_EQ(player.got.tags().size(), 2U + 57U);
    EXPECT_EQ(late.got.tags().size(), 2U + 7U);
}

TEST(FlvWireEncoder, ASlowReaderFinishesItsTagAndJumpsToAKeyFrame) {
    PlayOptions options;
    options.queue_length = 5s;
    Stage stage(options);
    stage.config();
    for (int i = 0; i < 51; ++i)
        stage.picture();
    FlvPlayer slow(stage, kChunked);
    slow.read(10'000);
    for (int i = 0; i < 549; ++i)
        stage.picture();
    slow.read(1U << 30);
    const auto tags = slow.got.tags();
    EXPECT_GT(slow.cursor.dropped(), 100U);
    EXPECT_EQ(number_of(tags.back().body), stage.number - 1);
    std::optional<std::uint32_t> last;
    for (const flv::Tag& tag : tags) {
        const std::uint32_t number = number_of(tag.body);
        if (number >= 1'000'000)
            continue;
        if (last && number != *last + 1) {
            EXPECT_TRUE(stage.sent[number].key);
        }
        last = number;
    }
}

TEST(FlvWireEncoder, ManyFormatsOfOneSourceJoinAndLeave) {
    Stage stage;
    stage.config();
    stage.picture();
    {
        FlvPlayer chunked(stage, kChunked);
        FlvPlayer websocket(stage, {Container::flv, Framing::websocket, MediaKindSet::all()});
        const WireCursor rtmp(stage.source, WireFormat());
        EXPECT_EQ(stage.source->readers().count(), 3U);
        EXPECT_NE(stage.source->wire_logs().find(kChunked), stage.source->wire_logs().find(WireFormat()));
    }
    EXPECT_EQ(stage.source->readers().count(), 0U);
    EXPECT_EQ(stage.source->wire_logs().find(kChunked), nullptr);
}

// Kinds that the format leaves out have no bytes in the log and no message.
TEST(FlvWireEncoder, ReturnsOnlyMessagesOfTheSelectedKinds) {
    MediaKindSet audio_only;
    audio_only.add(MediaKind::audio);
    for (const MediaTime start : {MediaTime(0ms), MediaTime(1h)}) {
        Stage stage;
        stage.start = start;
        stage.config();
        stage.picture();
        FlvPlayer player(stage, {Container::flv, Framing::none, audio_only});
        for (int i = 0; i < 55; ++i)
            stage.picture();
        std::array<::iovec, 8> spans;
        for (std::size_t messages = 1;; ++messages) {
            const auto batch = player.cursor.take_message(spans);
            if (batch.bytes == 0)
                break;
            player.cursor_takes(std::span(spans).first(batch.spans), batch.bytes);
            if (start == MediaTime(0ms)) {  // a copy for another zero has several
                ASSERT_LE(player.got.tags().size(), messages + 1) << "and the configuration";
            }
        }
        EXPECT_EQ(player.got.tags().size(), 1U + 56U);
    }
}

}  // namespace
}  // namespace live::media
