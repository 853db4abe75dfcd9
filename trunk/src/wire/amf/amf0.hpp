// Action Message Format 0: reads one value from the front of a buffer, writes one to the end of another (AMF 0 specification,
// December 2007). Neither walks by recursion, so a hostile nesting costs no stack.
#pragma once

#include "base/byte_reader.hpp"
#include "base/byte_writer.hpp"
#include "base/result.hpp"
#include "wire/amf/limits.hpp"
#include "wire/amf/value.hpp"

namespace live::wire::amf {

// One value off the front of `in`; call it again for the next. Errc::need_more when the input ends inside a value,
// Errc::malformed, Errc::unsupported (movie clip and record set markers), Errc::limit. After an error the position of `in` means
// nothing. References are copied out: the result is always a tree. One that leads into an object still open is malformed.
Result<Value> read_amf0(ByteReader& in, const Limits& limits = {});

// All that values can say can be written; a string above 65,535 bytes becomes a long string.
void write_amf0(ByteWriter& out, const Value& value);

}  // namespace live::wire::amf
