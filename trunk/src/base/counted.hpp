// Counted: is counted for as long as it lives, such as a question that is under way.
#pragma once

#include <cstddef>

namespace live {

class Counted {
public:
    // The count outlives this.
    explicit Counted(std::size_t& count) : count_(count) { ++count_; }
    ~Counted() { --count_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

private:
    std::size_t& count_;
};

}  // namespace live
