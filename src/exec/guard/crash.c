/*
 * Crash reports; see crash.h.
 *
 * Handlers are async-signal-safe: they build the text in a buffer on the signal stack without stdio, locks or heap, and
 * write it with one write(2). The first thread to crash reports. A thread that crashes later waits for the end of the
 * process, so that reports do not mix and the core dump shows the first crash. A fault inside the report ends the
 * process with the text so far.
 *
 * The signal is delivered again after the report. With the default action restored, the faulting instruction runs once
 * more (so the core dump shows the true registers). A signal that was sent is raised again and delivered when the
 * handler returns. Abort() raises a second time by itself.
 *
 * Invariant: modules[0 … n_modules) is complete before n_modules is increased, and never changes afterwards.
 */
#include "exec/guard/crash.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"

#include <firesteel/task.h>

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#define STACK_SIZE (64u << 10)
#define MAX_MODULES 64
#define CRASH_IN_ENGINE "the engine"
#define CRASH_INVALID_ACCESS ", invalid memory access at "

__thread struct crash_call crash_call;

static const int deadly[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

static struct {
        int descriptor;
        const char *hint;
        _Atomic(const char *) abort_reason; /* NULL: none is known */
        bool installed;
        _Atomic pid_t reporter; /* the thread that reports; 0: none yet */
        pthread_mutex_t lock;   /* protects the adding of modules */
        atomic_uint n_modules;
        struct {
                const char *name, *path;
                uintptr_t start, end;
        } modules[MAX_MODULES];
} crash = {.descriptor = STDERR_FILENO, .lock = PTHREAD_MUTEX_INITIALIZER};

static __thread void *signal_stack;

/* ------------------------------------------------------------------------------------------ text without stdio */

struct crash_text {
        size_t len;
        char data[1024];
};

static void crash_put(struct crash_text *t, const char *s)
{
        while (*s && t->len < sizeof(t->data))
                t->data[t->len++] = *s++;
}

static void crash_put_number(struct crash_text *t, uint64_t n, unsigned base)
{
        char digits[24];
        size_t i = sizeof(digits);
        digits[--i] = 0;
        do
                digits[--i] = "0123456789abcdef"[n % base];
        while ((n /= base) != 0);
        crash_put(t, &digits[i]);
}

static void put_int(struct crash_text *t, int64_t n)
{
        if (n < 0)
                crash_put(t, "-");
        crash_put_number(t, n < 0 ? -(uint64_t)n : (uint64_t)n, 10);
}

static void crash_put_hex(struct crash_text *t, uintptr_t n)
{
        crash_put(t, "0x");
        crash_put_number(t, n, 16);
}

static void crash_send(const struct crash_text *t)
{
        for (size_t sent = 0; sent < t->len;) {
                ssize_t n = write(crash.descriptor, t->data + sent, t->len - sent);
                if (n <= 0 && errno != EINTR)
                        return;
                sent += n > 0 ? (size_t)n : 0;
        }
}

/* ---------------------------------------------------------------------------------------------------- report */

/* Returns the user's function on this thread, or NULL. */
static const char *function_now(void)
{
        const char *watched = crash_call.watched ? __atomic_load_n(crash_call.watched, __ATOMIC_RELAXED) : NULL;
        return watched ? watched : crash_call.function;
}

static void put_where(struct crash_text *t)
{
        const struct fst_task_info *task = crash_call.task;
        crash_put(t, "ERROR Executor: ");
        if (task) {
                crash_put(t, "task ");
                put_int(t, task->id);
                crash_put(t, " in stage ");
                put_int(t, task->stage);
                crash_put(t, ".");
                put_int(t, task->stage_attempt);
                crash_put(t, " (partition ");
                put_int(t, task->partition);
                crash_put(t, ", attempt ");
                put_int(t, task->attempt);
                crash_put(t, ")");
        } else {
                crash_put(t, function_now() ? "the application" : "this process, outside of all tasks,");
        }
}

static void put_function(struct crash_text *t)
{
        const char *function = function_now();
        if (function) {
                crash_put(t, " in ");
                crash_put(t, function);
        } else if (crash_call.task) {
                crash_put(t, " in " CRASH_IN_ENGINE);
        }
}

static const char *signal_name(int signal)
{
        switch (signal) {
        case SIGSEGV:
                return "SIGSEGV";
        case SIGBUS:
                return "SIGBUS";
        case SIGFPE:
                return "SIGFPE";
        case SIGILL:
                return "SIGILL";
        case SIGABRT:
                return "SIGABRT";
        }
        return "a signal";
}

/* Reads program counter and stack pointer of the interrupted code; 0 on machines whose layout is unknown here. */
static void read_registers(const ucontext_t *u, uintptr_t *pc, uintptr_t *sp)
{
#if defined(__x86_64__)
        *pc = (uintptr_t)u->uc_mcontext.gregs[REG_RIP];
        *sp = (uintptr_t)u->uc_mcontext.gregs[REG_RSP];
#elif defined(__aarch64__)
        *pc = (uintptr_t)u->uc_mcontext.pc;
        *sp = (uintptr_t)u->uc_mcontext.sp;
#else
        *pc = *sp = 0;
#endif
}

/*
 * Appends the command that finds the source line, because this process must not look it up. Omitted if the path would
 * truncate the report.
 */
static void put_line_command(struct crash_text *t, const char *path, uintptr_t offset)
{
        if (t->len + strlen(path) + 256 > sizeof(t->data))
                return;
        crash_put(t, " (" CRASH_LINE_COMMAND);
        crash_put(t, path);
        crash_put(t, " ");
        crash_put_hex(t, offset);
        crash_put(t, ")");
}

static void put_code(struct crash_text *t, uintptr_t pc)
{
        unsigned n = atomic_load_explicit(&crash.n_modules, memory_order_acquire);
        for (unsigned i = 0; i < n; i++) {
                if (pc >= crash.modules[i].start && pc < crash.modules[i].end) {
                        crash_put(t, ", code at ");
                        crash_put(t, crash.modules[i].name);
                        crash_put(t, "+");
                        crash_put_hex(t, pc - crash.modules[i].start);
                        put_line_command(t, crash.modules[i].path, pc - crash.modules[i].start);
                        return;
                }
        }
}

static void put_signal(struct crash_text *t, const siginfo_t *info, const ucontext_t *context)
{
        uintptr_t pc, sp, address = (uintptr_t)info->si_addr;
        const char *abort_reason = atomic_load_explicit(&crash.abort_reason, memory_order_acquire);
        read_registers(context, &pc, &sp);
        crash_put(t, signal_name(info->si_signo));
        if (info->si_signo == SIGABRT) {
                crash_put(t, ", ");
                crash_put(t, abort_reason ? abort_reason : "abort() was called");
        } else if (info->si_code <= 0) {
                crash_put(t, ", sent by process ");
                put_int(t, info->si_pid);
        } else if (info->si_signo == SIGFPE) {
                crash_put(t, info->si_code == FPE_INTDIV ? ", division by zero" : ", an arithmetic exception");
        } else if (info->si_signo == SIGILL) {
                crash_put(t, ", an illegal instruction (compiled with -march for another machine?)");
        } else if (sp && address + (64 << 10) > sp && address < sp + (64 << 10)) {
                crash_put(t, ", the stack is full (endless recursion, or large local variables)");
        } else {
                crash_put(t, CRASH_INVALID_ACCESS);
                if (info->si_signo == SIGSEGV && info->si_code == SI_KERNEL) {
                        crash_put(t, "a non-canonical address");
                } else {
                        crash_put(t, "address ");
                        crash_put_hex(t, address);
                }
        }
        if (info->si_code > 0 && info->si_signo != SIGABRT)
                put_code(t, pc);
}

static void put_hint(struct crash_text *t)
{
        const char *hint = crash.hint;
        if (!crash_call.task && function_now()) /* the application's main: the hint is about tasks */
                hint = "A failed action leaves its output arguments unchanged: check its status";
        if (hint) {
                crash_put(t, ". ");
                crash_put(t, hint);
        }
        if (t->len >= sizeof(t->data))
                t->len = sizeof(t->data) - 1;
        crash_put(t, "\n");
}

static void crash_restore(int signal)
{
        struct sigaction action = {.sa_handler = SIG_DFL};
        sigaction(signal, &action, NULL);
}

/* Returns true in the one thread that reports. Does not return in other threads. */
static bool claim_report(void)
{
        pid_t self = (pid_t)syscall(SYS_gettid), none = 0;
        if (atomic_compare_exchange_strong(&crash.reporter, &none, self))
                return true;
        while (none != self)
                pause();
        return false;
}

static void crash_handle(int signal, siginfo_t *info, void *context)
{
        int saved = errno;
        if (claim_report()) {
                struct crash_text t;
                t.len = 0;
                put_where(&t);
                crash_put(&t, " crashed");
                put_function(&t);
                crash_put(&t, ": ");
                put_signal(&t, info, context);
                put_hint(&t);
                crash_send(&t);
        }
        crash_restore(signal);
        if (info->si_code <= 0 && signal != SIGABRT)
                raise(signal);
        errno = saved;
}

/* Reports that a task's function called exit(): user code must not end an executor, and exit status 0 would hide it. */
static void handle_exit(int status, void *unused)
{
        if (!crash_call.task || !function_now() || !claim_report())
                return;
        struct crash_text t;
        t.len = 0;
        put_where(&t);
        crash_put(&t, " crashed");
        put_function(&t);
        crash_put(&t, ": it called exit(");
        put_int(&t, status);
        crash_put(&t, ")");
        put_hint(&t);
        crash_send(&t);
        _exit(status ? status : CRASH_EXIT_CODE);
}

/* ------------------------------------------------------------------------------------------------- installing */

int crash_init(int descriptor, const char *hint, struct fst_error *error)
{
        crash.descriptor = descriptor;
        crash.hint = hint;
        crash_thread_init();
        if (crash.installed)
                return 0;
        struct sigaction action = {.sa_sigaction = crash_handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
        sigemptyset(&action.sa_mask);
        for (size_t i = 0; i < ARRAY_SIZE(deadly); i++) {
                if (sigaction(deadly[i], &action, NULL) < 0)
                        return error_errno(error, "installing the handler of %s", signal_name(deadly[i]));
        }
        if (on_exit(handle_exit, NULL) != 0)
                return error_set(error, -ENOMEM, "installing the exit handler: out of memory");
        crash.installed = true;
        return 0;
}

void crash_set_abort_reason(const char *reason)
{
        atomic_store_explicit(&crash.abort_reason, reason, memory_order_release);
}

void crash_say(const char *reason)
{
        struct crash_text t = {0};
        if (crash.descriptor == STDERR_FILENO)
                return;
        crash_put(&t, reason);
        if (t.len == sizeof(t.data))
                t.len--;
        crash_put(&t, "\n");
        crash_send(&t);
}

int64_t crash_report_task(const char *text)
{
        static const char begin[] = "ERROR Executor: task ", middle[] = " in stage ";
        const char *at = strstr(text, begin);
        char *end;
        if (!at || at[sizeof(begin) - 1] < '0' || at[sizeof(begin) - 1] > '9')
                return -1;
        long long id = strtoll(at + sizeof(begin) - 1, &end, 10);
        return id < INT64_MAX && strncmp(end, middle, sizeof(middle) - 1) == 0 ? id : -1;
}

bool crash_report_is_invalid_access(const char *text)
{
        static const char crashed[] = " crashed in ";
        const char *function = strstr(text, crashed), *signal;
        if (!function)
                return false;
        function += sizeof(crashed) - 1;
        signal = strstr(function, ": ");
        return signal && !text_starts_with(function, CRASH_IN_ENGINE ": ") &&
               (text_starts_with(signal, ": SIGSEGV" CRASH_INVALID_ACCESS) ||
                text_starts_with(signal, ": SIGBUS" CRASH_INVALID_ACCESS));
}

void crash_thread_init(void)
{
        if (signal_stack)
                return;
        /* A failure only loses the report of a stack overflow, so it is ignored. */
        void *memory = mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
        if (memory == MAP_FAILED)
                return;
        stack_t stack = {.ss_sp = memory, .ss_size = STACK_SIZE};
        if (sigaltstack(&stack, NULL) == 0)
                signal_stack = memory;
        else
                munmap(memory, STACK_SIZE);
}

void crash_thread_deinit(void)
{
        if (!signal_stack)
                return;
        stack_t none = {.ss_flags = SS_DISABLE};
        sigaltstack(&none, NULL);
        munmap(signal_stack, STACK_SIZE);
        signal_stack = NULL;
}

void crash_add_module(const char *name, const char *path, uintptr_t start, uintptr_t end)
{
        pthread_mutex_lock(&crash.lock);
        unsigned n = atomic_load_explicit(&crash.n_modules, memory_order_relaxed);
        if (n < MAX_MODULES) {
                crash.modules[n].name = name;
                crash.modules[n].path = path;
                crash.modules[n].start = start;
                crash.modules[n].end = end;
                atomic_store_explicit(&crash.n_modules, n + 1, memory_order_release);
        }
        pthread_mutex_unlock(&crash.lock);
}
