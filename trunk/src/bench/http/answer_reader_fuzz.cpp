// Any bytes as an HTTP response: no abort, and the result does not depend on how the bytes are cut. The first byte gives the cut.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "bench/http/answer_reader.hpp"

namespace {

using live::Bytes;
using live::bench::AnswerReader;

struct Outcome {
    std::string body;
    int status = 0;
    bool ok = true;
    bool complete = false;

    bool operator==(const Outcome&) const = default;
};

Outcome read_all(Bytes input, std::size_t portion) {
    Outcome outcome;
    AnswerReader answer;
    while (!input.empty()) {
        Bytes part = input.first(std::min(portion, input.size()));
        input = input.subspan(part.size());
        while (!part.empty() && !answer.is_complete()) {
            const auto piece = answer.read(part);
            outcome.ok = piece.ok();
            if (!piece.ok())
                return outcome;
            outcome.body += live::as_text(*piece);
        }
    }
    outcome.status = answer.status();
    outcome.complete = answer.is_complete();
    return outcome;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0)
        return 0;
    const Bytes input(data + 1, size - 1);
    if (!(read_all(input, size) == read_all(input, std::size_t{data[0]} + 1)))
        std::abort();
    return 0;
}
