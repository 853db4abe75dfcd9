#include "base/config/kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>

#include "base/config/nearest.hpp"
#include "base/net/endpoint.hpp"
#include "base/text/ascii.hpp"

namespace live::config {

namespace {

// The directive's one word. A block or a missing word is an error; extra words cause a warning and are ignored.
Result<std::string_view> one_word(const Directive& directive, std::string_view expected, Loading& loading) {
    if (directive.is_block)
        return directive.at.error(fmt::format("found a block behind \"{}\", expected {} and \";\"", directive.name, expected));
    if (directive.args.empty())
        return directive.at.error(fmt::format("found no value behind \"{}\", expected {}", directive.name, expected));
    if (directive.args.size() > 1) {
        loading.warn(directive.args[1].at, fmt::format("\"{}\" takes one value, \"{}\" and what follows is not used",
                                                       directive.name, directive.args[1].text));
    }
    return std::string_view(directive.args.front().text);
}

Result<void> refuse_block(const Directive& directive, std::string_view expected) {
    if (!directive.is_block)
        return {};
    return directive.at.error(fmt::format("found a block behind \"{}\", expected {} and \";\"", directive.name, expected));
}

// A text or a list without a word: empty quotes mean that it is empty on purpose; otherwise a value is missing.
Result<void> refuse_forgotten(const Directive& directive, std::string_view expected) {
    if (directive.has_empty_quotes)
        return {};
    return directive.at.error(
        fmt::format("found no value behind \"{}\", expected {}; \"\" is an empty one", directive.name, expected));
}

// The truth value that a word has for a reader, where it has one.
std::optional<bool> meaning_of(std::string_view word) {
    const auto is_it = [word](std::string_view known) { return ascii::are_same(word, known); };
    static constexpr std::array<std::string_view, 6> kOnWords = {"on", "true", "yes", "1", "enable", "enabled"};
    static constexpr std::array<std::string_view, 6> kOffWords = {"off", "false", "no", "0", "disable", "disabled"};
    if (std::ranges::any_of(kOnWords, is_it))
        return true;
    if (std::ranges::any_of(kOffWords, is_it))
        return false;
    return std::nullopt;
}

std::vector<std::string> words_of(const Directive& directive) {
    std::vector<std::string> words;
    for (const Argument& argument : directive.args)
        words.push_back(argument.text);
    return words;
}

}  // namespace

Result<bool> BoolKind::read(Found found, bool by_default, Loading& loading) const {
    const Directive& directive = *found.front();
    const std::string_view word = TRY(one_word(directive, "on or off", loading));
    if (word == "on" || word == "off")
        return word == "on";
    const bool value = rule == BoolRule::off_is_off || (rule == BoolRule::plain && by_default);
    // The family takes any other word for the value above. Where that is the opposite of the word's meaning, or the word has
    // none, the option does not do what its author wrote.
    const Place& at = directive.args.front().at;
    if (meaning_of(word) != value) {
        const std::array<std::string_view, 2> known = {"on", "off"};
        return at.error(fmt::format("found \"{}\" for \"{}\", expected on or off{}", word, directive.name,
                                    config::did_you_mean(word, known)));
    }
    loading.warn(at, fmt::format("found \"{}\" for \"{}\", expected on or off; taken as {}", word, directive.name, text(value)));
    return value;
}

Result<double> read_number(const Directive& directive, const Bounds& bounds, double by_default, bool whole, Loading& loading) {
    const std::string_view expected = whole ? "a whole number" : "a number";
    const std::string_view word = TRY(one_word(directive, expected, loading));
    const Place& at = directive.args.front().at;
    double value = 0;
    const auto [end, failure] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (failure != std::errc() || end != word.data() + word.size() || !std::isfinite(value) ||
        (whole && value != std::floor(value))) {
        return at.error(
            fmt::format("found \"{}\" for \"{}\", expected {} from {}", word, directive.name, expected, range_text(bounds)));
    }
    if (value >= bounds.min && value <= bounds.max)
        return value;
    if (bounds.policy == OnRange::refuse)
        return at.error(
            fmt::format("found {} for \"{}\", expected {} from {}", word, directive.name, expected, range_text(bounds)));
    const double used = bounds.policy == OnRange::use_default ? by_default : (value < bounds.min ? bounds.min : bounds.max);
    loading.warn(at, fmt::format("found {} for \"{}\", expected {} from {}; {} is used", word, directive.name, expected,
                                 range_text(bounds), number_text(used)));
    return used;
}

std::string number_text(double value) {
    if (value == std::floor(value) && std::abs(value) < 1e15)
        return std::to_string(static_cast<std::int64_t>(value));
    return fmt::format("{}", value);
}

std::string range_text(const Bounds& bounds) { return number_text(bounds.min) + ".." + number_text(bounds.max); }

Result<std::size_t> read_choice(const Directive& directive, std::span<const std::string_view> names, Loading& loading) {
    const std::string_view word = TRY(one_word(directive, choice_type(names), loading));
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (names[i] == word)
            return i;
    }
    return directive.args.front().at.error(fmt::format("found \"{}\" for \"{}\", expected {}{}", word, directive.name,
                                                       choice_type(names), did_you_mean(word, names)));
}

std::string choice_type(std::span<const std::string_view> names) { return fmt::format("one of {}", fmt::join(names, ", ")); }

Result<std::string> TextKind::read(Found found, const std::string&, Loading& loading) const {
    const Directive& directive = *found.front();
    if (!words.empty()) {
        if (!directive.is_block && directive.args.empty()) {
            TRY(refuse_forgotten(directive, choice_type(words)));
            return std::string();
        }
        return std::string(words[TRY(read_choice(directive, words, loading))]);
    }
    TRY(refuse_block(directive, "a text"));
    if (directive.args.empty()) {
        if (!may_be_empty)
            TRY(refuse_forgotten(directive, "a text"));
        return std::string();
    }
    return std::string(TRY(one_word(directive, "a text", loading)));
}

Result<std::vector<std::string>> ListKind::read(Found found, const std::vector<std::string>&, Loading&) const {
    const Directive& directive = *found.front();
    TRY(refuse_block(directive, "a list"));
    if (!endpoints) {
        if (directive.args.empty())
            TRY(refuse_forgotten(directive, "a list"));
        return words_of(directive);
    }
    if (directive.args.empty())
        return directive.at.error(
            fmt::format("found no value behind \"{}\", expected port, ip:port or [ipv6]:port", directive.name));
    for (const Argument& argument : directive.args) {
        const auto endpoint = parse_endpoint(argument.text);
        if (!endpoint.ok()) {
            return argument.at.error(
                fmt::format("found \"{}\" for \"{}\", expected port, ip:port or [ipv6]:port with a port from "
                            "1..65535: {}",
                            argument.text, directive.name, endpoint.error().sentence()));
        }
    }
    return words_of(directive);
}

std::string ListKind::text(const std::vector<std::string>& value) const {
    std::string out;
    for (const std::string& word : value)
        out += (out.empty() ? "" : " ") + config::quoted(word);
    return out;
}

Result<RulesKind::Value> RulesKind::read(Found found, const Value&, Loading&) const {
    Value rules;
    for (const Directive* directive : found) {
        TRY(refuse_block(*directive, "a list"));
        rules.push_back(words_of(*directive));
    }
    return rules;
}

std::string RulesKind::text(const Value& value) const {
    std::string out;
    for (const auto& rule : value)
        out += (out.empty() ? "" : "; ") + ListKind{}.text(rule);
    return out;
}

Result<ArgumentsKind::Value> ArgumentsKind::read(Found found, const Value&, Loading& loading) const {
    const Directive& directive = *found.front();
    if (!directive.is_block)
        return directive.at.error(fmt::format("found no block behind \"{}\", expected \"{{\"", directive.name));
    Value arguments;
    for (const Directive& child : directive.children) {
        TRY(refuse_block(child, "a value"));
        if (child.args.size() > 1)
            loading.warn(child.args[1].at, fmt::format("\"{}\" takes one value; write it in quotes", child.name));
        arguments.emplace_back(child.name, child.arg(0));
    }
    return arguments;
}

std::string ArgumentsKind::text(const Value& value) const {
    std::string out;
    for (const auto& [name, argument] : value)
        out += (out.empty() ? "" : " ") + name + (argument.empty() ? "" : " " + config::quoted(argument)) + ";";
    return out;
}

}  // namespace live::config
