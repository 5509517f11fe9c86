/*
 * packages_resolve as a program, for tests/packages_*test.py and `make check-spark`: words are KEY=VALUE, the jars are
 * printed one a line, what Spark would print goes to standard error, and the last line there is the error.
 */
#include "base/error.h"
#include "submit/packages/maven_packages.h"

#include <string.h>

static void request_set(struct packages_request *q, const char *word)
{
        const char *value = strchr(word, '=') + 1;
        if (strncmp(word, "packages=", 9) == 0)
                q->packages = value;
        else if (strncmp(word, "exclusions=", 11) == 0)
                q->exclusions = value;
        else if (strncmp(word, "repositories=", 13) == 0)
                q->repositories = value;
        else if (strncmp(word, "ivy_path=", 9) == 0)
                q->ivy_path = value;
        else if (strncmp(word, "ivy_settings=", 13) == 0)
                q->ivy_settings = value;
        else if (strncmp(word, "compat=", 7) == 0)
                q->compat = value;
}

int main(int argc, char **argv)
{
        struct packages_request q = {.out = stderr};
        struct package_jars jars = {0};
        struct fst_error error = FST_ERROR_INIT;
        for (int i = 1; i < argc; i++)
                if (strchr(argv[i], '='))
                        request_set(&q, argv[i]);
        int r = packages_resolve(&q, &jars, &error);
        for (size_t i = 0; i < jars.len; i++)
                puts(jars.data[i]);
        if (r < 0)
                fprintf(stderr, "error %s: %s\n", strerrorname_np(-r), error_message(&error));
        package_jars_deinit(&jars);
        error_deinit(&error);
        return r < 0;
}
