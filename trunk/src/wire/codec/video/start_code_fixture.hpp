// The plain search for start codes, which the quick one must agree with.
#pragma once

#include "wire/codec/video/start_code.hpp"

namespace live::wire::codec {

inline std::size_t find_start_code_plainly(Bytes stream, std::size_t from) {
    for (std::size_t at = from; at + kStartCodePrefixBytes <= stream.size(); ++at)
        if (stream[at] == 0 && stream[at + 1] == 0 && stream[at + 2] == 1)
            return at;
    return stream.size();
}

}  // namespace live::wire::codec
