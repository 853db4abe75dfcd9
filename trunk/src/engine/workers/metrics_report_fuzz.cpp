// Any bytes: refused, or read as families that are written and read back the same.
#include "base/check.hpp"
#include "engine/workers/metrics_report.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live::engine::workers;
    const auto families = parse_metrics_report({data, size});
    if (!families.ok())
        return 0;
    const std::string written = write_metrics_report(*families);
    CHECK(written == write_metrics_report(MUST(parse_metrics_report(live::as_bytes(written)))));
    return 0;
}
