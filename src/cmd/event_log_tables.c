/*
 * firesteel applications, jobs, stages, executors, compare: tables from event logs of Firesteel or of genuine Spark.
 *
 * events/event_reader.h reads the log and status/status.h makes entities of its events. This file handles arguments,
 * files and columns. api_tables.h prints the same tables of a URL.
 */
#include "cmd/api_tables.h"
#include "cmd/command.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "events/event_files.h"
#include "io/fs/file_systems.h"
#include "status/comparison.h"
#include "status/diagnosis.h"
#include "status/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_HELP(name, summary, columns)                                                                             \
        "Usage: firesteel " name " LOG\n"                                                                              \
        "       firesteel " name " [--application ID[/ATTEMPT]] URL\n"                                                 \
        "\n" summary " of an event log, of a running application, or of a history server.\n"                           \
        "LOG is a file that Firesteel or Spark 2.3 to 4.3 wrote, plain or compressed (.zstd, .lz4, .snappy), or the\n" \
        "directory of a rolling log. It may be on a file system of a URI. Damaged lines are reported and skipped.\n"   \
        "URL is the address of a driver's pages, http://host:4040, or of a history server, http://host:18080, also\n"  \
        "with the path of an application: http://host:18080/history/ID. The servers may be those of Spark.\n"          \
        "\n"                                                                                                           \
        "Columns: " columns ".\n"                                                                                      \
        "\n"                                                                                                           \
        "  --application ID[/ATTEMPT]  which application of the server; the attempt is the latest by default\n"        \
        "  --help                      print this\n"

const char command_applications_help[] =
        TABLE_HELP("applications", "Prints the application", "id, attempt, name, user, start, duration, state");
const char command_jobs_help[] =
        TABLE_HELP("jobs", "Prints the jobs",
                   "id, state, start, duration, stages and tasks (done/all), failed tasks, name,\n"
                   "why it failed");
const char command_stages_help[] = TABLE_HELP(
        "stages", "Prints the stages",
        "id, attempt, state, duration, tasks (done/all), failed tasks, median and longest task, input,\n"
        "output, shuffle read, shuffle write, spill, call site, why it failed, what limited it and for how much of\n"
        "its time");
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

/* ------------------------------------------------------------------------------------------------ entities */

static int64_t table_elapsed(const struct status *s, int64_t from, int64_t to)
{
        return from <= 0 ? -1 : MAX((to > 0 ? to : s->last_event_ms) - from, (int64_t)0);
}

static void fill_applications(struct text_table *t, const struct status *s)
{
        static const char *const names[] = {"ID", "ATTEMPT", "NAME", "USER", "STARTED", "DURATION", "STATE"};
        const struct status_application *a = &s->application;
        text_table_add_heading(t, names, ARRAY_SIZE(names));
        text_table_add_text(t, a->id);
        text_table_add_text(t, a->attempt_id);
        text_table_add_text(t, a->name);
        text_table_add_text(t, a->user);
        text_table_add_time(t, a->start_ms);
        text_table_add_duration(t, table_elapsed(s, a->start_ms, a->end_ms));
        if (!a->has_ended)
                text_table_add_running(t, s->last_event_ms);
        else if (a->exit_code >= 0)
                text_table_add(t, mem_printf("ENDED (exit status %d)", a->exit_code));
        else
                text_table_add_text(t, "ENDED");
}

static void fill_jobs(struct text_table *t, const struct status *s)
{
        static const char *const names[] = {"JOB",   "STATE",  "STARTED", "DURATION", "STAGES",
                                            "TASKS", "FAILED", "NAME",    "FAILURE"};
        static const char *const states[] = {"RUNNING", "SUCCEEDED", "FAILED"};
        text_table_add_heading(t, names, ARRAY_SIZE(names));
        for (size_t i = s->jobs.len; i-- > 0;) {
                const struct status_job *j = s->jobs.data[i];
                text_table_add_number(t, j->id);
                text_table_add_text(t, states[j->state]);
                text_table_add_time(t, j->submission_ms);
                text_table_add_duration(t, table_elapsed(s, j->submission_ms, j->completion_ms));
                text_table_add(t, mem_printf("%d/%d", j->completed_stages, (int)j->stages.len - j->skipped_stages));
                text_table_add(t,
                               mem_printf("%" PRId64 "/%" PRId64, j->completed_indices, j->tasks - j->skipped_tasks));
                text_table_add_number(t, j->failed_tasks);
                text_table_add_text(t, j->description ? j->description : j->name);
                text_table_add_error(t, j->failure);
        }
}

static void text_table_add_limit(struct text_table *t, const struct status *s, const struct status_stage *stage)
{
        struct stage_diagnosis d;
        struct buf line = BUF_INIT;
        diagnose_stage(s, stage, s->last_event_ms, &d);
        stage_diagnosis_put(stage, &d, &line);
        text_table_add_text(t, buf_text(&line));
        buf_deinit(&line);
}

static void fill_stages(struct text_table *t, const struct status *s)
{
        static const char *const names[] = {
                "STAGE", "ATTEMPT", "STATE",        "DURATION",      "TASKS", "FAILED", "MEDIAN",  "LONGEST",
                "INPUT", "OUTPUT",  "SHUFFLE READ", "SHUFFLE WRITE", "SPILL", "NAME",   "FAILURE", "LIMITED BY"};
        static const char *const states[] = {"PENDING", "ACTIVE", "COMPLETE", "FAILED", "SKIPPED"};
        static const double median[] = {0.5};
        text_table_add_heading(t, names, ARRAY_SIZE(names));
        for (size_t i = s->stages.len; i-- > 0;) {
                const struct status_stage *g = s->stages.data[i];
                const struct task_metrics *m = &g->metrics;
                int64_t middle = -1;
                task_columns_quantiles(&g->columns, TASK_DURATION, median, &middle, 1);
                text_table_add_number(t, g->id);
                text_table_add_number(t, g->attempt);
                text_table_add_text(t, states[g->state]);
                text_table_add_duration(t, g->state == STATUS_STAGE_SKIPPED || g->state == STATUS_STAGE_PENDING
                                                   ? -1
                                                   : table_elapsed(s, g->submission_ms, g->completion_ms));
                text_table_add(t, mem_printf("%" PRId64 "/%d", g->indices.n, g->tasks));
                text_table_add_number(t, g->failed_tasks);
                text_table_add_duration(t, middle);
                text_table_add_duration(t, middle < 0 ? -1 : g->longest_ms);
                text_table_add_bytes(t, m->input_bytes);
                text_table_add_bytes(t, m->output_bytes);
                text_table_add_bytes(t, m->shuffle_read.local_bytes + m->shuffle_read.remote_bytes);
                text_table_add_bytes(t, m->shuffle_write.bytes);
                text_table_add_bytes(t, m->disk_bytes_spilled);
                text_table_add_text(t, g->name); /* a description is that of the job: all its stages have it */
                text_table_add_error(t, g->failure);
                text_table_add_limit(t, s, g);
        }
}

static void fill_executors(struct text_table *t, const struct status *s)
{
        static const char *const names[] = {"EXECUTOR", "ADDRESS",      "STATE",         "CORES",
                                            "ACTIVE",   "FAILED",       "COMPLETED",     "TASK TIME",
                                            "INPUT",    "SHUFFLE READ", "SHUFFLE WRITE", "REASON"};
        text_table_add_heading(t, names, ARRAY_SIZE(names));
        for (size_t i = 0; i < s->executors.len; i++) {
                const struct status_executor *x = s->executors.data[i];
                if (!x->is_registered)
                        continue;
                text_table_add_text(t, x->id);
                text_table_add_text(t, *x->host_port ? x->host_port : x->host);
                text_table_add_text(t, !x->is_active ? "REMOVED" : x->excluded ? "EXCLUDED" : "ACTIVE");
                text_table_add_number(t, x->cores);
                text_table_add_number(t, x->active_tasks);
                text_table_add_number(t, x->failed_tasks);
                text_table_add_number(t, x->completed_tasks);
                text_table_add_duration(t, x->duration_ms);
                text_table_add_bytes(t, x->input_bytes);
                text_table_add_bytes(t, x->shuffle_read_bytes);
                text_table_add_bytes(t, x->shuffle_write_bytes);
                text_table_add_text(t, x->removed_reason);
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

/* One of the commands. */
struct table_command {
        const char *help;
        void (*fill)(struct text_table *t, const struct status *s);
        enum api_table api_table;
};

static int table_run_log(const struct table_command *command, const char *log)
{
        struct text_table table = {0};
        struct log_source source;
        if (log_source_init(&source, log) < 0)
                return 1;
        command->fill(&table, source.status);
        text_table_print(&table);
        log_source_warn(&source);
        text_table_deinit(&table);
        log_source_deinit(&source);
        return fflush(stdout) != 0;
}

static int table_run_url(const struct table_command *command, const char *url, const char *application)
{
        struct text_table table = {0};
        struct fst_error error = FST_ERROR_INIT;
        int r = api_tables_fill(&table, command->api_table, url, application, &error);
        if (r < 0)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        else
                text_table_print(&table);
        text_table_deinit(&table);
        error_deinit(&error);
        return r < 0 || fflush(stdout) != 0;
}

/* Runs one of the commands with one log or URL. Returns the exit status. */
static int table_run(int argc, char **argv, const struct table_command *command)
{
        const char *application = NULL, *source = NULL, *problem = NULL;
        static const char option[] = "--application";
        if (table_wants_help(argc, argv))
                return fputs(command->help, stdout) < 0 || fflush(stdout) != 0;
        for (int i = 1; i < argc && !problem; i++) {
                if (strcmp(argv[i], option) == 0 && i + 1 < argc)
                        application = argv[++i];
                else if (text_starts_with(argv[i], option) && argv[i][strlen(option)] == '=')
                        application = argv[i] + sizeof(option);
                else if (strcmp(argv[i], option) == 0)
                        problem = "--application has no value";
                else if (argv[i][0] == '-')
                        problem = "unknown option";
                else if (source)
                        problem = "name one event log or URL, not several";
                else
                        source = argv[i];
        }
        if (!problem && !source)
                problem = "name an event log or a URL";
        if (!problem && application && !api_tables_is_url(source))
                problem = "--application needs a URL: an event log holds one application";
        if (problem) {
                fprintf(stderr, "Error: %s\n\n%s", problem, command->help);
                return 2;
        }
        return api_tables_is_url(source) ? table_run_url(command, source, application) : table_run_log(command, source);
}

int command_applications(int argc, char **argv)
{
        return table_run(argc, argv,
                         &(struct table_command){command_applications_help, fill_applications, API_APPLICATIONS});
}

int command_jobs(int argc, char **argv)
{
        return table_run(argc, argv, &(struct table_command){command_jobs_help, fill_jobs, API_JOBS});
}

int command_stages(int argc, char **argv)
{
        return table_run(argc, argv, &(struct table_command){command_stages_help, fill_stages, API_STAGES});
}

int command_executors(int argc, char **argv)
{
        return table_run(argc, argv, &(struct table_command){command_executors_help, fill_executors, API_EXECUTORS});
}

/* ------------------------------------------------------------------------------------------------ compare */

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
