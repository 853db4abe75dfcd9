// The value kinds of rows: how each is read from a directive, validated, and written back as text. base/config/row.hpp picks the
// kind by the member's type.
//
// A kind has `read(directives, by_default, loading)`, where the directives are all those with that name in the block (one or
// more; only a kind with kRepeats looks past the first), `text(value)`, `type()` and `range()`.
#pragma once

#include <chrono>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/config/directive.hpp"
#include "base/config/loading.hpp"
#include "base/result.hpp"

namespace live::config {

using Found = std::span<const Directive* const>;

// How a number outside its bounds is handled.
enum class OnRange : std::uint8_t {
    refuse,       // an error
    clamp,        // clamped to the nearest bound, with a warning
    use_default,  // replaced by the default, with a warning
};

enum class BoolRule : std::uint8_t {
    // An option that defaults to off is on only for exactly "on"; one that defaults to on is off only for exactly "off". Under
    // every rule, a word whose meaning the rule would turn round ("enabled true;") is an error.
    plain,
    // Any word except "off" means on.
    off_is_off,
    // When present, it is on only for exactly "on", whatever the default.
    needs_on,
};

struct BoolKind {
    static constexpr bool kRepeats = false;
    static constexpr bool kSplits = false;
    BoolRule rule = BoolRule::plain;

    Result<bool> read(Found found, bool by_default, Loading& loading) const;
    std::string text(bool value) const { return value ? "on" : "off"; }
    std::string type() const { return "on or off"; }
    std::string range() const { return {}; }
};

struct Bounds {
    double min = 0;
    double max = 0;
    OnRange policy = OnRange::refuse;
};

// Reads the directive's one number within its bounds; `whole` rejects fractions. Exact up to 2^53.
Result<double> read_number(const Directive& directive, const Bounds& bounds, double by_default, bool whole, Loading& loading);
// Returns the text without a trailing ".0".
std::string number_text(double value);
std::string range_text(const Bounds& bounds);

template <class T>
struct NumberKind {
    static constexpr bool kRepeats = false;
    static constexpr bool kSplits = false;
    Bounds bounds;

    Result<T> read(Found found, T by_default, Loading& loading) const {
        const auto number =
            TRY(read_number(*found.front(), bounds, static_cast<double>(by_default), std::is_integral_v<T>, loading));
        return static_cast<T>(number);
    }
    std::string text(T value) const { return number_text(static_cast<double>(value)); }
    std::string type() const { return std::is_integral_v<T> ? "integer" : "number"; }
    std::string range() const { return range_text(bounds); }
};

enum class Unit : std::uint8_t { seconds, milliseconds };

template <class Rep, class Period>
struct DurationKind {
    using Duration = std::chrono::duration<Rep, Period>;
    static constexpr bool kRepeats = false;
    static constexpr bool kSplits = false;
    // In the unit used in the conf file.
    Bounds bounds;
    Unit unit = Unit::seconds;

    double ticks_per_unit() const {
        const double seconds = unit == Unit::seconds ? 1.0 : 0.001;
        return seconds * static_cast<double>(Period::den) / static_cast<double>(Period::num);
    }
    Result<Duration> read(Found found, Duration by_default, Loading& loading) const {
        const double in_unit = static_cast<double>(by_default.count()) / ticks_per_unit();
        const double number = TRY(read_number(*found.front(), bounds, in_unit, false, loading));
        return Duration(static_cast<Rep>(number * ticks_per_unit() + 0.5));
    }
    std::string text(Duration value) const { return number_text(static_cast<double>(value.count()) / ticks_per_unit()); }
    std::string type() const { return unit == Unit::seconds ? "seconds" : "milliseconds"; }
    std::string range() const { return range_text(bounds); }
};

// The index of the directive's one word in `names`; the error lists them and suggests the nearest.
Result<std::size_t> read_choice(const Directive& directive, std::span<const std::string_view> names, Loading& loading);
std::string choice_type(std::span<const std::string_view> names);

template <class Enum>
struct Named {
    std::string_view name;
    Enum value;
};

template <class Enum>
struct EnumKind {
    static constexpr bool kRepeats = false;
    static constexpr bool kSplits = false;
    std::span<const Named<Enum>> names;

    std::vector<std::string_view> all_names() const {
        std::vector<std::string_view> all;
        for (const auto& one : names)
            all.push_back(one.name);
        return all;
    }
    Result<Enum> read(Found found, Enum, Loading& loading) const {
        return names[TRY(read_choice(*found.front(), all_names(), loading))].value;
    }
    std::string text(Enum value) const {
        for (const auto& one : names) {
            if (one.value == value)
                return std::string(one.name);
        }
        return {};
    }
    std::string type() const { return choice_type(all_names()); }
    std::string range() const { return {}; }
};

struct TextKind {
    static constexpr bool kRepeats = false;
    static constexpr bool kSplits = false;
    // When not empty, only these words are accepted.
    std::span<const std::string_view> words = {};
    // `name ;` is an empty text too; else only `name "";` is.
    bool may_be_empty = false;

    Result<std::string> read(Found found, const std::string& by_default, Loading& loading) const;
    std::string text(const std::string& value) const { return value.empty() ? "" : config::quoted(value); }
    std::string type() const { return words.empty() ? "text" : choice_type(words); }
    std::string range() const { return {}; }
};

struct ListKind {
    static constexpr bool kRepeats = false;
    static constexpr bool kSplits = true;
    // Each word must be an endpoint: port, ip:port or [ipv6]:port.
    bool endpoints = false;

    Result<std::vector<std::string>> read(Found found, const std::vector<std::string>& by_default, Loading& loading) const;
    std::string text(const std::vector<std::string>& value) const;
    std::string type() const { return endpoints ? "endpoints" : "list"; }
    std::string range() const { return {}; }
};

// A directive that may repeat, each time with its own words: allow, deny, exec.publish.
struct RulesKind {
    static constexpr bool kRepeats = true;
    static constexpr bool kSplits = true;
    using Value = std::vector<std::vector<std::string>>;

    Result<Value> read(Found found, const Value& by_default, Loading& loading) const;
    std::string text(const Value& value) const;
    std::string type() const { return "list, repeatable"; }
    std::string range() const { return {}; }
};

// A block whose entries are names and values for an external command line: perfile, vfilter, vparams, aparams.
struct ArgumentsKind {
    static constexpr bool kRepeats = false;
    static constexpr bool kSplits = false;
    using Value = std::vector<std::pair<std::string, std::string>>;

    Result<Value> read(Found found, const Value& by_default, Loading& loading) const;
    std::string text(const Value& value) const;
    std::string type() const { return "block of name value;"; }
    std::string range() const { return {}; }
};

}  // namespace live::config
