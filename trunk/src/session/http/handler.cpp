#include "session/http/handler.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text/printable.hpp"
#include "session/common/admission.hpp"
#include "wire/http/status.hpp"
#include "wire/rtmp/stream_query.hpp"

namespace live::session::http {

namespace {

// RFC 8259, 7.
std::string escaped(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        if (const auto byte = static_cast<unsigned char>(letter); byte < 0x20) {
            out += fmt::format("\\u{:04x}", byte);
            continue;
        }
        if (letter == '"' || letter == '\\')
            out += '\\';
        out += letter;
    }
    return out;
}

}  // namespace

std::string_view host_of_authority(std::string_view authority) {
    if (authority.starts_with('['))
        return authority.substr(1, std::min(authority.find(']'), authority.size()) - 1);
    return authority.substr(0, authority.find(':'));
}

Reply error_reply(int status, std::string_view sentence) { return error_reply(status, status, sentence); }

Reply error_reply(int status, int code, std::string_view sentence) {
    return {status,
            "application/json",
            fmt::format("{{\"code\":{},\"message\":\"{}\"}}\n", code, escape_controls(escaped(sentence))),
            {}};
}

Reply method_not_allowed(std::string_view allowed, std::string_view sentence) {
    Reply reply = error_reply(wire::http::Status::method_not_allowed, sentence);
    reply.headers.emplace_back("Allow", allowed);
    return reply;
}

std::string Request::vhost() const {
    auto named = wire::rtmp::named_vhost(target.raw_query);
    return named ? *std::move(named) : host();
}

std::string Request::stream_vhost() const {
    const auto stated = message.headers.find(kRelayVhostField);
    return stated && message.headers.find(kRelayPathField) ? std::string(stated->substr(0, kRelayVhostBytesMax)) : vhost();
}

std::string Request::host() const { return std::string(host_of_authority(message.headers.find("Host").value_or(""))); }

std::string Request::client_ip() const {
    if (const auto forwarded = message.headers.find("X-Forwarded-For"); forwarded && !forwarded->empty()) {
        const std::string_view first = forwarded->substr(0, forwarded->find(','));
        return std::string(first.substr(0, first.find_last_not_of(' ') + 1));
    }
    if (const auto real = message.headers.find("X-Real-IP"); real && !real->empty())
        return std::string(*real);
    return peer_ip;
}

bool Handler::takes(const Request&) const { return true; }

BodyMode Handler::body_mode(const Request&) const { return BodyMode::whole; }

Reply Handler::handle(const Request&, io::Deadline) {
    return error_reply(wire::http::Status::internal_server_error, "no handler for this path");
}

}  // namespace live::session::http
