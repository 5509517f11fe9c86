/* See daemon.h. */
#include "cmd/daemon.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const int daemon_signals[] = {SIGTERM, SIGHUP, SIGINT};

struct daemon {
        const struct daemon_class *class;
        void *owner;
        uv_loop_t loop;
        uv_signal_t signals[ARRAY_SIZE(daemon_signals)];
        bool started, ending; /* ending: it closes, or will once it has started */
        int status;
};

static void daemon_end(struct daemon *d, int status)
{
        if (d->ending)
                return;
        d->ending = true;
        d->status = status;
        for (size_t i = 0; i < ARRAY_SIZE(d->signals); i++)
                uv_close((uv_handle_t *)&d->signals[i], NULL);
        if (d->started)
                d->class->close(d->owner);
}

static void daemon_on_signal(uv_signal_t *handle, int number)
{
        struct daemon *d = handle->data;
        log_error(d->class->log_name, "RECEIVED SIGNAL %s", sigabbrev_np(number));
        daemon_end(d, 128 + number);
}

static void daemon_on_ended(void *daemon, int status)
{
        daemon_end(daemon, status);
}

/* Returns when the server has closed. */
static int daemon_serve(struct daemon *d, struct fst_error *error)
{
        char host[256] = "";
        gethostname(host, sizeof(host) - 1);
        log_info(d->class->log_name, "Started daemon with process name: %ld@%s", (long)getpid(), host);
        signal(SIGPIPE, SIG_IGN);
        uv_loop_init(&d->loop);
        for (size_t i = 0; i < ARRAY_SIZE(daemon_signals); i++) {
                uv_signal_init(&d->loop, &d->signals[i]);
                d->signals[i].data = d;
                uv_signal_start(&d->signals[i], daemon_on_signal, daemon_signals[i]);
        }
        const int r = d->class->start(d->owner, &d->loop, daemon_on_ended, d, error);
        d->started = r == 0;
        if (r < 0)
                daemon_end(d, 1);
        else if (d->ending) /* it has ended while it started */
                d->class->close(d->owner);
        uv_run(&d->loop, UV_RUN_DEFAULT);
        uv_loop_close(&d->loop);
        return r;
}

int daemon_run(const struct daemon_class *class, void *owner, int argc, char **argv)
{
        struct daemon d = {.class = class, .owner = owner, .status = 1};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        int r = class->read(owner, argc, argv, &error);
        if (r == DAEMON_WORDS_E_USAGE)
                fprintf(stderr, "Error: %s\n\n", error_message(&error));
        if (r == DAEMON_WORDS_E_HELP || r == DAEMON_WORDS_E_USAGE)
                fputs(class->help, stderr);
        if (r == DAEMON_WORDS_E_HELP)
                d.status = 0;
        if (r == 0)
                r = daemon_serve(&d, &error);
        if (r < 0)
                log_error(class->log_name, "%s", error_message(&error));
        class->deinit(owner);
        return d.status;
}
