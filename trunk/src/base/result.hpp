// Errors as values: Result<T> holds either a T or an Error. An Error carries a code (for callers that decide on it), a sentence
// (for people), and the location where it was created. No exceptions cross our code: the C++ runtime keeps its caught-exception
// stack per thread, not per fiber.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "base/check.hpp"
#include "base/source_location.hpp"

namespace live {

// A code exists because some caller decides differently on it. The sentence says what happened.
enum class Errc : std::uint8_t {
    need_more,    // the input ends too early; more bytes may help
    malformed,    // the input breaks its format
    unsupported,  // the input is valid but not supported
    limit,        // a named bound was reached
    closed,       // the peer is gone
    cancelled,    // our own side asked this fiber to stop
    timed_out,
    denied,
    not_found,
    conflict,  // already held by another owner
    system,    // the operating system refused; the sentence carries errno's text
};

std::string_view name_of(Errc code);

class [[nodiscard]] Error {
public:
    // Cold, so that whoever can fail stays small and its good path straight.
    [[gnu::cold]] Error(Errc code, std::string sentence, SourceLocation where = SourceLocation::current());

    Errc code() const { return code_; }
    const std::string& sentence() const { return sentence_; }
    SourceLocation where() const { return where_; }

    // Returns the error with one line of context added: "reading the audio config: input ends after 3 bytes".
    Error during(std::string_view context) &&;
    // "malformed: sentence".
    std::string text() const;

private:
    std::string sentence_;
    SourceLocation where_;
    Errc code_;
};

// An Errc::system error for `what` and the given errno, such as "bind to 0.0.0.0:1935: Address already in use (98)".
Error system_error(std::string_view what, int errno_value, SourceLocation where = SourceLocation::current());

template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }

    T& value() & { return *checked(); }
    const T& value() const& { return *const_cast<Result*>(this)->checked(); }
    T value() && { return std::move(*checked()); }
    T& operator*() & { return value(); }
    T operator*() && { return std::move(*this).value(); }
    const T& operator*() const& { return value(); }
    T* operator->() { return checked(); }
    const T* operator->() const { return const_cast<Result*>(this)->checked(); }

    const Error& error() const& { return *checked_error(); }
    Error error() && { return std::move(*const_cast<Error*>(checked_error())); }
    Errc code() const { return checked_error()->code(); }

private:
    T* checked() {
        T* value = std::get_if<0>(&state_);
        CHECK(value != nullptr);
        return value;
    }
    const Error* checked_error() const {
        const Error* error = std::get_if<1>(&state_);
        CHECK(error != nullptr);
        return error;
    }

    std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : state_(std::move(error)) {}

    bool ok() const { return state_.index() == 0; }
    explicit operator bool() const { return ok(); }
    void value() const { CHECK(ok()); }

    const Error& error() const& { return *checked_error(); }
    Error error() && { return std::move(*const_cast<Error*>(checked_error())); }
    Errc code() const { return checked_error()->code(); }

private:
    const Error* checked_error() const {
        const Error* error = std::get_if<1>(&state_);
        CHECK(error != nullptr);
        return error;
    }

    std::variant<std::monostate, Error> state_;
};

}  // namespace live

#define LIVE_JOIN_(a, b) a##b
#define LIVE_JOIN(a, b) LIVE_JOIN_(a, b)
#define LIVE_TRY(name, expression)          \
    __extension__({                         \
        auto name = (expression);           \
        if (!name.ok())                     \
            return std::move(name).error(); \
        std::move(name).value();            \
    })
// Gives the value of a Result, or returns its Error from the enclosing function.
#define TRY(...) LIVE_TRY(LIVE_JOIN(try_result_, __COUNTER__), (__VA_ARGS__))
// Gives the value of a Result that can fail only because of a bug.
#define MUST(...) ((__VA_ARGS__).value())
