#include "wire/amf/value.hpp"

#include <algorithm>
#include <utility>

#include "base/check.hpp"

namespace live::wire::amf {

namespace {

constexpr std::size_t kKeyBytesMax = 65'535;  // AMF0 writes a 16-bit length before a key.

}  // namespace

Value::Value() = default;
Value::Value(Kind kind, double number, std::string text) : number_(number), text_(std::move(text)), kind_(kind) {}
Value::Value(std::string text) : text_(std::move(text)), kind_(Kind::string) {}
Value::Value(std::string_view text) : text_(text), kind_(Kind::string) {}
Value::Value(const char* text) : text_(text), kind_(Kind::string) {}
Value::Value(const Value&) = default;
Value::Value(Value&&) noexcept = default;
Value& Value::operator=(const Value&) = default;
Value& Value::operator=(Value&&) noexcept = default;
Value::~Value() = default;

Value Value::undefined() { return {}; }
Value Value::null() { return {Kind::null, 0, {}}; }
Value Value::unsupported() { return {Kind::unsupported, 0, {}}; }
Value Value::date(double milliseconds) { return {Kind::date, milliseconds, {}}; }
Value Value::xml(std::string text) { return {Kind::xml, 0, std::move(text)}; }

Value Value::object(std::initializer_list<Member> members) { return typed_object({}, members); }

Value Value::typed_object(std::string class_name, std::initializer_list<Member> members) {
    Value value(Kind::object, 0, std::move(class_name));
    value.members_ = members;
    return value;
}

Value Value::ecma_array(std::initializer_list<Member> members) {
    Value value(Kind::ecma_array, 0, {});
    value.members_ = members;
    return value;
}

Value Value::strict_array(std::initializer_list<Value> items) {
    Value value(Kind::strict_array, 0, {});
    for (const Value& item : items)
        value.members_.push_back({{}, item});
    return value;
}

std::optional<double> Value::number() const { return is(Kind::number) ? std::optional(number_) : std::nullopt; }
std::optional<bool> Value::boolean() const { return is(Kind::boolean) ? std::optional(number_ != 0) : std::nullopt; }
std::optional<double> Value::date_ms() const { return is(Kind::date) ? std::optional(number_) : std::nullopt; }

std::optional<std::string_view> Value::string() const {
    return is(Kind::string) ? std::optional<std::string_view>(text_) : std::nullopt;
}

std::optional<std::string_view> Value::xml_text() const {
    return is(Kind::xml) ? std::optional<std::string_view>(text_) : std::nullopt;
}

std::string_view Value::class_name() const { return is(Kind::object) ? std::string_view(text_) : std::string_view(); }

const Value* Value::find(std::string_view key) const {
    if (kind_ != Kind::object && kind_ != Kind::ecma_array)
        return nullptr;
    const auto found = std::ranges::find(members_, key, &Member::key);
    return found == members_.end() ? nullptr : &found->value;
}

std::span<const Value::Member> Value::members() const { return members_; }

Value& Value::set(std::string_view key, Value value) {
    CHECK(kind_ == Kind::object || kind_ == Kind::ecma_array);
    const auto found = std::ranges::find(members_, key, &Member::key);
    if (found == members_.end())
        return append(std::string(key), std::move(value));
    found->value = std::move(value);
    return *this;
}

Value& Value::append(std::string key, Value value) {
    CHECK(is_container() && key.size() <= kKeyBytesMax);
    members_.push_back({std::move(key), std::move(value)});
    return *this;
}

bool Value::erase(std::string_view key) {
    return std::erase_if(members_, [key](const Member& member) { return member.key == key; }) > 0;
}

bool Value::operator==(const Value& other) const {
    return kind_ == other.kind_ && number_ == other.number_ && text_ == other.text_ && members_ == other.members_;
}

}  // namespace live::wire::amf
