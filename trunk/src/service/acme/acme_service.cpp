#include "service/acme/acme_service.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include "base/bytes/random.hpp"
#include "base/log/log_format.hpp"
#include "base/text/metrics_text.hpp"
#include "base/text/utc_text.hpp"
#include "io/fibers/loop.hpp"
#include "io/fibers/off_loop.hpp"
#include "io/tls/self_signed.hpp"
#include "service/acme/private_file.hpp"
#include "service/acme/renewal.hpp"

namespace live::service::acme {

namespace acme = engine::acme;

namespace {

constexpr std::chrono::seconds kFileLimit{10};

std::chrono::sys_seconds wall_now() { return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()); }

// RFC 9110, 10.2.3, in seconds; a date counts as none.
std::optional<std::chrono::seconds> retry_after_of(std::string_view text) {
    std::uint32_t seconds = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
    const bool is_number = failed == std::errc() && end == text.data() + text.size();
    return is_number ? std::optional(std::chrono::seconds(seconds)) : std::nullopt;
}

acme::Response response_of(const engine::http1::Response& answer) {
    const auto field = [&answer](std::string_view name) { return std::string(answer.headers.find(name).value_or("")); };
    return {answer.status, field("Replay-Nonce"), field("Location"), retry_after_of(field("Retry-After")), answer.body};
}

Result<void> write_later(std::string path, std::string content, io::Deadline deadline) {
    return io::off_loop([path = std::move(path), content = std::move(content)] { return write_private_file(path, content); },
                        deadline.sooner(io::Deadline::after(kFileLimit)));
}

Result<std::string> read_later(std::string path, io::Deadline deadline) {
    return io::off_loop([path = std::move(path)] { return read_private_file(path); },
                        deadline.sooner(io::Deadline::after(kFileLimit)));
}

}  // namespace

Result<void> make_first_certificate(const AcmeFiles& files) {
    const auto known = read_private_file(files.certificate);
    if (known.ok() || known.code() != Errc::not_found)
        return known.ok() ? Result<void>() : known.error();
    const std::string draft = files.certificate + "." + random_id();
    auto made = io::make_self_signed(draft + ".crt", draft + ".key");
    if (made.ok()) {
        const auto certificate = read_private_file(draft + ".crt");
        const auto key = read_private_file(draft + ".key");
        if (certificate.ok() && key.ok()) {
            // Another worker may have been faster.
            if (const auto stored = make_private_file(files.certificate, *certificate + *key); !stored.ok())
                made = stored.error();
        } else {
            made = certificate.ok() ? key.error() : certificate.error();
        }
    }
    ::unlink((draft + ".crt").c_str());
    ::unlink((draft + ".key").c_str());
    return made;
}

struct AcmeService::Port {
    std::vector<std::unique_ptr<session::http::Acceptor>> acceptors;
    io::Scope connections{"acme-connection"};
    io::Scope listeners{"acme-listener"};
};

AcmeService::AcmeService(AcmeOptions options, AcmeFiles files, Shared shared, const Log& log)
    : options_(std::move(options)),
      files_(std::move(files)),
      shared_(std::move(shared)),
      log_(log),
      challenges_(files_.challenge),
      context_{.router = router_, .scratch = shared_.scratch, .server = shared_.server, .auth = {}, .limits = {}} {
    router_.add(std::string(ChallengeHandler::kPath), challenges_);
    std::array<std::uint8_t, 1> random{};
    fill_random(random);
    jitter_ = random[0] / 255.0;
}

AcmeService::~AcmeService() = default;

Result<void> AcmeService::start(io::Scope& fibers, io::Deadline) {
    if (!options_.enabled)
        return {};
    return fibers.start("acme", [this](io::Deadline forever) { run(forever); });
}

void AcmeService::write_metrics(MetricsText& text) const {
    text.family("millrace_acme_orders_total", MetricsText::Type::counter,
                "Orders of the certificate that have ended, by name in it and by result.");
    for (const std::string& domain : options_.domains)
        text.sample(issued_, {{"name", domain}, {"result", "issued"}}).sample(failed_, {{"name", domain}, {"result", "failed"}});
}

Result<void> AcmeService::close(io::Deadline) {
    is_closing_ = true;
    return {};
}

Result<void> AcmeService::stop(io::Deadline deadline) { return close_port(deadline); }

void AcmeService::run(io::Deadline deadline) {
    std::size_t failures = 0;
    while (!is_closing_) {
        const auto when = due(deadline);
        std::chrono::seconds pause = when.ok() ? *when - wall_now() : std::chrono::seconds(0);
        if (pause <= std::chrono::seconds(0)) {
            const acme::Refused ended = order(deadline);
            if (ended.why.code() == Errc::cancelled)
                return;
            const bool is_issued = ended.why.code() == Errc::closed && ended.why.sentence().empty();
            failures = is_issued ? 0 : failures + 1;
            ++(is_issued ? issued_ : failed_);
            pause = is_issued ? std::chrono::seconds(1) : retry_after_failures(failures, ended.retry_after);
            if (!is_issued)
                LOG_ERROR(log_, "acme: no certificate for {}: {}; the next attempt is in {} s", fmt::join(options_.domains, ", "),
                          ended.why.sentence(), pause.count());
        }
        const auto slept = io::sleep(deadline.sooner(io::Deadline::after(std::min<std::chrono::seconds>(pause, kLookEvery))));
        if (!slept.ok())
            return;
    }
}

// At once without a readable certificate.
Result<std::chrono::sys_seconds> AcmeService::due(io::Deadline deadline) const {
    const auto pem = read_later(files_.certificate, deadline);
    if (!pem.ok())
        return std::chrono::sys_seconds();
    const auto facts = acme::facts_of_certificate(*pem);
    return facts.ok() && acme::belongs_to(*pem, *pem) ? renewal_of(*facts, options_.domains, jitter_)
                                                      : std::chrono::sys_seconds();
}

Result<acme::P256Key> AcmeService::account(io::Deadline deadline) const {
    const auto known = read_later(files_.account, deadline);
    if (known.ok())
        return acme::P256Key::parse(*known);
    if (known.code() != Errc::not_found)
        return known.error();
    const auto made = TRY(acme::P256Key::make());
    const std::string pem = TRY(made.pem());
    TRY(write_later(files_.account, pem, deadline));
    return made;
}

acme::Refused AcmeService::order(io::Deadline deadline) {
    const auto account_key = account(deadline);
    const auto key = acme::P256Key::make();
    const auto key_pem = key.ok() ? key->pem() : Result<std::string>(key.error());
    if (!account_key.ok() || !key_pem.ok())
        return {account_key.ok() ? key_pem.error() : account_key.error()};
    LOG_INFO(log_, "acme: ordering a certificate for {} from {}", fmt::join(options_.domains, ", "), directory_of(options_));
    acme::Client client({directory_of(options_), options_.domains, options_.email, options_.challenge}, *account_key, *key);
    auto ended = converse(client, *key_pem, deadline);
    withdraw(deadline);
    return ended;
}

// An empty sentence of Errc::closed: the certificate is stored.
acme::Refused AcmeService::converse(acme::Client& client, const std::string& key_pem, io::Deadline deadline) {
    for (;;) {
        while (auto event = client.poll_event()) {
            if (const auto* challenge = std::get_if<acme::ChallengeToPresent>(&*event)) {
                if (const auto shown = present(*challenge, deadline); !shown.ok())
                    return {shown.error()};
                client.handle_presented();
            } else if (const auto* issued = std::get_if<acme::Issued>(&*event)) {
                const auto stored = store(issued->certificate, key_pem, deadline);
                return {stored.ok() ? Error(Errc::closed, "") : stored.error()};
            } else if (auto* refused = std::get_if<acme::Refused>(&*event)) {
                return std::move(*refused);
            } else {
                withdraw(deadline);
            }
        }
        if (const auto request = client.poll_request(io::now())) {
            if (const auto sent = send(client, *request, deadline); !sent.ok())
                return {sent.error()};
        } else if (const auto next = client.next_timeout()) {
            if (const auto slept = io::sleep(deadline.sooner(io::Deadline::at(*next)));
                !slept.ok() && slept.code() == Errc::cancelled)
                return {slept.error()};
        } else {
            return {Error(Errc::unsupported, "the order has no next step")};
        }
    }
}

Result<void> AcmeService::send(acme::Client& client, const acme::Request& request, io::Deadline deadline) const {
    http_client::HttpCall call{.method = request.method, .url = request.url, .headers = {}, .body = request.body};
    call.answer_bytes_max = wire::acme::kMessageBytesMax;
    if (request.method == "POST")
        call.headers.add("Content-Type", "application/jose+json");
    const auto answer = shared_.client.call(call, deadline.sooner(io::Deadline::after(kRequestLimit)));
    if (answer.ok())
        client.handle_response(io::now(), response_of(*answer));
    else if (answer.code() == Errc::cancelled)
        return answer.error();
    else
        client.handle_failure(io::now(), answer.error());
    return {};
}

Result<void> AcmeService::open_port() {
    if (port_ != nullptr)
        return {};
    auto listeners = shared_.listen();
    if (!listeners.ok())
        return std::move(listeners).error().during(
            "listening for http-01: name another port in acme { listen }, to which port 80 leads, or let http_server listen "
            "on port 80");
    port_ = std::make_unique<Port>();
    for (auto& listener : *listeners) {
        LOG_INFO(log_, "acme: answering http-01 at tcp://{}", listener->endpoint().text());
        auto& acceptor = port_->acceptors.emplace_back(
            std::make_unique<session::http::Acceptor>(std::move(listener), nullptr, context_, shared_.places,
                                                      session::ConnectionLimits::Kind::control, port_->connections, log_));
        TRY(port_->listeners.start("acme-listener", [&one = *acceptor](io::Deadline forever) { one.run(forever); }));
    }
    return {};
}

Result<void> AcmeService::close_port(io::Deadline deadline) {
    if (port_ == nullptr)
        return {};
    for (const auto& acceptor : port_->acceptors)
        acceptor->close();
    TRY(io::stop_all({&port_->listeners, &port_->connections}, deadline));
    port_.reset();
    return {};
}

Result<void> AcmeService::present(const acme::ChallengeToPresent& challenge, io::Deadline deadline) {
    if (challenge.type == acme::ChallengeType::http_01) {
        TRY(write_later(files_.challenge, ChallengeHandler::content_of(challenge.key_authorization), deadline));
        return open_port();
    }
    const auto key = TRY(acme::P256Key::make());
    const std::string certificate = TRY(key.alpn_certificate(challenge.domain, challenge.key_authorization));
    const std::string key_pem = TRY(key.pem());
    TRY(write_later(files_.alpn_certificate, certificate + key_pem, deadline));
    const auto slept = io::sleep(deadline.sooner(io::Deadline::after(kShownAfter)));
    return !slept.ok() && slept.code() == Errc::cancelled ? slept : Result<void>();
}

void AcmeService::withdraw(io::Deadline deadline) {
    static_cast<void>(io::off_loop(
        [files = files_] {
            ::unlink(files.challenge.c_str());
            ::unlink(files.alpn_certificate.c_str());
        },
        deadline.sooner(io::Deadline::after(kFileLimit))));
    // A cancel ends each connection, and does not cut this short.
    static_cast<void>(close_port(io::Deadline::never()));
}

Result<void> AcmeService::store(const std::string& chain, const std::string& key_pem, io::Deadline deadline) const {
    const auto facts = TRY(acme::facts_of_certificate(chain));
    if (!acme::belongs_to(chain, key_pem))
        return Error(Errc::malformed, "the certificate authority has answered with a certificate of another key");
    const std::string separator = chain.ends_with('\n') ? "" : "\n";
    TRY(write_later(files_.certificate, chain + separator + key_pem, deadline));
    LOG_INFO(log_, "acme: a new certificate for {} is in {}, valid until {}", fmt::join(facts.domains, ", "), files_.certificate,
             utc_text(std::chrono::sys_time<std::chrono::milliseconds>(facts.ends)));
    return {};
}

}  // namespace live::service::acme
