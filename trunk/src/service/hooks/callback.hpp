// The wire format of callbacks: the request's body, and the meaning of a response. Dry; HookService does the calls.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "session/common/admission.hpp"
#include "session/common/traffic.hpp"

namespace live::service::hooks {

enum class Action : std::uint8_t {
    on_connect,
    on_close,
    on_publish,
    on_unpublish,
    on_play,
    on_stop,
    on_forward,
    on_dvr,
    on_upload,
    on_hls,
    on_hls_notify
};

std::string_view name_of(Action action);

// This server's identity, in every callback.
struct ServerIdentity {
    std::string server_id;
    std::string service_id;
};

// The client and stream of a callback.
struct Subject {
    session::ClientRequest request;
    std::string vhost;       // the virtual host that serves it, by its name in the settings
    std::string stream_url;  // "/app/stream" or "vhost/app/stream"
};

// Additional facts in some callbacks.
struct Details {
    std::string stream_id;                 // empty when the stream has no entry in the statistics
    std::optional<std::uint64_t> clients;  // on_play: players with this one; on_stop: players left
    session::Traffic traffic;              // on_close
};

// One JSON object. Invalid UTF-8 from a client is replaced.
std::string body_of(Action action, const ServerIdentity& server, const Subject& subject, const Details& details);

// A recording that is complete or has failed.
struct RecordedFile {
    std::string cwd;
    std::string file;   // absolute, or below cwd
    std::string error;  // empty when complete
};

// on_dvr. "error" is present only when there is one.
std::string body_of(const RecordedFile& file, const ServerIdentity& server, const Subject& subject, const std::string& stream_id);

// A recording that was uploaded, or whose name another object has.
struct UploadedFile {
    std::string cwd;
    std::string file;  // absolute, or below cwd
    std::string bucket;
    std::string object;
    std::uint64_t bytes = 0;
    std::string etag;
    std::string error;  // empty when the object is complete
};

// on_upload. "error" is present only when there is one.
std::string body_of(const UploadedFile& file, const ServerIdentity& server, const Subject& subject, const std::string& stream_id);

// A complete HLS fragment.
struct Fragment {
    double duration = 0;  // seconds
    std::string cwd;
    std::string file;  // absolute, or below cwd
    std::string url;   // as in the playlist
    std::string m3u8;
    std::string m3u8_url;
    std::uint64_t number = 0;
    std::size_t notify_answer_bytes = 64;  // how much of the response to on_hls_notify is read
};

// on_hls.
std::string body_of(const Fragment& fragment, const ServerIdentity& server, const Subject& subject, const std::string& stream_id);
// on_hls_notify: the templates with their variables replaced, or only the fragment's own URL when that is absolute.
std::vector<std::string> notify_urls(std::vector<std::string> forms, const Fragment& fragment, const ServerIdentity& server,
                                     const Subject& subject);

// ok for status 200 or 201 with the body `0`, or an object with the integer member "code" 0. Errc::denied for another code: the
// sentence is for the client and carries the response's "msg" or "message", at most kReasonBytesMax of it. Errc::malformed for
// everything else; that sentence is for the log.
inline constexpr std::size_t kReasonBytesMax = 200;
Result<void> check_answer(int status, std::string_view body);

// The optional "data" of an answer that permits.
struct Granted {
    // In answers to on_publish and on_play: "srt_passphrase", of 10 to 79 characters or empty. See StreamPlan::srt_passphrase.
    std::optional<std::string> srt_passphrase;
};
// Errc::malformed for a passphrase of another length.
Result<Granted> granted_by(int status, std::string_view body);

// The same rule, and data.urls of the response: full RTMP URLs. Errc::malformed without them. At most kForwardUrlsMax are used.
inline constexpr std::size_t kForwardUrlsMax = 64;
Result<std::vector<std::string>> forward_urls_of(int status, std::string_view body);

}  // namespace live::service::hooks
