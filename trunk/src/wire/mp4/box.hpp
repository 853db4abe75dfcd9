// Box: one box of an ISO base media file (ISO/IEC 14496-12, 4.2) while it is being written. Its size is filled in when it goes
// out of scope, so nested scopes give nested boxes.
#pragma once

#include <cstdint>

#include "base/bytes/byte_writer.hpp"

namespace live::wire::mp4 {

inline constexpr std::size_t kBoxHeaderBytes = 8;

class Box {
public:
    // `type` has four characters.
    Box(ByteWriter& out, std::string_view type);
    // A full box, with a version and 24-bit flags.
    Box(ByteWriter& out, std::string_view type, std::uint8_t version, std::uint32_t flags);
    ~Box();
    Box(const Box&) = delete;
    Box& operator=(const Box&) = delete;

private:
    ByteWriter& out_;
    std::size_t start_;
};

}  // namespace live::wire::mp4
