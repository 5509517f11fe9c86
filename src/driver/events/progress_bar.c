/*
 * The console progress bar; see progress_bar.h.
 *
 * A thread reads the application's status every 200 ms and draws when it changed. As in Spark, a stage appears after
 * half a second, and nothing appears for half a second after a job has ended, so that short jobs in a row do not
 * flicker. The lock is held while drawing, so that nothing is drawn after progress_bar_finish_all returned.
 */
#include "driver/events/progress_bar.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#define STAGES_SHOWN 3

struct progress_bar {
        struct app_status *status;
        struct progress_bar_options options;
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t wake;
        struct buf shown;
        int64_t last_finish_ms;
        bool stopping;
};

bool progress_bar_possible(void)
{
        return isatty(STDERR_FILENO);
}

static int progress_bar_terminal_width(void)
{
        struct winsize size;
        if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
                return size.ws_col;
        const char *columns = getenv("COLUMNS");
        int width = columns ? atoi(columns) : 0;
        return width > 0 ? width : 80;
}

void progress_bar_render(struct buf *line, const struct stage_status *stages, size_t n, int width)
{
        for (size_t i = 0; i < n; i++) {
                const struct stage_status *s = &stages[i];
                char head[32], tail[80];
                int taken = snprintf(head, sizeof(head), "[Stage %d:", s->id);
                taken += snprintf(tail, sizeof(tail), "(%lld + %lld) / %d]", (long long)s->completed,
                                  (long long)s->active, s->tasks);
                int room = width / (int)n - taken;
                int64_t done = room > 0 && s->tasks > 0 ? room * s->completed / s->tasks : 0;
                buf_puts(line, head);
                for (int column = 0; column < room; column++)
                        buf_putc(line, column < done ? '=' : column == done ? '>' : ' ');
                buf_puts(line, tail);
        }
}

static void progress_bar_show(struct progress_bar *bar, const char *text)
{
        if (strcmp(buf_text(&bar->shown), text) == 0)
                return;
        bar->options.show(text);
        buf_reset(&bar->shown);
        buf_puts(&bar->shown, text);
}

static void progress_bar_refresh(struct progress_bar *bar)
{
        int64_t now = time_of_day_ms();
        if (now - bar->last_finish_ms < bar->options.first_delay_ms)
                return;
        struct stage_status stages[STAGES_SHOWN];
        size_t n = app_status_active_stages(bar->status, stages, STAGES_SHOWN);
        while (n > 0 && now - stages[n - 1].submission_ms <= bar->options.first_delay_ms)
                n--; /* sorted by submission */
        _cleanup_(buf_deinit) struct buf line = BUF_INIT;
        int width = bar->options.width ? bar->options.width : progress_bar_terminal_width() - 1;
        progress_bar_render(&line, stages, n, width);
        progress_bar_show(bar, buf_text(&line));
}

static void *progress_bar_run(void *arg)
{
        struct progress_bar *bar = arg;
        pthread_mutex_lock(&bar->lock);
        while (!bar->stopping) {
                const struct timespec until = timespec_of_ns(now_ns() + ms_to_ns(bar->options.interval_ms));
                pthread_cond_timedwait(&bar->wake, &bar->lock, &until);
                if (!bar->stopping)
                        progress_bar_refresh(bar);
        }
        progress_bar_show(bar, "");
        pthread_mutex_unlock(&bar->lock);
        return NULL;
}

struct progress_bar *progress_bar_start(struct app_status *status, struct progress_bar_options options)
{
        struct progress_bar *bar = new0(struct progress_bar);
        bar->status = status;
        bar->options = options;
        if (!options.interval_ms)
                bar->options.interval_ms = 200;
        if (!options.first_delay_ms)
                bar->options.first_delay_ms = 500;
        if (!options.show)
                bar->options.show = log_set_status_line;
        pthread_mutex_init(&bar->lock, NULL);
        cond_init_monotonic(&bar->wake);
        if (pthread_create(&bar->thread, NULL, progress_bar_run, bar) != 0) {
                /* The application runs without a bar. */
                log_warn("ConsoleProgressBar", "cannot start the thread of the progress bar, so none is shown");
                bar->stopping = true;
        } else {
                pthread_setname_np(bar->thread, "progress-bar");
        }
        return bar;
}

void progress_bar_finish_all(struct progress_bar *bar)
{
        if (!bar)
                return;
        pthread_mutex_lock(&bar->lock);
        progress_bar_show(bar, "");
        bar->last_finish_ms = time_of_day_ms();
        pthread_mutex_unlock(&bar->lock);
}

void progress_bar_stop(struct progress_bar *bar)
{
        if (!bar)
                return;
        pthread_mutex_lock(&bar->lock);
        bool join = !bar->stopping;
        bar->stopping = true;
        pthread_cond_signal(&bar->wake);
        pthread_mutex_unlock(&bar->lock);
        if (join)
                pthread_join(bar->thread, NULL);
        buf_deinit(&bar->shown);
        pthread_cond_destroy(&bar->wake);
        pthread_mutex_destroy(&bar->lock);
        free(bar);
}
