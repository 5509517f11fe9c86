/*
 * A master, as far as election and records go: for tests/zookeeper/check.
 *
 *      candidate NAME KEY=VALUE…       keys of the configuration
 *
 * Commands come as lines: "store ID TEXT", "large ID BYTES", "remove ID", "commit WORD", "many COUNT" (stores and one
 * commit for each), "close". What happens goes out as lines: "elected ID=TEXT …", "done WORD", "revoked WHY", "failed
 * WHY", "closed". Records are those of applications.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "standalone/recovery/journal.h"
#include "standalone/recovery/persistence.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static uv_loop_t loop;
static uv_poll_t input;
static struct persistence *p;
static struct buf line;

static void say(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void say(const char *format, ...)
{
        va_list args;
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        putchar('\n');
        fflush(stdout);
}

static void on_elected(void *owner, const struct persistence_record *records, size_t n)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (size_t i = 0; i < n && i < 20; i++)
                buf_printf(&text, " %s=%.*s", records[i].id, (int)MIN(records[i].size, (size_t)40),
                           (const char *)records[i].data);
        say("elected %zu%s", n, buf_text(&text));
}

static void on_revoked(void *owner, const char *why)
{
        say("revoked %s", why);
}

static void on_failed(void *owner, const char *message)
{
        say("failed %s", message);
}

static void on_done(void *context)
{
        say("done %s", (const char *)context);
        free(context);
}

static void on_closed(void *owner)
{
        say("closed");
        uv_poll_stop(&input);
}

static void commit(const char *word)
{
        char *copy = mem_strdup(word);
        if (persistence_commit(p, on_done, copy))
                on_done(copy);
}

static void store(const char *id, const char *text, size_t n)
{
        persistence_store(p, MASTER_RECORD_APP, id, text, n);
}

static void obey(char *text)
{
        char *command = strtok(text, " "), *id = strtok(NULL, " "), *rest = strtok(NULL, "");
        if (strcmp(command, "close") == 0)
                persistence_close(p, on_closed, NULL);
        else if (strcmp(command, "commit") == 0)
                commit(id);
        else if (strcmp(command, "remove") == 0)
                persistence_remove(p, MASTER_RECORD_APP, id);
        else if (strcmp(command, "store") == 0)
                store(id, rest ? rest : "", rest ? strlen(rest) : 0);
        else if (strcmp(command, "large") == 0) { /* that cannot be packed */
                size_t n = strtoul(rest, NULL, 10);
                char *data = mem_alloc(n + 1);
                uint64_t random = 88172645463325252u;
                for (size_t i = 0; i < n; i++) {
                        random ^= random << 13;
                        random ^= random >> 7;
                        random ^= random << 17;
                        data[i] = (char)(random >> 32);
                }
                store(id, data, n);
                free(data);
        } else if (strcmp(command, "many") == 0) {
                for (long i = 0; i < strtol(id, NULL, 10); i++) {
                        char name[32];
                        snprintf(name, sizeof(name), "many-%ld", i);
                        store(name, "a record of a few bytes, as those of workers are", 48);
                }
                commit("many");
        }
}

static void on_input(uv_poll_t *poll, int status, int events)
{
        char bytes[4096];
        ssize_t n = read(STDIN_FILENO, bytes, sizeof(bytes));
        if (n <= 0) { /* the test has ended */
                uv_poll_stop(poll);
                persistence_close(p, NULL, NULL);
                return;
        }
        buf_append(&line, bytes, (size_t)n);
        for (char *end; (end = memchr(line.data, '\n', line.len));) {
                _cleanup_free_ char *text = mem_strndup(line.data, (size_t)(end - line.data));
                _cleanup_free_ char *rest = mem_strdup(end + 1);
                buf_reset(&line);
                buf_puts(&line, rest);
                if (*text)
                        obey(text);
        }
}

int main(int argc, char **argv)
{
        static const struct persistence_ops ops = {.elected = on_elected, .revoked = on_revoked, .failed = on_failed};
        struct fst_error error = FST_ERROR_INIT;
        struct fst_conf conf;
        conf_init(&conf);
        log_set_level(getenv("CANDIDATE_DEBUG") ? LOG_DEBUG : LOG_INFO);
        for (int i = 2; i < argc; i++) {
                char *equals = strchr(argv[i], '=');
                if (!equals)
                        return 2;
                *equals = '\0';
                conf_set(&conf, argv[i], equals + 1);
        }
        uv_loop_init(&loop);
        if (argc < 2 || persistence_open(&loop, &conf, argv[1], &ops, NULL, &p, &error) < 0) {
                say("refused %s", error_message(&error));
                return 1;
        }
        uv_poll_init(&loop, &input, STDIN_FILENO);
        uv_poll_start(&input, UV_READABLE, on_input);
        uv_run(&loop, UV_RUN_DEFAULT);
        conf_deinit(&conf);
        buf_deinit(&line);
        return 0;
}
