// NameCache: what names have been resolved to, and which could not be, for a while. For names that strangers choose. Dry: it
// resolves nothing, and the time is given.
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
    // A name that could not be resolved is not tried again for so long.
    static constexpr std::chrono::seconds kBadFor{10};
    // While a name cannot be resolved again, its last addresses count.
    static constexpr std::chrono::seconds kStaleFor{3600};

    struct Known {
        std::vector<std::string> ips;  // none: it could not be resolved
        bool is_fresh = false;
    };

    std::optional<Known> find(std::string_view name, TimePoint now);
    // It was looked up. Without addresses it could not be resolved, and what was known before stays for kStaleFor. Beyond
    // kNamesMax the name that has not been asked for longest is forgotten, one without addresses first.
    void put(std::string_view name, std::vector<std::string> ips, TimePoint now);
    std::size_t size() const { return names_.size(); }

private:
    struct Name {
        std::string name;
        std::vector<std::string> ips;
        TimePoint good_until;   // of the addresses
        TimePoint fresh_until;  // not looked up before
    };
    using Names = std::list<Name>;

    void forget_one();

    Names names_;  // the one that was asked for last first
    std::unordered_map<std::string_view, Names::iterator> by_name_;
};

}  // namespace live::io
