/*
 * All unit tests in one program, which runs those that it is called by the name of (build/src/base_strmap is a link to
 * it), or that its first word names.
 */
#include <stdio.h>
#include <string.h>

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
        const char *slash = strrchr(argv[0], '/'), *name = slash ? slash + 1 : argv[0];
        if (strcmp(name, "unit_tests") == 0 && argc > 1)
                name = argv[1];
        for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
                if (strcmp(tests[i].name, name) == 0)
                        return tests[i].run();
        fprintf(stderr, "Usage: unit_tests NAME\nThere is:");
        for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++)
                fprintf(stderr, " %s", tests[i].name);
        fputc('\n', stderr);
        return 2;
}
