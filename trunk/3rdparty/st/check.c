/* Is this core what we take it for? Two threads of it switch back and forth over a condition variable, on stacks and with a context
 * switch of ours, and are joined; values on each stack live through it. The rest of what src/io/st gives the core is left out here. */
#include <stdio.h>
#include <stdlib.h>

#include "state_threads/common.h"

enum { kStackBytes = 64 * 1024, kRounds = 1000 };

void live_switch_leave(struct _st_thread *to) { (void)to; }
void live_switch_enter(void) {}
/* sched.c calls it in the place of setjmp's end on a new stack. */
_st_stack_t *_st_stack_new(int bytes) {
    _st_stack_t *made = calloc(1, sizeof(*made));
    (void)bytes;
    made->vaddr = malloc(kStackBytes);
    made->stk_size = kStackBytes;
    made->stk_bottom = made->vaddr;
    made->stk_top = made->stk_bottom + kStackBytes;
    return made;
}
void _st_stack_free(_st_stack_t *stack) { (void)stack; }
int _st_io_init(void) { return 0; }

static int nothing(void) { return 0; }
static void nothing_to_wait_for(void) {}
static int no_descriptors(int fd) { return fd < 0; }
static _st_eventsys_t events = {.name = "none", .init = nothing, .dispatch = nothing_to_wait_for, .fd_new = no_descriptors};
_st_eventsys_t *_st_eventsys = &events;
int st_set_eventsys(int which) { return which - which; }

static st_cond_t turn_has_come;
static int turn;
static long switches;

static void *take_turns(void *mine) {
    const int me = (int)(long)mine;
    volatile long sum = 0;
    for (int i = 0; i < kRounds; ++i) {
        while (turn != me)
            st_cond_wait(turn_has_come);
        turn = 1 - me;
        sum += i;
        ++switches;
        st_cond_signal(turn_has_come);
    }
    return (void *)(long)sum;
}

int main(void) {
    void *first = NULL;
    void *second = NULL;
    if (st_init() != 0)
        return 1;
    turn_has_come = st_cond_new();
    st_thread_t a = st_thread_create(take_turns, (void *)0, 1, 0);
    st_thread_t b = st_thread_create(take_turns, (void *)1, 1, 0);
    if (a == NULL || b == NULL || st_thread_join(a, &first) != 0 || st_thread_join(b, &second) != 0)
        return 2;
    if (switches != 2 * kRounds || (long)first != kRounds * (kRounds - 1L) / 2 || first != second) {
        fprintf(stderr, "%ld switches\n", switches);
        return 3;
    }
    return 0;
}
