// The metric families that one worker reports to another, as bytes. Both are processes of this server, but during an upgrade of
// different versions: a report that cannot be read is left out of the sums.
#pragma once

#include <cstddef>
#include <string>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "base/text/metrics_text.hpp"

namespace live::engine::workers {

inline constexpr std::size_t kReportedFamiliesMax = 1'000;
inline constexpr std::size_t kReportedSamplesMax = 100'000;  // over all families
inline constexpr std::size_t kReportedLabelsMax = 16;

// The by_worker values of samples are not written: a report is of one worker.
std::string write_metrics_report(const MetricFamilies& families);
// Errc::malformed, Errc::limit, Errc::unsupported for another version of the format.
Result<MetricFamilies> parse_metrics_report(Bytes report);

}  // namespace live::engine::workers
