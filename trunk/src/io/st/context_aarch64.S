/* The context switch for aarch64 (AAPCS64): x19-x30, sp and the low halves of v8-v15 in the slots of struct live_context. The
 * unwind information ends at live_fiber_entry, so that tools see where a fiber begins. */
#if defined(__aarch64__)
    .text

    .globl live_context_save
    .type live_context_save, %function
    .p2align 4
live_context_save:
    .cfi_startproc
    hint #34                    /* bti c */
    mov x2, sp
    stp x19, x20, [x0, #0]
    stp x21, x22, [x0, #16]
    stp x23, x24, [x0, #32]
    stp x25, x26, [x0, #48]
    stp x27, x28, [x0, #64]
    stp x29, x30, [x0, #80]
    str x2, [x0, #96]
    stp d8, d9, [x0, #104]
    stp d10, d11, [x0, #120]
    stp d12, d13, [x0, #136]
    stp d14, d15, [x0, #152]
    mov w0, #0
    ret
    .cfi_endproc
    .size live_context_save, . - live_context_save

    .globl live_context_restore
    .type live_context_restore, %function
    .p2align 4
live_context_restore:
    .cfi_startproc
    hint #34
    ldp x19, x20, [x0, #0]
    ldp x21, x22, [x0, #16]
    ldp x23, x24, [x0, #32]
    ldp x25, x26, [x0, #48]
    ldp x27, x28, [x0, #64]
    ldp x29, x30, [x0, #80]
    ldr x2, [x0, #96]
    ldp d8, d9, [x0, #104]
    ldp d10, d11, [x0, #120]
    ldp d12, d13, [x0, #136]
    ldp d14, d15, [x0, #152]
    mov sp, x2
    mov w0, #1
    ret
    .cfi_endproc
    .size live_context_restore, . - live_context_restore

    /* The first frame of a fiber; x19 is the function to run. Nothing is above it. */
    .globl live_fiber_entry
    .type live_fiber_entry, %function
    .p2align 4
live_fiber_entry:
    .cfi_startproc
    .cfi_undefined x30
    hint #36                    /* bti j */
    mov x29, #0
    mov x30, #0
    bl live_switch_enter
    blr x19
    brk #1
    .cfi_endproc
    .size live_fiber_entry, . - live_fiber_entry

    /* live_context_init(context x0, sp x1, entry x2) */
    .globl live_context_init
    .type live_context_init, %function
    .p2align 4
live_context_init:
    .cfi_startproc
    hint #34
    and x1, x1, #-16
    adrp x3, live_fiber_entry
    add x3, x3, :lo12:live_fiber_entry
    stp x2, xzr, [x0, #0]
    stp xzr, xzr, [x0, #16]
    stp xzr, xzr, [x0, #32]
    stp xzr, xzr, [x0, #48]
    stp xzr, xzr, [x0, #64]
    stp xzr, x3, [x0, #80]
    str x1, [x0, #96]
    stp xzr, xzr, [x0, #104]
    stp xzr, xzr, [x0, #120]
    stp xzr, xzr, [x0, #136]
    stp xzr, xzr, [x0, #152]
    ret
    .cfi_endproc
    .size live_context_init, . - live_context_init
#endif
    .section .note.GNU-stack, "", %progbits
