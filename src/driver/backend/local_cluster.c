/*
 * See local_cluster.h. Spark starts a master and N workers. Here the driver starts the executors itself, as many as
 * such workers would, or fewer if fewer are requested. It replaces one that ends by a new one with a new id, unless
 * fewer are wanted.
 */
#include "driver/backend/local_cluster.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "base/string_list.h"
#include "driver/backend/cluster_backend.h"
#include "driver/check_mode.h"
#include "driver/context.h"
#include "driver/resources/custom_resources.h"
#include "driver/resources/resource_profiles.h"
#include "process/child.h"
#include "process/foreign_process.h"
#include "exec/executor.h"
#include "exec/executor_process.h"
#include "exec/app/file_cache.h"
#include "exec/app/module.h"
#include "exec/app/program_path.h"
#include "exec/app/source_line.h"
#include "exec/guard/crash.h"
#include "logs/log_capture.h"
#include "net/security.h"
#include "sched/allocation/executor_allocation.h"
#include "store/disk_dirs.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_MODULES = 64 };

#define KILL_TIMEOUT_MS 2000 /* before an executor is killed */

struct local_executor {
        struct local_cluster *cluster;
        char *id;
        int worker, place; /* place: index of its share of the worker's custom resources; -1: it has none */
        int profile, cores, memory_mib;
        struct child *child;             /* both NULL: ended */
        struct foreign_process *foreign; /* an earlier driver started it */
        bool killed;         /* by this manager */
        uv_timer_t timeout;  /* runs while it may stop by itself */
        bool registered;
};

/* The requested number of executors of a resource profile. */
struct profile_wanted {
        int profile, wanted;
};

struct local_cluster {
        struct executor_manager manager;
        struct fst_context *sc;
        struct cluster_backend *backend;
        char *program, *driver_url;
        struct worker_resources *resources;
        VEC(char *) hosts; /* of workers, in rotation */
        VEC(struct local_executor *) executors;
        VEC(struct local_executor *) earlier; /* until `start` places them */
        int cores, each_worker;            /* of an executor; executors per worker */
        int most;                          /* maximum number of executors */
        int wanted;                        /* requested number of executors */
        VEC(struct profile_wanted) others; /* the same of other resource profiles */
        int memory_mib;                    /* of an executor of the default profile */
        int first_id; /* earlier drivers may have started executors with lower ids */
        int next_id, running, failures, most_failures;
        bool failing; /* the last requested executors could not be started */
        bool stopping;
};

static bool local_executor_runs(const struct local_executor *x)
{
        return x->child || x->foreign;
}

static void local_executor_signal(struct local_executor *x, int signal)
{
        if (x->child)
                child_kill(x->child, signal);
        else if (x->foreign)
                foreign_process_kill(x->foreign, signal);
}

static struct local_cluster *local_cluster_of(struct executor_manager *manager)
{
        return container_of(manager, struct local_cluster, manager);
}

/* --------------------------------------------------------------------------------------------------- starting */

static void local_cluster_add_conf(const struct fst_conf *conf, struct string_list *a)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));) {
                if (!executor_startup_key(e->key))
                        continue;
                string_list_add(a, "--conf");
                string_list_take(a, mem_printf("%s=%s", e->key, e->value));
        }
}

/* Executors load the driver's modules before they register, from the same paths. */
static void local_cluster_add_modules(struct string_list *a)
{
        const struct module *modules[MAX_MODULES];
        size_t n = MIN(module_list(modules, MAX_MODULES), (size_t)MAX_MODULES);
        for (size_t i = 0; i < n; i++) {
                string_list_add(a, "--user-class-path");
                string_list_add(a, modules[i]->path);
        }
}

/* The executors and the driver. */
static int local_cluster_processes(const struct local_cluster *c)
{
        return MIN(c->most, c->each_worker * c->sc->master.executors) + 1;
}

static void local_cluster_command_line(const struct local_cluster *c, const struct local_executor *x,
                                       const char *resources, struct string_list *a)
{
        string_list_add(a, "firesteel");
        string_list_add(a, "executor");
        string_list_add(a, "--driver-url");
        string_list_add(a, c->driver_url);
        string_list_add(a, "--executor-id");
        string_list_add(a, x->id);
        string_list_add(a, "--hostname");
        string_list_add(a, c->hosts.data[(size_t)x->worker % c->hosts.len]);
        string_list_add(a, "--cores");
        string_list_take(a, mem_printf("%d", x->cores));
        if (x->profile) {
                string_list_add(a, "--resourceProfileId");
                string_list_take(a, mem_printf("%d", x->profile));
        }
        string_list_add(a, "--group-processes");
        string_list_take(a, mem_printf("%d", local_cluster_processes(c)));
        string_list_add(a, "--started-by");
        string_list_add(a, "driver");
        string_list_add(a, "--app-id");
        string_list_add(a, c->sc->app_id);
        if (resources) {
                string_list_add(a, "--resourcesFile");
                string_list_add(a, resources);
        }
        local_cluster_add_conf(c->sc->conf, a);
        local_cluster_add_modules(a);
}

static void local_cluster_on_executor_ended(void *owner, struct child *child, int wait_status, const char *last_words);
static void local_cluster_kill(struct executor_manager *manager, const char *executor_id);

/* Starts an executor with the place, profile and size of @at. */
static int local_cluster_start_executor(struct local_cluster *c, const struct local_executor *at,
                                        struct fst_error *error)
{
        const char *resources = NULL;
        int r = at->place < 0 ? 0 : worker_resources_file(c->resources, at->place, &resources, error);
        if (r)
                return r;
        struct local_executor *x = new0(struct local_executor);
        *x = *at;
        _cleanup_(string_list_deinit) struct string_list command = {0}, variables = {0};
        x->cluster = c;
        cluster_backend_reserve_executor_ids(c->backend, c->next_id + 1);
        x->id = mem_printf("%d", c->next_id++);
        uv_timer_init(cluster_backend_loop(c->backend), &x->timeout);
        x->timeout.data = x;
        vec_push(&c->executors, x);
        local_cluster_command_line(c, x, resources, &command);
        executor_process_environment(&variables, conf_get_raw(c->sc->conf, "spark.authenticate.secret"));
        struct child_options options = {.file = c->program,
                                        .arguments = string_list_argv(&command),
                                        .environment = string_list_argv(&variables),
                                        .output = log_capture_previous(STDOUT_FILENO),
                                        .errors = log_capture_previous(STDERR_FILENO),
                                        .ended = local_cluster_on_executor_ended,
                                        .owner = x};
        r = child_start(cluster_backend_loop(c->backend), &options, &x->child, error);
        c->running += r == 0;
        return r;
}

/* Adds up the running executors of a worker. */
static int local_cluster_used(const struct local_cluster *c, int worker, int *cores, int *memory_mib)
{
        int n = 0;
        *cores = *memory_mib = 0;
        for (size_t i = 0; i < c->executors.len; i++) {
                const struct local_executor *x = c->executors.data[i];
                if (!local_executor_runs(x) || x->worker != worker)
                        continue;
                *cores += x->cores;
                *memory_mib += x->memory_mib;
                n++;
        }
        return n;
}

/* The first free share of the worker's custom resources; -1: none is free. */
static int local_cluster_free_place(const struct local_cluster *c, int worker)
{
        _cleanup_free_ bool *taken = new_array(bool, (size_t)c->each_worker + 1);
        int place = 0;
        for (size_t i = 0; i < c->executors.len; i++) {
                const struct local_executor *x = c->executors.data[i];
                if (local_executor_runs(x) && x->worker == worker && x->place >= 0)
                        taken[x->place] = true;
        }
        while (place < c->each_worker && taken[place])
                place++;
        return place < c->each_worker ? place : -1;
}

/* Finds the worker with the fewest executors that has room for @x, and sets its place. Returns false if there is none.
 */
static bool local_cluster_find_place(const struct local_cluster *c, struct local_executor *x)
{
        const struct master_url *m = &c->sc->master;
        int fewest = INT32_MAX;
        for (int w = 0; w < m->executors; w++) {
                int cores, memory_mib, place = x->profile ? -1 : local_cluster_free_place(c, w);
                int n = local_cluster_used(c, w, &cores, &memory_mib);
                if (n >= fewest || cores + x->cores > m->cores || memory_mib + x->memory_mib > m->memory_mib ||
                    (!x->profile && place < 0))
                        continue;
                fewest = n;
                x->worker = w;
                x->place = place;
        }
        return fewest < INT32_MAX;
}

static int local_cluster_count(const struct local_cluster *c, int profile)
{
        int n = 0;
        for (size_t i = 0; i < c->executors.len; i++)
                n += local_executor_runs(c->executors.data[i]) && c->executors.data[i]->profile == profile;
        return n;
}

/* Starts the missing executors of a profile, as far as workers have room. */
static int local_cluster_start_profile(struct local_cluster *c, int id, int wanted, struct fst_error *error)
{
        const struct fst_resource_profile *p = id ? resource_profiles_find(c->sc->profiles, id) : NULL;
        struct local_executor at = {.profile = id,
                                    .cores = (int)resource_profile_amount(p, PROFILE_CORES, c->cores),
                                    .memory_mib = (int)resource_profile_amount(p, PROFILE_MEMORY, c->memory_mib)};
        const int missing = wanted - local_cluster_count(c, id);
        int r = 0;
        if (missing > 0)
                cluster_backend_reserve_executor_ids(c->backend, c->next_id + MIN(missing, c->most));
        while (r == 0 && local_cluster_count(c, id) < wanted && local_cluster_find_place(c, &at))
                r = local_cluster_start_executor(c, &at, error);
        return r;
}

static int local_cluster_start_wanted(struct local_cluster *c, struct fst_error *error)
{
        int r = local_cluster_start_profile(c, 0, MIN(c->wanted, c->most), error);
        for (size_t i = 0; i < c->others.len && r == 0; i++)
                r = local_cluster_start_profile(c, c->others.data[i].profile, c->others.data[i].wanted, error);
        return r;
}

/* Called when there is room or more are wanted. */
static void local_cluster_start_more(struct local_cluster *c)
{
        struct fst_error error = FST_ERROR_INIT;
        if (local_cluster_start_wanted(c, &error) == 0)
                return;
        log_error("LocalSparkCluster", "%s", error_message(&error));
        if (c->running == 0)
                cluster_backend_abort(c->backend, error_message(&error));
        error_deinit(&error);
}

/* ------------------------------------------------------------------------------------------------------ ending */

/* Executors run in the driver's working directory. */
static char *local_cluster_describe_end(const struct fst_context *sc, pid_t pid, int wait_status,
                                        const char *last_words)
{
        char directory[4096];
        char *end = executor_process_end(pid, wait_status, last_words,
                                         getcwd(directory, sizeof(directory)) ? directory : "/");
        char *with_line = sc->check && crash_report_task(last_words) >= 0 ? source_line_add(end) : NULL;
        if (with_line)
                free(end);
        return with_line ? with_line : end;
}

static bool local_cluster_any_registered(const struct local_cluster *c)
{
        for (size_t i = 0; i < c->executors.len; i++)
                if (local_executor_runs(c->executors.data[i]) && c->executors.data[i]->registered)
                        return true;
        return false;
}

/* @failed: it counts among the executors that end in a row. */
static void local_cluster_executor_ended(struct local_executor *x, bool failed, const char *reason)
{
        struct local_cluster *c = x->cluster;
        uv_timer_stop(&x->timeout);
        c->running--;
        cluster_backend_executor_exited(c->backend, x->id, !x->killed, reason);
        if (c->stopping)
                return;
        c->failures += !x->killed && failed;
        /* Executors that are still starting do not count: they may fail in turns, forever. */
        if (c->failures >= c->most_failures && !local_cluster_any_registered(c)) {
                _cleanup_free_ char *why =
                        mem_printf("no executor can be kept running: %d have ended in a row; the last one: %s",
                                   c->failures, reason);
                cluster_backend_abort(c->backend, why);
        } else {
                local_cluster_start_more(c);
        }
}

static void local_cluster_on_executor_ended(void *owner, struct child *child, int wait_status, const char *last_words)
{
        struct local_executor *x = owner;
        struct local_cluster *c = x->cluster;
        x->child = NULL;
        _cleanup_free_ char *reason = local_cluster_describe_end(c->sc, child_pid(child), wait_status, last_words);
        if (c->stopping && WIFSIGNALED(wait_status) && !x->killed)
                log_error("LocalSparkCluster", "Executor %s did not stop cleanly: %s", x->id, reason);
        local_cluster_executor_ended(x, !(x->registered && wait_status == 0), reason);
}

/* The exit status of a process whose parent has ended is unknown. */
static void local_cluster_on_earlier_ended(void *owner)
{
        struct local_executor *x = owner;
        foreign_process_free(steal(x->foreign));
        local_cluster_executor_ended(x, !x->registered, "Its process, which an earlier driver had started, has ended");
}

/* ------------------------------------------------------------------------------------------ of an earlier driver */

static void local_cluster_adopt(struct executor_manager *manager, struct cluster_backend *backend,
                                const struct earlier_executor *executors, int n, int next_id)
{
        struct local_cluster *c = local_cluster_of(manager);
        c->backend = backend;
        c->first_id = c->next_id = next_id;
        for (int i = 0; i < n; i++) {
                struct local_executor *x = new0(struct local_executor);
                *x = (struct local_executor){.cluster = c,
                                             .id = mem_strdup(executors[i].id),
                                             .profile = executors[i].profile,
                                             .cores = executors[i].cores};
                uv_timer_init(cluster_backend_loop(backend), &x->timeout);
                x->timeout.data = x;
                if (foreign_process_new(cluster_backend_loop(backend), (pid_t)executors[i].pid, executors[i].started,
                                        local_cluster_on_earlier_ended, x, &x->foreign))
                        cluster_backend_executor_exited(backend, x->id, false, "It has ended with its driver");
                vec_push(&c->earlier, x);
        }
}

/* Gives the executors of an earlier driver the places that they had or others, and ends those without one. */
static void local_cluster_place_earlier(struct local_cluster *c)
{
        for (size_t i = 0; i < c->earlier.len; i++) {
                struct local_executor *x = c->earlier.data[i];
                const struct fst_resource_profile *p =
                        x->profile ? resource_profiles_find(c->sc->profiles, x->profile) : NULL;
                const char *resources = NULL;
                x->memory_mib = (int)resource_profile_amount(p, PROFILE_MEMORY, c->memory_mib);
                bool placed = x->foreign && local_cluster_find_place(c, x);
                if (placed && x->place >= 0) /* nobody knows which of the worker's resources it has */
                        placed = worker_resources_file(c->resources, x->place, &resources, NULL) == 0 && !resources;
                vec_push(&c->executors, x);
                c->running += x->foreign != NULL;
                if (x->foreign && !placed) {
                        x->place = -1;
                        local_cluster_kill(&c->manager, x->id);
                }
        }
        c->earlier.len = 0;
}

/* --------------------------------------------------------------------------------------------------- the manager */

/* Computes the number and cores of executors that N workers of C cores and M MiB can start. */
static int local_cluster_plan(struct local_cluster *c, struct fst_error *error)
{
        const struct fst_conf *conf = c->sc->conf;
        const struct master_url *m = &c->sc->master;
        int64_t memory, each = 0, most = INT32_MAX;
        int r = conf_get_bytes(conf, "spark.executor.memory", &memory, error);
        if (r == 0 && conf_contains(conf, "spark.executor.cores"))
                r = conf_get_int(conf, "spark.executor.cores", &each, error);
        if (r == 0 && conf_contains(conf, "spark.cores.max"))
                r = conf_get_int(conf, "spark.cores.max", &most, error);
        if (r)
                return r;
        int64_t mib = (memory + (1 << 20) - 1) >> 20;
        if (mib > m->memory_mib)
                return error_set(error, -EINVAL,
                                 "Asked to launch cluster with %d MiB/worker but requested %lld MiB/executor: make "
                                 "spark.executor.memory smaller (by --conf: a local master takes no "
                                 "--executor-memory), or the workers larger",
                                 m->memory_mib, (long long)mib);
        if (each > m->cores)
                return error_set(error, -EINVAL, "spark.executor.cores is %lld, but each worker has %d cores",
                                 (long long)each, m->cores);
        int64_t room = each ? m->memory_mib / MAX(mib, 1) : 1;
        room = each ? MIN(room, m->cores / each) : room;
        c->each_worker = (int)MIN(room, worker_resources_executors(c->resources));
        c->cores = (int)(each ? each : m->cores);
        c->memory_mib = (int)mib;
        most = MAX(most / c->cores, 1);
        c->most = (int)MIN((int64_t)c->each_worker * m->executors, most);
        return 0;
}

static int local_cluster_make_secret(struct executor_manager *manager, struct fst_error *error)
{
        struct fst_conf *conf = local_cluster_of(manager)->sc->conf;
        _cleanup_free_ char *secret = NULL;
        int r = security_make_secret(conf, &secret, error);
        if (r == 0)
                conf_set(conf, "spark.authenticate.secret", secret);
        return r;
}

/* The host names of this machine for the workers, in rotation. */
static void local_cluster_read_hosts(struct local_cluster *c)
{
        const char *names = conf_get_raw(c->sc->conf, "spark.firesteel.localCluster.hosts");
        for (const char *at = names ? names : ""; *at; at += strspn(at, ", ")) {
                size_t n = strcspn(at, ", ");
                if (n)
                        vec_push(&c->hosts, mem_strndup(at, n));
                at += n;
        }
        if (c->hosts.len == 0)
                vec_push(&c->hosts, mem_strdup(c->sc->host));
}

static int local_cluster_start(struct executor_manager *manager, struct cluster_backend *backend,
                               const char *driver_url, struct fst_error *error)
{
        struct local_cluster *c = local_cluster_of(manager);
        int64_t retries;
        int r;
        c->backend = backend;
        c->driver_url = mem_strdup(driver_url);
        local_cluster_read_hosts(c);
        c->program = program_find();
        if (!c->program)
                return error_set(error, -ENOENT,
                                 "local-cluster needs the program firesteel, which is not beside the library");
        if ((r = worker_resources_new(c->sc->conf, &c->resources, error)) || (r = local_cluster_plan(c, error)) ||
            (r = conf_get_int(c->sc->conf, "spark.deploy.maxExecutorRetries", &retries, error)))
                return r;
        c->most_failures = retries < 0 ? INT32_MAX : (int)retries;
        local_cluster_place_earlier(c);
        return local_cluster_start_wanted(c, error);
}

static bool local_cluster_request(struct executor_manager *manager, const struct executor_request *requests, int n)
{
        struct local_cluster *c = local_cluster_of(manager);
        struct fst_error error = FST_ERROR_INIT;
        c->wanted = 0;
        c->others.len = 0;
        for (int i = 0; i < n; i++)
                if (requests[i].profile == 0)
                        c->wanted = requests[i].target;
                else
                        vec_push(&c->others, (struct profile_wanted){requests[i].profile, requests[i].target});
        if (!c->backend || c->stopping)
                return true;
        bool failed = local_cluster_start_wanted(c, &error) != 0;
        if (failed && !c->failing)
                log_error("LocalSparkCluster", "%s", error_message(&error));
        c->failing = failed;
        error_deinit(&error);
        return !failed;
}

static int64_t local_cluster_expected_cores(const struct executor_manager *manager, double *ratio)
{
        const struct master_url *m = &container_of(manager, struct local_cluster, manager)->sc->master;
        return (int64_t)m->executors * m->cores;
}

static int local_cluster_group_processes(const struct executor_manager *manager)
{
        return local_cluster_processes(container_of(manager, struct local_cluster, manager));
}

static struct local_executor *local_cluster_find(const struct local_cluster *c, const char *id)
{
        for (size_t i = c->executors.len; i-- > 0;)
                if (strcmp(c->executors.data[i]->id, id) == 0)
                        return c->executors.data[i];
        return NULL;
}

/* A process that an earlier driver has started, but not journaled. */
static bool local_cluster_refuses(const struct executor_manager *manager, const char *executor_id)
{
        const struct local_cluster *c = container_of(manager, struct local_cluster, manager);
        return atoi(executor_id) < c->first_id && !local_cluster_find(c, executor_id);
}

static void local_cluster_registered(struct executor_manager *manager, const char *executor_id)
{
        struct local_cluster *c = local_cluster_of(manager);
        struct local_executor *x = local_cluster_find(c, executor_id);
        c->failures = 0;
        if (x)
                x->registered = true;
}

static void local_cluster_on_timeout(uv_timer_t *timer)
{
        struct local_executor *x = timer->data;
        local_executor_signal(x, SIGKILL);
}

static void local_cluster_kill(struct executor_manager *manager, const char *executor_id)
{
        struct local_executor *x = local_cluster_find(local_cluster_of(manager), executor_id);
        if (!x || !local_executor_runs(x))
                return;
        x->killed = true;
        local_executor_signal(x, SIGTERM);
        uv_timer_start(&x->timeout, local_cluster_on_timeout, KILL_TIMEOUT_MS, 0);
}

static bool local_cluster_stopped(struct executor_manager *manager)
{
        struct local_cluster *c = local_cluster_of(manager);
        bool first = !c->stopping;
        c->stopping = true;
        /* The driver cannot reach executors that have not registered. */
        for (size_t i = 0; first && i < c->executors.len; i++)
                if (local_executor_runs(c->executors.data[i]) && !c->executors.data[i]->registered) {
                        c->executors.data[i]->killed = true;
                        local_executor_signal(c->executors.data[i], SIGTERM);
                }
        return c->running == 0;
}

static void local_cluster_stop(struct executor_manager *manager)
{
        struct local_cluster *c = local_cluster_of(manager);
        c->stopping = true;
        for (size_t i = 0; i < c->earlier.len; i++) /* it did not start: another driver may adopt them */
                foreign_process_free(steal(c->earlier.data[i]->foreign));
        for (size_t i = 0; i < c->executors.len; i++)
                if (local_executor_runs(c->executors.data[i])) {
                        c->executors.data[i]->killed = true;
                        local_executor_signal(c->executors.data[i], SIGKILL);
                }
        while (c->running > 0)
                uv_run(cluster_backend_loop(c->backend), UV_RUN_ONCE);
}

static void local_cluster_free(struct executor_manager *manager)
{
        struct local_cluster *c = local_cluster_of(manager);
        _cleanup_free_ char *local = NULL, *list = NULL, *files = NULL;
        if (conf_get_string(c->sc->conf, "spark.local.dir", &local, NULL) == 0) {
                list = disk_dirs_configured(local);
                files = file_cache_dir(list, c->sc->app_id);
                file_cache_sweep(files);
        }
        for (size_t i = 0; i < c->executors.len; i++) {
                free(c->executors.data[i]->id);
                free(c->executors.data[i]);
        }
        vec_deinit(&c->executors);
        for (size_t i = 0; i < c->earlier.len; i++) {
                free(c->earlier.data[i]->id);
                free(c->earlier.data[i]);
        }
        vec_deinit(&c->earlier);
        worker_resources_free(c->resources);
        for (size_t i = 0; i < c->hosts.len; i++)
                free(c->hosts.data[i]);
        vec_deinit(&c->hosts);
        vec_deinit(&c->others);
        free(c->program);
        free(c->driver_url);
        free(c);
}

static const struct executor_manager_class local_cluster_class = {
        .name = "local-cluster",
        .must_notify_shuffle_services = true,
        .make_secret = local_cluster_make_secret,
        .start = local_cluster_start,
        .adopt = local_cluster_adopt,
        .refuses = local_cluster_refuses,
        .registered = local_cluster_registered,
        .request_executors = local_cluster_request,
        .expected_cores = local_cluster_expected_cores,
        .group_processes = local_cluster_group_processes,
        .kill = local_cluster_kill,
        .stopped = local_cluster_stopped,
        .stop = local_cluster_stop,
        .free = local_cluster_free,
};

int local_cluster_new(struct fst_context *sc, struct executor_manager **out, struct fst_error *error)
{
        struct local_cluster *c = new0(struct local_cluster);
        c->manager.class = &local_cluster_class;
        c->sc = sc;
        c->wanted = INT32_MAX;
        *out = &c->manager;
        return 0;
}
