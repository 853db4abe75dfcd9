// Publications: the publisher of a stream, its successors, and the renditions that add tracks to it. One publisher at a time has
// the right to publish; a takeover or an operator revokes it. Renditions end with it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "media/rtp/rtp_log.hpp"
#include "media/source/tracks.hpp"
#include "media/source/watches.hpp"

namespace live::media {

enum class Takeover : std::uint8_t { refuse, replace };

// One publisher. Its base of Publication, which also keeps the source alive.
class Publisher {
public:
    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    bool is_current() const { return current_; }
    // Raised when the publisher is evicted or asked: see Publications::ask. An evicted one must end.
    Signal& evicted() { return evicted_; }
    // For a holder whose connection may have ended without its notice: when asked, it reads the connection and confirms that it
    // is still there, or ends.
    void set_can_confirm() { can_confirm_ = true; }
    bool is_asked() const { return asked_; }

protected:
    Publisher() = default;
    ~Publisher() = default;

    // The publisher fills this RTP log itself.
    void fill(RtpLog& rtp_log, KeyFrameSource& key_frames);
    void stop_filling();
    bool fills_rtp_log() const { return rtp_log_ != nullptr; }

private:
    friend class Publications;

    Signal evicted_;
    RtpLog* rtp_log_ = nullptr;
    KeyFrameSource* key_frames_ = nullptr;
    bool current_ = false;
    bool can_confirm_ = false;
    bool asked_ = false;
};

// A further publisher, which only adds tracks. The base of Rendition, which also keeps the source alive.
class RenditionPublisher {
public:
    RenditionPublisher(const RenditionPublisher&) = delete;
    RenditionPublisher& operator=(const RenditionPublisher&) = delete;

    bool is_current() const { return current_; }
    // Raised when the stream's publisher ends, is replaced, or takes the id of one of the tracks. The holder must end.
    Signal& ended() { return ended_; }

protected:
    explicit RenditionPublisher(Tracks& tracks) : tracks_(tracks) {}
    ~RenditionPublisher() = default;

    RenditionId id() const { return id_; }

private:
    friend class Publications;
    void revoke();

    Tracks& tracks_;
    Signal ended_;
    RenditionId id_ = RenditionId::none;
    bool current_ = false;
};

class Publications {
public:
    // Renditions of one stream.
    static constexpr std::size_t kRenditionsMax = 8;

    explicit Publications(const StreamWatches& watches) : watches_(watches) {}
    Publications(const Publications&) = delete;
    Publications& operator=(const Publications&) = delete;

    bool is_published() const { return current_ != nullptr; }
    // Whether the publisher fills the RTP log itself.
    bool brings_rtp() const { return current_ != nullptr && current_->fills_rtp_log(); }

    // Makes `publisher` the current one, after evicting its predecessor, and notifies the watches.
    void start(Publisher& publisher);
    // The current publisher leaves. The caller reports it by note_stream_ended() when its last frames are encoded.
    void end(Publisher& publisher);
    // Admits a rendition. Errc::not_found without a publisher, Errc::limit if there are kRenditionsMax.
    Result<void> start_rendition(RenditionPublisher& rendition);
    // Removes its tracks. Nothing happens if it is not current.
    void end_rendition(RenditionPublisher& rendition);
    std::size_t renditions() const { return renditions_.size(); }
    // A service of this process announces renditions of the current publisher's stream, so that outputs wait for their tracks.
    void expect_renditions(std::size_t count) {
        expected_renditions_ = static_cast<std::uint8_t>(std::min(count, kRenditionsMax));
    }
    std::size_t expected_renditions() const { return expected_renditions_; }
    // Revokes the current publisher's right, if there is one.
    void evict();
    // Makes the publisher check its connection: it confirms or leaves. False without a publisher, or if it cannot check.
    bool ask();
    // `publisher` was asked, and its connection is alive.
    void confirm(Publisher& publisher);

    // The stream has ended at its origin. Its publication may continue for a while, in case the stream resumes; the watches are
    // notified now.
    void note_stream_ended() const { watches_.notify_publisher_left(); }
    // Whether the stream may resume soon after its publisher has left, from another process: players that end with it wait. When
    // it is switched off without a publisher, the watches are notified.
    void set_may_return(bool may_return);
    bool may_return() const { return may_return_; }

private:
    void end_renditions();

    const StreamWatches& watches_;
    Publisher* current_ = nullptr;
    std::vector<RenditionPublisher*> renditions_;  // of the current publisher
    std::uint32_t newest_rendition_ = 0;
    bool may_return_ = false;
    std::uint8_t expected_renditions_ = 0;  // at most kRenditionsMax
};

}  // namespace live::media
