/*
 * All unit tests in one program, which runs those that it is called by the name of (build/src/base_strmap is a link to
 * it), or that its first word names. One more word, which may hold '*' and '?', chooses cases: base_strmap 'removes*'.
 *
 * Its _fail takes the place of cmocka's, to name the case of a table (unit/cases.h), and then calls that.
 */
#include "unit/cases.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static __thread char label[1024];

int case_begin(const char *format, ...)
{
        va_list args;
        va_start(args, format);
        vsnprintf(label, sizeof(label), format, args);
        va_end(args);
        return 0;
}

void case_end(int *unused)
{
        label[0] = '\0';
}

#if defined(__SANITIZE_ADDRESS__)
/* An allocation that cannot be had returns NULL, as without AddressSanitizer. Its runtime calls this. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);

const char *__asan_default_options(void)
{
        return "allocator_may_return_null=1";
}
#endif

#if defined(__SANITIZE_THREAD__)
/* The same for ThreadSanitizer. */
__attribute__((visibility("default"))) const char *__tsan_default_options(void);

const char *__tsan_default_options(void)
{
        return "allocator_may_return_null=1";
}
#endif

/* Exported, because libcmocka calls it. */
__attribute__((visibility("default"))) void _fail(const char *const file, const int line)
{
        void (*real)(const char *, int) = (void (*)(const char *, int))dlsym(RTLD_NEXT, "_fail");
        if (label[0])
                print_error("in case %s\n", label);
        label[0] = '\0';
        if (real)
                real(file, line);
        abort();
}

#define X(name) int main_of_##name(void);
#include "unit_tests.inc"
#undef X

static const struct {
        const char *name;
        int (*run)(void);
} tests[] = {
#define X(name) {#name, main_of_##name},
#include "unit_tests.inc"
#undef X
};

int main(int argc, char **argv)
{
        signal(SIGINT, SIG_DFL); /* ignored in what a shell starts with "&", and tests raise it */
        signal(SIGQUIT, SIG_DFL);
        const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
        int used = 1;
        if (strcmp(name, "unit_tests") == 0 && argc > 1)
                name = argv[used++];
        if (argc > used)
                cmocka_set_test_filter(argv[used]);
        for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
                if (strcmp(tests[i].name, name) == 0)
                        return tests[i].run();
        fprintf(stderr, "Usage: unit_tests NAME [CASE]\nThere is:");
        for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
                fprintf(stderr, " %s", tests[i].name);
        fputc('\n', stderr);
        return 2;
}
