// An HTTP/2 client in memory, by libnghttp2, for tests: sends requests and collects responses.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <string>
#include <string_view>

#include <nghttp2/nghttp2.h>

#include "base/bytes/bytes.hpp"
#include "base/check.hpp"

namespace live::engine::http2 {

class TestClient {
public:
    struct Response {
        std::string status;
        std::string body;
        bool is_complete = false;
        std::uint32_t code = 0;  // of a reset
    };

    TestClient() {
        nghttp2_session_callbacks* callbacks = nullptr;
        CHECK(nghttp2_session_callbacks_new(&callbacks) == 0);
        nghttp2_session_callbacks_set_on_header_callback(
            callbacks, [](nghttp2_session*, const nghttp2_frame* frame, const std::uint8_t* name, std::size_t name_size,
                          const std::uint8_t* value, std::size_t value_size, std::uint8_t, void* self) {
                if (as_text(Bytes(name, name_size)) == ":status")
                    of(self).responses[frame->hd.stream_id].status = as_text(Bytes(value, value_size));
                return 0;
            });
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(
            callbacks,
            [](nghttp2_session*, std::uint8_t, std::int32_t id, const std::uint8_t* bytes, std::size_t size, void* self) {
                of(self).responses[id].body += as_text(Bytes(bytes, size));
                return 0;
            });
        nghttp2_session_callbacks_set_on_stream_close_callback(
            callbacks, [](nghttp2_session*, std::int32_t id, std::uint32_t code, void* self) {
                of(self).responses[id].is_complete = true;
                of(self).responses[id].code = code;
                return 0;
            });
        nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks,
                                                             [](nghttp2_session*, const nghttp2_frame* frame, void* self) {
                                                                 of(self).has_goaway |= frame->hd.type == NGHTTP2_GOAWAY;
                                                                 return 0;
                                                             });
        CHECK(nghttp2_session_client_new(&session_, callbacks, this) == 0);
        nghttp2_session_callbacks_del(callbacks);
        CHECK(nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, nullptr, 0) == 0);
    }
    ~TestClient() { nghttp2_session_del(session_); }
    TestClient(const TestClient&) = delete;
    TestClient& operator=(const TestClient&) = delete;

    enum class BodyEnds : bool { no, yes };

    // Returns the id of the stream. `body` must outlive it; empty: none.
    std::int32_t request(std::string_view method, std::string_view path, const std::string& body = {},
                         BodyEnds ends = BodyEnds::yes) {
        const std::array pairs{pair_of(":method", method), pair_of(":scheme", "https"), pair_of(":authority", "h"),
                               pair_of(":path", path)};
        bodies_.push_back({&body, 0, ends});
        nghttp2_data_provider data{};
        data.source.ptr = &bodies_.back();
        data.read_callback = [](nghttp2_session*, std::int32_t, std::uint8_t* into, std::size_t size, std::uint32_t* flags,
                                nghttp2_data_source* source, void*) -> ssize_t {
            Body& from = *static_cast<Body*>(source->ptr);
            const std::size_t count = std::min(size, from.text->size() - from.sent);
            std::ranges::copy(as_bytes(*from.text).subspan(from.sent, count), into);
            from.sent += count;
            if (count == 0 && from.ends == BodyEnds::no)
                return NGHTTP2_ERR_DEFERRED;
            if (from.sent == from.text->size() && from.ends == BodyEnds::yes)
                *flags |= NGHTTP2_DATA_FLAG_EOF;
            return static_cast<ssize_t>(count);
        };
        return nghttp2_submit_request(session_, nullptr, pairs.data(), pairs.size(), body.empty() ? nullptr : &data, nullptr);
    }
    void reset(std::int32_t id) { CHECK(nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, id, NGHTTP2_CANCEL) == 0); }
    // False: a connection error.
    bool receive(Bytes bytes) {
        return nghttp2_session_mem_recv(session_, bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size());
    }
    std::string output() {
        std::string text;
        for (;;) {
            const std::uint8_t* bytes = nullptr;
            const ssize_t count = nghttp2_session_mem_send(session_, &bytes);
            CHECK(count >= 0);
            if (count == 0)
                return text;
            text += as_text(Bytes(bytes, static_cast<std::size_t>(count)));
        }
    }

    std::map<std::int32_t, Response> responses;
    bool has_goaway = false;

private:
    struct Body {
        const std::string* text;
        std::size_t sent;
        BodyEnds ends;
    };

    static TestClient& of(void* self) { return *static_cast<TestClient*>(self); }
    static nghttp2_nv pair_of(std::string_view name, std::string_view value) {
        return {const_cast<std::uint8_t*>(as_bytes(name).data()), const_cast<std::uint8_t*>(as_bytes(value).data()), name.size(),
                value.size(), NGHTTP2_NV_FLAG_NONE};
    }

    nghttp2_session* session_ = nullptr;
    std::list<Body> bodies_;  // of all requests
};

}  // namespace live::engine::http2
