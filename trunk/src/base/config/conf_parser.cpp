#include "base/config/conf_parser.hpp"

#include <fmt/format.h>

#include "base/config/scanner.hpp"

namespace live::config {

namespace {

class Parser {
public:
    Parser(const ReadFile& read_file, const ParseLimits& limits) : read_file_(read_file), limits_(limits) {}

    // Appends the file's directives to `into`. `at` is the place of the include directive, or empty.
    Result<void> parse_file(const std::string& path, Directive& into, std::size_t depth, std::size_t include_depth,
                            const Place& at);

private:
    Result<void> parse_text(Scanner& scanner, Directive& into, std::size_t depth, std::size_t include_depth);
    // Reads the rest of a directive after its name, up to and including its ';' or '{'.
    Result<Directive> parse_head(Scanner& scanner, Token name);
    Result<void> include(const Directive& directive, Directive& into, std::size_t depth, std::size_t include_depth);

    const ReadFile& read_file_;
    const ParseLimits& limits_;
    std::size_t included_ = 0;
    std::size_t bytes_ = 0;
    std::size_t directives_ = 0;
};

Error over_limit(const Place& at, const std::string& what) { return {Errc::limit, at.sentence(what)}; }

Result<void> Parser::parse_file(const std::string& path, Directive& into, std::size_t depth, std::size_t include_depth,
                                const Place& at) {
    auto text = read_file_(path);
    if (!text.ok()) {
        if (at.line == 0)
            return std::move(text).error();
        return std::move(text).error().during(at.sentence(fmt::format("cannot include \"{}\"", path)));
    }
    bytes_ += text->size();
    if (text->size() > limits_.file_bytes_max || bytes_ > limits_.total_bytes_max) {
        return over_limit({path, 1, 1}, fmt::format("found {} bytes, expected at most {} in a file and {} in all", text->size(),
                                                    limits_.file_bytes_max, limits_.total_bytes_max));
    }
    Scanner scanner(path, *text);
    return parse_text(scanner, into, depth, include_depth);
}

Result<void> Parser::parse_text(Scanner& scanner, Directive& into, std::size_t depth, std::size_t include_depth) {
    // The open blocks of this file, innermost last. The address of an open block is stable, because only the innermost one gets
    // children.
    std::vector<Directive*> open{&into};
    while (true) {
        Token token = TRY(scanner.next());
        switch (token.kind) {
            case TokenKind::newline: continue;
            case TokenKind::word: break;
            case TokenKind::end:
                if (open.size() > 1) {
                    return token.at.error(fmt::format("found the end of the file, expected \"}}\" to close \"{}\" of {}",
                                                      open.back()->name, open.back()->at.text()));
                }
                return {};
            case TokenKind::close_brace:
                if (open.size() == 1)
                    return token.at.error("found \"}\" where no block is open, expected a directive or the end of the file");
                open.pop_back();
                continue;
            default: return token.at.error(fmt::format("found {}, expected a directive", token.described()));
        }
        Directive directive = TRY(parse_head(scanner, std::move(token)));
        if (directive.name == "include") {
            TRY(include(directive, *open.back(), depth + open.size() - 1, include_depth));
            continue;
        }
        if (++directives_ > limits_.directives_max)
            return over_limit(directive.at, fmt::format("found more than {} directives", limits_.directives_max));
        open.back()->children.push_back(std::move(directive));
        if (Directive& added = open.back()->children.back(); added.is_block) {
            open.push_back(&added);
            if (depth + open.size() - 1 > limits_.depth_max) {
                return over_limit(added.at, fmt::format("found a block inside {} others, expected at most {} levels",
                                                        limits_.depth_max, limits_.depth_max));
            }
        }
    }
}

Result<Directive> Parser::parse_head(Scanner& scanner, Token name) {
    Directive directive{std::move(name.text), std::move(name.at), {}, false, {}};
    while (true) {
        Token token = TRY(scanner.next());
        switch (token.kind) {
            case TokenKind::word: directive.args.push_back({std::move(token.text), std::move(token.at)}); continue;
            case TokenKind::empty_quotes: directive.has_empty_quotes = true; continue;
            case TokenKind::semicolon: return directive;
            case TokenKind::open_brace: directive.is_block = true; return directive;
            case TokenKind::close_brace:
            case TokenKind::newline:
            case TokenKind::end:
                return token.at.error(fmt::format("found {} in \"{}\", expected \";\" or \"{{\" on the same line",
                                                  token.described(), directive.name));
        }
    }
}

Result<void> Parser::include(const Directive& directive, Directive& into, std::size_t depth, std::size_t include_depth) {
    if (directive.is_block)
        return directive.at.error("found a block behind \"include\", expected file names and \";\"");
    if (directive.args.empty())
        return directive.at.error("found no file after \"include\", expected at least one");
    if (include_depth >= limits_.include_depth_max) {
        return over_limit(
            directive.at,
            fmt::format("found an include inside {} others, expected at most that many; does a file include itself?",
                        limits_.include_depth_max));
    }
    for (const Argument& file : directive.args) {
        if (++included_ > limits_.include_count_max)
            return over_limit(file.at, fmt::format("found more than {} includes", limits_.include_count_max));
        TRY(parse_file(file.text, into, depth, include_depth + 1, file.at));
    }
    return {};
}

}  // namespace

Result<Directive> parse_conf(const std::string& path, const ReadFile& read_file, const ParseLimits& limits) {
    Directive root;
    root.at = {path, 1, 1};
    root.is_block = true;
    Parser parser(read_file, limits);
    TRY(parser.parse_file(path, root, 0, 0, Place{}));
    return root;
}

}  // namespace live::config
