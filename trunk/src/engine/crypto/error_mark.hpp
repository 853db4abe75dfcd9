// ErrorMark: removes the errors of its scope from the thread's queue of OpenSSL, where the next call of TLS would find them.
#pragma once

#include <openssl/err.h>

namespace live::engine::crypto {

class ErrorMark {
public:
    ErrorMark() { ERR_set_mark(); }
    ~ErrorMark() { ERR_pop_to_mark(); }
    ErrorMark(const ErrorMark&) = delete;
    ErrorMark& operator=(const ErrorMark&) = delete;
};

}  // namespace live::engine::crypto
