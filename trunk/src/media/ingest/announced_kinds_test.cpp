#include "media/ingest/announced_kinds.hpp"

#include <gtest/gtest.h>

#include "wire/ts/write/stream_fixture.hpp"

namespace live::media {
namespace {

wire::amf::Value metadata_of(std::initializer_list<std::pair<const char*, wire::amf::Value>> values) {
    wire::amf::Value metadata = wire::amf::Value::object();
    for (const auto& [key, value] : values)
        metadata.set(key, value);
    return metadata;
}

TEST(AnnouncedKinds, ComeFromMetadata) {
    using wire::amf::Value;
    const auto both = announced_by(metadata_of({{"videocodecid", Value(7.0)}, {"audiocodecid", Value(10.0)}}));
    EXPECT_TRUE(both.has(MediaKind::video) && both.has(MediaKind::audio));
    const auto audio = announced_by(metadata_of({{"videocodecid", Value(0.0)}, {"audiocodecid", Value("mp4a")}}));
    EXPECT_TRUE(audio.has(MediaKind::audio) && !audio.has(MediaKind::video));
    EXPECT_TRUE(announced_by(metadata_of({{"width", Value(640.0)}})).has(MediaKind::video));
    EXPECT_EQ(announced_by(metadata_of({{"videocodecid", Value("")}, {"title", Value("x")}})), MediaKindSet());
}

TEST(AnnouncedKinds, ComeFromTheProgramMap) {
    const auto bytes = wire::ts::stream_of(1);
    wire::ts::TsReader reader;
    EXPECT_EQ(announced_by(reader), MediaKindSet());
    reader.feed(bytes);
    EXPECT_TRUE(announced_by(reader).has(MediaKind::video) && announced_by(reader).has(MediaKind::audio));
}

}  // namespace
}  // namespace live::media
