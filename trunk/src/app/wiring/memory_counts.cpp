#include "app/wiring/memory_counts.hpp"

#include <cstddef>
#include <optional>
#include <string>

#include "io/fibers/loop.hpp"
#include "io/tls/openssl_memory.hpp"
#include "media/source/source.hpp"
#include "service/files/sessions.hpp"
#include "session/common/client_kind.hpp"
#include "session/http_live/play_session.hpp"
#include "session/rtc/play_session.hpp"
#include "session/rtc/publish_session.hpp"
#include "session/rtmp/play_session.hpp"
#include "session/rtmp/publish_session.hpp"
#include "session/srt/play_session.hpp"
#include "session/srt/publish_session.hpp"

namespace live::app {

namespace {

// The session object; its connection, fiber and stack are counted separately. None: there is no session of this kind yet.
std::optional<std::size_t> session_bytes(session::ClientKind kind) {
    using session::ClientKind;
    switch (kind) {
        case ClientKind::rtmp_play: return sizeof(session::rtmp::PlaySession);
        case ClientKind::flv_play: return sizeof(session::http_live::PlaySession);
        case ClientKind::rtc_play: return sizeof(session::rtc::PlaySession);
        case ClientKind::rtc_publish: return sizeof(session::rtc::PublishSession);
        case ClientKind::srt_play: return sizeof(session::srt::PlaySession);
        case ClientKind::srt_publish: return sizeof(session::srt::PublishSession);
        case ClientKind::hls_play: return sizeof(service::files::Session);
        case ClientKind::fmle_publish:
        case ClientKind::flash_publish:
        case ClientKind::haivision_publish: return sizeof(session::rtmp::PublishSession);
        default: return std::nullopt;
    }
}

api::MemoryKind sessions(session::ClientKind kind, std::size_t count) {
    const auto bytes = session_bytes(kind);
    return {"sessions_" + std::string(session::name_of(kind)), count, bytes ? std::optional(count * *bytes) : std::nullopt};
}

}  // namespace

// Memory of the engine for WebRTC sessions of any kind. OpenSSL's part is in tls_sessions; the SRTP library's is not counted.
void ProcessMemory::add_rtc(std::vector<api::MemoryKind>& kinds) const {
    const session::rtc::PortMemory rtc = rtc_.memory();
    std::size_t rtp_logs = 0;
    std::size_t rtp_log_bytes = 0;
    streams_.for_each([&](const media::Source& source) {
        source.for_each_rtp_log([&](const media::RtpLog& rtp_log) {
            ++rtp_logs;
            rtp_log_bytes += sizeof rtp_log + rtp_log.held_bytes();
        });
    });
    kinds.insert(kinds.end(), {{"rtp_logs", rtp_logs, rtp_log_bytes},
                               {"rtc_engines", rtc_.sessions(), rtc.engine_bytes},
                               {"rtc_dtls", rtc.dtls_objects, std::nullopt},
                               {"rtc_paths", rtc.paths, rtc.path_bytes},
                               {"rtc_output", 1, rtc.buffer_bytes}});
}

void ProcessMemory::add_srt(std::vector<api::MemoryKind>& kinds) const {
    const session::srt::PortMemory srt = srt_.port().memory();
    kinds.insert(kinds.end(), {{"srt_connections", srt_.port().links(), srt.connection_bytes},
                               {"srt_units", srt_.players().groups(), srt_.players().held_bytes()},
                               {"srt_output", 1, srt.buffer_bytes}});
}

std::vector<api::MemoryKind> ProcessMemory::count() const {
    constexpr auto kSlab = media::SlabPool::kSlabBytes;
    const media::SourceTotals& media = slabs_.totals();
    const io::LoopCounters loop = io::Loop::counters();
    std::vector<api::MemoryKind> kinds = {
        {"sources", media.sources, media.sources * sizeof(media::Source)},
        {"packets", media.packets, media.packet_bytes},
        {"wire_slabs", slabs_.in_use(), slabs_.in_use() * kSlab},
        {"wire_slabs_pooled", slabs_.free(), slabs_.free() * kSlab},
        {"connections", places_.used(), places_.bytes()},
        {"rtc_half_open", places_.half_open(), std::nullopt},
        {"addresses", places_.addresses().size(), places_.addresses().bytes()},
        {"unfinished", places_.memory().uses().size(), places_.memory().bytes(session::MemoryBudget::Kind::unfinished)},
        {"windows", media.sources, places_.memory().windows()},
        {"tls_sessions", loop.tls_sessions, io::openssl_bytes()},
        {"fibers", loop.fibers, loop.fibers * loop.fiber_bytes},
        // Address space: a parked fiber has touched little of it (/api/v1/fibers).
        {"stacks", loop.stacks, loop.stacks * loop.stack_bytes},
        {"stacks_pooled", loop.stacks_pooled, loop.stacks_pooled * loop.stack_bytes},
        // Of the log and the access log: lines waiting to be written.
        {"log_queues", 2, log_.counters().memory_bytes + access_log_.counters().memory_bytes},
    };
    add_rtc(kinds);
    add_srt(kinds);
    for (std::size_t i = 0; i < session::kClientKinds; ++i) {
        const auto kind = static_cast<session::ClientKind>(i);
        if (kind != session::ClientKind::unknown)
            kinds.push_back(sessions(kind, stream_stats_.clients(kind)));
    }
    return kinds;
}

}  // namespace live::app
