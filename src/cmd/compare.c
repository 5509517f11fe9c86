/*
 * firesteel compare: two runs of an application, from event logs, drivers or history servers.
 */
#include "cmd/api_run.h"
#include "cmd/api_site.h"
#include "cmd/command.h"
#include "cmd/log_source.h"
#include "cmd/text_table.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "status/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char command_compare_help[] =
        "Usage: firesteel compare RUN RUN\n"
        "\n"
        "Compares two runs of an application: the totals, and the stages, matched by their names. The stages whose\n"
        "duration changed most come first, each with what changed in the second run.\n"
        "A RUN is an event log, as in `firesteel stages`, or a URL: the address of a driver's pages, http://host:4040,\n"
        "or of an application of a history server, http://host:18080/history/ID or http://host:18080/history/ID/ATTEMPT.\n"
        "Servers of Spark do not say what limited a stage.\n"
        "\n"
        "  --help  print this\n";

static void text_table_add_total(struct text_table *t, enum run_total total, int64_t value)
{
        struct buf text = BUF_INIT;
        run_total_put(&text, total, value);
        text_table_add(t, buf_steal(&text));
}

static void text_table_add_total_change(struct text_table *t, enum run_total total, int64_t a, int64_t b)
{
        struct buf text = BUF_INIT;
        run_total_put_change(&text, total, a, b);
        text_table_add(t, buf_steal(&text));
}

static void compare_print_totals(const struct run_summary *a, const struct run_summary *b)
{
        struct text_table t = {.n_columns = 4};
        text_table_add_text(&t, "");
        text_table_add_text(&t, a->id);
        text_table_add_text(&t, b->id);
        text_table_add_text(&t, "CHANGE");
        for (int i = 0; i < RUN_TOTALS; i++) {
                if (!a->totals[i] && !b->totals[i])
                        continue;
                text_table_add_text(&t, run_total_name((enum run_total)i));
                text_table_add_total(&t, (enum run_total)i, a->totals[i]);
                text_table_add_total(&t, (enum run_total)i, b->totals[i]);
                text_table_add_total_change(&t, (enum run_total)i, a->totals[i], b->totals[i]);
        }
        text_table_print(&t);
        text_table_deinit(&t);
}

static void text_table_add_stage_id(struct text_table *t, const struct run_stage *stage)
{
        if (!stage)
                text_table_add_text(t, NULL);
        else
                text_table_add(t, stage->attempt ? mem_printf("%d.%d", stage->id, stage->attempt)
                                                 : mem_printf("%d", stage->id));
}

static void compare_print_stages(const struct run_summary *a, const struct run_summary *b)
{
        static const char *const names[] = {"STAGE", "STAGE", "DURATION", "DURATION", "CHANGE", "NAME", "WHY"};
        struct text_table t = {0};
        run_pairs pairs = {0};
        text_table_add_heading(&t, names, ARRAY_SIZE(names));
        run_compare(a, b, &pairs);
        for (size_t i = 0; i < pairs.len; i++) {
                const struct run_pair *p = &pairs.data[i];
                struct buf change = BUF_INIT, reason = BUF_INIT;
                run_pair_put_change(p, &change);
                run_pair_put_reason(p, &reason);
                text_table_add_stage_id(&t, p->a);
                text_table_add_stage_id(&t, p->b);
                text_table_add_duration(&t, p->a ? p->a->wall_ms : -1);
                text_table_add_duration(&t, p->b ? p->b->wall_ms : -1);
                text_table_add(&t, buf_steal(&change));
                text_table_add_text(&t, p->a ? p->a->name : p->b->name);
                text_table_add_text(&t, buf_text(&reason));
                buf_deinit(&reason);
        }
        text_table_print(&t);
        vec_deinit(&pairs);
        text_table_deinit(&t);
}

/* Summarizes the run of a log or a URL. Returns 0, or negative after it reported the error. */
static int compare_read(const char *source, struct run_summary *run)
{
        struct log_source log;
        struct fst_error error = FST_ERROR_INIT;
        int r;
        if (api_site_is_url(source)) {
                r = api_run_summary(source, run, &error);
                if (r < 0)
                        fprintf(stderr, "Error: %s\n", error_message(&error));
                error_deinit(&error);
                return r;
        }
        r = log_source_init(&log, source, NULL);
        if (r < 0)
                return r;
        run_summary_init(run, log.status, log.status->last_event_ms, SIZE_MAX);
        log_source_warn(&log);
        log_source_deinit(&log);
        return 0;
}

int command_compare(int argc, char **argv)
{
        struct run_summary runs[2];
        if (argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
                return fputs(command_compare_help, stdout) < 0 || fflush(stdout) != 0;
        if (argc != 3 || argv[1][0] == '-' || argv[2][0] == '-') {
                fprintf(stderr, "Error: name two event logs or URLs\n\n%s", command_compare_help);
                return 2;
        }
        if (compare_read(argv[1], &runs[0]) < 0)
                return 1;
        if (compare_read(argv[2], &runs[1]) < 0) {
                run_summary_deinit(&runs[0]);
                return 1;
        }
        compare_print_totals(&runs[0], &runs[1]);
        putchar('\n');
        compare_print_stages(&runs[0], &runs[1]);
        for (int i = 0; i < 2; i++)
                run_summary_deinit(&runs[i]);
        return fflush(stdout) != 0;
}
