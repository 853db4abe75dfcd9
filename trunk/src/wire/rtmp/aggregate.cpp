#include "wire/rtmp/aggregate.hpp"

#include <string>
#include <utility>

#include "base/bytes/byte_reader.hpp"

namespace live::wire::rtmp {
namespace {

constexpr std::size_t kBackPointerBytes = 4;

Error cut_at(std::size_t position) {
    return Error(Errc::malformed, "aggregate is cut in the part at byte " + std::to_string(position));
}

}  // namespace

AggregateReader::AggregateReader(Message aggregate) : aggregate_(std::move(aggregate)) {
    CHECK(aggregate_.type == MessageType::aggregate);
}

Result<std::optional<Message>> AggregateReader::next() {
    if (at_ == aggregate_.payload.size())
        return std::optional<Message>();
    constexpr std::size_t kHeaderBytes = 11;
    ByteReader in(aggregate_.payload.bytes().subspan(at_));
    if (in.remaining() < kHeaderBytes)
        return cut_at(at_);
    const auto type = static_cast<MessageType>(TRY(in.u8()));
    const std::uint32_t length = TRY(in.u24be());
    // The upper eight bits of the timestamp come last, as in FLV.
    const std::uint32_t time_low = TRY(in.u24be());
    const std::uint32_t time_ms = static_cast<std::uint32_t>(TRY(in.u8())) << 24 | time_low;
    TRY(in.skip(3));
    if (in.remaining() < kBackPointerBytes || in.remaining() - kBackPointerBytes < length)
        return cut_at(at_);
    if (type == MessageType::aggregate)
        return Error(Errc::malformed, "aggregate inside an aggregate");

    if (!shift_ms_)
        shift_ms_ = aggregate_.timestamp_ms - time_ms;
    Message part{type, time_ms + *shift_ms_, aggregate_.stream_id, aggregate_.chunk_stream,
                 aggregate_.payload.sub(at_ + kHeaderBytes, length)};
    at_ += kHeaderBytes + length + kBackPointerBytes;
    return std::optional<Message>(std::move(part));
}

}  // namespace live::wire::rtmp
