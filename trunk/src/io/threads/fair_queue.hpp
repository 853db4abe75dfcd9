// FairQueue: a bounded queue whose parties take turns: one item of each, then the next of each. A party with many items delays
// itself, not the others. Dry.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <utility>

namespace live::io {

// Items without a party wait in one separate queue, which only the total limit bounds.
template <class Party, class Item>
class FairQueue {
public:
    enum class Room { yes, full, party_full };

    FairQueue(std::size_t max, std::size_t party_max) : max_(max), party_max_(party_max) {}

    Room room_for(const std::optional<Party>& party) const {
        if (size_ >= max_)
            return Room::full;
        const auto line = lines_.find(party);
        return party && line != lines_.end() && line->second.size() >= party_max_ ? Room::party_full : Room::yes;
    }
    // Takes the item only if there is room.
    Room push(const std::optional<Party>& party, Item&& item) {
        const Room room = room_for(party);
        if (room != Room::yes)
            return room;
        auto& line = lines_[party];
        if (line.empty())
            turns_.push_back(party);
        line.push_back(std::move(item));
        ++size_;
        return room;
    }
    // Must not be empty.
    Item pop() {
        const std::optional<Party> party = turns_.front();
        turns_.pop_front();
        const auto line = lines_.find(party);
        Item item = std::move(line->second.front());
        line->second.pop_front();
        if (line->second.empty())
            lines_.erase(line);
        else
            turns_.push_back(party);
        --size_;
        return item;
    }
    void clear() {
        lines_.clear();
        turns_.clear();
        size_ = 0;
    }
    std::size_t size() const { return size_; }
    bool empty() const { return size_ == 0; }

private:
    std::size_t max_;
    std::size_t party_max_;
    std::size_t size_ = 0;
    // A tree: strangers choose the keys.
    std::map<std::optional<Party>, std::deque<Item>> lines_;
    std::deque<std::optional<Party>> turns_;  // each line that is not empty, once
};

}  // namespace live::io
