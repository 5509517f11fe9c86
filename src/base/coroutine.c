/*
 * Coroutines on ucontext. Each switch is reported to the address and thread sanitizers, because they keep state for
 * each stack.
 */
#include "base/coroutine.h"

#include "base/mem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifndef __has_feature
#define __has_feature(x) 0
#endif
#if defined(__SANITIZE_ADDRESS__) || __has_feature(address_sanitizer)
#include <sanitizer/common_interface_defs.h>
#define ASAN_SWITCHES 1
#else
#define ASAN_SWITCHES 0
#endif
#if defined(__SANITIZE_THREAD__) || __has_feature(thread_sanitizer)
#include <sanitizer/tsan_interface.h>
#define TSAN_SWITCHES 1
#else
#define TSAN_SWITCHES 0
#endif

struct coroutine {
        ucontext_t caller, own;
        char *stack; /* with a guard page below it */
        size_t stack_size, guard;
        void (*body)(void *);
        void *arg;
        bool running;
        const void *caller_stack; /* for the sanitizers */
        size_t caller_stack_size;
        void *fake_stack, *caller_fiber, *own_fiber;
};

struct coroutine *coroutine_new(size_t stack_size)
{
        struct coroutine *c = new0(struct coroutine);
        c->guard = (size_t)sysconf(_SC_PAGESIZE);
        c->stack_size = (stack_size + c->guard - 1) & ~(c->guard - 1);
        c->stack = mmap(NULL, c->stack_size + c->guard, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
        if (c->stack == MAP_FAILED || mprotect(c->stack, c->guard, PROT_NONE) < 0) {
                perror("firesteel: stack of a coroutine");
                abort();
        }
        return c;
}

void coroutine_free(struct coroutine *c)
{
        if (!c)
                return;
        munmap(c->stack, c->stack_size + c->guard);
        free(c);
}

/* Switches to the other side. @last: this stack is not used again. Returns when the other side switches back. */
static void coroutine_leave(struct coroutine *c, bool last)
{
#if ASAN_SWITCHES
        __sanitizer_start_switch_fiber(last ? NULL : &c->fake_stack, c->caller_stack, c->caller_stack_size);
#endif
#if TSAN_SWITCHES
        __tsan_switch_to_fiber(c->caller_fiber, 0);
#endif
        swapcontext(&c->own, &c->caller);
#if ASAN_SWITCHES
        __sanitizer_finish_switch_fiber(c->fake_stack, &c->caller_stack, &c->caller_stack_size);
#endif
}

static void coroutine_enter(struct coroutine *c)
{
        c->running = true;
#if ASAN_SWITCHES
        void *fake = NULL;
        __sanitizer_start_switch_fiber(&fake, c->stack + c->guard, c->stack_size);
#endif
#if TSAN_SWITCHES
        c->caller_fiber = __tsan_get_current_fiber();
        __tsan_switch_to_fiber(c->own_fiber, 0);
#endif
        swapcontext(&c->caller, &c->own);
#if ASAN_SWITCHES
        __sanitizer_finish_switch_fiber(fake, NULL, NULL);
#endif
#if TSAN_SWITCHES
        if (!c->running) {
                __tsan_destroy_fiber(c->own_fiber);
                c->own_fiber = NULL;
        }
#endif
}

static void coroutine_trampoline(unsigned high, unsigned low)
{
        struct coroutine *c = (struct coroutine *)((uintptr_t)high << 32 | low);
#if ASAN_SWITCHES
        __sanitizer_finish_switch_fiber(NULL, &c->caller_stack, &c->caller_stack_size);
#endif
        c->body(c->arg);
        c->running = false;
        coroutine_leave(c, true);
}

bool coroutine_start(struct coroutine *c, void (*body)(void *arg), void *arg)
{
        c->body = body;
        c->arg = arg;
        getcontext(&c->own);
        c->own.uc_stack.ss_sp = c->stack + c->guard;
        c->own.uc_stack.ss_size = c->stack_size;
        c->own.uc_link = NULL;
        makecontext(&c->own, (void (*)(void))coroutine_trampoline, 2, (unsigned)((uintptr_t)c >> 32),
                    (unsigned)(uintptr_t)c);
#if TSAN_SWITCHES
        c->own_fiber = __tsan_create_fiber(0);
#endif
        coroutine_enter(c);
        return c->running;
}

bool coroutine_resume(struct coroutine *c)
{
        coroutine_enter(c);
        return c->running;
}

void coroutine_yield(struct coroutine *c)
{
        coroutine_leave(c, false);
}
