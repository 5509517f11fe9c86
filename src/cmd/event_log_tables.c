/*
 * firesteel applications, jobs, stages, executors: tables from event logs of Firesteel or of genuine Spark.
 *
 * log_source.h reads the log and makes entities of its events. This file handles arguments and columns. api_tables.h
 * prints the same tables of a URL.
 */
#include "cmd/api_site.h"
#include "cmd/api_tables.h"
#include "cmd/command.h"
#include "cmd/log_source.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "status/diagnosis.h"
#include "status/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLE_HELP(name, more, summary, columns)                                                                             \
        "Usage: firesteel " name " LOG\n"                                                                                    \
        "       firesteel " name " [--application ID[/ATTEMPT]] URL\n"                                                       \
        "\n" summary " of an event log, of a running application, or of a history server.\n"                                 \
        "LOG is a file that Firesteel or Spark 2.3 to 4.3 wrote, plain or compressed (.zstd, .lz4, .snappy, .lzf), or the\n" \
        "directory of a rolling log. It may be on a file system of a URI. Damaged lines are reported and skipped.\n"         \
        "URL is the address of a driver's pages, http://host:4040, or of a history server, http://host:18080, also\n"        \
        "with the path of an application: http://host:18080/history/ID. The servers may be those of Spark.\n" more           \
        "\n"                                                                                                                 \
        "Columns: " columns ".\n"                                                                                            \
        "\n"                                                                                                                 \
        "  --application ID[/ATTEMPT]  which application of the server; the attempt is the latest by default\n"              \
        "  --help                      print this\n"

const char command_applications_help[] =
        TABLE_HELP("applications",
                   "Without LOG and URL it prints the running applications of this host: those of drivers whose pages\n"
                   "have a port from 4040 to 4056.\n",
                   "Prints the application",
                   "id, attempt, name, user, start, duration, state, and without LOG and URL the driver's URL");
const char command_jobs_help[] =
        TABLE_HELP("jobs", "", "Prints the jobs",
                   "id, state, start, duration, stages and tasks (done/all), failed tasks, name,\n"
                   "why it failed");
const char command_stages_help[] = TABLE_HELP(
        "stages", "", "Prints the stages",
        "id, attempt, state, duration, tasks (done/all), failed tasks, median and longest task, input,\n"
        "output, shuffle read, shuffle write, spill, call site, why it failed, what limited it and for how much of\n"
        "its time");
const char command_executors_help[] =
        TABLE_HELP("executors", "", "Prints the executors",
                   "id, address, state, cores, tasks (active, failed, completed), task time, input, shuffle read,\n"
                   "shuffle write, reason of the removal");

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

/* ------------------------------------------------------------------------------------------------- commands */

static bool table_wants_help(int argc, char **argv)
{
        return argc == 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
}

/* One of the commands. */
struct table_command {
        const char *command; /* "firesteel jobs" */
        const char *help;
        void (*fill)(struct text_table *t, const struct status *s);
        enum api_table api_table;
};

static int table_run_log(const struct table_command *command, const char *log)
{
        struct text_table table = {0};
        struct log_source source;
        if (log_source_init(&source, log, command->command) < 0)
                return 1;
        command->fill(&table, source.status);
        text_table_print(&table);
        log_source_warn(&source);
        text_table_deinit(&table);
        log_source_deinit(&source);
        return fflush(stdout) != 0;
}

/* @url NULL: the applications of this host. */
static int table_run_url(const struct table_command *command, const char *url, const char *application)
{
        struct text_table table = {0};
        struct fst_error error = FST_ERROR_INIT;
        int r = url ? api_tables_fill(&table, command->api_table, url, application, &error)
                    : api_tables_fill_local(&table, &error);
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
        bool is_local = !source && command->api_table == API_APPLICATIONS && !application;
        if (!problem && !source && !is_local)
                problem = "name an event log or a URL";
        if (!problem && application && source && !api_site_is_url(source))
                problem = "--application needs a URL: an event log holds one application";
        if (problem) {
                fprintf(stderr, "Error: %s\n\n%s", problem, command->help);
                return 2;
        }
        return is_local || api_site_is_url(source) ? table_run_url(command, source, application)
                                                   : table_run_log(command, source);
}

int command_applications(int argc, char **argv)
{
        return table_run(argc, argv,
                         &(struct table_command){"firesteel applications", command_applications_help, fill_applications,
                                                 API_APPLICATIONS});
}

int command_jobs(int argc, char **argv)
{
        return table_run(argc, argv, &(struct table_command){"firesteel jobs", command_jobs_help, fill_jobs, API_JOBS});
}

int command_stages(int argc, char **argv)
{
        return table_run(argc, argv,
                         &(struct table_command){"firesteel stages", command_stages_help, fill_stages, API_STAGES});
}

int command_executors(int argc, char **argv)
{
        return table_run(
                argc, argv,
                &(struct table_command){"firesteel executors", command_executors_help, fill_executors, API_EXECUTORS});
}
