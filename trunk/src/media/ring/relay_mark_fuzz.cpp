// Any body of a data message as a mark of another node: refused, or within the limits, and then written again as it was meant.
#include "base/check.hpp"
#include "media/ring/relay_mark.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace live;
    const Bytes body(data, size);
    const auto mark = media::read_relay_mark(body);
    if (!mark.ok())
        return 0;
    CHECK(media::is_relay_mark(body));
    CHECK(mark->series.size() <= media::RelayMark::kSeriesMax && mark->text.size() <= media::RelayMark::kTextMax);
    const Slice written = media::write_relay_mark(*mark);
    const auto again = media::read_relay_mark(written.bytes());
    CHECK(again.ok() && again->series == mark->series && again->text == mark->text && again->to_origin == mark->to_origin);
    return 0;
}
