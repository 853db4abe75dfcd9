// Rows: the lists and figures of the API as named fields of known types. The JSON of an answer is written from rows; a worker
// reports them to another one (row_report.hpp), which combines those of all workers. Pure. Not here: metrics, which are families
// of samples (metrics_report.hpp).
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace live::engine::workers {

// How the fields of several workers' rows become one.
enum class Combine : std::uint8_t {
    first,  // the field of the first row with the highest rank; fields of an object inside follow their own rules
    add,    // numbers are added, lists and names are joined
};

// A set of names. JSON shows its size: a name that several workers have counts once.
using Names = std::set<std::string>;
using Texts = std::vector<std::string>;

// The workers that report a row: the number of one, or a list of numbers. JSON has no such field without workers.
struct Workers {
    bool is_list = false;
    std::vector<std::size_t> numbers{};  // set in a sum

    bool operator==(const Workers&) const = default;
};

struct Field;

// An object. Fields keep their order.
struct Row {
    // Defined where Field is complete.
    Row();
    Row(std::initializer_list<Field> list);
    Row(const Row&);
    Row(Row&&) noexcept;
    Row& operator=(const Row&);
    Row& operator=(Row&&) noexcept;
    ~Row();

    template <class T>
    void add(std::string_view name, T&& value, Combine combine = Combine::first);
    // nullptr if missing.
    const Field* find(std::string_view name) const;
    // The same if it is of another type.
    template <class T>
    const T* find(std::string_view name) const;
    // The value of a field that the row has with that type.
    template <class T>
    T& at(std::string_view name);
    // Empty if missing, or of another type.
    std::string_view text(std::string_view name) const;

    bool operator==(const Row&) const;

    std::vector<Field> fields;
    std::string key;        // rows of a list with the same key are the same object, seen by several workers; empty: no other is
    std::uint8_t rank = 0;  // of the rows with the same key, the first of the highest rank gives the fields that are not added
};
using Rows = std::vector<Row>;

struct Field {
    using Value =
        std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, Row, Rows, Texts, Names, Workers>;

    // `from`: a number, a text, null, one of the other types, or an optional of these.
    template <class T>
    Field(std::string_view field, T&& from, Combine rule = Combine::first)
        : name(field), value(value_of(std::forward<T>(from))), combine(rule) {}

    bool operator==(const Field&) const = default;

    std::string name;
    Value value;
    Combine combine = Combine::first;

private:
    template <class T>
    static Value value_of(T&& from) {
        using Plain = std::remove_cvref_t<T>;
        if constexpr (std::same_as<Plain, std::nullptr_t>)
            return std::monostate();
        else if constexpr (std::convertible_to<T, std::string_view>)
            return std::string(std::string_view(from));
        else if constexpr (std::unsigned_integral<Plain> && !std::same_as<Plain, bool>)
            return static_cast<std::uint64_t>(from);
        else if constexpr (std::signed_integral<Plain>)
            return static_cast<std::int64_t>(from);
        else if constexpr (std::floating_point<Plain>)
            return static_cast<double>(from);
        else if constexpr (requires { from.has_value(); })
            return from.has_value() ? value_of(*from) : Value();
        else
            return std::forward<T>(from);
    }
};

template <class T>
const T* Row::find(std::string_view name) const {
    const Field* field = find(name);
    return field == nullptr ? nullptr : std::get_if<T>(&field->value);
}

template <class T>
T& Row::at(std::string_view name) {
    return const_cast<T&>(*find<T>(name));
}

template <class T>
void Row::add(std::string_view name, T&& value, Combine combine) {
    fields.emplace_back(name, std::forward<T>(value), combine);
}

// A worker's answer: an object, and the rows of a list.
struct RowReport {
    Row head{};
    Rows rows{};

    bool operator==(const RowReport&) const = default;
};

// Adds the rows of another worker's list: those with the same key become one.
void join(Rows& sum, Rows more);
// Adds the report of one worker. An empty sum becomes that report; otherwise fields that the sum does not have are left out.
void add_report(RowReport& sum, std::size_t worker, RowReport report);

}  // namespace live::engine::workers
