// A simulated ACME server for tests: nonces that are good once, signatures that are verified, and faults by the test.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes/base64.hpp"
#include "engine/acme/client.hpp"
#include "engine/crypto/signing_key.hpp"

namespace live::engine::acme {

class FakeAuthority {
public:
    explicit FakeAuthority(const P256Key& account)
        : account_(MUST(crypto::SigningKey::parse(MUST(account.pem())))), jwk_(account.jwk()) {}

    Response answer(const Request& request) {
        ++requests;
        const std::string path = request.url.substr(kHost.size());
        if (path == "/dir")
            return {.status = 200, .nonce = "", .location = "", .retry_after = {}, .body = directory};
        if (request.method == "HEAD")
            return with_nonce(200, "");
        const std::string head = decoded(request.body, "protected");
        const std::string payload = decoded(request.body, "payload");
        if (!is_signed(request.body) || head.find("\"url\":\"" + request.url + "\"") == std::string::npos)
            return problem(400, "malformed");
        if (bad_nonces > 0 && bad_nonces-- > 0)
            return problem(400, "badNonce");
        if (nonces_.erase(member(head, "nonce")) == 0)
            return problem(400, "badNonce");
        if (const auto fault = faults.find(path); fault != faults.end())
            return fault->second.status == 0 ? Response{} : nonced(fault->second);
        // The key for a new account, its URL for everything else.
        if ((head.find("\"jwk\":" + jwk_) != std::string::npos) != (path == "/account") ||
            (path != "/account" && member(head, "kid") != std::string(kHost) + "/account/7"))
            return problem(400, "malformed");
        payloads[path] = payload;
        return serve(path);
    }

    // Until its challenges are answered this often, an authorization stays pending; likewise the order.
    int pending_polls = 0;
    int bad_nonces = 0;
    std::string directory = R"({"newNonce":"https://ca/nonce","newAccount":"https://ca/account","newOrder":"https://ca/order"})";
    std::string validation = "valid";
    std::string challenge_error = R"({"type":"urn:ietf:params:acme:error:connection","detail":"refused"})";
    std::string order_end = "valid";
    std::map<std::string, Response> faults;         // by path; status 0: no answer
    std::map<std::string, std::string> payloads{};  // the last ones, by path
    std::vector<std::string> domains = {"a.example", "b.example"};
    int requests = 0;

    static constexpr std::string_view kHost = "https://ca";

private:
    Response serve(const std::string& path) {
        if (path == "/account")
            return with_nonce(201, "{}", "https://ca/account/7");
        if (path == "/order")
            return with_nonce(201, order("pending"), "https://ca/order/1");
        if (path.starts_with("/challenge/")) {
            answered_.insert(path.substr(11));
            return with_nonce(200, "{}");
        }
        if (path.starts_with("/authz/"))
            return authorization(path.substr(7));
        if (path == "/finalize" || path == "/order/1") {
            if (answered_.size() < domains.size())
                return problem(403, "orderNotReady");
            return with_nonce(200, order(polled_++ < pending_polls ? "processing" : order_end));
        }
        if (path == "/certificate")
            return with_nonce(200, "-----BEGIN CERTIFICATE-----\n...");
        return problem(404, "malformed");
    }
    Response authorization(const std::string& index) {
        const bool is_answered = answered_.contains(index) && polls_[index]++ >= pending_polls;
        const std::string status = is_answered ? validation : "pending";
        const std::string error = status == "invalid" ? ",\"error\":" + challenge_error : "";
        std::string challenges;
        for (const char* type : {"http-01", "tls-alpn-01"})
            challenges += (challenges.empty() ? "" : ",") +
                          ("{\"type\":\"" + std::string(type) + "\",\"url\":\"https://ca/challenge/" + index +
                           "\",\"status\":\"" + status + "\",\"token\":\"token-" + index + "\"" + error + "}");
        return with_nonce(200, "{\"status\":\"" + status + "\",\"identifier\":{\"type\":\"dns\",\"value\":\"" +
                                   domains[static_cast<std::size_t>(std::stoi(index))] + "\"},\"challenges\":[" + challenges +
                                   "]}");
    }
    std::string order(const std::string& status) const {
        std::string urls;
        for (std::size_t i = 0; i < domains.size(); ++i)
            urls += (urls.empty() ? "" : ",") + ("\"https://ca/authz/" + std::to_string(i) + "\"");
        const std::string error =
            status == "invalid" ? R"(,"error":{"type":"urn:ietf:params:acme:error:caa","detail":"no"})" : "";
        return "{\"status\":\"" + status + "\",\"finalize\":\"https://ca/finalize\",\"certificate\":\"https://ca/certificate\"," +
               "\"authorizations\":[" + urls + "]" + error + "}";
    }
    Response nonced(Response response) {
        response.nonce = "nonce-" + std::to_string(++issued_);
        nonces_.insert(response.nonce);
        return response;
    }
    Response with_nonce(int status, std::string body, std::string location = {}) {
        return nonced(
            {.status = status, .nonce = {}, .location = std::move(location), .retry_after = {}, .body = std::move(body)});
    }
    Response problem(int status, const std::string& type) {
        return with_nonce(status, R"({"type":"urn:ietf:params:acme:error:)" + type + R"(","detail":"of the test"})");
    }
    static std::string member(const std::string& object, const std::string& name) {
        const std::size_t at = object.find("\"" + name + "\":\"");
        if (at == std::string::npos)
            return {};
        const std::size_t begin = at + name.size() + 4;
        return object.substr(begin, object.find('"', begin) - begin);
    }
    static std::string decoded(const std::string& object, const std::string& name) {
        const auto bytes = parse_base64url(member(object, name));
        return bytes.ok() ? std::string(as_text(*bytes)) : std::string();
    }
    bool is_signed(const std::string& body) const {
        const auto signature = parse_base64url(member(body, "signature"));
        const std::string input = member(body, "protected") + "." + member(body, "payload");
        return signature.ok() && account_.verify(as_bytes(input), *signature);
    }

    const crypto::SigningKey account_;
    const std::string jwk_;
    std::set<std::string> nonces_;
    std::set<std::string> answered_;
    std::map<std::string, int> polls_;
    int polled_ = 0;
    int issued_ = 0;
};

}  // namespace live::engine::acme
