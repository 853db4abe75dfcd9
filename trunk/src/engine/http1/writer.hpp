// Builds HTTP/1.1 requests and answers as text to send (RFC 9112). Values that carry line ends or other control characters are
// made harmless, so that nothing a stranger sent can add a header of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/http1/message.hpp"

namespace live::engine::http1 {

// "OK", "Not Found", ...; "Status" for a code that has no name here.
std::string_view reason_of(int status);

class ResponseBuilder {
public:
    enum class Connection : std::uint8_t { close, keep_alive, upgrade };

    explicit ResponseBuilder(int status, Connection connection = Connection::close);

    // Fields appear in the order they are added.
    ResponseBuilder& header(std::string_view name, std::string_view value);

    // Either gives the whole text, once.
    // Head and body with its length.
    std::string with_body(std::string_view content_type, std::string_view body);
    // Without a body, or with one whose end the fields tell: what follows them is the caller's.
    std::string without_body();

private:
    std::string text_;
};

inline constexpr std::string_view kLastChunk = "0\r\n\r\n";
inline constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

// A whole request. Host, Connection and, with a body, Content-Length are added to the fields given; `target` has its special
// characters encoded already.
std::string write_request(std::string_view method, std::string_view target, std::string_view host, const Headers& headers,
                          std::string_view body, ResponseBuilder::Connection connection = ResponseBuilder::Connection::close);

}  // namespace live::engine::http1
