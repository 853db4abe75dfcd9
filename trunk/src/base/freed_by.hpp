// FreedBy: the deleter of a std::unique_ptr to an object of a C library, which `function` frees.
#pragma once

namespace live {

template <auto function>
struct FreedBy {
    template <class T>
    void operator()(T* object) const {
        function(object);
    }
};

}  // namespace live
