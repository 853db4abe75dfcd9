#include "service/upload/push_line.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/text/normal_path.hpp"

namespace live::service::upload {

namespace {

std::string whole_path(std::string_view path) { return normal_path(path.starts_with('/') ? "/" : "", path); }

// Ends with a slash, or is empty for the working directory.
std::string whole_folder(const std::string& folder) {
    const std::string whole = whole_path(folder);
    if (whole == ".")
        return {};
    return whole.ends_with('/') ? whole : whole + "/";
}

}  // namespace

std::size_t PushLine::Item::bytes() const {
    return std::accumulate(blocks.begin(), blocks.end(), std::size_t{0},
                           [](std::size_t sum, const Block& block) { return sum + block->size(); });
}

PushLine::PushLine(const std::string& folder) : folder_(whole_folder(folder)) {}

std::optional<std::string> PushLine::name_of(std::string_view path) const {
    const std::string whole = whole_path(path);
    if (!whole.starts_with(folder_))
        return std::nullopt;
    return whole.substr(folder_.size());
}

void PushLine::add(Item item) {
    bytes_ += item.bytes();
    items_.push_back(std::move(item));
    while (bytes_ > kBytesMax || items_.size() > kItemsMax) {
        const auto oldest = std::ranges::find(items_, false, &Item::is_removal);
        const auto left = oldest == items_.end() ? items_.begin() : oldest;
        bytes_ -= left->bytes();
        ++left_out_;
        items_.erase(left);
    }
}

void PushLine::write(std::string_view path, const std::vector<Block>& blocks, bool is_list) {
    auto name = name_of(path);
    if (!name)
        return;
    if (is_list)
        std::erase_if(items_, [&](const Item& item) {
            const bool is_older = item.is_list && item.name == *name;
            bytes_ -= is_older ? item.bytes() : 0;
            return is_older;
        });
    add({*std::move(name), blocks, is_list, false});
}

void PushLine::remove(std::string_view path) {
    auto name = name_of(path);
    if (!name)
        return;
    std::erase_if(items_, [&](const Item& item) {
        const bool is_spared = item.name == *name;
        bytes_ -= is_spared ? item.bytes() : 0;
        return is_spared;
    });
    add({*std::move(name), {}, false, true});
}

std::optional<PushLine::Item> PushLine::take() {
    if (items_.empty())
        return std::nullopt;
    Item item = std::move(items_.front());
    items_.pop_front();
    bytes_ -= item.bytes();
    return item;
}

bool PushLine::is_obsolete(const Item& item) const {
    return std::ranges::any_of(items_, [&item](const Item& other) { return other.name == item.name; });
}

}  // namespace live::service::upload
