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

std::string_view name_of(MetricFamily::Type type) {
    switch (type) {
        case MetricFamily::Type::gauge: return "gauge";
        case MetricFamily::Type::counter: return "counter";
        default: return "histogram";
    }
}

std::string number_text(double value) { return fmt::format("{}", value); }

std::string number_text(const MetricSample::Value& value) {
    return std::visit([](auto number) { return fmt::format("{}", number); }, value);
}

void append_sample(std::string& out, std::string_view name, const MetricSample& sample) {
    out.append(name).append(sample.suffix);
    char separator = '{';
    for (const auto& [label, value] : sample.labels) {
        out.append(1, separator).append(label).append("=\"");
        append_label_value(out, value);
        out += '"';
        separator = ',';
    }
    if (!sample.labels.empty())
        out += '}';
    out.append(1, ' ').append(number_text(sample.value)).append(1, '\n');
}

void append_workers(std::string& out, std::string_view name, const MetricSample& sample) {
    for (const auto& [worker, value] : sample.by_worker)
        out += fmt::format("{}{}{{worker=\"{}\"}} {}\n", name, sample.suffix, worker, number_text(value));
}

void append_head(std::string& out, std::string_view name, std::string_view help, MetricFamily::Type type) {
    out += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, name_of(type));
}

void append_by_old_name(std::string& out, const MetricFamily& family) {
    constexpr std::string_view kPrefix = "millrace_";
    if (!family.name.starts_with(kPrefix))
        return;
    const std::string name = "live_" + family.name.substr(kPrefix.size());
    append_head(out, name, fmt::format("Deprecated, now {}.", family.name), family.type);
    for (const MetricSample& sample : family.samples)
        append_sample(out, name, sample);
}

}  // namespace

std::string metrics_text(const MetricFamilies& families) {
    std::string text;
    for (const MetricFamily& family : families) {
        append_head(text, family.name, family.help, family.type);
        for (const MetricSample& sample : family.samples) {
            append_sample(text, family.name, sample);
            append_workers(text, family.name, sample);
        }
        append_by_old_name(text, family);
    }
    return text;
}

MetricsText& MetricsText::family(std::string_view name, Type type, std::string_view help) {
    families_.push_back({.name = std::string(name), .type = type, .help = std::string(help)});
    return *this;
}

MetricsText& MetricsText::combine(MetricFamily::Combine combine) {
    families_.back().combine = combine;
    return *this;
}

MetricsText& MetricsText::by_worker() {
    families_.back().is_by_worker = true;
    return *this;
}

MetricsText& MetricsText::sample(double value, const Labels& labels) { return add("", labels, value); }

MetricsText& MetricsText::sample(std::uint64_t value, const Labels& labels) { return add("", labels, value); }

MetricsText& MetricsText::histogram(std::span<const double> bounds, std::span<const std::uint64_t> counts, double sum) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        below += counts[i];
        add("_bucket", {{"le", i < bounds.size() ? number_text(bounds[i]) : "+Inf"}}, below);
    }
    add("_sum", {}, sum);
    return add("_count", {}, below);
}

MetricsText& MetricsText::add(std::string_view suffix, const Labels& labels, MetricSample::Value value) {
    families_.back().samples.push_back({.suffix = std::string(suffix), .labels = {labels.begin(), labels.end()}, .value = value});
    return *this;
}

}  // namespace live
