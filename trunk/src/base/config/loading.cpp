#include "base/config/loading.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/config/nearest.hpp"

namespace live::config {

std::string Loading::path_of(std::string_view name) const {
    return path_.empty() ? std::string(name) : fmt::format("{}.{}", path_, name);
}

void Loading::warn(std::string sentence) {
    if (warnings_.size() < kWarningsMax)
        warnings_.push_back(std::move(sentence));
    else if (warnings_.size() == kWarningsMax)
        warnings_.push_back(fmt::format("more than {} warnings, the rest is not shown", kWarningsMax));
}

std::optional<Directive> Loading::from_environment(const Facts& facts, bool splits) {
    if (!in_environment_ || !facts.in_environment)
        return std::nullopt;
    for (const std::string& name : {environment_name(path_of(facts.name)), std::string(facts.environment_alias)}) {
        if (name.empty())
            continue;
        environment_known_.insert(name);
        const auto found = environment_.find(name);
        if (found == environment_.end() || found->second.empty())
            continue;
        environment_used_.insert(name);
        Directive directive;
        directive.name = facts.name;
        directive.at.file = fmt::format("environment variable {}", name);
        std::string_view rest = found->second;
        while (splits) {
            const std::size_t begin = rest.find_first_not_of(" \t");
            if (begin == std::string_view::npos)
                return directive;
            rest.remove_prefix(begin);
            const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
            directive.args.push_back({std::string(rest.substr(0, end)), directive.at});
            rest.remove_prefix(end);
        }
        directive.args.push_back({std::string(rest), directive.at});
        return directive;
    }
    return std::nullopt;
}

Said::Said(const Directive& block, std::string_view name, std::optional<Directive> environment)
    : from_environment(std::move(environment)) {
    if (from_environment) {
        found.push_back(&*from_environment);
        return;
    }
    for (const Directive& child : block.children) {
        if (child.name == name)
            found.push_back(&child);
    }
}

Said Loading::said(const Directive& block, const Facts& facts, bool repeats, bool splits) {
    const Directive* first = repeats ? nullptr : block.find(facts.name);
    for (const Directive& child : block.children) {
        if (first != nullptr && child.name == facts.name && &child != first)
            warn_duplicate(child, *first);
    }
    // Constructed in the caller's storage (guaranteed elision), so that `found` may point into it.
    return Said(block, facts.name, from_environment(facts, splits));
}

Result<const Directive*> Loading::find_block(const Directive& around, std::string_view name) {
    const Directive* first = nullptr;
    for (const Directive& child : around.children) {
        if (child.name != name)
            continue;
        if (!child.is_block)
            return child.at.error(fmt::format("found no block behind \"{}\", expected \"{{\"", path_of(name)));
        if (first != nullptr)
            warn_duplicate(child, *first);
        else
            first = &child;
    }
    if (first != nullptr && !first->args.empty()) {
        warn(first->args.front().at,
             fmt::format("\"{}\" takes no word before \"{{\", \"{}\" is not used", path_of(name), first->arg(0)));
    }
    return first;
}

Result<bool> Loading::admit_block(const Directive& block, std::span<const Directive* const> before, const BlockRule& rule) {
    if (!block.is_block)
        return block.at.error(fmt::format("found no block behind \"{}\", expected \"{{\"", path_of(block.name)));
    if (rule.argument_needed && block.args.empty())
        return block.at.error(
            fmt::format("found \"{}\" without its {}, expected one before \"{{\"", path_of(block.name), rule.argument));
    const std::size_t words = rule.argument.empty() ? 0 : 1;
    if (block.args.size() > words)
        warn(block.args[words].at, fmt::format("\"{}\" is not used before \"{{\"", block.args[words].text));
    if (rule.same_name == SameName::keeps_both)
        return true;
    for (const Directive* other : before) {
        if (other->arg(0) != block.arg(0) || (!rule.argument_needed && block.args.empty()))
            continue;
        const std::string sentence = fmt::format("\"{}\" has the {} \"{}\" a second time, the first is at {}",
                                                 path_of(block.name), rule.argument, block.arg(0), other->at.text());
        if (rule.same_name == SameName::is_error)
            return block.at.error(sentence);
        warn(block.at, sentence + " and counts");
        return false;
    }
    return true;
}

void Loading::warn_duplicate(const Directive& later, const Directive& first) {
    warn(later.at, fmt::format("\"{}\" is repeated; the first at {} is used", path_of(later.name), first.at.text()));
}

Error Loading::unknown(const Directive& directive, std::span<const std::string_view> known) const {
    std::string what =
        path_.empty() ? fmt::format("illegal directive {}", directive.name) : fmt::format("illegal {}", path_of(directive.name));
    if (!vhost_.empty())
        what += fmt::format(" of {}", vhost_);
    return directive.at.error(what + did_you_mean(directive.name, known));
}

void Loading::not_yet(const Facts& facts, const Place& at) {
    std::string path = path_of(facts.name);
    if (quiet_ || said_not_yet_.contains(path))
        return;
    warn(at, fmt::format("\"{}\" {}", path,
                         facts.support == Support::pending ? "is not implemented" : "has no effect in this server"));
    said_not_yet_.insert(std::move(path));
}

Loading::Block::Block(Loading& loading, const Facts& facts, std::string_view argument)
    : loading_(loading),
      path_before_(loading.path_),
      vhost_before_(loading.vhost_),
      in_environment_before_(loading.in_environment_),
      quiet_before_(loading.quiet_) {
    loading.path_ = loading.path_of(facts.name);
    if (loading.vhost_.empty())
        loading.vhost_ = argument;
    loading.in_environment_ = loading.in_environment_ && facts.in_environment;
    loading.quiet_ = loading.quiet_ || facts.support != Support::works;
}

Loading::Block::~Block() {
    loading_.path_ = std::move(path_before_);
    loading_.vhost_ = std::move(vhost_before_);
    loading_.in_environment_ = in_environment_before_;
    loading_.quiet_ = quiet_before_;
}

}  // namespace live::config
