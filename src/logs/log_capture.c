/* See log_capture.h. */
#include "logs/log_capture.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "logs/log_shipper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define STOP_TIMEOUT_MS 5000
#define CLOSED                                                                                                         \
        {                                                                                                              \
                -1, -1                                                                                                 \
        }

static struct {
        bool started;
        pid_t owner;               /* forked processes leave it alone */
        int previous[LOG_OUTPUTS]; /* the descriptors 1 and 2 before; -1: not captured */
        int settings;              /* -1 after the first configure */
        int passed_on;
        volatile sig_atomic_t lost[LOG_OUTPUTS]; /* the shipper is gone, and the descriptor is the previous one */
} capture = {.settings = -1, .passed_on = -1};

/* Ends of the pipes: [0] is the shipper's for outputs and settings, and ours for `passed_on`. */
struct capture_pipes {
        int outputs[LOG_OUTPUTS][2], settings[2], passed_on[2];
};

static void pipe_close(int ends[2])
{
        for (int i = 0; i < 2; i++)
                if (ends[i] >= 0)
                        close(ends[i]);
        ends[0] = ends[1] = -1;
}

static void capture_pipes_close(struct capture_pipes *p)
{
        for (size_t i = 0; i < LOG_OUTPUTS; i++)
                pipe_close(p->outputs[i]);
        pipe_close(p->settings);
        pipe_close(p->passed_on);
}

static int capture_pipes_open(struct capture_pipes *p, struct fst_error *error)
{
        int r = pipe2(p->settings, O_CLOEXEC) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p->passed_on)
                        ? -errno
                        : 0;
        for (size_t i = 0; i < LOG_OUTPUTS && r == 0; i++)
                if (!isatty((int)i + STDOUT_FILENO) && fcntl((int)i + STDOUT_FILENO, F_GETFD) >= 0)
                        r = pipe2(p->outputs[i], O_CLOEXEC) ? -errno : 0;
        return r < 0 ? error_set(error, r, "spark.firesteel.logs.dir: cannot make pipes for the output: %s",
                                 strerror(-r))
                     : 0;
}

/* Closes all descriptors from 3 on but the @n ones in @kept. */
static void capture_close_others(const int *kept, size_t n)
{
        int last = 2;
        for (size_t i = 0; i < n; i++)
                if (kept[i] > last)
                        last = kept[i];
        for (int fd = 3; fd <= last; fd++) {
                bool is_kept = false;
                for (size_t i = 0; i < n; i++)
                        is_kept = is_kept || kept[i] == fd;
                if (!is_kept)
                        close(fd);
        }
        close_range((unsigned)last + 1, ~0u, 0);
}

/* In the child: what belongs to the parent is closed, so that the end of the outputs is seen. Does not return. */
static void capture_run_shipper(const struct fst_conf *conf, const char *application, const char *process, bool cleans,
                                struct capture_pipes *p)
{
        struct log_shipper_options o = {.conf = conf,
                                        .application = application,
                                        .process = process,
                                        .settings = p->settings[0],
                                        .passed_on = p->passed_on[1],
                                        .cleans = cleans};
        static const int ignored[] = {SIGTERM, SIGINT, SIGHUP, SIGPIPE};
        for (size_t i = 0; i < ARRAY_SIZE(ignored); i++)
                signal(ignored[i], SIG_IGN);
        setsid();
        prctl(PR_SET_NAME, LOG_SHIPPER_NAME, 0, 0, 0);
        for (size_t i = 0; i < LOG_OUTPUTS; i++) {
                o.outputs[i] = p->outputs[i][0];
                o.previous[i] = o.outputs[i] >= 0 ? fcntl((int)i + STDOUT_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
        }
        const int kept[] = {o.outputs[0], o.outputs[1], o.previous[0], o.previous[1], o.settings, o.passed_on};
        capture_close_others(kept, ARRAY_SIZE(kept));
        /* Its own warnings go where the parent's errors went before. */
        const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        dup2(null, STDIN_FILENO);
        dup2(null, STDOUT_FILENO);
        log_shipper_run(&o);
        _exit(0);
}

/*
 * Gives descriptors 1 and 2 back whose pipe has no reader any more. Async-signal-safe. Returns true if there were any.
 * Forked processes do it for themselves.
 */
static bool capture_restore_lost(void)
{
        static const char notice[] = "Warning: the process that stores this output in spark.firesteel.logs.dir is gone. "
                                     "Further output is not stored\n";
        bool restored = false;
        for (size_t i = 0; capture.started && i < LOG_OUTPUTS; i++) {
                struct pollfd output = {.fd = (int)i + STDOUT_FILENO};
                if (capture.previous[i] < 0 || capture.lost[i] || poll(&output, 1, 0) != 1 ||
                    !(output.revents & POLLERR))
                        continue;
                capture.lost[i] = 1;
                dup2(capture.previous[i], output.fd);
                restored = true;
        }
        if (restored && capture.previous[1] >= 0 && write(capture.previous[1], notice, sizeof(notice) - 1) < 0)
                return true; /* nobody reads it */
        return restored;
}

static void on_broken_pipe(int number)
{
        const int error = errno;
        (void)number;
        capture_restore_lost();
        errno = error;
}

/* A program that handles or ignores SIGPIPE itself goes on doing so. Programs that it executes get the default. */
static void capture_handle_broken_pipe(void)
{
        struct sigaction action = {.sa_handler = on_broken_pipe, .sa_flags = SA_RESTART}, before;
        sigemptyset(&action.sa_mask);
        if (sigaction(SIGPIPE, NULL, &before) == 0 && !(before.sa_flags & SA_SIGINFO) && before.sa_handler == SIG_DFL)
                sigaction(SIGPIPE, &action, NULL);
}

bool log_capture_recover(void)
{
        return capture_restore_lost();
}

void log_capture_buffer_lines(void)
{
        setvbuf(stdout, NULL, _IOLBF, 0);
}

int log_capture_start(const struct fst_conf *conf, const char *application, const char *process, bool cleans,
                      struct fst_error *error)
{
        struct capture_pipes p = {{CLOSED, CLOSED}, CLOSED, CLOSED};
        const char *dir = conf_get_value(conf, "spark.firesteel.logs.dir");
        if (capture.started || !dir || !*dir)
                return 0;
        fflush(NULL); /* else the child would write it once more */
        int r = capture_pipes_open(&p, error);
        if (r == 0 && p.outputs[0][0] < 0 && p.outputs[1][0] < 0) { /* both are terminals */
                capture_pipes_close(&p);
                return 0;
        }
        const pid_t child = r < 0 ? -1 : fork();
        if (child == 0)
                capture_run_shipper(conf, application, process, cleans, &p);
        if (r == 0 && child < 0)
                r = error_errno(error, "spark.firesteel.logs.dir: cannot start a process for the output");
        if (r < 0) {
                capture_pipes_close(&p);
                return r;
        }
        if (p.outputs[0][1] >= 0)
                log_capture_buffer_lines();
        capture.started = true;
        capture.owner = getpid();
        for (size_t i = 0; i < LOG_OUTPUTS; i++) {
                const int fd = (int)i + STDOUT_FILENO;
                capture.previous[i] = -1;
                if (p.outputs[i][1] < 0)
                        continue;
                capture.previous[i] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
                dup2(p.outputs[i][1], fd);
                pipe_close(p.outputs[i]);
        }
        capture_handle_broken_pipe();
        close(p.settings[0]);
        close(p.passed_on[1]);
        capture.settings = p.settings[1];
        capture.passed_on = p.passed_on[0];
        return 1;
}

void log_capture_start_driver(const struct fst_conf *conf)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const int r = log_capture_start(conf, NULL, "driver", true, &error);
        if (r > 0)
                atexit(log_capture_stop);
        else if (r < 0)
                log_warn("SparkContext", "%s", error_message(&error));
}

static bool capture_is_setting(const char *key)
{
        return text_starts_with(key, "spark.hadoop.") || text_starts_with(key, "spark.redaction.") ||
               text_starts_with(key, "spark.firesteel.logs.") || strcmp(key, "spark.app.id") == 0 ||
               strcmp(key, "spark.app.attempt.id") == 0;
}

void log_capture_configure(const struct fst_conf *conf)
{
        _cleanup_(buf_deinit_secret) struct buf settings = BUF_INIT;
        if (capture.settings < 0 || capture.owner != getpid())
                return;
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));) {
                if (!capture_is_setting(e->key))
                        continue;
                buf_append(&settings, e->key, strlen(e->key) + 1);
                buf_append(&settings, e->value, strlen(e->value) + 1);
        }
        write_all(capture.settings, settings.data, settings.len);
        close(capture.settings);
        capture.settings = -1;
}

void log_capture_stop(void)
{
        if (!capture.started || capture.owner != getpid())
                return;
        fflush(stdout);
        fflush(stderr);
        if (capture.settings >= 0)
                close(capture.settings);
        for (size_t i = 0; i < LOG_OUTPUTS; i++) {
                if (capture.previous[i] < 0)
                        continue;
                dup2(capture.previous[i], (int)i + STDOUT_FILENO);
                close(capture.previous[i]);
        }
        shutdown(capture.passed_on, SHUT_WR);
        struct pollfd passed_on = {.fd = capture.passed_on, .events = POLLIN};
        while (poll(&passed_on, 1, STOP_TIMEOUT_MS) < 0 && errno == EINTR)
                ;
        close(capture.passed_on);
        capture.settings = capture.passed_on = -1;
        capture.started = false;
}

int log_capture_previous(int fd)
{
        const int previous = capture.started ? capture.previous[fd - STDOUT_FILENO] : -1;
        return previous < 0 ? 0 : previous;
}
