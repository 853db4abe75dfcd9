// Errors as values: Result<T> holds either a T or an Error. An Error carries a code (for callers that decide on it), a sentence
// (for people), and the location where it was created. No exceptions cross our code: the C++ runtime keeps its caught-exception
// stack per thread, not per fiber.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/check.hpp"
#include "base/source_location.hpp"

namespace live {

// A code exists because some caller decides differently on it. The sentence describes what happened.
enum class Errc : std::uint8_t {
    need_more,    // the input ends too early; more bytes may help
    malformed,    // the input breaks its format
    unsupported,  // the input is valid but not supported
    limit,        // a named bound was reached
    closed,       // the peer has disconnected
    cancelled,    // this process cancelled the fiber
    timed_out,
    denied,
    not_found,
    conflict,         // already held by another owner
    system,           // the operating system refused; the sentence carries errno's text
    unauthenticated,  // credentials are missing or wrong: others may be accepted
};

std::string_view name_of(Errc code);

class [[nodiscard]] Error {
public:
    // Cold, so that callers that may fail stay small and their success path straight.
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

// A union rather than a std::variant, which costs each unit that has some of them a tenth of the time it takes to compile.
template <class T>
class [[nodiscard]] Result {
public:
    Result(T value) : is_ok_(true), value_(std::move(value)) {}
    Result(Error error) : is_ok_(false), error_(std::move(error)) {}
    Result(Result&& other) noexcept : is_ok_(other.is_ok_) { construct(std::move(other)); }
    Result(const Result& other)
        requires std::copy_constructible<T>
        : is_ok_(other.is_ok_) {
        construct(other);
    }
    Result& operator=(Result other) noexcept {
        destroy();
        is_ok_ = other.is_ok_;
        construct(std::move(other));
        return *this;
    }
    ~Result() { destroy(); }

    bool ok() const { return is_ok_; }
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
    template <class Other>
    void construct(Other&& other) {
        if (is_ok_)
            std::construct_at(&value_, std::forward<Other>(other).value_);
        else
            std::construct_at(&error_, std::forward<Other>(other).error_);
    }
    void destroy() {
        if (is_ok_)
            std::destroy_at(&value_);
        else
            std::destroy_at(&error_);
    }
    T* checked() {
        CHECK(is_ok_);
        return &value_;
    }
    const Error* checked_error() const {
        CHECK(!is_ok_);
        return &error_;
    }

    bool is_ok_;
    union {
        T value_;
        Error error_;
    };
};

template <>
class [[nodiscard]] Result<void> {
public:
    Result() = default;
    Result(Error error) : error_(std::move(error)) {}

    bool ok() const { return !error_; }
    explicit operator bool() const { return ok(); }
    void value() const { CHECK(ok()); }

    const Error& error() const& { return *checked_error(); }
    Error error() && { return std::move(*const_cast<Error*>(checked_error())); }
    Errc code() const { return checked_error()->code(); }

private:
    const Error* checked_error() const {
        CHECK(error_.has_value());
        return &*error_;
    }

    std::optional<Error> error_;
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
