#include "base/config/scanner.hpp"

#include <fmt/format.h>

namespace live::config {

namespace {

constexpr std::string_view kSpaces = " \t\r";
// Characters that end an unquoted word.
constexpr std::string_view kWordEnds = " \t\r\n;{}";
// Characters that may follow a closing quote. The end of the file may too; the parser then reports the missing ';'.
constexpr std::string_view kAfterQuote = " \t\r\n;{";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

std::string Token::described() const {
    switch (kind) {
        case TokenKind::word: return fmt::format("\"{}\"", text);
        case TokenKind::empty_quotes: return "empty quotes";
        case TokenKind::semicolon: return "\";\"";
        case TokenKind::open_brace: return "\"{\"";
        case TokenKind::close_brace: return "\"}\"";
        case TokenKind::newline: return "the end of the line";
        case TokenKind::end: return "the end of the file";
    }
    return "nothing";
}

Scanner::Scanner(std::string_view file, std::string_view text) : text_(text), place_{std::string(file), 1, 1} {
    if (text_.starts_with(kByteOrderMark))
        text_.remove_prefix(kByteOrderMark.size());
}

void Scanner::advance(std::size_t count) {
    at_ += count;
    place_.column += static_cast<std::uint32_t>(count);
}

Token Scanner::take(TokenKind kind, std::size_t length) {
    Token token{kind, std::string(text_.substr(at_, length)), place_};
    advance(length);
    return token;
}

Result<Token> Scanner::next() {
    while (at_ < text_.size() && kSpaces.find(text_[at_]) != std::string_view::npos)
        advance(1);
    if (at_ < text_.size() && text_[at_] == '#') {
        const std::size_t end = text_.find('\n', at_);
        advance((end == std::string_view::npos ? text_.size() : end) - at_);
    }
    if (at_ == text_.size())
        return Token{TokenKind::end, "", place_};
    switch (text_[at_]) {
        case '\n': {
            Token token = take(TokenKind::newline, 1);
            ++place_.line;
            place_.column = 1;
            return token;
        }
        case ';': return take(TokenKind::semicolon, 1);
        case '{': return take(TokenKind::open_brace, 1);
        case '}': return take(TokenKind::close_brace, 1);
        case '"':
        case '\'': return take_quoted();
        default: return take_word();
    }
}

Result<void> Scanner::check_length(std::size_t bytes) const {
    if (bytes <= kWordBytesMax)
        return {};
    return Error(Errc::limit,
                 place_.sentence(fmt::format("found a word of {} bytes, expected at most {}", bytes, kWordBytesMax)));
}

Result<Token> Scanner::take_word() {
    std::size_t end = text_.find_first_of(kWordEnds, at_);
    if (end == std::string_view::npos)
        end = text_.size();
    TRY(check_length(end - at_));
    Token token = take(TokenKind::word, end - at_);
    if (token.text.find('\0') != std::string::npos)
        return token.at.error("found a zero byte in a word, expected text");
    return token;
}

Result<Token> Scanner::take_quoted() {
    const char quote = text_[at_];
    const std::size_t end = text_.find_first_of(std::string_view(quote == '"' ? "\"\n" : "'\n"), at_ + 1);
    if (end == std::string_view::npos || text_[end] == '\n') {
        return place_.error(fmt::format("found the end of the {} inside quotes, expected {} on the same line",
                                        end == std::string_view::npos ? "file" : "line", quote));
    }
    TRY(check_length(end - at_ - 1));
    Token token{TokenKind::word, std::string(text_.substr(at_ + 1, end - at_ - 1)), place_};
    advance(end + 1 - at_);
    if (at_ < text_.size() && kAfterQuote.find(text_[at_]) == std::string_view::npos) {
        return place_.error(
            fmt::format("found \"{}\" right behind a closing quote, expected a space, \";\" or \"{{\"", text_.substr(at_, 1)));
    }
    if (token.text.find('\0') != std::string::npos)
        return token.at.error("found a zero byte inside quotes, expected text");
    if (token.text.empty())
        token.kind = TokenKind::empty_quotes;
    return token;
}

}  // namespace live::config
