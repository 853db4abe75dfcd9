// Rows: one per option, the only place that states its name, bounds, purpose and when a change takes effect. A room writes a
// config::Rows of them beside its options struct; it drives parsing, bounds, "did you mean", environment variable names,
// conf/full.conf, doc/config.md and the comparison at reload.
//
//   inline constexpr auto kRtmpRows = config::Rows{
//       config::row(&RtmpOptions::chunk_size, "chunk_size", 128, 65'536, config::Reload::next_session, "Bytes of payload in
//       ..."),
//   };
//
// An option's default is its member's initialiser and is not repeated here. Value rows are in base/config/row_value.hpp; this
// file has the block rows: a single block, a repeatable block, and a member struct whose options are written directly in the
// enclosing block.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/config/row_value.hpp"

namespace live::config {

// Binds a block's directives to a struct: a name without a row is an error; the rest are read in row order.
template <class Rows, class Struct>
Result<void> bind_rows(const Rows& rows, Struct& into, const Directive& block, Loading& loading);

template <std::size_t, class Row>
struct RowAt {
    Row row;
};
template <class Numbers, class... Each>
struct RowsAt;
template <std::size_t... at, class... Each>
struct RowsAt<std::index_sequence<at...>, Each...> : RowAt<at, Each>... {
    constexpr explicit RowsAt(const Each&... each) : RowAt<at, Each>{each}... {}

    bool owns(std::string_view name) const { return (RowAt<at, Each>::row.owns(name) || ...); }
    void list_names(std::vector<std::string_view>& names) const { (RowAt<at, Each>::row.list_names(names), ...); }
    template <class Struct>
    Result<void> bind(Struct& into, const Directive& block, Loading& loading) const {
        Result<void> result;
        static_cast<void>(((result = RowAt<at, Each>::row.bind(into, block, loading)).ok() && ...));
        return result;
    }
    // Appends the description of each.
    template <class Struct>
    void describe(const Struct& defaults, const Describing& out) const {
        (RowAt<at, Each>::row.describe(defaults, out), ...);
    }
    // Appends the values of a struct as text.
    template <class Struct>
    void show(const Struct& from, const Showing& out) const {
        (RowAt<at, Each>::row.show(from, out), ...);
    }
};

// Rows in their order, which are a row themselves. A std::tuple takes too long to compile.
template <class... Each>
struct Rows : RowsAt<std::index_sequence_for<Each...>, Each...> {
    using RowsAt<std::index_sequence_for<Each...>, Each...>::RowsAt;
};
template <class... Each>
Rows(const Each&...) -> Rows<Each...>;

// Whether a block in the conf file is enabled; blocks without an enabling option always are.
template <class T>
bool is_in_use(const T& value) {
    if constexpr (requires { value.enabled; })
        return value.enabled;
    else
        return true;
}

// `name { ... }`, once. `prepare` sets defaults that depend on values already read from the enclosing block.
template <class Struct, class Member, class Rows>
struct BlockRow : RowBase<BlockRow<Struct, Member, Rows>> {
    using Prepare = void (*)(const Struct& around, Member& block);
    Member Struct::*member;
    const Rows* rows;
    Prepare prepare;

    constexpr BlockRow(const Facts& known, Member Struct::*m, const Rows* r, Prepare p)
        : RowBase<BlockRow>{known}, member(m), rows(r), prepare(p) {}

    [[gnu::noinline]] Result<void> bind(Struct& into, const Directive& block, Loading& loading) const {
        static const Directive kNothing;
        const Directive* found = TRY(loading.find_block(block, this->facts.name));
        if (prepare != nullptr)
            prepare(into, into.*member);
        {
            const Loading::Block entered(loading, this->facts, "");
            TRY(bind_rows(*rows, into.*member, found != nullptr ? *found : kNothing, loading));
        }
        if (found != nullptr && this->facts.support != Support::works && is_in_use(into.*member))
            loading.not_yet(this->facts, found->at);
        return {};
    }
    void describe(const Struct& defaults, const Describing& out) const {
        out.add(this->facts).is_block = true;
        rows->describe(defaults.*member, out.inside(this->facts));
    }
    void show(const Struct& from, const Showing& out) const { rows->show(from.*member, out.inside(this->facts.name)); }
};

// A block whose rows refer to the struct of the enclosing block: ingest's input { type; url; }.
template <class Struct, class Rows>
struct ScopeRow : RowBase<ScopeRow<Struct, Rows>> {
    const Rows* rows;

    constexpr ScopeRow(const Facts& known, const Rows* r) : RowBase<ScopeRow>{known}, rows(r) {}

    [[gnu::noinline]] Result<void> bind(Struct& into, const Directive& block, Loading& loading) const {
        static const Directive kNothing;
        const Directive* found = TRY(loading.find_block(block, this->facts.name));
        const Loading::Block entered(loading, this->facts, "");
        return bind_rows(*rows, into, found != nullptr ? *found : kNothing, loading);
    }
    void describe(const Struct& defaults, const Describing& out) const {
        out.add(this->facts).is_block = true;
        rows->describe(defaults, out.inside(this->facts));
    }
    void show(const Struct& from, const Showing& out) const { rows->show(from, out.inside(this->facts.name)); }
};

// `word argument { ... }`, repeatable. The argument is stored in the member `name` when there is one.
template <class Struct, class Member, class Rows>
struct BlocksRow : RowBase<BlocksRow<Struct, Member, Rows>> {
    using Prepare = void (*)(const Struct& around, Member& block);
    std::vector<Member> Struct::*member;
    std::string Member::*name;
    std::string_view argument;
    bool argument_needed;
    SameName same_name;
    const Rows* rows;
    Prepare prepare;

    constexpr BlocksRow(const Facts& known, std::vector<Member> Struct::*m, std::string Member::*n, std::string_view a,
                        bool needed, SameName same, const Rows* r, Prepare p)
        : RowBase<BlocksRow>{known},
          member(m),
          name(n),
          argument(a),
          argument_needed(needed),
          same_name(same),
          rows(r),
          prepare(p) {}

    // Allows the argument to be omitted.
    constexpr BlocksRow argument_optional() const {
        BlocksRow copy = *this;
        copy.argument_needed = false;
        return copy;
    }

    [[gnu::noinline]] Result<void> bind(Struct& into, const Directive& block, Loading& loading) const {
        std::vector<const Directive*> taken;
        for (const Directive& child : block.children) {
            if (child.name != this->facts.name)
                continue;
            const bool use = TRY(loading.admit_block(child, taken, {argument, argument_needed, same_name}));
            if (use)
                taken.push_back(&child);
        }
        for (const Directive* child : taken)
            TRY(bind_one(into, *child, loading));
        return {};
    }
    void describe(const Struct& defaults, const Describing& out) const {
        RowInfo& info = out.add(this->facts);
        info.is_block = true;
        info.repeatable = true;
        info.argument = argument;
        Member one;
        if (prepare != nullptr)
            prepare(defaults, one);
        rows->describe(one, out.inside(this->facts));
    }
    void show(const Struct& from, const Showing& out) const {
        std::size_t index = 0;
        for (const Member& one : from.*member) {
            std::string label = std::to_string(index++);
            if (name != nullptr && !(one.*name).empty())
                label = one.*name;
            rows->show(one, out.inside(std::string(this->facts.name) + "[" + label + "]"));
        }
    }

private:
    Result<void> bind_one(Struct& into, const Directive& child, Loading& loading) const {
        Member one;
        if (name != nullptr)
            one.*name = child.arg(0);
        if (prepare != nullptr)
            prepare(into, one);
        {
            const Loading::Block entered(loading, this->facts, child.arg(0));
            TRY(bind_rows(*rows, one, child, loading));
        }
        if (this->facts.support != Support::works && is_in_use(one))
            loading.not_yet(this->facts, child.at);
        (into.*member).push_back(std::move(one));
        return {};
    }
};

// The rows of a member struct, written directly in the enclosing block.
template <class Struct, class Member, class Rows>
struct FlatRow {
    Member Struct::*member;
    const Rows* rows;

    bool owns(std::string_view name) const { return rows->owns(name); }
    void list_names(std::vector<std::string_view>& names) const { rows->list_names(names); }
    [[gnu::noinline]] Result<void> bind(Struct& into, const Directive& block, Loading& loading) const {
        return rows->bind(into.*member, block, loading);
    }
    void describe(const Struct& defaults, const Describing& out) const { rows->describe(defaults.*member, out); }
    void show(const Struct& from, const Showing& out) const { rows->show(from.*member, out); }
};

template <class Struct, class Member, class... Each>
constexpr auto block(Member Struct::*member, std::string_view name, const Rows<Each...>& rows, std::string_view doc,
                     std::type_identity_t<void (*)(const Struct&, Member&)> prepare = nullptr) {
    return BlockRow<Struct, Member, Rows<Each...>>(Facts{name, Reload::restart, doc}, member, &rows, prepare);
}
template <class Struct, class... Each>
constexpr auto scope(std::string_view name, const Rows<Each...>& rows, std::string_view doc) {
    return ScopeRow<Struct, Rows<Each...>>(Facts{name, Reload::restart, doc}, &rows);
}
template <class Struct, class Member, class... Each>
constexpr auto flat(Member Struct::*member, const Rows<Each...>& rows) {
    return FlatRow<Struct, Member, Rows<Each...>>{member, &rows};
}
// `word argument { }`, where the argument is required.
template <class Struct, class Member, class... Each>
constexpr auto named_blocks(std::vector<Member> Struct::*member, std::string_view word,
                            std::type_identity_t<std::string Member::*> name, std::string_view argument, SameName same_name,
                            const Rows<Each...>& rows, std::string_view doc,
                            std::type_identity_t<void (*)(const Struct&, Member&)> prepare = nullptr) {
    return BlocksRow<Struct, Member, Rows<Each...>>(Facts{word, Reload::restart, doc}, member, name, argument, true, same_name,
                                                    &rows, prepare);
}
// `word [argument] { }`, where the argument is optional; `name` may be nullptr if missing.
template <class Struct, class Member, class... Each>
constexpr auto blocks(std::vector<Member> Struct::*member, std::string_view word,
                      std::type_identity_t<std::string Member::*> name, std::string_view argument, const Rows<Each...>& rows,
                      std::string_view doc) {
    return BlocksRow<Struct, Member, Rows<Each...>>(Facts{word, Reload::restart, doc}, member, name, argument, false,
                                                    SameName::keeps_both, &rows, nullptr);
}

template <class Rows, class Struct>
[[gnu::noinline]] Result<void> bind_rows(const Rows& rows, Struct& into, const Directive& block, Loading& loading) {
    for (const Directive& child : block.children) {
        if (rows.owns(child.name))
            continue;
        std::vector<std::string_view> names;
        rows.list_names(names);
        return loading.unknown(child, names);
    }
    return rows.bind(into, block, loading);
}

}  // namespace live::config
