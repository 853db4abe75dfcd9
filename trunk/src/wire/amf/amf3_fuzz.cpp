// Arbitrary bytes as AMF3.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/amf/amf0.hpp"
#include "wire/amf/amf3.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    ByteReader in(Bytes(data, size));
    const auto value = wire::amf::read_amf3(in);
    if (!value.ok())
        return 0;
    // Any AMF3 value that can be read can be written as AMF0.
    ByteWriter out;
    wire::amf::write_amf0(out, *value);
    ByteReader again(out.written());
    CHECK(wire::amf::read_amf0(again).ok());
    return 0;
}
