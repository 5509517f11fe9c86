/*
 * See thread_dump.h. The dump asks one thread after the other: it publishes the thread's id, sends the signal and waits
 * until the handler has stored the frames, or a short time has passed. A handler that comes too late finds another id,
 * or none, and does nothing.
 *
 * backtrace() is not async-signal-safe by the standard. Since glibc 2.35 and gcc 12 it takes no lock and, after a first
 * call, allocates nothing: unwind tables are found by _dl_find_object.
 */
#include "exec/task/thread_dump.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/vec.h"
#include "exec/app/elf_file.h"
#include "exec/slot.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DUMP_SIGNAL (SIGRTMAX - 2)

enum {
        HANDLER_FRAMES = 2, /* the handler and the trampoline of the signal */
        WAIT_MS = 20,       /* for one thread */
        TOTAL_MS = 300
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* one dump at a time */

/* The question to the thread that the signal interrupts. */
static struct {
        int64_t thread; /* whose frames are wanted; 0: none, the handler has taken the question; atomic */
        int n;
        void *frames[HANDLER_FRAMES + THREAD_MAX_FRAMES];
        bool answered; /* atomic: n and frames are set. The semaphore orders them too, but not for ThreadSanitizer */
        sem_t done;
        bool is_ready; /* the handler is installed */
} question;

static void on_dump_signal(int signal)
{
        int saved = errno;
        int64_t me = syscall(SYS_gettid);
        if (__atomic_compare_exchange_n(&question.thread, &me, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
                question.n = backtrace(question.frames, HANDLER_FRAMES + THREAD_MAX_FRAMES);
                __atomic_store_n(&question.answered, true, __ATOMIC_RELEASE);
                sem_post(&question.done);
        }
        errno = saved;
}

/* ------------------------------------------------------------------------------------------------- what /proc says */

static const struct thread_system_call {
        long number;
        const char *name;
        bool restarts; /* by itself after a signal whose handler has SA_RESTART */
} thread_system_calls[] = {
        {SYS_futex, "futex", true},
        {SYS_read, "read", true},
        {SYS_write, "write", true},
        {SYS_pread64, "pread64", true},
        {SYS_pwrite64, "pwrite64", true},
        {SYS_readv, "readv", true},
        {SYS_writev, "writev", true},
        {SYS_wait4, "wait4", true},
        {SYS_fsync, "fsync", true},
        {SYS_fdatasync, "fdatasync", true},
        {SYS_openat, "openat", true},
        {SYS_clock_nanosleep, "clock_nanosleep", false},
        {SYS_nanosleep, "nanosleep", false},
        {SYS_epoll_pwait, "epoll_pwait", false},
#ifdef SYS_epoll_wait
        {SYS_epoll_wait, "epoll_wait", false},
        {SYS_poll, "poll", false},
        {SYS_select, "select", false},
#endif
        {SYS_ppoll, "ppoll", false},
        {SYS_pselect6, "pselect6", false},
        {SYS_recvfrom, "recvfrom", false},
        {SYS_recvmsg, "recvmsg", false},
        {SYS_sendto, "sendto", false},
        {SYS_sendmsg, "sendmsg", false},
        {SYS_accept4, "accept4", false},
        {SYS_connect, "connect", false},
        {SYS_rt_sigtimedwait, "rt_sigtimedwait", false},
};

static const struct thread_system_call *thread_system_call_find(long number)
{
        for (size_t i = 0; i < ARRAY_SIZE(thread_system_calls); i++)
                if (thread_system_calls[i].number == number)
                        return &thread_system_calls[i];
        return NULL;
}

const char *thread_system_call_name(long number)
{
        const struct thread_system_call *call = thread_system_call_find(number);
        return call ? call->name : NULL;
}

/* Reads a file of /proc as a text. Returns false if it does not exist. */
static bool thread_read_file(int64_t process, int64_t thread, const char *name, char *to, size_t size)
{
        char path[80];
        snprintf(path, sizeof(path), "/proc/%lld/task/%lld/%s", (long long)process, (long long)thread, name);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, to, size - 1);
        if (fd >= 0)
                close(fd);
        if (n < 0)
                return false;
        to[n] = '\0';
        return true;
}

/* Fills name, state and CPU time. Returns false if the thread has ended. */
static bool thread_read_stat(int64_t process, int64_t thread, struct thread_sample *t)
{
        char stat[600];
        unsigned long long user, system;
        if (!thread_read_file(process, thread, "stat", stat, sizeof(stat)))
                return false;
        const char *open = strchr(stat, '('), *close = strrchr(stat, ')');
        if (!open || !close || close < open ||
            sscanf(close + 1, " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu", &t->state, &user, &system) != 3)
                return false;
        t->id = thread;
        t->task_id = -1;
        t->cpu_ms = (int64_t)((user + system) * 1000 / (unsigned long long)sysconf(_SC_CLK_TCK));
        snprintf(t->name, sizeof(t->name), "%.*s", (int)MIN(close - open - 1, (ptrdiff_t)sizeof(t->name) - 1),
                 open + 1);
        return true;
}

/* Finds what a thread waits for. Returns whether a signal would end that early: 1 no, 0 yes, -1 unknown. */
static int thread_read_wait(int64_t process, struct thread_sample *t)
{
        char text[200];
        long number;
        if (thread_read_file(process, t->id, "syscall", text, sizeof(text))) {
                if (text_starts_with(text, "running"))
                        return 1;
                if (sscanf(text, "%ld", &number) == 1 && number >= 0) {
                        const struct thread_system_call *call = thread_system_call_find(number);
                        if (call)
                                snprintf(t->wait, sizeof(t->wait), "%s", call->name);
                        else
                                snprintf(t->wait, sizeof(t->wait), "system call %ld", number);
                        return call && call->restarts;
                }
        }
        if (thread_read_file(process, t->id, "wchan", text, sizeof(text)) && strcmp(text, "0") != 0)
                snprintf(t->wait, sizeof(t->wait), "%.*s", (int)strcspn(text, "\n"), text);
        return -1;
}

static bool thread_blocks_signal(int64_t thread)
{
        char status[3000];
        unsigned long long blocked = 0;
        if (!thread_read_file(getpid(), thread, "status", status, sizeof(status)))
                return true;
        const char *line = strstr(status, "\nSigBlk:");
        return line && sscanf(line, "\nSigBlk: %llx", &blocked) == 1 && (blocked >> (DUMP_SIGNAL - 1) & 1);
}

/* Threads that this library starts: they go on after an interrupted system call. */
static bool thread_is_of_engine(const struct thread_sample *t)
{
        static const char *const names[] = {"task-slot-",   "dag-scheduler", "listener-bus", "ui",
                                            "progress-bar", "result-getter", "copy-blocks",  "migrate-blocks"};
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (text_starts_with(t->name, names[i]))
                        return !t->function[0];
        return false;
}

/* -------------------------------------------------------------------------------------------------------- stacks */

static void thread_store_frames(struct thread_sample *t, void *const *frames, int n)
{
        t->n_frames = MIN(MAX(n, 0), (int)THREAD_MAX_FRAMES);
        memcpy(t->frames, frames, (size_t)t->n_frames * sizeof(*frames));
}

static bool thread_prepare_handler(void)
{
        void *frames[2];
        struct sigaction before, action = {.sa_handler = on_dump_signal, .sa_flags = SA_RESTART | SA_ONSTACK};
        if (question.is_ready)
                return true;
        if (sigaction(DUMP_SIGNAL, NULL, &before) < 0 || before.sa_handler != SIG_DFL)
                return false; /* the application uses it */
        backtrace(frames, 2); /* the first call loads a library */
        sem_init(&question.done, 0, 0);
        question.is_ready = sigaction(DUMP_SIGNAL, &action, NULL) == 0;
        return question.is_ready;
}

static void thread_ask_for_frames(struct thread_sample *t)
{
        __atomic_store_n(&question.thread, t->id, __ATOMIC_RELEASE);
        if (syscall(SYS_tgkill, getpid(), (pid_t)t->id, DUMP_SIGNAL) < 0) {
                __atomic_store_n(&question.thread, 0, __ATOMIC_RELEASE);
                return;
        }
        const struct timespec until = timespec_of_ns(now_ns() + WAIT_MS * NS_PER_MS);
        bool answered = false;
        while (!(answered = sem_clockwait(&question.done, CLOCK_MONOTONIC, &until) == 0) && errno == EINTR)
                ;
        int64_t id = t->id;
        if (!answered &&
            !__atomic_compare_exchange_n(&question.thread, &id, 0, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                while (!(answered = sem_wait(&question.done) == 0) && errno == EINTR)
                        ; /* the handler has begun: it ends soon */
        if (answered && __atomic_exchange_n(&question.answered, false, __ATOMIC_ACQ_REL))
                thread_store_frames(t, question.frames + HANDLER_FRAMES, question.n - HANDLER_FRAMES);
}

static void thread_add_frames(struct thread_sample *t, int restarts, int64_t deadline)
{
        if (t->id == syscall(SYS_gettid)) {
                void *frames[THREAD_MAX_FRAMES];
                thread_store_frames(t, frames, backtrace(frames, THREAD_MAX_FRAMES));
                return;
        }
        bool may = t->state == 'R' || restarts == 1 || (restarts < 0 && thread_is_of_engine(t));
        if (may && now_ms() < deadline && !thread_blocks_signal(t->id))
                thread_ask_for_frames(t);
}

/* ---------------------------------------------------------------------------------------------------------- dump */

typedef VEC(struct thread_sample) thread_samples;

static void thread_dump_add_slots(thread_samples *threads, struct slot *const *slots, int n_slots)
{
        for (int i = 0; i < n_slots; i++) {
                struct slot_activity a;
                if (!slots[i])
                        continue;
                slot_activity(slots[i], &a);
                for (size_t k = 0; k < threads->len; k++)
                        if (threads->data[k].id == a.thread) {
                                threads->data[k].task_id = a.task_id;
                                snprintf(threads->data[k].function, sizeof(a.function), "%s", a.function);
                        }
                struct thread_sample process = {0};
                if (a.process_pid > 0 && thread_read_stat(a.process_pid, a.process_pid, &process)) {
                        thread_read_wait(a.process_pid, &process);
                        process.task_id = a.task_id;
                        snprintf(process.function, sizeof(a.function), "%s", a.function);
                        vec_push(threads, process);
                }
        }
}

struct thread_sample *thread_dump_take(struct slot *const *slots, int n_slots, size_t *n)
{
        thread_samples threads = {0};
        int64_t process = getpid(), deadline = now_ms() + TOTAL_MS;
        DIR *dir = opendir("/proc/self/task");
        for (struct dirent *e; dir && threads.len < THREAD_DUMP_MAX && (e = readdir(dir));) {
                struct thread_sample t = {0};
                int64_t id = atoll(e->d_name);
                if (id > 0 && thread_read_stat(process, id, &t))
                        vec_push(&threads, t);
        }
        if (dir)
                closedir(dir);
        size_t n_own = threads.len;
        thread_dump_add_slots(&threads, slots, n_slots);
        pthread_mutex_lock(&lock);
        bool is_ready = thread_prepare_handler();
        for (size_t i = 0; i < n_own; i++) {
                int restarts = thread_read_wait(process, &threads.data[i]);
                if (is_ready)
                        thread_add_frames(&threads.data[i], restarts, deadline);
        }
        pthread_mutex_unlock(&lock);
        *n = threads.len;
        return threads.data;
}

/* ------------------------------------------------------------------------------------------------------- symbols */

/* A frame whose function is looked for. */
struct frame_symbol {
        uintptr_t address;
        size_t at;            /* among all frames */
        const char *path;     /* of its module; NULL: none */
        uintptr_t base;       /* of the module */
        const char *exported; /* function of the dynamic table; NULL: none */
        uintptr_t exported_at;
};

struct frame_symbols {
        struct frame_symbol *frames; /* of one module, by address */
        size_t n;
        char **out;
        const char *module;
};

static int frame_symbol_compare(const void *a, const void *b)
{
        const struct frame_symbol *x = a, *y = b;
        if (x->base != y->base)
                return x->base < y->base ? -1 : 1;
        return (x->address > y->address) - (x->address < y->address);
}

static const char *frame_module_name(const char *path)
{
        const char *slash = path ? strrchr(path, '/') : NULL;
        return slash ? slash + 1 : path && *path ? path : "?";
}

/* Names the frames within a function of the module's file. */
static int frame_symbols_visit(void *context, const struct elf_symbol *symbol)
{
        struct frame_symbols *s = context;
        if (!symbol->is_function || !symbol->size || !symbol->name[0])
                return 0;
        size_t low = 0, high = s->n;
        while (low < high) {
                size_t middle = (low + high) / 2;
                if (s->frames[middle].address - s->frames[middle].base < symbol->offset)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (; low < s->n; low++) {
                const struct frame_symbol *f = &s->frames[low];
                uint64_t offset = f->address - f->base - symbol->offset;
                if (offset >= symbol->size)
                        break;
                if (!s->out[f->at])
                        s->out[f->at] =
                                mem_printf("%s+0x%llx (%s)", symbol->name, (unsigned long long)offset, s->module);
        }
        return 0;
}

static void frame_symbols_read_file(struct frame_symbols *s, const char *path)
{
        struct stat st;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        void *data = MAP_FAILED;
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
                data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (fd >= 0)
                close(fd);
        if (data == MAP_FAILED)
                return;
        elf_symbols_visit(data, (size_t)st.st_size, frame_symbols_visit, s);
        munmap(data, (size_t)st.st_size);
}

/* Names what the file's table did not name. */
static void frame_symbols_name_rest(const struct frame_symbols *s)
{
        for (size_t i = 0; i < s->n; i++) {
                const struct frame_symbol *f = &s->frames[i];
                if (s->out[f->at])
                        continue;
                if (f->exported)
                        s->out[f->at] = mem_printf("%s+0x%llx (%s)", f->exported,
                                                   (unsigned long long)(f->address - f->exported_at), s->module);
                else
                        s->out[f->at] =
                                mem_printf("0x%llx (%s)", (unsigned long long)(f->address - f->base), s->module);
        }
}

/* The file of the module that dladdr calls @path; NULL: it has none. dladdr calls the main program argv[0], which may
 * be a name without a directory. */
static const char *frame_module_file(const char *path)
{
        if (path && strcmp(path, program_invocation_name) == 0)
                return "/proc/self/exe";
        return path && strchr(path, '/') ? path : NULL;
}

char **thread_symbols_new(const struct thread_sample *threads, size_t n)
{
        VEC(struct frame_symbol) frames = {0};
        for (size_t i = 0; i < n; i++)
                for (int k = 0; k < threads[i].n_frames; k++) {
                        struct frame_symbol f = {.address = (uintptr_t)threads[i].frames[k], .at = frames.len};
                        Dl_info info;
                        if (dladdr(threads[i].frames[k], &info)) {
                                f.path = info.dli_fname;
                                f.base = (uintptr_t)info.dli_fbase;
                                f.exported = info.dli_sname;
                                f.exported_at = (uintptr_t)info.dli_saddr;
                        }
                        vec_push(&frames, f);
                }
        char **out = new_array(char *, frames.len + 1);
        if (frames.len)
                qsort(frames.data, frames.len, sizeof(*frames.data), frame_symbol_compare);
        for (size_t from = 0, end; from < frames.len; from = end) {
                const char *path = frames.data[from].path;
                for (end = from; end < frames.len && frames.data[end].base == frames.data[from].base;)
                        end++;
                struct frame_symbols module = {
                        .frames = frames.data + from, .n = end - from, .out = out, .module = frame_module_name(path)};
                const char *file = frame_module_file(path);
                if (file)
                        frame_symbols_read_file(&module, file);
                frame_symbols_name_rest(&module);
        }
        vec_deinit(&frames);
        return out;
}

void thread_symbols_free(char **symbols)
{
        for (size_t i = 0; symbols && symbols[i]; i++)
                free(symbols[i]);
        free(symbols);
}
