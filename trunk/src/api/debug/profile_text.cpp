#include "api/debug/profile_text.hpp"

#include <array>
#include <chrono>
#include <cstring>
#include <map>
#include <span>
#include <unordered_map>

#include "base/check.hpp"

namespace live::api {

namespace {

void append_words(std::string& text, std::span<const std::uintptr_t> words) {
    const std::size_t before = text.size();
    text.resize(before + words.size_bytes());
    if (!words.empty())
        std::memcpy(&text[before], words.data(), words.size_bytes());
}

}  // namespace

std::string pprof_text(const io::CpuProfile& profile, std::string_view mappings) {
    constexpr auto kPeriodUs = static_cast<std::uintptr_t>(std::chrono::microseconds(io::CpuProfile::kPeriod).count());
    constexpr std::array<std::uintptr_t, 5> kHeader = {0, 3, 0, kPeriodUs, 0};
    constexpr std::array<std::uintptr_t, 3> kTrailer = {0, 1, 0};
    std::string text;
    append_words(text, kHeader);
    append_words(text, profile.words);
    append_words(text, kTrailer);
    text += mappings;
    return text;
}

std::string folded_text(const io::CpuProfile& profile, const std::function<std::string(std::uintptr_t)>& name_of) {
    std::unordered_map<std::uintptr_t, std::string> names;
    std::map<std::string, std::uintptr_t> stacks;
    std::span<const std::uintptr_t> left = profile.words;
    while (!left.empty()) {
        CHECK(left.size() >= 2 && left.size() - 2 >= left[1]);
        const auto frames = left.subspan(2, left[1]);
        std::string stack;
        for (std::size_t i = frames.size(); i-- > 0;) {
            // A return address may belong to the function after the caller.
            const std::uintptr_t address = i == 0 ? frames[i] : frames[i] - 1;
            const auto [known, is_new] = names.try_emplace(address);
            if (is_new)
                known->second = name_of(address);
            stack += (stack.empty() ? "" : ";") + known->second;
        }
        stacks[stack] += left[0];
        left = left.subspan(2 + left[1]);
    }
    std::string text;
    for (const auto& [stack, times] : stacks)
        text += stack + " " + std::to_string(times) + "\n";
    return text;
}

}  // namespace live::api
