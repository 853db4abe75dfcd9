// The client's half of an RTMP conversation as ready-made bytes, and a reader of chunks that counts media. The load programs
// send fixed requests without waiting for each answer, as the protocol allows; what the server says is only searched for the
// one status that matters.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

inline constexpr std::size_t kHandshakeOutBytes = 1537;         // C0 and C1.
inline constexpr std::size_t kHandshakeInBytes = 1 + 2 * 1536;  // S0, S1 and S2.
inline constexpr std::size_t kHandshakeEndBytes = 1536;         // C2. Servers do not look at what a simple handshake echoes.

// C0 and C1 of the simple handshake.
std::vector<std::uint8_t> handshake_hello();

// C2, connect, createStream and play in one piece.
std::vector<std::uint8_t> play_request(const std::string& tc_url, const std::string& app, const std::string& stream);

// C2, connect, releaseStream, FCPublish, createStream and publish, as an encoder sends them.
std::vector<std::uint8_t> publish_request(const std::string& tc_url, const std::string& app, const std::string& stream);

// FCUnpublish and deleteStream.
std::vector<std::uint8_t> unpublish_request(const std::string& stream);

// An acknowledgement of everything received up to `total`.
std::array<std::uint8_t, 16> acknowledgement(std::uint64_t total);

// Takes the chunk stream of a player apart and counts. One of these per witness; everybody else only counts bytes.
class MediaCounter {
public:
    // Any number of bytes after the handshake. Returns false when the bytes are not a chunk stream.
    bool feed(const std::uint8_t* data, std::size_t size);

    std::uint64_t audio_messages() const { return audio_messages_; }
    std::uint64_t video_messages() const { return video_messages_; }
    std::uint64_t media_bytes() const { return media_bytes_; }
    std::uint64_t times_went_back() const { return times_went_back_; }

private:
    struct Lane {
        std::uint32_t timestamp = 0;
        std::uint32_t delta = 0;
        std::uint32_t length = 0;
        std::uint8_t type = 0;
        bool extended = false;
        std::vector<std::uint8_t> payload;
    };

    // Bytes used by one whole chunk at the front of buffer_, 0 when it is not complete, kBroken when it cannot be one.
    std::size_t take_chunk(const std::uint8_t* at, std::size_t size);
    void on_message(const Lane& lane);

    static constexpr std::size_t kBroken = static_cast<std::size_t>(-1);
    std::size_t chunk_bytes_ = 128;
    std::map<std::uint32_t, Lane> rtp_logs_;
    std::vector<std::uint8_t> buffer_;
    std::uint64_t audio_messages_ = 0;
    std::uint64_t video_messages_ = 0;
    std::uint64_t media_bytes_ = 0;
    std::uint64_t times_went_back_ = 0;
    std::map<std::uint8_t, std::uint32_t> last_time_;
};

}  // namespace bench
