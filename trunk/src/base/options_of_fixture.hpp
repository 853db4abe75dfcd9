// OptionsOf for tests: the same options for every virtual host.
#pragma once

#include "base/options_of.hpp"

namespace live {

template <class Options>
class SameOptions final : public OptionsOf<Options> {
public:
    // `options` must outlive this object.
    explicit SameOptions(const Options& options) : options_(options) {}
    const Options* find(const std::string&) const override { return &options_; }

private:
    const Options& options_;
};

}  // namespace live
