// Any bytes: refused, or read as rows that are written and read back the same, and added up.
#include "base/check.hpp"
#include "engine/workers/row_report.hpp"

namespace {

using namespace live::engine::workers;

std::string written(const RowReport& report) {
    std::string bytes = write_row_report(report.head);
    for (const Row& row : report.rows)
        append_row(bytes, row);
    return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const auto report = parse_row_report({data, size});
    if (!report.ok())
        return 0;
    const std::string bytes = written(*report);
    CHECK(bytes == written(MUST(parse_row_report(live::as_bytes(bytes)))));
    RowReport sum;
    add_report(sum, 1, *report);
    add_report(sum, 2, *report);
    return 0;
}
