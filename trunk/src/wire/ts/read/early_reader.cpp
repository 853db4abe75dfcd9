#include "wire/ts/read/early_reader.hpp"

#include <utility>

namespace live::wire::ts {

void EarlyReader::read(Bytes input, std::uint64_t position) {
    newest_ = position;
    reader_.feed(input);
    hold();
}

void EarlyReader::finish() {
    reader_.finish();
    hold();
}

void EarlyReader::hold() {
    while (auto unit = reader_.next()) {
        const bool is_event = unit->format == StreamFormat::scte35 || unit->format == StreamFormat::id3;
        if (unit->kind == MediaKind::data && !is_event)
            continue;
        frame_bytes_ += memory_of(*unit);
        held_.push_back({newest_, *std::move(unit)});
    }
}

std::optional<TsReader::Unit> EarlyReader::next(std::uint64_t due) {
    if (held_.empty() || held_.front().position > due)
        return std::nullopt;
    TsReader::Unit unit = std::move(held_.front().unit);
    held_.pop_front();
    frame_bytes_ -= memory_of(unit);
    return unit;
}

}  // namespace live::wire::ts
