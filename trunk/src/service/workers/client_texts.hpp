// Clients and refusals as JSON, for messages between workers. Templates, so that no header includes the JSON library.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.hpp"
#include "session/common/admission.hpp"

namespace live::service::workers {

// Members of a request that are texts.
inline constexpr std::pair<const char*, std::string session::ClientRequest::*> kClientTexts[] = {
    {"id", &session::ClientRequest::id},
    {"ip", &session::ClientRequest::ip},
    {"peer_ip", &session::ClientRequest::peer_ip},
    {"peer", &session::ClientRequest::peer},
    {"protocol", &session::ClientRequest::protocol},
    {"vhost", &session::ClientRequest::vhost},
    {"app", &session::ClientRequest::app},
    {"stream", &session::ClientRequest::stream},
    {"param", &session::ClientRequest::param},
    {"tc_url", &session::ClientRequest::tc_url},
    {"page_url", &session::ClientRequest::page_url},
    {"extension", &session::ClientRequest::extension}};

// Empty or 0 when the member is missing or something else.
template <class Json>
std::string text_at(const Json& json, const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_string() ? found->template get<std::string>() : "";
}

template <class Json>
std::uint64_t number_at(const Json& json, const char* key) {
    const auto found = json.is_object() ? json.find(key) : json.end();
    return found != json.end() && found->is_number_unsigned() ? found->template get<std::uint64_t>() : 0;
}

template <class Json>
void write_client(Json& to, const session::ClientRequest& client) {
    to["is_secure"] = client.is_secure;
    for (const auto& [key, member] : kClientTexts)
        to[key] = client.*member;
    if (client.credentials != nullptr)
        to["credentials"] = {{"user", client.credentials->user},
                             {"password", client.credentials->password},
                             {"bearer", client.credentials->bearer},
                             {"authority", client.credentials->authority}};
}

template <class Json>
void read_client(const Json& from, session::ClientRequest& client) {
    client.is_secure = from.is_object() && from.value("is_secure", Json(false)) == true;
    for (const auto& [key, member] : kClientTexts)
        client.*member = text_at(from, key);
    if (const auto sent = from.is_object() ? from.find("credentials") : from.end(); sent != from.end())
        client.credentials = std::make_shared<const session::Credentials>(session::Credentials{
            text_at(*sent, "user"), text_at(*sent, "password"), text_at(*sent, "bearer"), {}, text_at(*sent, "authority")});
}

template <class Json>
Json refusal_json(const Error& error) {
    return {{"refused", error.sentence()}, {"code", static_cast<unsigned>(error.code())}};
}

// Returns the error of an answer that has a sentence in "refused".
template <class Json>
Error refusal_in(const Json& said) {
    const std::uint64_t code = number_at(said, "code");
    const bool is_known = code <= static_cast<std::uint64_t>(Errc::unauthenticated) && static_cast<Errc>(code) != Errc::closed &&
                          static_cast<Errc>(code) != Errc::cancelled;
    return Error(is_known ? static_cast<Errc>(code) : Errc::denied, text_at(said, "refused"));
}

}  // namespace live::service::workers
