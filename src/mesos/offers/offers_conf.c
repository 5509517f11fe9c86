/* See offers_conf.h. */
#include "mesos/offers/offers_conf.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#define MIN_OVERHEAD INT64_C(384)
#define MAX_MEMORY (INT64_C(1) << 40) /* MiB: in thousandths it fits 64 bits */

/* Reads a number that must be in [@least, @most]; leaves *@out as it is if the key has no value. */
static int offers_read_number(const struct fst_conf *conf, const char *key, int64_t least, int64_t most, int64_t *out,
                              struct fst_error *error)
{
        int64_t value;
        if (!conf_get_value(conf, key))
                return 0;
        const int r = conf_get_int(conf, key, &value, error);
        if (r < 0)
                return r;
        if (value < least || value > most)
                return error_set(error, -EINVAL, "%s is %lld: set it to a number from %lld to %lld", key,
                                 (long long)value, (long long)least, (long long)most);
        *out = value;
        return 0;
}

int mesos_executor_memory_read(const struct fst_conf *conf, int64_t *heap, int64_t *total, struct fst_error *error)
{
        int64_t bytes, overhead = -1;
        double factor;
        int r = conf_get_bytes(conf, "spark.executor.memory", &bytes, error);
        if (r == 0)
                r = offers_read_number(conf, "spark.mesos.executor.memoryOverhead", 0, MAX_MEMORY, &overhead, error);
        if (r == 0)
                r = conf_get_double(conf, "spark.executor.memoryOverheadFactor", &factor, error);
        if (r < 0)
                return r;
        const int64_t memory = bytes >> 20;
        if (memory < 1 || memory > MAX_MEMORY)
                return error_set(error, -EINVAL, "spark.executor.memory is %lld MiB: set it to 1m or more",
                                 (long long)memory);
        if (overhead < 0) {
                const double share = factor * (double)memory;
                overhead = share > (double)MAX_MEMORY ? MAX_MEMORY : MAX(share > 0 ? (int64_t)share : 0, MIN_OVERHEAD);
        }
        *heap = memory;
        *total = memory + overhead;
        return 0;
}

static int offers_read_ms(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        int64_t ms;
        const int r = conf_get_ms(conf, key, &ms, error);
        if (r < 0)
                return r;
        if (ms < 0)
                return error_set(error, -EINVAL, "%s is negative: set it to 0 or more seconds", key);
        *out = ms;
        return 0;
}

static int offers_read_constraints(const struct fst_conf *conf, struct mesos_constraints *out, struct fst_error *error)
{
        _cleanup_free_ char *text = NULL;
        int r = conf_get_string(conf, "spark.mesos.constraints", &text, error);
        if (r == 0)
                r = mesos_constraints_parse(out, text, error);
        return r < 0 ? error_wrap(error, r, "spark.mesos.constraints") : 0;
}

static int coarse_read_numbers(struct coarse_offers_config *c, const struct fst_conf *conf, struct fst_error *error)
{
        int64_t heap, port = 0;
        int r = mesos_executor_memory_read(conf, &heap, &c->executor_memory, error);
        if (r == 0)
                r = offers_read_number(conf, "spark.cores.max", 1, INT32_MAX, &c->max_cores, error);
        if (r == 0 && conf_contains(conf, "spark.executor.cores")) /* its default is for other managers */
                r = offers_read_number(conf, "spark.executor.cores", 1, INT32_MAX, &c->executor_cores, error);
        if (r == 0)
                r = offers_read_number(conf, "spark.mesos.gpus.max", 0, INT32_MAX, &c->max_gpus, error);
        if (r == 0)
                r = offers_read_number(conf, "spark.blockManager.port", 0, 65535, &port, error);
        c->port = (uint16_t)port;
        return r;
}

int coarse_offers_config_read(struct coarse_offers_config *out, const struct fst_conf *conf, struct fst_error *error)
{
        struct coarse_offers_config c = {.max_cores = INT32_MAX, .limit = COARSE_OFFERS_NO_LIMIT};
        int64_t wait_ms = 0;
        int r = coarse_read_numbers(&c, conf, error);
        if (r == 0)
                r = offers_read_ms(conf, "spark.mesos.rejectOfferDurationForUnmetConstraints", &c.refuse_unmet_ms,
                                   error);
        if (r == 0)
                r = offers_read_ms(conf, "spark.mesos.rejectOfferDurationForReachedMaxCores", &c.refuse_max_cores_ms,
                                   error);
        if (r == 0)
                r = offers_read_ms(conf, "spark.locality.wait", &wait_ms, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.dynamicAllocation.enabled", &c.prefers_hosts, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.shuffle.service.enabled", &c.shuffle_service, error);
        if (r == 0)
                r = offers_read_constraints(conf, &c.constraints, error);
        if (r < 0)
                return r;
        c.locality_wait = MIN(wait_ms, INT64_MAX / 1000000) * 1000000;
        c.limit = c.prefers_hosts ? 0 : COARSE_OFFERS_NO_LIMIT;
        if (c.executor_cores)
                c.max_cores -= c.max_cores % c.executor_cores;
        if (c.max_cores == 0) {
                mesos_constraints_deinit(&c.constraints);
                return error_set(
                        error, -EINVAL,
                        "spark.cores.max is less than spark.executor.cores (%lld), so no executor could start: "
                        "raise spark.cores.max or lower spark.executor.cores",
                        (long long)c.executor_cores);
        }
        *out = c;
        return 0;
}

int fine_offers_config_read(struct fine_offers_config *out, const struct fst_conf *conf, struct fst_error *error)
{
        struct fine_offers_config c = {.task_cores = 1};
        int64_t heap;
        double cores;
        int r = mesos_executor_memory_read(conf, &heap, &c.executor_memory, error);
        if (r == 0)
                r = offers_read_number(conf, "spark.task.cpus", 1, INT32_MAX, &c.task_cores, error);
        if (r == 0)
                r = conf_get_double(conf, "spark.mesos.mesosExecutor.cores", &cores, error);
        if (r == 0 && !(cores >= 0 && cores <= INT32_MAX))
                r = error_set(error, -EINVAL, "spark.mesos.mesosExecutor.cores is %g: set it to 0 or more", cores);
        if (r == 0)
                r = offers_read_ms(conf, "spark.mesos.rejectOfferDurationForUnmetConstraints", &c.refuse_unmet_ms,
                                   error);
        if (r == 0)
                r = offers_read_constraints(conf, &c.constraints, error);
        if (r < 0)
                return r;
        c.executor_cores_milli = mesos_milli(cores);
        *out = c;
        return 0;
}
