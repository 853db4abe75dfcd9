#include "service/segments/store.hpp"

namespace live::service::segments {

void File::append(std::span<const Block> blocks, Ends ends) {
    if (segment_ != nullptr && blocks_.empty() && !blocks.empty())
        offset_ = segment_->bytes();
    for (const Block& block : blocks) {
        copy_.append(block);
        blocks_.push_back(block);
    }
    if (ends == Ends::yes) {
        is_whole_ = true;
        copy_.seal();
    }
    waiters_.raise();
}

std::vector<Block> File::release() {
    copy_.drop();
    return std::exchange(blocks_, {});
}

File::Copy File::copy_for_request() {
    if (segment_ == nullptr)
        return is_whole_ && bytes() < kCopyMin ? Copy() : Copy{copy_.for_request(blocks_), 0};
    Copy copy{segment_->copy_for_request().file, offset_};
    // The segment has released its blocks, or its copy is incomplete.
    if (copy.file == nullptr || copy.file->size() < offset_ + bytes())
        copy.file.reset();
    return copy;
}

FileRef Store::add(const std::string& path, const StreamOfFilesRef& stream, const std::vector<Block>& blocks) {
    auto file = add(path, stream);
    file->end(blocks);
    return file;
}

}  // namespace live::service::segments
