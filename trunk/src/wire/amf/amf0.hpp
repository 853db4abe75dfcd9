// Action Message Format 0: reads one value from the front of a buffer and appends one to another (AMF 0 specification, December
// 2007). Neither direction recurses, so hostile nesting costs no stack.
#pragma once

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/result.hpp"
#include "wire/amf/limits.hpp"
#include "wire/amf/value.hpp"

namespace live::wire::amf {

// Reads one value from the front of `in`; call again for the next. Errc::need_more when the input ends inside a value,
// Errc::malformed, Errc::unsupported (movie clip and record set markers), Errc::limit. The position of `in` is unspecified after
// an error. References are copied, so the result is always a tree; a reference to an object that is still open is malformed.
Result<Value> read_amf0(ByteReader& in, const Limits& limits = {});

// Every Value can be written; a string above 65,535 bytes becomes a long string.
void write_amf0(ByteWriter& out, const Value& value);

}  // namespace live::wire::amf
