// The row of a single value: a member of an options struct with its facts and kind. Part of base/config/row.hpp, which explains
// rows and has the block rows; include that one.
#pragma once

#include <array>
#include <chrono>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/config/directive.hpp"
#include "base/config/facts.hpp"
#include "base/config/kinds.hpp"
#include "base/config/loading.hpp"
#include "base/result.hpp"

namespace live::config {

// Modifiers available on every row; each returns a changed copy.
template <class Derived>
struct RowBase {
    Facts facts;

    constexpr Derived pending() const { return with(&Facts::support, Support::pending); }
    constexpr Derived ignored() const { return with(&Facts::support, Support::ignored); }
    constexpr Derived not_in_environment() const { return with(&Facts::in_environment, false); }
    constexpr Derived also_variable(std::string_view name) const { return with(&Facts::environment_alias, name); }
    constexpr Derived example(std::string_view text) const { return with(&Facts::example, text); }
    constexpr Derived secret() const { return with(&Facts::secret, true); }
    constexpr Derived alias() const { return with(&Facts::is_alias, true); }

    bool owns(std::string_view name) const { return facts.name == name; }
    void list_names(std::vector<std::string_view>& names) const { names.push_back(facts.name); }

protected:
    template <class T>
    constexpr Derived with(T Facts::*member, std::type_identity_t<T> value) const {
        Derived copy = static_cast<const Derived&>(*this);
        copy.facts.*member = value;
        return copy;
    }
};

// Output of row descriptions, with the current path prefix and depth.
struct Describing {
    std::vector<RowInfo>& rows;
    std::string prefix = {};
    std::size_t depth = 0;
    bool in_environment = true;
    Support support = Support::works;

    // Fills the fields common to all rows and appends the entry.
    RowInfo& add(const Facts& facts) const;
    // A Describing for the inside of the block with those facts.
    Describing inside(const Facts& facts) const;
};

struct Showing {
    std::vector<ValueInfo>& values;
    std::string prefix = {};
    Showing inside(std::string_view name) const { return {values, prefix + std::string(name) + "."}; }
};

// A single value.
template <class Struct, class Member, class Kind>
struct Row : RowBase<Row<Struct, Member, Kind>> {
    Member Struct::*member;
    Kind kind;

    constexpr Row(const Facts& known, Member Struct::*m, Kind k) : RowBase<Row>{known}, member(m), kind(k) {}

    // A number outside its bounds is clamped, or replaced by the default, with a warning instead of an error.
    constexpr Row clamped() const { return with_policy(OnRange::clamp); }
    constexpr Row or_default() const { return with_policy(OnRange::use_default); }
    // A text that may be written without a value.
    constexpr Row may_be_empty() const {
        Row copy = *this;
        copy.kind.may_be_empty = true;
        return copy;
    }
    constexpr Row rule(BoolRule bool_rule) const {
        Row copy = *this;
        copy.kind.rule = bool_rule;
        return copy;
    }

    [[gnu::noinline]] Result<void> bind(Struct& into, const Directive& block, Loading& loading) const {
        const Said said = loading.said(block, this->facts, Kind::kRepeats, Kind::kSplits);
        if (said.found.empty())
            return {};
        Member value = TRY(kind.read(said.found, into.*member, loading));
        if (this->facts.support != Support::works && !(value == into.*member))
            loading.not_yet(this->facts, said.found.front()->at);
        into.*member = std::move(value);
        return {};
    }
    void describe(const Struct& defaults, const Describing& out) const {
        RowInfo& info = out.add(this->facts);
        info.type = kind.type();
        info.range = kind.range();
        info.by_default = kind.text(defaults.*member);
        info.repeatable = Kind::kRepeats;
    }
    void show(const Struct& from, const Showing& out) const {
        if (this->facts.is_alias)
            return;
        out.values.push_back(
            {out.prefix + std::string(this->facts.name), kind.text(from.*member), this->facts.reload, this->facts.secret});
    }

private:
    constexpr Row with_policy(OnRange policy) const {
        Row copy = *this;
        copy.kind.bounds.policy = policy;
        return copy;
    }
};

template <class Struct>
constexpr auto row(bool Struct::*member, std::string_view name, Reload reload, std::string_view doc) {
    return Row(Facts{name, reload, doc}, member, BoolKind{});
}
template <class Struct, class T>
    requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
constexpr auto row(T Struct::*member, std::string_view name, std::type_identity_t<T> min, std::type_identity_t<T> max,
                   Reload reload, std::string_view doc) {
    return Row(Facts{name, reload, doc}, member, NumberKind<T>{{static_cast<double>(min), static_cast<double>(max)}});
}
// A duration is written in seconds when the bounds have a whole-seconds type, else in milliseconds.
template <class Struct, class Rep, class Period, class BoundRep, class BoundPeriod>
constexpr auto row(std::chrono::duration<Rep, Period> Struct::*member, std::string_view name,
                   std::chrono::duration<BoundRep, BoundPeriod> min, std::chrono::duration<BoundRep, BoundPeriod> max,
                   Reload reload, std::string_view doc) {
    constexpr Unit kUnit = std::ratio_less_v<BoundPeriod, std::ratio<1>> ? Unit::milliseconds : Unit::seconds;
    using InUnit = std::chrono::duration<double, std::conditional_t<kUnit == Unit::seconds, std::ratio<1>, std::milli>>;
    return Row(Facts{name, reload, doc}, member, DurationKind<Rep, Period>{{InUnit(min).count(), InUnit(max).count()}, kUnit});
}
template <class Struct, class Enum, std::size_t Count>
    requires std::is_enum_v<Enum>
constexpr auto row(Enum Struct::*member, std::string_view name, const std::array<Named<Enum>, Count>& names, Reload reload,
                   std::string_view doc) {
    return Row(Facts{name, reload, doc}, member, EnumKind<Enum>{names});
}
template <class Struct>
constexpr auto row(std::string Struct::*member, std::string_view name, Reload reload, std::string_view doc) {
    return Row(Facts{name, reload, doc}, member, TextKind{});
}
// Text that must be one of `words`.
template <class Struct, std::size_t Count>
constexpr auto row(std::string Struct::*member, std::string_view name, const std::array<std::string_view, Count>& words,
                   Reload reload, std::string_view doc) {
    return Row(Facts{name, reload, doc}, member, TextKind{words});
}
template <class Struct>
constexpr auto row(std::vector<std::string> Struct::*member, std::string_view name, Reload reload, std::string_view doc) {
    return Row(Facts{name, reload, doc}, member, ListKind{});
}
// A list of endpoints: port, ip:port, [ipv6]:port.
template <class Struct>
constexpr auto endpoints(std::vector<std::string> Struct::*member, std::string_view name, Reload reload, std::string_view doc) {
    return Row(Facts{name, reload, doc}, member, ListKind{.endpoints = true});
}
template <class Struct>
constexpr auto row(std::vector<std::vector<std::string>> Struct::*member, std::string_view name, Reload reload,
                   std::string_view doc) {
    return Row(Facts{name, reload, doc}, member, RulesKind{});
}
template <class Struct>
constexpr auto row(ArgumentsKind::Value Struct::*member, std::string_view name, Reload reload, std::string_view doc) {
    return Row(Facts{name, reload, doc}, member, ArgumentsKind{});
}

}  // namespace live::config
