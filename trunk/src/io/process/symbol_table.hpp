// Maps addresses of the process to function names: from the program's own symbol table, and from the dynamic linker for
// libraries. Reads files, so it belongs in a worker thread; for a stripped program it returns addresses.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace live::io {

class SymbolTable {
public:
    // Reads the symbols of this process.
    SymbolTable();

    // "live::io::sleep(live::io::Deadline)"; "libc.so.6+0x1234" or "0x1234" for an address without a name.
    std::string name_of(std::uintptr_t address) const;

private:
    struct Function {
        std::uintptr_t from;
        std::uintptr_t to;
        std::string name;  // mangled
    };

    std::vector<Function> functions_;  // sorted by address
};

}  // namespace live::io
