/* Threads that use Kerberos while the process ends. */
#include "net/kerberos.h"

#include "base/error.h"
#include "base/mem.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static atomic_int rounds;
static char output[1 << 20]; /* more than a pipe holds */

static void *use_caches(void *unused)
{
        for (;;) {
                kerberos_use("MEMORY:kerberos-test");
                atomic_fetch_add(&rounds, 1);
        }
        return NULL;
}

/* Loads the module, and ends with status 0 while another thread uses it; with 1 without the module. exit() flushes @out
 * after the destructors, so the thread goes on until the pipe is read. */
static void exit_during_calls(FILE *out)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *cache = NULL;
        pthread_t thread;
        if (kerberos_login("not@a@principal", "/nonexistent", &cache, NULL, &error) != -EACCES)
                exit(1);
        if (setvbuf(out, output, _IOFBF, sizeof(output)) != 0 || pthread_create(&thread, NULL, use_caches, NULL) != 0)
                exit(2);
        for (size_t i = 0; i < sizeof(output); i++)
                putc('.', out);
        while (atomic_load(&rounds) < 100)
                sched_yield();
        exit(0);
}

static void process_ends_while_a_thread_uses_kerberos(void **state)
{
        int ends[2], status = -1;
        char bytes[4096];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
                close(ends[0]);
                exit_during_calls(fdopen(ends[1], "w"));
        }
        close(ends[1]);
        poll(&(struct pollfd){.fd = ends[0], .events = POLLIN}, 1, -1); /* until exit() flushes, or the child is gone */
        usleep(200000);                                                 /* for the other thread's next call */
        while (read(ends[0], bytes, sizeof(bytes)) > 0)
                ;
        close(ends[0]);
        assert_int_equal(waitpid(child, &status, 0), child);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 1)
                skip();
        assert_int_equal(status, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(process_ends_while_a_thread_uses_kerberos)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
