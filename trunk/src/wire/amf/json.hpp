// AMF values as JSON text, for outputs that carry text (ID3), and values from JSON, for events that arrive over HTTP.
#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "wire/amf/value.hpp"

namespace live::wire::amf {

// Numbers that are whole are written without a fraction; dates are milliseconds; undefined and unsupported values are null. Bytes
// that are not UTF-8 are replaced.
std::string json_of(const Value& value);

// Objects become AMF objects, arrays strict arrays. Errc::malformed; Errc::limit: more than 16 levels or 1,024 values.
Result<Value> value_of_json(std::string_view text);

}  // namespace live::wire::amf
