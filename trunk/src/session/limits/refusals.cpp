#include "session/limits/refusals.hpp"

#include <string>
#include <utility>

#include "base/log/log_format.hpp"

namespace live::session {

Error Refusals::add(std::string_view ip, std::size_t bound, const Log& log, TimePoint now) {
    ++count_;
    std::string sentence = fmt::format(fmt::runtime(sentence_), bound);
    if (!logged_at_ || now - *logged_at_ >= kLogEvery) {
        const std::uint64_t unlogged = count_ - logged_ - 1;
        LOG_WARN(
            log, "refused {}: {}{}", ip, sentence,
            unlogged == 0 ? std::string() : fmt::format("; {} more were refused for this since the last such line", unlogged));
        logged_ = count_;
        logged_at_ = now;
    }
    return {Errc::limit, std::move(sentence)};
}

}  // namespace live::session
