#include "service/segments/held_events.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

namespace live::service::segments {

namespace {

// Returns the number of the event's segment; none for new headers.
std::optional<std::uint64_t> number_of(const SegmenterEvent& event) {
    if (const auto* resumed = std::get_if<Resumed>(&event))
        return std::get<SegmentState>(resumed->sync.event).number;
    return std::visit(
        [](const auto& one) -> std::optional<std::uint64_t> {
            if constexpr (requires { one.number; })
                return one.number;
            return std::nullopt;
        },
        event);
}

std::size_t bytes_of(const PartMade& part) {
    std::size_t sum = 0;
    for (const Piece& piece : part.pieces)
        sum += piece.bytes;
    return sum;
}

bool is_part(const SegmenterEvent& event) { return std::holds_alternative<PartMade>(event); }

}  // namespace

bool HeldEvents::is_unconfirmed(const SegmenterEvent& event) const {
    const auto* made = std::get_if<SegmentMade>(&event);
    return made != nullptr && made->number >= confirmed_;
}

void HeldEvents::release_before(std::size_t index) {
    for (; released_ < index; ++released_) {
        const auto* part = std::get_if<PartMade>(&queue_[released_]);
        if (part == nullptr)
            continue;
        if (std::exchange(parts_of_, part->number) != part->number)
            parts_.clear();
        parts_.push_back(bytes_of(*part));
    }
}

std::vector<SegmenterEvent> HeldEvents::take() {
    while (released_ < collected_ && !is_unconfirmed(queue_[released_]))
        release_before(released_ + 1);
    const auto end = at(released_);
    std::vector<SegmenterEvent> taken(std::move_iterator(queue_.begin()), std::move_iterator(end));
    queue_.erase(queue_.begin(), end);
    collected_ -= std::exchange(released_, 0);
    return taken;
}

std::size_t HeldEvents::unconfirmed() const {
    std::size_t count = 0;
    for (std::size_t i = released_; i < collected_; ++i)
        count += is_unconfirmed(queue_[i]) ? 1 : 0;
    return count;
}

void HeldEvents::erase_from(std::size_t index) {
    queue_.erase(at(index), queue_.end());
    collected_ = index;
}

void HeldEvents::erase_segments(std::uint64_t number) {
    const Iterator begin = at(released_);
    Iterator first = std::find_if(begin, at(collected_),
                                  [number](const SegmenterEvent& event) { return number_of(event).value_or(0) >= number; });
    while (first != begin && !number_of(*std::prev(first)))
        --first;
    erase_from(static_cast<std::size_t>(first - queue_.begin()));
}

void HeldEvents::drop_unconfirmed(bool has_parts) {
    const Iterator end = at(collected_);
    const Iterator first =
        std::find_if(at(released_), end, [this](const SegmenterEvent& event) { return is_unconfirmed(event); });
    if (first == end)
        return;
    const std::uint64_t number = std::get<SegmentMade>(*first).number;
    const auto kept = static_cast<std::size_t>(first - queue_.begin());
    queue_.erase(first, end);
    collected_ = kept;
    if (has_parts)
        add(SegmentDropped{number});
}

std::vector<std::size_t> HeldEvents::released_parts(std::uint64_t number) const {
    return parts_of_ == number ? parts_ : std::vector<std::size_t>();
}

bool HeldEvents::erase_parts(const std::vector<std::size_t>& parts, std::size_t index) {
    for (const std::size_t bytes : parts) {
        const Iterator part = std::find_if(at(index), queue_.end(), is_part);
        if (part == queue_.end() || bytes_of(std::get<PartMade>(*part)) != bytes)
            return false;
        queue_.erase(part);
        --collected_;
    }
    return true;
}

}  // namespace live::service::segments
