// How many clients the process serves at once, over all protocols, and how many it may.
#pragma once

#include <cstddef>

namespace live::session {

class ConnectionLimit {
public:
    // A half of the places: the rest is always free for who comes anew.
    static constexpr std::size_t kCrowdedShare = 2;

    explicit ConnectionLimit(std::size_t max) : max_(max) {}

    // One client's place; given back when destroyed. Empty when there was none left. `bytes` is what its connection object takes.
    class Place {
    public:
        Place(ConnectionLimit& limit, std::size_t bytes) : limit_(limit.used_ < limit.max_ ? &limit : nullptr), bytes_(bytes) {
            if (limit_ == nullptr)
                return;
            ++limit_->used_;
            limit_->bytes_ += bytes_;
        }
        ~Place() {
            if (limit_ == nullptr)
                return;
            --limit_->used_;
            limit_->bytes_ -= bytes_;
        }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        explicit operator bool() const { return limit_ != nullptr; }

    private:
        ConnectionLimit* limit_;
        std::size_t bytes_;
    };

    // A lower limit sends nobody away; it only lets nobody in.
    void set_max(std::size_t max) { max_ = max; }
    std::size_t max() const { return max_; }
    std::size_t used() const { return used_; }
    // So many places are taken that nobody should keep one without being served now.
    bool is_crowded() const { return used_ > max_ / kCrowdedShare; }
    // Of the connections that have a place, without what they own elsewhere.
    std::size_t bytes() const { return bytes_; }

private:
    std::size_t max_;
    std::size_t used_ = 0;
    std::size_t bytes_ = 0;
};

}  // namespace live::session
