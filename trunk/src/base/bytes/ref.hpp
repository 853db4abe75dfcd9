// Shared ownership for the few types that are meant to be shared (packets, slabs). The counter is not atomic: there is one loop
// per process, and a Ref must not cross to another thread.
#pragma once

#include <cstdint>
#include <type_traits>
#include <utility>

namespace live {

// Base class of objects owned by Ref<>. The count starts at zero; the first Ref makes it one.
class RefCounted {
public:
    RefCounted() = default;
    RefCounted(const RefCounted&) = delete;
    RefCounted& operator=(const RefCounted&) = delete;

    std::uint32_t ref_count() const { return count_; }

protected:
    ~RefCounted() = default;

private:
    template <class T>
    friend class Ref;
    mutable std::uint32_t count_ = 0;
};

template <class T>
class Ref {
public:
    Ref() = default;
    explicit Ref(T* object) : object_(object) { retain(); }
    Ref(const Ref& other) : object_(other.object_) { retain(); }
    Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
    template <class U>
        requires std::is_convertible_v<U*, T*>
    Ref(Ref<U> other) : object_(other.leak()) {}
    ~Ref() { release(); }

    Ref& operator=(Ref other) noexcept {
        std::swap(object_, other.object_);
        return *this;
    }

    T* get() const { return object_; }
    T& operator*() const { return *object_; }
    T* operator->() const { return object_; }
    explicit operator bool() const { return object_ != nullptr; }
    bool operator==(const Ref& other) const { return object_ == other.object_; }

    // Releases the pointer together with its count.
    T* leak() { return std::exchange(object_, nullptr); }

private:
    void retain() {
        if (object_ != nullptr)
            ++object_->count_;
    }
    void release() {
        if (object_ != nullptr && --object_->count_ == 0)
            delete object_;
        object_ = nullptr;
    }

    T* object_ = nullptr;
};

template <class T, class... Args>
Ref<T> make_ref(Args&&... args) {
    return Ref<T>(new T(std::forward<Args>(args)...));
}

}  // namespace live
