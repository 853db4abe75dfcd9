#include "wire/acme/messages.hpp"

#include <utility>

#include <nlohmann/json.hpp>

namespace live::wire::acme {

namespace {

using nlohmann::json;

constexpr int kDepthMax = 16;
constexpr std::size_t kTextBytesMax = 4096;
constexpr std::string_view kErrorPrefix = "urn:ietf:params:acme:error:";

// Empty if it is missing or too long.
std::string text_in(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end() || !found->is_string() || found->get_ref<const std::string&>().size() > kTextBytesMax)
        return {};
    return found->get<std::string>();
}

Result<json> object_in(std::string_view text) {
    if (text.size() > kMessageBytesMax)
        return Error(Errc::limit, "the answer has more than 64 KiB");
    bool is_deep = false;
    json object = json::parse(
        text.begin(), text.end(),
        [&is_deep](int depth, json::parse_event_t, json&) {
            is_deep = is_deep || depth > kDepthMax;
            return !is_deep;
        },
        false);
    if (is_deep || !object.is_object())
        return Error(Errc::malformed, "the answer is no JSON object");
    return object;
}

Problem problem_in(const json& object) {
    Problem problem{text_in(object, "type"), text_in(object, "detail")};
    if (problem.type.starts_with(kErrorPrefix))
        problem.type.erase(0, kErrorPrefix.size());
    // 6.7.1: the first of several.
    const auto several = object.find("subproblems");
    if (several != object.end() && several->is_array() && !several->empty() && several->front().is_object())
        if (const std::string detail = text_in(several->front(), "detail"); !detail.empty())
            problem.detail += problem.detail.empty() ? detail : " (" + detail + ")";
    return problem;
}

Problem problem_of(const json& object) {
    const auto found = object.find("error");
    return found != object.end() && found->is_object() ? problem_in(*found) : Problem();
}

// Null for a missing list.
Result<json> list_in(const json& object, const char* name) {
    const auto found = object.find(name);
    if (found == object.end())
        return json();
    if (!found->is_array())
        return Error(Errc::malformed, std::string(name) + " is no list");
    if (found->size() > kListMax)
        return Error(Errc::limit, std::string(name) + " has more than 100 entries");
    return *found;
}

Result<std::string> needed(const json& object, const char* name) {
    std::string text = text_in(object, name);
    if (text.empty())
        return Error(Errc::malformed, std::string("the answer has no ") + name);
    return text;
}

}  // namespace

// No TRY among the members of an initialiser: those before it would not be freed.
Result<Directory> parse_directory(std::string_view text) {
    const json object = TRY(object_in(text));
    Directory directory;
    directory.new_nonce = TRY(needed(object, "newNonce"));
    directory.new_account = TRY(needed(object, "newAccount"));
    directory.new_order = TRY(needed(object, "newOrder"));
    return directory;
}

Result<Order> parse_order(std::string_view text) {
    const json object = TRY(object_in(text));
    Order order;
    order.status = TRY(needed(object, "status"));
    order.finalize = TRY(needed(object, "finalize"));
    order.certificate = text_in(object, "certificate");
    order.error = problem_of(object);
    for (const json& one : TRY(list_in(object, "authorizations"))) {
        if (!one.is_string() || one.get_ref<const std::string&>().size() > kTextBytesMax)
            return Error(Errc::malformed, "an authorization is no URL");
        order.authorizations.push_back(one.get<std::string>());
    }
    return order;
}

Result<Authorization> parse_authorization(std::string_view text) {
    const json object = TRY(object_in(text));
    Authorization authorization;
    authorization.status = TRY(needed(object, "status"));
    if (const auto identifier = object.find("identifier"); identifier != object.end() && identifier->is_object())
        authorization.domain = text_in(*identifier, "value");
    for (const json& one : TRY(list_in(object, "challenges"))) {
        if (!one.is_object())
            return Error(Errc::malformed, "a challenge is no object");
        authorization.challenges.push_back(
            {text_in(one, "type"), text_in(one, "url"), text_in(one, "status"), text_in(one, "token"), problem_of(one)});
    }
    return authorization;
}

Problem parse_problem(std::string_view text) {
    const auto object = object_in(text);
    return object.ok() ? problem_in(*object) : Problem();
}

}  // namespace live::wire::acme
