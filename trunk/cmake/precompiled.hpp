// What nearly every source includes, precompiled (LIVE_UNITE). Each source includes what it uses all the same: `make lint`, which
// compiles sources one by one and without this, proves it.
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
