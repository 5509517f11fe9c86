/*
 * Rolls log files. The loop reads the pipe, a piece at a time, and writes the file. Compressing and removing old files
 * takes long and runs on the loop's pool, one file after another. A file that cannot be written (a full disk)
 * is logged once, and output is lost meanwhile, because the child must not block.
 */
#include "standalone/worker/log_roller.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/string_list.h"
#include "base/fs.h"
#include "conf/conf.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <zlib.h>

#define PREFIX "spark.executor.logs.rolling."
#define PIECE 65536
/* Spark's minima: ten of its buffers, a minute. */
#define LEAST_SIZE 81920
#define LEAST_INTERVAL_S 60

struct log_roller {
        uv_loop_t *loop;
        struct log_rolling rolling;
        char *path;
        int file, pipe; /* -1: closed */
        uv_poll_t poll;
        bool poll_open, failed, ended;
        int64_t written, next;     /* written: bytes since the last roll. next: time of the next one, ms since 1970 */
        struct string_list rolled; /* rolled files to compress and count. The first one is in use while `busy` */
        uv_work_t work;
        bool busy;
};

/* ----------------------------------------------------------------------------------------------------- settings */

static int log_roller_read_time(const struct fst_conf *conf, struct log_rolling *r, struct fst_error *error)
{
        static const struct {
                const char *name, *suffix;
                int seconds;
        } names[] = {{"daily", "--%Y-%m-%d", 86400},
                     {"hourly", "--%Y-%m-%d--%H", 3600},
                     {"minutely", "--%Y-%m-%d--%H-%M", 60}};
        _cleanup_free_ char *interval = NULL;
        char *end;
        int e = conf_get_string(conf, PREFIX "time.interval", &interval, error);
        if (e)
                return e;
        for (size_t i = 0; i < ARRAY_SIZE(names); i++)
                if (strcmp(interval, names[i].name) == 0) {
                        r->strategy = ROLL_BY_TIME;
                        r->interval = (int64_t)names[i].seconds * 1000;
                        r->suffix = names[i].suffix;
                        return 0;
                }
        long seconds = strtol(interval, &end, 10);
        if (end == interval || *end || seconds < 0 || seconds > INT32_MAX) {
                log_warn("FileAppender", "Illegal interval for rolling executor logs [%s], rolling logs not enabled",
                         interval);
                return 0;
        }
        if (seconds < LEAST_INTERVAL_S) {
                log_warn("TimeBasedRollingPolicy",
                         "Rolling interval [%ld seconds] is too small. Setting the interval to the acceptable minimum "
                         "of %d seconds.",
                         seconds, LEAST_INTERVAL_S);
                seconds = LEAST_INTERVAL_S;
        }
        r->strategy = ROLL_BY_TIME;
        r->interval = (int64_t)seconds * 1000;
        r->suffix = "--%Y-%m-%d--%H-%M-%S";
        return 0;
}

static int log_roller_read_size(const struct fst_conf *conf, struct log_rolling *r, struct fst_error *error)
{
        _cleanup_free_ char *size = NULL;
        char *end;
        int e = conf_get_string(conf, PREFIX "maxSize", &size, error);
        if (e)
                return e;
        long bytes = strtol(size, &end, 10);
        if (end == size || *end || bytes < 0 || bytes > INT32_MAX) {
                log_warn("FileAppender", "Illegal size [%s] for rolling executor logs, rolling logs not enabled", size);
                return 0;
        }
        if (bytes < LEAST_SIZE) {
                log_warn("SizeBasedRollingPolicy",
                         "Rolling size [%ld bytes] is too small. Setting the size to the acceptable minimum of %d "
                         "bytes.",
                         bytes, LEAST_SIZE);
                bytes = LEAST_SIZE;
        }
        r->strategy = ROLL_BY_SIZE;
        r->size = bytes;
        return 0;
}

int log_rolling_read(const struct fst_conf *conf, struct log_rolling *out, struct fst_error *error)
{
        struct log_rolling r = {.strategy = ROLL_NEVER};
        _cleanup_free_ char *strategy = NULL;
        int64_t retained = 0;
        int e;
        if ((e = conf_get_string(conf, PREFIX "strategy", &strategy, error)) ||
            (e = conf_get_int(conf, PREFIX "maxRetainedFiles", &retained, error)) ||
            (e = conf_get_bool(conf, PREFIX "enableCompression", &r.compress, error)))
                return e;
        r.retained = (int)retained;
        if (strcmp(strategy, "time") == 0)
                e = log_roller_read_time(conf, &r, error);
        else if (strcmp(strategy, "size") == 0)
                e = log_roller_read_size(conf, &r, error);
        else if (*strategy)
                log_warn("FileAppender", "Illegal strategy [%s] for rolling executor logs, rolling logs not enabled",
                         strategy);
        if (e == 0)
                *out = r;
        return e;
}

/* --------------------------------------------------------------------------------------------------- rolled files */

static int compress_file(const char *path)
{
        char piece[PIECE];
        _cleanup_free_ char *packed = mem_printf("%s.gz", path);
        int in = open(path, O_RDONLY | O_CLOEXEC), r = in < 0 ? -errno : 0;
        gzFile out = r ? NULL : gzopen(packed, "wbe");
        if (r == 0 && !out)
                r = -EIO;
        for (ssize_t n; r == 0 && (n = read(in, piece, sizeof(piece))) != 0;)
                if (n < 0 || gzwrite(out, piece, (unsigned)n) != n)
                        r = n < 0 ? -errno : -EIO;
        if (out && gzclose(out) != Z_OK && r == 0)
                r = -EIO;
        if (in >= 0)
                close(in);
        if (out)
                unlink(r ? packed : path); /* remove the incomplete file */
        return r;
}

/* Compares by time, compressed or not: "x--1--0" is after "x--1.gz". */
static int log_roller_by_name(const void *a, const void *b)
{
        const char *one = *(char *const *)a, *other = *(char *const *)b;
        size_t n = strlen(one) - (text_ends_with(one, ".gz") ? 3 : 0);
        size_t m = strlen(other) - (text_ends_with(other, ".gz") ? 3 : 0);
        int r = memcmp(one, other, MIN(n, m));
        return r ? r : (n > m) - (n < m);
}

/* Removes the oldest rolled files. Names sort by time. */
static void remove_oldest(const char *path, int retained)
{
        const char *name = strrchr(path, '/') + 1;
        _cleanup_free_ char *folder = mem_strndup(path, (size_t)(name - path));
        _cleanup_(string_list_deinit) struct string_list found = {0};
        DIR *d = opendir(folder);
        for (struct dirent *e; d && (e = readdir(d));)
                if (text_starts_with(e->d_name, name) && strcmp(e->d_name, name) != 0)
                        string_list_add(&found, e->d_name);
        if (d)
                closedir(d);
        if (found.len > 1)
                qsort(found.data, found.len, sizeof(*found.data), log_roller_by_name);
        for (size_t i = 0; i + (size_t)retained < found.len; i++) {
                _cleanup_free_ char *old = mem_printf("%s%s", folder, found.data[i]);
                log_info("RollingFileAppender", "Deleting file executor log file %s", old);
                unlink(old);
        }
}

/* Compresses and removes files on a thread of the pool. The loop does not use the first of `rolled` meanwhile. */
static void compress_and_remove(uv_work_t *work)
{
        struct log_roller *r = work->data;
        const char *rolled = r->rolled.data[0];
        int e = r->rolling.compress ? compress_file(rolled) : 0;
        if (e && e != -ENOENT) /* it may have been removed as too old */
                log_error("RollingFileAppender", "Error rolling over %s: %s", rolled, strerror(-e));
        if (r->rolling.retained > 0)
                remove_oldest(r->path, r->rolling.retained);
}

static void maybe_free(struct log_roller *r)
{
        if (!r->ended || r->poll_open || r->busy)
                return;
        string_list_deinit(&r->rolled);
        free(r->path);
        free(r);
}

static void on_compressed(uv_work_t *work, int status);

static void start_next_compression(struct log_roller *r)
{
        if (r->busy || r->rolled.len == 0)
                return;
        r->busy = true;
        r->work.data = r;
        uv_queue_work(r->loop, &r->work, compress_and_remove, on_compressed);
}

static void on_compressed(uv_work_t *work, int status)
{
        struct log_roller *r = work->data;
        (void)status;
        r->busy = false;
        free(r->rolled.data[0]);
        r->rolled.len--;
        memmove(r->rolled.data, r->rolled.data + 1, r->rolled.len * sizeof(*r->rolled.data));
        start_next_compression(r);
        maybe_free(r);
}

/* ------------------------------------------------------------------------------------------------------ rolling */

static void set_next(struct log_roller *r)
{
        int64_t now = time_of_day_ms(), interval = r->rolling.interval;
        r->written = 0;
        if (r->rolling.strategy == ROLL_BY_TIME)
                r->next = (now + interval - 1) / interval * interval;
}

static bool log_roller_is_there(const char *path)
{
        _cleanup_free_ char *packed = mem_printf("%s.gz", path);
        return access(path, F_OK) == 0 || access(packed, F_OK) == 0;
}

static char *rolled_name(const struct log_roller *r)
{
        char date[64];
        int64_t now = time_of_day_ms();
        time_t seconds = (time_t)(now / 1000);
        struct tm local;
        localtime_r(&seconds, &local);
        bool by_size = r->rolling.strategy == ROLL_BY_SIZE;
        strftime(date, sizeof(date), by_size ? "--%Y-%m-%d--%H-%M-%S" : r->rolling.suffix, &local);
        if (by_size)
                snprintf(date + strlen(date), sizeof(date) - strlen(date), "--%04d", (int)(now % 1000));
        char *name = mem_printf("%s%s", r->path, date);
        for (int i = 0; i < 10000 && log_roller_is_there(name); i++) {
                free(name);
                name = mem_printf("%s%s--%d", r->path, date, i);
        }
        return name;
}

static int log_roller_open_file(struct log_roller *r)
{
        r->file = open(r->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
        return r->file < 0 ? -errno : 0;
}

static void log_roller_roll(struct log_roller *r)
{
        char *name = rolled_name(r);
        close(r->file);
        int e = rename(r->path, name) < 0 ? -errno : 0;
        int o = log_roller_open_file(r);
        if (e || o)
                log_error("RollingFileAppender", "Error rolling over %s: %s", r->path, strerror(e ? -e : -o));
        else
                log_info("RollingFileAppender", "Rolled over %s to %s", r->path, name);
        set_next(r);
        if (e == 0 && (r->rolling.compress || r->rolling.retained > 0)) {
                string_list_take(&r->rolled, name);
                start_next_compression(r);
        } else {
                free(name);
        }
}

static void log_roller_append(struct log_roller *r, const char *data, size_t n)
{
        if (r->rolling.strategy == ROLL_BY_TIME ? time_of_day_ms() > r->next
                                                : r->written + (int64_t)n > r->rolling.size)
                log_roller_roll(r);
        int e = r->file < 0 ? log_roller_open_file(r) : 0;
        if (e == 0)
                e = write_all(r->file, data, n);
        if (e && !r->failed)
                log_error("FileAppender", "Error writing stream to file %s: %s", r->path, strerror(-e));
        r->failed = e != 0;
        r->written += (int64_t)n;
}

/* ------------------------------------------------------------------------------------------------------- the pipe */

static void log_roller_poll_closed(uv_handle_t *handle)
{
        struct log_roller *r = handle->data;
        close(r->pipe);
        r->poll_open = false;
        maybe_free(r);
}

static void close_pipe(struct log_roller *r)
{
        if (r->ended)
                return;
        r->ended = true;
        if (r->file >= 0)
                close(r->file);
        uv_poll_stop(&r->poll);
        uv_close((uv_handle_t *)&r->poll, log_roller_poll_closed);
}

/* Reads a piece of the available bytes. Returns its length, 0 at the end, negative if none are available. */
static ssize_t take_piece(struct log_roller *r)
{
        char piece[PIECE];
        ssize_t n = read(r->pipe, piece, sizeof(piece));
        if (n > 0)
                log_roller_append(r, piece, (size_t)n);
        return n < 0 ? -errno : n;
}

static void log_roller_readable(uv_poll_t *poll, int status, int events)
{
        (void)status;
        (void)events;
        if (take_piece(poll->data) == 0)
                uv_poll_stop(poll); /* no writer is left, and log_roller_finish reads the rest */
}

int log_roller_new(uv_loop_t *loop, const struct log_rolling *rolling, const char *path, struct log_roller **out,
                   int *fd, struct fst_error *error)
{
        int ends[2];
        struct log_roller *r = new0(struct log_roller);
        r->loop = loop;
        r->rolling = *rolling;
        r->path = mem_strdup(path);
        int e = log_roller_open_file(r);
        if (e == 0 && pipe2(ends, O_CLOEXEC) < 0) {
                e = -errno;
                close(r->file);
        }
        if (e) {
                free(r->path);
                free(r);
                return error_set(error, e, "cannot write %s: %s", path, strerror(-e));
        }
        r->pipe = ends[0];
        fcntl(r->pipe, F_SETFL, O_NONBLOCK);
        struct stat st;
        set_next(r);
        r->written = fstat(r->file, &st) == 0 ? st.st_size : 0;
        uv_poll_init(loop, &r->poll, r->pipe);
        r->poll.data = r;
        r->poll_open = true;
        uv_poll_start(&r->poll, UV_READABLE, log_roller_readable);
        *out = r;
        *fd = ends[1];
        return 0;
}

void log_roller_finish(struct log_roller *r)
{
        while (take_piece(r) > 0)
                ;
        close_pipe(r);
}
