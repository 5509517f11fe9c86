/*
 * firesteel simulate: runs the scheduler under a virtual clock, and replays recorded traces.
 * sched/simulator/simulator.h simulates. This file handles options, files, clocks and output.
 *
 * Exit statuses: 0; 1 if an invariant is violated, a trace does not replay, or a file cannot be read or written; 2 for
 * invalid arguments.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/command.h"
#include "cmd/simulate/simulate.h"
#include "cmd/simulate/simulate_messages.h"
#include "conf/conf.h"
#include "conf/keys.h"
#include "text/json_string.h"
#include "driver/pools.h"
#include "sched/sched_conf.h"
#include "sched/simulator/sched_replay.h"
#include "sched/simulator/simulator.h"

#include <fcntl.h>
#include <malloc.h>
#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

const char command_simulate_help[] =
        "Usage: firesteel simulate [OPTIONS]\n"
        "       firesteel simulate --random --seeds A..B\n"
        "       firesteel simulate --replay FILE\n"
        "       firesteel simulate --standalone [OPTIONS]: a standalone master's load; --standalone --help tells more\n"
        "       firesteel simulate --yarn [OPTIONS]: the allocation of YARN containers; --yarn --help tells more\n"
        "       firesteel simulate --mesos [OPTIONS]: the answers to offers of Mesos; --mesos --help tells more\n"
        "       firesteel simulate --operator [OPTIONS]: the states of SparkApplications; --operator --help tells more\n"
        "\n"
        "Run the scheduler under a virtual clock with simulated executors. At every step, check that no task is lost,\n"
        "counted twice or placed where it cannot run. Print a violation with the seed and the command that reproduce\n"
        "it, and exit with status 1.\n"
        "\n"
        "Scenario (defaults in parentheses, P is a probability):\n"
        "  --executors N             (10) executors at the start; one that dies is replaced\n"
        "  --cores N                 (4) cores of each executor\n"
        "  --hosts N                 (one for each executor) hosts\n"
        "  --tasks N                 (1000) tasks in total\n"
        "  --jobs N                  (1) jobs that share the tasks, submitted at once\n"
        "  --stages N                (2) stages of each job, connected by shuffles\n"
        "  --locality P              (0) a partition prefers an executor, or some hosts\n"
        "  --racks N                 (none) racks\n"
        "  --barrier P               (0) a stage is a barrier stage\n"
        "  --celeborn N              (none) map outputs are at N workers of Celeborn; with --random, at 2 to 5\n"
        "  --replication             … each at two of them: spark.celeborn.client.push.replicate.enabled=true\n"
        "  --saves P                 (0) a job's tasks ask the driver before they commit\n"
        "  --speculation             slow tasks get a second attempt: spark.speculation=true\n"
        "  --exclusion               exclude what fails too often: spark.excludeOnFailure.enabled=true\n"
        "  --task-time TIME          (1s) mean duration of a task, which varies by half: 5ms, 2m, …\n"
        "  --messages                encode and decode the messages of driver and executors, and report what they cost\n"
        "  --seed N                  (1) seed of the random numbers: the same seed gives the same run\n"
        "  --seeds A..B              a run for each seed from A to B\n"
        "  --random                  derive a small random scenario with all faults from the seed; combine only with\n"
        "                            --seed, --seeds, --trace, --output, --driver-deaths and --celeborn\n"
        "\n"
        "Faults (probabilities from 0 to 1, default 0):\n"
        "  --loss P                  a message is lost with its connection, late, or duplicated\n"
        "  --death RATE              deaths of each executor per minute\n"
        "  --stragglers PxFACTOR     a task takes FACTOR times as long: 0.01x20\n"
        "  --fetch-failures P        a task cannot fetch a shuffle\n"
        "  --task-failures P         an attempt fails\n"
        "  --cancels P               a job is cancelled while it runs\n"
        "  --lost-workers RATE       deaths of each Celeborn worker per minute; another one replaces it\n"
        "  --driver-deaths N         (0) deaths of the driver, at random events; the next one goes on with its journal\n"
        "\n"
        "  --conf, -c KEY=VALUE      the scheduler's settings: spark.task.cpus, spark.scheduler.mode, …; with\n"
        "                            spark.firesteel.shuffle.store map outputs outlive executors\n"
        "  --trace FILE              write the scheduler's inputs and decisions\n"
        "  --replay FILE             replay a trace of this program, or of a driver that ran with\n"
        "                            spark.firesteel.scheduler.trace=FILE; print the first decision that differs\n"
        "  --output text|json        (text) form of the results\n"
        "  --help, -h                show this\n";

struct simulate_request {
        struct simulator_options o;
        double executors, cores, hosts, tasks, jobs, stages, racks, workers, driver_deaths;
        uint64_t seed, last_seed;
        struct message_costs costs; /* of all runs */
        bool messages;
        bool range, json, world; /* world: the user gave an option that --random excludes */
        const char *trace, *replay;
        struct fst_conf conf;
        struct pool_file pools;
};

static int simulate_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int simulate_usage(const char *format, ...)
{
        va_list args;

        va_start(args, format);
        fputs("Error: ", stderr);
        vfprintf(stderr, format, args);
        fputs(" (see `firesteel simulate --help`)\n", stderr);
        va_end(args);
        return 2;
}

/* ---------------------------------------------------------------------------------------------------------- options */

static bool simulate_read_number(const char *text, double *out)
{
        char *end;

        *out = strtod(text, &end);
        return end > text && !*end && isfinite(*out);
}

static int simulate_read_count(const char *name, const char *value, double most, double *out)
{
        double number;

        if (!simulate_read_number(value, &number) || number < 1 || number > most || number != floor(number))
                return simulate_usage("%s takes a whole number from 1 to %.0f, not '%s'", name, most, value);
        *out = number;
        return 0;
}

static int simulate_read_chance(const char *name, const char *value, double most, double *out)
{
        double number;

        if (!simulate_read_number(value, &number) || number < 0 || number > most)
                return simulate_usage("%s takes a number from 0 to %g, not '%s'", name, most, value);
        *out = number;
        return 0;
}

static int simulate_read_stragglers(struct simulate_request *r, const char *value)
{
        _cleanup_free_ char *chance = mem_strdup(value);
        char *factor = strchr(chance, 'x');

        if (factor)
                *factor++ = 0;
        if (!factor || !simulate_read_number(chance, &r->o.stragglers) ||
            !simulate_read_number(factor, &r->o.straggler_factor) || r->o.stragglers < 0 || r->o.stragglers > 1 ||
            r->o.straggler_factor < 1 || r->o.straggler_factor > 1e6)
                return simulate_usage("--stragglers takes a chance and a factor from 1 on, like 0.01x20, not '%s'",
                                      value);
        return 0;
}

static bool simulate_read_seed(const char *text, const char *end, uint64_t *seed)
{
        char *stop;

        errno = 0;
        *seed = strtoull(text, &stop, 10);
        return *text >= '0' && *text <= '9' && stop == end && errno == 0;
}

static int simulate_read_seeds(struct simulate_request *r, const char *value, bool range)
{
        const char *dots = range ? strstr(value, "..") : value + strlen(value);

        if (!dots || !simulate_read_seed(value, dots, &r->seed) ||
            (range && (!simulate_read_seed(dots + 2, value + strlen(value), &r->last_seed) || r->last_seed < r->seed)))
                return simulate_usage(
                        range ? "--seeds takes two whole numbers, the second not smaller, like 1..1000, not '%s'"
                              : "--seed takes a whole number, not '%s'",
                        value);
        if (!range)
                r->last_seed = r->seed;
        r->range = range;
        return 0;
}

static int simulate_read_time(struct simulate_request *r, const char *value)
{
        struct fst_error error = FST_ERROR_INIT;
        struct fst_conf conf;
        int64_t ms = 0;

        /* parses times like everywhere: as a key whose unit is ms */
        conf_init(&conf);
        conf_set(&conf, "spark.locality.wait", value);
        int e = conf_get_ms(&conf, "spark.locality.wait", &ms, &error);

        conf_deinit(&conf);
        error_deinit(&error);
        if (e || ms < 1 || ms > 86400000)
                return simulate_usage("--task-time takes a time from 1ms to 24h, not '%s'", value);
        r->o.task_ns = ms * 1000000;
        return 0;
}

static int simulate_read_conf(struct simulate_request *r, const char *value)
{
        const char *equals = strchr(value, '=');
        struct key key;

        if (!equals || equals == value)
                return simulate_usage("--conf takes KEY=VALUE, not '%s'", value);
        _cleanup_free_ char *name = mem_strndup(value, (size_t)(equals - value));

        if (!key_find(name, &key))
                return simulate_usage("--conf %s: unknown key", name);
        conf_set(&r->conf, name, equals + 1);
        return 0;
}

enum option_kind {
        COUNT,
        CHANCE,
        STRAGGLERS,
        SEED,
        SEEDS,
        TIME,
        CONF,
        TRACE,
        REPLAY,
        OUTPUT,
        RANDOM,
        MESSAGES,
        SWITCH
};

static const struct option {
        const char *name;
        enum option_kind kind;
        size_t offset; /* of a double in the request */
        double most;
        bool world;
        const char *key; /* SWITCH: set to true */
} options[] = {
        {"--executors", COUNT, offsetof(struct simulate_request, executors), 1e6, true},
        {"--cores", COUNT, offsetof(struct simulate_request, cores), 1024, true},
        {"--hosts", COUNT, offsetof(struct simulate_request, hosts), 1e6, true},
        {"--tasks", COUNT, offsetof(struct simulate_request, tasks), 1e9, true},
        {"--jobs", COUNT, offsetof(struct simulate_request, jobs), 1e5, true},
        {"--stages", COUNT, offsetof(struct simulate_request, stages), 1e4, true},
        {"--loss", CHANCE, offsetof(struct simulate_request, o.loss), 1, true},
        {"--death", CHANCE, offsetof(struct simulate_request, o.deaths), 1e6, true},
        {"--fetch-failures", CHANCE, offsetof(struct simulate_request, o.fetch_failures), 1, true},
        {"--task-failures", CHANCE, offsetof(struct simulate_request, o.task_failures), 1, true},
        {"--cancels", CHANCE, offsetof(struct simulate_request, o.cancels), 1, true},
        {"--locality", CHANCE, offsetof(struct simulate_request, o.locality), 1, true},
        {"--racks", COUNT, offsetof(struct simulate_request, racks), 1e6, true},
        {"--barrier", CHANCE, offsetof(struct simulate_request, o.barrier), 1, true},
        {"--saves", CHANCE, offsetof(struct simulate_request, o.saves), 1, true},
        {"--speculation", SWITCH, 0, 0, true, "spark.speculation"},
        {"--exclusion", SWITCH, 0, 0, true, "spark.excludeOnFailure.enabled"},
        {"--celeborn", COUNT, offsetof(struct simulate_request, workers), 10000},
        {"--replication", SWITCH, 0, 0, true, "spark.celeborn.client.push.replicate.enabled"},
        {"--lost-workers", CHANCE, offsetof(struct simulate_request, o.celeborn.deaths), 1e6, true},
        {"--messages", MESSAGES, 0, 0, true},
        {"--stragglers", STRAGGLERS, 0, 0, true},
        {"--task-time", TIME, 0, 0, true},
        {"--conf", CONF, 0, 0, true},
        {"-c", CONF, 0, 0, true},
        {"--driver-deaths", COUNT, offsetof(struct simulate_request, driver_deaths), 1000},
        {"--seed", SEED},
        {"--seeds", SEEDS},
        {"--trace", TRACE},
        {"--replay", REPLAY},
        {"--output", OUTPUT},
        {"--random", RANDOM},
};

static int simulate_read_option(struct simulate_request *r, const struct option *option, const char *value)
{
        double *number = (double *)((char *)r + option->offset);

        r->world |= option->world;
        switch (option->kind) {
        case COUNT:
                return simulate_read_count(option->name, value, option->most, number);
        case CHANCE:
                return simulate_read_chance(option->name, value, option->most, number);
        case STRAGGLERS:
                return simulate_read_stragglers(r, value);
        case SEED:
        case SEEDS:
                return simulate_read_seeds(r, value, option->kind == SEEDS);
        case TIME:
                return simulate_read_time(r, value);
        case CONF:
                return simulate_read_conf(r, value);
        case TRACE:
                r->trace = value;
                return 0;
        case REPLAY:
                r->replay = value;
                return 0;
        case OUTPUT:
                r->json = strcmp(value, "json") == 0;
                return r->json || strcmp(value, "text") == 0
                               ? 0
                               : simulate_usage("--output takes text or json, not '%s'", value);
        case RANDOM:
                r->o.random = true;
                return 0;
        case MESSAGES:
                r->messages = true;
                return 0;
        case SWITCH:
                conf_set(&r->conf, option->key, "true");
                return 0;
        }
        return 0;
}

static const struct option *simulate_find_option(const char *word, size_t len)
{
        for (size_t i = 0; i < ARRAY_SIZE(options); i++)
                if (strlen(options[i].name) == len && memcmp(options[i].name, word, len) == 0)
                        return &options[i];
        return NULL;
}

static int simulate_read_options(struct simulate_request *r, int argc, char **argv)
{
        for (int i = 1; i < argc; i++) {
                const char *equals = strncmp(argv[i], "--", 2) == 0 ? strchr(argv[i], '=') : NULL;
                const struct option *option =
                        simulate_find_option(argv[i], equals ? (size_t)(equals - argv[i]) : strlen(argv[i]));
                const char *value = equals ? equals + 1 : NULL;

                if (!option)
                        return simulate_usage(argv[i][0] == '-' ? "unknown option '%s'" : "'%s' is not an option",
                                              argv[i]);
                bool bare = option->kind == RANDOM || option->kind == MESSAGES || option->kind == SWITCH;

                if (bare && value)
                        return simulate_usage("%s takes no value", option->name);
                if (!bare && !value) {
                        if (i + 1 == argc)
                                return simulate_usage("%s needs a value", argv[i]);
                        value = argv[++i];
                }
                int e = simulate_read_option(r, option, value);

                if (e)
                        return e;
        }
        return 0;
}

/* Checks the combination of options. */
static int simulate_check_request(struct simulate_request *r)
{
        if (r->o.random && r->world)
                return simulate_usage(
                        "--random draws the world from the seed: only --seed, --seeds, --trace, --output, "
                        "--driver-deaths and --celeborn go with it");
        if (r->trace && r->driver_deaths > 0)
                return simulate_usage("--trace writes the decisions of one driver: leave out --driver-deaths");
        if (r->messages && r->driver_deaths > 0)
                return simulate_usage("--messages measures one driver: leave out --driver-deaths");
        if (r->replay && (r->world || r->driver_deaths > 0 || r->o.random || r->trace || r->range))
                return simulate_usage("--replay takes everything from the trace: only --output goes with it");
        if (r->trace && r->range)
                return simulate_usage("--trace writes one run: use --seed, not --seeds");
        r->o.executors = (int)r->executors;
        r->o.cores = (int)r->cores;
        r->o.hosts = r->hosts > 0 ? (int)r->hosts : r->o.executors;
        r->o.tasks = (int64_t)r->tasks;
        r->o.jobs = (int)r->jobs;
        r->o.stages = (int)r->stages;
        r->o.racks = (int)r->racks;
        if ((r->tasks / r->jobs) / r->stages > (1 << 24))
                return simulate_usage("a stage may have 16777216 tasks, not %.0f: use more --stages or --jobs",
                                      r->tasks / r->jobs / r->stages);
        return 0;
}

static int simulate_read_config(struct simulate_request *r)
{
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *file = NULL;
        int e;

        r->o.stores = conf_contains(&r->conf, "spark.firesteel.shuffle.store");
        if ((e = sched_config_read(&r->conf, &r->o.config, &error)) == 0 &&
            (e = conf_get_bool(&r->conf, "spark.shuffle.service.enabled", &r->o.config.outputs_outlive_executors,
                               &error)) == 0)
                e = conf_get_string(&r->conf, "spark.scheduler.allocation.file", &file, &error);
        if (e == 0 && r->o.config.mode == SCHEDULING_FAIR && (e = pools_read(file, &r->pools, &error)) == 0) {
                r->o.config.pools = r->pools.pools;
                r->o.config.n_pools = r->pools.n_pools;
        }
        if (e == 0 && !r->o.random && r->o.config.task_cpus > r->o.cores)
                e = error_set(&error, -EINVAL, "spark.task.cpus is %d, but an executor has %d cores (--cores)",
                              r->o.config.task_cpus, r->o.cores);
        r->o.celeborn.workers = (int)r->workers;
        if (e == 0)
                e = simulate_read_celeborn(&r->conf, &r->o, r->messages, &error);
        if (e == 0 && r->messages && r->o.stores)
                e = error_set(&error, -EINVAL,
                              "--messages has no map outputs outside of executors: leave out "
                              "spark.firesteel.shuffle.store");
        if (e)
                fprintf(stderr, "Error: %s\n", error_message(&error));
        error_deinit(&error);
        return e ? 2 : 0;
}

/* ----------------------------------------------------------------------------------------------------------- output */

/* The scheduler's memory per additional executor, in bytes. */
static int64_t simulate_executor_bytes(const struct simulate_request *r)
{
        static const struct sched_ops none;
        int n = MAX(r->o.executors, 1000);
        struct sched *s = sched_new(&r->o.config, &none, NULL);
        struct mallinfo2 before = mallinfo2();
        char id[16], host[24];

        for (int i = 0; i < n; i++) {
                snprintf(id, sizeof(id), "%d", i);
                snprintf(host, sizeof(host), "host%d", i % r->o.hosts);
                sched_add_executor(s, id, host, r->o.cores, 0);
        }
        struct mallinfo2 after = mallinfo2();

        sched_free(s);
        return (int64_t)(after.uordblks + after.hblkhd - before.uordblks - before.hblkhd) / n;
}

struct result_line {
        const char *name, *words;
        double value;
        int digits;
};

static void simulate_print_lines(const struct result_line *lines, size_t n, bool json)
{
        for (size_t i = 0; i < n; i++)
                if (json)
                        printf("%s\"%s\":%.*f", i ? "," : "{", lines[i].name, lines[i].digits, lines[i].value);
                else
                        printf("%-34s %.*f\n", lines[i].words, lines[i].digits, lines[i].value);
        if (json)
                puts("}");
}

static void simulate_print_report(const struct simulate_request *r, const struct simulator_report *s, double wall)
{
        struct rusage usage_of;

        getrusage(RUSAGE_SELF, &usage_of);
        double cpu = (double)usage_of.ru_utime.tv_sec + (double)usage_of.ru_stime.tv_sec +
                     (double)(usage_of.ru_utime.tv_usec + usage_of.ru_stime.tv_usec) / 1e6;
        struct result_line lines[] = {
                {"runs", "simulations", (double)(r->last_seed - r->seed + 1), 0},
                {"jobsSucceeded", "jobs succeeded", (double)s->jobs[JOB_SUCCEEDED], 0},
                {"jobsFailed", "jobs failed", (double)s->jobs[JOB_FAILED], 0},
                {"jobsCancelled", "jobs cancelled", (double)s->jobs[JOB_CANCELLED], 0},
                {"stageAttempts", "stage attempts", (double)s->stages, 0},
                {"stageRetries", "  of them again", (double)s->stages_again, 0},
                {"placements", "tasks placed", (double)s->placements, 0},
                {"launches", "  in messages", (double)s->runs, 0},
                {"retries", "  of them again", (double)s->retries, 0},
                {"accepted", "outputs accepted", (double)s->accepted, 0},
                {"taskFailures", "tasks failed", (double)s->failures, 0},
                {"fetchFailures", "fetches failed", (double)s->fetch_failures, 0},
                {"tasksLost", "tasks lost with executors", (double)s->lost_tasks, 0},
                {"kills", "tasks killed", (double)s->kills, 0},
                {"speculative", "speculative attempts", (double)s->speculative, 0},
                {"excluded", "executors and hosts excluded", (double)s->excluded, 0},
                {"gangs", "barrier stages launched", (double)s->gangs, 0},
                {"commits", "commits", (double)s->commits, 0},
                {"commitsDenied", "  denied", (double)s->commits_denied, 0},
                {"processLocal", "tasks PROCESS_LOCAL", (double)s->levels[LOCALITY_PROCESS_LOCAL], 0},
                {"nodeLocal", "  NODE_LOCAL", (double)s->levels[LOCALITY_NODE_LOCAL], 0},
                {"rackLocal", "  RACK_LOCAL", (double)s->levels[LOCALITY_RACK_LOCAL], 0},
                {"anywhere", "  ANY", (double)s->levels[LOCALITY_ANY], 0},
                {"executors", "executors", (double)s->executors, 0},
                {"executorsLost", "  of them lost", (double)s->executors_lost, 0},
                {"workers", "workers of Celeborn", (double)s->workers, 0},
                {"workersLost", "  of them lost", (double)s->workers_lost, 0},
                {"revives", "  locations revived", (double)s->revives, 0},
                {"shufflesCommitted", "  shuffles committed", (double)s->shuffles_committed, 0},
                {"filesCommitted", "  files committed", (double)s->files_committed, 0},
                {"shufflesLost", "  shuffles lost", (double)s->shuffles_lost, 0},
                {"mapsAgain", "  map outputs lost with them", (double)s->maps_again, 0},
                {"messagesLost", "messages lost", (double)s->messages_lost, 0},
                {"messagesLate", "  late", (double)s->messages_late, 0},
                {"messagesTwice", "  twice", (double)s->messages_twice, 0},
                {"virtualSeconds", "simulated time, s", (double)s->virtual_ns / 1e9, 3},
                {"wallSeconds", "wall time, s", wall, 3},
                {"cpuSeconds", "processor time, s", cpu, 3},
                {"placementsPerSecond", "placements/s", (double)s->placements / wall, 0},
                {"decisionNsPerPlacement", "scheduler time, ns a placement",
                 (double)s->decision_ns / (double)MAX(s->placements, 1), 0},
                {"bytesPerExecutor", "scheduler memory, bytes an executor", (double)simulate_executor_bytes(r), 0},
                {"peakResidentKiB", "peak resident memory, KiB", (double)usage_of.ru_maxrss, 0},
        };

        const struct message_costs *c = &r->costs;
        double tasks = (double)MAX(s->placements, 1), stages = (double)MAX(c->stages, 1);
        struct result_line message_lines[] = {
                {"driverNsPerTask", "driver, ns a task",
                 (double)(s->decision_ns - c->in_scheduler_ns + c->launch_ns + c->status_ns) / tasks, 0},
                {"launchNsPerTask", "  of it encoding launches", (double)c->launch_ns / tasks, 0},
                {"statusNsPerTask", "  of it decoding outcomes", (double)c->status_ns / tasks, 0},
                {"launchBytesPerTask", "bytes of launches a task", (double)c->launch_sent / tasks, 1},
                {"statusBytesPerTask", "bytes of outcomes a task", (double)c->status_bytes / tasks, 1},
                {"driverMsPerStage", "driver, ms a stage", (double)c->stage_ns / 1e6 / stages, 3},
                {"stageBytes", "bytes of a stage", (double)c->stage_bytes / stages, 0},
                {"stagesBroadcast", "stages broadcast", (double)c->broadcasts, 0},
                {"stageBytesPerExecutor", "bytes sent, an executor and stage",
                 (double)c->stage_sent / (double)MAX(c->stage_messages, 1), 0},
                {"peakOutboxesKiB", "peak memory of outboxes, KiB", (double)c->peak_outboxes / 1024, 0},
        };
        struct result_line all[ARRAY_SIZE(lines) + ARRAY_SIZE(message_lines)];

        memcpy(all, lines, sizeof(lines));
        memcpy(all + ARRAY_SIZE(lines), message_lines, sizeof(message_lines));
        simulate_print_lines(all, ARRAY_SIZE(lines) + (r->messages ? ARRAY_SIZE(message_lines) : 0), r->json);
}

static int simulate_finish(int status)
{
        if (fflush(stdout) == 0)
                return status;
        perror("firesteel simulate: standard output");
        return 1;
}

/* Reports a violated invariant and the command that reproduces it. */
static void simulate_print_violation(const struct simulate_request *r, uint64_t seed, const char *message, int argc,
                                     char **argv)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;

        buf_puts(&text, "firesteel simulate");
        for (int i = 1; i < argc; i++) {
                bool seeds = strncmp(argv[i], "--seed", 6) == 0;

                if (seeds || strncmp(argv[i], "--trace", 7) == 0 || strncmp(argv[i], "--output", 8) == 0)
                        i += strchr(argv[i], '=') == NULL;
                else
                        buf_printf(&text, strpbrk(argv[i], " *;$'") ? " '%s'" : " %s", argv[i]);
        }
        buf_printf(&text, " --seed %llu", (unsigned long long)seed);
        fprintf(stderr,
                "Error: %s\nTo reproduce it: %s\nWith --trace FILE the scheduler's inputs and decisions are written.\n",
                message, buf_text(&text));
        if (!r->json)
                return;
        _cleanup_(buf_deinit) struct buf json = BUF_INIT;

        buf_printf(&json, "{\"seed\":%llu,\"broken\":", (unsigned long long)seed);
        json_put_string(&json, message);
        buf_puts(&json, ",\"command\":");
        json_put_string(&json, buf_text(&text));
        buf_puts(&json, "}");
        puts(buf_text(&json));
}

/* ---------------------------------------------------------------------------------------------------------- actions */

static void simulate_write_trace(void *owner, const char *lines, size_t len)
{
        fwrite(lines, 1, len, owner);
}

/* Runs with messages, and adds their costs. Returns a negative status if they cannot be encoded. */
static int simulate_run_messages(struct simulate_request *r, struct simulator_report *report, struct fst_error *error)
{
        struct simulate_messages *messages = NULL;
        int e = simulate_messages_new(&messages, error);

        if (e)
                return e;
        r->o.messages = simulate_messages_ops(messages);
        e = simulator_run(&r->o, report, error);
        const struct message_costs *costs = simulate_messages_costs(messages);
        int64_t peak = MAX(r->costs.peak_outboxes, costs->peak_outboxes);

        for (size_t i = 0; i < sizeof(*costs) / sizeof(int64_t); i++)
                ((int64_t *)&r->costs)[i] += ((const int64_t *)costs)[i];
        r->costs.peak_outboxes = peak;
        r->o.messages = NULL;
        simulate_messages_free(messages);
        return e;
}

static int simulate_run_seed(struct simulate_request *r, struct simulator_report *report, struct fst_error *error)
{
        struct simulator_journal journal = {0};

        if (r->messages)
                return simulate_run_messages(r, report, error);
        if (r->driver_deaths == 0)
                return simulator_run(&r->o, report, error);
        int e = simulator_run_drivers(&r->o, (int)r->driver_deaths, &journal, report, error);

        simulator_journal_deinit(&journal);
        return e;
}

static int simulate_run(struct simulate_request *r, int argc, char **argv)
{
        struct simulator_report sum = {0};
        struct fst_error error = FST_ERROR_INIT;
        FILE *trace = r->trace ? fopen(r->trace, "we") : NULL;
        int64_t since = now_ns();
        int e = 0;

        if (r->trace && !trace) {
                fprintf(stderr, "Error: --trace: cannot open %s: %s\n", r->trace, strerror(errno));
                return 1;
        }
        if (trace)
                r->o.trace = (struct sched_trace_sink){.write = simulate_write_trace, .owner = trace};
        r->o.clock = now_ns;
        for (uint64_t seed = r->seed; e == 0; seed++) {
                struct simulator_report report;

                r->o.seed = seed;
                e = simulate_run_seed(r, &report, &error);
                simulator_report_add(&sum, &report);
                if (e < 0)
                        fprintf(stderr, "Error: --messages: %s\n", error_message(&error));
                else if (e)
                        simulate_print_violation(r, seed, error_message(&error), argc, argv);
                if (seed == r->last_seed)
                        break;
        }
        error_deinit(&error);
        if (trace && (ferror(trace) | fclose(trace)) != 0) {
                fprintf(stderr, "Error: --trace: cannot write %s\n", r->trace);
                return 1;
        }
        if (e)
                return simulate_finish(1);
        simulate_print_report(r, &sum, (double)(now_ns() - since) / 1e9);
        return simulate_finish(0);
}

/* Reads the whole file. Returns NULL with errno on failure. */
static char *simulate_read_file(const char *path, size_t *len)
{
        FILE *file = fopen(path, "re");
        struct stat st;
        struct buf text = BUF_INIT;

        if (!file)
                return NULL;
        if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode))
                buf_reserve(&text, (size_t)st.st_size);
        for (size_t n = 1; n > 0; text.len += n) {
                buf_reserve(&text, 65536);
                n = fread(text.data + text.len, 1, 65536, file);
        }
        int failed = ferror(file) ? errno : 0;

        fclose(file);
        *len = text.len;
        if (failed) {
                buf_deinit(&text);
                errno = failed;
                return NULL;
        }
        return text.data;
}

static int simulate_replay(const struct simulate_request *r)
{
        struct sched_replay_report report;
        struct fst_error error = FST_ERROR_INIT;
        size_t len = 0;
        _cleanup_free_ char *text = simulate_read_file(r->replay, &len);

        if (!text) {
                fprintf(stderr, "Error: --replay: cannot read %s: %s\n", r->replay, strerror(errno));
                return 1;
        }
        int64_t since = now_ns();
        int e = sched_replay(text, len, 1 << 24, &report, &error);
        double wall = (double)(now_ns() - since) / 1e9;
        const struct result_line lines[] = {
                {"lines", "lines that came again", (double)report.lines, 0},
                {"calls", "calls of the scheduler", (double)report.calls, 0},
                {"jobs", "jobs", (double)report.jobs, 0},
                {"placements", "tasks placed", (double)report.tasks, 0},
                {"diverged", "diverged", e == FST_REPLAY_E_DIVERGED, 0},
                {"wallSeconds", "wall time, s", wall, 3},
        };

        if (e)
                fprintf(stderr, "Error: %s%s: %s\n", r->replay,
                        e == FST_REPLAY_E_DIVERGED ? ": the scheduler's decisions differ" : "", error_message(&error));
        error_deinit(&error);
        if (e >= 0)
                simulate_print_lines(lines, ARRAY_SIZE(lines), r->json);
        return simulate_finish(e != 0);
}

int command_simulate(int argc, char **argv)
{
        struct simulate_request r = {.o = SIMULATOR_OPTIONS_DEFAULT,
                                     .executors = 10,
                                     .cores = 4,
                                     .tasks = 1000,
                                     .jobs = 1,
                                     .stages = 2,
                                     .seed = 1,
                                     .last_seed = 1,
                                     .pools = POOL_FILE_INIT};
        int e;

        for (int i = 1; i < argc; i++)
                if (strcmp(argv[i], "--standalone") == 0)
                        return simulate_standalone(argc, argv);
        for (int i = 1; i < argc; i++)
                if (strcmp(argv[i], "--yarn") == 0)
                        return simulate_yarn(argc, argv);
        for (int i = 1; i < argc; i++)
                if (strcmp(argv[i], "--mesos") == 0)
                        return simulate_mesos(argc, argv);
        for (int i = 1; i < argc; i++)
                if (strcmp(argv[i], "--operator") == 0)
                        return simulate_operator(argc, argv);
        for (int i = 1; i < argc; i++)
                if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
                        return fputs(command_simulate_help, stdout) < 0 ? 1 : simulate_finish(0);
        log_reset_levels(LOG_OFF);
        conf_init(&r.conf);
        if ((e = simulate_read_options(&r, argc, argv)) == 0 && (e = simulate_check_request(&r)) == 0 &&
            (e = simulate_read_config(&r)) == 0)
                e = r.replay ? simulate_replay(&r) : simulate_run(&r, argc, argv);
        conf_deinit(&r.conf);
        sched_config_deinit(&r.o.config);
        pool_file_deinit(&r.pools);
        return e;
}
