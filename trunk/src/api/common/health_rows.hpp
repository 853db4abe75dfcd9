// A stream's health and its viewers in responses.
#pragma once

#include <vector>

#include "api/common/rows.hpp"
#include "service/stats/stream_stats.hpp"

namespace live::api {

inline Rows health_rows(const service::stats::StreamRow& stream, TimePoint now) {
    Rows rows;
    for (const auto& note : service::stats::health_of(stream.health_facts(now)))
        rows.push_back({{"level", name_of(note.severity)}, {"code", note.code}, {"text", note.text}});
    return rows;
}

// `counts`: ViewerCounts, or the same of a point. Kinds without viewers are left out.
template <class Counts>
Rows viewer_rows(const std::vector<session::ClientKind>& kinds, const Counts& counts) {
    Rows rows;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
        if (counts[i] == 0)
            continue;
        Row row = {{"type", session::name_of(kinds[i])}, {"count", counts[i], kAdd}};
        row.key = session::name_of(kinds[i]);
        rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace live::api
