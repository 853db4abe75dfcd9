#include "wire/amf/amf0.hpp"

#include <gtest/gtest.h>

#include "wire/amf/amf_vectors.hpp"

namespace live::wire::amf {
namespace {

Result<Value> read(Bytes bytes, const Limits& limits = {}) {
    ByteReader in(bytes);
    return read_amf0(in, limits);
}

std::vector<std::uint8_t> written(const Value& value) {
    ByteWriter out;
    write_amf0(out, value);
    return out.release();
}

const std::vector<Vector>& vectors() {
    static const std::vector<Vector> table = {
        {"number", hex("00 3ff0000000000000"), Value(1)},
        {"negative number", hex("00 c000000000000000"), Value(-2.0)},
        {"true", hex("01 01"), Value(true)},
        {"false", hex("01 00"), Value(false)},
        {"any byte but zero is true", hex("01 ff"), Value(true), false},
        {"string", hex("02 0004 6c697665"), Value("live")},
        {"empty string", hex("02 0000"), Value("")},
        {"null", hex("05"), Value::null()},
        {"undefined", hex("06"), Value::undefined()},
        {"unsupported", hex("0d"), Value::unsupported()},
        {"date drops the zone", hex("0b 4024000000000000 003c"), Value::date(10), false},
        {"date", hex("0b 4024000000000000 0000"), Value::date(10)},
        {"short text in a long string", hex("0c 00000002 6f6b"), Value("ok"), false},
        {"xml", hex("0f 00000004 3c612f3e"), Value::xml("<a/>")},
        {"empty object", hex("03 0000 09"), Value::object()},
        {"object", hex("03 0003 617070 02 0004 6c697665 0001 6e 00 0000000000000000 0000 09"),
         Value::object({{"app", "live"}, {"n", 0}})},
        {"object with an empty key", hex("03 0000 05 0000 09"), Value::object({{"", Value::null()}})},
        {"nested object", hex("03 0001 61 03 0001 62 01 01 0000 09 0000 09"),
         Value::object({{"a", Value::object({{"b", true}})}})},
        {"typed object", hex("10 0001 43 0001 61 05 0000 09"), Value::typed_object("C", {{"a", Value::null()}})},
        {"ecma array", hex("08 00000001 0005 7769647468 00 4094000000000000 0000 09"), Value::ecma_array({{"width", 1280}})},
        {"ecma array that counts wrongly", hex("08 00000000 0001 61 05 0000 09"), Value::ecma_array({{"a", Value::null()}}),
         false},
        {"strict array", hex("0a 00000002 05 01 01"), Value::strict_array({Value::null(), true})},
        {"strict array of arrays", hex("0a 00000001 0a 00000000"), Value::strict_array({Value::strict_array()})},
        {"reference", hex("0a 00000002 03 0001 61 05 0000 09 07 0001"),
         Value::strict_array({Value::object({{"a", Value::null()}}), Value::object({{"a", Value::null()}})}), false},
        {"reference to an object that holds one", hex("0a 00000003 03 0000 09 03 0001 61 07 0001 0000 09 07 0002"),
         Value::strict_array({Value::object(), Value::object({{"a", Value::object()}}), Value::object({{"a", Value::object()}})}),
         false},
        {"switch to AMF3", hex("11 04 05"), Value(5), false},
        {"AMF3 inside an object", hex("03 0001 61 11 06 05 6f6b 0000 09"), Value::object({{"a", "ok"}}), false},
    };
    return table;
}

TEST(Amf0, ReadsEveryVectorToItsEnd) {
    for (const Vector& vector : vectors()) {
        SCOPED_TRACE(vector.name);
        ByteReader in(vector.bytes);
        const auto value = read_amf0(in);
        ASSERT_TRUE(value.ok()) << value.error().text();
        EXPECT_TRUE(*value == vector.value);
        EXPECT_TRUE(in.at_end());
    }
}

TEST(Amf0, WritesEveryVector) {
    for (const Vector& vector : vectors()) {
        SCOPED_TRACE(vector.name);
        const auto bytes = written(vector.value);
        if (vector.canonical) {
            EXPECT_EQ(bytes, vector.bytes);
        }
        EXPECT_TRUE(read(bytes).value() == vector.value);
    }
}

TEST(Amf0, EveryTruncationNeedsMore) {
    for (const Vector& vector : vectors())
        for (std::size_t size = 0; size < vector.bytes.size(); ++size)
            EXPECT_EQ(read(Bytes(vector.bytes).first(size)).code(), Errc::need_more) << vector.name << " cut at " << size;
}

TEST(Amf0, StopsAfterTheValue) {
    const auto bytes = hex("02 0007 636f6e6e656374 00 3ff0000000000000 05");
    ByteReader in(bytes);
    EXPECT_EQ(read_amf0(in).value().string(), "connect");
    EXPECT_EQ(read_amf0(in).value().number(), 1.0);
    EXPECT_TRUE(read_amf0(in).value().is(Kind::null));
    EXPECT_TRUE(in.at_end());
}

TEST(Amf0, RejectsForbiddenValues) {
    EXPECT_EQ(read(hex("09")).code(), Errc::malformed);
    EXPECT_EQ(read(hex("12")).code(), Errc::malformed);
    EXPECT_EQ(read(hex("ff")).code(), Errc::malformed);
    EXPECT_EQ(read(hex("04")).code(), Errc::unsupported);
    EXPECT_EQ(read(hex("0e")).code(), Errc::unsupported);
    EXPECT_EQ(read(hex("07 0000")).code(), Errc::malformed);
    EXPECT_EQ(read(hex("11 0d")).code(), Errc::unsupported);
}

TEST(Amf0, RejectsAnObjectThatRefersToItself) { EXPECT_EQ(read(hex("03 0001 61 07 0000 0000 09")).code(), Errc::malformed); }

// `levels` nested objects, all closed.
std::vector<std::uint8_t> nested(std::size_t levels) {
    ByteWriter out;
    for (std::size_t i = 0; i < levels; ++i)
        out.u8(0x03).bytes(hex("0001 61"));
    out.u8(0x05);
    for (std::size_t i = 0; i < levels; ++i)
        out.bytes(hex("0000 09"));
    return out.release();
}

TEST(Amf0, BoundsTheDepth) {
    EXPECT_TRUE(read(nested(32)).ok());
    EXPECT_EQ(read(nested(33)).code(), Errc::limit);
    EXPECT_EQ(read(nested(10'000)).code(), Errc::limit);
}

TEST(Amf0, DeepNestingCostsNoStack) {
    Limits limits;
    limits.depth = 100'000;
    limits.values = 100'000;
    EXPECT_EQ(read(std::vector<std::uint8_t>(nested(5'000)), limits).ok(), true);
}

TEST(Amf0, AvmPlusSharesTheDepth) {
    // 31 enclosing objects leave room for one AMF3 array.
    Limits limits;
    limits.depth = 2;
    EXPECT_TRUE(read(hex("03 0001 61 11 09 01 01 0000 09"), limits).ok());
    limits.depth = 1;
    EXPECT_EQ(read(hex("03 0001 61 11 09 01 01 0000 09"), limits).code(), Errc::limit);
}

TEST(Amf0, BoundsTheMembersOfOneObject) {
    const auto object = [](std::size_t members) {
        ByteWriter out;
        out.u8(0x08).u32be(0);
        for (std::size_t i = 0; i < members; ++i)
            out.bytes(hex("0001 61 05"));
        out.bytes(hex("0000 09"));
        return out.release();
    };
    EXPECT_EQ(read(object(1'024)).value().members().size(), 1'024u);
    EXPECT_EQ(read(object(1'025)).code(), Errc::limit);
    EXPECT_TRUE(read(std::vector<std::uint8_t>(hex("0a 00000000"))).ok());
    EXPECT_EQ(read(hex("0a 00000401")).code(), Errc::limit) << "an announced count is checked before anything is read";
    EXPECT_EQ(read(hex("0a ffffffff")).code(), Errc::limit);
}

TEST(Amf0, BoundsAllValues) {
    const auto arrays = [](std::uint32_t last) {
        ByteWriter out;
        out.u8(0x0A).u32be(4);
        for (const std::uint32_t count : {1'023u, 1'023u, 1'023u, last}) {
            out.u8(0x0A).u32be(count);
            for (std::uint32_t i = 0; i < count; ++i)
                out.u8(0x05);
        }
        return out.release();
    };
    EXPECT_TRUE(read(arrays(1'022)).ok());
    EXPECT_EQ(read(arrays(1'023)).code(), Errc::limit);
}

TEST(Amf0, BoundsOneStringAndAllStrings) {
    const auto string = [](std::uint32_t size) { return ByteWriter().u8(0x0C).u32be(size).zeros(size).release(); };
    EXPECT_EQ(read(string(65'535)).value().string()->size(), 65'535u);
    EXPECT_EQ(read(string(65'536)).code(), Errc::limit);
    EXPECT_EQ(read(hex("0c ffffffff")).code(), Errc::limit);

    const auto strings = [](std::uint32_t count) {
        ByteWriter out;
        out.u8(0x0A).u32be(count);
        for (std::uint32_t i = 0; i < count; ++i)
            out.u8(0x02).u16be(0x8000).zeros(0x8000);
        return out.release();
    };
    EXPECT_TRUE(read(strings(32)).ok());
    EXPECT_EQ(read(strings(33)).code(), Errc::limit);
}

TEST(Amf0, ReferencesCannotMultiplyWithoutBound) {
    // Each array contains the previous one twice: 40 levels would be 2^40 values.
    ByteWriter out;
    out.u8(0x0A).u32be(40);
    out.bytes(hex("0a 00000000"));
    for (std::uint16_t i = 1; i < 40; ++i)
        out.u8(0x0A).u32be(2).u8(0x07).u16be(i).u8(0x07).u16be(i);
    EXPECT_EQ(read(out.written()).code(), Errc::limit);
}

TEST(Amf0, WritesLongStringsAsSuch) {
    const std::string text(70'000, 'x');
    const auto bytes = written(Value(text));
    EXPECT_EQ(bytes[0], 0x0C);
    Limits limits;
    limits.string_bytes = 70'000;
    EXPECT_EQ(read(bytes, limits).value().string(), text);
}

}  // namespace
}  // namespace live::wire::amf
