#include "base/config/row_value.hpp"

namespace live::config {

RowInfo& Describing::add(const Facts& facts) const {
    RowInfo info;
    info.facts = facts;
    info.path = prefix + std::string(facts.name);
    info.depth = depth;
    if (support != Support::works)
        info.facts.support = support;
    if (in_environment && facts.in_environment) {
        info.environment.push_back(environment_name(info.path));
        if (!facts.environment_alias.empty())
            info.environment.emplace_back(facts.environment_alias);
    }
    rows.push_back(std::move(info));
    return rows.back();
}

Describing Describing::inside(const Facts& facts) const {
    return {rows, prefix + std::string(facts.name) + ".", depth + 1, in_environment && facts.in_environment,
            support != Support::works ? support : facts.support};
}

}  // namespace live::config
