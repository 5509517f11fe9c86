/*
 * See log_shipper.h. The main thread polls the pipes and owns the core. The storing thread has one job at a time: write
 * a piece, or remove some. A job holds copies.
 */
#include "logs/log_shipper.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "conf/conf.h"
#include "conf/redact.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"
#include "logs/log_redact.h"
#include "logs/log_store.h"
#include "text/json_writer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define COMPONENT "DurableLogs"
#define MAX_WAITING ((int64_t)8 << 20)
#define MAX_LINE ((size_t)64 << 10)
#define READ_SIZE ((size_t)64 << 10)
#define POLL_MS 100
#define OPEN_TIMEOUT_MS 2000 /* after the parent's end, for the first attempt to open the storage */

static const char *const output_names[LOG_OUTPUTS] = {"stdout", "stderr"};

struct shipped_output {
        int in, out;
        struct buf line; /* not yet redacted: the beginning of a line, or all before the settings came */
        struct log_pieces pieces;
};

/* Work for the storing thread. */
struct store_job {
        struct shipped_output *output; /* of a piece; NULL: removals only */
        char name[LOG_PIECE_NAME];
        struct buf data;
        struct string_list removals;
        bool ends; /* the last one: the index gets the time of the end */
};

struct log_shipper {
        const struct log_shipper_options *o;
        struct fst_conf conf;
        struct redactor redactor;
        struct buf settings;
        bool configured;
        int settings_fd, passed_on;
        struct shipped_output outputs[LOG_OUTPUTS];
        size_t turn;    /* the output that is stored first: slow storage must not leave the other one out */
        bool opens;     /* the job that opens the storage was submitted */
        bool opened;    /* it has ended; a failure was reported */
        bool silent;    /* standard error goes to /dev/null */
        int64_t end_by; /* ns; 0: the parent may still write */

        pthread_t thread;
        int wake; /* an eventfd: a job has ended */
        pthread_mutex_t lock;
        pthread_cond_t changed;
        bool has_job, stopping; /* guarded by lock */
        bool job_ended;
        bool has_ended; /* the last job is done */
        int job_result;
        struct store_job job; /* the storing thread's while has_job */

        /* The storing thread's. */
        const struct file_system *fs;
        char *dir, *application, *process, *path; /* of all applications; names; of the process */
        int64_t start_ms;
        bool is_open, has_warned;
};

/* --------------------------------------------------------------------------------------------------------- storing */

/* @end_ms 0: the process runs. */
static int shipper_write_index(struct log_shipper *s, int64_t end_ms, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct json_out j = {.out = &text};
        char host[256] = "";
        const char *container = getenv("CONTAINER_ID");
        gethostname(host, sizeof(host) - 1);
        json_begin(&j);
        json_text(&j, "application", s->application);
        json_text(&j, "process", s->process);
        json_text(&j, "host", host);
        json_text(&j, "container", container);
        json_int(&j, "startMs", s->start_ms);
        if (end_ms)
                json_int(&j, "endMs", end_ms);
        json_end(&j);
        return log_store_write(s->fs, s->path, LOG_STORE_INDEX, text.data, text.len, error);
}

/* Makes the directory of the process. Returns 0, or negative with @error. */
static int shipper_open(struct log_shipper *s, struct fst_error *error)
{
        _cleanup_free_ char *dir = NULL;
        int64_t max_age_ms = 0;
        int r = conf_get_string(&s->conf, "spark.firesteel.logs.dir", &dir, error);
        r = r < 0 ? r : conf_get_ms(&s->conf, "spark.firesteel.logs.maxAge", &max_age_ms, error);
        if (r == 0 && !s->dir)
                r = file_system_resolve(dir, &s->dir, &s->fs, error);
        if (r < 0)
                return r;
        if (!s->path) {
                _cleanup_free_ char *application = path_join(s->dir, s->application);
                s->path = path_join(application, s->process);
        }
        r = s->fs->mkdirs(s->fs, s->path, error);
        if (r < 0)
                return r;
        s->start_ms = time_of_day_ms();
        r = shipper_write_index(s, 0, error);
        s->is_open = r == 0;
        if (r == 0 && s->o->cleans && max_age_ms > 0)
                log_store_clean(s->fs, s->dir, s->application, max_age_ms, time_of_day_ms(), NULL);
        return r;
}

static int shipper_do_job(struct log_shipper *s)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        struct store_job *job = &s->job;
        int r = s->is_open ? 0 : shipper_open(s, &error);
        if (r == 0 && job->output)
                r = log_store_write(s->fs, s->path, job->name, job->data.data, job->data.len, &error);
        for (size_t i = 0; r == 0 && i < job->removals.len; i++)
                log_store_remove(s->fs, s->path, job->removals.data[i], NULL);
        if (r == 0 && job->ends)
                r = shipper_write_index(s, time_of_day_ms(), &error);
        if (r < 0 && !s->has_warned) {
                s->has_warned = true;
                log_warn(COMPONENT,
                         "output of %s cannot be stored in spark.firesteel.logs.dir: %s. Trying again until it is left "
                         "out",
                         s->process, error_message(&error));
        }
        return r;
}

static void *shipper_store(void *owner)
{
        struct log_shipper *s = owner;
        const uint64_t one = 1;
        pthread_mutex_lock(&s->lock);
        while (!s->stopping) {
                if (!s->has_job || s->job_ended) {
                        pthread_cond_wait(&s->changed, &s->lock);
                        continue;
                }
                pthread_mutex_unlock(&s->lock);
                const int r = shipper_do_job(s);
                pthread_mutex_lock(&s->lock);
                s->job_result = r;
                s->job_ended = true;
                if (write(s->wake, &one, sizeof(one)) < 0)
                        log_debug(COMPONENT, "the end of a job is seen later");
        }
        pthread_mutex_unlock(&s->lock);
        return NULL;
}

static void shipper_submit(struct log_shipper *s)
{
        pthread_mutex_lock(&s->lock);
        s->has_job = true;
        s->job_ended = false;
        pthread_cond_signal(&s->changed);
        pthread_mutex_unlock(&s->lock);
}

/* ---------------------------------------------------------------------------------------------- the parent's output */

/* Passes whole lines to the core, redacted; at the @end, and beyond MAX_LINE, what there is. */
static void output_take_lines(struct log_shipper *s, struct shipped_output *output, bool end)
{
        size_t done = 0;
        if (!s->configured)
                return;
        for (;;) {
                const char *rest = output->line.data + done;
                const size_t n = output->line.len - done;
                const char *newline = n ? memchr(rest, '\n', n) : NULL;
                const size_t len = newline ? (size_t)(newline - rest) + 1 : end || n > MAX_LINE ? n : 0;
                if (!len)
                        break;
                _cleanup_(buf_deinit) struct buf shown = BUF_INIT;
                log_redact_line(&s->redactor, rest, len, &shown);
                log_pieces_put(&output->pieces, shown.data, shown.len, now_ns());
                done += len;
        }
        if (!done)
                return;
        memmove(output->line.data, output->line.data + done, output->line.len - done);
        buf_truncate(&output->line, output->line.len - done);
}

static void output_take(struct log_shipper *s, struct shipped_output *output, const char *data, size_t n)
{
        const size_t room = output->line.len < MAX_WAITING ? (size_t)MAX_WAITING - output->line.len : 0;
        const size_t kept = MIN(n, room);
        if (output->out >= 0 && write_all(output->out, data, n) < 0) {
                close(output->out); /* its reader is gone */
                output->out = -1;
        }
        if (kept)
                buf_append(&output->line, data, kept);
        if (kept < n)
                log_pieces_leave_out(&output->pieces, n - kept);
        output_take_lines(s, output, false);
}

static void output_end(struct log_shipper *s, struct shipped_output *output)
{
        close(output->in);
        if (output->out >= 0)
                close(output->out);
        output->in = output->out = -1;
}

static void shipper_read_output(struct log_shipper *s, struct shipped_output *output)
{
        char data[READ_SIZE];
        const ssize_t n = read(output->in, data, sizeof(data));
        if (n > 0)
                output_take(s, output, data, (size_t)n);
        else if (n == 0 || (errno != EINTR && errno != EAGAIN))
                output_end(s, output);
}

/* The parent waits until what it has written was passed on. It may write more: its copies of the pipes are open. */
static void shipper_pass_on(struct log_shipper *s)
{
        int waiting = 0;
        for (size_t i = 0; i < LOG_OUTPUTS; i++)
                while (s->outputs[i].in >= 0 && ioctl(s->outputs[i].in, FIONREAD, &waiting) == 0 && waiting > 0)
                        shipper_read_output(s, &s->outputs[i]);
        close(s->passed_on);
        s->passed_on = -1;
}

/* -------------------------------------------------------------------------------------------------------- settings */

static void shipper_configure(struct log_shipper *s)
{
        const char *p = s->settings.data, *end = p + s->settings.len;
        while (p < end) {
                const char *value = p + strlen(p) + 1;
                if (value >= end)
                        break;
                conf_set(&s->conf, p, value);
                p = value + strlen(value) + 1;
        }
        buf_deinit_secret(&s->settings);
        const char *id = conf_get_value(&s->conf, "spark.app.id");
        s->application = mem_strdup(id && *id ? id : s->o->application ? s->o->application : "unknown");
        const char *attempt = conf_get_value(&s->conf, "spark.app.attempt.id");
        s->process = attempt && strcmp(attempt, "1") != 0 ? mem_printf("%s-attempt-%s", s->o->process, attempt)
                                                          : mem_strdup(s->o->process);
        redactor_init_lenient(&s->redactor, conf_get_value(&s->conf, "spark.redaction.regex"));
        file_systems_use(s, &s->conf.set);
        s->configured = true;
        for (size_t i = 0; i < LOG_OUTPUTS; i++)
                output_take_lines(s, &s->outputs[i], false);
}

static void shipper_read_settings(struct log_shipper *s)
{
        char data[4096];
        const ssize_t n = read(s->settings_fd, data, sizeof(data));
        if (n > 0)
                buf_append(&s->settings, data, (size_t)n);
        explicit_bzero(data, sizeof(data));
        if (n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN)))
                return;
        close(s->settings_fd);
        s->settings_fd = -1;
        shipper_configure(s);
}

/* ------------------------------------------------------------------------------------------------------------ jobs */

static bool shipper_is_busy(struct log_shipper *s)
{
        pthread_mutex_lock(&s->lock);
        const bool busy = s->has_job && !s->job_ended;
        pthread_mutex_unlock(&s->lock);
        return busy;
}

/* Takes the result of a job that has ended. */
static void shipper_finish_job(struct log_shipper *s)
{
        if (!s->has_job || shipper_is_busy(s))
                return;
        if (s->job.output && s->job_result == 0)
                log_pieces_written(&s->job.output->pieces, now_ns());
        else if (s->job.output)
                log_pieces_failed(&s->job.output->pieces, now_ns());
        string_list_deinit(&s->job.removals);
        s->job.removals = (struct string_list){0};
        buf_reset(&s->job.data);
        s->has_ended = s->job.ends;
        s->opened = true;
        s->has_job = false;
}

static bool shipper_has_output(const struct log_shipper *s)
{
        bool has = false;
        for (size_t i = 0; i < LOG_OUTPUTS; i++)
                has = has || s->outputs[i].pieces.text.len || s->outputs[i].pieces.removed.len;
        return has;
}

/* Starts a job if one is due. The first one only opens the storage, so that a failure is reported at the start. */
static void shipper_begin_job(struct log_shipper *s)
{
        if (s->configured && !s->opens) {
                s->opens = true;
                shipper_submit(s);
        }
        for (size_t k = 0; k < LOG_OUTPUTS && s->configured && !s->has_job; k++) {
                const size_t i = s->turn;
                struct shipped_output *output = &s->outputs[i];
                struct piece_range range;
                struct log_piece piece;
                char name[LOG_PIECE_NAME];
                s->turn = (i + 1) % LOG_OUTPUTS;
                s->job.output = NULL;
                while (log_pieces_take_removal(&output->pieces, &range))
                        string_list_add(&s->job.removals, log_piece_name(output_names[i], range, name));
                if (log_pieces_next(&output->pieces, now_ns(), output->in < 0, &piece)) {
                        log_piece_name(output_names[i], piece.range, s->job.name);
                        buf_append(&s->job.data, piece.data, (size_t)(piece.range.end - piece.range.start));
                        s->job.output = output;
                }
                if (s->job.output || s->job.removals.len)
                        shipper_submit(s);
        }
        if (s->end_by && s->configured && !s->has_job && !s->has_ended && !shipper_has_output(s)) {
                s->job.output = NULL;
                s->job.ends = true;
                shipper_submit(s);
        }
}

/*
 * Readers of this process's standard error see its end before everything is stored, but not before a storage that
 * cannot be opened was reported.
 */
static void shipper_release_stderr(struct log_shipper *s)
{
        const int64_t release_by = s->end_by - ms_to_ns(LOG_SHIPPER_END_TIMEOUT_MS - OPEN_TIMEOUT_MS);
        if (s->silent || (!s->opened && now_ns() < release_by))
                return;
        const int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDERR_FILENO);
        close(null);
        s->silent = true;
}

static bool shipper_is_done(struct log_shipper *s)
{
        for (size_t i = 0; i < LOG_OUTPUTS; i++)
                if (s->outputs[i].in >= 0)
                        return false;
        if (!s->end_by) {
                s->end_by = now_ns() + ms_to_ns(LOG_SHIPPER_END_TIMEOUT_MS);
                if (!s->configured) /* the parent has died early */
                        shipper_configure(s);
                for (size_t i = 0; i < LOG_OUTPUTS; i++)
                        output_take_lines(s, &s->outputs[i], true);
                return false;
        }
        shipper_release_stderr(s);
        return (s->has_ended && !s->has_job) || now_ns() > s->end_by;
}

/* ------------------------------------------------------------------------------------------------------ start, end */

static void shipper_poll(struct log_shipper *s)
{
        struct pollfd fds[LOG_OUTPUTS + 3];
        for (size_t i = 0; i < LOG_OUTPUTS; i++)
                fds[i] = (struct pollfd){.fd = s->outputs[i].in, .events = POLLIN};
        fds[LOG_OUTPUTS] = (struct pollfd){.fd = s->settings_fd, .events = POLLIN};
        fds[LOG_OUTPUTS + 1] = (struct pollfd){.fd = s->wake, .events = POLLIN};
        fds[LOG_OUTPUTS + 2] = (struct pollfd){.fd = s->passed_on, .events = POLLIN};
        bool waits = s->end_by != 0;
        for (size_t i = 0; i < LOG_OUTPUTS; i++)
                waits = waits || log_pieces_waiting(&s->outputs[i].pieces) || s->outputs[i].pieces.removed.len;
        if (poll(fds, ARRAY_SIZE(fds), waits ? POLL_MS : -1) <= 0)
                return;
        uint64_t count;
        if (fds[LOG_OUTPUTS + 1].revents && read(s->wake, &count, sizeof(count)) < 0)
                return;
        if (fds[LOG_OUTPUTS].revents)
                shipper_read_settings(s);
        for (size_t i = 0; i < LOG_OUTPUTS; i++)
                if (fds[i].revents)
                        shipper_read_output(s, &s->outputs[i]);
        if (fds[LOG_OUTPUTS + 2].revents)
                shipper_pass_on(s);
}

static void shipper_read_limits(const struct fst_conf *conf, struct log_limits *limits)
{
        int64_t interval_ms = 0, max_interval_ms = 0;
        conf_get_ms(conf, "spark.firesteel.logs.interval", &interval_ms, NULL);
        conf_get_ms(conf, "spark.firesteel.logs.maxInterval", &max_interval_ms, NULL);
        conf_get_bytes(conf, "spark.firesteel.logs.pieceSize", &limits->piece_size, NULL);
        conf_get_bytes(conf, "spark.firesteel.logs.maxSize", &limits->max_size, NULL);
        conf_get_bytes(conf, "spark.firesteel.logs.maxRate", &limits->max_rate, NULL);
        limits->interval = ms_to_ns(MAX(interval_ms, (int64_t)POLL_MS));
        limits->max_interval = ms_to_ns(MAX(max_interval_ms, (int64_t)POLL_MS));
        limits->piece_size = MIN(limits->piece_size, MAX_WAITING / 2);
        limits->piece_size = MAX(limits->piece_size, (int64_t)4096);
        limits->max_waiting = MAX_WAITING;
}

void log_shipper_run(const struct log_shipper_options *options)
{
        struct log_shipper *s = new0(struct log_shipper);
        struct log_limits limits = {0};
        s->o = options;
        s->settings_fd = options->settings;
        s->passed_on = options->passed_on;
        conf_init(&s->conf);
        strmap_merge(&s->conf.set, &options->conf->set);
        shipper_read_limits(&s->conf, &limits);
        for (size_t i = 0; i < LOG_OUTPUTS; i++) {
                s->outputs[i].in = options->outputs[i];
                s->outputs[i].out = options->previous[i];
                log_pieces_init(&s->outputs[i].pieces, &limits);
        }
        s->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
        pthread_mutex_init(&s->lock, NULL);
        pthread_cond_init(&s->changed, NULL);
        if (pthread_create(&s->thread, NULL, shipper_store, s) != 0)
                log_warn(COMPONENT, "output is not stored: a thread cannot be started");
        while (!shipper_is_done(s)) {
                shipper_finish_job(s);
                shipper_begin_job(s);
                shipper_poll(s);
        }
        /* The process ends now: the storing thread may hang in its storage, and keeps what it uses. */
}
