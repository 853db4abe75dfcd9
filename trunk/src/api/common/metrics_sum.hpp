// MetricsSum: the metric families of several workers, combined into those of the server.
#pragma once

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/text/metrics_text.hpp"

namespace live::api {

class MetricsSum {
public:
    // Families and samples keep the order in which they are first added, the values of workers the order of their numbers. A
    // family that is not added up keeps the sample of the worker that is added first.
    void add(std::size_t worker, const MetricFamilies& families);
    const MetricFamilies& families() const { return families_; }

private:
    struct Index {
        std::size_t family = 0;
        std::unordered_map<std::string, std::size_t> samples;  // by suffix and labels
    };

    void add_family(Index& index, std::size_t worker, const MetricFamily& more);

    MetricFamilies families_;
    std::unordered_map<std::string, Index> index_;  // by name
};

}  // namespace live::api
