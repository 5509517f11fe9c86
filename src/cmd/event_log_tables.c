/*
 * firesteel applications, jobs, stages, executors, compare: tables from event logs of Firesteel or of genuine Spark.
 *
 * events/event_reader.h reads the log and status/status.h makes entities of its events. This file handles arguments,
 * files and columns.
 */
#include "cmd/command.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "events/event_files.h"
#include "io/fs/file_systems.h"
#include "status/comparison.h"
#include "status/diagnosis.h"
#include "status/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TABLE_HELP(name, summary, columns)                                                                               \
        "Usage: firesteel " name " LOG\n"                                                                                \
        "\n" summary " of an event log, which Firesteel or Spark 2.3 to 4.3 wrote.\n"                                    \
        "LOG is a file, plain or compressed (.zstd, .lz4, .snappy), or the directory of a rolling log. It may be on a\n" \
        "file system of a URI. The application may still run. Damaged lines are reported and skipped.\n"                 \
        "\n"                                                                                                             \
        "Columns: " columns ".\n"                                                                                        \
        "\n"                                                                                                             \
        "  --help  print this\n"

const char command_applications_help[] =
        TABLE_HELP("applications", "Prints the application", "id, attempt, name, user, start, duration, state");
const char command_jobs_help[] = TABLE_HELP(
        "jobs", "Prints the jobs", "id, state, start, duration, stages and tasks (done/all), failed tasks, name");
const char command_stages_help[] =
        TABLE_HELP("stages", "Prints the stages",
                   "id, attempt, state, duration, tasks (done/all), failed tasks, median and longest task, input,\n"
                   "output, shuffle read, shuffle write, spill, name, what limited it and for how much of its time");
const char command_executors_help[] =
        TABLE_HELP("executors", "Prints the executors",
                   "id, address, state, cores, tasks (active, failed, completed), task time, input, shuffle read,\n"
                   "shuffle write, reason of the removal");

const char command_compare_help[] =
        "Usage: firesteel compare LOG LOG\n"
        "\n"
        "Compares two runs of an application by their event logs: the totals, and the stages, matched by their names.\n"
        "The stages whose duration changed most come first, each with what changed in the second run.\n"
        "A LOG is as in `firesteel stages`.\n"
        "\n"
        "  --help  print this\n";

/* ------------------------------------------------------------------------------------------------- tables */

/* Cells of a table, row by row. The first row is the heading. */
struct table {
        VEC(char *) cells;
        size_t n_columns;
};

static void table_add(struct table *t, char *cell)
{
        /* A text from the log may hold line ends and controls of a terminal. */
        for (char *c = cell; *c; c++)
                if ((unsigned char)*c < ' ' || *c == 127)
                        *c = ' ';
        vec_push(&t->cells, cell);
}

static void table_print(const struct table *t)
{
        size_t *widths = new_array(size_t, t->n_columns);
        for (size_t i = 0; i < t->cells.len; i++)
                widths[i % t->n_columns] = MAX(widths[i % t->n_columns], strlen(t->cells.data[i]));
        for (size_t i = 0; i < t->cells.len; i++)
                if ((i + 1) % t->n_columns == 0)
                        printf("%s\n", t->cells.data[i]);
                else
                        printf("%-*s  ", (int)widths[i % t->n_columns], t->cells.data[i]);
        free(widths);
}

static void table_deinit(struct table *t)
{
        for (size_t i = 0; i < t->cells.len; i++)
                free(t->cells.data[i]);
        vec_deinit(&t->cells);
}

static void table_add_number(struct table *t, int64_t number)
{
        table_add(t, mem_printf("%" PRId64, number));
}

static void table_add_text(struct table *t, const char *text)
{
        table_add(t, mem_strdup(text && *text ? text : "-"));
}

static void table_add_time(struct table *t, int64_t ms)
{
        char text[32];
        time_t seconds = (time_t)(ms / 1000);
        struct tm parts;
        if (ms <= 0 || !gmtime_r(&seconds, &parts) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &parts))
                table_add_text(t, "-");
        else
                table_add_text(t, text);
}

/* @ms negative: unknown. */
static void table_add_duration(struct table *t, int64_t ms)
{
        struct buf text = BUF_INIT;
        if (ms < 0)
                buf_puts(&text, "-");
        else
                diagnosis_put_duration(&text, ms);
        table_add(t, buf_steal(&text));
}

static void table_add_bytes(struct table *t, int64_t bytes)
{
        struct buf text = BUF_INIT;
        diagnosis_put_bytes(&text, bytes);
        table_add(t, buf_steal(&text));
}

static void table_add_heading(struct table *t, const char *const *names, size_t n)
{
        t->n_columns = n;
        for (size_t i = 0; i < n; i++)
                table_add_text(t, names[i]);
}

/* ------------------------------------------------------------------------------------------------ entities */

static int64_t table_elapsed(const struct status *s, int64_t from, int64_t to)
{
        return from <= 0 ? -1 : MAX((to > 0 ? to : s->last_event_ms) - from, (int64_t)0);
}

static void fill_applications(struct table *t, const struct status *s)
{
        static const char *const names[] = {"ID", "ATTEMPT", "NAME", "USER", "STARTED", "DURATION", "STATE"};
        const struct status_application *a = &s->application;
        table_add_heading(t, names, ARRAY_SIZE(names));
        table_add_text(t, a->id);
        table_add_text(t, a->attempt_id);
        table_add_text(t, a->name);
        table_add_text(t, a->user);
        table_add_time(t, a->start_ms);
        table_add_duration(t, table_elapsed(s, a->start_ms, a->end_ms));
        if (!a->has_ended)
                table_add_text(t, "RUNNING");
        else if (a->exit_code >= 0)
                table_add(t, mem_printf("ENDED (exit status %d)", a->exit_code));
        else
                table_add_text(t, "ENDED");
}

static void fill_jobs(struct table *t, const struct status *s)
{
        static const char *const names[] = {"JOB", "STATE", "STARTED", "DURATION", "STAGES", "TASKS", "FAILED", "NAME"};
        static const char *const states[] = {"RUNNING", "SUCCEEDED", "FAILED"};
        table_add_heading(t, names, ARRAY_SIZE(names));
        for (size_t i = s->jobs.len; i-- > 0;) {
                const struct status_job *j = s->jobs.data[i];
                table_add_number(t, j->id);
                table_add_text(t, states[j->state]);
                table_add_time(t, j->submission_ms);
                table_add_duration(t, table_elapsed(s, j->submission_ms, j->completion_ms));
                table_add(t, mem_printf("%d/%d", j->completed_stages, (int)j->stages.len - j->skipped_stages));
                table_add(t, mem_printf("%" PRId64 "/%" PRId64, j->completed_indices, j->tasks - j->skipped_tasks));
                table_add_number(t, j->failed_tasks);
                table_add_text(t, j->description ? j->description : j->name);
        }
}

static void table_add_limit(struct table *t, const struct status *s, const struct status_stage *stage)
{
        struct stage_diagnosis d;
        struct buf line = BUF_INIT;
        diagnose_stage(s, stage, s->last_event_ms, &d);
        stage_diagnosis_put(stage, &d, &line);
        table_add_text(t, buf_text(&line));
        buf_deinit(&line);
}

static void fill_stages(struct table *t, const struct status *s)
{
        static const char *const names[] = {"STAGE",        "ATTEMPT",       "STATE",   "DURATION", "TASKS",
                                            "FAILED",       "MEDIAN",        "LONGEST", "INPUT",    "OUTPUT",
                                            "SHUFFLE READ", "SHUFFLE WRITE", "SPILL",   "NAME",     "LIMITED BY"};
        static const char *const states[] = {"PENDING", "ACTIVE", "COMPLETE", "FAILED", "SKIPPED"};
        static const double median[] = {0.5};
        table_add_heading(t, names, ARRAY_SIZE(names));
        for (size_t i = s->stages.len; i-- > 0;) {
                const struct status_stage *g = s->stages.data[i];
                const struct task_metrics *m = &g->metrics;
                int64_t middle = -1;
                task_columns_quantiles(&g->columns, TASK_DURATION, median, &middle, 1);
                table_add_number(t, g->id);
                table_add_number(t, g->attempt);
                table_add_text(t, states[g->state]);
                table_add_duration(t, g->state == STATUS_STAGE_SKIPPED || g->state == STATUS_STAGE_PENDING
                                              ? -1
                                              : table_elapsed(s, g->submission_ms, g->completion_ms));
                table_add(t, mem_printf("%" PRId64 "/%d", g->indices.n, g->tasks));
                table_add_number(t, g->failed_tasks);
                table_add_duration(t, middle);
                table_add_duration(t, middle < 0 ? -1 : g->longest_ms);
                table_add_bytes(t, m->input_bytes);
                table_add_bytes(t, m->output_bytes);
                table_add_bytes(t, m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes);
                table_add_bytes(t, m->shuffle_write.bytes);
                table_add_bytes(t, m->disk_bytes_spilled);
                table_add_text(t, g->description ? g->description : g->name);
                table_add_limit(t, s, g);
        }
}

static void fill_executors(struct table *t, const struct status *s)
{
        static const char *const names[] = {"EXECUTOR", "ADDRESS",      "STATE",         "CORES",
                                            "ACTIVE",   "FAILED",       "COMPLETED",     "TASK TIME",
                                            "INPUT",    "SHUFFLE READ", "SHUFFLE WRITE", "REASON"};
        table_add_heading(t, names, ARRAY_SIZE(names));
        for (size_t i = 0; i < s->executors.len; i++) {
                const struct status_executor *x = s->executors.data[i];
                if (!x->is_registered)
                        continue;
                table_add_text(t, x->id);
                table_add_text(t, *x->host_port ? x->host_port : x->host);
                table_add_text(t, !x->is_active ? "REMOVED" : x->excluded ? "EXCLUDED" : "ACTIVE");
                table_add_number(t, x->cores);
                table_add_number(t, x->active_tasks);
                table_add_number(t, x->failed_tasks);
                table_add_number(t, x->completed_tasks);
                table_add_duration(t, x->duration_ms);
                table_add_bytes(t, x->input_bytes);
                table_add_bytes(t, x->shuffle_read_bytes);
                table_add_bytes(t, x->shuffle_write_bytes);
                table_add_text(t, x->removed_reason);
        }
}

/* --------------------------------------------------------------------------------------------------- logs */

struct log_source {
        struct event_reader *reader;
        struct status *status;
        const char *path; /* for messages */
        size_t n_reported;
};

static void log_source_on_event(void *owner, const struct log_event *e)
{
        struct log_source *source = owner;
        status_on_log_event(source->status, e);
}

static void log_source_on_damaged(void *owner, size_t line, const char *problem)
{
        enum { MAX_REPORTED = 10 };
        struct log_source *source = owner;
        if (++source->n_reported <= MAX_REPORTED)
                fprintf(stderr, "Warning: %s: line %zu is skipped: %s\n", source->path, line, problem);
        else if (source->n_reported == MAX_REPORTED + 1)
                fprintf(stderr, "Warning: %s: more lines are skipped\n", source->path);
}

static int log_source_read(struct log_source *source, struct fst_error *error)
{
        enum { PIECE = 1 << 20 };
        _cleanup_free_ char *path = NULL;
        const struct file_system *fs;
        struct event_log_info log;
        bool ended = false;
        int r = file_system_resolve(source->path, &path, &fs, error);
        if (r == 0)
                r = event_log_look_up(fs, path, &log, error);
        if (r < 0)
                return r;
        struct event_log_stream *stream = event_log_stream_new(fs, source->reader);
        while (r == 0 && !ended)
                r = event_log_stream_read(stream, &log, PIECE, &ended, error);
        event_log_stream_free(stream);
        event_log_deinit(&log);
        event_reader_end(source->reader, true);
        if (r == 0 && !event_reader_counts(source->reader).events)
                r = error_set(error, -EINVAL, "'%s' has no event: it is not an event log of Spark", source->path);
        return r;
}

static void log_source_deinit(struct log_source *source)
{
        event_reader_free(source->reader);
        status_free(source->status);
}

/* Makes a status of a log. Returns 0, or negative after it reported the error. */
static int log_source_init(struct log_source *source, const char *path)
{
        struct fst_error error = FST_ERROR_INIT;
        *source = (struct log_source){.path = path, .status = status_new(NULL)};
        source->reader = event_reader_new(&(struct event_reader_options){
                .on_event = log_source_on_event, .on_damaged = log_source_on_damaged, .owner = source});
        int r = log_source_read(source, &error);
        if (r < 0) {
                fprintf(stderr, "Error: %s\n", error_message(&error));
                log_source_deinit(source);
        }
        error_deinit(&error);
        return r;
}

/* Reports lost events, once the tables are printed. */
static void log_source_warn(const struct log_source *source)
{
        const struct status_totals *t = &source->status->totals;
        if (t->lost_ends || t->unknown_ends)
                fprintf(stderr,
                        "Warning: %s: events are missing: %" PRId64 " tasks have no end, %" PRId64 " no start\n",
                        source->path, t->lost_ends, t->unknown_ends);
}

static bool table_wants_help(int argc, char **argv)
{
        return argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

/* Runs one of the commands with one log. Returns the exit status. */
static int table_run(int argc, char **argv, const char *help, void (*fill)(struct table *t, const struct status *s))
{
        if (table_wants_help(argc, argv))
                return fputs(help, stdout) < 0 || fflush(stdout) != 0;
        if (argc != 2 || argv[1][0] == '-') {
                fprintf(stderr, "Error: name one event log\n\n%s", help);
                return 2;
        }
        struct table table = {0};
        struct log_source source;
        if (log_source_init(&source, argv[1]) < 0)
                return 1;
        fill(&table, source.status);
        table_print(&table);
        log_source_warn(&source);
        table_deinit(&table);
        log_source_deinit(&source);
        return fflush(stdout) != 0;
}

int command_applications(int argc, char **argv)
{
        return table_run(argc, argv, command_applications_help, fill_applications);
}

int command_jobs(int argc, char **argv)
{
        return table_run(argc, argv, command_jobs_help, fill_jobs);
}

int command_stages(int argc, char **argv)
{
        return table_run(argc, argv, command_stages_help, fill_stages);
}

int command_executors(int argc, char **argv)
{
        return table_run(argc, argv, command_executors_help, fill_executors);
}

/* ------------------------------------------------------------------------------------------------ compare */

static void table_add_total(struct table *t, enum run_total total, int64_t value)
{
        struct buf text = BUF_INIT;
        run_total_put(&text, total, value);
        table_add(t, buf_steal(&text));
}

static void table_add_total_change(struct table *t, enum run_total total, int64_t a, int64_t b)
{
        struct buf text = BUF_INIT;
        run_total_put_change(&text, total, a, b);
        table_add(t, buf_steal(&text));
}

static void compare_print_totals(const struct run_summary *a, const struct run_summary *b)
{
        struct table t = {.n_columns = 4};
        table_add_text(&t, "");
        table_add_text(&t, a->id);
        table_add_text(&t, b->id);
        table_add_text(&t, "CHANGE");
        for (int i = 0; i < RUN_TOTALS; i++) {
                if (!a->totals[i] && !b->totals[i])
                        continue;
                table_add_text(&t, run_total_name((enum run_total)i));
                table_add_total(&t, (enum run_total)i, a->totals[i]);
                table_add_total(&t, (enum run_total)i, b->totals[i]);
                table_add_total_change(&t, (enum run_total)i, a->totals[i], b->totals[i]);
        }
        table_print(&t);
        table_deinit(&t);
}

static void table_add_stage_id(struct table *t, const struct run_stage *stage)
{
        if (!stage)
                table_add_text(t, NULL);
        else
                table_add(t, stage->attempt ? mem_printf("%d.%d", stage->id, stage->attempt)
                                            : mem_printf("%d", stage->id));
}

static void compare_print_stages(const struct run_summary *a, const struct run_summary *b)
{
        static const char *const names[] = {"STAGE", "STAGE", "DURATION", "DURATION", "CHANGE", "NAME", "WHY"};
        struct table t = {0};
        run_pairs pairs = {0};
        table_add_heading(&t, names, ARRAY_SIZE(names));
        run_compare(a, b, &pairs);
        for (size_t i = 0; i < pairs.len; i++) {
                const struct run_pair *p = &pairs.data[i];
                struct buf change = BUF_INIT, reason = BUF_INIT;
                run_pair_put_change(p, &change);
                run_pair_put_reason(p, &reason);
                table_add_stage_id(&t, p->a);
                table_add_stage_id(&t, p->b);
                table_add_duration(&t, p->a ? p->a->wall_ms : -1);
                table_add_duration(&t, p->b ? p->b->wall_ms : -1);
                table_add(&t, buf_steal(&change));
                table_add_text(&t, p->a ? p->a->name : p->b->name);
                table_add_text(&t, buf_text(&reason));
                buf_deinit(&reason);
        }
        table_print(&t);
        vec_deinit(&pairs);
        table_deinit(&t);
}

int command_compare(int argc, char **argv)
{
        struct log_source sources[2];
        struct run_summary runs[2];
        if (table_wants_help(argc, argv))
                return fputs(command_compare_help, stdout) < 0 || fflush(stdout) != 0;
        if (argc != 3 || argv[1][0] == '-' || argv[2][0] == '-') {
                fprintf(stderr, "Error: name two event logs\n\n%s", command_compare_help);
                return 2;
        }
        if (log_source_init(&sources[0], argv[1]) < 0)
                return 1;
        if (log_source_init(&sources[1], argv[2]) < 0) {
                log_source_deinit(&sources[0]);
                return 1;
        }
        for (int i = 0; i < 2; i++)
                run_summary_init(&runs[i], sources[i].status, sources[i].status->last_event_ms, SIZE_MAX);
        compare_print_totals(&runs[0], &runs[1]);
        putchar('\n');
        compare_print_stages(&runs[0], &runs[1]);
        for (int i = 0; i < 2; i++) {
                log_source_warn(&sources[i]);
                run_summary_deinit(&runs[i]);
                log_source_deinit(&sources[i]);
        }
        return fflush(stdout) != 0;
}
