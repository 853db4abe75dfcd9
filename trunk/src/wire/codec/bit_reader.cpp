#include "wire/codec/bit_reader.hpp"

#include <algorithm>
#include <string>

namespace live::wire::codec {

Result<std::uint32_t> BitReader::bits(unsigned count) {
    CHECK(count <= 32);
    if (count > remaining())
        return Error(Errc::need_more, "wanted " + std::to_string(count) + " bits, " + std::to_string(remaining()) + " are left");
    std::uint64_t value = 0;
    for (unsigned done = 0; done < count;) {
        const unsigned used = at_ % 8;
        const unsigned take = std::min(8 - used, count - done);
        const unsigned byte = input_[at_ / 8];
        value = value << take | (byte >> (8 - used - take) & ((1U << take) - 1));
        at_ += take;
        done += take;
    }
    return static_cast<std::uint32_t>(value);
}

Result<bool> BitReader::flag() { return TRY(bits(1)) != 0; }

Result<void> BitReader::skip(std::size_t count) {
    if (count > remaining())
        return Error(Errc::need_more,
                     "wanted to skip " + std::to_string(count) + " bits, " + std::to_string(remaining()) + " are left");
    at_ += count;
    return {};
}

Result<std::uint32_t> BitReader::ue() {
    unsigned zeros = 0;
    while (!TRY(flag()))
        if (++zeros > 32)
            return Error(Errc::malformed, "Exp-Golomb code of more than 32 leading zeros");
    const std::uint64_t value = (std::uint64_t{1} << zeros) - 1 + TRY(bits(zeros));
    if (value > 0xFFFF'FFFF)
        return Error(Errc::malformed, "Exp-Golomb code above 32 bits");
    return static_cast<std::uint32_t>(value);
}

Result<std::int64_t> BitReader::se() {
    const std::int64_t code = TRY(ue());
    return code % 2 == 0 ? -(code / 2) : code / 2 + 1;
}

Result<std::uint32_t> BitReader::ue_up_to(std::uint32_t max, const char* what) {
    const auto value = TRY(ue());
    if (value > max)
        return Error(Errc::malformed, std::string(what) + " is " + std::to_string(value) + ", at most " + std::to_string(max));
    return value;
}

std::vector<std::uint8_t> without_emulation_prevention(Bytes nal) {
    std::vector<std::uint8_t> out;
    out.reserve(nal.size());
    auto from = nal.begin();
    for (auto at = from; at != nal.end();) {
        at = std::find(at, nal.end(), 3);
        const bool is_added = at != nal.end() && at - from >= 2 && at[-1] == 0 && at[-2] == 0;
        if (is_added) {
            out.insert(out.end(), from, at);
            from = at + 1;
        }
        if (at != nal.end())
            ++at;
    }
    out.insert(out.end(), from, nal.end());
    return out;
}

}  // namespace live::wire::codec
