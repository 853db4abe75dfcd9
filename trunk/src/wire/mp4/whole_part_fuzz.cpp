// Any bytes as a recording that nobody closed, of MP4 and of FLV: what is whole lies within the file, what is written over it
// too, and what is left is whole when it is looked at again.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "base/whole_part_fixture.hpp"
#include "wire/flv/whole_part.hpp"
#include "wire/mp4/whole_part.hpp"

namespace {

using namespace live;
using File = std::vector<std::uint8_t>;

void check(WholePartReader look, File file) {
    const auto part = look_at(look, file);
    if (!part.ok())
        return;
    CHECK(part->bytes <= file.size());
    file.resize(static_cast<std::size_t>(part->bytes));
    if (part->patch) {
        CHECK(part->patch->offset + part->patch->bytes.size() <= file.size());
        std::ranges::copy(part->patch->bytes, file.begin() + static_cast<std::ptrdiff_t>(part->patch->offset));
    }
    const auto again = look_at(look, file);
    CHECK(again.ok() && again->bytes == part->bytes && again->has_media == part->has_media);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const File file(data, data + size);
    check(wire::mp4::whole_part, file);
    check(wire::flv::whole_part, file);
    return 0;
}
