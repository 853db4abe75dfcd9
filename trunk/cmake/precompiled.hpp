// What nearly every source includes, precompiled in quick builds (LIVE_QUICK_BUILD). Each source includes what it uses all
// the same: the release build, which has no such header, proves it.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
