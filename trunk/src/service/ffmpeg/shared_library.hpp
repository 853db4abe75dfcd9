// SharedLibrary: functions of one of ffmpeg's libraries, loaded on demand instead of linked: see doc/adr/0016. Once loaded it
// stays until the process ends: memory allocated by its initialisers, and by those of its dependencies, is never freed.
#pragma once

#include <bit>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace live::service::ffmpeg {

class SharedLibrary {
public:
    // "avcodec" and LIBAVCODEC_VERSION_MAJOR: code built with one version's headers loads that version only. Reads files: about
    // 80 ms the first time.
    SharedLibrary(const char* name, unsigned version);

    // Looks up a function. result() reports whether all were found.
    template <class Function>
    SharedLibrary& operator()(Function*& function, const char* name) {
        function = std::bit_cast<Function*>(find(name));
        return *this;
    }
    // Errc::unsupported, naming the first missing file or function.
    Result<void> result() const;

private:
    struct Close {
        void operator()(void* library) const;
    };
    void* find(const char* name);

    std::unique_ptr<void, Close> handle_;
    std::string missing_;
};

}  // namespace live::service::ffmpeg
