#include "service/ffmpeg/shared_library.hpp"

#include <dlfcn.h>

namespace live::service::ffmpeg {

SharedLibrary::SharedLibrary(const char* name, unsigned version) {
    const std::string file = std::string("lib") + name + ".so." + std::to_string(version);
    handle_.reset(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE));
    if (handle_ == nullptr)
        missing_ = file;
}

void SharedLibrary::Close::operator()(void* library) const { ::dlclose(library); }

void* SharedLibrary::find(const char* name) {
    void* const found = handle_ != nullptr ? ::dlsym(handle_.get(), name) : nullptr;
    if (found == nullptr && missing_.empty())
        missing_ = name;
    return found;
}

Result<void> SharedLibrary::result() const {
    if (missing_.empty())
        return {};
    return Error(Errc::unsupported, missing_ + " cannot be loaded; the package ffmpeg brings it");
}

}  // namespace live::service::ffmpeg
