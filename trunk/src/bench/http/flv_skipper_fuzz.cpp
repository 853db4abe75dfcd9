// Any bytes as a live FLV, once whole and once in portions whose size the first byte gives: both must yield the same, and the
// skipper must read whatever wire/flv's reader, which keeps bodies, reads.
#include <algorithm>
#include <cstdlib>
#include <vector>

#include "bench/http/flv_skipper.hpp"

namespace {

using live::Bytes;
using live::bench::FlvSkipper;
using live::wire::flv::FlvReader;
using live::wire::flv::TagHeader;
using live::wire::flv::TagType;

struct Outcome {
    std::vector<TagHeader> tags;
    bool ok = true;
};

Outcome skip_all(Bytes input, std::size_t portion) {
    Outcome outcome;
    FlvSkipper skipper;
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        for (;;) {
            const auto tag = skipper.read(part);
            outcome.ok = tag.ok();
            if (!tag.ok())
                return outcome;
            if (!*tag)
                break;
            outcome.tags.push_back((*tag)->header);
        }
    }
    return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Bytes input(data + 1, size - 1);
    Outcome whole = skip_all(input, size);
    const Outcome parts = skip_all(input, std::size_t{data[0]} + 1);
    if (whole.ok != parts.ok || whole.tags != parts.tags)
        std::abort();
    // The reader does not return tags of unknown types.
    std::erase_if(whole.tags, [](const TagHeader& tag) {
        return tag.type != TagType::audio && tag.type != TagType::video && tag.type != TagType::script;
    });
    FlvReader reader({.tag_bytes = 1 << 24, .header_bytes = FlvSkipper::kFileHeaderBytesMax});
    std::size_t count = 0;
    for (Bytes rest = input; !rest.empty();) {
        const auto used = reader.feed(rest);
        if (!used.ok())
            break;
        rest = rest.subspan(*used);
        if (const auto tag = reader.next()) {
            if (count >= whole.tags.size() || !(tag->header == whole.tags[count]))
                std::abort();
            ++count;
        }
    }
    return 0;
}
