// SentCopy: content requested by many clients is copied once into a memory file, from which the kernel sends it without a copy
// per client. Worthwhile from about five requests on, so rarely requested content has no copy. CopyBudget limits the total.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "base/bytes/block.hpp"
#include "io/files/memory_file.hpp"

namespace live::service::files {

struct CopyBudget {
    // Each has a file descriptor.
    static constexpr std::size_t kFilesMax = 256;
    static constexpr std::size_t kBytesMax = 256 << 20;

    std::size_t files = 0;
    std::size_t bytes = 0;
};

class SentCopy {
public:
    // Requests answered before a copy is made.
    static constexpr std::size_t kAskedBefore = 8;
    // Per file: copying blocks the loop.
    static constexpr std::size_t kBytesMax = 8 << 20;

    // Its owners are the copies that count against it, and its creator.
    using BudgetRef = std::shared_ptr<CopyBudget>;
    explicit SentCopy(BudgetRef budget) : budget_(std::move(budget)) {}
    ~SentCopy();
    SentCopy(const SentCopy&) = delete;
    SentCopy& operator=(const SentCopy&) = delete;

    // For a request for these blocks: the same on every call, except for new ones at the end. nullptr: send them from memory. The
    // request is also an owner.
    io::MemoryFileRef for_request(const std::vector<Block>& blocks);
    // A block was appended.
    void append(const Block& block);
    // No more blocks follow.
    void seal();
    // Requests being sent the copy keep it.
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
