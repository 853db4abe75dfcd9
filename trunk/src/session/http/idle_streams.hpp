// Connections without a pending request: the first to be closed when the server is to stop.
#pragma once

#include "base/signal.hpp"
#include "io/net/stream.hpp"

namespace live::session::http {

class IdleStreams {
public:
    // While it exists, `stream` may be closed from here, or `signal` raised.
    class Entry {
    public:
        Entry(IdleStreams& all, io::Stream& stream) : Entry(all, &stream, nullptr) {}
        Entry(IdleStreams& all, Signal& signal) : Entry(all, nullptr, &signal) {}
        ~Entry() {
            (previous_ != nullptr ? previous_->next_ : all_.first_) = next_;
            if (next_ != nullptr)
                next_->previous_ = previous_;
        }
        Entry(const Entry&) = delete;
        Entry& operator=(const Entry&) = delete;

    private:
        friend class IdleStreams;
        Entry(IdleStreams& all, io::Stream* stream, Signal* signal)
            : all_(all), stream_(stream), signal_(signal), next_(all.first_) {
            if (next_ != nullptr)
                next_->previous_ = this;
            all.first_ = this;
        }

        void end() {
            if (stream_ != nullptr)
                stream_->close();
            else
                signal_->raise();
        }

        IdleStreams& all_;
        io::Stream* stream_;
        Signal* signal_;
        Entry* previous_ = nullptr;
        Entry* next_;
    };

    // Closes them, and notifies HTTP/2 connections, idle or not; from now on no connection may wait for a next request.
    void end() {
        has_ended_ = true;
        for (Entry* each = first_; each != nullptr; each = each->next_)
            each->end();
    }
    bool has_ended() const { return has_ended_; }

private:
    Entry* first_ = nullptr;
    bool has_ended_ = false;
};

}  // namespace live::session::http
