// MetricsText: the text that Prometheus scrapes (exposition format 0.0.4), written family by family.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace live {

class MetricsText {
public:
    using Labels = std::vector<std::pair<std::string_view, std::string>>;
    enum class Type : std::uint8_t { gauge, counter, histogram };

    // Samples belong to the last family begun. `name` is one of ours, `help` one line. A family millrace_NAME is written again as
    // live_NAME, its previous name, until 7.2.
    MetricsText& family(std::string_view name, Type type, std::string_view help);
    MetricsText& sample(double value, const Labels& labels = {});
    MetricsText& sample(std::uint64_t value, const Labels& labels = {});
    // A whole histogram: the count of values up to each bound and above the last, not cumulative.
    MetricsText& histogram(std::span<const double> bounds, std::span<const std::uint64_t> counts, double sum);

    std::string take();

private:
    void repeat_by_old_name();
    void add(std::string_view ending, const Labels& labels, std::string_view value);

    std::string text_;
    std::string name_;
    std::size_t family_begins_ = 0;
};

}  // namespace live
