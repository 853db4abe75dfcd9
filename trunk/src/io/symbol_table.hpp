// Names of the process's functions by their addresses: from the program's own symbol table, and from the dynamic linker for its
// libraries. Reads files, so it is for worker threads; a stripped program has addresses in place of names.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace live::io {

class SymbolTable {
public:
    // Of this process.
    SymbolTable();

    // "live::io::sleep(live::io::Deadline)"; "libc.so.6+0x1234" or "0x1234" when it has no name.
    std::string name_of(std::uintptr_t address) const;

private:
    struct Function {
        std::uintptr_t from;
        std::uintptr_t to;
        std::string name;  // mangled
    };

    std::vector<Function> functions_;  // by address
};

}  // namespace live::io
