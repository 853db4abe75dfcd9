/* The context switch for x86_64 (System V ABI): callee-saved registers, stack pointer and return address in the slots of
 * struct live_context. The floating point control words are not saved: nothing of ours changes them. The unwind information is
 * written by hand so that debuggers, profilers and sanitizers see through a switch and end at live_fiber_entry. */
#if defined(__x86_64__)
    .text

    .globl live_context_save
    .type live_context_save, @function
    .p2align 4
live_context_save:
    .cfi_startproc
    endbr64
    movq (%rsp), %rdx           /* where we return to */
    leaq 8(%rsp), %rcx          /* and the stack as it will be then */
    movq %rbx, 0(%rdi)
    movq %rbp, 8(%rdi)
    movq %r12, 16(%rdi)
    movq %r13, 24(%rdi)
    movq %r14, 32(%rdi)
    movq %r15, 40(%rdi)
    movq %rcx, 48(%rdi)
    movq %rdx, 56(%rdi)
    xorl %eax, %eax
    ret
    .cfi_endproc
    .size live_context_save, . - live_context_save

    .globl live_context_restore
    .type live_context_restore, @function
    .p2align 4
live_context_restore:
    .cfi_startproc
    endbr64
    /* From here on the caller is the one described by the saved context. */
    .cfi_def_cfa rdi, 0
    .cfi_offset rbx, 0
    .cfi_offset rbp, 8
    .cfi_offset r12, 16
    .cfi_offset r13, 24
    .cfi_offset r14, 32
    .cfi_offset r15, 40
    .cfi_offset rsp, 48
    .cfi_offset rip, 56
    movl $1, %eax
    movq 0(%rdi), %rbx
    movq 8(%rdi), %rbp
    movq 16(%rdi), %r12
    movq 24(%rdi), %r13
    movq 32(%rdi), %r14
    movq 40(%rdi), %r15
    movq 48(%rdi), %rsp
    jmpq *56(%rdi)
    .cfi_endproc
    .size live_context_restore, . - live_context_restore

    /* The first frame of a fiber; r12 is the function to run. Nothing is above it. */
    .globl live_fiber_entry
    .type live_fiber_entry, @function
    .p2align 4
live_fiber_entry:
    .cfi_startproc
    .cfi_undefined rip
    .cfi_undefined rbp
    endbr64
    xorl %ebp, %ebp
    call live_switch_enter
    call *%r12
    ud2
    .cfi_endproc
    .size live_fiber_entry, . - live_fiber_entry

    /* live_context_init(context rdi, sp rsi, entry rdx) */
    .globl live_context_init
    .type live_context_init, @function
    .p2align 4
live_context_init:
    .cfi_startproc
    endbr64
    andq $-16, %rsi
    leaq live_fiber_entry(%rip), %rax
    xorl %ecx, %ecx
    movq %rcx, 0(%rdi)
    movq %rcx, 8(%rdi)
    movq %rdx, 16(%rdi)
    movq %rcx, 24(%rdi)
    movq %rcx, 32(%rdi)
    movq %rcx, 40(%rdi)
    movq %rsi, 48(%rdi)
    movq %rax, 56(%rdi)
    ret
    .cfi_endproc
    .size live_context_init, . - live_context_init
#endif
    .section .note.GNU-stack, "", %progbits
