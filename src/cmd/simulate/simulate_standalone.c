/*
 * firesteel simulate --standalone: measures a standalone master with many workers and applications. It calls the core
 * as a master process does. With --connections it starts a real master as a child process and opens one connection per
 * worker and application.
 */
#include "base/buf.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "cmd/simulate/simulate.h"
#include "standalone/master/load_generator.h"
#include "standalone/core/master_state.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define HEARTBEAT_MS 15000 /* spark.worker.timeout / 4 */
#define START_TIMEOUT_MS 60000

const char simulate_standalone_help[] =
        "Usage: firesteel simulate --standalone [OPTIONS]\n"
        "\n"
        "Let a standalone master place executors of one application on all workers, then those of many applications at\n"
        "once, and print how long it takes.\n"
        "\n"
        "  --workers N               (10000)\n"
        "  --cores N                 (4) of each worker\n"
        "  --executors N             (as many as workers) of the one application\n"
        "  --applications N          (1000) that come at once then, with ten executors each\n"
        "  --connections             a master process and a connection for each worker and application; without it,\n"
        "                            the core of the master alone\n"
        "  --heartbeats SECONDS      (0) with --connections: workers send heartbeats for so long, one in 15 s each\n"
        "  --output text|json        (text) how results are printed\n"
        "  --help                    show this\n";

struct simulate_standalone_request {
        int workers, cores, executors, applications, heartbeats;
        bool connections, json;
};

struct results {
        double registration, one, many, end; /* seconds */
        double end_processor;                /* the master's CPU seconds for that */
        int told;                            /* workers of ended applications */
        double processor;                    /* of the heartbeats, percent of one core */
        int64_t resident_kib;                /* with all workers and executors; the peak */
        int64_t idle_kib;                    /* of the master before */
};

static int simulate_standalone_usage(const char *problem, const char *word)
{
        fprintf(stderr, "Error: %s '%s' (see `firesteel simulate --standalone --help`)\n", problem, word);
        return 2;
}

static int simulate_standalone_read_options(struct simulate_standalone_request *r, int argc, char **argv)
{
        const struct {
                const char *name;
                int *value;
                int least, most;
        } numbers[] = {
                {"--workers", &r->workers, 1, 50000},       {"--cores", &r->cores, 1, 1024},
                {"--executors", &r->executors, 1, 1000000}, {"--applications", &r->applications, 0, 10000},
                {"--heartbeats", &r->heartbeats, 0, 3600},
        };
        for (int i = 1; i < argc; i++) {
                size_t n = 0;
                if (strcmp(argv[i], "--standalone") == 0)
                        continue;
                if (strcmp(argv[i], "--connections") == 0) {
                        r->connections = true;
                        continue;
                }
                while (n < ARRAY_SIZE(numbers) && strcmp(numbers[n].name, argv[i]) != 0)
                        n++;
                bool output = strcmp(argv[i], "--output") == 0;
                if (n == ARRAY_SIZE(numbers) && !output)
                        return simulate_standalone_usage("unknown option", argv[i]);
                if (i + 1 == argc)
                        return simulate_standalone_usage("a value is missing after", argv[i]);
                const char *value = argv[++i];
                if (output) {
                        r->json = strcmp(value, "json") == 0;
                        if (!r->json && strcmp(value, "text") != 0)
                                return simulate_standalone_usage("--output takes text or json, not", value);
                        continue;
                }
                char *end;
                long number = strtol(value, &end, 10);
                if (end == value || *end || number < numbers[n].least || number > numbers[n].most)
                        return simulate_standalone_usage("invalid number:", value);
                *numbers[n].value = (int)number;
        }
        if (r->executors == 0)
                r->executors = r->workers;
        if ((int64_t)r->executors + 10 * (int64_t)r->applications > (int64_t)r->workers * r->cores)
                return simulate_standalone_usage("the workers have too few cores for so many executors: raise",
                                                 "--cores");
        return 0;
}

/* --------------------------------------------------------------------------------------------------- the core alone */

/* Ignores the core's actions, and counts the executors that it launches. */
static int simulate_standalone_core_run(struct master *m)
{
        int launched = 0;
        for (const struct master_action *a; (a = master_next_action(m));)
                launched += a->kind == MASTER_LAUNCH_EXECUTOR;
        return launched;
}

static void simulate_standalone_core_app(struct master *m, int number, int executors)
{
        char name[64], address[64];
        snprintf(name, sizeof(name), "simulated %d", number);
        snprintf(address, sizeof(address), "driver-%05d.example:41000", number);
        struct app_spec spec = {.name = name,
                                .address = address,
                                .initial_executors = executors,
                                .profile = {.cores = 1, .memory = 1024}};
        master_register_app(m, (uint64_t)number + 1, &spec, 0);
}

static int simulate_standalone_run_core(const struct simulate_standalone_request *r, struct results *out,
                                        struct fst_error *error)
{
        struct master_config config = MASTER_CONFIG_DEFAULT;
        int launched = 0, wanted = r->executors + 10 * r->applications;
        config.log_level = LOG_OFF;
        struct master *m = master_new(&config);
        int64_t begin = now_ns();
        master_elected(m, NULL, 0, NULL, 0, NULL, 0, 0);
        for (int i = 0; i < r->workers; i++) {
                char id[64], host[64];
                snprintf(id, sizeof(id), "worker-%05d", i);
                snprintf(host, sizeof(host), "simulated-%05d.example", i);
                struct worker_spec spec = {.id = id,
                                           .host = host,
                                           .port = 40000,
                                           .web_ui = "",
                                           .cores = r->cores,
                                           .memory = 1024 * (int64_t)r->cores};
                master_register_worker(m, (uint64_t)i + 1, &spec, 0);
                launched += simulate_standalone_core_run(m);
        }
        master_schedule(m, 0);
        launched += simulate_standalone_core_run(m);
        int64_t registered = now_ns();
        simulate_standalone_core_app(m, 0, r->executors);
        master_schedule(m, 0);
        launched += simulate_standalone_core_run(m);
        int64_t one = now_ns();
        for (int i = 1; i <= r->applications; i++)
                simulate_standalone_core_app(m, i, 10);
        master_schedule(m, 0);
        launched += simulate_standalone_core_run(m);
        int64_t many = now_ns();
        out->registration = (double)(registered - begin) / 1e9;
        out->one = (double)(one - registered) / 1e9;
        out->many = (double)(many - one) / 1e9;
        master_free(m);
        return launched == wanted ? 0 : error_set(error, -EPROTO, "%d of %d executors were placed", launched, wanted);
}

/* ------------------------------------------------------------------------------------------------- a master process */

struct master_process {
        pid_t pid;
        int log; /* the read end */
        int port;
};

/* Reads a line of /proc/PID/status in KiB. */
static int64_t simulate_standalone_status_kib(pid_t pid, const char *name)
{
        char path[64], line[256];
        long long kib = 0;
        snprintf(path, sizeof(path), "/proc/%ld/status", (long)pid);
        FILE *f = fopen(path, "re");
        while (f && fgets(line, sizeof(line), f))
                if (strncmp(line, name, strlen(name)) == 0)
                        kib = strtoll(line + strlen(name), NULL, 10);
        if (f)
                fclose(f);
        return kib;
}

/* The CPU time of the process in seconds. */
static double simulate_standalone_processor_seconds(pid_t pid)
{
        char path[64];
        unsigned long user = 0, system = 0;
        snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
        FILE *f = fopen(path, "re");
        if (f && fscanf(f, "%*d %*s %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system) != 2)
                user = system = 0;
        if (f)
                fclose(f);
        return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static void simulate_standalone_run_master(int log)
{
        char *words[] = {(char *)"firesteel",    (char *)"master", (char *)"--host",
                         (char *)"127.0.0.1",    (char *)"--port", (char *)"0",
                         (char *)"--webui-port", (char *)"0",      NULL};
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        setenv("SPARK_MASTER_OPTS", "-Dspark.master.rest.enabled=false -Dspark.log.level=INFO", 1);
        setenv("SPARK_ENV_LOADED", "1", 1);
        unsetenv("SPARK_DAEMON_JAVA_OPTS");
        setenv("SPARK_CONF_DIR", "/nonexistent", 1);
        execv("/proc/self/exe", words);
        _exit(127);
}

/* Reads the master's port from its log. */
static int simulate_standalone_read_port(struct master_process *p, struct fst_error *error)
{
        static const char before[] = "Starting Spark master at spark://127.0.0.1:";
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (int64_t end = now_ns() + START_TIMEOUT_MS * INT64_C(1000000); now_ns() < end;) {
                struct pollfd poll_fd = {p->log, POLLIN, 0};
                if (poll(&poll_fd, 1, 1000) <= 0)
                        continue;
                buf_reserve(&text, 4096);
                ssize_t n = read(p->log, text.data + text.len, 4096);
                if (n <= 0)
                        break;
                text.len += (size_t)n;
                text.data[text.len] = '\0';
                const char *at = strstr(buf_text(&text), before);
                if (at && strchr(at, '\n') && strstr(at, "New state: ALIVE")) {
                        p->port = atoi(at + strlen(before));
                        return 0;
                }
        }
        return error_set(error, -EIO, "the master did not start: %s", buf_text(&text));
}

/* Later log lines are not read, so they go to /dev/null. */
static int simulate_standalone_start_master(struct master_process *p, struct fst_error *error)
{
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
                return error_errno(error, "cannot start a master");
        p->pid = fork();
        if (p->pid == 0)
                simulate_standalone_run_master(ends[1]);
        close(ends[1]);
        p->log = ends[0];
        return p->pid < 0 ? error_errno(error, "cannot start a master") : simulate_standalone_read_port(p, error);
}

static void simulate_standalone_end_master(struct master_process *p)
{
        int status;
        if (p->pid > 0) {
                kill(p->pid, SIGKILL);
                while (waitpid(p->pid, &status, 0) < 0 && errno == EINTR)
                        ;
        }
        if (p->log >= 0)
                close(p->log);
}

/* Drains the master's log while it is measured. */
static int simulate_standalone_drain(struct master_process *p, struct fst_error *error)
{
        pid_t reader = fork();
        if (reader == 0) {
                char lines[65536];
                while (read(p->log, lines, sizeof(lines)) > 0)
                        ;
                _exit(0);
        }
        return reader < 0 ? error_errno(error, "cannot read the master's log") : reader;
}

static int simulate_standalone_load(const struct simulate_standalone_request *r, const struct master_process *p,
                                    struct results *out, struct fst_error *error)
{
        struct cluster_load *l = NULL;
        out->idle_kib = simulate_standalone_status_kib(p->pid, "VmRSS:");
        int e = cluster_load_new("127.0.0.1", p->port, &l, error);
        if (e == 0)
                e = cluster_load_workers(l, r->workers, r->cores, &out->registration, error);
        if (e == 0)
                e = cluster_load_apps(l, 1, r->executors, &out->one, error);
        if (e == 0 && r->heartbeats) {
                double before = simulate_standalone_processor_seconds(p->pid);
                e = cluster_load_beat(l, HEARTBEAT_MS, r->heartbeats * 1000, error);
                out->processor = (simulate_standalone_processor_seconds(p->pid) - before) / r->heartbeats * 100;
        }
        if (e == 0 && r->applications)
                e = cluster_load_apps(l, r->applications, 10, &out->many, error);
        double before_end = simulate_standalone_processor_seconds(p->pid);
        if (e == 0)
                e = cluster_load_end(l, &out->end, &out->told, error);
        out->end_processor = simulate_standalone_processor_seconds(p->pid) - before_end;
        out->resident_kib = simulate_standalone_status_kib(p->pid, "VmHWM:");
        cluster_load_free(l);
        return e;
}

static int simulate_standalone_run_connections(const struct simulate_standalone_request *r, struct results *out,
                                               struct fst_error *error)
{
        struct master_process p = {.log = -1};
        int status, e = simulate_standalone_start_master(&p, error);
        pid_t reader = e == 0 ? simulate_standalone_drain(&p, error) : 0;
        if (e == 0)
                e = reader < 0 ? -EAGAIN : simulate_standalone_load(r, &p, out, error);
        simulate_standalone_end_master(&p);
        if (reader > 0)
                while (waitpid(reader, &status, 0) < 0 && errno == EINTR)
                        ;
        return e;
}

/* ---------------------------------------------------------------------------------------------------------- results */

static void simulate_standalone_print_results(const struct simulate_standalone_request *r, const struct results *s)
{
        const struct {
                const char *name, *words;
                double value;
                int digits;
                bool shown;
        } lines[] = {
                {"workers", "workers", r->workers, 0, true},
                {"registrationSeconds", "all registered, s", s->registration, 3, true},
                {"executors", "executors of one application", r->executors, 0, true},
                {"placementSeconds", r->connections ? "all running, s" : "all placed, s", s->one, 3, true},
                {"applications", "applications at once", r->applications, 0, true},
                {"applicationsSeconds", r->connections ? "all their executors running, s" : "all placed, s", s->many, 3,
                 true},
                {"heartbeatPercent", "processor for heartbeats, % of one core", s->processor, 1, r->heartbeats > 0},
                {"endSeconds", "all ended, their executors told so, s", s->end, 3, r->connections},
                {"endProcessorSeconds", "processor for that, s", s->end_processor, 2, r->connections},
                {"endMessages", "workers told of an application's end", s->told, 0, r->connections},
                {"idleKiB", "resident before, KiB", (double)s->idle_kib, 0, r->connections},
                {"peakKiB", "resident at most, KiB", (double)s->resident_kib, 0, r->connections},
        };
        bool first = true;
        for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
                if (!lines[i].shown)
                        continue;
                if (r->json)
                        printf("%s\"%s\":%.*f", first ? "{" : ",", lines[i].name, lines[i].digits, lines[i].value);
                else
                        printf("%-42s %.*f\n", lines[i].words, lines[i].digits, lines[i].value);
                first = false;
        }
        if (r->json)
                puts("}");
}

int simulate_standalone(int argc, char **argv)
{
        struct simulate_standalone_request r = {.workers = 10000, .cores = 4, .applications = 1000};
        struct results results = {0};
        struct fst_error error = FST_ERROR_INIT;
        for (int i = 1; i < argc; i++)
                if (strcmp(argv[i], "--help") == 0)
                        return fputs(simulate_standalone_help, stdout) < 0 || fflush(stdout) != 0;
        int e = simulate_standalone_read_options(&r, argc, argv);
        if (e)
                return e;
        e = r.connections ? simulate_standalone_run_connections(&r, &results, &error)
                          : simulate_standalone_run_core(&r, &results, &error);
        if (e == 0)
                simulate_standalone_print_results(&r, &results);
        else
                fprintf(stderr, "Error: %s\n", error_message(&error));
        error_deinit(&error);
        return e != 0 || fflush(stdout) != 0;
}
