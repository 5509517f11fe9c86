/*
 * See app_compiler.h.
 *
 * The compiler runs in the source's directory with the bare file name, and directories are mapped away, so that the
 * same source gives the same build-id everywhere, unless it is compiled for this machine's processor. Path, time and
 * size identify the compiler: running cc --version would take longer than a whole run with a warm cache.
 */
#include "exec/app/app_compiler.h"

#include "base/buf.h"
#include "process/command.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "process/exit_cleanup.h"
#include "base/vec.h"
#include "exec/app/app_cache.h"
#include "exec/app/instruction_sets.h"
#include "exec/app/sanitizers.h"

#include <firesteel/types.h>

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RETRIES 3

typedef VEC(char *) words;

static void words_deinit(words *w)
{
        for (size_t i = 0; i < w->len; i++)
                free(w->data[i]);
        vec_deinit(w);
}

static void words_add(words *w, const char *word)
{
        vec_push(w, mem_strdup(word));
}

static void words_add_split(words *w, const char *text)
{
        for (const char *blanks = " \t\n"; *(text += strspn(text, blanks));) {
                size_t n = strcspn(text, blanks);
                vec_push(w, mem_strndup(text, n));
                text += n;
        }
}

/* ---------------------------------------------------------------------------------------------- finding tools */

static char *home;

/* Shortens @path to the nearest directory above it that holds include/firesteel. */
static void find_home_above(char *path)
{
        for (char *slash; (slash = strrchr(path, '/')) && !home;) {
                *slash = 0;
                _cleanup_free_ char *header = mem_printf("%s/include/firesteel/firesteel.h", path);
                if (access(header, R_OK) == 0)
                        home = mem_strdup(path);
        }
}

/* This library may be loaded by another program. */
static void find_home(void)
{
        const char *set = getenv("FIRESTEEL_HOME");
        char path[PATH_MAX];
        if (set && set[0]) {
                home = mem_strdup(set);
                return;
        }
        Dl_info library;
        bool named = dladdr((void *)find_home, &library) && library.dli_fname && strchr(library.dli_fname, '/');
        if (named && realpath(library.dli_fname, path))
                find_home_above(path);
        ssize_t n = home ? 0 : readlink("/proc/self/exe", path, sizeof(path) - 1);
        path[n > 0 ? n : 0] = 0;
        find_home_above(path);
}

const char *app_compiler_home(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, find_home);
        return home;
}

/* Finds the file of @command as a shell does. Returns NULL if there is none. */
static char *find_command(const char *command)
{
        if (strchr(command, '/'))
                return access(command, X_OK) == 0 ? mem_strdup(command) : NULL;
        const char *path = getenv("PATH");
        for (const char *p = path ? path : "/usr/bin:/bin";;) {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *file = mem_printf("%.*s/%s", n ? (int)n : 1, n ? p : ".", command);
                struct stat st;
                if (access(file, X_OK) == 0 && stat(file, &st) == 0 && S_ISREG(st.st_mode))
                        return steal(file);
                if (!p[n])
                        return NULL;
                p += n + 1;
        }
}

/* Splits the compiler's command into words and resolves the first one to a file. */
static int find_compiler(words *command, struct fst_error *error)
{
        static const char *const usual[] = {"cc", "gcc", "clang"};
        const char *set = getenv("CC");
        if (set && set[strspn(set, " ")]) {
                words_add_split(command, set);
                char *file = find_command(command->data[0]);
                if (!file)
                        return error_set(error, -ENOENT, "no C compiler: CC is \"%s\", which is not a command", set);
                free(command->data[0]);
                command->data[0] = file;
                return 0;
        }
        for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
                char *file = find_command(usual[i]);
                if (file) {
                        vec_push(command, file);
                        return 0;
                }
        }
        return error_set(
                error, -ENOENT,
                "no C compiler (cc, gcc or clang) to compile the application with: install one (Debian, Ubuntu: "
                "apt install gcc libc6-dev; Fedora: dnf install gcc), name one in CC, or submit a .so");
}

int app_compiler_find_file(const char *name, char **out, struct fst_error *error)
{
        _cleanup_(words_deinit) words command = {0};
        _cleanup_(buf_deinit) struct buf said = BUF_INIT;
        char path[PATH_MAX];
        int status, r = find_compiler(&command, error);
        if (r < 0)
                return r;
        vec_push(&command, mem_printf("-print-file-name=%s", name));
        vec_push(&command, NULL);
        r = command_run(&(struct command){.words = command.data, .captured = &said, .no_input = true}, &status);
        if (r < 0)
                return error_set(error, r, "running the compiler %s: %s", command.data[0], strerror(-r));
        _cleanup_free_ char *printed = mem_strndup(buf_text(&said), strcspn(buf_text(&said), "\n"));
        if (status != 0 || !strchr(printed, '/') || !realpath(printed, path))
                return error_set(error, -ENOENT, "the compiler %s has no %s", command.data[0], name);
        *out = mem_strdup(path);
        return 0;
}

static int require_home(struct fst_error *error)
{
        return app_compiler_home()
                       ? 0
                       : error_set(error, -ENOENT,
                                   "include/firesteel/firesteel.h was not found above this library or program: set "
                                   "FIRESTEEL_HOME to the directory of the Firesteel installation");
}

/* ------------------------------------------------------------------------------------------------ the command */

static void add_fixed_flags(words *command, const char *folder)
{
        static const char *const fixed[] = {"-O2", "-g", "-std=gnu11", "-fPIC", "-shared", "-Wl,--build-id=sha1"};
        for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
                words_add(command, fixed[i]);
        vec_push(command, mem_printf("-I%s/include", home));
        vec_push(command, mem_printf("-ffile-prefix-map=%s=.", folder));
        vec_push(command, mem_printf("-ffile-prefix-map=%s/include=firesteel", home));
}

/*
 * Numbers must not depend on where they are computed, so products and sums stay apart: a processor that has an
 * instruction for both rounds once instead of twice.
 */
static void add_processor_flags(words *command, const char *march)
{
        if (!march)
                return;
        vec_push(command, mem_printf("-march=%s", march));
        words_add(command, "-ffp-contract=off");
}

/*
 * Makes errors of code that compiles but is always wrong: undeclared functions (their pointers are cut to int),
 * incompatible pointers, missing returns. The user's own flags come later and override these.
 */
static void add_warning_flags(words *command)
{
        static const char *const warnings[] = {"-Wall", "-Werror=implicit-function-declaration",
                                               "-Werror=int-conversion", "-Werror=incompatible-pointer-types",
                                               "-Werror=return-type"};
        for (size_t i = 0; i < ARRAY_SIZE(warnings); i++)
                words_add(command, warnings[i]);
}

/*
 * Runs @command in @folder (NULL: the current one) and waits. Appends its output to @said; NULL: standard error.
 * Returns -ENOEXEC with @error on failure; @error contains @said if @quote.
 */
static int run_command(words *command, const char *folder, const char *what, struct buf *said, bool quote,
                       struct fst_error *error)
{
        vec_push(command, NULL);
        int status,
                r = command_run(&(struct command){.words = command->data, .folder = folder, .captured = said}, &status);
        if (r < 0)
                return error_set(error, r, "running the compiler %s: %s", command->data[0], strerror(-r));
        if (WIFSIGNALED(status))
                return error_set(error, -ENOEXEC, "compiling %s: %s was killed by signal %d", what, command->data[0],
                                 WTERMSIG(status));
        if (WEXITSTATUS(status) != 0 && quote)
                return error_set(error, -ENOEXEC, "%s does not compile:\n%s", what, buf_text(said));
        if (WEXITSTATUS(status) != 0)
                return error_set(error, -ENOEXEC, "%s does not compile: see the messages of %s above", what,
                                 command->data[0]);
        return 0;
}

int app_compiler_build(const char *const *sources, int n_sources, const char *output, char *const *flags,
                       struct fst_error *error)
{
        _cleanup_(words_deinit) words command = {0};
        char here[PATH_MAX];
        int r = require_home(error);
        if (r == 0)
                r = find_compiler(&command, error);
        if (r < 0)
                return r;
        if (!getcwd(here, sizeof(here)))
                return error_errno(error, "the current folder");
        add_fixed_flags(&command, here);
        words_add(&command, "-o");
        words_add(&command, output);
        for (int i = 0; i < n_sources; i++) /* "./" so that no name looks like an option */
                vec_push(&command, sources[i][0] == '-' ? mem_printf("./%s", sources[i]) : mem_strdup(sources[i]));
        for (; flags && *flags; flags++)
                words_add(&command, *flags);
        words_add(&command, "-lm");
        return run_command(&command, NULL, sources[0], NULL, false, error);
}

/* ------------------------------------------------------------------------------------------------- one C file */

/* The compilation of one file. */
struct compilation {
        char folder[PATH_MAX]; /* the source's directory, with symbolic links resolved */
        const char *base;      /* "wordcount.c" */
        char *name;            /* "wordcount.so" */
        words command;         /* compiler and all flags that affect the result */
        struct app_cache cache;
        char key[APP_CACHE_HASH];
};

static void job_deinit(struct compilation *job)
{
        free(job->name);
        words_deinit(&job->command);
        app_cache_deinit(&job->cache);
}

static int job_init(struct compilation *job, const struct app_compiler *self, struct fst_error *error)
{
        const char *slash = strrchr(self->source, '/');
        _cleanup_free_ char *folder =
                slash ? mem_strndup(self->source, (size_t)(slash - self->source) + 1) : mem_strdup(".");
        job->base = slash ? slash + 1 : self->source;
        _cleanup_(buf_deinit) struct buf sanitizers = BUF_INIT;
        if (!realpath(folder, job->folder))
                return error_errno(error, "%s", folder);
        job->name = mem_printf("%.*s.so", (int)strlen(job->base) - 2, job->base);
        int r = sanitizers_flags(self->sanitizers, &sanitizers, error);
        if (r == 0)
                r = require_home(error);
        if (r == 0)
                r = find_compiler(&job->command, error);
        if (r == 0)
                r = app_cache_init(&job->cache, self->local_dir, error);
        if (r < 0)
                return r;
        add_fixed_flags(&job->command, job->folder);
        add_processor_flags(&job->command, self->march);
        add_warning_flags(&job->command);
        vec_push(&job->command, job->base[0] == '-' ? mem_printf("./%s", job->base) : mem_strdup(job->base));
        words_add_split(&job->command, self->flags ? self->flags : "");
        words_add_split(&job->command, buf_text(&sanitizers));
        words_add(&job->command, "-lm");
        return 0;
}

/* Hashes all inputs except headers. */
static int job_key(struct compilation *job, const struct app_compiler *self, struct fst_error *error)
{
        static const char *const variables[] = {"CPATH",         "C_INCLUDE_PATH",  "LIBRARY_PATH",
                                                "COMPILER_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH"};
        _cleanup_(buf_deinit) struct buf identity = BUF_INIT;
        struct stat compiler;
        if (stat(job->command.data[0], &compiler) < 0)
                return error_errno(error, "%s", job->command.data[0]);
        buf_printf(&identity, "%u %lld.%09ld %lld\n", (unsigned)FST_ABI, (long long)compiler.st_mtim.tv_sec,
                   compiler.st_mtim.tv_nsec, (long long)compiler.st_size);
        if (self->march && strcmp(self->march, "native") == 0) {
                instruction_sets_describe_processor(&identity);
                buf_putc(&identity, '\n');
        }
        _cleanup_free_ char *map = mem_printf("-ffile-prefix-map=%s=.", job->folder);
        for (size_t i = 0; i < job->command.len; i++) {
                if (strcmp(job->command.data[i], map) != 0) /* the mapped directories do not count */
                        buf_printf(&identity, "%s\n", job->command.data[i]);
        }
        for (size_t i = 0; i < ARRAY_SIZE(variables); i++) {
                const char *value = getenv(variables[i]);
                buf_printf(&identity, "%s=%s\n", variables[i], value ? value : "");
        }
        int r = app_cache_read(self->source, &identity);
        if (r < 0)
                return error_set(error, r, "%s: %s", self->source, strerror(-r));
        app_cache_hash(buf_text(&identity), identity.len, job->key);
        return 0;
}

static int64_t file_clock_now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* Returns the path of the file beside @path that keeps the compiler's warnings. Owned by the caller. */
static char *warnings_path(const char *path)
{
        return mem_printf("%s.warnings", path);
}

/* Passes the compiler's output to the caller, or writes it to standard error. */
static void show_messages(const struct app_compiler *self, const struct buf *said)
{
        if (self->messages)
                buf_append(self->messages, said->data, said->len);
        else if (said->len)
                fwrite(said->data, 1, said->len, stderr);
}

/* Shows the warnings at each run, not only when the file is compiled. */
static void show_kept_warnings(const struct app_compiler *self, const char *object)
{
        _cleanup_free_ char *path = warnings_path(object);
        _cleanup_(buf_deinit) struct buf said = BUF_INIT;
        if (app_cache_read(path, &said) == 0)
                show_messages(self, &said);
}

/* A failure is ignored: later runs then show no warnings. */
static void keep_warnings(const struct buf *said, const char *object)
{
        _cleanup_free_ char *path = warnings_path(object);
        FILE *file = said->len ? fopen(path, "we") : NULL;
        if (!file) {
                unlink(path);
                return;
        }
        fwrite(said->data, 1, said->len, file);
        if (fclose(file) != 0)
                unlink(path);
}

/* Compiles into the cache's directory and stores the result. *@out is NULL if the source changed meanwhile. */
static int job_compile(struct compilation *job, const struct app_compiler *self, char **out, struct fst_error *error)
{
        char made_from[APP_CACHE_HASH];
        int64_t started = file_clock_now();
        _cleanup_free_ char *object =
                mem_printf("%s/tmp-%d-%llx.so", job->cache.folder, (int)getpid(), (unsigned long long)started);
        _cleanup_free_ char *rule = mem_printf("%s.d", object);
        _cleanup_(words_deinit) words command = {0};
        for (size_t i = 0; i < job->command.len; i++)
                words_add(&command, job->command.data[i]);
        const char *const output[] = {"-MMD", "-MT", "app", "-MF", rule, "-o", object};
        for (size_t i = 0; i < ARRAY_SIZE(output); i++)
                words_add(&command, output[i]);
        if (!self->messages && isatty(STDERR_FILENO))
                words_add(&command, "-fdiagnostics-color=always");
        exit_cleanup_add(rule);
        exit_cleanup_add(object);
        log_info("SparkSubmit", "Compiling %s with %s", self->source, command.data[0]);
        _cleanup_(buf_deinit) struct buf said = BUF_INIT, dependencies = BUF_INIT;
        int r = run_command(&command, job->folder, self->source, &said, self->messages != NULL, error);
        if (r == 0 || r == -ENOEXEC)
                show_messages(self, &said);
        if (r == 0) {
                r = app_cache_read(rule, &dependencies);
                if (r < 0)
                        error_set(error, r, "%s: %s", rule, strerror(-r));
        }
        memcpy(made_from, job->key, sizeof(made_from));
        if (r == 0)
                r = job_key(job, self, error);
        if (r == 0 && strcmp(made_from, job->key) == 0)
                r = app_cache_store(&job->cache, job->key, job->name, job->folder, object, buf_text(&dependencies),
                                    started, out, error);
        if (r == 0 && *out)
                keep_warnings(&said, *out);
        exit_cleanup_remove(rule);
        exit_cleanup_remove(object);
        return r;
}

int app_compiler_run(const struct app_compiler *self, char **out, struct fst_error *error)
{
        _cleanup_(job_deinit) struct compilation job = {0};
        char *found = NULL;
        int r = job_init(&job, self, error);
        if (r == 0)
                r = job_key(&job, self, error);
        if (r == 0)
                r = app_cache_find(&job.cache, job.key, job.name, job.folder, &found);
        if (r == 0 && found)
                show_kept_warnings(self, found);
        for (int i = 0; r == 0 && !found; i++) {
                if (i == RETRIES)
                        return error_set(error, -EAGAIN, "%s changes while it is compiled", self->source);
                r = job_compile(&job, self, &found, error);
        }
        if (r == 0)
                *out = found;
        return r;
}

/* ----------------------------------------------------------------------------------------------- dependencies */

/*
 * Reads the next word of a make rule into @word. Returns false at the end. Undoes "\ ", "\#", "$$". Backslash-newline
 * is a blank.
 */
static bool next_rule_word(const char **text, struct buf *word)
{
        const char *p = *text;
        buf_reset(word);
        for (;; p++) {
                if (*p == '\\' && p[1] == '\n')
                        p++;
                else if (*p != ' ' && *p != '\t' && *p != '\n' && *p != '\r')
                        break;
        }
        for (; *p && !strchr(" \t\r\n", *p); p++) {
                if (*p == '\\' && p[1] == '\n')
                        break;
                if ((*p == '\\' && p[1] && strchr(" #\\", p[1])) || (*p == '$' && p[1] == '$'))
                        p++;
                buf_putc(word, *p);
        }
        *text = p;
        return word->len > 0;
}

int app_compiler_dependencies(const char *text, int (*visit)(void *context, const char *path), void *context)
{
        _cleanup_(buf_deinit) struct buf word = BUF_INIT;
        const char *rest = text;
        if (!next_rule_word(&rest, &word) || word.data[word.len - 1] != ':')
                return -EINVAL;
        while (next_rule_word(&rest, &word)) {
                int r = visit(context, word.data);
                if (r != 0)
                        return r;
        }
        return 0;
}
