// The XML that S3 and its relatives answer with, and the list that completes a multipart upload. Read leniently: elements that
// are not asked for are skipped, namespaces and attributes too. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace live::wire::s3 {

// An element with text or children, in the order of the document.
struct Element {
    int depth = 0;  // of the root: 0
    std::string name;
    std::string text;  // decoded, without white space around it; empty for elements with children

    bool operator==(const Element&) const = default;
};

inline constexpr std::size_t kElementsMax = 20'000;
inline constexpr int kDepthMax = 16;

// Errc::malformed, Errc::limit.
Result<std::vector<Element>> read_elements(std::string_view xml);

// <Error>; both empty for a body of another kind, such as a proxy's page.
struct Refusal {
    std::string code;  // "SlowDown"
    std::string message;
};
Refusal read_refusal(std::string_view xml);

// <InitiateMultipartUploadResult>. Errc::malformed without an id.
Result<std::string> read_upload_id(std::string_view xml);

// <CompleteMultipartUploadResult>: the ETag. The status of that answer may be 200 although it is an <Error>, for which this is
// Errc::denied. Errc::malformed.
Result<std::string> read_completed(std::string_view xml);

struct ListedPart {
    unsigned number = 0;
    std::string etag;  // without quotes
    std::uint64_t bytes = 0;

    bool operator==(const ListedPart&) const = default;
};
// One page of <ListPartsResult>.
struct PartPage {
    std::vector<ListedPart> parts;
    bool is_truncated = false;
    unsigned next = 0;  // the marker of the next page
};
// Errc::malformed.
Result<PartPage> read_part_page(std::string_view xml);

// The body that completes an upload: part 1 and so on, by ETag.
std::string completion_text(const std::vector<std::string>& etags);

// "\"abc\"" or "abc" as "abc".
std::string_view bare_etag(std::string_view etag);

}  // namespace live::wire::s3
