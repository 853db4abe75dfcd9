#include "service/files/name_form.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

namespace live::service::files {

namespace {

// File systems have no paths above this length.
constexpr std::size_t kPathBytesMax = 4096;

constexpr std::array<std::string_view, 3> kNames = {"[vhost]", "[app]", "[stream]"};
constexpr std::array<std::string_view, 10> kNumbers = {"[seq]", "[duration]", "[timestamp]", "[2006]", "[01]",
                                                       "[02]",  "[15]",       "[04]",        "[05]",   "[999]"};

// The positions in the path that the part of the form read so far can match.
class Reached {
public:
    explicit Reached(std::string_view path) : path_(path), at_(path.size() + 1) { at_.front() = true; }

    void take(std::string_view literal) {
        std::vector<bool> next(at_.size());
        for (std::size_t i = 0; i + literal.size() < at_.size(); ++i)
            next[i + literal.size()] = at_[i] && path_.substr(i, literal.size()) == literal;
        at_ = std::move(next);
    }

    // Matches one or more characters for which `may` is true.
    template <class May>
    void take_while(May&& may) {
        std::vector<bool> next(at_.size());
        for (std::size_t i = 0; i < path_.size(); ++i)
            next[i + 1] = (at_[i] || next[i]) && may(path_[i]);
        at_ = std::move(next);
    }

    // Matches nothing, or a suffix of the same name that begins with a dot or a hyphen.
    void take_infix() {
        std::vector<bool> next(at_.size());
        for (std::size_t i = 0; i < path_.size(); ++i)
            next[i + 1] = path_[i] != '/' && (next[i] || (at_[i] && (path_[i] == '.' || path_[i] == '-')));
        for (std::size_t i = 0; i < at_.size(); ++i)
            at_[i] = at_[i] || next[i];
    }

    bool is_end() const { return at_.back(); }

private:
    std::string_view path_;
    std::vector<bool> at_;
};

// Reads the variable at the beginning of `form`; 0 if missing.
std::size_t take_variable(Reached& reached, std::string_view form) {
    const std::size_t size = form.find(']') + 1;
    const std::string_view variable = form.substr(0, size);
    if (std::ranges::find(kNames, variable) != kNames.end())
        reached.take_while([](char) { return true; });
    else if (std::ranges::find(kNumbers, variable) != kNumbers.end())
        reached.take_while([](char letter) { return letter >= '0' && letter <= '9'; });
    else
        return 0;
    return size;
}

std::size_t extension_at(std::string_view form) {
    const std::size_t dot = form.rfind('.');
    const bool is_of_name = dot != std::string_view::npos && form.find_first_of("/]", dot) == std::string_view::npos;
    return is_of_name ? dot : form.size();
}

}  // namespace

bool fits_form(std::string_view form, std::string_view path) {
    const std::size_t extension = extension_at(form);
    if (path.size() > kPathBytesMax || !path.ends_with(form.substr(extension)))
        return false;
    Reached reached(path);
    for (std::size_t at = 0; at < extension;) {
        if (const std::size_t taken = form[at] == '[' ? take_variable(reached, form.substr(at)) : 0; taken > 0) {
            at += taken;
            continue;
        }
        const std::size_t end = std::min(form.find('[', at + 1), extension);
        reached.take(form.substr(at, end - at));
        at = end;
    }
    reached.take_infix();
    reached.take(form.substr(extension));
    return reached.is_end();
}

}  // namespace live::service::files
