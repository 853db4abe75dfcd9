// Splits an aggregate message (RTMP 1.0, section 7.1.6), which is a list of messages in the form of FLV tags. The parts share the
// aggregate's memory; nothing is copied.
#pragma once

#include <cstdint>
#include <optional>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"
#include "wire/rtmp/message.hpp"

namespace live::wire::rtmp {

class AggregateReader {
public:
    // `aggregate` must be of type MessageType::aggregate.
    explicit AggregateReader(Message aggregate);

    // The next part; nullopt at the end. Timestamps are shifted so that the first part has the aggregate's own; stream ID and
    // chunk stream are the aggregate's. Errc::malformed when a part is truncated or is itself an aggregate; earlier parts remain
    // valid.
    Result<std::optional<Message>> next();

private:
    Message aggregate_;
    std::size_t at_ = 0;
    std::optional<std::uint32_t> shift_ms_;
};

}  // namespace live::wire::rtmp
