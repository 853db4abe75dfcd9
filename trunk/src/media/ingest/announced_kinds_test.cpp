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
    EXPECT_TRUE(both.has(Kind::video) && both.has(Kind::audio));
    const auto audio = announced_by(metadata_of({{"videocodecid", Value(0.0)}, {"audiocodecid", Value("mp4a")}}));
    EXPECT_TRUE(audio.has(Kind::audio) && !audio.has(Kind::video));
    EXPECT_TRUE(announced_by(metadata_of({{"width", Value(640.0)}})).has(Kind::video));
    EXPECT_EQ(announced_by(metadata_of({{"videocodecid", Value("")}, {"title", Value("x")}})), KindSet());
}

TEST(AnnouncedKinds, ComeFromTheProgramMap) {
    const auto bytes = wire::ts::stream_of(1);
    wire::ts::TsReader reader;
    EXPECT_EQ(announced_by(reader), KindSet());
    reader.feed(bytes);
    EXPECT_TRUE(announced_by(reader).has(Kind::video) && announced_by(reader).has(Kind::audio));
}

}  // namespace
}  // namespace live::media
