// SharedLibrary: functions of one of ffmpeg's libraries, loaded when they are first needed and not linked: see doc/adr/0016. Once
// loaded it stays until the process ends: what its initialisers allocate, and those of all that it brings with it, is never given
// back.
#pragma once

#include <bit>
#include <memory>
#include <string>

#include "base/result.hpp"

namespace live::service::ffmpeg {

class SharedLibrary {
public:
    // "avcodec" and LIBAVCODEC_VERSION_MAJOR: what is built with one version's headers loads that version only. Reads files: some
    // 80 ms the first time.
    SharedLibrary(const char* name, unsigned version);

    // Looks a function up. result() tells whether all were there.
    template <class Function>
    SharedLibrary& operator()(Function*& function, const char* name) {
        function = std::bit_cast<Function*>(find(name));
        return *this;
    }
    // Errc::unsupported, with the name of the first file or function that is missing.
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
