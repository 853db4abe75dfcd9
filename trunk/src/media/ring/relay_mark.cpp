#include "media/ring/relay_mark.hpp"

#include <cmath>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/check.hpp"
#include "wire/amf/amf.hpp"

namespace live::media {

namespace amf = wire::amf;

Slice write_relay_mark(const RelayMark& mark) {
    CHECK(mark.series.size() <= RelayMark::kSeriesMax && mark.text.size() <= RelayMark::kTextMax);
    ByteWriter writer;
    for (const std::string_view value : {kRelayMarkName, std::string_view(mark.series), std::string_view(mark.text)})
        amf::write_amf0(writer, amf::Value(value));
    amf::write_amf0(writer, amf::Value(static_cast<double>(mark.to_origin.count())));
    return Slice::copy_of(writer.written());
}

Result<RelayMark> read_relay_mark(Bytes body) {
    ByteReader reader(body);
    const amf::Value name = TRY(amf::read_amf0(reader));
    const amf::Value series = TRY(amf::read_amf0(reader));
    const amf::Value text = TRY(amf::read_amf0(reader));
    const amf::Value offset = TRY(amf::read_amf0(reader));
    if (name.string() != kRelayMarkName || !series.string() || !text.string() || !offset.number())
        return Error(Errc::malformed, "not a mark");
    if (series.string()->size() > RelayMark::kSeriesMax || text.string()->size() > RelayMark::kTextMax)
        return Error(Errc::limit, "a mark that is too long");
    constexpr double kOffsetMax = 9'007'199'254'740'992;  // 2^53: whole numbers
    if (!(std::abs(*offset.number()) <= kOffsetMax))
        return Error(Errc::malformed, "a mark without a place in time");
    return RelayMark{std::string(*series.string()), std::string(*text.string()),
                     MediaTime(static_cast<std::int64_t>(*offset.number()))};
}

bool is_relay_mark(Bytes body) {
    ByteReader reader(body);
    const auto name = amf::read_amf0(reader);
    return name.ok() && name->string() == kRelayMarkName;
}

}  // namespace live::media
