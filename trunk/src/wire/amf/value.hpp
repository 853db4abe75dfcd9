// One AMF value, as in RTMP commands and stream metadata. A tree that owns its text, of the same type for AMF0 and AMF3, so that
// callers are independent of the version that a client used. Not a codec: amf0.hpp and amf3.hpp read and write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace live::wire::amf {

enum class Kind : std::uint8_t {
    undefined,
    null,
    boolean,
    number,
    string,
    date,  // milliseconds since 1970 in UTC; the reserved time zone on the wire is dropped
    xml,
    object,        // members with keys, in wire order; may carry a class name
    ecma_array,    // the same with another marker; used for metadata
    strict_array,  // members whose keys are empty
    unsupported,   // the AMF0 "unsupported" marker, or AMF3 bytes that are not used
};

class Value {
public:
    struct Member;

    // Undefined.
    Value();
    template <class T>
        requires std::is_arithmetic_v<T>
    Value(T value) {
        if constexpr (std::is_same_v<T, bool>)
            kind_ = Kind::boolean;
        else
            kind_ = Kind::number;
        number_ = static_cast<double>(value);
    }
    Value(std::string text);
    Value(std::string_view text);
    Value(const char* text);
    Value(const Value&);
    Value(Value&&) noexcept;
    Value& operator=(const Value&);
    Value& operator=(Value&&) noexcept;
    ~Value();

    static Value null();
    static Value undefined();
    static Value unsupported();
    static Value date(double milliseconds);
    static Value xml(std::string text);
    static Value object(std::initializer_list<Member> members = {});
    static Value typed_object(std::string class_name, std::initializer_list<Member> members = {});
    static Value ecma_array(std::initializer_list<Member> members = {});
    static Value strict_array(std::initializer_list<Value> items = {});

    Kind kind() const { return kind_; }
    bool is(Kind kind) const { return kind_ == kind; }
    // Null or undefined: sent by clients in place of an absent argument.
    bool is_nothing() const { return kind_ == Kind::null || kind_ == Kind::undefined; }
    // Has members: object, ecma_array, strict_array.
    bool is_container() const { return kind_ == Kind::object || kind_ == Kind::ecma_array || kind_ == Kind::strict_array; }

    // The content when the kind matches, else nullopt; views are valid until this value is modified.
    std::optional<double> number() const;
    std::optional<bool> boolean() const;
    std::optional<std::string_view> string() const;
    std::optional<double> date_ms() const;
    std::optional<std::string_view> xml_text() const;
    // The class name of a typed object; otherwise empty.
    std::string_view class_name() const;

    // The member of an object or an ECMA array; nullptr when it is missing or this is neither.
    const Value* find(std::string_view key) const;
    // All members in wire order; those of a strict array have empty keys. Empty when this is not a container.
    std::span<const Member> members() const;

    // Replaces or appends the member. Aborts unless this is an object or an ECMA array and the key has at most 65,535 bytes.
    Value& set(std::string_view key, Value value);
    // Appends without a key lookup, for readers. Aborts when this is not a container.
    Value& append(std::string key, Value value);
    // Returns true when the member existed.
    bool erase(std::string_view key);

    bool operator==(const Value& other) const;

private:
    Value(Kind kind, double number, std::string text);

    double number_ = 0;
    std::string text_;  // the string, the XML, or an object's class name
    std::vector<Member> members_;
    Kind kind_ = Kind::undefined;
};

struct Value::Member {
    std::string key;
    Value value;

    bool operator==(const Member&) const = default;
};

}  // namespace live::wire::amf
