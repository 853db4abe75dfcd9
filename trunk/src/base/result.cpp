#include "base/result.hpp"

#include <system_error>

namespace live {

std::string_view name_of(Errc code) {
    switch (code) {
        case Errc::need_more: return "need more";
        case Errc::malformed: return "malformed";
        case Errc::unsupported: return "unsupported";
        case Errc::limit: return "limit";
        case Errc::closed: return "closed";
        case Errc::cancelled: return "cancelled";
        case Errc::timed_out: return "timed out";
        case Errc::denied: return "denied";
        case Errc::unauthenticated: return "unauthenticated";
        case Errc::not_found: return "not found";
        case Errc::conflict: return "conflict";
        case Errc::system: return "system";
    }
    return "unknown";
}

Error::Error(Errc code, std::string sentence, SourceLocation where)
    : sentence_(std::move(sentence)), where_(where), code_(code) {}

Error Error::during(std::string_view context) && {
    sentence_.insert(0, std::string(context) + ": ");
    return std::move(*this);
}

std::string Error::text() const { return std::string(name_of(code_)) + ": " + sentence_; }

Error system_error(std::string_view what, int errno_value, SourceLocation where) {
    std::string sentence(what);
    sentence += ": ";
    sentence += std::generic_category().message(errno_value);
    sentence += " (" + std::to_string(errno_value) + ")";
    return {Errc::system, std::move(sentence), where};
}

}  // namespace live
