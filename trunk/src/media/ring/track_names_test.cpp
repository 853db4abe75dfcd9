#include "media/ring/track_names.hpp"

#include <gtest/gtest.h>

namespace live::media {
namespace {

using wire::amf::Value;

std::vector<TrackName> names_of(Value map, std::size_t count_max = 16) {
    return read_track_names(Value::ecma_array({{"width", 640}, {"audioTrackIdInfoMap", std::move(map)}}), count_max);
}

TEST(TrackNames, ReadsMapsInMetadata) {
    const Value audio = Value::object({{"0", Value::object({{"language", "en"}, {"channels", 2}})},
                                       {"2", Value::object({{"lang", "de-CH"}, {"title", "Z\xC3\xBCrich"}})}});
    const Value video = Value::ecma_array({{"1", Value::object({{"name", "camera 2"}})}});
    const auto names = read_track_names(Value::object({{"videoTrackIdInfoMap", video}, {"audioTrackIdInfoMap", audio}}), 16);
    EXPECT_EQ(names, (std::vector<TrackName>{{MediaKind::audio, TrackId{0}, "en", ""},
                                             {MediaKind::audio, TrackId{2}, "de-CH", "Z\xC3\xBCrich"},
                                             {MediaKind::video, TrackId{1}, "", "camera 2"}}));
}

TEST(TrackNames, IgnoresOtherMetadata) {
    EXPECT_TRUE(names_of("text").empty());
    EXPECT_TRUE(names_of(Value::object({{"one", Value::object({{"language", "en"}})}})).empty());
    EXPECT_TRUE(names_of(Value::object({{"256", Value::object({{"language", "en"}})}})).empty());
    EXPECT_TRUE(names_of(Value::object({{"1", "en"}})).empty());
    EXPECT_TRUE(names_of(Value::object({{"1", Value::object({{"language", 7}})}})).empty());
    EXPECT_TRUE(read_track_names(Value("onMetaData"), 16).empty());
}

TEST(TrackNames, OmitsTextThatManifestsCannotHold) {
    const auto name = [](const std::string& text) {
        const auto names = names_of(Value::object({{"1", Value::object({{"language", "en"}, {"name", text}})}}));
        return names.at(0).name;
    };
    for (const std::string good : {"a<b>&\"c\"", "\xE2\x82\xAC", "\xF0\x9F\x8E\xA5", "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF"})
        EXPECT_EQ(name(good), good);
    for (const std::string bad : {"a\nb", "\x7F", "\x80", "\xC1\xBF", "\xC3", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                  "\xF5\x80\x80\x80", "\xE2\x82"})
        EXPECT_EQ(name(bad), "") << bad.size();
    EXPECT_EQ(name(std::string(TrackName::kNameBytesMax, 'x')).size(), TrackName::kNameBytesMax);
    EXPECT_EQ(name(std::string(TrackName::kNameBytesMax + 1, 'x')), "");
    for (const std::string& bad : {std::string("d\"e"), std::string("de_CH"), std::string(TrackName::kLanguageBytesMax + 1, 'x')})
        EXPECT_TRUE(names_of(Value::object({{"1", Value::object({{"language", bad}})}})).empty()) << bad;
}

TEST(TrackNames, LimitsTheNumberOfNames) {
    Value map = Value::object();
    for (int id = 0; id < 20; ++id)
        map.set(std::to_string(id), Value::object({{"language", "en"}}));
    EXPECT_EQ(names_of(map, 16).size(), 16U);
}

}  // namespace
}  // namespace live::media
