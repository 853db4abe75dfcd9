#include "wire/amf/json.hpp"

#include <string>

#include <gtest/gtest.h>

namespace live::wire::amf {
namespace {

TEST(AmfJson, ConvertsBothWays) {
    for (const char* const text : {R"({"a":1,"b":[true,null,"x"],"c":{"d":1.5}})", "[]", "{}", "-3", R"("text")"})
        EXPECT_EQ(json_of(value_of_json(text).value()), text);
}

TEST(AmfJson, WritesKindsThatJsonLacks) {
    EXPECT_EQ(json_of(Value::date(5)), "5");
    EXPECT_EQ(json_of(Value::undefined()), "null");
    EXPECT_EQ(json_of(Value::xml("<a/>")), "\"<a/>\"");
    EXPECT_EQ(json_of(Value(1e300)), "1e+300");
    EXPECT_EQ(json_of(Value::ecma_array({{"k", Value("\xFF")}})), "{\"k\":\"\xEF\xBF\xBD\"}");
}

TEST(AmfJson, RejectsBrokenText) {
    for (const char* const text : {"", "{", "{\"a\":}", "nul", "{} {}"})
        EXPECT_EQ(value_of_json(text).code(), Errc::malformed) << text;
}

TEST(AmfJson, HasLimits) {
    EXPECT_TRUE(value_of_json(std::string(16, '[') + std::string(16, ']')).ok());
    EXPECT_EQ(value_of_json(std::string(17, '[') + std::string(17, ']')).code(), Errc::limit);
    EXPECT_EQ(value_of_json(std::string(100'000, '[')).code(), Errc::limit);
    std::string many = "[0";
    for (int i = 0; i < 3'000; ++i)
        many += ",0";
    EXPECT_EQ(value_of_json(many + "]").code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::amf
