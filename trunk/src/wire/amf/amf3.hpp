// Action Message Format 3 (AMF 3 specification, January 2013), reading only: we answer in AMF0, which every AMF3 client accepts.
// Vectors, dictionaries and externalizable classes are not read; no RTMP command carries them.
#pragma once

#include "base/bytes/byte_reader.hpp"
#include "base/result.hpp"
#include "wire/amf/limits.hpp"
#include "wire/amf/value.hpp"

namespace live::wire::amf {

// Reads one value from the front of `in`, with its own string, trait and object tables. Integers become numbers, byte arrays
// become Kind::unsupported, and an array with keys becomes an ECMA array whose dense part has the keys "0", "1", ... Errors as
// for read_amf0.
Result<Value> read_amf3(ByteReader& in, const Limits& limits = {});

// The same inside an AMF0 value: `depth` containers are already open, and the budget is shared.
Result<Value> read_amf3(ByteReader& in, Budget& budget, std::size_t depth);

}  // namespace live::wire::amf
