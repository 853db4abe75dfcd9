#include "wire/amf/value.hpp"

#include <gtest/gtest.h>

namespace live::wire::amf {
namespace {

TEST(AmfValue, ReturnsItsValueByTypeOnly) {
    const Value number(2.5);
    EXPECT_EQ(number.number(), 2.5);
    EXPECT_FALSE(number.boolean().has_value());
    EXPECT_FALSE(number.string().has_value());
    const Value truth(true);
    EXPECT_EQ(truth.boolean(), true);
    EXPECT_FALSE(truth.number().has_value());
    EXPECT_EQ(Value("text").string(), "text");
    EXPECT_FALSE(Value::date(1).number().has_value());
    EXPECT_EQ(Value::date(1).date_ms(), 1.0);
    EXPECT_FALSE(Value::xml("<a/>").string().has_value());
}

TEST(AmfValue, NullAndUndefinedAreEmpty) {
    EXPECT_TRUE(Value().is_nothing());
    EXPECT_TRUE(Value::null().is_nothing());
    EXPECT_FALSE(Value(0).is_nothing());
    EXPECT_FALSE(Value::object().is_nothing());
}

TEST(AmfValue, FindsSetsAndErasesMembers) {
    Value value = Value::object({{"level", "status"}, {"code", "NetStream.Play.Start"}});
    EXPECT_EQ(value.find("level")->string(), "status");
    EXPECT_EQ(value.find("missing"), nullptr);
    value.set("level", "error").set("details", 7);
    EXPECT_EQ(value.find("level")->string(), "error");
    EXPECT_EQ(value.members().size(), 3u);
    EXPECT_EQ(value.members()[2].key, "details") << "a new member goes to the end";
    EXPECT_TRUE(value.erase("level"));
    EXPECT_FALSE(value.erase("level"));
    EXPECT_EQ(value.members().size(), 2u);
}

TEST(AmfValue, FindsNoKeyFrameInOtherCodecs) {
    EXPECT_EQ(Value(1).find("a"), nullptr);
    EXPECT_EQ(Value::strict_array({1}).find(""), nullptr);
}

TEST(AmfValue, CopiesAreIndependent) {
    Value first = Value::ecma_array({{"a", 1}});
    Value second = first;
    second.set("a", 2);
    EXPECT_EQ(first.find("a")->number(), 1.0);
    EXPECT_FALSE(first == second);
}

TEST(AmfValueDeathTest, SettingAMemberOfANumberAborts) { EXPECT_DEATH(Value(1).set("a", 2), "CHECK failed"); }

}  // namespace
}  // namespace live::wire::amf
