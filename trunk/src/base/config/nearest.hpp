// "Did you mean ...": finds the known name nearest to a mistyped one.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace live::config {

// Names longer than this are not compared.
inline constexpr std::size_t kNearestNameMax = 64;

// The number of insertions, deletions, replacements and swaps of adjacent letters that turn one text into the other. Quadratic in
// the lengths, which the caller bounds.
std::size_t edit_distance(std::string_view a, std::string_view b);

// The nearest of `known` within a third of the name's length (at least 1), or empty. The first wins a tie.
std::string_view nearest_name(std::string_view name, std::span<const std::string_view> known);

// `, did you mean "listen"?` or nothing; appended to an error sentence.
std::string did_you_mean(std::string_view name, std::span<const std::string_view> known);

}  // namespace live::config
