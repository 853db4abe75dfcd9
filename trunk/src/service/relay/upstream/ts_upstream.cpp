#include "service/relay/upstream/ts_upstream.hpp"

#include <utility>

#include "media/ingest/announced_kinds.hpp"

namespace live::service::relay {

Result<void> TsUpstream::handle_bytes(TimePoint, Bytes input) {
    bytes_received_ += input.size();
    reader_.feed(input);
    return {};
}

Result<void> TsUpstream::handle_end() {
    reader_.finish();
    has_ended_ = true;
    return {};
}

std::optional<UpstreamEvent> TsUpstream::poll_event() {
    while (auto unit = reader_.next()) {
        if (unit->kind == MediaKind::data)
            continue;
        if (announced_version_ != reader_.version()) {
            announced_version_ = reader_.version();
            announced_ = media::announced_by(reader_);
        }
        return GotFrame{unit->kind, std::move(unit->frame), announced_};
    }
    if (std::exchange(has_ended_, false))
        return Ended{"the origin has ended the connection", true};
    return std::nullopt;
}

}  // namespace live::service::relay
