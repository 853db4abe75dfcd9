// PlaybackContext: what the playback port shares with the rest of the server, and its kind of client.
#pragma once

#include "base/options_of.hpp"
#include "service/hls/options.hpp"
#include "service/recordings/recordings_service.hpp"
#include "session/common/admission.hpp"
#include "session/common/client_table.hpp"
#include "session/common/protocol.hpp"

namespace live::service::recordings {

// A client that plays recordings of this node.
extern const session::ClientKindRow kRecordingPlay;

// Everything outlives the playback port.
struct PlaybackContext {
    RecordingsService& library;
    session::Admission& admission;
    session::StreamEvents& events;
    session::ClientTable& clients;
    const OptionsOf<hls::HlsOptions>& hls;
};

// The description for reports. `traffic` is that of the port's connections.
session::Protocol describe_playback(std::function<session::Traffic()> traffic);

}  // namespace live::service::recordings
