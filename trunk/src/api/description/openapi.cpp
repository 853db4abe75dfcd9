#include "api/description/openapi.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"
#include "base/version.hpp"
#include "session/http/page_guard.hpp"
#include "wire/http/status.hpp"

namespace live::api {
using session::http::Reply;
using session::http::Request;

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kVersionFolder = "/api/v1/";
constexpr std::string_view kJsonMedia = "application/json";

constexpr std::string_view kAbout =
    "The HTTP API of a live-streaming server. HEAD works where GET does, OPTIONS everywhere; other methods get 405, or, of calls "
    "that "
    "SRS has and that only read, the answer of GET. JSON answers have a `code`, 0 for success; an error has a "
    "`code`, a `message` and a status that fits. With http_api.jsonp, a GET with `callback=NAME` gets a script. `x-ports` "
    "names the blocks "
    "of the configuration whose ports serve an endpoint.";

// The answers that do not depend on the endpoint.
constexpr std::array kCommon = {Failure{400, "malformed request"}, Failure{413, "the body is too long"},
                                Failure{414, "the address is too long"}, Failure{431, "the header is too long"}};
// Requests to the API that change something.
constexpr std::array kOfChanges = {Failure{403, "a page of another site asks for a change"}};
// Several workers answer these endpoints.
constexpr std::array kOfWorkers = {Failure{404, "there is no such worker"}, Failure{503, "a worker does not answer"}};
constexpr std::array kWorkerParameter = {Parameter{"worker", "with several workers: the one to ask", JsonType::integer}};

struct PortName {
    Ports port;
    const char* name;
};
constexpr std::array kPortNames = {PortName{Ports::api, "http_api"}, PortName{Ports::streams, "http_server"},
                                   PortName{Ports::exporter, "exporter"}};

struct MethodKey {
    Method method;
    const char* key;
};
constexpr std::array kMethodKeys = {MethodKey{Method::get, "get"}, MethodKey{Method::post, "post"},
                                    MethodKey{Method::del, "delete"}, MethodKey{Method::patch, "patch"},
                                    MethodKey{Method::put, "put"}};

// The members of answers (common/schema.hpp) as JSON Schema.
constexpr std::array kPages = {Member{"total", JsonType::integer, {}, Presence::always, "entries of all pages"},
                               Member{"next", JsonType::integer, {}, Presence::nullable, "`start` of the next page"}};
constexpr std::array kError = {Member{"code", JsonType::integer, {}, Presence::always, "the status, or a number of its own"},
                               Member{"message", JsonType::text, {}, Presence::always, "one sentence"}};
constexpr std::array kCode = {Member{"code", JsonType::integer, {}, Presence::always, "0: success"}};
constexpr std::array kServer = {Member{"server", JsonType::text, {}, Presence::always, "the same after a restart"},
                                Member{"service", JsonType::text, {}, Presence::always, "another one after a restart"}};
constexpr std::array kPid = {Member{"pid", JsonType::text, {}, Presence::always, "of the process that answers"}};

Json object_schema(std::span<const Member> members);

bool may_miss(Presence presence) { return presence == Presence::sometimes || presence == Presence::maybe; }
bool may_be_null(Presence presence) { return presence == Presence::nullable || presence == Presence::maybe; }

Json plain(const char* type) { return {{"type", type}}; }

Json schema_of(JsonType type, std::span<const Member> of) {
    switch (type) {
        case JsonType::text: return plain("string");
        case JsonType::integer: return plain("integer");
        case JsonType::number: return plain("number");
        case JsonType::boolean: return plain("boolean");
        case JsonType::object: return object_schema(of);
        case JsonType::list: return {{"type", "array"}, {"items", object_schema(of)}};
        case JsonType::numbers: return {{"type", "array"}, {"items", plain("integer")}};
        case JsonType::texts: return {{"type", "array"}, {"items", plain("string")}};
        case JsonType::map: return {{"type", "object"}, {"additionalProperties", object_schema(of)}};
        case JsonType::flags: return {{"type", "object"}, {"additionalProperties", plain("boolean")}};
        case JsonType::open: {
            Json schema = object_schema(of);
            schema["additionalProperties"] = true;
            return schema;
        }
    }
    return {};
}

void add_member(Json& object, std::string_view name, const Member& member) {
    Json schema = schema_of(member.type, member.of);
    if (may_be_null(member.presence))
        schema["type"] = Json::array({schema["type"], "null"});
    if (!member.text.empty())
        schema["description"] = member.text;
    object["properties"][std::string(name)] = std::move(schema);
    if (!may_miss(member.presence))
        object["required"].push_back(name);
}

void add_members(Json& object, std::span<const Member> members) {
    for (const Member& member : members)
        for (std::string_view rest = member.names; !rest.empty();) {
            const std::string_view name = rest.substr(0, rest.find(' '));
            add_member(object, name, member);
            rest.remove_prefix(std::min(name.size() + 1, rest.size()));
        }
}

Json object_schema(std::span<const Member> members) {
    Json object = {{"type", "object"}, {"properties", Json::object()}};
    add_members(object, members);
    return object;
}

Json error_schema() { return object_schema(kError); }

struct AnswerForm {
    const Answer& answer;
    bool is_entry;   // one entry of a list
    bool has_pages;  // a list with `total` and `next`
};
Json answer_schema(const AnswerForm& form) {
    const Answer& answer = form.answer;
    if (answer.envelope == Envelope::none)
        return plain("object");
    Json object = object_schema(kCode);
    if (answer.envelope != Envelope::code_alone)
        add_members(object, kServer);
    if (answer.envelope == Envelope::whole)
        add_members(object, kPid);
    const bool is_one = form.is_entry && !answer.one.empty();
    if (!answer.key.empty())
        add_member(object, is_one ? answer.one : answer.key,
                   {.names = {}, .type = is_one ? JsonType::object : answer.type, .of = answer.of, .presence = answer.presence});
    if (form.has_pages)
        add_members(object, kPages);
    add_members(object, answer.beside);
    return object;
}

std::string_view tag_of(const Route& route) {
    if (route.path.starts_with("/rtc/"))
        return "WebRTC";
    return route.path.starts_with(kVersionFolder) ? "Server" : "Monitoring and pages";
}

// An operation: a method of a path of the description.
struct Operation {
    const Route& route;
    Method method;
    std::string path;
    bool is_entry;  // of a list

    const Action* action() const {
        const auto found = std::ranges::find(route.actions, method, &Action::method);
        return found == route.actions.end() ? nullptr : &*found;
    }
    const Answer& answer() const { return action() == nullptr ? route.answer : action()->answer; }
    bool has_pages() const { return answer().type == JsonType::list && answer().envelope == Envelope::whole && !is_entry; }
    bool is_of_workers() const { return route.path.starts_with(kVersionFolder) && route.answerer != Answerer::receiver; }
};

// The parts of a path in braces.
void add_path_parameters(Json& parameters, std::string_view path) {
    for (std::size_t open = path.find('{'); open != std::string_view::npos; open = path.find('{', open + 1))
        parameters.push_back({{"name", path.substr(open + 1, path.find('}', open) - open - 1)},
                              {"in", "path"},
                              {"required", true},
                              {"schema", {{"type", "string"}}}});
}

void add_parameters(Json& parameters, std::span<const Parameter> more) {
    for (const Parameter& parameter : more)
        parameters.push_back({{"name", parameter.name},
                              {"in", "query"},
                              {"description", parameter.text},
                              {"schema", {{"type", parameter.type == JsonType::integer ? "integer" : "string"}}}});
}

Json parameters_of(const Operation& operation) {
    Json parameters = Json::array();
    add_path_parameters(parameters, operation.path);
    const Action* action = operation.action();
    if (action != nullptr)
        add_parameters(parameters, action->parameters);
    else if (!operation.is_entry)
        add_parameters(parameters, operation.route.parameters);
    if (operation.is_of_workers())
        add_parameters(parameters, kWorkerParameter);
    return parameters;
}

Json content_of(const Operation& operation) {
    const Answer& answer = operation.answer();
    const std::string type(answer.content_type.substr(0, answer.content_type.find(';')));
    Json content = Json::object();
    if (type.empty())
        return content;
    Json& media = content[type] = Json::object();
    if (type == kJsonMedia)
        media["schema"] = answer_schema({answer, operation.is_entry, operation.has_pages()});
    else if (type.starts_with("text/"))
        media["schema"] = {{"type", "string"}};
    if (!answer.other_content_type.empty())
        content[std::string(answer.other_content_type)] = {{"schema", {{"type", "string"}}}};
    return content;
}

Json error_response(std::string_view text) {
    return {{"description", text},
            {"content", {{std::string(kJsonMedia), {{"schema", {{"$ref", "#/components/schemas/Error"}}}}}}}};
}

// http_api.auth may guard these.
bool is_guardable(const Route& route) {
    return session::http::is_control(route.path) || route.path.starts_with("/rtc/") || route.path.starts_with("/metrics");
}

// Its body is empty, or, of a WHIP session, an error.
Json guarded_response() {
    Json response = error_response("user and password, or a token, are needed");
    response["content"]["text/plain"] = {{"schema", {{"type", "string"}}}};
    return response;
}

bool has_location(int status) { return status == wire::http::Status::created || status / 100 == 3; }

std::string reference_of(int status) { return "#/components/responses/Status" + std::to_string(status); }

Json responses_of(const Operation& operation) {
    std::map<int, Json> responses;
    for (const Failure& failure : kCommon)
        responses[failure.status] = {{"$ref", reference_of(failure.status)}};
    const auto add = [&](std::span<const Failure> failures) {
        for (const auto& [status, text] : failures)
            responses[status] = error_response(text);
    };
    if (is_guardable(operation.route))
        responses[wire::http::Status::unauthorized] = guarded_response();
    if (session::http::is_control(operation.route.path) && operation.method != Method::get)
        add(kOfChanges);
    if (operation.is_of_workers())
        add(kOfWorkers);
    if (operation.is_entry)
        responses[wire::http::Status::not_found] = error_response("there is no such entry");
    add(operation.route.failures);
    if (operation.action() != nullptr)
        add(operation.action()->failures);
    const Answer& answer = operation.answer();
    Json& success = responses[answer.status];
    if (answer.status >= wire::http::Status::bad_request)
        success = error_response("always");
    else
        success = {{"description", answer.status / 100 == 2 ? "success" : "redirect"}};
    if (Json content = content_of(operation); answer.status < wire::http::Status::bad_request && !content.empty())
        success["content"] = std::move(content);
    Json all = Json::object();
    for (auto& [status, response] : responses) {
        if (has_location(status))
            response["headers"]["Location"] = {{"schema", {{"type", "string"}}}};
        all[std::to_string(status)] = std::move(response);
    }
    return all;
}

std::string id_of(const Operation& operation, std::string_view method) {
    std::string id(method);
    for (const char letter : operation.path)
        if (std::isalnum(static_cast<unsigned char>(letter)) != 0)
            id += letter;
        else if (!id.ends_with('_'))
            id += '_';
    while (id.ends_with('_'))
        id.pop_back();
    return id;
}

std::string_view summary_of(const Operation& operation) {
    if (operation.action() != nullptr)
        return operation.action()->text;
    return operation.is_entry ? "one entry of the list" : operation.route.text;
}

Json json_of(const Operation& operation, std::string_view method) {
    const Action* action = operation.action();
    Json json = {{"operationId", id_of(operation, method)},
                 {"tags", Json::array({tag_of(operation.route)})},
                 {"summary", summary_of(operation)}};
    if (Json parameters = parameters_of(operation); !parameters.empty())
        json["parameters"] = std::move(parameters);
    const Body& body = action == nullptr ? operation.route.body : action->body;
    if (!body.content_type.empty())
        json["requestBody"] = {{"required", true},
                               {"content",
                                {{std::string(body.content_type),
                                  {{"schema", body.of.empty() ? Json{{"type", "string"}} : object_schema(body.of)}}}}}};
    json["responses"] = responses_of(operation);
    return json;
}

bool serves(const Route& route, Method method) {
    return route.methods.is_any() ? method == Method::get : route.methods.names(method);
}

Json path_item(const Route& route, const std::string& path, bool is_entry) {
    Json item = Json::object();
    Json ports = Json::array();
    for (const auto& [port, name] : kPortNames)
        if (share(route.ports, port))
            ports.push_back(name);
    item["x-ports"] = std::move(ports);
    for (const auto& [method, key] : kMethodKeys) {
        const Operation operation{route, method, path, is_entry};
        const bool is_of_list = !route.answer.one.empty() && !is_entry;
        if (serves(route, method) && !(is_of_list && operation.action() != nullptr))
            item[key] = json_of(operation, key);
    }
    return item;
}

Json paths_of(std::span<const Route* const> rows) {
    Json paths = Json::object();
    for (const Route* route : rows) {
        const std::string path(route->path);
        if (!route->entry.empty()) {
            paths[path + std::string(route->entry)] = path_item(*route, path + std::string(route->entry), false);
            continue;
        }
        paths[path] = path_item(*route, path, false);
        if (!route->answer.one.empty())
            paths[path + "{id}"] = path_item(*route, path + "{id}", true);
    }
    return paths;
}

Json components() {
    Json responses = Json::object();
    for (const auto& [status, text] : kCommon)
        responses["Status" + std::to_string(status)] = error_response(text);
    return {{"schemas", {{"Error", error_schema()}}},
            {"responses", std::move(responses)},
            {"securitySchemes",
             {{"password", {{"type", "http"}, {"scheme", "basic"}}}, {"token", {{"type", "http"}, {"scheme", "bearer"}}}}}};
}

}  // namespace

std::string openapi_text(std::span<const Route* const> rows) {
    const Json description = {
        {"openapi", "3.1.0"},
        {"info", {{"title", "Millrace HTTP API"}, {"version", kVersion}, {"description", kAbout}}},
        {"security", Json::array({Json::object(), {{"password", Json::array()}}, {{"token", Json::array()}}})},
        {"paths", paths_of(rows)},
        {"components", components()}};
    return text_of(description);
}

Reply OpenApiHandler::handle(const Request&, io::Deadline) {
    const auto rows = endpoints_.served();
    if (rows.size() != rows_) {
        text_ = openapi_text(rows);
        rows_ = rows.size();
    }
    return {.body = text_, .headers = {}};
}

}  // namespace live::api
