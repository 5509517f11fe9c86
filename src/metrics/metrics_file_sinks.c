/*
 * The sinks ConsoleSink and CsvSink, with the texts of Dropwizard's reporters.
 *
 * A report to the console is one write to standard output, under the lock of the stream, so that lines of the
 * application stay whole. As the application's own output, it waits for a pipe that is full.
 */
#include "metrics/metrics_sink_internal.h"

#include "base/clock.h"
#include "base/error.h"
#include "metrics/metrics_lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static int console_open(struct metrics_sink *sink, struct fst_error *error)
{
        return 0;
}

static int console_report(struct metrics_sink *sink, const struct metrics_snapshot *m, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        char when[64];
        struct tm local;
        time_t now = (time_t)(time_of_day_ms() / 1000);
        localtime_r(&now, &local);
        strftime(when, sizeof(when), "%-m/%-d/%y, %-I:%M:%S %p", &local); /* Java's short date in English */
        metrics_put_console(m, when, &text);
        flockfile(stdout);
        bool failed = fwrite(text.data, 1, text.len, stdout) != text.len || fflush(stdout) != 0;
        int code = errno;
        funlockfile(stdout);
        if (!failed)
                return 0;
        errno = code;
        return error_errno(error, "standard output");
}

const struct metrics_sink_class metrics_console_sink = {
        .name = SPARK_SINKS "ConsoleSink", .options = "", .open = console_open, .report = console_report};

static int csv_open(struct metrics_sink *sink, struct fst_error *error)
{
        if (!*metrics_sink_option(sink, "directory", "/tmp/"))
                return error_set(error, -EINVAL, "directory is empty. Set it to an existing directory");
        return 0;
}

/* Appends to the file of one metric. Begins it with the names of the columns. A link is not followed. */
static int csv_append(const char *directory, const struct metric_sample *s, int64_t seconds, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf path = BUF_INIT, text = BUF_INIT;
        struct stat known;
        buf_printf(&path, "%s/", directory);
        for (const char *p = *s->name == '/' ? s->name + 1 : s->name; *p; p++)
                buf_putc(&path, *p == '/' ? '.' : *p);
        buf_puts(&path, ".csv");
        int fd = open(buf_text(&path), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (fd < 0)
                return error_errno(error, "cannot write %s", buf_text(&path));
        if (fstat(fd, &known) == 0 && known.st_size == 0)
                metrics_put_csv_header(s->kind, &text);
        metrics_put_csv(s, seconds, &text);
        ssize_t n = write(fd, text.data, text.len);
        int r = 0;
        if (n != (ssize_t)text.len) {
                errno = n < 0 ? errno : ENOSPC;
                r = error_errno(error, "cannot write %s", buf_text(&path));
        }
        close(fd);
        return r;
}

static int csv_report(struct metrics_sink *sink, const struct metrics_snapshot *m, struct fst_error *error)
{
        const char *directory = metrics_sink_option(sink, "directory", "/tmp/");
        int64_t seconds = time_of_day_ms() / 1000;
        int failed = 0;
        if (access(directory, F_OK) != 0)
                return error_errno(error, "directory \"%s\": create it, or set another one", directory);
        for (size_t i = 0; i < m->samples.len; i++) {
                int r = csv_append(directory, &m->samples.data[i], seconds, failed ? NULL : error);
                if (r)
                        failed = r;
        }
        return failed;
}

const struct metrics_sink_class metrics_csv_sink = {
        .name = SPARK_SINKS "CsvSink", .options = "directory ", .open = csv_open, .report = csv_report};
