#include "engine/http2/flood_guard.hpp"

#include <algorithm>

namespace live::engine::http2 {

std::string_view name_of(Flood flood) {
    switch (flood) {
        case Flood::client_resets: return "client_resets";
        case Flood::server_resets: return "server_resets";
        case Flood::continuations: return "continuations";
        case Flood::control: return "control";
    }
    return "";
}

std::string_view sentence_of(Flood flood) {
    switch (flood) {
        case Flood::client_resets: return "the client resets its requests too fast";
        case Flood::server_resets: return "the client makes the server reset too many requests";
        case Flood::continuations: return "a header block has too many CONTINUATION frames or bytes";
        case Flood::control: return "too many PING, SETTINGS, PRIORITY or empty frames";
    }
    return "";
}

bool FloodGuard::Bucket::take(TimePoint now) {
    if (!refilled_)
        refilled_ = now;
    const auto passed = std::max(now - *refilled_, Duration::zero());
    const auto whole = std::chrono::floor<std::chrono::milliseconds>(std::min<Duration>(passed, std::chrono::minutes(1)));
    const std::size_t back = static_cast<std::size_t>(whole.count()) * per_second_ / 1000;
    if (back > 0) {
        tokens_ = std::min(max_, tokens_ + back);
        refilled_ = now;
    }
    if (tokens_ == 0)
        return false;
    --tokens_;
    return true;
}

std::optional<Flood> FloodGuard::on_client_reset(TimePoint now) {
    return client_resets_.take(now) ? std::nullopt : std::optional(Flood::client_resets);
}

std::optional<Flood> FloodGuard::on_server_reset(TimePoint now) {
    return server_resets_.take(now) ? std::nullopt : std::optional(Flood::server_resets);
}

std::optional<Flood> FloodGuard::on_control(TimePoint now) {
    return controls_.take(now) ? std::nullopt : std::optional(Flood::control);
}

std::optional<Flood> FloodGuard::on_header_frame(bool begins, std::size_t bytes) {
    continuations_ = begins ? 0 : continuations_ + 1;
    block_bytes_ = begins ? bytes : block_bytes_ + bytes;
    const bool is_flood = continuations_ > kContinuationsMax || block_bytes_ > kHeaderBlockBytesMax;
    return is_flood ? std::optional(Flood::continuations) : std::nullopt;
}

}  // namespace live::engine::http2
