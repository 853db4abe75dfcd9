// Texts in WebVTT and their cues.
#pragma once

#include <string>
#include <vector>

#include "wire/webvtt/webvtt.hpp"

namespace live::wire::webvtt {

struct WebVttVector {
    const char* name;
    std::string text;
    std::vector<Cue> cues;
};

inline const std::vector<WebVttVector>& webvtt_vectors() {
    static const std::vector<WebVttVector> table = {
        {"signature alone", "WEBVTT", {}},
        {"a cue", "WEBVTT\n\n00:01.000 --> 00:02.500\nHello", {{1s, 2'500ms, "Hello"}}},
        {"byte order mark, CR LF, identifier, settings, hours",
         "\xEF\xBB\xBFWEBVTT - title\r\n\r\nid 1\r\n100:00:01.000 --> 100:00:02.000 line:0 align:left\r\none\r\ntwo\r\n\r\n",
         {{100h + 1s, 100h + 2s, "one\ntwo"}}},
        {"a header, a note, a style and two cues",
         "WEBVTT\nX-TIMESTAMP-MAP=LOCAL:00:00:00.000,MPEGTS:0\n\nNOTE\n00:00.000\n\nSTYLE\n::cue { color: red }\n\n"
         "00:00.000 --> 00:01.000\na\n\n\n00:01.000-->00:02.000\nb\n",
         {{0s, 1s, "a"}, {1s, 2s, "b"}}},
        {"tags and entities",
         "WEBVTT\n\n00:00.000 --> 00:01.000\n<v Bob><i>a &lt; b</i> &amp;&nbsp;c &copy; <",
         {{0s, 1s,
           "a < b &\xC2\xA0"
           "c &copy;"}}},
        {"malformed cues among good ones",
         "WEBVTT\n\n00:61.000 --> 00:62.000\nx\n\n00:02.000 --> 00:01.000\nx\n\n0:01.000 --> 00:02.000\nx\n\n"
         "00:01.00 --> 00:02.000\nx\n\n00:01.000 -> 00:02.000\nx\n\n00:01.000 --> 00:02.000x\nx\n\n00:01.000 --> 00:02.000\n\n"
         "00:03.000 --> 00:04.000\ny",
         {{3s, 4s, "y"}}},
    };
    return table;
}

}  // namespace live::wire::webvtt
