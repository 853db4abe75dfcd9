// Arbitrary bytes as an FLV file, once whole with whole bodies, and once in portions, with the first bytes of each body. The
// first byte is the size of the portions. Both results must match.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/check.hpp"
#include "wire/flv/flv_file.hpp"

namespace {

using namespace live;
using namespace live::wire::flv;

struct Outcome {
    std::vector<TagHeader> tags;
    bool ok = true;
};

constexpr std::size_t kKeptBytes = 64;

Outcome read_all(Bytes input, std::size_t portion, std::size_t kept_bytes) {
    Outcome outcome;
    FlvReader reader({.tag_bytes = 1 << 16, .header_bytes = 1'000, .kept_bytes = kept_bytes});
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        while (!part.empty()) {
            const auto used = reader.feed(part);
            if (!used.ok()) {
                outcome.ok = false;
                return outcome;
            }
            part = part.subspan(*used);
            if (const auto tag = reader.next()) {
                CHECK(tag->body.size() == std::min<std::size_t>(tag->header.size, kept_bytes));
                outcome.tags.push_back(tag->header);
            }
        }
    }
    return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Bytes input(data + 1, size - 1);
    const Outcome whole = read_all(input, size, SIZE_MAX);
    const Outcome parts = read_all(input, std::size_t{data[0]} + 1, kKeptBytes);
    CHECK(whole.ok == parts.ok && whole.tags == parts.tags);
    return 0;
}
