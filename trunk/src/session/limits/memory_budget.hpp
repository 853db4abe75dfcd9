// MemoryBudget: accounts for all memory that clients can make grow. Unfinished input is known at every moment; memory held by
// streams is measured periodically by the owner of the budget (app/memory_keeper). When there is too much, the largest holder
// loses it, and receives the reason. Dry: losing memory is a callback implemented by the holder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/net/ip_network.hpp"
#include "base/result.hpp"

namespace live::session {

// Maps an address to its accounting group; none for a trusted one.
class AddressGroups {
public:
    virtual std::optional<IpAddress> group_of(std::string_view ip) const = 0;

protected:
    ~AddressGroups() = default;
};

// The memory of one client or one stream.
struct MemoryHolding {
    std::size_t bytes = 0;
    std::optional<IpAddress> group;  // as returned by AddressGroups; none: on its own
};

// The largest holding of the address that holds most. None if there are no holdings.
std::optional<std::size_t> greediest(std::span<const MemoryHolding> holdings);

class MemoryBudget {
public:
    // Share of the budget for unfinished messages and requests, which are not usable yet.
    static constexpr std::size_t kUnfinishedPart = 4;
    // Up to this share, an unfinished message is not dropped for memory that streams have taken: that would free next to nothing.
    static constexpr std::size_t kSparedPart = 256;

    enum class Kind : std::uint8_t {
        unfinished,  // messages and request bodies that have begun
        buffers,     // publishers' packets that WebRTC keeps to put them in order
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

    // The memory of one kind that one client holds. Its budget and its holder outlive it.
    class Use {
    public:
        Use(MemoryBudget& budget, Kind kind, Holder& holder) : budget_(budget), holder_(holder), kind_(kind) {}
        ~Use() { set(0); }
        Use(const Use&) = delete;
        Use& operator=(const Use&) = delete;

        // Sets its current total. If this exceeds the common limit, the greediest loses, which may be this one.
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
        std::uint32_t index_ = 0;  // valid while it has bytes
        Kind kind_;
        bool is_lost_ = false;  // what it holds is being released
    };

    // `groups` outlives this.
    explicit MemoryBudget(const AddressGroups& groups) : groups_(groups) {}
    MemoryBudget(const MemoryBudget&) = delete;
    MemoryBudget& operator=(const MemoryBudget&) = delete;

    // For the process, or for all workers together; each worker may take `share` whatever the others take. Lowering it releases
    // nothing by itself; the next growth does.
    void set_max(std::size_t whole, std::size_t share = SIZE_MAX) {
        whole_ = whole;
        share_ = std::min(share, whole);
        set_others(others_);
    }
    // Sets the other workers' memory.
    void set_others(std::size_t bytes) {
        others_ = bytes;
        max_ = std::max(share_, whole_ - std::min(whole_, bytes));
    }
    // The maximum of all workers; and the part left for this one.
    std::size_t whole() const { return whole_; }
    std::size_t max() const { return max_; }
    // All memory of the process, as the system measures it.
    void set_resident(std::size_t bytes) { overhead_ = std::max(bytes, held()) - held(); }
    // The part that is not counted here: the program and its libraries, its players, and unused memory of the allocator.
    std::size_t overhead() const { return overhead_; }
    // The budget cannot be kept: the overhead alone is more than half of it.
    bool is_too_small() const { return overhead_ > max_ / 2; }
    // The limit of the memory counted here.
    std::size_t limit() const { return max_ - std::min(overhead_, max_ / 2); }

    // Without memory that is being released.
    std::size_t bytes(Kind kind) const { return bytes_[index_of(kind)]; }
    std::size_t streams() const { return streams_; }
    // The part of these held by HLS and DASH.
    std::size_t windows() const { return windows_; }
    void set_streams(std::size_t bytes, std::size_t windows) {
        streams_ = bytes;
        windows_ = std::min(windows, bytes);
    }
    // Still held by streams that have lost it.
    void set_leaving(std::size_t bytes) { leaving_ = bytes; }
    // Memory that is being released.
    std::size_t leaving() const { return lost_ + leaving_; }
    // Counts the memory of a stream that has lost it as being released.
    void forget_stream(std::size_t bytes) {
        streams_ -= std::min(streams_, bytes);
        windows_ = std::min(windows_, streams_);
        leaving_ += bytes;
        ++losses_;
    }
    std::size_t used() const { return bytes(Kind::unfinished) + bytes(Kind::buffers) + streams_; }
    // Memory in use and being released, which takes time.
    std::size_t held() const { return used() + leaving(); }
    // More than six tenths are held: it is checked often, and so is the memory being released.
    bool is_filling() const { return held() > limit() / 10 * 6; }
    // More than seven tenths: new publishers are refused.
    bool is_tight() const { return held() > limit() / 10 * 7; }
    // For a new publisher then. Errc::limit.
    Error refusal() const;
    // More than seven tenths are in use: streams without a publisher lose their memory.
    bool is_crowded() const { return used() > limit() / 10 * 7; }
    // More than three quarters: the rest is for data that arrives until the next check.
    bool is_exceeded() const { return used() > limit() / 4 * 3; }
    // True once if more than three quarters are held; the rest is for growth until the last loser's memory is released. Reported
    // again only after growth by a twentieth.
    bool has_filled_up() {
        const bool is_full = held() > limit() / 4 * 3;
        const bool is_event = is_full && held() >= filled_ + limit() / 20;
        if (is_event || !is_full)
            filled_ = is_full ? held() : 0;
        return is_event;
    }

    // A holder of less does not lose it: where most is on its way back already, that would bring next to nothing.
    std::size_t worth_taking() const { return is_exceeded() ? 0 : limit() / 20; }

    MemoryHolding holding(const Use& use) const { return holding(use.bytes_, use.holder_.address()); }
    MemoryHolding holding(std::size_t bytes, std::string_view address) const { return {bytes, groups_.group_of(address)}; }
    // Still held by lost uses.
    std::size_t lost() const { return lost_; }
    // Uses that hold something and have not lost it.
    std::span<Use* const> uses() const { return uses_; }
    void take_away(Use& use);
    // Clients and streams that have lost their memory.
    std::uint64_t losses() const { return losses_; }

private:
    static constexpr std::size_t index_of(Kind kind) { return static_cast<std::size_t>(kind); }
    void change(Use& use, std::size_t bytes);
    void add(Use& use);
    void remove(Use& use);
    void fit_unfinished();

    const AddressGroups& groups_;
    std::size_t whole_ = SIZE_MAX;
    std::size_t share_ = SIZE_MAX;
    std::size_t others_ = 0;
    std::size_t max_ = SIZE_MAX;
    std::size_t bytes_[kKinds] = {};
    std::size_t overhead_ = 0;
    std::size_t lost_ = 0;
    std::size_t streams_ = 0;
    std::size_t leaving_ = 0;
    std::size_t filled_ = 0;  // held memory at the last report
    std::size_t windows_ = 0;
    std::vector<Use*> uses_;
    std::uint64_t losses_ = 0;
};

}  // namespace live::session
