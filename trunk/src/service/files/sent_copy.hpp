// SentCopy: what many clients ask for is copied once into a file in memory, from which the kernel sends it without a copy for
// each of them. Pays from some five requests on, so what few ask for has none. CopyBudget bounds what all of them take.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/block.hpp"
#include "io/memory_file.hpp"

namespace live::service::files {

struct CopyBudget {
    // Each has a descriptor.
    static constexpr std::size_t kFilesMax = 256;
    static constexpr std::size_t kBytesMax = 256 << 20;

    std::size_t files = 0;
    std::size_t bytes = 0;
};

class SentCopy {
public:
    // Requests that are answered before there is a copy.
    static constexpr std::size_t kAskedBefore = 8;
    // Of one file: the loop stands still while it is copied.
    static constexpr std::size_t kBytesMax = 8 << 20;

    // Its owners are the copies that count against it, and who made it.
    using BudgetRef = std::shared_ptr<CopyBudget>;
    explicit SentCopy(BudgetRef budget) : budget_(std::move(budget)) {}
    ~SentCopy();
    SentCopy(const SentCopy&) = delete;
    SentCopy& operator=(const SentCopy&) = delete;

    // For a request of these blocks: the same each time, but for new ones at the end. nullptr: they are sent from where they are.
    // Who sends owns it too.
    io::MemoryFileRef for_request(const std::vector<Block>& blocks);
    // A block that was added to them.
    void append(const Block& block);
    // None will be added.
    void seal();
    // Who is being sent the copy has it still.
    void drop();

private:
    bool has_room(std::size_t bytes) const;
    void make(const std::vector<Block>& blocks);

    BudgetRef budget_;
    std::shared_ptr<io::MemoryFile> file_;
    std::size_t asked_ = 0;
    bool is_sealed_ = false;
};

}  // namespace live::service::files
