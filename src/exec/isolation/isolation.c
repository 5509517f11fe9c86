/* See isolation.h. */
#include "exec/isolation/isolation.h"

#include "base/error.h"
#include "base/mem.h"
#include "exec/actions/action.h"
#include "exec/guard/memory_budget.h"
#include "exec/guard/memory_limit.h"
#include "exec/task/stage_wire.h"
#include "exec/isolation/task_process.h"
#include "exec/isolation/zygote.h"

#include <poll.h>

static const struct task_process_class stage_workers = {.decode = stage_decode, .encode_result = task_result_encode};

int isolation_zygote_new(struct zygote **zygote, struct fst_error *error)
{
        return zygote_new(&stage_workers, zygote, error);
}

static int encode_stage(const struct stage_context *work, struct buf *out, struct fst_error *error)
{
        return stage_encode(work, &(struct stage_modules_source){.same_program = true}, out, error);
}

struct isolation_shares isolation_divide(int64_t memory, int64_t overhead, double fraction, double storage_fraction,
                                         int workers)
{
        double each = 1.0 / MAX(workers, 1);
        return (struct isolation_shares){
                .executor_pool = (size_t)((double)memory * fraction * storage_fraction),
                .process_heap = (size_t)((double)memory * (1 - storage_fraction) * each),
                .process_data = (size_t)((double)(memory + overhead) * each),
        };
}

int isolation_wanted(const struct fst_conf *conf, bool *all, struct fst_error *error)
{
        _cleanup_free_ char *kind = NULL;
        int r = conf_get_string(conf, "spark.firesteel.task.isolation", &kind, error);
        if (r)
                return r;
        if (strcmp(kind, "none") != 0 && strcmp(kind, "process") != 0)
                return error_set(
                        error, -EINVAL,
                        "spark.firesteel.task.isolation=%s is invalid: use process (each task runs in a process of its own) "
                        "or none (tasks run on threads)",
                        kind);
        *all = strcmp(kind, "process") == 0;
        return 0;
}

int isolation_new(const struct fst_conf *conf, struct zygote *zygote, int workers, int64_t memory, int processes,
                  struct isolation **isolation, struct fst_error *error)
{
        double fraction, storage;
        int64_t configured, overhead;
        bool all;
        int r;
        if ((r = isolation_wanted(conf, &all, error)) ||
            (r = conf_get_double(conf, "spark.memory.fraction", &fraction, error)) ||
            (r = conf_get_double(conf, "spark.memory.storageFraction", &storage, error)) ||
            (r = memory_limit_configured(conf, &configured, &overhead, error))) {
                zygote_free(zygote);
                return r;
        }
        struct isolation *i = new0(struct isolation);
        i->zygote = zygote;
        i->all = all;
        i->workers = workers;
        i->shares = isolation_divide(memory, memory_budget_overhead(memory, overhead, processes), fraction, storage,
                                     workers);
        i->conf = conf;
        i->encode = encode_stage;
        pthread_mutex_init(&i->lock, NULL);
        *isolation = i;
        return 0;
}

void isolation_free(struct isolation *i)
{
        if (!i)
                return;
        zygote_free(i->zygote);
        for (size_t m = 0; m < i->n_modules; m++)
                free(i->modules[m]);
        free(i->modules);
        pthread_mutex_destroy(&i->lock);
        free(i);
}

bool isolation_lost_zygote(struct isolation *i)
{
        struct pollfd p = {.fd = zygote_fd(i->zygote), .events = POLLIN};
        if (i->gone || poll(&p, 1, 0) <= 0)
                return false;
        __atomic_store_n(&i->gone, true, __ATOMIC_RELAXED);
        return true;
}

void isolation_add_module(struct isolation *i, const char *path)
{
        pthread_mutex_lock(&i->lock);
        size_t m = 0;
        while (m < i->n_modules && strcmp(i->modules[m], path) != 0)
                m++;
        if (m == i->n_modules) {
                i->modules = mem_grow(i->modules, (m + 1) * sizeof(*i->modules));
                i->modules[i->n_modules++] = mem_strdup(path);
        }
        pthread_mutex_unlock(&i->lock);
}
