// LayerReader: the video of one WebRTC player of a stream with layers (media::RtpLayers). It keeps a position in the log of one
// layer, and changes to another one at a key frame: when its link carries more or less, or never if the player has named a layer.
//
// Where key frames cannot be requested, layers have them at the same times, and renditions arrive later than the stream itself.
// So a change waits until the current layer has reached the time of a key frame of the other one, and at a key frame of the
// current layer until that of the other one has arrived.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/time.hpp"
#include "engine/rtp/send/layer_selector.hpp"
#include "engine/rtp/send/picture_lines.hpp"
#include "engine/webrtc/play_session.hpp"
#include "engine/webrtc/shared_state.hpp"
#include "media/rtp/rtp_layers.hpp"

namespace live::session::rtc {

engine::rtp::RtpLogHeader header_of(const media::RtpPacket& packet);

class LayerReader {
public:
    // The age of a key frame at which a new player may start, and how much earlier than the frame sent last the key frame of
    // another layer may be shown. Otherwise a new key frame is requested.
    static constexpr std::chrono::milliseconds kKeyAgeMax{500};
    static constexpr std::chrono::milliseconds kBackMax{20};
    // Packets that wait for longer are skipped, up to a key frame.
    static constexpr std::chrono::milliseconds kBehindMax{1'500};
    // How long a player waits for the same key frame of a layer that arrives later.
    static constexpr std::chrono::milliseconds kHoldMax{4'000};
    static constexpr std::chrono::milliseconds kAskEvery{500};
    static constexpr std::chrono::milliseconds kDecideEvery{50};
    static constexpr std::chrono::milliseconds kPadEvery{5};
    // Padding repeats one of the latest packets; at most so many are sent in one turn.
    static constexpr media::Sequence kPadPackets = 16;

    // `counts` outlives this.
    explicit LayerReader(engine::webrtc::SharedState& counts) : counts_(counts) {}
    LayerReader(const LayerReader&) = delete;
    LayerReader& operator=(const LayerReader&) = delete;

    // Keeps to the layer of this name, while it is there.
    void keep_to(std::string name) { kept_ = std::move(name); }
    // Reports whether the stream has layers. To be called before any of the following, because the publisher may have changed.
    bool follow(const media::RtpLog& stream);
    void release();
    // The player has everything before `next` of the stream's own log, where it got its video until now.
    void continue_from(TimePoint now, const media::RtpLog& stream, media::Sequence next);

    // Sends what is available. Returns when to call it again even without new packets.
    std::optional<TimePoint> serve(TimePoint now, engine::webrtc::PlaySession& engine);
    // Drops what waits.
    void leave_out();
    void want_key_frame();
    // Retransmits a packet of a layer, if it is still there.
    void resend(TimePoint now, engine::rtp::LogNumber number, engine::webrtc::PlaySession& engine) const;
    // Packets that the player missed since the last call, because its link was too slow.
    std::uint64_t take_lost() { return std::exchange(lost_, 0); }

    // The name of the current layer; empty before the first frame, and without layers.
    const std::string& name() const { return begun_.name; }
    std::uint64_t changes() const { return changes_; }

private:
    using Engine = engine::webrtc::PlaySession;
    struct Last {
        std::uint32_t timestamp = 0;
        bool marker = false;
    };
    // The current layer.
    struct Begun {
        std::string name;
        media::Sequence at = 0;  // the first packet that was sent
        Duration late{0};        // of its frames, because they are old or the layer arrives late, not because of the link
    };
    // A frame whose timestamp was moved behind that of the frame before it.
    struct Moved {
        std::uint8_t layer = 0;
        std::uint32_t from = 0;
        std::uint32_t to = 0;
    };

    void decide(TimePoint now, Engine& engine);
    void aim_at(std::size_t layer);
    bool send_some(TimePoint now, Engine& engine);
    void skip_if_far_behind(TimePoint now, media::RtpLog& log);
    void skip_to(const media::RtpLog& log, media::Sequence to);
    void send(TimePoint now, const media::RtpPacket& packet, Engine& engine);
    bool try_change(TimePoint now);
    void change_to(TimePoint now, media::Sequence key);
    std::optional<media::Sequence> find_start(TimePoint now);
    bool may_start_at(TimePoint now, const media::RtpPacket& key) const;
    std::optional<media::Sequence> next_key_of_target();
    bool has_reached(TimePoint now, const media::RtpPacket& key);
    bool waits_for_change(TimePoint now, const media::RtpPacket& packet);
    bool holds_at(TimePoint now, const media::RtpPacket& key);
    std::optional<TimePoint> pad(TimePoint now, Engine& engine);
    engine::rtp::RtpLogHeader layer_header(const media::RtpPacket& packet, std::uint8_t layer) const;
    // The payload with continuous picture IDs, in `storage` where the codec has them.
    using Storage = std::array<std::uint8_t, engine::webrtc::PlaySession::kPayloadBytesMax>;
    std::optional<MutBytes> copy_pictures(const media::RtpPacket& packet, Storage& storage) const;
    Bytes sent_payload(const media::RtpPacket& packet, std::uint8_t layer, Storage& storage) const;
    // As in LogNumber, where 0 is the stream's own log.
    static std::uint8_t number_of(std::size_t layer) { return static_cast<std::uint8_t>(layer + 1); }

    engine::webrtc::SharedState& counts_;
    std::string kept_;
    media::RtpLayers* layers_ = nullptr;  // of the publisher
    std::uint32_t writer_ = 0;
    engine::rtp::LayerSelector selector_;
    std::optional<std::size_t> current_;  // held, like the next one
    std::optional<std::size_t> target_;   // from its next key frame on
    engine::rtp::LayerSelector::Reason reason_{};
    Begun begun_;
    media::Sequence next_ = 0;
    std::optional<Last> last_;
    std::optional<Moved> moved_;
    engine::rtp::PictureLines pictures_;
    TimePoint next_decision_{};
    TimePoint next_ask_{};
    std::uint64_t lost_ = 0;
    std::uint64_t changes_ = 0;
    bool waits_for_key_ = false;
    bool is_blocked_ = false;
    bool is_padding_ = false;
};

}  // namespace live::session::rtc
