/*
 * Reads spark-env.sh; see environment.h. After the script, the shell writes its environment to a separate descriptor
 * with a NUL after each entry, so neither the script's output nor line breaks in values interfere. The script does not
 * inherit that descriptor, because a background process would keep it open.
 */
#include "launch/environment.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "exec/app/app_compiler.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

char *submit_conf_dir(void)
{
        const char *dir = getenv("SPARK_CONF_DIR"), *home = getenv("SPARK_HOME");
        if (dir && dir[0])
                return mem_strdup(dir);
        if (!home || !home[0])
                home = app_compiler_home();
        return home ? mem_printf("%s/conf", home) : NULL;
}

static int environment_read_all(int fd, struct buf *out)
{
        for (;;) {
                buf_reserve(out, 16384);
                ssize_t n = read(fd, out->data + out->len, 16384);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0)
                        return n < 0 ? -errno : 0;
                out->len += (size_t)n;
                out->data[out->len] = 0;
        }
}

static void environment_take_over(char *entries, size_t len)
{
        for (char *e = entries; e < entries + len; e += strlen(e) + 1) {
                char *equals = strchr(e, '=');
                if (!equals || equals == e)
                        continue;
                *equals = 0;
                if (strcmp(e, "_") != 0 && strcmp(e, "SHLVL") != 0)
                        setenv(e, equals + 1, 1);
                e = equals + 1;
        }
}

static int environment_run_script(const char *script, struct buf *out, struct fst_error *error)
{
        static char command[] = "set -a; . \"$1\" 3>&-; exec env -0 >&3";
        const char *shell = access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh";
        char *words[] = {(char *)shell, "-c", command, (char *)shell, (char *)script, NULL};
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
                return error_errno(error, "reading %s", script);
        posix_spawn_file_actions_t actions;
        posix_spawn_file_actions_init(&actions);
        /* If it were already descriptor 3, dup2 would leave it close-on-exec. */
        if (ends[1] == 3) {
                int other = fcntl(ends[1], F_DUPFD_CLOEXEC, 4);
                close(ends[1]);
                ends[1] = other;
        }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 3);
        pid_t child;
        int r = posix_spawn(&child, shell, &actions, NULL, words, environ);
        posix_spawn_file_actions_destroy(&actions);
        close(ends[1]);
        if (r == 0)
                r = -environment_read_all(ends[0], out);
        close(ends[0]);
        if (r != 0)
                return error_set(error, -r, "cannot read %s with %s: %s", script, shell, strerror(r));
        int status = 0;
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
                ;
        if (status != 0)
                return error_set(error, -EINVAL, "the shell that read %s exited with status %d", script,
                                 WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
        return 0;
}

int submit_load_spark_env(const char *conf_dir, struct fst_error *error)
{
        const char *loaded = getenv("SPARK_ENV_LOADED");
        if (!conf_dir || (loaded && loaded[0]))
                return 0;
        _cleanup_free_ char *script = mem_printf("%s/spark-env.sh", conf_dir);
        if (access(script, R_OK) < 0)
                return 0;
        _cleanup_(buf_deinit) struct buf entries = BUF_INIT;
        int r = environment_run_script(script, &entries, error);
        if (r < 0)
                return r;
        environment_take_over(entries.data, entries.len);
        setenv("SPARK_ENV_LOADED", "1", 1);
        return 0;
}
