// MemoryBudget: the one accountant of the memory that clients can make grow. What they have begun to send and not ended is known
// at every moment, what streams hold is counted every now and then by who looks after the budget (main/memory_keeper). Where
// there is too much, who holds most loses it, and hears why. Dry: a loss is a call, and what it does is the holder's.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ip_network.hpp"

namespace live::session {

// Whose address counts as what: none for who is trusted.
class AddressGroups {
public:
    virtual std::optional<IpAddress> group_of(std::string_view ip) const = 0;

protected:
    ~AddressGroups() = default;
};

// What one client or one stream holds.
struct MemoryHolding {
    std::size_t bytes = 0;
    std::optional<IpAddress> group;  // as AddressGroups say; none: on its own
};

// The largest of the address that holds most. None when nobody holds anything.
std::optional<std::size_t> greediest(std::span<const MemoryHolding> holdings);

class MemoryBudget {
public:
    // Of the budget, for messages and requests that have begun and not ended: nobody has anything of them yet.
    static constexpr std::size_t kUnfinishedPart = 4;

    enum class Kind : std::uint8_t {
        unfinished,  // messages and request bodies that have begun
        buffers,     // what WebRTC keeps of a publisher's packets, to put them in order
    };
    static constexpr std::size_t kKinds = 2;

    class Holder {
    public:
        virtual std::string_view address() const = 0;
        // Ends the client soon; it may be in the middle of its own Use::set(). Must neither suspend nor destroy the use.
        virtual void lose_memory(std::string why) = 0;

    protected:
        ~Holder() = default;
    };

    // What one client holds of one kind. Its budget and its holder outlive it.
    class Use {
    public:
        Use(MemoryBudget& budget, Kind kind, Holder& holder) : budget_(budget), holder_(holder), kind_(kind) {}
        ~Use() { set(0); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

        // All it holds now. When that is more than all may, the greediest loses, which may be this one.
        void set(std::size_t bytes) {
            if (bytes != bytes_)
                budget_.change(*this, bytes);
        }
        std::size_t bytes() const { return bytes_; }
        Holder& holder() const { return holder_; }

    private:
        friend class MemoryBudget;
        MemoryBudget& budget_;
        Holder& holder_;
        std::size_t bytes_ = 0;
        std::uint32_t index_ = 0;  // while it has bytes
        Kind kind_;
        bool is_lost_ = false;  // what it holds is on its way back
    };

    // `groups` outlives this.
    explicit MemoryBudget(const AddressGroups& groups) : groups_(groups) {}
    MemoryBudget(const MemoryBudget&) = delete;
    MemoryBudget& operator=(const MemoryBudget&) = delete;

    // Of the process. A lower one takes nothing away by itself: what grows next does.
    void set_max(std::size_t bytes) { max_ = bytes; }
    std::size_t max() const { return max_; }
    // What the process takes beside everything that is counted here: itself, its players, and what the allocator has not put to
    // use. It may have a half.
    void set_overhead(std::size_t bytes) { overhead_ = bytes; }
    std::size_t overhead() const { return overhead_; }
    // What is left for what is counted.
    std::size_t limit() const { return max_ - std::min(overhead_, max_ / 2); }

    // What is on its way back is not counted.
    std::size_t bytes(Kind kind) const { return bytes_[index_of(kind)]; }
    std::size_t streams() const { return streams_; }
    // Of these, what HLS and DASH hold.
    std::size_t windows() const { return windows_; }
    void set_streams(std::size_t bytes, std::size_t windows) {
        streams_ = bytes;
        windows_ = std::min(windows, bytes);
    }
    // What streams that have lost it still hold.
    void set_leaving(std::size_t bytes) { leaving_ = bytes; }
    // Of one stream, which has lost it.
    void forget_stream(std::size_t bytes) {
        streams_ -= std::min(streams_, bytes);
        windows_ = std::min(windows_, streams_);
        leaving_ += bytes;
        ++losses_;
    }
    std::size_t used() const { return bytes(Kind::unfinished) + bytes(Kind::buffers) + streams_; }
    // More than six tenths are taken: it is looked after often.
    bool is_filling() const { return used() > limit() / 10 * 6; }
    // More than seven tenths: nobody begins to publish now.
    bool is_tight() const { return used() > limit() / 10 * 7; }
    // Eight tenths: what comes until the next look has to fit, too.
    bool is_exceeded() const { return used() > limit() / 10 * 8; }
    // What is taken and what is on its way back. That this is too much is news only when it has grown by a twentieth since: what
    // the last one lost takes its time to go.
    std::size_t held() const { return used() + lost_ + leaving_; }
    bool has_filled_up() {
        const bool is_full = held() > limit() / 20 * 19;
        const bool is_event = is_full && held() >= filled_ + limit() / 20;
        if (is_event || !is_full)
            filled_ = is_full ? held() : 0;
        return is_event;
    }

    MemoryHolding holding(const Use& use) const { return holding(use.bytes_, use.holder_.address()); }
    MemoryHolding holding(std::size_t bytes, std::string_view address) const { return {bytes, groups_.group_of(address)}; }
    // Of uses that are lost and still hold something.
    std::size_t lost() const { return lost_; }
    // Those that hold something, and have not lost it.
    std::span<Use* const> uses() const { return uses_; }
    void take_away(Use& use);
    // Clients and streams that have lost what they had.
    std::uint64_t losses() const { return losses_; }

private:
    static constexpr std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }
    void change(Use& use, std::size_t bytes);
    void add(Use& use);
    void remove(Use& use);
    void fit_unfinished();

    const AddressGroups& groups_;
    std::size_t max_ = SIZE_MAX;
    std::size_t bytes_[kKinds] = {};
    std::size_t overhead_ = 0;
    std::size_t lost_ = 0;
    std::size_t streams_ = 0;
    std::size_t leaving_ = 0;
    std::size_t filled_ = 0;  // what was held when that was said the last time
    std::size_t windows_ = 0;
    std::vector<Use*> uses_;
    std::uint64_t losses_ = 0;
};

}  // namespace live::session
