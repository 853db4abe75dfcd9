#include "session/rtsp/self_tester.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/log/log_format.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/tcp_stream.hpp"
#include "io/tls/tls_stream.hpp"
#include "wire/rtsp/message_reader.hpp"

namespace live::session::rtsp {

std::vector<SelfTester::Port> SelfTester::reachable_ports() const {
    std::vector<Port> all;
    for (const Port& port : ports_)
        for (Endpoint& endpoint : reachable_endpoints(port.endpoint))
            all.push_back({std::move(endpoint), port.is_secure});
    all.resize(std::min(all.size(), kProbesMax));
    return all;
}

Result<SelfTestReport> SelfTester::run(io::Deadline deadline) {
    SelfTestReport report =
        TRY(tests_.run([this] { return reachable_ports(); }, [deadline](const Port& port) { return probe(port, deadline); }));
    if (!report.is_enabled) {
        report.advice.emplace_back("RTSP is off: rtsp_server { enabled on; } and vhost { rtsp { enabled on; } }");
    } else if (!report.is_well) {
        report.advice.emplace_back("an address of this machine does not answer to itself: look for a firewall on it");
    } else if (const auto numbers = media_.numbers()) {
        report.advice.push_back(fmt::format(
            "this machine is reached at its own addresses; for media over UDP, ports {} and {} must be open to clients, too",
            numbers->rtp, numbers->rtcp));
    } else {
        report.advice.emplace_back("this machine is reached at its own addresses; media is over the connection only");
    }
    return report;
}

SelfTestReport::Probe SelfTester::probe(const Port& port, io::Deadline deadline) {
    SelfTestReport::Probe probe{.address = port.endpoint.ip, .port = port.endpoint.port, .transport = "tcp", .finding = {}};
    if (port.is_secure)
        probe.transport = "tls";
    const auto limit = deadline.sooner(io::Deadline::after(kProbeLimit));
    const TimePoint began = io::now();
    auto stream = dial(port, limit);
    const auto answered = stream.ok() ? ask(**stream, limit) : Result<void>(stream.error());
    probe.is_reached = answered.ok();
    probe.took = std::chrono::duration_cast<std::chrono::microseconds>(io::now() - began);
    probe.finding = answered.ok() ? "it answers" : "no answer: " + answered.error().sentence();
    return probe;
}

Result<std::unique_ptr<io::Stream>> SelfTester::dial(const Port& port, io::Deadline deadline) {
    auto tcp = TRY(io::TcpStream::connect(port.endpoint, deadline));
    if (!port.is_secure)
        return std::unique_ptr<io::Stream>(std::move(tcp));
    // The certificate has the name that clients use, which is not known here.
    const auto context = TRY(io::TlsContext::client(io::TlsVerify::none));
    return std::unique_ptr<io::Stream>(TRY(io::TlsStream::connect(std::move(tcp), *context, port.endpoint.ip, deadline)));
}

Result<void> SelfTester::ask(io::Stream& stream, io::Deadline deadline) {
    const std::string request = wire::rtsp::write({.method = "OPTIONS", .url = "*", .headers = {{"CSeq", "1"}}});
    const std::array parts{io::as_part(as_bytes(request))};
    TRY(stream.write_all(parts, deadline));
    wire::rtsp::MessageReader reader;
    std::array<std::uint8_t, 1024> buffer;
    for (;;) {
        const auto item = TRY(reader.next());
        if (item && std::holds_alternative<wire::rtsp::Message>(*item)) {
            const auto& message = std::get<wire::rtsp::Message>(*item);
            if (message.status == wire::rtsp::status::kOk)
                return {};
            return Error(Errc::denied, fmt::format("the answer has status {}", message.status));
        }
        if (item)
            return Error(Errc::malformed, "the answer is not a response");
        reader.feed(Bytes(buffer).first(TRY(stream.read_some(buffer, deadline))));
    }
}

}  // namespace live::session::rtsp
