#include "wire/s3/answers.hpp"

#include <charconv>
#include <optional>

namespace live::wire::s3 {

namespace {

constexpr unsigned kPartNumberMax = 10'000;

Error broken(const char* what) { return {Errc::malformed, std::string("the answer is no XML: ") + what}; }

std::string_view trimmed(std::string_view text) {
    constexpr std::string_view kSpace = " \t\r\n";
    const std::size_t begin = text.find_first_not_of(kSpace);
    if (begin == std::string_view::npos)
        return {};
    return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

template <class Number>
std::optional<Number> number_of(std::string_view text, int base = 10) {
    Number number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number, base);
    if (failed != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return number;
}

// The character of "&NAME;". Others than these, and those outside of ASCII, become a question mark: they occur in sentences only.
char character_of(std::string_view name) {
    if (name == "amp")
        return '&';
    if (name == "lt")
        return '<';
    if (name == "gt")
        return '>';
    if (name == "quot")
        return '"';
    if (name == "apos")
        return '\'';
    constexpr unsigned kAsciiMax = 0x7E;
    std::optional<unsigned> code;
    if (name.starts_with("#x"))
        code = number_of<unsigned>(name.substr(2), 16);
    else if (name.starts_with('#'))
        code = number_of<unsigned>(name.substr(1));
    return code && *code >= ' ' && *code <= kAsciiMax ? static_cast<char>(*code) : '?';
}

std::string decoded(std::string_view text) {
    std::string out;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = text[at] == '&' ? text.find(';', at) : std::string_view::npos;
        if (end == std::string_view::npos) {
            out += text[at++];
            continue;
        }
        out += character_of(text.substr(at + 1, end - at - 1));
        at = end + 1;
    }
    return out;
}

// "s3:Code attribute='1'" as "Code".
std::string_view name_in(std::string_view tag) {
    const std::string_view name = tag.substr(0, tag.find_first_of(" \t\r\n/"));
    const std::size_t prefix = name.find(':');
    return prefix == std::string_view::npos ? name : name.substr(prefix + 1);
}

class Reader {
public:
    explicit Reader(std::string_view xml) : rest_(xml) {}

    Result<std::vector<Element>> read() {
        for (;;) {
            const std::size_t begin = rest_.find('<');
            if (begin == std::string_view::npos)
                break;
            if (!open_.empty() && has_no_child_)
                elements_[open_.back()].text = decoded(trimmed(rest_.substr(0, begin)));
            rest_.remove_prefix(begin + 1);
            TRY(read_tag());
        }
        if (!open_.empty() || elements_.empty())
            return broken(elements_.empty() ? "there is no element" : "it ends early");
        return std::move(elements_);
    }

private:
    Result<void> read_tag() {
        const bool is_comment = rest_.starts_with("!--");
        const std::string_view ending = is_comment ? "-->" : ">";
        const std::size_t end = rest_.find(ending);
        if (end == std::string_view::npos)
            return broken("a tag has no end");
        const std::string_view tag = rest_.substr(0, end);
        rest_.remove_prefix(end + ending.size());
        if (is_comment || tag.starts_with('?') || tag.starts_with('!'))
            return {};
        return tag.starts_with('/') ? close(tag.substr(1)) : begin(tag);
    }

    Result<void> begin(std::string_view tag) {
        const std::string_view name = name_in(tag);
        if (name.empty())
            return broken("an element has no name");
        if (elements_.size() == kElementsMax || open_.size() == kDepthMax)
            return Error(Errc::limit, "the answer has more elements than are read");
        elements_.push_back({static_cast<int>(open_.size()), std::string(name), {}});
        has_no_child_ = !tag.ends_with('/');
        if (has_no_child_)
            open_.push_back(elements_.size() - 1);
        return {};
    }

    Result<void> close(std::string_view tag) {
        if (open_.empty() || elements_[open_.back()].name != name_in(tag))
            return broken("an element ends that has not begun");
        open_.pop_back();
        has_no_child_ = false;
        return {};
    }

    std::string_view rest_;
    std::vector<Element> elements_;
    std::vector<std::size_t> open_;
    bool has_no_child_ = false;  // the newest open element
};

// The elements of a document whose root begins with that name: some servers write ListPartsResponse.
Result<std::vector<Element>> read_document(std::string_view xml, std::string_view root) {
    auto elements = TRY(read_elements(xml));
    if (!elements.front().name.starts_with(root))
        return Error(Errc::malformed, "the answer is <" + elements.front().name + ">, expected <" + std::string(root) + "...>");
    return elements;
}

std::string child_of(const std::vector<Element>& elements, std::string_view name) {
    for (const Element& element : elements)
        if (element.depth == 1 && element.name == name)
            return element.text;
    return {};
}

}  // namespace

Result<std::vector<Element>> read_elements(std::string_view xml) { return Reader(xml).read(); }

Refusal read_refusal(std::string_view xml) {
    const auto elements = read_document(xml, "Error");
    if (!elements.ok())
        return {};
    return {child_of(*elements, "Code"), child_of(*elements, "Message")};
}

Result<std::string> read_upload_id(std::string_view xml) {
    std::string id = child_of(TRY(read_document(xml, "InitiateMultipartUpload")), "UploadId");
    if (id.empty())
        return Error(Errc::malformed, "the answer has no UploadId");
    return id;
}

Result<std::string> read_completed(std::string_view xml) {
    if (const Refusal refusal = read_refusal(xml); !refusal.code.empty())
        return Error(Errc::denied, refusal.code);
    const std::string etag = child_of(TRY(read_document(xml, "CompleteMultipartUpload")), "ETag");
    if (bare_etag(etag).empty())
        return Error(Errc::malformed, "the answer has no ETag");
    return std::string(bare_etag(etag));
}

Result<PartPage> read_part_page(std::string_view xml) {
    const auto elements = TRY(read_document(xml, "ListParts"));
    PartPage page;
    page.is_truncated = child_of(elements, "IsTruncated") == "true";
    page.next = number_of<unsigned>(child_of(elements, "NextPartNumberMarker")).value_or(0);
    for (const Element& element : elements) {
        if (element.depth == 1 && element.name == "Part")
            page.parts.emplace_back();
        if (element.depth != 2 || page.parts.empty())
            continue;
        ListedPart& part = page.parts.back();
        if (element.name == "PartNumber")
            part.number = number_of<unsigned>(element.text).value_or(0);
        else if (element.name == "ETag")
            part.etag = bare_etag(element.text);
        else if (element.name == "Size")
            part.bytes = number_of<std::uint64_t>(element.text).value_or(0);
    }
    for (const ListedPart& part : page.parts)
        if (part.number == 0 || part.number > kPartNumberMax || part.etag.empty())
            return Error(Errc::malformed, "the list has a part without a number or an ETag");
    // Otherwise the list would never end.
    if (page.is_truncated && (page.parts.empty() || page.next < page.parts.back().number))
        return Error(Errc::malformed, "the list goes on at no later part");
    return page;
}

std::string completion_text(const std::vector<std::string>& etags) {
    std::string text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">";
    for (std::size_t i = 0; i < etags.size(); ++i)
        text += "<Part><PartNumber>" + std::to_string(i + 1) + "</PartNumber><ETag>&quot;" + etags[i] + "&quot;</ETag></Part>";
    return text + "</CompleteMultipartUpload>";
}

std::string_view bare_etag(std::string_view etag) {
    if (etag.starts_with('"'))
        etag.remove_prefix(1);
    if (etag.ends_with('"'))
        etag.remove_suffix(1);
    return etag;
}

}  // namespace live::wire::s3
