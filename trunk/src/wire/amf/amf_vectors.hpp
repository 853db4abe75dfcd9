// Named AMF byte sequences and their values, shared by the tests of both codecs.
#pragma once

#include <cstdint>
#include <vector>

#include "base/bytes/hex_fixture.hpp"
#include "wire/amf/value.hpp"

namespace live::wire::amf {

struct Vector {
    const char* name;
    std::vector<std::uint8_t> bytes;
    Value value;
    bool canonical = true;  // write(value) reproduces these bytes
};

}  // namespace live::wire::amf
