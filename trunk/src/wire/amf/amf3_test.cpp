#include "wire/amf/amf3.hpp"

#include <gtest/gtest.h>

#include "base/bytes/byte_writer.hpp"
#include "wire/amf/amf_vectors.hpp"

namespace live::wire::amf {
namespace {

Result<Value> read3(Bytes bytes, const Limits& limits = {}) {
    ByteReader in(bytes);
    return read_amf3(in, limits);
}

const std::vector<Vector>& vectors3() {
    static const std::vector<Vector> table = {
        {"undefined", hex("00"), Value::undefined()},
        {"null", hex("01"), Value::null()},
        {"false", hex("02"), Value(false)},
        {"true", hex("03"), Value(true)},
        {"integer of one byte", hex("04 7f"), Value(127)},
        {"integer of two bytes", hex("04 8100"), Value(128)},
        {"integer of three bytes", hex("04 818000"), Value(16'384)},
        {"integer of four bytes", hex("04 80c08000"), Value(2'097'152)},
        {"largest integer", hex("04 bfffffff"), Value(268'435'455)},
        {"smallest integer", hex("04 c0808000"), Value(-268'435'456)},
        {"minus one", hex("04 ffffffff"), Value(-1)},
        {"double", hex("05 3ff8000000000000"), Value(1.5)},
        {"string", hex("06 09 6c697665"), Value("live")},
        {"empty string", hex("06 01"), Value("")},
        {"date", hex("08 01 4024000000000000"), Value::date(10)},
        {"xml document", hex("07 09 3c612f3e"), Value::xml("<a/>")},
        {"xml", hex("0b 09 3c612f3e"), Value::xml("<a/>")},
        {"byte array", hex("0c 05 0102"), Value::unsupported()},
        {"dense array", hex("09 05 01 04 01 03"), Value::strict_array({1, true})},
        {"array with keys", hex("09 03 03 61 01 01 04 07"), Value::ecma_array({{"a", Value::null()}, {"0", 7}})},
        {"anonymous dynamic object", hex("0a 0b 01 03 61 04 01 01"), Value::object({{"a", 1}})},
        {"sealed object", hex("0a 13 03 43 03 61 03"), Value::typed_object("C", {{"a", true}})},
        {"sealed and dynamic", hex("0a 1b 03 43 03 61 03 03 62 02 01"), Value::typed_object("C", {{"a", true}, {"b", false}})},
        {"string reference", hex("09 05 01 06 05 6f6b 06 00"), Value::strict_array({"ok", "ok"})},
        {"trait reference", hex("09 05 01 0a 13 03 43 03 61 03 0a 01 02"),
         Value::strict_array({Value::typed_object("C", {{"a", true}}), Value::typed_object("C", {{"a", false}})})},
        {"object reference", hex("09 05 01 0a 0b 01 03 61 04 01 01 0a 02"),
         Value::strict_array({Value::object({{"a", 1}}), Value::object({{"a", 1}})})},
        {"date reference", hex("09 05 01 08 01 4024000000000000 08 02"), Value::strict_array({Value::date(10), Value::date(10)})},
        {"strings seen in a replay are not counted twice", hex("09 09 01 0a 0b 01 03 61 06 03 62 01 0a 02 06 03 63 06 04"),
         Value::strict_array({Value::object({{"a", "b"}}), Value::object({{"a", "b"}}), "c", "c"})},
    };
    return table;
}

TEST(Amf3, ReadsEveryVectorToItsEnd) {
    for (const Vector& vector : vectors3()) {
        SCOPED_TRACE(vector.name);
        ByteReader in(vector.bytes);
        const auto value = read_amf3(in);
        ASSERT_TRUE(value.ok()) << value.error().text();
        EXPECT_TRUE(*value == vector.value);
        EXPECT_TRUE(in.at_end());
    }
}

TEST(Amf3, EveryTruncationNeedsMore) {
    for (const Vector& vector : vectors3())
        for (std::size_t size = 0; size < vector.bytes.size(); ++size)
            EXPECT_EQ(read3(Bytes(vector.bytes).first(size)).code(), Errc::need_more) << vector.name << " cut at " << size;
}

TEST(Amf3, RejectsReferencesToMissingEntries) {
    EXPECT_EQ(read3(hex("06 00")).code(), Errc::malformed) << "string reference into an empty table";
    EXPECT_EQ(read3(hex("0a 01")).code(), Errc::malformed) << "trait reference into an empty table";
    EXPECT_EQ(read3(hex("0a 00")).code(), Errc::malformed) << "object reference into an empty table";
    EXPECT_EQ(read3(hex("09 03 01 09 00")).code(), Errc::malformed) << "an array inside itself";
}

TEST(Amf3, RefusesUnsupportedForms) {
    EXPECT_EQ(read3(hex("0a 07 03 43")).code(), Errc::unsupported) << "externalizable";
    for (const char* marker : {"0d", "0e", "0f", "10", "11", "12", "ff"})
        EXPECT_EQ(read3(hex(marker)).code(), Errc::unsupported) << marker;
}

TEST(Amf3, BoundsTheDepth) {
    const auto nested = [](std::size_t levels) {
        ByteWriter out;
        for (std::size_t i = 0; i < levels; ++i)
            out.bytes(hex("09 03 01"));
        out.u8(0x01);
        return out.release();
    };
    EXPECT_TRUE(read3(nested(32)).ok());
    EXPECT_EQ(read3(nested(33)).code(), Errc::limit);
    EXPECT_EQ(read3(nested(10'000)).code(), Errc::limit);
}

TEST(Amf3, ChecksCountsBeforeReading) {
    EXPECT_EQ(read3(hex("09 ffffffff")).code(), Errc::limit);
    EXPECT_EQ(read3(hex("0a fffffffb 01")).code(), Errc::limit);
    EXPECT_EQ(read3(hex("06 ffffffff")).code(), Errc::limit);
}

TEST(Amf3, ReferencesCannotMultiplyWithoutBound) {
    ByteWriter out;
    out.bytes(hex("09 51 01 09 01 01"));  // 40 items, the first an empty array
    for (std::uint8_t i = 1; i < 40; ++i)
        out.bytes(hex("09 05 01")).u8(0x09).u8(static_cast<std::uint8_t>(i << 1)).u8(0x09).u8(static_cast<std::uint8_t>(i << 1));
    EXPECT_EQ(read3(out.written()).code(), Errc::limit);
}

TEST(Amf3, RepeatedLongTextThroughTheTableIsBounded) {
    ByteWriter out;
    out.bytes(hex("09 8801 01"));                     // 512 items
    out.u8(0x06).bytes(hex("81ff7f")).zeros(16'383);  // a string of 16,383 bytes once ...
    for (int i = 1; i < 512; ++i)
        out.bytes(hex("06 00"));  // ... and 511 times by reference
    EXPECT_EQ(read3(out.written()).code(), Errc::limit);
}

}  // namespace
}  // namespace live::wire::amf
