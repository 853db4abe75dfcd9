// StreamWatch: an observer of the rare events of a stream. StreamWatches: all observers of one stream.
#pragma once

#include <cstddef>
#include <vector>

namespace live::media {

// The functions must neither suspend nor create or destroy watches.
class StreamWatch {
protected:
    StreamWatch() = default;
    ~StreamWatch() = default;

private:
    friend class StreamWatches;
    // A publisher has started.
    virtual void on_publisher_began() {}
    // The publisher has left without a successor, and its last frames are encoded. Also called by
    // Publications::note_stream_ended.
    virtual void on_publisher_left() {}
    // The publisher was asked and has confirmed: see Publications::ask.
    virtual void on_publisher_confirmed() {}
    // The first viewer has arrived (`watched`), or the last one has left: see Readers::is_watched.
    virtual void on_watched(bool /*watched*/) {}

    std::size_t index_ = 0;  // in StreamWatches
};

class StreamWatches {
public:
    StreamWatches() = default;
    StreamWatches(const StreamWatches&) = delete;
    StreamWatches& operator=(const StreamWatches&) = delete;

    void add(StreamWatch& watch);
    void remove(StreamWatch& watch);

    void notify_publisher_began() const;
    void notify_publisher_left() const;
    void notify_publisher_confirmed() const;
    void notify_watched(bool watched) const;

private:
    std::vector<StreamWatch*> watches_;
};

}  // namespace live::media
