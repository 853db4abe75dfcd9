/* The platform layer of state-threads: our replacement for the md.h of its source, for Linux on x86_64 and aarch64.
 * It gives the core its clock, its context switch (context_*.S) and the two hooks around a switch (callbacks.cpp). It is C,
 * because the core is; it holds no policy. */
#pragma once

#include <errno.h>
#include <time.h>

#define ST_PRIVATE __attribute__((visibility("hidden")))
#define MD_STACK_GROWS_DOWN
#define MD_ACCEPT_NB_NOT_INHERITED
#define MD_ALWAYS_UNSERIALIZED_ACCEPT
#define MD_HAVE_SOCKLEN_T
#define MD_STACK_PAD_SIZE 64
#define MD_CAP_STACK(address)

/* The sleep queue of the core is a linked heap that misses the cache at every step. Ours replaces it: its definitions in sched.c
 * are weak, those in callbacks.cpp are not. */
#ifdef LIVE_ST_WEAK_SLEEP_QUEUE
#pragma weak _st_add_sleep_q
#pragma weak _st_del_sleep_q
#endif

/* Saved registers; context_*.S and tools/gdb/co.py know the order. */
#if defined(__x86_64__)
#define LIVE_CONTEXT_SLOTS 8
#define LIVE_CONTEXT_SP 6
#elif defined(__aarch64__)
#define LIVE_CONTEXT_SLOTS 22
#define LIVE_CONTEXT_SP 12
#else
#error "the context switch is written for x86_64 and aarch64 only"
#endif

struct live_context {
    unsigned long slot[LIVE_CONTEXT_SLOTS];
};
typedef struct live_context live_context_t[1];
/* The core declares its contexts as jmp_buf, which is more than twice as large and mangled by libc. */
#define jmp_buf live_context_t

struct _st_thread;

#ifdef __cplusplus
extern "C" {
#endif
/* 0 when it saves, 1 when a restore comes back here. */
extern int live_context_save(struct live_context *context) __attribute__((returns_twice));
extern void live_context_restore(struct live_context *context) __attribute__((noreturn));
/* Makes the first restore of `context` call `entry` on the stack that ends at `sp`. */
extern void live_context_init(struct live_context *context, void *sp, void (*entry)(void));
/* Called on the old stack just before a jump, and on the new one just after it. */
extern void live_switch_leave(struct _st_thread *to);
extern void live_switch_enter(void);
#ifdef __cplusplus
}
#endif

#define LIVE_THREAD_OF(context_) \
    ((struct _st_thread *)((char *)(context_)-__builtin_offsetof(struct _st_thread, context)))
#define MD_SETJMP(context_) (live_context_save(context_) ? (live_switch_enter(), 1) : 0)
#define MD_LONGJMP(context_, value_) (live_switch_leave(LIVE_THREAD_OF(context_)), live_context_restore(context_))
#define MD_INIT_CONTEXT(thread_, sp_, main_) live_context_init((thread_)->context, (sp_), (main_))

/* The same clock as std::chrono::steady_clock: it never steps. */
#define MD_GET_UTIME()                                  \
    struct timespec live_now;                           \
    clock_gettime(CLOCK_MONOTONIC, &live_now);          \
    return (unsigned long long)live_now.tv_sec * 1000000ULL + (unsigned long long)live_now.tv_nsec / 1000ULL
