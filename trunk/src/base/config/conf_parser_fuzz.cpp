// Any text either parses or is rejected; parsed text can be written and read back to the same tree.
#include "base/config/conf_parser.hpp"

#include <cstdlib>

#include "base/bytes/bytes.hpp"
#include "base/config/facts.hpp"

namespace {

bool writable(std::string_view text) {
    return text.find('\r') == std::string_view::npos && text.find('\n') == std::string_view::npos &&
           (text.find('"') == std::string_view::npos || text.find('\'') == std::string_view::npos);
}

void write(const live::config::Directive& block, std::string& out, bool& exact) {
    for (const auto& child : block.children) {
        exact = exact && writable(child.name);
        out += live::config::quoted(child.name);
        for (const auto& argument : child.args) {
            exact = exact && writable(argument.text);
            out += " " + live::config::quoted(argument.text);
        }
        out += child.is_block ? " {\n" : " ;\n";
        if (!child.is_block)
            continue;
        write(child, out, exact);
        out += "}\n";
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    std::string text(live::as_text({data, size}));
    // The file includes another one, by name, once.
    const live::config::ReadFile read_file = [&text](const std::string& path) -> live::Result<std::string> {
        if (path == "main")
            return text;
        if (path == "b")
            return std::string("included 1; block { }");
        return live::Error(live::Errc::not_found, "no such file");
    };
    const auto root = live::config::parse_conf("main", read_file);
    if (!root.ok())
        return 0;
    bool exact = true;
    std::string first;
    write(*root, first, exact);
    if (!exact)
        return 0;
    // A directive named "include", quoted or not, was an include and is not in the tree. The text starts on a new line, so that a
    // name that begins with a byte order mark is not taken for one.
    text = "\n" + first;
    const auto again = live::config::parse_conf("main", read_file);
    if (!again.ok())
        std::abort();
    std::string second;
    write(*again, second, exact);
    if (first != second)
        std::abort();
    return 0;
}
