#include "io/process/symbol_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>

#include <cxxabi.h>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace live::io {

namespace {

// A file mapped for reading. Empty when it cannot be mapped.
class Mapped {
public:
    explicit Mapped(const char* path) {
        const int fd = ::open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
            return;
        struct stat facts {};
        if (::fstat(fd, &facts) == 0 && facts.st_size > 0) {
            size_ = static_cast<std::size_t>(facts.st_size);
            memory_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, fd, 0);
        }
        ::close(fd);
    }
    ~Mapped() {
        if (memory_ != MAP_FAILED)
            ::munmap(memory_, size_);
    }
    Mapped(const Mapped&) = delete;
    Mapped& operator=(const Mapped&) = delete;

    // `count` elements of T at `offset`; empty when the file is too short.
    template <class T>
    std::span<const T> at(std::uint64_t offset, std::uint64_t count) const {
        if (memory_ == MAP_FAILED || offset > size_ || offset % alignof(T) != 0 || count > (size_ - offset) / sizeof(T))
            return {};
        return {reinterpret_cast<const T*>(static_cast<const char*>(memory_) + offset), static_cast<std::size_t>(count)};
    }

private:
    void* memory_ = MAP_FAILED;
    std::size_t size_ = 0;
};

// Load offset of the program relative to its file. The program is the first entry of the list.
std::uintptr_t load_offset() {
    std::uintptr_t offset = 0;
    ::dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* into) {
            *static_cast<std::uintptr_t*>(into) = info->dlpi_addr;
            return 1;
        },
        &offset);
    return offset;
}

std::string demangled(const char* name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
    return status == 0 && readable ? readable.get() : name;
}

std::string hex(std::uintptr_t number) { return fmt::format("{:#x}", number); }

}  // namespace

SymbolTable::SymbolTable() {
    const Mapped file("/proc/self/exe");
    const auto header = file.at<ElfW(Ehdr)>(0, 1);
    if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0)
        return;
    const std::uintptr_t offset = header[0].e_type == ET_DYN ? load_offset() : 0;
    const auto sections = file.at<ElfW(Shdr)>(header[0].e_shoff, header[0].e_shnum);
    for (const ElfW(Shdr) & section : sections) {
        if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size())
            continue;
        const ElfW(Shdr)& names = sections[section.sh_link];
        const auto texts = file.at<char>(names.sh_offset, names.sh_size);
        if (texts.empty() || texts.back() != '\0')
            continue;
        for (const ElfW(Sym) & symbol : file.at<ElfW(Sym)>(section.sh_offset, section.sh_size / sizeof(ElfW(Sym)))) {
            if ((symbol.st_info & 0xF) == STT_FUNC && symbol.st_value != 0 && symbol.st_name < texts.size())
                functions_.push_back(
                    {offset + symbol.st_value, offset + symbol.st_value + symbol.st_size, &texts[symbol.st_name]});
        }
    }
    std::ranges::sort(functions_, {}, &Function::from);
}

std::string SymbolTable::name_of(std::uintptr_t address) const {
    const auto after = std::ranges::upper_bound(functions_, address, {}, &Function::from);
    if (after != functions_.begin() && address < std::prev(after)->to)
        return demangled(std::prev(after)->name.c_str());
    Dl_info info{};
    if (::dladdr(reinterpret_cast<void*>(address), &info) == 0)
        return hex(address);
    if (info.dli_sname != nullptr)
        return demangled(info.dli_sname);
    const std::string_view path = info.dli_fname == nullptr ? "" : info.dli_fname;
    return std::string(path.substr(path.rfind('/') + 1)) + "+" + hex(address - reinterpret_cast<std::uintptr_t>(info.dli_fbase));
}

}  // namespace live::io
