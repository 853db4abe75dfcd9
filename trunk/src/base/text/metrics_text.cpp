#include "base/text/metrics_text.hpp"

#include <fmt/format.h>

namespace live {

namespace {

// Length in bytes of the UTF-8 character at the front of `text`; 0 when invalid (RFC 3629, 3).
std::size_t character_bytes(std::string_view text) {
    const auto byte = [text](std::size_t at) { return static_cast<unsigned char>(text[at]); };
    const unsigned first = byte(0);
    const std::size_t size = first < 0x80                    ? 1
                             : first >= 0xC2 && first < 0xE0 ? 2
                             : first >= 0xE0 && first < 0xF0 ? 3
                             : first >= 0xF0 && first < 0xF5 ? 4
                                                             : 0;
    if (size == 0 || size > text.size())
        return 0;
    for (std::size_t i = 1; i < size; ++i)
        if ((byte(i) & 0xC0U) != 0x80)
            return 0;
    // Overlong forms, surrogates, and code points above U+10FFFF.
    const bool is_wrong = size > 2 && ((first == 0xE0 && byte(1) < 0xA0) || (first == 0xED && byte(1) >= 0xA0) ||
                                       (first == 0xF0 && byte(1) < 0x90) || (first == 0xF4 && byte(1) >= 0x90));
    return is_wrong ? 0 : size;
}

void append_label_value(std::string& out, std::string_view value) {
    while (!value.empty()) {
        const std::size_t size = character_bytes(value);
        const std::string_view letter = value.substr(0, std::max<std::size_t>(size, 1));
        if (letter == "\\" || letter == "\"")
            out += '\\';
        if (letter == "\n")
            out += "\\n";
        else if (size == 0)
            out += "\xEF\xBF\xBD";  // U+FFFD
        else
            out += letter;
        value.remove_prefix(letter.size());
    }
}

std::string_view name_of(MetricsText::Type type) {
    switch (type) {
        case MetricsText::Type::gauge: return "gauge";
        case MetricsText::Type::counter: return "counter";
        default: return "histogram";
    }
}

constexpr std::size_t kCommentBytes = 7;  // "# HELP " and "# TYPE "

std::string number_text(double value) { return fmt::format("{}", value); }

}  // namespace

MetricsText& MetricsText::family(std::string_view name, Type type, std::string_view help) {
    repeat_by_old_name();
    family_begins_ = text_.size();
    name_ = name;
    text_ += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, name_of(type));
    return *this;
}

MetricsText& MetricsText::sample(double value, const Labels& labels) {
    add("", labels, number_text(value));
    return *this;
}

MetricsText& MetricsText::sample(std::uint64_t value, const Labels& labels) {
    add("", labels, std::to_string(value));
    return *this;
}

MetricsText& MetricsText::histogram(std::span<const double> bounds, std::span<const std::uint64_t> counts, double sum) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        below += counts[i];
        add("_bucket", {{"le", i < bounds.size() ? number_text(bounds[i]) : "+Inf"}}, std::to_string(below));
    }
    add("_sum", {}, number_text(sum));
    add("_count", {}, std::to_string(below));
    return *this;
}

std::string MetricsText::take() {
    repeat_by_old_name();
    name_.clear();
    return std::move(text_);
}

void MetricsText::repeat_by_old_name() {
    constexpr std::string_view kPrefix = "millrace_";
    constexpr std::string_view kOldPrefix = "live_";
    if (!name_.starts_with(kPrefix))
        return;
    const std::string family = text_.substr(family_begins_);
    for (std::string_view left = family; !left.empty();) {
        const std::string_view line = left.substr(0, left.find('\n') + 1);
        left.remove_prefix(line.size());
        // The name is a line's first word, or the one after HELP and TYPE.
        const bool is_help = line.starts_with("# HELP ");
        const std::size_t at = is_help || line.starts_with("# TYPE ") ? kCommentBytes : 0;
        text_ += line.substr(0, at);
        text_ += kOldPrefix;
        text_ += is_help ? fmt::format("{} Deprecated, now {}.\n", name_.substr(kPrefix.size()), name_)
                         : std::string(line.substr(at + kPrefix.size()));
    }
}

void MetricsText::add(std::string_view ending, const Labels& labels, std::string_view value) {
    text_ += name_;
    text_ += ending;
    char separator = '{';
    for (const auto& [name, label] : labels) {
        text_ += separator;
        text_ += name;
        text_ += "=\"";
        append_label_value(text_, label);
        text_ += '"';
        separator = ',';
    }
    if (!labels.empty())
        text_ += '}';
    text_ += ' ';
    text_ += value;
    text_ += '\n';
}

}  // namespace live
