/*
 * The console progress bar:
 *
 *      [Stage 0:=============>                    (3 + 2) / 16]
 *
 * completed and active tasks of a stage's total. It shows up to three stages side by side, once they have run for 500
 * ms, every 200 ms, in the terminal's width. It is the log's status line, so that log lines do not tear it. The end of
 * a job erases it.
 */
#pragma once

#include "driver/events/app_status.h"

#include "base/buf.h"

struct progress_bar;

struct progress_bar_options {
        int64_t interval_ms;            /* spark.ui.consoleProgress.update.interval; 0: 200 */
        int64_t first_delay_ms;         /* 0: 500 */
        void (*show)(const char *text); /* NULL: log_set_status_line */
        int width;                      /* columns; 0: the terminal's */
};

/* Whether standard error is a terminal. */
bool progress_bar_possible(void);

/* Start to show @status, which must outlive the bar, on a thread of its own. */
struct progress_bar *progress_bar_start(struct app_status *status, struct progress_bar_options options);

/*
 * Erase the bar because a job has ended, and show none for 500 ms. When it returns, the terminal is
 * clear for the job's output. Any thread. NULL is allowed.
 */
void progress_bar_finish_all(struct progress_bar *bar);

/* Erase the bar and end the thread. NULL is allowed. */
void progress_bar_stop(struct progress_bar *bar);

/* Append the text for @n stages in @width columns to @line. Pure. */
void progress_bar_render(struct buf *line, const struct stage_status *stages, size_t n, int width);
