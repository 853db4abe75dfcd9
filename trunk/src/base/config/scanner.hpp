// Splits the text of one conf file into words and punctuation. It handles separators, comments and quotes; the parser decides
// which token is allowed where.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/config/place.hpp"
#include "base/result.hpp"

namespace live::config {

enum class TokenKind : std::uint8_t {
    word,
    empty_quotes,  // "" yields no argument, but still counts as a token where none is allowed
    semicolon,
    open_brace,
    close_brace,
    newline,  // reported because a directive must not span lines
    end,
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::string text;
    Place at;

    // The token in an error sentence: `"listen"`, `"{"`, `the end of the line`, `the end of the file`.
    std::string described() const;
};

class Scanner {
public:
    // No name, path or URL is longer. It also bounds the quotes in error sentences.
    static constexpr std::size_t kWordBytesMax = 4096;

    // `text` must outlive the scanner.
    Scanner(std::string_view file, std::string_view text);

    // The next token; TokenKind::end forever after the last one. Errors: a quote not closed on its line, a closing quote not
    // followed by a separator, ';' or '{', a zero byte, a word longer than kWordBytesMax (Errc::limit).
    Result<Token> next();

private:
    Token take(TokenKind kind, std::size_t length);
    Result<Token> take_quoted();
    Result<Token> take_word();
    Result<void> check_length(std::size_t bytes) const;
    void advance(std::size_t count);

    std::string_view text_;
    std::size_t at_ = 0;
    Place place_;
};

}  // namespace live::config
