#include "media/ring/sync_message.hpp"

#include <cmath>

#include "base/bytes/byte_reader.hpp"
#include "base/bytes/byte_writer.hpp"
#include "base/check.hpp"
#include "wire/amf/amf.hpp"

namespace live::media {

namespace amf = wire::amf;

Slice write_sync_message(const SyncMessage& message) {
    CHECK(message.series.size() <= SyncMessage::kSeriesMax && message.text.size() <= SyncMessage::kTextMax);
    ByteWriter writer;
    for (const std::string_view value : {kSyncMessageName, std::string_view(message.series), std::string_view(message.text)})
        amf::write_amf0(writer, amf::Value(value));
    amf::write_amf0(writer, amf::Value(static_cast<double>(message.to_origin.count())));
    return Slice::copy_of(writer.written());
}

Result<SyncMessage> read_sync_message(Bytes body) {
    ByteReader reader(body);
    const amf::Value name = TRY(amf::read_amf0(reader));
    const amf::Value series = TRY(amf::read_amf0(reader));
    const amf::Value text = TRY(amf::read_amf0(reader));
    const amf::Value offset = TRY(amf::read_amf0(reader));
    if (name.string() != kSyncMessageName || !series.string() || !text.string() || !offset.number())
        return Error(Errc::malformed, "not a sync message");
    if (series.string()->size() > SyncMessage::kSeriesMax || text.string()->size() > SyncMessage::kTextMax)
        return Error(Errc::limit, "the sync message is too long");
    constexpr double kOffsetMax = 9'007'199'254'740'992;  // 2^53: whole numbers
    if (!(std::abs(*offset.number()) <= kOffsetMax))
        return Error(Errc::malformed, "the sync message has no valid time offset");
    return SyncMessage{std::string(*series.string()), std::string(*text.string()),
                       MediaTime(static_cast<std::int64_t>(*offset.number()))};
}

bool is_sync_message(Bytes body) {
    ByteReader reader(body);
    const auto name = amf::read_amf0(reader);
    return name.ok() && name->string() == kSyncMessageName;
}

}  // namespace live::media
