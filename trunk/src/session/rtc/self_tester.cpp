#include "session/rtc/self_tester.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/net/ip_network.hpp"
#include "engine/webrtc/client_session.hpp"
#include "engine/webrtc/play_session.hpp"
#include "engine/webrtc/publish_session.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/network_interfaces.hpp"
#include "io/net/resolve.hpp"
#include "io/net/tcp_stream.hpp"
#include "wire/rtp/stream_framing.hpp"

namespace live::session::rtc {

namespace sdp = wire::sdp;
using engine::webrtc::ClientSession;
using engine::webrtc::DatagramBatch;
using engine::webrtc::SessionOptions;

namespace {

// The server's end: a session without a stream that ends after its time limit.
class ProbePeer final : public Peer {
public:
    ProbePeer(Port& port, std::string ufrag, TimePoint end) : Peer(std::move(ufrag)), port_(port), end_(end) {}

    Result<void> begin(const engine::dtls::Context& dtls, const SessionOptions& options) {
        session_ = TRY(engine::webrtc::PublishSession::create(dtls, options, port_.output(), io::now()));
        return {};
    }
    void take_datagram(TimePoint now, MutBytes datagram, const TransportAddress& from) override {
        if (!session_->handle_datagram(now, datagram, from).ok())
            port_.retire(*this);
    }
    void finish_batch(TimePoint) override {}
    bool is_checked(const TransportAddress& address) const override { return session_->is_checked(address); }
    bool is_half_open() const override { return false; }
    std::optional<TimePoint> next_timeout() const override { return std::min(end_, session_->next_timeout().value_or(end_)); }
    std::size_t engine_bytes() const override { return session_->bytes(); }
    bool holds_dtls() const override { return session_->holds_dtls(); }
    void on_due(TimePoint now) override {
        if (now >= end_ || !session_->handle_timeout(now).ok())
            port_.retire(*this);
        port_.touch(*this);
    }

private:
    Port& port_;
    TimePoint end_;
    std::unique_ptr<engine::webrtc::PublishSession> session_;
};

struct Ends {
    std::string ours = random_id(SessionOpener::kUfragBytes);
    std::string theirs = random_id(SessionOpener::kUfragBytes);
    std::string our_pwd = random_id(SessionOpener::kPwdBytes);
    std::string their_pwd = random_id(SessionOpener::kPwdBytes);
};

// The client would send audio only.
sdp::Agreement agreement_of(const Ends& ends, const std::string& fingerprint, bool is_client) {
    sdp::Agreement agreement;
    sdp::Accepted audio;
    audio.kind = MediaKind::audio;
    audio.mid = "0";
    audio.direction = is_client ? sdp::Direction::sendonly : sdp::Direction::recvonly;
    audio.codec.payload_type = 111;
    audio.codec.name = "opus";
    audio.codec.clock_rate = 48'000;
    audio.codec.channels = 2;
    agreement.sections.push_back(std::move(audio));
    agreement.setup = is_client ? sdp::SetupRole::active : sdp::SetupRole::passive;
    agreement.remote_ufrag = is_client ? ends.ours : ends.theirs;
    agreement.remote_pwd = is_client ? ends.our_pwd : ends.their_pwd;
    agreement.remote_fingerprint = {"sha-256", fingerprint};
    return agreement;
}

SessionOptions options_of(const Ends& ends, const std::string& fingerprint, bool is_client) {
    SessionOptions options;
    options.ice.local_ufrag = ends.ours;
    options.ice.local_pwd = ends.our_pwd;
    options.agreement = agreement_of(ends, fingerprint, is_client);
    options.audio_ssrc = 1;
    return options;
}

// The transport of the client's datagrams.
class Way {
public:
    virtual ~Way() = default;
    virtual Result<void> send(const DatagramBatch& batch, io::Deadline deadline) = 0;
    // Calls `take` for received datagrams, at least once. Errc::timed_out when none arrive.
    virtual Result<void> receive(const std::function<Result<void>(MutBytes, const TransportAddress&)>& take, io::Deadline) = 0;
};

class UdpWay final : public Way {
public:
    static Result<std::unique_ptr<Way>> open(const TransportAddress& to) {
        constexpr std::size_t kBufferBytes = 64 << 10;
        auto socket = TRY(io::UdpSocket::bind({to.is_ipv4() ? "0.0.0.0" : "::", 0}, kBufferBytes));
        return std::unique_ptr<Way>(std::make_unique<UdpWay>(std::move(socket)));
    }
    explicit UdpWay(std::unique_ptr<io::UdpSocket> socket) : socket_(std::move(socket)) {}

    Result<void> send(const DatagramBatch& batch, io::Deadline) override {
        batch.for_each([this](const TransportAddress& to, Bytes datagram) {
            const io::GsoBatch gso{datagram, datagram.size(), to, {}};
            socket_->send({&gso, 1});
        });
        return {};
    }
    Result<void> receive(const std::function<Result<void>(MutBytes, const TransportAddress&)>& take,
                         io::Deadline deadline) override {
        for (const io::Datagram& datagram : TRY(socket_->receive(deadline)))
            TRY(take(datagram.bytes, datagram.from));
        return {};
    }

private:
    std::unique_ptr<io::UdpSocket> socket_;
};

class TcpWay final : public Way {
public:
    static Result<std::unique_ptr<Way>> open(const Endpoint& endpoint, const TransportAddress& to, io::Deadline deadline) {
        auto stream = TRY(io::TcpStream::connect(endpoint, deadline));
        return std::unique_ptr<Way>(std::make_unique<TcpWay>(std::move(stream), to));
    }
    TcpWay(std::unique_ptr<io::TcpStream> stream, const TransportAddress& to) : stream_(std::move(stream)), to_(to) {}

    Result<void> send(const DatagramBatch& batch, io::Deadline deadline) override {
        std::vector<std::uint8_t> out;
        batch.for_each([&out](const TransportAddress&, Bytes datagram) { wire::rtp::write_frame(out, datagram); });
        const std::array parts{io::as_part(out)};
        return stream_->write_all(parts, deadline);
    }
    Result<void> receive(const std::function<Result<void>(MutBytes, const TransportAddress&)>& take,
                         io::Deadline deadline) override {
        constexpr std::size_t kReadBytes = 4096;
        std::vector<std::uint8_t> input(kReadBytes);
        const std::size_t count = TRY(stream_->read_some(input, deadline));
        TRY(unframer_.feed(Bytes(input).first(count)));
        while (const auto datagram = unframer_.next())
            TRY(take(*datagram, to_));
        return {};
    }

private:
    std::unique_ptr<io::TcpStream> stream_;
    const TransportAddress to_;
    wire::rtp::StreamUnframer unframer_;
};

// Until both ends have keys. Its error messages are shown to people.
Result<void> shake_hands(Way& way, ClientSession& client, DatagramBatch& output, io::Deadline deadline) {
    while (!client.is_established()) {
        TRY(client.handle_timeout(io::now()));
        TRY(way.send(output, deadline));
        output.clear();
        if (client.is_established())
            break;
        const TimePoint due = client.next_timeout().value_or(deadline.when());
        const auto received = way.receive(
            [&](MutBytes datagram, const TransportAddress& from) { return client.handle_datagram(io::now(), datagram, from); },
            deadline.sooner(io::Deadline::at(due)));
        if (received.ok() || received.code() == Errc::timed_out) {
            if (deadline.expired())
                return Error(Errc::timed_out, client.ice().is_connected() ? "handshake" : "checks");
            continue;
        }
        return received;
    }
    return {};
}

std::string finding_of(const Result<void>& result, const sdp::Candidate& candidate) {
    const std::string where = fmt::format("{} port {}", candidate.is_tcp ? "TCP" : "UDP", candidate.port);
    if (result.ok())
        return "checks and handshake went well";
    if (result.code() != Errc::timed_out)
        return result.error().sentence();
    if (result.error().sentence() == "handshake")
        return "checks are answered, but the DTLS handshake does not end: are datagrams of 1,200 bytes dropped on the way?";
    return fmt::format(
        "no check was answered: nothing of this server is at {}, or something in between drops {}. Is the port published by the "
        "container, forwarded by the router, open in the firewall?",
        candidate.host, where);
}

}  // namespace

Result<SelfTestReport> SelfTester::run(const std::string& api_host, io::Deadline deadline) {
    const RtcServerOptions options = context_.vhosts.server();
    SelfTestReport report = TRY(tests_.run([&] { return opener_.candidates(options, std::nullopt, api_host, deadline); },
                                           [&](const sdp::Candidate& candidate) { return probe(candidate, deadline); }));
    report.is_enabled = true;
    report.probes_name = "candidates";
    report.is_well = std::ranges::any_of(report.probes, &SelfTestReport::Probe::is_reached);
    advise(options, api_host, report);
    return report;
}

SelfTestReport::Probe SelfTester::probe(const sdp::Candidate& candidate, io::Deadline deadline) {
    SelfTestReport::Probe made{
        .address = candidate.host, .port = candidate.port, .transport = candidate.is_tcp ? "tcp" : "udp", .finding = {}};
    const auto limit = deadline.sooner(io::Deadline::after(kProbeLimit));
    const TimePoint start = io::now();
    const auto run = [&]() -> Result<void> {
        const Endpoint endpoint = TRY(io::resolve(candidate.host, candidate.port, limit, io::Work::stranger)).front();
        const TransportAddress to{TRY(parse_ip(endpoint.ip)), endpoint.port};
        const Ends ends;
        auto peer = std::make_unique<ProbePeer>(context_.port, ends.ours, io::now() + kProbeLimit + std::chrono::seconds(1));
        TRY(peer->begin(opener_.dtls(), options_of(ends, opener_.fingerprint(), false)));
        TRY(context_.port.add(std::move(peer)));
        auto way = TRY(candidate.is_tcp ? TcpWay::open(endpoint, to, limit) : UdpWay::open(to));
        DatagramBatch output;
        ClientSession::Options options;
        options.ice = {.remote = to,
                       .local_ufrag = ends.theirs,
                       .local_pwd = ends.their_pwd,
                       .remote_ufrag = ends.ours,
                       .remote_pwd = ends.our_pwd};
        options.session = options_of(ends, opener_.fingerprint(), true);
        options.make = ClientSession::maker_of<engine::webrtc::PlaySession>();
        ClientSession client(opener_.dtls(), std::move(options), output, io::now());
        TRY(shake_hands(*way, client, output, limit));
        client.close(io::now());
        return way->send(output, limit);
    };
    const auto result = run();
    made.is_reached = result.ok();
    made.took = std::chrono::duration_cast<std::chrono::microseconds>(io::now() - start);
    made.finding = finding_of(result, candidate);
    return made;
}

void SelfTester::advise(const RtcServerOptions& options, const std::string& api_host, SelfTestReport& report) const {
    const auto add = [&report](std::string text) { report.advice.push_back(std::move(text)); };
    if (report.probes.empty())
        add("no candidate is named: see rtc_server { protocol; tcp { enabled; } }");
    const auto is_public = [](const SelfTestReport::Probe& probe) {
        return parse_ip(probe.address).ok() && !io::is_private_address(probe.address);
    };
    if (!report.probes.empty() && std::ranges::none_of(report.probes, is_public))
        add("only private addresses are named: browsers outside this network cannot use them. Set rtc_server { candidate } to "
            "the "
            "address that they reach, or let them open the API by it");
    if (is_loopback_host(api_host))
        add("the API was asked by a loopback address: a browser on another machine will ask by another one, which is then named "
            "first");
    if (options.protocol == RtcTransport::udp)
        add("only UDP is named: browsers behind a network that drops it cannot connect. rtc_server { protocol all; tcp { enabled "
            "on; } }");
    for (const auto& socket : context_.port.sockets())
        if (socket->buffers().receive / 2 < UdpSockets::kBufferBytes) {
            add(
                fmt::format("the kernel keeps {} KB of received datagrams: for many sessions, sysctl -w net.core.rmem_max={} "
                            "net.core.wmem_max={}",
                            socket->buffers().receive / 2 >> 10, UdpSockets::kBufferBytes, UdpSockets::kBufferBytes));
            break;
        }
    add("this was tried from the server itself: a firewall or a router between it and the browser may still drop what went well "
        "here");
}

}  // namespace live::session::rtc
