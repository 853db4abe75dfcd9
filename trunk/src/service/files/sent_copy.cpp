#include "service/files/sent_copy.hpp"

namespace live::service::files {

SentCopy::~SentCopy() { drop(); }

void SentCopy::drop() {
    if (file_ == nullptr)
        return;
    --budget_->files;
    budget_->bytes -= file_->size();
    file_.reset();
}

io::MemoryFileRef SentCopy::for_request(const std::vector<Block>& blocks) {
    // Only once: a failed copy is not retried on each request.
    if (++asked_ == kAskedBefore + 1)
        make(blocks);
    return file_;
}

bool SentCopy::has_room(std::size_t bytes) const {
    const std::size_t held = file_ == nullptr ? 0 : file_->size();
    return bytes <= kBytesMax - held && bytes <= CopyBudget::kBytesMax - budget_->bytes;
}

void SentCopy::make(const std::vector<Block>& blocks) {
    std::size_t size = 0;
    for (const Block& block : blocks)
        size += block->size();
    if (!has_room(size) || budget_->files >= CopyBudget::kFilesMax)
        return;
    auto made = io::MemoryFile::create();
    if (!made.ok())
        return;
    file_ = *std::move(made);
    ++budget_->files;
    for (const Block& block : blocks)
        append(block);
    if (is_sealed_)
        seal();
}

// May drop the copy: requests in progress need only the bytes already in it.
void SentCopy::append(const Block& block) {
    if (file_ == nullptr)
        return;
    const std::size_t before = file_->size();
    const bool is_whole = has_room(block->size()) && file_->append(io::as_part(Bytes(*block))).ok();
    budget_->bytes += file_->size() - before;
    if (!is_whole)
        drop();
}

void SentCopy::seal() {
    is_sealed_ = true;
    if (file_ != nullptr)
        file_->seal();
}

}  // namespace live::service::files
