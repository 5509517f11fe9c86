/* See custom_resources.h. */
#include "driver/resources/custom_resources.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "exec/resource_discovery.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXECUTOR_PREFIX "spark.executor.resource."
#define WORKER_PREFIX "spark.worker.resource."
#define AMOUNT ".amount"

int custom_resources_check(const struct fst_conf *conf, const struct sched_config *config, bool local,
                           struct fst_error *error)
{
        for (int i = 0; i < config->n_resources; i++) {
                const struct resource_request *task = &config->resources[i];
                int64_t amount = resource_amount(conf, EXECUTOR_PREFIX, task->name, error);
                if (amount < 0)
                        return (int)amount;
                if (local)
                        return error_set(error, -EINVAL,
                                         "spark.task.resource.%s.amount is set, but a local master has no "
                                         "custom resources: use local-cluster or a cluster",
                                         task->name);
                if (amount == 0)
                        return error_set(error, -EINVAL,
                                         "No executor resource configs were specified for the following task configs: "
                                         "%s (set spark.executor.resource.%s.amount)",
                                         task->name, task->name);
                if (amount * RESOURCE_ONE < task->amount)
                        return error_set(error, -EINVAL,
                                         "The executor resource: %s, amount: %lld needs to be >= the task resource "
                                         "request amount of %.4g",
                                         task->name, (long long)amount, (double)task->amount / (double)RESOURCE_ONE);
        }
        return 0;
}

struct shared_resource {
        char *name;
        int amount; /* for each executor */
};

struct worker_resources {
        struct executor_resources have;
        VEC(struct shared_resource) wanted;
        VEC(char *) files; /* by place */
        int executors;
};

void worker_resources_free(struct worker_resources *w)
{
        if (!w)
                return;
        for (size_t i = 0; i < w->files.len; i++) {
                unlink(w->files.data[i]);
                free(w->files.data[i]);
        }
        for (size_t i = 0; i < w->wanted.len; i++)
                free(w->wanted.data[i].name);
        vec_deinit(&w->files);
        vec_deinit(&w->wanted);
        executor_resources_deinit(&w->have);
        free(w);
}

static int worker_resources_add(struct worker_resources *w, const struct fst_conf *conf, const char *name,
                                struct fst_error *error)
{
        int64_t amount = resource_amount(conf, EXECUTOR_PREFIX, name, error);
        if (amount <= 0)
                return (int)amount;
        const Firesteel__Resource *have = resource_find(&w->have, name);
        if (!have || (int64_t)have->n_addresses < amount)
                return error_set(error, -EINVAL,
                                 EXECUTOR_PREFIX "%s" AMOUNT " is %lld, but each worker has %zu: set " WORKER_PREFIX
                                                 "%s" AMOUNT " and .discoveryScript, or spark.worker.resourcesFile",
                                 name, (long long)amount, have ? have->n_addresses : 0, name);
        vec_push(&w->wanted, (struct shared_resource){mem_strdup(name), (int)amount});
        w->executors = MIN(w->executors, (int)((int64_t)have->n_addresses / amount));
        return 0;
}

int worker_resources_new(const struct fst_conf *conf, struct worker_resources **out, struct fst_error *error)
{
        struct worker_resources *w = new0(struct worker_resources);
        w->executors = INT32_MAX;
        int r = executor_resources_read(conf_get_raw(conf, "spark.worker.resourcesFile"), &w->have, error);
        if (r == 0)
                r = resource_discover(conf, WORKER_PREFIX, &w->have, error);
        for (struct strmap_entry *e = NULL; r == 0 && (e = strmap_next(&conf->set, e));) {
                const size_t before = strlen(EXECUTOR_PREFIX), after = strlen(AMOUNT);
                size_t n = strlen(e->key);
                if (n <= before + after || strncmp(e->key, EXECUTOR_PREFIX, before) != 0 ||
                    strcmp(e->key + n - after, AMOUNT) != 0)
                        continue;
                _cleanup_free_ char *name = mem_strndup(e->key + before, n - before - after);
                r = worker_resources_add(w, conf, name, error);
        }
        if (r) {
                worker_resources_free(w);
                return r;
        }
        *out = w;
        return 0;
}

int worker_resources_executors(const struct worker_resources *w)
{
        return w->executors;
}

/* Writes the share of the executor at @place: its addresses of each resource. */
static int worker_resources_write_file(const struct worker_resources *w, int place, char **path,
                                       struct fst_error *error)
{
        struct executor_resources share = {.list = new_array(Firesteel__Resource *, w->wanted.len), .n = w->wanted.len};
        const char *folder = getenv("TMPDIR");
        for (size_t i = 0; i < share.n; i++) {
                const struct shared_resource *wanted = &w->wanted.data[i];
                Firesteel__Resource *r = share.list[i] = mem_alloc(sizeof(*r));
                *r = *resource_find(&w->have, wanted->name);
                r->addresses += (size_t)place * (size_t)wanted->amount;
                r->n_addresses = (size_t)wanted->amount;
        }
        *path = mem_printf("%s/resources-executor-XXXXXX", folder && *folder ? folder : "/tmp");
        int fd = mkostemp(*path, O_CLOEXEC);
        int r = fd < 0 ? error_errno(error, "writing %s", *path)
                       : executor_resources_write(&share, "spark.executor", *path, error);
        if (fd >= 0)
                close(fd);
        for (size_t i = 0; i < share.n; i++)
                free(share.list[i]); /* @w owns texts and addresses */
        free(share.list);
        return r;
}

int worker_resources_file(struct worker_resources *w, int place, const char **path, struct fst_error *error)
{
        int r = 0;
        *path = NULL;
        if (w->wanted.len == 0)
                return 0;
        while (r == 0 && w->files.len <= (size_t)place) {
                char *file;
                r = worker_resources_write_file(w, (int)w->files.len, &file, error);
                vec_push(&w->files, file);
        }
        if (r == 0)
                *path = w->files.data[place];
        return r;
}
