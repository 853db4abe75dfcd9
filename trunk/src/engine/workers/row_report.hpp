// The rows that one worker reports to another, as bytes. Both are processes of this server, but during an upgrade of different
// versions: a report that cannot be read is left out of the sums.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "engine/workers/row.hpp"

namespace live::engine::workers {

// The media type that a worker accepts when it combines answers, of reports of rows and of metrics.
inline constexpr std::string_view kReportType = "application/vnd.millrace.report";

inline constexpr std::size_t kReportedValuesMax = 2'000'000;  // fields, rows and names
inline constexpr std::size_t kReportedDepthMax = 8;           // rows inside of rows

// A report is a head, and each row appended to it. Workers are written without their numbers: a report is of one worker.
std::string write_row_report(const Row& head);
void append_row(std::string& report, const Row& row);
// Errc::malformed, Errc::limit, Errc::unsupported for another version of the format.
Result<RowReport> parse_row_report(Bytes report);

}  // namespace live::engine::workers
