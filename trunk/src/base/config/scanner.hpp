// Cuts the text of one conf file into words and punctuation. It knows separators, comments and quotes; which word may stand where
// is the parser's business.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/config/place.hpp"
#include "base/result.hpp"

namespace live::config {

enum class TokenKind : std::uint8_t {
    word,
    empty_quotes,  // "" yields no argument, but it is still something where nothing may stand
    semicolon,
    open_brace,
    close_brace,
    newline,  // reported because a directive may not go over it
    end,
};

struct Token {
    TokenKind kind = TokenKind::end;
    std::string text;
    Place at;

    // How an error sentence calls it: `"listen"`, `"{"`, `the end of the line`, `the end of the file`.
    std::string described() const;
};

class Scanner {
public:
    // A longer word is no name, path or URL. It also bounds what error sentences quote.
    static constexpr std::size_t kWordBytesMax = 4096;

    // `text` is borrowed for the scanner's life.
    Scanner(std::string_view file, std::string_view text);

    // The next token; TokenKind::end for ever after the last one. Errors: a quote that does not close on its line, a closing
    // quote with something other than a separator, ';' or '{' behind it, a zero byte, a word longer than kWordBytesMax
    // (Errc::limit).
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
