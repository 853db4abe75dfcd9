// Arbitrary bytes as AMF0: a value that can be read must write and read back the same.
#include <cstddef>
#include <cstdint>

#include "base/check.hpp"
#include "wire/amf/amf0.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    ByteReader in(Bytes(data, size));
    const auto value = wire::amf::read_amf0(in);
    if (!value.ok())
        return 0;
    ByteWriter first;
    wire::amf::write_amf0(first, *value);
    ByteReader again(first.written());
    const auto second = wire::amf::read_amf0(again);
    // Copied references and shared trait keys cost the second read no more than they cost the first.
    CHECK(second.ok() && again.at_end());
    ByteWriter out;
    wire::amf::write_amf0(out, *second);
    const Bytes a = first.written();
    const Bytes b = out.written();
    CHECK(a.size() == b.size());
    for (std::size_t i = 0; i < a.size(); ++i)
        CHECK(a[i] == b[i]);
    return 0;
}
