// SkippedStreams: ids of streams that a client has passed over. Opening one of them later is an error of the connection (RFC
// 9113, 5.1.1), which libnghttp2 ignores.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace live::engine::http2 {

class SkippedStreams {
public:
    // The oldest ranges are forgotten: clients do not skip ids.
    static constexpr std::size_t kRangesMax = 16;

    // For each HEADERS frame of the client. False: the stream has been skipped.
    bool on_headers(std::uint32_t stream) {
        if (stream >= next_) {
            if (stream > next_)
                add(next_, stream - 1);
            next_ = stream + 2;
            return true;
        }
        for (const auto& [first, last] : ranges_)
            if (stream >= first && stream <= last)
                return false;
        return true;
    }

private:
    void add(std::uint32_t first, std::uint32_t last) {
        if (ranges_.size() == kRangesMax)
            ranges_.erase(ranges_.begin());
        ranges_.emplace_back(first, last);
    }

    std::uint32_t next_ = 1;  // the id that the client should use next
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ranges_;
};

}  // namespace live::engine::http2
