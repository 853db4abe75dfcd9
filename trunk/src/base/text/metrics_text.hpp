// MetricsText: metric families of this process, and the text of them that Prometheus scrapes (exposition format 0.0.4).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace live {

struct MetricSample {
    using Value = std::variant<std::uint64_t, double>;

    std::string suffix{};  // of the family's name: "_bucket", "_sum" and "_count" of a histogram
    std::vector<std::pair<std::string, std::string>> labels{};
    Value value{};
    // In a sum, for some families: each worker's own value, which is written with a label `worker`.
    std::vector<std::pair<std::size_t, Value>> by_worker{};

    bool operator==(const MetricSample&) const = default;
};

// A metric with its samples. Workers report families, and one worker combines them.
struct MetricFamily {
    enum class Type : std::uint8_t { gauge, counter, histogram };
    // How samples of several workers with the same labels are combined.
    enum class Combine : std::uint8_t {
        add,
        greatest,  // of limits, times and states
        first,     // labels differ by process: only one worker's sample is kept
    };

    std::string name{};
    Type type = Type::gauge;
    std::string help{};  // one line
    Combine combine = Combine::add;
    bool is_by_worker = false;  // samples without labels are shown for each worker too
    std::vector<MetricSample> samples{};

    bool operator==(const MetricFamily&) const = default;
};
using MetricFamilies = std::vector<MetricFamily>;

// The text for Prometheus. A family millrace_NAME is written again as live_NAME, its previous name, until 7.2.
std::string metrics_text(const MetricFamilies& families);

class MetricsText {
public:
    using Labels = std::vector<std::pair<std::string_view, std::string>>;
    using Type = MetricFamily::Type;

    // Samples belong to the last family begun. `name` is one of ours, `help` one line.
    MetricsText& family(std::string_view name, Type type, std::string_view help);
    // These apply to the last family.
    MetricsText& combine(MetricFamily::Combine combine);
    MetricsText& by_worker();
    MetricsText& sample(double value, const Labels& labels = {});
    MetricsText& sample(std::uint64_t value, const Labels& labels = {});
    // A whole histogram: the count of values up to each bound and above the last, not cumulative.
    MetricsText& histogram(std::span<const double> bounds, std::span<const std::uint64_t> counts, double sum);

    MetricFamilies take_families() { return std::exchange(families_, {}); }
    std::string take() { return metrics_text(take_families()); }

private:
    MetricsText& add(std::string_view suffix, const Labels& labels, MetricSample::Value value);

    MetricFamilies families_;
};

}  // namespace live
