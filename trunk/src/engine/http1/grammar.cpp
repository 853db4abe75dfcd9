#include "engine/http1/grammar.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "base/text/ascii.hpp"

namespace live::engine::http1 {

namespace {

constexpr int kMajorVersion = 1;
constexpr std::size_t kChunkDigitsMax = 16;
constexpr std::size_t kStatusDigits = 3;

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

// RFC 9110, 5.6.2.
constexpr auto kTokenLetters = [] {
    std::array<bool, 256> is_one{};
    for (std::size_t byte = 0; byte < 128; ++byte)
        is_one[byte] = ascii::is_alphanumeric(static_cast<char>(byte));
    for (const char letter : std::string_view("!#$%&'*+-.^_`|~"))
        is_one[static_cast<unsigned char>(letter)] = true;
    return is_one;
}();

bool is_token(std::string_view text) {
    return !text.empty() &&
           std::ranges::all_of(text, [](char letter) { return kTokenLetters[static_cast<unsigned char>(letter)]; });
}

// "HTTP/1.1", one digit each.
std::optional<Version> parse_version(std::string_view text) {
    constexpr std::string_view kName = "HTTP/";
    if (text.size() != kName.size() + 3 || !text.starts_with(kName))
        return std::nullopt;
    const std::string_view numbers = text.substr(kName.size());
    if (!is_digit(numbers[0]) || numbers[1] != '.' || !is_digit(numbers[2]))
        return std::nullopt;
    return Version{numbers[0] - '0', numbers[2] - '0'};
}

Result<Version> checked_version(std::string_view text) {
    const auto version = parse_version(text);
    if (!version)
        return Error(Errc::malformed, "the first line of an HTTP message has no version");
    if (version->major != kMajorVersion)
        return Error(Errc::unsupported, "HTTP version " + std::to_string(version->major));
    return *version;
}

}  // namespace

std::string_view without_blanks(std::string_view text) { return ascii::trimmed(text, " \t"); }

Result<RequestLine> parse_request_line(std::string_view line) {
    const auto method_end = line.find(' ');
    const std::string_view method = line.substr(0, method_end);
    if (!is_token(method) || method.size() > kMethodBytesMax)
        return Error(Errc::malformed, "the request does not begin with a method");
    if (method_end == std::string_view::npos)
        return Error(Errc::malformed, "the request has no target");
    const std::string_view rest = line.substr(method_end + 1);
    const auto target_end = rest.find(' ');
    const std::string_view target = rest.substr(0, target_end);
    if (target.empty() || target.find('\t') != std::string_view::npos)
        return Error(Errc::malformed, "the request line is not of three words with a blank between them");
    if (target_end == std::string_view::npos) {
        if (parse_version(target))
            return Error(Errc::malformed, "the request has no target");
        return Error(Errc::unsupported, "HTTP version 0.9");
    }
    const Version version = TRY(checked_version(rest.substr(target_end + 1)));
    return RequestLine{std::string(method), std::string(target), version};
}

Result<StatusLine> parse_status_line(std::string_view line) {
    const auto version_end = std::min(line.find(' '), line.size());
    const Version version = TRY(checked_version(line.substr(0, version_end)));
    line.remove_prefix(version_end);
    // RFC 9112, 4: the space before the reason phrase is required even without a reason; some servers omit it.
    const std::string_view status = line.substr(std::min<std::size_t>(1, line.size()), kStatusDigits);
    if (status.size() != kStatusDigits || !std::ranges::all_of(status, is_digit) || status.front() == '0')
        return Error(Errc::malformed, "the answer has no status");
    line.remove_prefix(1 + kStatusDigits);
    if (!line.empty() && line.front() != ' ')
        return Error(Errc::malformed, "the answer's status is not of three digits");
    const int number = (status[0] - '0') * 100 + (status[1] - '0') * 10 + (status[2] - '0');
    return StatusLine{version, number, std::string(without_blanks(line))};
}

Result<Headers::Field> parse_field(std::string_view line) {
    const auto colon = line.find(':');
    const std::string_view name = line.substr(0, std::min(colon, line.size()));
    // Servers disagree on the meaning of a space before the colon (RFC 9112, 5.1).
    if (colon == std::string_view::npos || !is_token(name))
        return Error(Errc::malformed, "an HTTP header line does not begin with a name and a colon");
    return Headers::Field{std::string(name), std::string(without_blanks(line.substr(colon + 1)))};
}

Result<std::uint64_t> parse_content_length(std::string_view value) {
    if (value.empty() || !std::ranges::all_of(value, is_digit))
        return Error(Errc::malformed, "Content-Length is no number");
    std::uint64_t length = 0;
    if (std::from_chars(value.data(), value.data() + value.size(), length).ec != std::errc())
        return Error(Errc::limit, "Content-Length is beyond 64 bits");
    return length;
}

Result<std::uint64_t> parse_chunk_size(std::string_view line) {
    const std::string_view digits = line.substr(0, line.find(';'));
    std::uint64_t size = 0;
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), size, 16);
    if (digits.empty() || digits.size() > kChunkDigitsMax || digits.front() == '-' || end.ec != std::errc() ||
        end.ptr != digits.data() + digits.size())
        return Error(Errc::malformed, "a chunk does not begin with its size");
    return size;
}

}  // namespace live::engine::http1
