#include "engine/http2/server.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <map>

#include <nghttp2/nghttp2.h>

#include "base/check.hpp"
#include "engine/http2/frame_walker.hpp"
#include "engine/http2/skipped_streams.hpp"

namespace live::engine::http2 {

namespace {

// RFC 9113, 8.2.2: these belong to an HTTP/1.1 connection.
bool is_of_connection(std::string_view name) {
    constexpr std::array<std::string_view, 6> kNames{"connection",        "keep-alive", "proxy-connection",
                                                     "transfer-encoding", "upgrade",    "te"};
    return std::ranges::find_if(kNames, [&](std::string_view each) { return http1::same_name(each, name); }) != kNames.end();
}

std::string lower_case(std::string_view name) {
    std::string text(name);
    for (char& letter : text)
        letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    return text;
}

nghttp2_nv pair_of(const std::string& name, const std::string& value) {
    return {const_cast<std::uint8_t*>(as_bytes(name).data()), const_cast<std::uint8_t*>(as_bytes(value).data()), name.size(),
            value.size(), NGHTTP2_NV_FLAG_NONE};
}

std::string_view text_of(const std::uint8_t* bytes, std::size_t size) { return as_text(Bytes(bytes, size)); }

}  // namespace

bool is_available() { return true; }

class Server::Core {
public:
    explicit Core(const http1::Limits& limits);
    ~Core() { nghttp2_session_del(session_); }
    Core(const Core&) = delete;
    Core& operator=(const Core&) = delete;

    struct Stream {
        StreamRequest request;
        std::size_t header_count = 0;
        std::size_t header_bytes = 0;
        bool is_complete = false;  // the request's header
        bool is_taken = false;
        bool is_body_complete = false;
        bool is_answered = false;
        bool is_reset_here = false;
        std::string body;
        // The offer.
        std::span<const ::iovec> parts;
        std::size_t offset = 0;  // into the first part
        std::size_t taken = 0;
        bool is_last = false;
        bool is_ended = false;
        bool wants_room = false;
    };

    Result<void> handle_bytes(TimePoint now, Bytes input);
    Result<Bytes> next_output();
    Result<void> check() const;
    Stream* find(StreamId id);
    void push(Event::Kind kind, StreamId id) { events_.push_back({kind, id}); }
    void resume(StreamId id) { static_cast<void>(nghttp2_session_resume_data(session_, id)); }
    void flooded(std::optional<Flood> flood);
    void count_frame(const FrameWalker::Head& head);

    // Callbacks of the session.
    void on_begin_headers(const nghttp2_frame& frame);
    void on_header(const nghttp2_frame& frame, std::string_view name, std::string_view value);
    void on_frame(const nghttp2_frame& frame);
    void on_data(StreamId id, Bytes bytes);
    void on_frame_sent(const nghttp2_frame& frame);
    void on_stream_close(StreamId id);
    ssize_t read(StreamId id, MutBytes into, std::uint32_t& flags);

    nghttp2_session* session_ = nullptr;
    http1::Limits limits_;
    std::map<StreamId, Stream> streams_;
    std::vector<Event> events_;
    std::size_t next_event_ = 0;
    std::size_t held_ = 0;
    FrameWalker walker_;
    SkippedStreams skipped_;
    bool is_out_of_order_ = false;
    FloodGuard guard_;
    std::optional<Flood> flood_;
    TimePoint now_{};

private:
    void set_callbacks(nghttp2_session_callbacks* callbacks);
    void add_pseudo_field(Stream& stream, std::string_view name, std::string_view value);
};

void Server::Core::set_callbacks(nghttp2_session_callbacks* callbacks) {
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks,
                                                            [](nghttp2_session*, const nghttp2_frame* frame, void* core) {
                                                                static_cast<Core*>(core)->on_begin_headers(*frame);
                                                                return 0;
                                                            });
    nghttp2_session_callbacks_set_on_header_callback(
        callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                      const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* core) {
            static_cast<Core*>(core)->on_header(*frame, text_of(name, name_size), text_of(value, value_size));
            return 0;
        });
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* core) {
        static_cast<Core*>(core)->on_frame(*frame);
        return 0;
    });
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, StreamId id, const std::uint8_t* bytes, std::size_t size, void* core) {
            static_cast<Core*>(core)->on_data(id, Bytes(bytes, size));
            return 0;
        });
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, [](nghttp2_session*, const nghttp2_frame* frame, void* core) {
        static_cast<Core*>(core)->on_frame_sent(*frame);
        return 0;
    });
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks,
                                                           [](nghttp2_session*, StreamId id, std::uint32_t, void* core) {
                                                               static_cast<Core*>(core)->on_stream_close(id);
                                                               return 0;
                                                           });
    nghttp2_session_callbacks_set_data_source_read_length_callback(
        callbacks, [](nghttp2_session*, std::uint8_t, StreamId, std::int32_t, std::int32_t, std::uint32_t, void*) {
            return static_cast<ssize_t>(kDataBytesMax);
        });
}

Server::Core::Core(const http1::Limits& limits) : limits_(limits) {
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_option* options = nullptr;
    // These fail only without memory.
    CHECK(nghttp2_session_callbacks_new(&callbacks) == 0 && nghttp2_option_new(&options) == 0);
    set_callbacks(callbacks);
    nghttp2_option_set_no_auto_window_update(options, 1);
    CHECK(nghttp2_session_server_new2(&session_, callbacks, this, options) == 0);
    nghttp2_option_del(options);
    nghttp2_session_callbacks_del(callbacks);
    const std::array settings{
        nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, kStreamsMax},
        nghttp2_settings_entry{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, static_cast<std::uint32_t>(kStreamWindow)},
        nghttp2_settings_entry{NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, static_cast<std::uint32_t>(limits.header_bytes)},
    };
    CHECK(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size()) == 0);
    CHECK(nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow) == 0);
}

Server::Core::Stream* Server::Core::find(StreamId id) {
    const auto found = streams_.find(id);
    return found == streams_.end() ? nullptr : &found->second;
}

void Server::Core::flooded(std::optional<Flood> flood) {
    if (!flood || flood_)
        return;
    flood_ = flood;
    static_cast<void>(nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM));
}

Result<void> Server::Core::check() const {
    if (flood_)
        return Error(Errc::limit, std::string(sentence_of(*flood_)));
    return {};
}

Result<void> Server::Core::handle_bytes(TimePoint now, Bytes input) {
    now_ = now;
    // Before the session spends anything on them.
    for (Bytes rest = input; const auto head = walker_.next(rest);)
        count_frame(*head);
    TRY(check());
    if (is_out_of_order_) {
        static_cast<void>(nghttp2_session_terminate_session(session_, NGHTTP2_PROTOCOL_ERROR));
        return Error(Errc::malformed, "HTTP/2: a stream with an id that the client has passed over");
    }
    const ssize_t used = nghttp2_session_mem_recv(session_, input.data(), input.size());
    if (used == NGHTTP2_ERR_FLOODED) {
        flood_ = Flood::control;
        return check();
    }
    if (used < 0)
        return Error(Errc::malformed, std::string("HTTP/2: ") + nghttp2_strerror(static_cast<int>(used)));
    return {};
}

Result<Bytes> Server::Core::next_output() {
    const std::uint8_t* bytes = nullptr;
    const ssize_t count = nghttp2_session_mem_send(session_, &bytes);
    if (count < 0)
        return Error(Errc::malformed, std::string("HTTP/2: ") + nghttp2_strerror(static_cast<int>(count)));
    if (count == 0)
        TRY(check());
    return Bytes(bytes, static_cast<std::size_t>(count));
}

void Server::Core::count_frame(const FrameWalker::Head& head) {
    switch (head.type) {
        case NGHTTP2_HEADERS:
            is_out_of_order_ = is_out_of_order_ || !skipped_.on_headers(head.stream);
            flooded(guard_.on_header_frame(true, head.length));
            break;
        case NGHTTP2_CONTINUATION: flooded(guard_.on_header_frame(false, head.length)); break;
        case NGHTTP2_RST_STREAM: flooded(guard_.on_client_reset(now_)); break;
        case NGHTTP2_WINDOW_UPDATE: break;
        case NGHTTP2_DATA:
            if (head.length == 0 && (head.flags & NGHTTP2_FLAG_END_STREAM) == 0)
                flooded(guard_.on_control(now_));
            break;
        default: flooded(guard_.on_control(now_));
    }
}

void Server::Core::on_begin_headers(const nghttp2_frame& frame) {
    if (frame.headers.cat == NGHTTP2_HCAT_REQUEST && !flood_)
        streams_[frame.hd.stream_id].request.message.keep_alive = true;
}

void Server::Core::add_pseudo_field(Stream& stream, std::string_view name, std::string_view value) {
    http1::Request& message = stream.request.message;
    if (name == ":method")
        message.method = value;
    else if (name == ":path")
        message.target = value;
    else if (name == ":authority")
        message.headers.add("Host", std::string(value));
    if (message.target.size() > limits_.target_bytes) {
        message.target.clear();
        stream.request.refusal = 414;
    }
}

void Server::Core::on_header(const nghttp2_frame& frame, std::string_view name, std::string_view value) {
    Stream* stream = find(frame.hd.stream_id);
    if (stream == nullptr || stream->is_complete)  // a trailer
        return;
    if (name.starts_with(':'))
        return add_pseudo_field(*stream, name, value);
    ++stream->header_count;
    stream->header_bytes += name.size() + value.size();
    if (stream->header_count > limits_.header_count || stream->header_bytes > limits_.header_bytes) {
        stream->request.refusal = 431;
        return;
    }
    http1::Headers& headers = stream->request.message.headers;
    // RFC 9113, 8.3.1: both are the same unless a proxy has made a mistake.
    if (name == "host" && headers.find("Host"))
        return;
    // RFC 9113, 8.2.3: the pairs of one field.
    if (name == "cookie" && !headers.fields().empty() && headers.fields().back().name == name) {
        headers.extend_last("; ");
        headers.extend_last(value);
        return;
    }
    headers.add(std::string(name), std::string(value));
}

void Server::Core::on_frame(const nghttp2_frame& frame) {
    if (frame.hd.type != NGHTTP2_HEADERS && frame.hd.type != NGHTTP2_DATA)
        return;
    Stream* stream = find(frame.hd.stream_id);
    if (stream == nullptr)
        return;
    const bool ends = (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    if (ends)
        stream->is_body_complete = true;
    if (frame.hd.type == NGHTTP2_HEADERS && !stream->is_complete) {
        stream->is_complete = true;
        stream->request.has_body = !ends;
        push(Event::Kind::request, frame.hd.stream_id);
    } else if (ends) {
        push(Event::Kind::body, frame.hd.stream_id);
    }
}

void Server::Core::on_data(StreamId id, Bytes bytes) {
    Stream* stream = find(id);
    if (stream == nullptr) {
        static_cast<void>(nghttp2_session_consume_connection(session_, bytes.size()));
        return;
    }
    if (stream->body.empty())
        push(Event::Kind::body, id);
    stream->body += as_text(bytes);
    held_ += bytes.size();
}

void Server::Core::on_frame_sent(const nghttp2_frame& frame) {
    if (frame.hd.type != NGHTTP2_RST_STREAM)
        return;
    const Stream* stream = find(frame.hd.stream_id);
    if (stream == nullptr || !stream->is_reset_here)
        flooded(guard_.on_server_reset(now_));
}

void Server::Core::on_stream_close(StreamId id) {
    Stream* stream = find(id);
    if (stream == nullptr)
        return;
    held_ -= stream->body.size();
    static_cast<void>(nghttp2_session_consume_connection(session_, stream->body.size()));
    const bool is_seen = stream->is_complete;
    streams_.erase(id);
    if (is_seen)
        push(Event::Kind::closed, id);
}

ssize_t Server::Core::read(StreamId id, MutBytes into, std::uint32_t& flags) {
    Stream* stream = find(id);
    if (stream == nullptr)
        return NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
    std::size_t count = 0;
    while (count < into.size() && !stream->parts.empty()) {
        const ::iovec& part = stream->parts.front();
        const std::size_t piece = std::min(into.size() - count, part.iov_len - stream->offset);
        if (piece > 0)
            std::memcpy(into.data() + count, static_cast<const std::uint8_t*>(part.iov_base) + stream->offset, piece);
        count += piece;
        stream->offset += piece;
        if (stream->offset == part.iov_len) {
            stream->offset = 0;
            stream->parts = stream->parts.subspan(1);
        }
    }
    stream->taken += count;
    const bool is_done = stream->parts.empty();
    if (stream->is_ended || (is_done && stream->is_last)) {
        flags |= NGHTTP2_DATA_FLAG_EOF;
        stream->is_ended = true;
    }
    if (is_done && (count > 0 || stream->wants_room)) {
        stream->wants_room = false;
        push(Event::Kind::writable, id);
    }
    if (count == 0 && !stream->is_ended)
        return NGHTTP2_ERR_DEFERRED;
    return static_cast<ssize_t>(count);
}

Server::Server(const http1::Limits& limits) : core_(std::make_unique<Core>(limits)) {}
Server::~Server() = default;

Result<void> Server::handle_bytes(TimePoint now, Bytes input) { return core_->handle_bytes(now, input); }

std::optional<Event> Server::poll_event() {
    auto& events = core_->events_;
    if (core_->next_event_ == events.size()) {
        events = std::vector<Event>();
        core_->next_event_ = 0;
        return std::nullopt;
    }
    return events[core_->next_event_++];
}

Result<Bytes> Server::next_output() { return core_->next_output(); }
std::optional<Flood> Server::flood() const { return core_->flood_; }
std::size_t Server::streams() const { return core_->streams_.size(); }
std::size_t Server::held_bytes() const { return core_->held_; }

bool Server::is_over() const {
    return nghttp2_session_want_read(core_->session_) == 0 && nghttp2_session_want_write(core_->session_) == 0;
}

std::optional<StreamRequest> Server::take_request(StreamId stream) {
    Core::Stream* found = core_->find(stream);
    if (found == nullptr || !found->is_complete || std::exchange(found->is_taken, true))
        return std::nullopt;
    return std::move(found->request);
}

std::string Server::take_body(StreamId stream) {
    Core::Stream* found = core_->find(stream);
    if (found == nullptr || found->body.empty())
        return {};
    core_->held_ -= found->body.size();
    static_cast<void>(nghttp2_session_consume(core_->session_, stream, found->body.size()));
    return std::exchange(found->body, {});
}

bool Server::is_body_complete(StreamId stream) const {
    const Core::Stream* found = core_->find(stream);
    return found != nullptr && found->is_body_complete;
}

bool Server::is_open(StreamId stream) const { return core_->find(stream) != nullptr; }

void Server::send_interim(StreamId stream, int status) {
    const std::string name = ":status";
    const std::string value = std::to_string(status);
    const nghttp2_nv pair = pair_of(name, value);
    if (is_open(stream))
        static_cast<void>(nghttp2_submit_headers(core_->session_, NGHTTP2_FLAG_NONE, stream, nullptr, &pair, 1, nullptr));
}

void Server::respond(StreamId stream, int status, const Fields& fields, bool has_body) {
    Core::Stream* found = core_->find(stream);
    if (found == nullptr || std::exchange(found->is_answered, true))
        return;
    Fields sent{{":status", std::to_string(status)}};
    for (const auto& [name, value] : fields)
        if (!is_of_connection(name))
            sent.emplace_back(lower_case(name), value);
    std::vector<nghttp2_nv> pairs;
    for (const auto& [name, value] : sent)
        pairs.push_back(pair_of(name, value));
    nghttp2_data_provider body{};
    body.read_callback = [](nghttp2_session*, std::int32_t id, std::uint8_t* into, std::size_t size, std::uint32_t* flags,
                            nghttp2_data_source*,
                            void* core) { return static_cast<Core*>(core)->read(id, MutBytes(into, size), *flags); };
    found->is_ended = !has_body;
    static_cast<void>(nghttp2_submit_response(core_->session_, stream, pairs.data(), pairs.size(), has_body ? &body : nullptr));
}

void Server::offer(StreamId stream, std::span<const ::iovec> parts, bool is_last) {
    Core::Stream* found = core_->find(stream);
    if (found == nullptr || found->is_ended)
        return;
    found->parts = parts;
    found->offset = 0;
    found->taken = 0;
    found->is_last = is_last;
    core_->resume(stream);
}

std::size_t Server::withdraw(StreamId stream) {
    Core::Stream* found = core_->find(stream);
    if (found == nullptr)
        return 0;
    found->parts = {};
    found->is_last = false;
    return std::exchange(found->taken, 0);
}

void Server::want_room(StreamId stream) {
    Core::Stream* found = core_->find(stream);
    if (found == nullptr)
        return;
    found->wants_room = true;
    core_->resume(stream);
}

void Server::end(StreamId stream) {
    Core::Stream* found = core_->find(stream);
    if (found == nullptr || !found->is_answered || std::exchange(found->is_ended, true))
        return;
    found->parts = {};
    core_->resume(stream);
}

void Server::reset(StreamId stream, Code code) {
    Core::Stream* found = core_->find(stream);
    if (found == nullptr)
        return;
    found->is_reset_here = true;
    static_cast<void>(nghttp2_submit_rst_stream(core_->session_, NGHTTP2_FLAG_NONE, stream, static_cast<std::uint32_t>(code)));
}

void Server::finish() {
    static_cast<void>(nghttp2_submit_goaway(core_->session_, NGHTTP2_FLAG_NONE,
                                            nghttp2_session_get_last_proc_stream_id(core_->session_), NGHTTP2_NO_ERROR, nullptr,
                                            0));
}

void Server::abort(Code code) {
    static_cast<void>(nghttp2_session_terminate_session(core_->session_, static_cast<std::uint32_t>(code)));
}

}  // namespace live::engine::http2
