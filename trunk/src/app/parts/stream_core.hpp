// StreamCore: the live streams of this process, their memory, and the senders that serve one stream to many players at once.
#pragma once

#include "app/parts/part.hpp"
#include "base/log/log.hpp"
#include "io/fibers/scope.hpp"
#include "media/source/stream_table.hpp"
#include "media/wire_log/slab_log.hpp"
#include "service/transcode/transcoder_factory.hpp"
#include "session/fan_out/deferred_encoder.hpp"
#include "session/fan_out/fan_out.hpp"
#include "session/fan_out/transport_log.hpp"
#include "settings/current_settings.hpp"

namespace live::app {

class StreamCore final : public Part {
public:
    // All must outlive this. `fibers` is stopped before this is destroyed.
    StreamCore(const settings::CurrentSettings& settings, io::Scope& fibers, const Log& log);
    StreamCore(const StreamCore&) = delete;
    StreamCore& operator=(const StreamCore&) = delete;

    media::StreamTable& table() { return table_; }
    media::SlabPool& slabs() { return slabs_; }
    session::FanOut& fan_out() { return fan_out_; }
    session::TransportLogs& transports() { return transports_; }
    const media::AudioTranscoders& transcoders() const { return transcoders_; }

    void add_services(service::ServiceList& services) override { services.add(transcoders_); }

private:
    media::SlabPool slabs_;
    service::transcode::TranscoderFactory transcoders_;
    media::StreamTable table_{slabs_};
    session::FanOut fan_out_;
    session::DeferredEncoder deferred_encoder_;
    session::TransportLogs transports_{slabs_};
};

}  // namespace live::app
