// The sample messages of RFC 5769, 2.1 to 2.3, and their values. Their password is kPassword.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/bytes/hex_fixture.hpp"

namespace live::wire::stun {

inline constexpr std::string_view kPassword = "VOkJxbRl1RmTxUk/WvJxBt";

struct Vector {
    const char* name;
    std::vector<std::uint8_t> bytes;
};

inline const std::vector<Vector>& stun_vectors() {
    static const std::vector<Vector> table = {
        {"request", hex("00010058 2112a442 b7e7a701bc34d686fa87dfae"
                        "80220010 5354554e207465737420636c69656e74"
                        "00240004 6e0001ff 80290008 932ff9b151263b36"
                        "00060009 6576746a3a68367659202020"
                        "00080014 9aeaa70cbfd8cb56781ef2b5b2d3f249c1b571a2"
                        "80280004 e57a3bcf")},
        {"answer with IPv4", hex("0101003c 2112a442 b7e7a701bc34d686fa87dfae"
                                 "8022000b 7465737420766563746f7220"
                                 "00200008 0001a147e112a643"
                                 "00080014 2b91f599fd9e90c38c7489f92af9ba53f06be7d7"
                                 "80280004 c07d4c96")},
        {"answer with IPv6", hex("01010048 2112a442 b7e7a701bc34d686fa87dfae"
                                 "8022000b 7465737420766563746f7220"
                                 "00200014 0002a1470113a9faa5d3f179bc25f4b5bed2b9d9"
                                 "00080014 a382954e4be67bf11784c97c8292c275bfe3ed41"
                                 "80280004 c8fb0b4c")},
    };
    return table;
}

}  // namespace live::wire::stun
