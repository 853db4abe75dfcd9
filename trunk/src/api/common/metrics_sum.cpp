#include "api/common/metrics_sum.hpp"

#include <algorithm>

namespace live::api {

namespace {

using Combine = MetricFamily::Combine;
using Value = MetricSample::Value;

double real(const Value& value) {
    return std::visit([](auto number) { return static_cast<double>(number); }, value);
}

void combine(Value& sum, const Value& more, Combine how) {
    if (how == Combine::first)
        return;
    if (how == Combine::greatest) {
        sum = real(more) > real(sum) ? more : sum;
        return;
    }
    const auto* whole = std::get_if<std::uint64_t>(&more);
    if (auto* both_whole = std::get_if<std::uint64_t>(&sum); both_whole != nullptr && whole != nullptr)
        *both_whole += *whole;
    else
        sum = real(sum) + real(more);
}

// Two samples with the same key are the same series. The labels of a family that keeps the first sample differ by process.
std::string key_of(const MetricFamily& family, const MetricSample& sample) {
    std::string key = sample.suffix;
    if (family.combine == Combine::first)
        return key;
    for (const auto& [name, value] : sample.labels)
        key.append(1, '\0').append(name).append(1, '\0').append(value);
    return key;
}

}  // namespace

void MetricsSum::add(std::size_t worker, const MetricFamilies& families) {
    for (const MetricFamily& family : families) {
        const auto [at, is_new] = index_.try_emplace(family.name);
        if (is_new) {
            at->second.family = families_.size();
            families_.push_back(family);
            families_.back().samples.clear();
        }
        add_family(at->second, worker, family);
    }
}

void MetricsSum::add_family(Index& index, std::size_t worker, const MetricFamily& more) {
    MetricFamily& family = families_[index.family];
    for (const MetricSample& sample : more.samples) {
        const auto [at, is_new] = index.samples.try_emplace(key_of(family, sample), family.samples.size());
        if (is_new)
            family.samples.push_back(sample);
        else
            combine(family.samples[at->second].value, sample.value, family.combine);
        if (family.is_by_worker && sample.labels.empty()) {
            auto& workers = family.samples[at->second].by_worker;
            workers.emplace(std::ranges::upper_bound(workers, worker, {}, [](const auto& one) { return one.first; }), worker,
                            sample.value);
        }
    }
}

}  // namespace live::api
