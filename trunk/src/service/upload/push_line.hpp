// PushLine: the files of one live stream that are still to be pushed: segments before the playlists that list them, because they
// come in that order; old versions of playlists are left out, and so are files that are removed before they were sent. Dry.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/block.hpp"

namespace live::service::upload {

class PushLine {
public:
    // Limits of the files that wait. Beyond them the oldest are left out: a slow server costs files, not memory.
    static constexpr std::size_t kBytesMax = 64 << 20;
    static constexpr std::size_t kItemsMax = 4'096;

    struct Item {
        std::string name;  // below the target
        std::vector<Block> blocks;
        bool is_list = false;
        bool is_removal = false;

        std::size_t bytes() const;
    };

    // Files outside of `folder` are not pushed.
    explicit PushLine(const std::string& folder);

    void write(std::string_view path, const std::vector<Block>& blocks, bool is_list);
    void remove(std::string_view path);

    bool is_empty() const { return items_.empty(); }
    std::size_t size() const { return items_.size(); }
    std::size_t bytes() const { return bytes_; }
    std::uint64_t left_out() const { return left_out_; }
    // The next one.
    std::optional<Item> take();
    // True if a newer version of the taken item, or its removal, waits.
    bool is_obsolete(const Item& item) const;

private:
    std::optional<std::string> name_of(std::string_view path) const;
    void add(Item item);

    const std::string folder_;
    std::deque<Item> items_;
    std::size_t bytes_ = 0;
    std::uint64_t left_out_ = 0;
};

}  // namespace live::service::upload
