// Builds HTTP/1.1 requests and responses as text (RFC 9112). Line endings and other control characters in values are replaced, so
// that peer input cannot inject headers.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/http1/message.hpp"

namespace live::engine::http1 {

// "OK", "Not Found", ...; "Status" for an unlisted code.
std::string_view reason_of(int status);

class ResponseBuilder {
public:
    enum class Connection : std::uint8_t { close, keep_alive, upgrade };

    explicit ResponseBuilder(int status, Connection connection = Connection::close);

    // Fields appear in the order they are added.
    ResponseBuilder& header(std::string_view name, std::string_view value);

    // Each of these returns the whole text, once.
    // The head, and the body with its length.
    std::string with_body(std::string_view content_type, std::string_view body);
    // Without a body, or with one whose length is given by the fields: the caller sends what follows.
    std::string without_body();

private:
    std::string text_;
};

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// A whole request. Host, Connection and, with a body, Content-Length are added to the given fields; special characters in
// `target` must already be encoded.
std::string write_request(std::string_view method, std::string_view target, std::string_view host, const Headers& headers,
                          std::string_view body, ResponseBuilder::Connection connection = ResponseBuilder::Connection::close);
// The same for a body that is sent afterwards, of so many bytes.
std::string write_request_head(std::string_view method, std::string_view target, std::string_view host, const Headers& headers,
                               std::uint64_t body_bytes, ResponseBuilder::Connection connection);

}  // namespace live::engine::http1
