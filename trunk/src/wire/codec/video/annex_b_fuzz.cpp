// Arbitrary bytes as an access unit in a byte stream: the first byte chooses the codec. The units read are written with start
// codes and read again, and must be the same.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/bytes/byte_reader.hpp"
#include "base/check.hpp"
#include "wire/codec/video/annex_b.hpp"

namespace {

using namespace live;
using namespace live::wire::codec;

void append(std::vector<std::uint8_t>& stream, Bytes unit) {
    stream.insert(stream.end(), {0, 0, 1});
    stream.insert(stream.end(), unit.begin(), unit.end());
}

bool are_equal(const std::vector<Bytes>& left, const std::vector<Bytes>& right) {
    return std::ranges::equal(left, right, [](Bytes a, Bytes b) { return std::ranges::equal(a, b); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Codec codec = data[0] % 2 == 0 ? Codec::avc : Codec::hevc;
    static_cast<void>(form_of(Bytes(data, size).subspan(1), static_cast<std::uint8_t>(1 + data[0] / 64)));
    const auto read = read_annex_b(codec, Bytes(data, size).subspan(1));
    if (!read.ok())
        return 0;
    CHECK(read->frame.size() <= size * 4 + 4);
    CHECK(!read->key || !read->frame.empty());
    std::vector<std::uint8_t> stream;
    for (const auto* list : {&read->vps, &read->sps, &read->pps})
        for (const Bytes set : *list)
            append(stream, set);
    for (ByteReader in(read->frame.bytes()); !in.at_end();)
        append(stream, MUST(in.take(MUST(in.u32be()))));
    const auto again = read_annex_b(codec, stream);
    CHECK(again.ok() && again->key == read->key && std::ranges::equal(again->frame.bytes(), read->frame.bytes()));
    CHECK(are_equal(again->vps, read->vps) && are_equal(again->sps, read->sps) && are_equal(again->pps, read->pps));
    static_cast<void>(make_config(codec, *read));
    return 0;
}
