/* See sanitizers.h. */
#include "exec/app/sanitizers.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "exec/app/app_compiler.h"
#include "exec/guard/crash.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define KEY "spark.firesteel.cc.sanitize"
#define PRELOADED "FIRESTEEL_PRELOADED" /* set by a process that executes itself, for its successor */

/* Leaks are not reported: the engine keeps modules and names forever. The handlers are those of exec/guard/crash. */
#define ASAN_SETTINGS                                                                                                  \
        "detect_leaks=0:abort_on_error=1:disable_coredump=0:handle_segv=0:handle_sigbus=0:handle_sigfpe=0:"            \
        "handle_sigill=0:handle_abort=0:use_sigaltstack=0:allocator_may_return_null=1"
#define UBSAN_SETTINGS                                                                                                 \
        "print_stacktrace=1:abort_on_error=1:disable_coredump=0:handle_segv=0:handle_abort=0:use_sigaltstack=0"

static const struct sanitizer {
        const char *name, *library, *symbol, *package, *variable, *settings;
} sanitizers[] = {
        {"address", "libasan.so", "__asan_init", "libasan8", "ASAN_OPTIONS", ASAN_SETTINGS},
        {"undefined", "libubsan.so", "__ubsan_handle_add_overflow_abort", "libubsan1", "UBSAN_OPTIONS", UBSAN_SETTINGS},
};

static char *preloaded; /* the libraries that sanitizers_enter has preloaded, separated by colons; NULL: none */

/* ------------------------------------------------------------------------------------------------------ the list */

static int sanitizers_parse(const char *list, bool wanted[static ARRAY_SIZE(sanitizers)], struct fst_error *error)
{
        memset(wanted, 0, ARRAY_SIZE(sanitizers) * sizeof(*wanted));
        for (const char *at = list ? list : ""; *(at += strspn(at, ", "));) {
                size_t n = strcspn(at, ", "), i = 0;
                while (i < ARRAY_SIZE(sanitizers) &&
                       (strlen(sanitizers[i].name) != n || strncmp(at, sanitizers[i].name, n) != 0))
                        i++;
                if (i == ARRAY_SIZE(sanitizers))
                        return error_set(error, -EINVAL,
                                         KEY "=%s: \"%.*s\" is not a supported sanitizer (address, undefined, or both "
                                             "with a comma)",
                                         list, (int)n, at);
                wanted[i] = true;
                at += n;
        }
        return 0;
}

int sanitizers_flags(const char *list, struct buf *flags, struct fst_error *error)
{
        bool wanted[ARRAY_SIZE(sanitizers)];
        int r = sanitizers_parse(list, wanted, error);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(sanitizers); i++)
                if (wanted[i])
                        buf_printf(flags, " -fsanitize=%s -fno-sanitize-recover=%s -fno-omit-frame-pointer",
                                   sanitizers[i].name, sanitizers[i].name);
        if (r == 0 && wanted[0] && wanted[1]) /* AddressSanitizer reports more about the same access */
                buf_puts(flags, " -fno-sanitize=object-size");
        return r;
}

/* ------------------------------------------------------------------------------------------------------ entering */

/* Sets our options in front of the user's, which override them. */
static void sanitizer_set_options(const struct sanitizer *s)
{
        const char *set = getenv(s->variable);
        _cleanup_free_ char *options = mem_printf("%s%s%s", s->settings, set && *set ? ":" : "", set ? set : "");
        setenv(s->variable, options, 1);
}

static int sanitizer_find_library(const struct sanitizer *s, struct buf *paths, struct fst_error *error)
{
        _cleanup_free_ char *path = NULL;
        int r = app_compiler_find_file(s->library, &path, error);
        if (r == -ENOENT && !path)
                return error_wrap(error, r, KEY "=%s needs %s (Debian, Ubuntu: apt install %s)", s->name, s->library,
                                  s->package);
        if (r == 0)
                buf_printf(paths, "%s%s", paths->len ? ":" : "", path);
        return r;
}

static int sanitizers_execute_again(const char *paths, struct fst_error *error)
{
        const char *set = getenv("LD_PRELOAD");
        _cleanup_free_ char *all = mem_printf("%s%s%s", paths, set && *set ? ":" : "", set ? set : "");
        _cleanup_(buf_deinit) struct buf words = BUF_INIT;
        _cleanup_(string_list_deinit) struct string_list arguments = {0};
        char program[PATH_MAX], bytes[4096];
        ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
        FILE *file = n > 0 ? fopen("/proc/self/cmdline", "re") : NULL;
        if (!file)
                return error_errno(error, KEY ": /proc/self");
        program[n] = 0;
        for (size_t got; (got = fread(bytes, 1, sizeof(bytes), file)) > 0;)
                buf_append(&words, bytes, got);
        fclose(file);
        for (const char *at = buf_text(&words), *end = at + words.len; at < end; at += strlen(at) + 1)
                string_list_add(&arguments, at);
        setenv(PRELOADED, paths, 1);
        setenv("LD_PRELOAD", all, 1);
        fflush(NULL);
        execv(program, string_list_argv(&arguments));
        return error_errno(error, KEY ": starting %s again", program);
}

int sanitizers_enter(const char *list, struct fst_error *error)
{
        bool wanted[ARRAY_SIZE(sanitizers)];
        _cleanup_(buf_deinit) struct buf paths = BUF_INIT;
        int r = sanitizers_parse(list, wanted, error);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(sanitizers); i++) {
                if (!wanted[i] || dlsym(RTLD_DEFAULT, sanitizers[i].symbol))
                        continue;
                if (getenv(PRELOADED))
                        return error_set(error, -ENOENT,
                                         KEY "=%s: %s was preloaded, but the program runs without it (does the program "
                                             "have other rights than its user?)",
                                         list, sanitizers[i].library);
                r = sanitizer_find_library(&sanitizers[i], &paths, error);
                sanitizer_set_options(&sanitizers[i]);
        }
        return r == 0 && paths.len ? sanitizers_execute_again(buf_text(&paths), error) : r;
}

/* ------------------------------------------------------------------------------------------------------- reports */

/* AddressSanitizer passes the text of its report, whose last line sums it up, before it aborts. */
static void sanitizers_on_report(const char *report)
{
        static char summary[512];
        static const char start[] = "SUMMARY: ";
        const char *line = strstr(report, start);
        if (!line)
                return;
        line += strlen(start);
        size_t n = MIN(strcspn(line, "\n"), sizeof(summary) - 1);
        memcpy(summary, line, n);
        crash_set_abort_reason(summary);
}

void sanitizers_start(void)
{
        const char *paths = getenv(PRELOADED), *set = getenv("LD_PRELOAD");
        void (*set_callback)(void (*)(const char *));
        void *found = dlsym(RTLD_DEFAULT, "__asan_set_error_report_callback");
        memcpy(&set_callback, &found, sizeof(found));
        if (found)
                set_callback(sanitizers_on_report);
        if (found || dlsym(RTLD_DEFAULT, sanitizers[1].symbol))
                crash_set_abort_reason("abort() was called, or a sanitizer has written a report to standard error");
        if (!paths)
                return;
        preloaded = mem_strdup(paths);
        if (set && text_starts_with(set, preloaded)) {
                _cleanup_free_ char *rest = mem_strdup(set + strlen(preloaded));
                if (rest[0] == ':')
                        setenv("LD_PRELOAD", rest + 1, 1);
                else
                        unsetenv("LD_PRELOAD");
        }
        unsetenv(PRELOADED);
}

void sanitizers_add_environment(struct string_list *variables)
{
        const char *set = getenv("LD_PRELOAD");
        if (!preloaded)
                return;
        _cleanup_free_ char *all = mem_printf("%s%s%s", preloaded, set ? ":" : "", set ? set : "");
        string_list_set_variable(variables, "LD_PRELOAD", all);
}

/* Appends "libasan.so.8" for /usr/lib/libasan.so.8.0.0: the name that the loader of another machine finds. */
static void sanitizers_add_name(const char *path, size_t n, struct buf *names)
{
        const char *base = memrchr(path, '/', n), *end = path + n;
        base = base ? base + 1 : path;
        const char *number = memmem(base, (size_t)(end - base), ".so.", 4);
        const char *stop = number ? number + 4 + strspn(number + 4, "0123456789") : end;
        buf_printf(names, "%s%.*s", names->len ? ":" : "", (int)(stop - base), base);
}

void sanitizers_set_executor_environment(struct fst_conf *conf)
{
        _cleanup_(buf_deinit) struct buf names = BUF_INIT;
        if (!preloaded)
                return;
        for (const char *at = preloaded; *at; at += at[0] == ':') {
                size_t n = strcspn(at, ":");
                sanitizers_add_name(at, n, &names);
                at += n;
        }
        conf_set_if_missing(conf, "spark.executorEnv.LD_PRELOAD", buf_text(&names));
        for (size_t i = 0; i < ARRAY_SIZE(sanitizers); i++) {
                _cleanup_free_ char *key = mem_printf("spark.executorEnv.%s", sanitizers[i].variable);
                const char *set = getenv(sanitizers[i].variable);
                if (set)
                        conf_set_if_missing(conf, key, set);
        }
}
