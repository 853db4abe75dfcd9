#include "run.hpp"

#include "common.hpp"

namespace bench {
namespace {

// The size of a type-1 chunk header, which precedes each message that a player receives.
constexpr std::size_t kType1Bytes = 8;

}  // namespace

Run::Run(const Clip& clip) : duration_s_(clip.duration_ms / 1000.0) {
    for (int copy = 0; copy < 2; ++copy) {
        for (const ClipMessage& message : clip.messages) {
            if (message.is_setup)
                continue;
            bytes_.insert(bytes_.end(), kType1Bytes, message.type);
            bytes_.insert(bytes_.end(), message.chunks.begin(), message.chunks.end());
            if (copy > 0)
                continue;
            ends_.push_back(bytes_.size());
            times_s_.push_back(message.timestamp_ms / 1000.0);
        }
    }
    period_ = bytes_.size() / 2;
}

std::uint64_t Run::head(double elapsed) {
    while (elapsed >= round_start_ + times_s_[next_]) {
        head_ = rounds_ * period_ + ends_[next_];
        if (++next_ == times_s_.size()) {
            next_ = 0;
            ++rounds_;
            round_start_ += duration_s_;
        }
    }
    return head_;
}

void Turns::sleep() {
    random_ = random_ * 1'664'525U + 1'013'904'223U;
    sleep_seconds(tick_s_ * (0.8 + 0.4 * static_cast<double>(random_ >> 8) / static_cast<double>(1U << 24)));
}

}  // namespace bench
