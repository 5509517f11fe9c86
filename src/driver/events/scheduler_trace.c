/* See scheduler_trace.h. The pure scheduler does no I/O, so the file of sched/sched_recorder.h is opened here. */
#include "driver/events/scheduler_trace.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "sched/sched_recorder.h"

#include <fcntl.h>
#include <unistd.h>

struct trace_file {
        char *path;
        int fd; /* -1 after a failed write */
};

static void scheduler_trace_write_lines(void *owner, const char *lines, size_t len)
{
        struct trace_file *file = owner;

        while (len > 0 && file->fd >= 0) {
                ssize_t n = write(file->fd, lines, len);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0) {
                        log_warn("SparkContext",
                                 "spark.firesteel.scheduler.trace: cannot write %s: %s. The trace ends here",
                                 file->path, strerror(errno));
                        close(file->fd);
                        file->fd = -1;
                        return;
                }
                lines += n;
                len -= (size_t)n;
        }
}

static void scheduler_trace_close_file(void *owner)
{
        struct trace_file *file = owner;

        if (file->fd >= 0)
                close(file->fd);
        free(file->path);
        free(file);
}

int scheduler_trace_start(struct sched *s, const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *path = NULL;
        int e = conf_get_string(conf, "spark.firesteel.scheduler.trace", &path, error);

        if (e || !path || !*path)
                return e;
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        if (fd < 0)
                return error_errno(error, "spark.firesteel.scheduler.trace: cannot open %s", path);
        struct trace_file *file = new0(struct trace_file);

        file->path = steal(path);
        file->fd = fd;
        sched_record(s, (struct sched_trace_sink){.write = scheduler_trace_write_lines,
                                                  .close = scheduler_trace_close_file,
                                                  .owner = file});
        return 0;
}
