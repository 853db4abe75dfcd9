#include "bench/rtc/rtc_client.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/random.hpp"
#include "base/net/ip_network.hpp"
#include "bench/http/http_fetch.hpp"
#include "bench/http/url_reference.hpp"
#include "io/fibers/loop.hpp"
#include "io/net/resolve.hpp"

namespace live::bench {
namespace {

using engine::webrtc::ClientSession;

constexpr std::size_t kUfragBytes = 8;
constexpr std::size_t kPwdBytes = 24;
// The limit of the DELETE at the end, which all clients send at the same time; the load waits slightly longer.
constexpr std::chrono::seconds kGoodbyeLimit{5};

class Answer final : public BodySink {
public:
    Result<void> on_head(const engine::http1::Response& answer) override {
        location = std::string(answer.headers.find("Location").value_or(""));
        return {};
    }
    Result<void> on_body(TimePoint, Bytes piece) override {
        if (text.size() + piece.size() > wire::sdp::kTextBytesMax)
            return Error(Errc::limit, "an answer of more than " + std::to_string(wire::sdp::kTextBytesMax) + " bytes");
        text += as_text(piece);
        return {};
    }

    std::string location;
    std::string text;
};

class Nothing final : public BodySink {
public:
    Result<void> on_body(TimePoint, Bytes) override { return {}; }
};

}  // namespace

Result<void> RtcShared::make_certificate() {
    certificate = TRY(engine::dtls::Certificate::make());
    dtls = TRY(engine::dtls::Context::create(*certificate));
    fingerprint = TRY(certificate->fingerprint());
    return {};
}

Result<void> RtcClient::run(io::Deadline deadline) {
    auto ran = open(deadline.sooner(io::Deadline::after(LoadTask::kStartLimit)));
    if (ran.ok()) {
        io::trim_stack();
        ran = io::wait(ended_, deadline);
        if (ran.ok() && failure_)
            ran = Error(*failure_);
    }
    send_goodbye();
    return ran;
}

Result<void> RtcClient::open(io::Deadline deadline) {
    const RtcAnswer answer = TRY(request_answer(deadline));
    agreement_ = answer.agreement;
    const Endpoint endpoint = TRY(io::resolve(answer.host, answer.port, deadline)).front();
    remote_ = {TRY(parse_ip(endpoint.ip)), endpoint.port};
    ClientSession::Options options;
    options.ice = {.remote = remote_,
                   .local_ufrag = ufrag_,
                   .local_pwd = pwd_,
                   .remote_ufrag = agreement_.remote_ufrag,
                   .remote_pwd = agreement_.remote_pwd};
    options.session = session_options();
    options.make = session_maker();
    options.session.agreement = agreement_;
    opened_ = received_at_ = io::now();
    session_ = std::make_unique<ClientSession>(*shared_.dtls, std::move(options), shared_.hub.output(), opened_);
    id_ = TRY(shared_.hub.join(*this, endpoint));
    return {};
}

Result<RtcAnswer> RtcClient::request_answer(io::Deadline deadline) {
    RtcOffer ours = offer();
    ours.ufrag = ufrag_ = random_id(kUfragBytes);
    ours.pwd = pwd_ = random_id(kPwdBytes);
    ours.fingerprint = shared_.fingerprint;
    engine::http1::Headers headers;
    headers.add("Content-Type", "application/sdp");
    Answer answer;
    // Not kept: thousands of idle connections would be of no use.
    const auto fetch = std::make_unique<HttpFetch>(client_, HttpFetch::Connection::is_aside);
    TRY(fetch->send({"POST", write_offer(ours)}, client_.url, headers, answer, deadline));
    if (!answer.location.empty())
        location_ = resolve_reference(fetch->final_url(), answer.location);
    return read_answer(answer.text, ours.purpose);
}

void RtcClient::send_goodbye() {
    is_leaving_ = true;
    if (!location_.empty()) {
        const io::CancelShield shield;
        Nothing body;
        const auto fetch = std::make_unique<HttpFetch>(client_, HttpFetch::Connection::is_aside);
        const auto limit = io::Deadline::after(kGoodbyeLimit);
        static_cast<void>(fetch->send({"DELETE", {}}, location_, {}, body, limit));
    }
    // Datagrams that have arrived meanwhile count: the server has sent them.
    if (id_)
        shared_.hub.serve(*id_);
    if (has_begun_)
        finish();
    if (session_ != nullptr)
        session_->close(io::now());
    if (id_) {
        shared_.hub.serve(*id_);
        shared_.hub.leave(*id_);
    }
    shared_.hub.output().clear();
}

void RtcClient::fail(Error error) {
    if (!failure_)
        failure_ = std::move(error);
    ended_.raise();
}

void RtcClient::on_refused() {
    // Before the first response the server may just be starting; checks are repeated.
    if (has_begun_)
        fail(Error(Errc::closed, "the server's port is closed"));
}

void RtcClient::on_datagram(TimePoint arrived, MutBytes datagram) {
    client_.count_in(datagram.size());
    if (failure_)
        return;
    if (has_begun_)
        look_at(arrived, datagram);
    if (const auto handled = session_->handle_datagram(arrived, datagram, remote_); !handled.ok())
        fail(handled.error());
}

void RtcClient::on_turn(TimePoint now) {
    if (failure_)
        return;
    if (const auto handled = session_->handle_timeout(now); !handled.ok())
        return fail(handled.error());
    if (!has_begun_ && session_->is_established()) {
        has_begun_ = true;
        received_at_ = now;
        client_.meter.on_connected(now);
        begin(now);
    }
    if (has_begun_)
        serve(now);
    check_life(now);
}

void RtcClient::check_life(TimePoint now) {
    const auto* const session = session_->session();
    if (session != nullptr && session->state() == engine::webrtc::Session::State::closed)
        fail(Error(Errc::closed, "the server has ended the session: " + std::string(session->end_reason())));
    else if (!has_begun_ && now - opened_ > LoadTask::kStartLimit)
        fail(
            Error(Errc::timed_out, session == nullptr ? "ICE: no response to the checks" : "DTLS: the handshake did not finish"));
    else if (now - received_at_ > LoadTask::kIdleLimit)
        fail(Error(Errc::timed_out, "no media"));
}

TimePoint RtcClient::next_due() const {
    if (failure_)
        return TimePoint::max();
    TimePoint next = std::min((has_begun_ ? received_at_ + LoadTask::kIdleLimit : opened_ + LoadTask::kStartLimit) + 1ms,
                              session_->next_timeout().value_or(TimePoint::max()));
    return has_begun_ ? std::min(next, next_serve()) : next;
}

}  // namespace live::bench
