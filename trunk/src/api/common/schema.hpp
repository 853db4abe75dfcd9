// The form of JSON values in requests and answers, for the description of the API (description/openapi.hpp). Tables only.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace live::api {

enum class JsonType : std::uint8_t {
    text,
    integer,
    number,
    boolean,
    object,   // with the members in `of`
    list,     // of objects with the members in `of`
    numbers,  // a list of integers
    texts,    // a list of texts
    map,      // an object with any names; each value is an object with the members in `of`
    flags,    // an object with any names; each value is a boolean
    open,     // an object with the members in `of` and any others
};

enum class Presence : std::uint8_t {
    always,
    sometimes,  // may be missing
    nullable,   // always there, may be null
    maybe,      // may be missing or null
};

// Members of an object that have one form.
struct Member {
    std::string_view names;  // separated by blanks
    JsonType type = JsonType::text;
    std::span<const Member> of{};
    Presence presence = Presence::always;
    std::string_view text{};  // for readers of the description
};

}  // namespace live::api
