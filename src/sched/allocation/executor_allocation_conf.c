/*
 * Checks and messages are those of Spark's ExecutorAllocationManager (validateSettings), ResourceProfile and
 * configuration entries. The initial number is the maximum of minExecutors, initialExecutors and
 * spark.executor.instances, as in Utils.getDynamicAllocationInitialExecutors.
 */
#include "sched/allocation/executor_allocation_conf.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "sched/sched_conf.h"

#include <limits.h>

#define LOG "ExecutorAllocationManager"
#define PREFIX "spark.dynamicAllocation."

static int64_t executor_allocation_conf_scaled(int64_t value, int64_t unit)
{
        int64_t out;

        return __builtin_mul_overflow(value, unit, &out) ? INT64_MAX : out;
}

/* Reads a time in whole seconds. */
static int read_seconds(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        int64_t ms = 0;
        int r = conf_get_ms(conf, key, &ms, error);

        if (r == 0)
                *out = executor_allocation_conf_scaled(ms / 1000, NS_PER_SECOND);
        return r;
}

static int read_idle_time(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        int64_t ms = 0;
        int r = conf_get_ms(conf, key, &ms, error);

        if (r == 0 && ms < 0)
                r = error_set(error, -EINVAL, "%s is %lld ms: Timeout must be >= 0.", key, (long long)ms);
        if (r == 0)
                *out = executor_allocation_conf_scaled(ms, NS_PER_MS);
        return r;
}

static int executor_allocation_conf_read_numbers(const struct fst_conf *conf, struct executor_allocation_config *c,
                                                 struct fst_error *error)
{
        static const char min_key[] = PREFIX "minExecutors", max_key[] = PREFIX "maxExecutors";
        int initial = 0, instances = 0, r;

        c->max = INT_MAX;
        r = conf_read_int(conf, min_key, &c->min, error);
        if (r == 0)
                r = conf_read_int(conf, max_key, &c->max, error);
        if (r == 0)
                r = conf_read_int(conf, PREFIX "initialExecutors", &initial, error);
        if (r == 0)
                r = conf_read_int(conf, "spark.executor.instances", &instances, error);
        if (r)
                return r;
        if (c->min < 0 || c->max < 0)
                return error_set(error, -EINVAL, "%s and %s must be positive!", min_key, max_key);
        if (c->max == 0)
                return error_set(error, -EINVAL, "%s cannot be 0!", max_key);
        if (c->min > c->max)
                return error_set(error, -EINVAL, "%s (%d) must be less than or equal to %s (%d)!", min_key, c->min,
                                 max_key, c->max);
        if (initial < c->min)
                log_warn(LOG,
                         PREFIX "initialExecutors less than %s is invalid, ignoring its setting, please update "
                                "your configs.",
                         min_key);
        if (instances > 0 && instances < c->min)
                log_warn(LOG,
                         "spark.executor.instances less than %s is invalid, ignoring its setting, please update "
                         "your configs.",
                         min_key);
        c->initial = MAX(MAX(c->min, initial), instances);
        log_info(LOG,
                 "Using initial executors = %d, max of " PREFIX "initialExecutors, %s and spark.executor.instances",
                 c->initial, min_key);
        return 0;
}

static int read_growth(const struct fst_conf *conf, struct executor_allocation_config *c, struct fst_error *error)
{
        static const char backlog[] = PREFIX "schedulerBacklogTimeout",
                          sustained[] = PREFIX "sustainedSchedulerBacklogTimeout",
                          ratio[] = PREFIX "executorAllocationRatio";
        int r = read_seconds(conf, backlog, &c->backlog_timeout, error);

        if (r == 0)
                r = read_seconds(conf, sustained, &c->sustained_timeout, error);
        if (r == 0)
                r = conf_get_double(conf, ratio, &c->ratio, error);
        if (r)
                return r;
        if (c->backlog_timeout <= 0)
                return error_set(error, -EINVAL, "%s must be > 0!", backlog);
        if (c->sustained_timeout <= 0)
                return error_set(error, -EINVAL, "%s must be > 0!", sustained);
        if (!(c->ratio > 0 && c->ratio <= 1))
                return error_set(error, -EINVAL, "%s must be > 0 and <= 1.0", ratio);
        return 0;
}

static int read_idle_times(const struct fst_conf *conf, struct executor_monitor_config *m, struct fst_error *error)
{
        int r = read_idle_time(conf, PREFIX "executorIdleTimeout", &m->idle, error);

        if (r == 0)
                r = read_idle_time(conf, PREFIX "cachedExecutorIdleTimeout", &m->cached, error);
        if (r)
                return r;
        m->idle -= m->idle % NS_PER_SECOND;
        m->cached -= m->cached % NS_PER_SECOND;
        return read_idle_time(conf, PREFIX "shuffleTracking.timeout", &m->shuffle, error);
}

/* Checks that some setting lets map outputs outlive removed executors. */
static int read_shuffle(const struct fst_conf *conf, struct executor_allocation_config *c, struct fst_error *error)
{
        static const char service_key[] = "spark.shuffle.service.enabled",
                          tracking_key[] = PREFIX "shuffleTracking.enabled",
                          decommission_key[] = "spark.decommission.enabled",
                          blocks_key[] = "spark.storage.decommission.shuffleBlocks.enabled",
                          store_key[] = "spark.firesteel.shuffle.store";
        const char *manager = conf_get_value(conf, "spark.shuffle.manager");
        bool stored = conf_contains(conf, store_key) || (manager && strcasestr(manager, "celeborn"));
        bool service = false, rdds = false, tracking = false, moved = false, testing = false;
        int r = conf_get_bool(conf, service_key, &service, error);

        if (r == 0)
                r = conf_get_bool(conf, "spark.shuffle.service.fetch.rdd.enabled", &rdds, error);
        if (r == 0)
                r = conf_get_bool(conf, tracking_key, &tracking, error);
        if (r == 0)
                r = conf_get_bool(conf, decommission_key, &c->decommission, error);
        if (r == 0)
                r = conf_get_bool(conf, blocks_key, &moved, error);
        if (r == 0)
                r = conf_get_bool(conf, PREFIX "testing", &testing, error);
        if (r)
                return r;
        moved = moved && c->decommission;
        if (!service && !tracking && !moved && !testing && !stored)
                return error_set(error, -EINVAL,
                                 "Dynamic allocation of executors requires one of the following conditions: 1) "
                                 "enabling external shuffle service through %s. 2) enabling shuffle tracking through "
                                 "%s. 3) enabling shuffle blocks decommission through %s and %s. 4) storing map "
                                 "outputs outside of executors through %s.",
                                 service_key, tracking_key, decommission_key, blocks_key, store_key);
        if (stored)
                log_info(LOG, "Dynamic allocation is enabled with map outputs outside of executors.");
        else if (!service && tracking)
                log_info(LOG, "Dynamic allocation is enabled without a shuffle service.");
        else if (!service && moved)
                log_info(LOG, "Shuffle data decommission is enabled without a shuffle service.");
        if (tracking && moved && !stored)
                log_warn(LOG, "You are enabling both shuffle tracking and other DA supported mechanism, which will "
                              "cause idle executors not to be released in a timely, please check the configurations.");
        c->monitor.shuffle_tracking = tracking && !service && !stored;
        c->monitor.service_keeps_rdds = service && rdds;
        return 0;
}

/* Returns how many tasks that need @request of a resource fit into @amount. */
static int64_t tasks_of(int64_t amount, int64_t request)
{
        return request >= RESOURCE_ONE ? amount / (request / RESOURCE_ONE)
                                       : executor_allocation_conf_scaled(amount, RESOURCE_ONE / request);
}

/* Returns the tasks an executor can run, limited by its scarcest resource. */
static int read_tasks(const struct fst_conf *conf, struct executor_allocation_config *c, struct fst_error *error)
{
        _cleanup_(sched_config_deinit) struct sched_config sched = SCHED_CONFIG_DEFAULT;
        int64_t tasks;
        int cores = 1, r = sched_config_read(conf, &sched, error);

        if (r == 0)
                r = conf_read_int(conf, "spark.executor.cores", &cores, error);
        if (r)
                return r;
        if (cores < sched.task_cpus)
                return error_set(error, -EINVAL,
                                 "The number of cores per executor (=%d) has to be >= the number of cpus per task = "
                                 "%d.",
                                 cores, sched.task_cpus);
        tasks = cores / sched.task_cpus;
        for (int i = 0; i < sched.n_resources; i++) {
                _cleanup_free_ char *key = mem_printf("spark.executor.resource.%s.amount", sched.resources[i].name);
                const char *text = conf_get_raw(conf, key);
                int64_t amount = text ? strtol(text, NULL, 10) : 0, here;

                here = amount > 0 ? tasks_of(amount, sched.resources[i].amount) : 0;
                if (here < 1)
                        return error_set(error, -EINVAL,
                                         "%s is %s, but must be at least spark.task.resource.%s.amount, or no task "
                                         "can run",
                                         key, text ? text : "not set", sched.resources[i].name);
                tasks = MIN(tasks, here);
        }
        c->tasks_per_executor = (int)tasks;
        return 0;
}

int executor_allocation_config_read(const struct fst_conf *conf, struct executor_allocation_config *config,
                                    struct fst_error *error)
{
        struct executor_allocation_config read = {0};
        int r = executor_allocation_conf_read_numbers(conf, &read, error);

        if (r == 0)
                r = read_growth(conf, &read, error);
        if (r == 0)
                r = read_idle_times(conf, &read.monitor, error);
        if (r == 0)
                r = read_shuffle(conf, &read, error);
        if (r == 0)
                r = read_tasks(conf, &read, error);
        if (r == 0)
                *config = read;
        return r;
}
