// Limits on the cost of one AMF value. A few bytes of AMF can expand to a great deal (deep nesting, references to large objects),
// so a reader spends from a Budget and stops with Errc::limit when it is exhausted.
#pragma once

#include <cstddef>

#include "base/result.hpp"

namespace live::wire::amf {

struct Limits {
    std::size_t depth = 32;                  // objects and arrays open at once
    std::size_t properties = 1'024;          // members of one object or array
    std::size_t values = 4'096;              // values in the whole tree, including those copied by references
    std::size_t string_bytes = 65'535;       // one string, key or XML text
    std::size_t text_bytes_total = 1 << 20;  // all strings and keys of the tree, including those copied by references
};

// The remaining budget while one tree is read. Each function fails with Errc::limit when its bound is reached.
class Budget {
public:
    explicit Budget(const Limits& limits) : limits_(limits) {}

    const Limits& limits() const { return limits_; }
    Result<void> spend_value();
    Result<void> spend_text(std::size_t bytes);
    Result<void> check_members(std::size_t count) const;
    // `open` containers are open and one more is about to be opened.
    Result<void> check_depth(std::size_t open) const;

private:
    Limits limits_;
    std::size_t values_ = 0;
    std::size_t text_bytes_ = 0;
};

}  // namespace live::wire::amf
