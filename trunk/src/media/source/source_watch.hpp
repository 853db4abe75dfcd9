// SourceWatch: observes a source, which it keeps alive. Derived classes override the functions of StreamWatch.
#pragma once

#include <utility>

#include "media/source/source.hpp"

namespace live::media {

class SourceWatch : public StreamWatch {
public:
    explicit SourceWatch(Ref<Source> source) : source_(std::move(source)) { source_->watches().add(*this); }
    SourceWatch(const SourceWatch&) = delete;
    SourceWatch& operator=(const SourceWatch&) = delete;

    Source& source() const { return *source_; }

protected:
    ~SourceWatch() { source_->watches().remove(*this); }

private:
    Ref<Source> source_;
};

}  // namespace live::media
