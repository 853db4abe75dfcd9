// Answers of S3 as its reference has them, and of servers that speak it.
#pragma once

#include <array>
#include <string_view>

namespace live::wire::s3 {

inline constexpr std::string_view kSlowDownAnswer =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<Error>\n  <Code>SlowDown</Code>\n  <Message>Please reduce your request rate "
    "&amp; "
    "wait.</Message>\n  <RequestId>4442587FB7D0A2F9</RequestId>\n</Error>";
inline constexpr std::string_view kCreatedAnswer =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!-- one -->\n<InitiateMultipartUploadResult "
    "xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Bucket>b</Bucket><Key>a/b.mp4</Key>"
    "<UploadId>VXBsb2FkIElEIGZvciA2aWWpbmcncyBteS1tb3ZpZS5tMnRzIHVwbG9hZA</UploadId></InitiateMultipartUploadResult>";
inline constexpr std::string_view kCompletedAnswer =
    "<CompleteMultipartUploadResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Location>http://b/a</Location>"
    "<Bucket>b</Bucket><Key>a</Key><ETag>&#34;3858f62230ac3c915f300c664312c11f-9&#34;</ETag></CompleteMultipartUploadResult>";
inline constexpr std::string_view kPartsAnswer =
    "<s3:ListPartsResult xmlns:s3=\"http://s3.amazonaws.com/doc/2006-03-01/\"><s3:Bucket>b</s3:Bucket>"
    "<s3:Initiator><s3:ID>1</s3:ID></s3:Initiator><s3:Owner/><s3:NextPartNumberMarker>3</s3:NextPartNumberMarker>"
    "<s3:IsTruncated>true</s3:IsTruncated><s3:Part><s3:PartNumber>2</s3:PartNumber>"
    "<s3:LastModified>2010-11-10T20:48:34.000Z</s3:LastModified><s3:ETag>\"7778aef83f66abc1fa1e8477f296d394\"</s3:ETag>"
    "<s3:Size>10485760</s3:Size></s3:Part><s3:Part><s3:PartNumber>3</s3:PartNumber>"
    "<s3:ETag>&quot;aaaa18db4cc2f85cedef654fccc4a4x8&quot;</s3:ETag><s3:Size>10485761</s3:Size></s3:Part></s3:ListPartsResult>";

inline constexpr std::array kAnswers = {kSlowDownAnswer, kCreatedAnswer, kCompletedAnswer, kPartsAnswer};

}  // namespace live::wire::s3
