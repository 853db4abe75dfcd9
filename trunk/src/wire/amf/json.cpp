#include "wire/amf/json.hpp"

#include <cmath>

#include <nlohmann/json.hpp>

#include "base/text/json_text.hpp"

namespace live::wire::amf {

namespace {

constexpr int kJsonDepthMax = 16;
constexpr std::size_t kJsonValuesMax = 1'024;
constexpr double kWholeMax = 9'007'199'254'740'992;  // 2^53

nlohmann::json json_of_number(double number) {
    if (std::trunc(number) == number && std::abs(number) <= kWholeMax)
        return static_cast<std::int64_t>(number);
    return number;
}

// The depth is that of the value, which its reader has limited.
nlohmann::json tree_of(const Value& value) {
    switch (value.kind()) {
        case Kind::boolean: return *value.boolean();
        case Kind::number: return json_of_number(*value.number());
        case Kind::string: return *value.string();
        case Kind::date: return json_of_number(*value.date_ms());
        case Kind::xml: return *value.xml_text();
        case Kind::strict_array: {
            auto array = nlohmann::json::array();
            for (const Value::Member& member : value.members())
                array.push_back(tree_of(member.value));
            return array;
        }
        case Kind::object:
        case Kind::ecma_array: {
            auto object = nlohmann::json::object();
            for (const Value::Member& member : value.members())
                object[member.key] = tree_of(member.value);
            return object;
        }
        default: return nullptr;
    }
}

Value value_of(const nlohmann::json& json) {
    if (json.is_boolean())
        return json.get<bool>();
    if (json.is_number())
        return json.get<double>();
    if (json.is_string())
        return json.get<std::string>();
    if (json.is_array()) {
        Value array = Value::strict_array();
        for (const auto& item : json)
            array.append("", value_of(item));
        return array;
    }
    if (!json.is_object())
        return Value::null();
    Value object = Value::object();
    for (const auto& [key, item] : json.items())
        object.append(key, value_of(item));
    return object;
}

}  // namespace

std::string json_of(const Value& value) { return text_of(tree_of(value)); }

Result<Value> value_of_json(std::string_view text) {
    bool is_too_deep = false;
    std::size_t values = 0;
    const auto check = [&](int depth, nlohmann::json::parse_event_t, const nlohmann::json&) {
        is_too_deep = is_too_deep || depth >= kJsonDepthMax || ++values > kJsonValuesMax * 2;
        return !is_too_deep;
    };
    const auto json = nlohmann::json::parse(text.begin(), text.end(), check, false);
    if (is_too_deep)
        return Error(Errc::limit, "JSON that is too deep or too long");
    if (json.is_discarded())
        return Error(Errc::malformed, "not valid JSON");
    return value_of(json);
}

}  // namespace live::wire::amf
