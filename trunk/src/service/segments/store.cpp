#include "service/segments/store.hpp"

namespace live::service::segments {

void File::add(Block block) {
    if (segment_ != nullptr && blocks_.empty())
        offset_ = segment_->bytes();
    copy_.append(block);
    blocks_.push_back(std::move(block));
    waiters_.raise();
}

void File::end() {
    is_whole_ = true;
    copy_.seal();
    waiters_.raise();
}

std::vector<Block> File::release() {
    copy_.drop();
    return std::exchange(blocks_, {});
}

files::CopyOfBlocks File::copy_for_request() {
    if (segment_ == nullptr)
        return is_whole_ && bytes() < kCopyMin ? files::CopyOfBlocks() : files::CopyOfBlocks{copy_.for_request(blocks_), 0};
    files::CopyOfBlocks copy{segment_->copy_for_request().file, offset_};
    // The segment has released its blocks, or its copy is incomplete.
    if (copy.file == nullptr || copy.file->size() < offset_ + bytes())
        copy.file.reset();
    return copy;
}

FileRef Store::add(const std::string& path, const StreamOfFilesRef& stream, const std::vector<Block>& blocks) {
    auto file = add(path, stream);
    for (const Block& block : blocks)
        file->add(block);
    file->end();
    return file;
}

}  // namespace live::service::segments
