// A parsed conf file: a tree of directives with their source locations. Names get their meaning in base/config/row.hpp.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/config/place.hpp"

namespace live::config {

struct Argument {
    std::string text;
    Place at;
};

struct Directive {
    std::string name;
    Place at;
    std::vector<Argument> args;
    // `name ... { }` as opposed to `name ...;`. A block may be empty.
    bool is_block = false;
    std::vector<Directive> children;
    // Empty quotes were written: the text is empty on purpose, not forgotten.
    bool has_empty_quotes = false;

    // The first child with that name, or nullptr: the first of duplicate directives wins.
    const Directive* find(std::string_view child_name) const;
    Directive* find(std::string_view child_name);
    // Text of the argument; empty when there are fewer.
    std::string_view arg(std::size_t index) const { return index < args.size() ? std::string_view(args[index].text) : ""; }
};

}  // namespace live::config
