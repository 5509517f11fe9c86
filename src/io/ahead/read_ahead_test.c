/* Tests reading ahead through io_uring and through a thread: any order of reads, files that end, shrink or grow while
 * they are read, errors, O_DIRECT, and a kernel that refuses io_uring. */
#include "io/ahead/read_ahead.h"

#include "base/mem.h"
#include "io/ahead/uring_library.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FILE_SIZE (5 * READ_AHEAD_BLOCK + 12345)

/* ThreadSanitizer ends a child of a process with threads when it starts a thread. */
#if defined(__SANITIZE_THREAD__)
#define CHILD_MAY_START_THREADS 0
#else
#define CHILD_MAY_START_THREADS 1
#endif

static char path[] = "/tmp/read_ahead_test.XXXXXX";
static unsigned char *content;
static int fd = -1;

static int make_file(void **state)
{
        uint64_t x = 88172645463325252u;
        content = malloc(FILE_SIZE);
        for (size_t i = 0; i < FILE_SIZE; i++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                content[i] = (unsigned char)(x >> 56);
        }
        fd = mkstemp(path);
        return fd < 0 || pwrite(fd, content, FILE_SIZE, 0) != (ssize_t)FILE_SIZE;
}

static int remove_file(void **state)
{
        close(fd);
        unlink(path);
        free(content);
        return 0;
}

/* One engine and number of blocks of a test. io_uring is skipped where the kernel refuses it. */
struct variant {
        enum read_ahead_engine engine;
        unsigned blocks;
};

static struct read_ahead *start(const struct variant *v, int file, uint64_t end)
{
        read_ahead_configure(v->blocks, v->engine);
        struct read_ahead *a = read_ahead_new(file, end);
        if (!a && v->engine == READ_AHEAD_URING)
                skip();
        assert_non_null(a);
        assert_int_equal(read_ahead_engine_of(a), v->engine);
        return a;
}

static void test_reads_in_order(void **state)
{
        static const size_t sizes[] = {1000, 4096, 65536, READ_AHEAD_BLOCK, READ_AHEAD_BLOCK + 1, 3 * READ_AHEAD_BLOCK};
        unsigned char *got = malloc(FILE_SIZE);
        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
                struct read_ahead *a = start(*state, fd, FILE_SIZE);
                size_t at = 0;
                memset(got, 0, FILE_SIZE);
                for (ssize_t n; (n = read_ahead_read(a, got + at, MIN(sizes[i], FILE_SIZE - at), at)) > 0;
                     at += (size_t)n)
                        assert_true((size_t)n == sizes[i] || at + (size_t)n == FILE_SIZE);
                assert_int_equal(at, FILE_SIZE);
                assert_memory_equal(got, content, FILE_SIZE);
                assert_int_equal(read_ahead_read(a, got, 10, FILE_SIZE), 0);
                assert_int_equal(read_ahead_read(a, got, 10, FILE_SIZE + 3 * READ_AHEAD_BLOCK), 0);
                read_ahead_free(a);
        }
        free(got);
}

static void test_reads_at_any_offset(void **state)
{
        struct read_ahead *a = start(*state, fd, FILE_SIZE / 2);
        unsigned char *got = malloc(2 * READ_AHEAD_BLOCK);
        uint64_t x = 1;
        for (int i = 0; i < 300; i++) {
                x = x * 6364136223846793005u + 1442695040888963407u;
                uint64_t at = (x >> 33) % (FILE_SIZE + 10000);
                size_t size = 1 + (x >> 20) % (2 * READ_AHEAD_BLOCK - 1);
                size_t want = at < FILE_SIZE ? MIN(size, FILE_SIZE - at) : 0;
                assert_int_equal(read_ahead_read(a, got, size, at), want);
                assert_memory_equal(got, content + MIN(at, FILE_SIZE), want);
        }
        read_ahead_free(a);
        free(got);
}

static void test_frees_with_reads_in_flight(void **state)
{
        unsigned char got[100];
        for (int i = 0; i < 20; i++) {
                struct read_ahead *a = start(*state, fd, FILE_SIZE);
                assert_int_equal(read_ahead_read(a, got, sizeof(got), 0), sizeof(got));
                read_ahead_free(a);
        }
        read_ahead_free(NULL);
}

static void test_file_shrinks_and_grows(void **state)
{
        char name[] = "/tmp/read_ahead_test.XXXXXX";
        int file = mkstemp(name);
        unlink(name);
        assert_int_equal(pwrite(file, content, FILE_SIZE, 0), FILE_SIZE);
        struct read_ahead *a = start(*state, file, FILE_SIZE);
        unsigned char *got = malloc(FILE_SIZE);
        assert_int_equal(read_ahead_read(a, got, 10, 0), 10);
        /* A block may have been read before the file shrank, but nothing comes from behind what was read. */
        assert_int_equal(ftruncate(file, 1000), 0);
        ssize_t n = read_ahead_read(a, got, FILE_SIZE, 0);
        assert_true(n >= 1000 && n <= (ssize_t)FILE_SIZE);
        assert_int_equal(read_ahead_read(a, got, 10, FILE_SIZE), 0);
        read_ahead_free(a);

        a = start(*state, file, FILE_SIZE);
        assert_int_equal(read_ahead_read(a, got, FILE_SIZE, 0), 1000);
        assert_int_equal(pwrite(file, content + 1000, 5000, 1000), 5000);
        assert_int_equal(read_ahead_read(a, got, FILE_SIZE, 1000), 5000);
        assert_memory_equal(got, content + 1000, 5000);
        read_ahead_free(a);
        free(got);
        close(file);
}

static void test_returns_error_of_read(void **state)
{
        int closed = open(path, O_WRONLY), folder = open("/tmp", O_RDONLY | O_DIRECTORY);
        unsigned char got[10];
        struct read_ahead *a = start(*state, closed, 1 << 20);
        assert_int_equal(read_ahead_read(a, got, 10, 0), -EBADF);
        assert_int_equal(read_ahead_read(a, got, 10, 0), -EBADF);
        read_ahead_free(a);
        a = start(*state, folder, 1 << 20);
        assert_int_equal(read_ahead_read(a, got, 10, 0), -EISDIR);
        read_ahead_free(a);
        close(closed);
        close(folder);
}

static void test_reads_direct(void **state)
{
        int direct = open(path, O_RDONLY | O_DIRECT);
        if (direct < 0)
                skip();
        assert_int_equal(fsync(fd), 0);
        struct read_ahead *a = start(*state, direct, FILE_SIZE);
        unsigned char *got = malloc(FILE_SIZE);
        assert_int_equal(read_ahead_read(a, got, FILE_SIZE, 0), FILE_SIZE);
        assert_memory_equal(got, content, FILE_SIZE);
        assert_int_equal(read_ahead_read(a, got, 777, FILE_SIZE - 500), 500);
        assert_memory_equal(got, content + FILE_SIZE - 500, 500);
        read_ahead_free(a);
        free(got);
        close(direct);
}

/* Signals interrupt waits, which go on. */
static void on_alarm(int signal)
{
}

static void test_goes_on_after_signals(void **state)
{
        struct sigaction action = {.sa_handler = on_alarm}, before;
        sigaction(SIGALRM, &action, &before);
        ualarm(100, 100);
        test_reads_in_order(state);
        ualarm(0, 0);
        sigaction(SIGALRM, &before, NULL);
}

/* Makes io_uring_setup fail with @code, as seccomp filters of containers do. */
static bool refuse_uring(int code)
{
        struct sock_filter rules[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_io_uring_setup, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)code),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog program = {.len = ARRAY_SIZE(rules), .filter = rules};
        return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static int read_without_uring(int code)
{
        unsigned char *got = malloc(FILE_SIZE);
        if (!refuse_uring(code))
                return 77;
        read_ahead_configure(4, READ_AHEAD_URING);
        if (read_ahead_new(fd, FILE_SIZE))
                return 1;
        read_ahead_configure(4, READ_AHEAD_ANY);
        struct read_ahead *a = read_ahead_new(fd, FILE_SIZE);
        if (!a || read_ahead_engine_of(a) != READ_AHEAD_THREAD)
                return 2;
        if (read_ahead_read(a, got, FILE_SIZE, 0) != (ssize_t)FILE_SIZE || memcmp(got, content, FILE_SIZE) != 0)
                return 3;
        read_ahead_free(a);
        return 0;
}

static void test_thread_replaces_refused_uring(void **state)
{
        if (!CHILD_MAY_START_THREADS)
                skip();
        static const int codes[] = {ENOSYS, EPERM};
        for (size_t i = 0; i < ARRAY_SIZE(codes); i++) {
                pid_t child = fork();
                if (child == 0)
                        _exit(read_without_uring(codes[i]));
                int status = -1;
                assert_int_equal(waitpid(child, &status, 0), child);
                assert_true(WIFEXITED(status));
                if (WEXITSTATUS(status) == 77)
                        skip();
                assert_int_equal(WEXITSTATUS(status), 0);
        }
}

/* A child gets its own, although the parent has kept one. */
static void test_child_does_not_reuse_idle_one(void **state)
{
        unsigned char got[100];
        const struct variant *v = *state;
        if (v->engine == READ_AHEAD_THREAD && !CHILD_MAY_START_THREADS)
                skip();
        struct read_ahead *a = start(*state, fd, FILE_SIZE);
        assert_int_equal(read_ahead_read(a, got, sizeof(got), 0), sizeof(got));
        read_ahead_free(a);
        pid_t child = fork();
        if (child == 0) {
                alarm(120);
                a = read_ahead_new(fd, FILE_SIZE);
                _exit(a && read_ahead_read(a, got, sizeof(got), 5000) == sizeof(got) &&
                                      memcmp(got, content + 5000, sizeof(got)) == 0
                              ? 0
                              : 1);
        }
        int status = -1;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static struct variant uring = {READ_AHEAD_URING, 4}, uring_one = {READ_AHEAD_URING, 1}, thread = {READ_AHEAD_THREAD, 4},
                      thread_one = {READ_AHEAD_THREAD, 1};

#define WITH(test, variant) cmocka_unit_test_prestate(test, &(variant))
#define WITH_EACH(test) WITH(test, uring), WITH(test, uring_one), WITH(test, thread), WITH(test, thread_one)

int main(void)
{
        const struct CMUnitTest tests[] = {
                WITH_EACH(test_reads_in_order),
                WITH_EACH(test_reads_at_any_offset),
                WITH_EACH(test_frees_with_reads_in_flight),
                WITH_EACH(test_file_shrinks_and_grows),
                WITH_EACH(test_returns_error_of_read),
                WITH_EACH(test_reads_direct),
                WITH(test_goes_on_after_signals, uring),
                WITH(test_goes_on_after_signals, thread),
                WITH(test_child_does_not_reuse_idle_one, uring),
                WITH(test_child_does_not_reuse_idle_one, thread),
                cmocka_unit_test(test_thread_replaces_refused_uring),
        };
        return cmocka_run_group_tests(tests, make_file, remove_file);
}
