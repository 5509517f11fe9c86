/* pipe: sends rows as lines through a program. */
#include "rdd/rdd_build.h"
#include "rdd/rdd_wire_class.h"

#include "base/buf.h"
#include "base/mem.h"
#include "process/piped_command.h"
#include "io/row_text.h"

#include <sys/wait.h>

/* Copies a NULL-terminated list of strings. */
static char **pipe_copy_list(const char *const *list)
{
        size_t n = 0;
        while (list && list[n])
                n++;
        char **copy = new_array(char *, n + 1);
        for (size_t i = 0; i < n; i++)
                copy[i] = mem_strdup(list[i]);
        return copy;
}

static void pipe_free_list(char **list)
{
        for (char **l = list; l && *l; l++)
                free(*l);
        free(list);
}

FST_API fst_rdd *fst_pipe_with_at(fst_rdd *parent, const char *const *words, const char *const *environment,
                                  fst_site site)
{
        parent = rdd_given(parent, site);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_PIPED, FST_BYTES, parent, site);
        rdd->pipe.words = pipe_copy_list(words);
        rdd->pipe.environment = pipe_copy_list(environment);
        rdd_depend_narrowly(rdd, false);
        if (!rdd->pipe.words[0])
                rdd_fail(rdd, -EINVAL, "pipe needs a command");
        for (char **e = rdd->pipe.environment; *e; e++)
                if (!strchr(*e, '=') || **e == '=')
                        rdd_fail(rdd, -EINVAL, "pipe takes an environment of NAME=value");
        return rdd;
}

FST_API fst_rdd *fst_pipe_at(fst_rdd *parent, const char *command, fst_site site)
{
        parent = rdd_given(parent, site);
        _cleanup_free_ char *copy = mem_strdup(command ? command : "");
        const char **words = new_array(const char *, strlen(copy) + 1);
        char *rest = copy;
        size_t n = 0;
        for (char *word; (word = strtok_r(rest, " \t\n\r\f", &rest));)
                words[n++] = word;
        fst_rdd *rdd = fst_pipe_with_at(parent, words, NULL, site);
        free(words);
        return rdd;
}

static void pipe_free(fst_rdd *rdd)
{
        pipe_free_list(rdd->pipe.words);
        pipe_free_list(rdd->pipe.environment);
}

static size_t pipe_list_length(char **list)
{
        size_t n = 0;
        while (list[n])
                n++;
        return n;
}

static int pipe_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        Firesteel__Pipe *pipe = arena_alloc(&w->arena, sizeof(*pipe));
        firesteel__pipe__init(pipe);
        pipe->words = rdd->pipe.words;
        pipe->n_words = pipe_list_length(rdd->pipe.words);
        pipe->environment = rdd->pipe.environment;
        pipe->n_environment = pipe_list_length(rdd->pipe.environment);
        m->pipe = pipe;
        return 0;
}

static char **pipe_decode_list(struct rdd_wire_reader *reader, char **list, size_t n)
{
        char **ended = wire_array(reader->memory, n + 1, sizeof(*ended));
        if (ended && n)
                memcpy(ended, list, n * sizeof(*ended));
        return ended;
}

static int pipe_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *message, fst_rdd *rdd,
                       struct fst_error *error)
{
        const Firesteel__Pipe *m = message->pipe;
        if (!m || m->n_words == 0 || rdd->type.key != FST_KIND_BYTES || rdd->type.value)
                return rdd_wire_bad(rdd, error, "its command is missing or its rows are not BYTES");
        rdd->pipe.words = pipe_decode_list(reader, m->words, m->n_words);
        rdd->pipe.environment = pipe_decode_list(reader, m->environment, m->n_environment);
        if (!rdd->pipe.words || !rdd->pipe.environment)
                return rdd_wire_too_big(error);
        return rdd_wire_check_partitions(rdd, error);
}

/* ---------------------------------------------------------------------------------------------------- in tasks */

struct pipe_op {
        struct op op;
        const fst_rdd *rdd;
        struct piped_command command;
        struct buf lines;  /* input for the program */
        struct buf output; /* output not yet pushed: its last line may be incomplete */
        size_t searched;   /* leading bytes of it that contain no line end */
        fst_bytes views[FST_BATCH_ROWS];
};

static struct pipe_op *pipe_of(struct op *op)
{
        return container_of(op, struct pipe_op, op);
}

static int pipe_failed(struct pipe_op *self, int r, const char *doing)
{
        if (r == -ECANCELED)
                return task_run_cancelled(self->op.run);
        return task_run_fail(self->op.run, r, "%s %s failed: %s", doing, self->rdd->pipe.words[0], strerror(-r));
}

static int pipe_begin(struct op *op)
{
        struct pipe_op *self = pipe_of(op);
        buf_reset(&self->output);
        self->searched = 0;
        int r = piped_command_start(&self->command, self->rdd->pipe.words, self->rdd->pipe.environment);
        return r ? task_run_fail(op->run, r, "Cannot run program \"%s\": %s", self->rdd->pipe.words[0], strerror(-r))
                 : 0;
}

/* Pushes the complete lines in `output`; with @at_end also an unterminated last line. */
static int pipe_push_lines(struct pipe_op *self, bool at_end)
{
        char *at = self->output.data, *end = at + self->output.len;
        struct rows rows = {.batch = {.type = FST_BYTES, .key.bytes = self->views}};
        char *search = at + self->searched; /* does not search a long line again from its start */
        int r = self->op.status;
        rows.stable[0] = (struct fst_stable){(uintptr_t)at, self->output.len};
        while (r == 0 && at < end) {
                char *newline = memchr(search, '\n', (size_t)(end - search));
                if (!newline && !at_end)
                        break;
                size_t len = (size_t)((newline ? newline : end) - at);
                size_t shown = len && at[len - 1] == '\r' ? len - 1 : len;
                self->views[rows.batch.rows++] = (fst_bytes){at, shown};
                at += newline ? len + 1 : len;
                search = at;
                if (rows.batch.rows == FST_BATCH_ROWS) {
                        r = op_push(&self->op, &rows);
                        rows.batch.rows = 0;
                }
        }
        if (r == 0 && rows.batch.rows > 0)
                r = op_push(&self->op, &rows);
        size_t left = (size_t)(end - at);
        self->searched = left;
        if (left)
                memmove(self->output.data, at, left);
        if (self->output.data)
                buf_truncate(&self->output, left);
        return r;
}

static int pipe_consume(struct op *op, const struct rows *in)
{
        struct pipe_op *self = pipe_of(op);
        struct buf *lines = &self->lines;
        buf_reset(lines);
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                buf_reserve(lines, row_text_size(&in->batch, i) + 1);
                lines->len = (size_t)(row_text_print(lines->data + lines->len, &in->batch, i) - lines->data);
                lines->data[lines->len++] = '\n';
        }
        const char *data = lines->data;
        size_t len = lines->len;
        int r;
        do {
                r = piped_command_feed(&self->command, &data, &len, &self->output, op->run->task.stopped);
                if (r < 0)
                        return pipe_failed(self, r, "Writing to");
                int pushed = pipe_push_lines(self, false);
                if (pushed)
                        return pushed;
        } while (r == PIPED_COMMAND_E_OUTPUT);
        return 0;
}

static int pipe_end(struct op *op)
{
        struct pipe_op *self = pipe_of(op);
        int wait_status = 0;
        int r = PIPED_COMMAND_E_OUTPUT;
        while (r == PIPED_COMMAND_E_OUTPUT && !op->status) {
                r = piped_command_end(&self->command, &self->output, op->run->task.stopped, &wait_status);
                if (r == PIPED_COMMAND_E_OUTPUT)
                        pipe_push_lines(self, false);
        }
        if (op->status) { /* downstream has enough */
                op->class->abandon(op);
                return op->status;
        }
        if (r)
                return pipe_failed(self, r, "Waiting for");
        if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
                return pipe_push_lines(self, true);
        _cleanup_(buf_deinit) struct buf words = BUF_INIT;
        for (char **word = self->rdd->pipe.words; *word; word++)
                buf_printf(&words, "%s%s", words.len ? " " : "", *word);
        if (WIFSIGNALED(wait_status))
                return task_run_fail(op->run, -EPIPE, "Subprocess was ended by signal %d (%s). Command ran: %s",
                                     WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)), buf_text(&words));
        return task_run_fail(op->run, -EPIPE, "Subprocess exited with status %d. Command ran: %s",
                             WEXITSTATUS(wait_status), buf_text(&words));
}

static void pipe_abandon(struct op *op)
{
        struct pipe_op *self = pipe_of(op);
        piped_command_kill(&self->command);
        buf_reset(&self->output);
}

static void pipe_op_free(struct op *op)
{
        struct pipe_op *self = pipe_of(op);
        piped_command_kill(&self->command);
        buf_deinit(&self->lines);
        buf_deinit(&self->output);
        op_deinit(op);
        free(self);
}

static const struct op_class pipe_op_class = {"pipe",          .begin = pipe_begin,     .consume = pipe_consume,
                                              .end = pipe_end, .abandon = pipe_abandon, .free = pipe_op_free};

static struct op *pipe_op_new(const fst_rdd *rdd, struct task_run *run)
{
        struct pipe_op *self = new0(struct pipe_op);
        op_init(&self->op, &pipe_op_class, run, FST_BYTES);
        self->rdd = rdd;
        self->command = (struct piped_command){.in = -1, .out = -1};
        return &self->op;
}

const struct rdd_class rdd_piped_class = {
        .spark = "PipedRDD",
        .parents = 1,
        .free = pipe_free,
        .encode = pipe_encode,
        .decode = pipe_decode,
        .op_new = pipe_op_new,
};
