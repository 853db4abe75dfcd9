#include "engine/acme/client.hpp"

#include <algorithm>
#include <utility>

#include "base/bytes/base64.hpp"
#include "wire/http/url.hpp"

namespace live::engine::acme {

using wire::acme::Challenge;
using wire::acme::Order;
using wire::acme::Problem;

namespace {

constexpr std::size_t kDomainBytesMax = 253;
constexpr std::size_t kTokenBytesMax = 256;
constexpr std::chrono::seconds kRateLimitPause{3600};
constexpr std::chrono::hours kRetryAfterMax{24 * 8};

bool is_base64url(std::string_view text) {
    return std::ranges::all_of(text, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
               letter == '-' || letter == '_';
    });
}

// The names have letters of URLs and domains only, or are written by this client.
std::string quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

bool is_success(const Response& response) { return response.status >= 200 && response.status < 300; }

}  // namespace

std::string_view name_of(ChallengeType type) { return type == ChallengeType::http_01 ? "http-01" : "tls-alpn-01"; }

bool is_domain(std::string_view name) {
    const bool has_good_letters = std::ranges::all_of(name, [](char letter) {
        return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') || (letter >= '0' && letter <= '9') ||
               letter == '-' || letter == '.';
    });
    return has_good_letters && !name.empty() && name.size() <= kDomainBytesMax && name.front() != '.' && name.back() != '.' &&
           name.find("..") == std::string_view::npos;
}

Client::Client(Wanted wanted, P256Key account, P256Key certificate_key)
    : wanted_(std::move(wanted)), account_(std::move(account)), certificate_key_(std::move(certificate_key)) {
    const bool is_good =
        !wanted_.domains.empty() && wanted_.domains.size() <= kDomainsMax && std::ranges::all_of(wanted_.domains, is_domain);
    if (!is_good)
        refuse(Error(Errc::malformed, "a certificate is for 1 to 100 domains, without wildcards"));
}

std::optional<TimePoint> Client::next_timeout() const { return is_asked_ ? std::nullopt : pause_until_; }

std::optional<Event> Client::poll_event() {
    if (events_.empty())
        return std::nullopt;
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
}

std::optional<Request> Client::poll_request(TimePoint now) {
    if (is_asked_ || step_ == Step::ended || step_ == Step::presenting || (pause_until_ && now < *pause_until_))
        return std::nullopt;
    pause_until_.reset();
    auto request = request_of_step();
    if (!request.ok()) {
        refuse(request.error());
        return std::nullopt;
    }
    is_asked_ = true;
    return *std::move(request);
}

void Client::go_to(Step step) {
    step_ = step;
    repetitions_ = 0;
    pause_ = kFirstPause;
    pause_until_.reset();
    poll_until_.reset();
}

Result<Request> Client::request_of_step() {
    if (step_ == Step::directory)
        return Request{"GET", wanted_.directory, {}};
    if (step_ == Step::nonce || nonce_.empty())
        return Request{"HEAD", directory_.new_nonce, {}};
    switch (step_) {
        case Step::account: {
            const std::string contact = wanted_.email.empty() ? "" : ",\"contact\":[" + quoted("mailto:" + wanted_.email) + "]";
            return signed_request(directory_.new_account, "{\"termsOfServiceAgreed\":true" + contact + "}");
        }
        case Step::order: {
            std::string identifiers;
            for (const std::string& domain : wanted_.domains)
                identifiers += (identifiers.empty() ? "" : ",") + ("{\"type\":\"dns\",\"value\":" + quoted(domain) + "}");
            return signed_request(directory_.new_order, "{\"identifiers\":[" + identifiers + "]}");
        }
        case Step::authorization:
        case Step::validation: return signed_request(order_.authorizations[at_], "");
        case Step::challenge: return signed_request(challenge_.url, "{}");
        case Step::finalize:
            return signed_request(order_.finalize,
                                  "{\"csr\":" + quoted(base64url(TRY(certificate_key_.request_for(wanted_.domains)))) + "}");
        case Step::issuance: return signed_request(order_url_, "");
        case Step::certificate: return signed_request(order_.certificate, "");
        case Step::directory:
        case Step::nonce:
        case Step::presenting:
        case Step::ended: break;
    }
    return Error(Errc::unsupported, "no request belongs to this step");
}

// 6.2: flattened JSON. The first request of an account has its key, others its URL. An empty payload is a read (6.3).
Result<Request> Client::signed_request(const std::string& url, const std::string& payload) const {
    const std::string key = account_url_.empty() ? "\"jwk\":" + account_.jwk() : "\"kid\":" + quoted(account_url_);
    const std::string header = "{\"alg\":\"ES256\"," + key + ",\"nonce\":" + quoted(nonce_) + ",\"url\":" + quoted(url) + "}";
    const std::string head = base64url(as_bytes(header));
    const std::string body = base64url(as_bytes(payload));
    const auto signature = TRY(account_.sign(as_bytes(head + "." + body)));
    return Request{"POST", url,
                   "{\"protected\":" + quoted(head) + ",\"payload\":" + quoted(body) +
                       ",\"signature\":" + quoted(base64url(signature)) + "}"};
}

// No credentials and keys leave over plain HTTP because a server names such a URL. A quote cannot be in a URL.
Result<std::string> Client::checked_url(const std::string& url) const {
    const auto parsed = wire::http::parse_url(url);
    if (!parsed.ok() || url.find_first_of("\"\\") != std::string::npos)
        return Error(Errc::malformed, "the certificate authority has answered with an invalid URL");
    if (!parsed->is_secure && wanted_.directory.starts_with("https:"))
        return Error(Errc::malformed, "the certificate authority has answered with a URL that is not https");
    return url;
}

Error Client::refusal(const Problem& problem, const std::string& during) const {
    const std::string type = problem.type.empty() ? "an error" : problem.type;
    return {Errc::denied,
            "the certificate authority refuses " + during + ": " + type + (problem.detail.empty() ? "" : ": " + problem.detail)};
}

Error Client::refusal_of(const Challenge& challenge) const {
    const bool is_http = wanted_.challenge == ChallengeType::http_01;
    const bool is_out_of_reach = challenge.error.type == "connection" || challenge.error.type == "dns";
    if (!is_out_of_reach)
        return refusal(challenge.error, "the proof for " + domain_);
    return {Errc::denied, "the certificate authority cannot reach " + std::string(is_http ? "port 80" : "port 443") + " of " +
                              domain_ + ": its name must lead to this server, and a firewall must let the connection pass (" +
                              challenge.error.detail + ")"};
}

void Client::refuse(Error why, std::optional<std::chrono::seconds> retry_after) {
    go_to(Step::ended);
    events_.emplace_back(ChallengesDone());
    events_.emplace_back(Refused{std::move(why), retry_after});
}

// Slower with each repetition.
void Client::repeat(TimePoint now, const Error& why) {
    if (++repetitions_ > kRepetitionsMax)
        return refuse(why);
    pause_until_ = now + pause_;
    pause_ = std::min<Duration>(2 * pause_, kPauseMax);
}

// 6.5: at once, because the refusal has a new one.
void Client::take_next_nonce(const Error& why) {
    if (++repetitions_ > kRepetitionsMax)
        refuse(why);
}

void Client::handle_failure(TimePoint now, const Error& error) {
    if (!std::exchange(is_asked_, false))
        return;
    nonce_.clear();  // the server may have seen it
    repeat(now, Error(error.code(), "the certificate authority does not answer: " + error.sentence()));
}

void Client::handle_response(TimePoint now, const Response& response) {
    if (!std::exchange(is_asked_, false))
        return;
    const bool had_nonce = !nonce_.empty();
    const bool is_nonce_good = response.nonce.size() <= kNonceBytesMax && is_base64url(response.nonce);
    nonce_ = is_nonce_good ? response.nonce : "";
    if (!is_success(response)) {
        const Problem problem = wire::acme::parse_problem(response.body);
        const auto retry_after = response.retry_after
                                     ? std::optional(std::min<std::chrono::seconds>(*response.retry_after, kRetryAfterMax))
                                     : std::nullopt;
        if (problem.type == "badNonce")
            return take_next_nonce(refusal(problem, "the request"));
        if (problem.type == "rateLimited" || response.status == 429)
            return refuse(refusal(problem, "more orders now"), retry_after.value_or(kRateLimitPause));
        if (response.status >= 500 || response.status == 408)
            return repeat(now,
                          Error(Errc::closed, "the certificate authority fails with status " + std::to_string(response.status)));
        return refuse(refusal(problem, "the request (status " + std::to_string(response.status) + ")"), retry_after);
    }
    // A HEAD for a nonce, also within another step.
    if (step_ != Step::directory && !had_nonce) {
        if (nonce_.empty())
            return repeat(now, Error(Errc::malformed, "the certificate authority has answered without a nonce"));
        if (step_ == Step::nonce)
            go_to(Step::account);
        return;
    }
    if (const auto read = read_response(now, response); !read.ok())
        refuse(read.error());
}

Result<void> Client::read_response(TimePoint now, const Response& response) {
    switch (step_) {
        case Step::directory:
            directory_ = TRY(wire::acme::parse_directory(response.body));
            for (const std::string* url : {&directory_.new_nonce, &directory_.new_account, &directory_.new_order})
                TRY(checked_url(*url));
            nonce_.clear();
            go_to(Step::nonce);
            return {};
        case Step::account: return read_account(response);
        case Step::order: return read_order(response);
        case Step::authorization: return read_authorization(response);
        case Step::challenge:
            go_to(Step::validation);
            poll_until_ = now + kPollLimit;
            pause_until_ = now + pause_;
            return {};
        case Step::validation: return read_validation(now, response);
        case Step::finalize:
            go_to(Step::issuance);
            poll_until_ = now + kPollLimit;
            return read_issuance(now, response);
        case Step::issuance: return read_issuance(now, response);
        case Step::certificate:
            if (response.body.find("-----BEGIN CERTIFICATE-----") == std::string::npos)
                return Error(Errc::malformed, "the certificate authority has answered without a certificate");
            go_to(Step::ended);
            events_.emplace_back(Issued{response.body});
            return {};
        case Step::nonce:
        case Step::presenting:
        case Step::ended: break;
    }
    return {};
}

// 7.3: the account's URL, of a new one and of one that exists.
Result<void> Client::read_account(const Response& response) {
    account_url_ = TRY(checked_url(response.location));
    go_to(Step::order);
    return {};
}

Result<void> Client::read_order(const Response& response) {
    order_url_ = TRY(checked_url(response.location));
    order_ = TRY(wire::acme::parse_order(response.body));
    TRY(checked_url(order_.finalize));
    if (order_.authorizations.empty())
        return Error(Errc::malformed, "the certificate authority has answered without authorizations");
    for (const std::string& url : order_.authorizations)
        TRY(checked_url(url));
    at_ = 0;
    go_to(Step::authorization);
    return {};
}

void Client::next_authorization() {
    ++at_;
    if (at_ < order_.authorizations.size())
        return go_to(Step::authorization);
    events_.emplace_back(ChallengesDone());
    go_to(Step::finalize);
}

Result<void> Client::read_authorization(const Response& response) {
    const auto authorization = TRY(wire::acme::parse_authorization(response.body));
    domain_ = authorization.domain;
    if (authorization.status == "valid") {
        next_authorization();
        return {};
    }
    if (std::ranges::find(wanted_.domains, domain_) == wanted_.domains.end())
        return Error(Errc::malformed, "the certificate authority asks for the proof of another domain");
    const auto found = std::ranges::find(authorization.challenges, name_of(wanted_.challenge), &Challenge::type);
    if (found == authorization.challenges.end())
        return Error(Errc::unsupported,
                     "the certificate authority does not offer " + std::string(name_of(wanted_.challenge)) + " for " + domain_);
    challenge_ = *found;
    TRY(checked_url(challenge_.url));
    // 8.1: at least 128 bits; it becomes a part of a path.
    if (challenge_.token.empty() || challenge_.token.size() > kTokenBytesMax || !is_base64url(challenge_.token))
        return Error(Errc::malformed, "the certificate authority has answered with an invalid token");
    go_to(Step::presenting);
    events_.emplace_back(
        ChallengeToPresent{wanted_.challenge, domain_, challenge_.token, challenge_.token + "." + account_.thumbprint()});
    return {};
}

void Client::handle_presented() {
    if (step_ == Step::presenting)
        go_to(Step::challenge);
}

// Slower each time, or by Retry-After (7.5.1, 8.2).
Result<void> Client::poll_again(TimePoint now, const Response& response, const char* what) {
    if (poll_until_ && now >= *poll_until_)
        return Error(Errc::timed_out, std::string("the certificate authority has not ended ") + what + " within 3 minutes");
    const Duration asked = response.retry_after ? Duration(*response.retry_after) : pause_;
    pause_until_ = now + std::clamp<Duration>(asked, kFirstPause, kPauseMax);
    pause_ = std::min<Duration>(2 * pause_, kPauseMax);
    return {};
}

Result<void> Client::read_validation(TimePoint now, const Response& response) {
    const auto authorization = TRY(wire::acme::parse_authorization(response.body));
    if (authorization.status == "valid") {
        next_authorization();
        return {};
    }
    const auto found = std::ranges::find(authorization.challenges, challenge_.url, &Challenge::url);
    const bool is_invalid = found != authorization.challenges.end() && found->status == "invalid";
    if (authorization.status != "pending" || is_invalid)
        return found == authorization.challenges.end() ? refusal({}, "the proof for " + domain_) : refusal_of(*found);
    return poll_again(now, response, "the proof");
}

Result<void> Client::read_issuance(TimePoint now, const Response& response) {
    const Order order = TRY(wire::acme::parse_order(response.body));
    if (order.status == "invalid")
        return refusal(order.error, "the order");
    if (order.status != "valid")
        return poll_again(now, response, "the order");
    order_.certificate = TRY(checked_url(order.certificate));
    go_to(Step::certificate);
    return {};
}

}  // namespace live::engine::acme
