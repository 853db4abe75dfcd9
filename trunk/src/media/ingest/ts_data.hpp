// Data of transport streams as timed events: sections of SCTE 35 and ID3 tags. Other data stays in the transport stream only.
#pragma once

#include "media/ingest/ingest.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::media {

// Reports whether data of this format becomes events.
constexpr bool carries_events(wire::ts::StreamFormat format) {
    return format == wire::ts::StreamFormat::scte35 || format == wire::ts::StreamFormat::id3;
}

// Pushes a unit of data. Sections without a splice, which encoders send to show that they are there, and unreadable data are left
// out.
void push_ts_data(Ingest& ingest, const wire::ts::TsReader::Unit& unit);

}  // namespace live::media
