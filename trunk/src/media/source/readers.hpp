// Readers: everything that reads one stream. There are packet readers, which have a place in the ring; listeners, which are only
// notified; and readers of the shared logs (WireLogs, RtpLogs), which are only counted here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "media/ring/ring.hpp"
#include "media/source/watches.hpp"

namespace live::media {

// Publishers without listeners of mode `at_once` are read on a tick.
enum class WakeMode : std::uint8_t { at_once, batched };

// Whether the output of a reader has viewers.
enum class Audience : bool { none, some };

// Notified after every batch that a publisher appended. Must not suspend.
class PacketListener {
public:
    virtual void on_packets() = 0;

protected:
    ~PacketListener() = default;
};

// A listener that takes packet by packet, and so has a place in the ring. Apart from on_packets() it is called only when the ring
// is about to drop packets.
class PacketReader : public PacketListener {
public:
    // The next packet it will take.
    virtual Sequence sequence() const = 0;
    // Its packets are dropped: continue at `to`, the newest GOP start or the end of the ring.
    virtual void jump(Sequence to) = 0;
    // Whether this reader's output has viewers; false for a recording. A change is reported by Readers::note_viewers().
    virtual bool is_watched() const { return true; }

protected:
    ~PacketReader() = default;
};

class Readers {
public:
    explicit Readers(const StreamWatches& watches) : watches_(watches) {}
    ~Readers();
    Readers(const Readers&) = delete;
    Readers& operator=(const Readers&) = delete;

    // A reader is a listener, too.
    void add(PacketReader& reader, WakeMode mode);
    void remove(PacketReader& reader);
    void add_listener(PacketListener& listener, WakeMode mode = WakeMode::at_once) {
        (mode == WakeMode::at_once ? listeners_ : batched_listeners_).push_back(&listener);
        ++attached_;
    }
    void remove_listener(PacketListener& listener) {
        attached_ -= static_cast<std::uint32_t>(std::erase(listeners_, &listener) + std::erase(batched_listeners_, &listener));
    }
    // Calls on_packets() of each listener, which may remove itself.
    void notify() const;

    // Called by the owner of a shared log when the log is created or destroyed, and when a reader starts or stops to use it.
    void add_log();
    void remove_log();
    void add_log_reader(Audience audience);
    void remove_log_reader(Audience audience);

    // Whether there is a shared log or a listener: most streams have none.
    bool any() const { return attached_ != 0; }
    bool has_logs() const { return logs_ != 0; }
    bool has_listeners_at_once() const { return !listeners_.empty(); }
    std::size_t count() const { return packet_readers_.size() + log_readers_; }
    const std::vector<PacketReader*>& packet_readers() const { return packet_readers_; }

    // Whether there is a viewer: a reader whose output has viewers.
    bool is_watched() const { return watched_; }
    // Notifies the watches when the first viewer has arrived or the last one has left.
    void note_viewers();

private:
    bool has_viewer() const;

    std::uint32_t attached_ = 0;  // logs and listeners; first, because each packet needs it
    std::uint32_t logs_ = 0;
    std::vector<PacketListener*> listeners_;  // at once
    std::vector<PacketListener*> batched_listeners_;
    std::vector<PacketReader*> packet_readers_;
    const StreamWatches& watches_;
    std::size_t log_readers_ = 0;
    std::size_t unwatched_log_readers_ = 0;
    bool watched_ = false;
};

}  // namespace live::media
