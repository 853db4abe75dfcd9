// Port: one UDP port of a caster of transport streams, and the stream that it publishes, from one sender at a time. Each socket
// has a fiber, which receives, reads the stream and appends frames; the session has one that requests admission and waits for
// the end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log/log.hpp"
#include "base/net/transport_address.hpp"
#include "io/fibers/scope.hpp"
#include "io/net/udp_socket.hpp"
#include "session/common/read_tick.hpp"
#include "session/mpegts/demuxed_input.hpp"
#include "session/mpegts/listen_address.hpp"
#include "session/mpegts/rtp_order.hpp"
#include "wire/rtmp/stream_url.hpp"
#include "wire/ts/read/ts_reader.hpp"

namespace live::session::mpegts {

class Port final : private DemuxedInput {
public:
    // Another sender is listened to when the last one has been silent for this long.
    static constexpr std::chrono::seconds kSenderHolds{5};
    // After a refusal or a kick, which the sender is not notified of, admission is requested again after this time. Until then
    // its datagrams are dropped.
    static constexpr std::chrono::seconds kRetryAfter{5};
    // Frames kept while admission takes its time; later ones are dropped.
    static constexpr std::size_t kPendingBytesMax = 4U << 20;
    // Asked of the kernel, which doubles it and counts 2,304 bytes for a datagram of 1,316: 150 ms of 500 Mbps. The ticks of
    // faster streams, or with a smaller buffer, are shorter (ReadTick).
    static constexpr std::size_t kBufferBytes = 8U << 20;

    struct Counters {
        std::uint64_t datagrams = 0;
        std::uint64_t bytes = 0;
        std::uint64_t strangers = 0;  // of other senders
        std::uint64_t foreign = 0;    // not a transport stream
        std::uint64_t left_out = 0;   // frames during a slow admission, and datagrams after a refusal
    };

    Port(Context& context, wire::rtmp::StreamUrl url, io::Scope& sessions, const Log& log);
    ~Port();
    Port(const Port&) = delete;
    Port& operator=(const Port&) = delete;

    // Errors as UdpSocket::bind and UdpSocket::join.
    Result<void> listen(const ListenAddress& address);
    // Starts a fiber for each socket; they end with the scope.
    Result<void> start(io::Scope& scope);

    // Datagrams of one batch.
    void take(std::span<const io::Datagram> datagrams, TimePoint now);
    // Drops what has begun and was never published, if its sender is silent.
    void forget_silent(TimePoint now);

    const Counters& counters() const { return counters_; }
    const wire::ts::TsReader& reader() const { return *reader_; }
    std::size_t sockets() const { return sockets_.size(); }
    std::uint16_t port_number() const { return sockets_.empty() ? std::uint16_t{0} : sockets_.front()->endpoint().port; }

private:
    // DemuxedInput
    const Context& context() const override { return context_; }
    TimePoint heard() const override { return heard_; }
    std::uint64_t received_bytes() const override { return counters_.bytes; }
    std::size_t held_bytes() const override { return reader_->held_bytes() + pending_bytes_; }
    void set_sink(FrameSink* sink) override;
    void finish_reader() override;

    void receive(io::UdpSocket& socket, io::Deadline deadline);
    Result<void> wait_for_tick(io::UdpSocket& socket, ReadTick& ticks, std::size_t received, io::Deadline deadline);
    bool take_sender(const io::Datagram& datagram, TimePoint now);
    bool is_refused(TimePoint now);
    void begin_stream();
    void read(Bytes bytes, TimePoint now);
    void drain(TimePoint now);
    void keep(wire::ts::TsReader::Unit unit);
    void open_session(TimePoint now);
    void serve(const std::string& id, const TransportAddress& from, io::Deadline deadline);
    void log_tracks();

    Context& context_;
    const wire::rtmp::StreamUrl url_;
    io::Scope& sessions_;
    const Log& log_;
    std::vector<std::unique_ptr<io::UdpSocket>> sockets_;
    std::unique_ptr<wire::ts::TsReader> reader_;
    RtpOrder order_;
    std::vector<std::uint8_t> ordered_;  // scratch
    std::optional<TransportAddress> sender_;
    bool is_rtp_ = false;
    TimePoint heard_{};
    std::optional<TimePoint> retry_at_;
    bool has_session_ = false;
    FrameSink* sink_ = nullptr;
    std::vector<wire::ts::TsReader::Unit> pending_;
    std::size_t pending_bytes_ = 0;
    std::uint32_t logged_version_ = 0;
    Counters counters_;
};

}  // namespace live::session::mpegts
