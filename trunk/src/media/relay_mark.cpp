#include "media/relay_mark.hpp"

#include "base/byte_reader.hpp"
#include "base/byte_writer.hpp"
#include "base/check.hpp"
#include "wire/amf/amf.hpp"

namespace live::media {

namespace amf = wire::amf;

Slice write_relay_mark(const RelayMark& mark) {
    CHECK(mark.series.size() <= RelayMark::kSeriesMax && mark.text.size() <= RelayMark::kTextMax);
    ByteWriter writer;
    for (const std::string_view value : {kRelayMarkName, std::string_view(mark.series), std::string_view(mark.text)})
        amf::write_amf0(writer, amf::Value(value));
    return Slice::copy_of(writer.written());
}

Result<RelayMark> read_relay_mark(Bytes body) {
    ByteReader reader(body);
    const amf::Value name = TRY(amf::read_amf0(reader));
    const amf::Value series = TRY(amf::read_amf0(reader));
    const amf::Value text = TRY(amf::read_amf0(reader));
    if (name.string() != kRelayMarkName || !series.string() || !text.string())
        return Error(Errc::malformed, "not a mark");
    if (series.string()->size() > RelayMark::kSeriesMax || text.string()->size() > RelayMark::kTextMax)
        return Error(Errc::limit, "a mark that is too long");
    return RelayMark{std::string(*series.string()), std::string(*text.string())};
}

bool is_relay_mark(Bytes body) {
    ByteReader reader(body);
    const auto name = amf::read_amf0(reader);
    return name.ok() && name->string() == kRelayMarkName;
}

}  // namespace live::media
