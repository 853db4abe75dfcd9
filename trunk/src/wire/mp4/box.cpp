#include "wire/mp4/box.hpp"

#include <limits>

namespace live::wire::mp4 {

Box::Box(ByteWriter& out, std::string_view type) : out_(out), start_(out.size()) {
    CHECK(type.size() == 4);
    out_.u32be(0).text(type);
}

Box::Box(ByteWriter& out, std::string_view type, std::uint8_t version, std::uint32_t flags) : Box(out, type) {
    out_.u8(version).u24be(flags);
}

Box::~Box() {
    const std::size_t size = out_.size() - start_;
    CHECK(size <= std::numeric_limits<std::uint32_t>::max());
    out_.patch_u32be(start_, static_cast<std::uint32_t>(size));
}

}  // namespace live::wire::mp4
