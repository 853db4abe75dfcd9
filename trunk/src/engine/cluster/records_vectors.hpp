// Records and events in the form of the registry.
#pragma once

#include <array>
#include <string_view>

#include "engine/cluster/records.hpp"

namespace live::engine::cluster {

inline constexpr std::array<std::string_view, 4> kNodeTexts = {
    "281474976710655|192.0.2.1|1935|8080|1985|eu-west|up|1250000000|1000|1.0.0",
    "1|2001:db8::1|19350|0|0||draining|0|0|",
    "7|node-a.example|1935|80|0|r|up|9007199254740992|0|0.1",
    "7|h|1935|80|0|r|edge|1|0|0.1|1790000000000|0123456789abcdef0123456789abcdef",
};
inline constexpr std::array<std::string_view, 3> kOwnTexts = {"node-a|281474976710655|1|1790000000000", "n|0|9007199254740992|0",
                                                              "n|1|2|3|0123456789abcdef0123456789abcdef"};
inline constexpr std::array<std::string_view, 6> kEventTexts = {
    "published|node-a|7|1|/live/cam", "gone|node-a|7|1|a.example/live/x|y",
    "moved|b|9|2|/live/\xFF\x01",     "drain|b|9|0|",
    "kick|node-a|7|3|/live/cam",      "drain:0123456789abcdef0123456789abcdef|b|9|0|",
};

}  // namespace live::engine::cluster
