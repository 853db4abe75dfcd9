#include "wire/codec/video/start_code.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "base/bytes/hex_fixture.hpp"
#include "wire/codec/video/start_code_fixture.hpp"

namespace live::wire::codec {
namespace {

using Buffer = std::vector<std::uint8_t>;

struct SearchCase {
    Buffer stream;
    std::size_t from;
    std::size_t found;
};

TEST(StartCode, FindsEveryVector) {
    const SearchCase vectors[] = {
        {{}, 0, 0},
        {hex("000001"), 0, 0},
        {hex("000001"), 1, 3},
        {hex("00000001"), 0, 1},
        {hex("000000"), 0, 3},
        {hex("0001 000001"), 0, 2},
        {hex("000003000001"), 0, 3},
        {hex("00000165 000001"), 3, 4},
        {hex("ff0000"), 0, 3},
    };
    for (const SearchCase& one : vectors)
        EXPECT_EQ(find_start_code(one.stream, one.from), one.found) << one.stream.size() << " bytes from " << one.from;
}

// Each offset within and across blocks, with each number of bytes behind.
TEST(StartCode, FindsItAtEachOffsetAndInEachTruncation) {
    for (const std::uint8_t filler : hex("000180"))
        for (std::size_t at = 0; at < 200; ++at) {
            Buffer stream(at, filler);
            stream.insert(stream.end(), {0, 0, 1});
            stream.resize(280, filler);
            for (std::size_t size = 0; size <= stream.size(); ++size) {
                const Bytes cut = Bytes(stream).first(size);
                ASSERT_EQ(find_start_code(cut, 0), find_start_code_plainly(cut, 0)) << int{filler} << " " << at << " " << size;
            }
        }
}

// Bytes of few values, so that nearly each block has zeros, and bytes of all values.
TEST(StartCode, AgreesWithThePlainSearch) {
    std::mt19937 random(1);
    for (int round = 0; round < 3'000; ++round) {
        const std::uint32_t values = round % 3 == 0 ? 2 : round % 3 == 1 ? 4 : 256;
        Buffer stream(random() % 700);
        for (std::uint8_t& byte : stream)
            byte = static_cast<std::uint8_t>(random() % values);
        const std::size_t from = stream.empty() ? 0 : random() % stream.size();
        for (std::size_t at = from; at < stream.size(); ++at) {
            const std::size_t found = find_start_code(stream, at);
            ASSERT_EQ(found, find_start_code_plainly(stream, at)) << "round " << round << ", from " << at;
            at = found;
        }
    }
}

}  // namespace
}  // namespace live::wire::codec
