// NameCache: caches the results of name look-ups, including failures, for names chosen by strangers. Dry: it resolves nothing and
// is given the time.
#pragma once

#include <cstddef>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/time.hpp"

namespace live::io {

class NameCache {
public:
    static constexpr std::size_t kNamesMax = 256;
    static constexpr std::chrono::seconds kGoodFor{60};
    // A name that could not be resolved is not retried for this long.
    static constexpr std::chrono::seconds kBadFor{10};
    // When a refresh of a name fails, its last addresses stay valid for this long.
    static constexpr std::chrono::seconds kStaleFor{3600};

    struct Known {
        std::vector<std::string> ips;  // empty: it could not be resolved
        bool is_fresh = false;
    };

    std::optional<Known> find(std::string_view name, TimePoint now);
    // Stores the result of a look-up. Without addresses the look-up failed, and a previous result stays for kStaleFor. Beyond
    // kNamesMax the least recently used name is evicted, names without addresses first.
    void put(std::string_view name, std::vector<std::string> ips, TimePoint now);
    std::size_t size() const { return names_.size(); }

private:
    struct Name {
        std::string name;
        std::vector<std::string> ips;
        TimePoint good_until;   // of the addresses
        TimePoint fresh_until;  // no new look-up before this
    };
    using Names = std::list<Name>;

    void forget_one();

    Names names_;  // most recently used first
    std::unordered_map<std::string_view, Names::iterator> by_name_;
};

}  // namespace live::io
