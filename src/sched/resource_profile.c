/* See resource_profile.h. Amounts are sorted by name, so that equal profiles have equal lists. */
#include "sched/resource_profile.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------------------ amounts */

static int profile_amount_compare(const void *a, const void *b)
{
        return strcmp(((const struct profile_amount *)a)->name, ((const struct profile_amount *)b)->name);
}

/* Copies a list without repeated names. */
static struct profile_amount *profile_amounts_copy(const struct profile_amount *from, int n, int *kept)
{
        struct profile_amount *list = new_array(struct profile_amount, (size_t)MAX(n, 1));

        *kept = 0;
        for (int i = 0; i < n; i++) {
                int at = 0;

                while (at < *kept && strcmp(list[at].name, from[i].name) != 0)
                        at++;
                if (at == *kept)
                        list[(*kept)++].name = mem_strdup(from[i].name);
                free((char *)list[at].script);
                free((char *)list[at].vendor);
                list[at].amount = from[i].amount;
                list[at].script = mem_strdup(from[i].script ? from[i].script : "");
                list[at].vendor = mem_strdup(from[i].vendor ? from[i].vendor : "");
        }
        qsort(list, (size_t)*kept, sizeof(*list), profile_amount_compare);
        return list;
}

static void profile_amounts_free(struct profile_amount *list, int n)
{
        for (int i = 0; i < n; i++) {
                free((char *)list[i].name);
                free((char *)list[i].script);
                free((char *)list[i].vendor);
        }
        free(list);
}

static const struct profile_amount *profile_amounts_find(const struct profile_amount *list, int n, const char *name)
{
        for (int i = 0; i < n; i++)
                if (strcmp(list[i].name, name) == 0)
                        return &list[i];
        return NULL;
}

static bool profile_amounts_equal(const struct profile_amount *a, int n, const struct profile_amount *b, int m)
{
        for (int i = 0; i < n && n == m; i++)
                if (strcmp(a[i].name, b[i].name) != 0 || a[i].amount != b[i].amount ||
                    strcmp(a[i].script, b[i].script) != 0 || strcmp(a[i].vendor, b[i].vendor) != 0)
                        return false;
        return n == m;
}

/* Returns both lists, with the larger amount of each name. The caller frees the list, not its texts. */
static struct profile_amount *profile_amounts_merge(const struct profile_amount *a, int n,
                                                    const struct profile_amount *b, int m, int *merged)
{
        struct profile_amount *list = new_array(struct profile_amount, (size_t)(n + m + 1));

        for (int i = 0; i < n; i++)
                list[i] = a[i];
        *merged = n;
        for (int i = 0; i < m; i++) {
                int at = 0;

                while (at < n && strcmp(list[at].name, b[i].name) != 0)
                        at++;
                if (at == n)
                        list[(*merged)++] = b[i];
                else if (b[i].amount >= list[at].amount)
                        list[at] = b[i];
        }
        return list;
}

/* ------------------------------------------------------------------------------------------------------ profiles */

static int64_t profile_parts(double amount)
{
        return amount >= 1 ? (int64_t)amount * RESOURCE_ONE : MAX((int64_t)1, (int64_t)(amount * (double)RESOURCE_ONE));
}

struct fst_resource_profile *resource_profile_new(int id, const struct profile_amount *executor, int n_executor,
                                                  const struct profile_amount *task, int n_task, int task_cpus)
{
        struct fst_resource_profile *p = new0(struct fst_resource_profile);
        struct resource_request *requests = new_array(struct resource_request, (size_t)n_task + 1);

        p->id = id;
        p->task_only = n_executor == 0;
        p->executor = profile_amounts_copy(executor, n_executor, &p->n_executor);
        p->task = profile_amounts_copy(task, n_task, &p->n_task);
        p->needs = (struct task_profile){.id = id, .cpus = task_cpus, .requests = requests};
        for (int i = 0; i < p->n_task; i++)
                if (strcmp(p->task[i].name, PROFILE_CPUS) == 0)
                        p->needs.cpus = (int)MAX(p->task[i].amount, 1.0);
                else if (p->task[i].amount > 0)
                        requests[p->needs.n_requests++] =
                                (struct resource_request){(char *)p->task[i].name, profile_parts(p->task[i].amount)};
        return p;
}

void resource_profile_free(struct fst_resource_profile *p)
{
        if (!p)
                return;
        free((void *)p->needs.requests);
        profile_amounts_free(p->executor, p->n_executor);
        profile_amounts_free(p->task, p->n_task);
        free(p);
}

bool resource_profile_equal(const struct fst_resource_profile *a, const struct fst_resource_profile *b)
{
        return a->task_only == b->task_only &&
               profile_amounts_equal(a->executor, a->n_executor, b->executor, b->n_executor) &&
               profile_amounts_equal(a->task, a->n_task, b->task, b->n_task);
}

struct fst_resource_profile *resource_profile_merge(int id, const struct fst_resource_profile *a,
                                                    const struct fst_resource_profile *b, int task_cpus)
{
        int n_executor, n_task;
        _cleanup_free_ struct profile_amount *executor =
                profile_amounts_merge(a->executor, a->n_executor, b->executor, b->n_executor, &n_executor);
        _cleanup_free_ struct profile_amount *task =
                profile_amounts_merge(a->task, a->n_task, b->task, b->n_task, &n_task);

        return resource_profile_new(id, executor, n_executor, task, n_task, task_cpus);
}

const struct profile_amount *resource_profile_of_executor(const struct fst_resource_profile *p, const char *name)
{
        return profile_amounts_find(p->executor, p->n_executor, name);
}

const struct profile_amount *resource_profile_of_task(const struct fst_resource_profile *p, const char *name)
{
        return profile_amounts_find(p->task, p->n_task, name);
}

int64_t resource_profile_amount(const struct fst_resource_profile *p, const char *name, int64_t otherwise)
{
        const struct profile_amount *a = p ? resource_profile_of_executor(p, name) : NULL;

        return a ? (int64_t)a->amount : otherwise;
}

bool resource_profile_is_custom(const char *name)
{
        static const char *const known[] = {PROFILE_CORES, PROFILE_MEMORY, PROFILE_OVERHEAD, PROFILE_OFF_HEAP,
                                            PROFILE_PYSPARK};

        for (size_t i = 0; i < ARRAY_SIZE(known); i++)
                if (strcmp(name, known[i]) == 0)
                        return false;
        return true;
}

/* Returns how many tasks that take @amount of a resource fit into @have whole addresses. */
static double profile_tasks_of(double have, double amount)
{
        return amount >= 1 ? floor(have / amount) : have * floor(1 / amount);
}

int resource_profile_tasks_per_executor(const struct fst_resource_profile *p,
                                        const struct fst_resource_profile *executors, int cores, int *tasks,
                                        struct fst_error *error)
{
        int known = (int)resource_profile_amount(executors, PROFILE_CORES, cores);
        double limit = known > 0 ? known / p->needs.cpus : INFINITY;

        if (known > 0 && limit < 1)
                return error_set(error, -EINVAL,
                                 "The number of cores per executor (=%d) has to be >= the number of cpus per task = "
                                 "%d.",
                                 known, p->needs.cpus);
        for (int i = 0; i < p->n_task; i++) {
                const struct profile_amount *need = &p->task[i];
                const struct profile_amount *have = resource_profile_of_executor(executors, need->name);

                if (strcmp(need->name, PROFILE_CPUS) == 0 || need->amount <= 0)
                        continue;
                if (!have)
                        return error_set(error, -EINVAL,
                                         "No executor resource configs were specified for the following task configs: "
                                         "%s",
                                         need->name);
                if (need->amount > have->amount)
                        return error_set(error, -EINVAL,
                                         "The executor resource: %s, amount: %.0f needs to be >= the task resource "
                                         "request amount of %.*f",
                                         need->name, have->amount, need->amount == floor(need->amount) ? 1 : 4,
                                         need->amount);
                limit = MIN(limit, profile_tasks_of(have->amount, need->amount));
        }
        *tasks = limit < (double)INT32_MAX ? (int)limit : 1;
        return 0;
}

/* ------------------------------------------------------------------------------------------------- configuration */

static void profile_drop_custom(struct strmap *properties)
{
        static const char *const prefixes[] = {"spark.executor.resource.", "spark.task.resource."};
        VEC(char *) keys = {0};

        for (struct strmap_entry *e = NULL; (e = strmap_next(properties, e));)
                for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
                        if (strncmp(e->key, prefixes[i], strlen(prefixes[i])) == 0)
                                vec_push(&keys, mem_strdup(e->key));
        for (size_t i = 0; i < keys.len; i++) {
                strmap_remove(properties, keys.data[i]);
                free(keys.data[i]);
        }
        vec_deinit(&keys);
}

static void profile_set(struct strmap *properties, const char *value, const char *prefix, const char *suffix)
{
        _cleanup_free_ char *key = mem_printf("%s%s", prefix, suffix);

        strmap_set(properties, key, value);
}

static void profile_apply_custom(const struct profile_amount *a, struct strmap *properties)
{
        _cleanup_free_ char *prefix = mem_printf("spark.executor.resource.%s", a->name);
        _cleanup_free_ char *amount = mem_printf("%.0f", a->amount);

        profile_set(properties, amount, prefix, ".amount");
        if (a->script[0])
                profile_set(properties, a->script, prefix, ".discoveryScript");
        if (a->vendor[0])
                profile_set(properties, a->vendor, prefix, ".vendor");
}

void resource_profile_apply(const struct fst_resource_profile *p, struct strmap *properties)
{
        static const struct {
                const char *name, *key, *unit;
        } known[] = {{PROFILE_CORES, "spark.executor.cores", ""},
                     {PROFILE_MEMORY, "spark.executor.memory", "m"},
                     {PROFILE_OVERHEAD, "spark.executor.memoryOverhead", "m"},
                     {PROFILE_PYSPARK, "spark.executor.pyspark.memory", "m"},
                     {PROFILE_OFF_HEAP, "spark.memory.offHeap.size", "m"}};
        _cleanup_free_ char *cpus = mem_printf("%d", p->needs.cpus);

        profile_drop_custom(properties);
        for (int i = 0; i < p->n_executor; i++) {
                const struct profile_amount *a = &p->executor[i];
                size_t k = 0;

                while (k < ARRAY_SIZE(known) && strcmp(a->name, known[k].name) != 0)
                        k++;
                if (k == ARRAY_SIZE(known)) {
                        profile_apply_custom(a, properties);
                        continue;
                }
                _cleanup_free_ char *value = mem_printf("%.0f%s", a->amount, known[k].unit);

                strmap_set(properties, known[k].key, value);
        }
        strmap_set(properties, "spark.task.cpus", cpus);
}
