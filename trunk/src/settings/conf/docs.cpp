#include "settings/conf/docs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace live::settings {

namespace {

using config::RowInfo;
using config::Support;

constexpr std::size_t kCommentColumns = 110;

// `text` as comment lines of at most kCommentColumns.
void append_comment(std::string& out, const std::string& indent, std::string_view text) {
    std::string line = indent + "#";
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (line.size() + 1 + end > kCommentColumns && line.size() > indent.size() + 1) {
            out += line + "\n";
            line = indent + "#";
        }
        line += " " + std::string(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    out += line + "\n";
}

// "integer 1..1000; takes effect: live; variable: SRS_X; does nothing yet".
std::string facts_line(const RowInfo& row) {
    std::string out = row.type;
    if (!row.range.empty())
        out += " " + row.range;
    out += fmt::format("; takes effect: {}", name_of(row.facts.reload));
    if (!row.environment.empty())
        out += fmt::format("; variable: {}", fmt::join(row.environment, " or "));
    if (row.facts.support == Support::pending)
        out += "; does nothing yet";
    else if (row.facts.support == Support::ignored)
        out += "; has no effect";
    return out;
}

void append_value(std::string& out, const std::string& indent, const RowInfo& row) {
    append_comment(out, indent, row.facts.doc);
    append_comment(out, indent, facts_line(row));
    const bool is_arguments = row.type.starts_with("block");
    std::string value = row.by_default.empty() ? std::string(row.facts.example) : row.by_default;
    if (row.facts.name == "is_full")
        value = "on";
    if (is_arguments)
        out += fmt::format("{}{} {{ {} }}\n", indent, row.facts.name, value);
    else if (value.empty())
        out += fmt::format("{}# {} ...;\n", indent, row.facts.name);
    else
        out += fmt::format("{}{} {};\n", indent, row.facts.name, value);
}

std::string head_of_block(const RowInfo& row) {
    std::string head(row.facts.name);
    if (!row.facts.example.empty())
        head += " " + std::string(row.facts.example);
    return head;
}

std::string in_table(std::string_view text) {
    std::string out;
    for (const char letter : text) {
        if (letter == '|')
            out += "\\";
        out.push_back(letter);
    }
    return out;
}

std::string as_code(std::string_view text) { return text.empty() ? "" : fmt::format("`{}`", in_table(text)); }

void append_table(std::string& out, std::span<const RowInfo> rows, std::string_view prefix, std::size_t depth) {
    bool has_head = false;
    for (const RowInfo& row : rows) {
        if (row.is_block || row.depth != depth || !std::string_view(row.path).starts_with(prefix))
            continue;
        if (!has_head) {
            out += "| Directive | Value | Default | Takes effect | State | Variable | Meaning |\n|---|---|---|---|---|---|---|\n";
            has_head = true;
        }
        std::string variables;
        for (const std::string& name : row.environment)
            variables += (variables.empty() ? "" : " ") + as_code(name);
        out += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", row.facts.name,
                           in_table(row.type + (row.range.empty() ? "" : " " + row.range)), as_code(row.by_default),
                           name_of(row.facts.reload), name_of(row.facts.support), variables, in_table(row.facts.doc));
    }
    if (has_head)
        out += "\n";
}

}  // namespace

std::string full_conf_text(std::span<const RowInfo> rows) {
    std::string out =
        "# Every directive of this server with its default. Generated from the option rows by `make generate`; do not edit.\n"
        "# This file is documentation, and the server does not start with it: begin with conf/srs.conf or conf/console.conf.\n"
        "# Below each sentence: the form of the value, when a change takes effect (live: at the reload; next session: for "
        "sessions\n"
        "# that begin after the reload; restart: at the next start), and the environment variable, which takes precedence.\n";
    std::size_t open = 0;
    const auto close_down_to = [&](std::size_t depth) {
        for (; open > depth; --open)
            out += std::string((open - 1) * 4, ' ') + "}\n";
    };
    for (const RowInfo& row : rows) {
        close_down_to(row.depth);
        const std::string indent(row.depth * 4, ' ');
        out += "\n";
        if (!row.is_block) {
            append_value(out, indent, row);
            continue;
        }
        append_comment(out, indent, std::string(row.facts.doc) + (row.repeatable ? " May be repeated." : ""));
        out += fmt::format("{}{} {{\n", indent, head_of_block(row));
        ++open;
    }
    close_down_to(0);
    return out;
}

std::string config_document_text(std::span<const RowInfo> rows) {
    std::string out =
        "# Configuration\n\n"
        "Every directive of the conf file. Generated from the option rows by `make generate`; do not edit.\n\n"
        "A conf file is made of directives: `name value ...;` or `name ... { ... }`, each on one line up to its `;` or `{`. `#` "
        "begins a\n"
        "comment. Quotes, `\"...\"` or `'...'`, make one value of a text with spaces; there are no escape sequences. `include "
        "file ...;`\n"
        "inserts the directives of another file, relative to the working directory. The first of two single directives "
        "applies.\n\n"
        "An environment variable takes precedence over the file; those of `vhost` apply to every virtual host. Lists are split "
        "at\n"
        "spaces. An empty variable counts as unset. A switch whose default is off is on only when exactly `on`; one whose "
        "default is on is off "
        "only when\n"
        "exactly `off`.\n\n"
        "*Takes effect*: `live` at the reload; `next session` for sessions that begin after the reload; `restart` at the next "
        "start.\n"
        "*State*: `works`; ";
    if (std::ranges::any_of(rows, [](const RowInfo& row) { return row.facts.support == Support::pending; }))
        out += "`not yet` is accepted and checked, with a warning; ";
    out += "`no effect` is accepted for old files.\n\n## Root\n\n";
    append_table(out, rows, "", 0);
    for (const RowInfo& row : rows) {
        if (!row.is_block)
            continue;
        std::string title = row.path;
        if (!row.argument.empty())
            title += fmt::format(" <{}>", row.argument);
        out += fmt::format("{} `{} {{}}`\n\n{}{}\n\n", row.depth == 0 ? "##" : "###", title, row.facts.doc,
                           row.repeatable ? " May be repeated." : "");
        append_table(out, rows, row.path + ".", row.depth + 1);
    }
    while (out.ends_with("\n\n"))
        out.pop_back();
    return out;
}

}  // namespace live::settings
