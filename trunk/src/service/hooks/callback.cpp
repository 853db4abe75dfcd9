#include "service/hooks/callback.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"
#include "base/text/variables.hpp"
#include "session/srt/options.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"

namespace live::service::hooks {

namespace {

using Json = nlohmann::ordered_json;

using wire::http::Status;

Error bad_answer(std::string what) { return {Errc::malformed, "the callback's answer " + std::move(what)}; }

// A human-readable reason from the service. Bytes that would garble a log or a status become spaces; no character is cut in two.
std::string reason_in(const Json& answer) {
    for (const char* const key : {"msg", "message"}) {
        const auto found = answer.find(key);
        if (found == answer.end() || !found->is_string())
            continue;
        std::string text = found->get<std::string>();
        std::size_t size = std::min(text.size(), kReasonBytesMax);
        while (size < text.size() && size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
            --size;
        text.resize(size);
        std::ranges::replace_if(
            text, [](char letter) { return static_cast<unsigned char>(letter) < ' ' || letter == 0x7F; }, ' ');
        return text;
    }
    return {};
}

// The object of a successful answer; null for the short form `0`.
Result<Json> successful(int status, std::string_view body) {
    if (status != Status::ok && status != Status::created)
        return bad_answer("has status " + std::to_string(status) + ", expected 200 or 201 (4005)");
    if (body == "0")
        return Json();
    Json answer = Json::parse(body, nullptr, false);
    if (answer.is_discarded())
        return bad_answer(body.empty() ? "is empty (3063)" : "is not JSON (3063)");
    const auto code = answer.is_object() ? answer.find("code") : answer.end();
    if (!answer.is_object() || code == answer.end() || !code->is_number_integer())
        return bad_answer("has no integer member \"code\" (3064)");
    if (*code != 0) {
        const std::string reason = reason_in(answer);
        return Error(Errc::denied,
                     "refused by the callback" + (reason.empty() ? "" : ": " + reason) + " (code " + code->dump() + ")");
    }
    return answer;
}

void add_stream(Json& body, Action action, const Subject& subject, const Details& details) {
    const session::ClientRequest& request = subject.request;
    body["tcUrl"] = request.tc_url_without_query();
    if (action == Action::on_connect || action == Action::on_play)
        body["pageUrl"] = request.page_url;
    // Services for this family expect the file name of an HLS player.
    body["stream"] = request.kind.row().names_file ? request.stream + request.extension : request.stream;
    body["param"] = request.param;
    if (action == Action::on_connect || action == Action::on_forward)
        return;
    body["stream_url"] = subject.stream_url;
    body["stream_id"] = details.stream_id;
    if (details.clients)
        body["clients"] = *details.clients;
}

}  // namespace

std::string_view name_of(Action action) {
    switch (action) {
        case Action::on_connect: return "on_connect";
        case Action::on_close: return "on_close";
        case Action::on_publish: return "on_publish";
        case Action::on_unpublish: return "on_unpublish";
        case Action::on_play: return "on_play";
        case Action::on_stop: return "on_stop";
        case Action::on_dvr: return "on_dvr";
        case Action::on_upload: return "on_upload";
        case Action::on_hls: return "on_hls";
        case Action::on_hls_notify: return "on_hls_notify";
        case Action::on_forward: break;
    }
    return "on_forward";
}

namespace {

Json common_body(Action action, const ServerIdentity& server, const Subject& subject) {
    const session::ClientRequest& request = subject.request;
    Json body;
    body["server_id"] = server.server_id;
    body["service_id"] = server.service_id;
    body["action"] = name_of(action);
    body["client_id"] = request.id;
    body["ip"] = request.ip;
    body["vhost"] = subject.vhost;
    body["app"] = request.app;
    return body;
}

// Members common to files that a published stream produces.
Json file_body(Action action, const ServerIdentity& server, const Subject& subject) {
    const session::ClientRequest& request = subject.request;
    Json body = common_body(action, server, subject);
    body["tcUrl"] = request.tc_url_without_query();
    body["stream"] = request.stream;
    body["param"] = request.param;
    return body;
}

}  // namespace

std::string body_of(Action action, const ServerIdentity& server, const Subject& subject, const Details& details) {
    Json body = common_body(action, server, subject);
    if (action == Action::on_close) {
        body["send_bytes"] = details.traffic.sent_bytes;
        body["recv_bytes"] = details.traffic.received_bytes;
    } else {
        add_stream(body, action, subject, details);
    }
    return text_of(body);
}

std::string body_of(const RecordedFile& file, const ServerIdentity& server, const Subject& subject,
                    const std::string& stream_id) {
    Json body = file_body(Action::on_dvr, server, subject);
    body["cwd"] = file.cwd;
    body["file"] = file.file;
    body["stream_url"] = subject.stream_url;
    body["stream_id"] = stream_id;
    if (!file.error.empty())
        body["error"] = file.error;
    return text_of(body);
}

std::string body_of(const UploadedFile& file, const ServerIdentity& server, const Subject& subject,
                    const std::string& stream_id) {
    Json body = file_body(Action::on_upload, server, subject);
    body["cwd"] = file.cwd;
    body["file"] = file.file;
    body["bucket"] = file.bucket;
    body["object"] = file.object;
    body["bytes"] = file.bytes;
    body["etag"] = file.etag;
    body["stream_url"] = subject.stream_url;
    body["stream_id"] = stream_id;
    if (!file.error.empty())
        body["error"] = file.error;
    return text_of(body);
}

std::string body_of(const Fragment& fragment, const ServerIdentity& server, const Subject& subject,
                    const std::string& stream_id) {
    Json body = file_body(Action::on_hls, server, subject);
    body["duration"] = fragment.duration;
    body["cwd"] = fragment.cwd;
    body["file"] = fragment.file;
    body["url"] = fragment.url;
    body["m3u8"] = fragment.m3u8;
    body["m3u8_url"] = fragment.m3u8_url;
    body["seq_no"] = fragment.number;
    body["stream_url"] = subject.stream_url;
    body["stream_id"] = stream_id;
    return text_of(body);
}

std::vector<std::string> notify_urls(std::vector<std::string> forms, const Fragment& fragment, const ServerIdentity& server,
                                     const Subject& subject) {
    if (!forms.empty() && (fragment.url.starts_with("http://") || fragment.url.starts_with("https://")))
        return {fragment.url};
    for (std::string& form : forms)
        form = replace_variables(form, {{"server_id", server.server_id},
                                        {"service_id", server.service_id},
                                        {"app", wire::http::percent_encode_path(subject.request.app)},
                                        {"stream", wire::http::percent_encode_path(subject.request.stream)},
                                        {"param", subject.request.param},
                                        {"ts_url", fragment.url}});
    return forms;
}

Result<void> check_answer(int status, std::string_view body) {
    TRY(successful(status, body));
    return {};
}

Result<Granted> granted_by(int status, std::string_view body) {
    const Json answer = TRY(successful(status, body));
    const auto data = answer.is_object() ? answer.find("data") : answer.end();
    if (!answer.is_object() || data == answer.end() || !data->is_object())
        return Granted();
    const auto said = data->find("srt_passphrase");
    if (said == data->end())
        return Granted();
    if (!said->is_string())
        return bad_answer("has an srt_passphrase that is not text");
    auto passphrase = said->get<std::string>();
    using session::srt::kPassphraseBytesMax;
    using session::srt::kPassphraseBytesMin;
    if (!passphrase.empty() && (passphrase.size() < kPassphraseBytesMin || passphrase.size() > kPassphraseBytesMax))
        return bad_answer("has an srt_passphrase that has not 10 to 79 characters");
    return Granted{std::move(passphrase)};
}

Result<std::vector<std::string>> forward_urls_of(int status, std::string_view body) {
    const Json answer = TRY(successful(status, body));
    const auto data = answer.is_object() ? answer.find("data") : answer.end();
    if (!answer.is_object() || data == answer.end() || !data->is_object())
        return bad_answer("has no object \"data\" (3065)");
    const auto list = data->find("urls");
    if (list == data->end() || !list->is_array())
        return bad_answer("has no list \"urls\" in \"data\" (3065)");
    std::vector<std::string> urls;
    for (const Json& url : *list) {
        if (!url.is_string())
            return bad_answer("has a URL that is not text (3065)");
        if (urls.size() < kForwardUrlsMax)
            urls.push_back(url.get<std::string>());
    }
    return urls;
}

}  // namespace live::service::hooks
