// How many clients the process serves at once, over all protocols, and how many it may.
#pragma once

#include <cstddef>

namespace live::session {

class ConnectionLimit {
public:
    explicit ConnectionLimit(std::size_t max) : max_(max) {}

    // One client's place; given back when destroyed. Empty when there was none left.
    class Place {
    public:
        explicit Place(ConnectionLimit& limit) : limit_(limit.used_ < limit.max_ ? &limit : nullptr) {
            if (limit_ != nullptr)
                ++limit_->used_;
        }
        ~Place() {
            if (limit_ != nullptr)
                --limit_->used_;
        }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;
        explicit operator bool() const { return limit_ != nullptr; }

    private:
        ConnectionLimit* limit_;
    };

    // A lower limit sends nobody away; it only lets nobody in.
    void set_max(std::size_t max) { max_ = max; }
    std::size_t max() const { return max_; }
    std::size_t used() const { return used_; }

private:
    std::size_t max_;
    std::size_t used_ = 0;
};

}  // namespace live::session
