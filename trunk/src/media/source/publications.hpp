// Publications: the publisher of a stream, its successors, and the renditions that add tracks to it. One publisher at a time has
// the right to publish; a takeover or an operator revokes it. Renditions end with it. A stand-in may feed the stream while nobody
// has that right, and until the key frame of the publisher that has it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/signal.hpp"
#include "media/rtp/rtp_log.hpp"
#include "media/source/tracks.hpp"
#include "media/source/watches.hpp"

namespace live::media {

enum class Takeover : std::uint8_t { refuse, replace };

// Must neither suspend nor end publications.
class BeginListener {
public:
    virtual void on_begun() = 0;

protected:
    ~BeginListener() = default;
};

// One publisher. Its base of Publication, which also keeps the source alive.
class Publisher {
public:
    enum class Role : std::uint8_t { publisher, stand_in };

    Publisher(const Publisher&) = delete;
    Publisher& operator=(const Publisher&) = delete;

    bool is_current() const { return current_; }
    // Raised when the publisher is evicted or asked: see Publications::ask. An evicted one must end.
    Signal& evicted() { return evicted_; }
    // For a holder whose connection may have ended without its notice: when asked, it reads the connection and confirms that it
    // is still there, or ends.
    void set_can_confirm() { can_confirm_ = true; }
    bool is_asked() const { return asked_; }
    // Whether it has the right to publish and a stand-in still feeds the stream: it appends nothing before it begins.
    bool is_waiting() const { return waits_; }
    // Called when a waiting publisher begins, before its first packet. The listener outlives its membership.
    void set_begin_listener(BeginListener& listener) { begin_listener_ = &listener; }
    // Does nothing if it has another one.
    void remove_begin_listener(const BeginListener& listener) {
        if (begin_listener_ == &listener)
            begin_listener_ = nullptr;
    }

protected:
    explicit Publisher(Role role = Role::publisher) : stands_in_(role == Role::stand_in) {}
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
    BeginListener* begin_listener_ = nullptr;
    const bool stands_in_;
    bool current_ = false;
    bool waits_ = false;
    bool can_confirm_ = false;
    bool asked_ = false;
};

// Feeds a stream after its publisher has left, by a Publication of its own.
class StandIn {
public:
    // The publisher has left without a successor. May start the publication, and must not suspend.
    virtual void on_publisher_gone() = 0;

protected:
    ~StandIn() = default;
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

// A service of this process that makes the renditions of a stream while they have readers.
class RenditionMaker {
public:
    // A reader of the renditions is there, or waits for them; repeated while it is there. Must not suspend.
    virtual void want_renditions() = 0;
    // The renditions that it makes or is about to make, 0 if it cannot make them now. Before it has read the stream's format, 1.
    virtual std::size_t due_renditions() const = 0;

protected:
    ~RenditionMaker() = default;
};

class Publications {
public:
    // Renditions of one stream.
    static constexpr std::size_t kRenditionsMax = 8;

    explicit Publications(const StreamWatches& watches) : watches_(watches) {}
    Publications(const Publications&) = delete;
    Publications& operator=(const Publications&) = delete;

    // Whether anybody feeds the stream, a stand-in included.
    bool is_published() const { return current_ != nullptr; }
    bool is_standing_in() const { return current_ != nullptr && current_->stands_in_; }
    // The publisher that has the right to publish, nullptr without one: it feeds the stream, or waits for its key frame.
    Publisher* owner() const { return is_standing_in() ? coming_ : current_; }
    // Whether the publisher fills the RTP log itself.
    bool brings_rtp() const { return current_ != nullptr && current_->fills_rtp_log(); }

    // Makes `publisher` the current one, after evicting its predecessor, and notifies the watches.
    void start(Publisher& publisher);
    // Grants the right to publish to `publisher`, after evicting the previous owner, while the stand-in feeds the stream.
    void reserve(Publisher& publisher);
    bool must_wait(const Publisher& publisher) const { return is_standing_in() && !publisher.stands_in_; }
    // The publisher leaves. The caller reports it by note_stream_ended() when its last frames are encoded.
    void end(Publisher& publisher);
    // Returns the publisher that waited for the stand-in, which has ended; nullptr without one.
    Publisher* coming() const { return coming_; }
    // `stand_in` outlives its membership; nullptr removes it.
    void set_stand_in(StandIn* stand_in) { stand_in_ = stand_in; }
    StandIn* stand_in() const { return stand_in_; }
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
    // The names of the renditions that the stream has, or gets once they are wanted: from a maker of this process, or by the
    // relay from another node. Cleared when the publisher ends.
    enum class NamedBy : std::uint8_t { maker, relay };
    void name_renditions(NamedBy by, std::vector<std::string> names) {
        named_by_ = by;
        rendition_names_ = std::move(names);
    }
    const std::vector<std::string>& rendition_names() const { return rendition_names_; }
    bool relays_renditions() const { return named_by_ == NamedBy::relay && !rendition_names_.empty(); }
    // `maker` outlives its membership; nullptr removes it.
    void set_rendition_maker(RenditionMaker* maker) { rendition_maker_ = maker; }
    RenditionMaker* rendition_maker() const { return rendition_maker_; }
    // Whether the stream has renditions, or may have some.
    bool may_have_renditions() const { return expected_renditions_ > 0 || rendition_maker_ != nullptr; }
    // Revokes the right of whoever feeds the stream, if anybody does.
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
    Publisher* coming_ = nullptr;  // has the right while the current one stands in
    StandIn* stand_in_ = nullptr;
    RenditionMaker* rendition_maker_ = nullptr;
    std::vector<RenditionPublisher*> renditions_;  // of the current publisher
    std::uint32_t newest_rendition_ = 0;
    bool may_return_ = false;
    std::vector<std::string> rendition_names_;
    NamedBy named_by_ = NamedBy::maker;
    std::uint8_t expected_renditions_ = 0;  // at most kRenditionsMax
};

}  // namespace live::media
