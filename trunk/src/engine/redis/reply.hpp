// Reply: the answer of a Redis or Valkey server as a value, and its reader. hiredis reads and writes the protocol (RESP2); the
// caller handles sockets. The server is treated as hostile: the memory that its answers take is bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes/bytes.hpp"
#include "base/result.hpp"

namespace live::engine::redis {

struct Reply {
    enum class Kind : std::uint8_t { nil, number, text, status, error, list };

    Kind kind = Kind::nil;
    std::int64_t number = 0;
    std::string text{};
    std::vector<Reply> items{};

    bool is_text() const { return kind == Kind::text; }
    bool is_error() const { return kind == Kind::error; }
    bool is_list(std::size_t at_least) const { return kind == Kind::list && items.size() >= at_least; }
    bool operator==(const Reply&) const = default;
};

class ReplyReader {
public:
    // Bytes and values of one reply, and lists in lists.
    static constexpr std::size_t kReplyBytesMax = 16 << 20;
    static constexpr std::size_t kValuesMax = 200'000;
    static constexpr std::size_t kDepthMax = 7;

    ReplyReader();
    ~ReplyReader();
    ReplyReader(const ReplyReader&) = delete;
    ReplyReader& operator=(const ReplyReader&) = delete;

    // Errc::limit. An error here and in next() is final.
    Result<void> feed(Bytes bytes);
    // The next whole reply; none when more bytes are needed. Errc::malformed, also for a reply with too many values.
    Result<std::optional<Reply>> next();

    struct Building;  // for hiredis

private:
    std::unique_ptr<Building> building_;
};

// A command as the server expects it: a list of words, whatever bytes they have.
std::string command_of(std::span<const std::string> words);

}  // namespace live::engine::redis
