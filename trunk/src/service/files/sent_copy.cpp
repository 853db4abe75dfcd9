#include "service/files/sent_copy.hpp"

#include <utility>

namespace live::service::files {

SentCopy::~SentCopy() {
    if (file_ == nullptr)
        return;
    --budget_.files;
    budget_.bytes -= file_->size();
}

io::MemoryFileRef SentCopy::for_request(const std::vector<Block>& blocks) {
    // Once: what cannot be copied now is not tried for each request.
    if (++asked_ == kAskedBefore + 1)
        make(blocks);
    return file_;
}

void SentCopy::make(const std::vector<Block>& blocks) {
    std::size_t size = 0;
    std::vector<::iovec> parts;
    for (const Block& block : blocks) {
        size += block->size();
        parts.push_back(io::as_part(Bytes(*block)));
    }
    if (size > kBytesMax || budget_.files >= CopyBudget::kFilesMax || size > CopyBudget::kBytesMax - budget_.bytes)
        return;
    auto made = io::MemoryFile::copy_of(parts);
    if (!made.ok())
        return;
    file_ = *std::move(made);
    ++budget_.files;
    budget_.bytes += size;
}

}  // namespace live::service::files
