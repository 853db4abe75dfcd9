#include "api/streams/rtp_server_handler.hpp"

#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"
#include "base/text/secret.hpp"
#include "wire/http/status.hpp"
#include "wire/http/target.hpp"

namespace live::api {
using session::gb28181::Directory;
using session::gb28181::OpenRequest;
using session::gb28181::Transport;
using session::http::Reply;
using session::http::Request;

namespace {

using Json = nlohmann::ordered_json;

// The parameters of a call: those of the body precede those of the query.
class Parameters {
public:
    static Result<Parameters> read(const Request& request) {
        Parameters all;
        all.query_ = request.target.query;
        if (request.message.body.empty())
            return all;
        all.json_ = Json::parse(request.message.body, nullptr, false);
        if (!all.json_.is_object())
            all.form_ = TRY(wire::http::Query::parse(request.message.body));
        return all;
    }

    // Numbers and strings; empty if it is missing.
    std::string text(std::string_view name) const {
        if (json_.is_object()) {
            const auto found = json_.find(name);
            if (found != json_.end() && found->is_string())
                return found->get<std::string>();
            if (found != json_.end() && found->is_number_integer())
                return found->dump();
        }
        return std::string(form_.find(name).value_or(query_.get(name)));
    }
    template <class Number>
    Result<Number> number(std::string_view name, Number otherwise) const {
        const std::string said = text(name);
        if (said.empty())
            return otherwise;
        Number value{};
        const auto [end, failure] = std::from_chars(said.data(), said.data() + said.size(), value);
        if (failure != std::errc() || end != said.data() + said.size())
            return Error(Errc::malformed, std::string(name) + " must be a number");
        return value;
    }

private:
    wire::http::Query query_;
    wire::http::Query form_;
    Json json_;
};

Result<std::string> stream_of(const Parameters& parameters) {
    auto id = parameters.text("stream_id");
    if (id.empty())
        return Error(Errc::malformed, "stream_id is needed");
    return id;
}

// With an SSRC and without a port, the port of all devices.
Result<Json> open(Directory& directory, const Parameters& parameters) {
    OpenRequest request;
    request.id = TRY(stream_of(parameters));
    const auto port = TRY(parameters.number<std::uint16_t>("port", 0));
    const auto mode = TRY(parameters.number<unsigned>("tcp_mode", TRY(parameters.number<unsigned>("enable_tcp", 0))));
    if (mode > 2)
        return Error(Errc::malformed, "tcp_mode must be 0, 1 or 2");
    request.transport = mode == 0 ? Transport::udp : mode == 1 ? Transport::tcp : Transport::tcp_active;
    if (const std::string ssrc = parameters.text("ssrc"); !ssrc.empty() && ssrc != "0")
        request.ssrc = TRY(engine::gb28181::parse_ssrc(ssrc));
    if (!request.ssrc || port != 0)
        request.port = port;
    const auto opened = TRY(directory.open(std::move(request)));
    return Json{{"code", 0}, {"port", opened.port}};
}

Result<Json> connect(Directory& directory, const Parameters& parameters) {
    const std::string id = TRY(stream_of(parameters));
    const auto port = TRY(parameters.number<std::uint16_t>("dst_port", 0));
    const Endpoint device{parameters.text("dst_url"), port};
    TRY(parse_endpoint(device.text()));
    TRY(directory.connect(id, device));
    return Json{{"code", 0}};
}

Result<Json> close(Directory& directory, const Parameters& parameters) {
    const std::string id = TRY(stream_of(parameters));
    return Json{{"code", 0}, {"hit", directory.close(id).ok() ? 1 : 0}};
}

Json list(const Directory& directory) {
    Json data = Json::array();
    for (const auto& session : directory.list())
        data.push_back({{"port", session.port}, {"stream_id", session.id}});
    return Json{{"code", 0}, {"data", std::move(data)}};
}

Result<Json> answer(Directory& directory, std::string_view call, const Parameters& parameters) {
    if (call.starts_with("/index/api/open"))
        return open(directory, parameters);
    if (call.starts_with("/index/api/connect"))
        return connect(directory, parameters);
    if (call.starts_with("/index/api/close"))
        return close(directory, parameters);
    return list(directory);
}

Reply reply_of(const Json& json) { return {wire::http::Status::ok, "application/json", text_of(json), {}}; }

Reply refuse(int code, std::string_view sentence) { return reply_of(Json{{"code", code}, {"msg", sentence}}); }

}  // namespace

Reply RtpServerHandler::handle(const Request& request, io::Deadline) {
    const auto parameters = Parameters::read(request);
    if (!parameters.ok())
        return refuse(kInvalid, parameters.error().sentence());
    if (secret_.empty() || !same_secret(parameters->text("secret"), secret_))
        return refuse(kDenied, "the secret is wrong");
    const auto answered = answer(directory_, request.path(), *parameters);
    if (answered.ok())
        return reply_of(*answered);
    return refuse(answered.code() == Errc::malformed ? kInvalid : kFailed, answered.error().sentence());
}

}  // namespace live::api
