/*
 * See resource_profiles.h. Behaviour: Spark 4's ResourceProfileManager, and DAGScheduler.mergeResourceProfiles.
 *
 * Building a profile only stores it. The first RDD that uses it checks it against the master and the configuration,
 * and tells the listeners. Profiles are few, so lists are searched.
 */
#include "driver/resources/resource_profiles.h"

#include "base/error.h"
#include "base/log.h"
#include "driver/context.h"
#include "driver/context_handles.h"
#include "exec/resource_discovery.h"
#include "process/failure_reason.h"
#include "rdd/rdd_build.h"

#include <firesteel/resource.h>

#include <math.h>

#define LOG "ResourceProfileManager"
#define EXECUTOR_RESOURCE "spark.executor.resource."

struct added_profile {
        struct fst_resource_profile *profile;
        bool used; /* by an RDD, or the default one */
        int tasks; /* per executor */
};

struct resource_profiles {
        struct fst_context *sc;
        bool local, dynamic, merges;
        int task_cpus;
        int cores; /* of an executor whose profile names none; 0: the cluster manager decides */
        pthread_mutex_t lock;
        VEC(struct added_profile *) list;
};

/* Ids are unique in the process, as in Spark. */
static int resource_profiles_next_id(void)
{
        static int last; /* 0 is the default profile's */
        return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* --------------------------------------------------------------------------------------------- the default profile */

typedef VEC(struct profile_amount) amount_list;

static int64_t resource_profiles_mib(const struct fst_conf *conf, const char *key)
{
        int64_t bytes = 0;
        conf_get_bytes(conf, key, &bytes, NULL);
        return bytes >> 20;
}

static void resource_profiles_add_mib(const struct fst_conf *conf, const char *key, const char *name, amount_list *list)
{
        if (conf_get_value(conf, key))
                vec_push(list,
                         (struct profile_amount){.name = name, .amount = (double)resource_profiles_mib(conf, key)});
}

/* Adds every resource of @prefix that has an amount. The names are strings that the caller frees. */
static void resource_profiles_add_custom(const struct fst_conf *conf, const char *prefix, amount_list *list)
{
        static const char suffix[] = ".amount";
        size_t before = strlen(prefix), after = strlen(suffix);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));) {
                size_t n = strlen(e->key);
                if (n <= before + after || strncmp(e->key, prefix, before) != 0 ||
                    strcmp(e->key + n - after, suffix) != 0)
                        continue;
                char *name = mem_strndup(e->key + before, n - before - after);
                _cleanup_free_ char *script = mem_printf("%s%s.discoveryScript", prefix, name);
                _cleanup_free_ char *vendor = mem_printf("%s%s.vendor", prefix, name);
                vec_push(list, (struct profile_amount){.name = name,
                                                       .amount = strtod(e->value, NULL),
                                                       .script = conf_get_raw(conf, script),
                                                       .vendor = conf_get_raw(conf, vendor)});
        }
}

static struct fst_resource_profile *resource_profiles_make_default(struct resource_profiles *r)
{
        const struct fst_conf *conf = r->sc->conf;
        amount_list executor = {0}, task = {0};
        bool off_heap = false;
        if (r->cores || conf_contains(conf, "spark.executor.cores"))
                vec_push(&executor, (struct profile_amount){.name = PROFILE_CORES, .amount = r->cores});
        conf_get_bool(conf, "spark.memory.offHeap.enabled", &off_heap, NULL);
        resource_profiles_add_mib(conf, "spark.executor.memory", PROFILE_MEMORY, &executor);
        resource_profiles_add_mib(conf, "spark.executor.memoryOverhead", PROFILE_OVERHEAD, &executor);
        resource_profiles_add_mib(conf, "spark.executor.pyspark.memory", PROFILE_PYSPARK, &executor);
        vec_push(&executor,
                 (struct profile_amount){
                         .name = PROFILE_OFF_HEAP,
                         .amount = off_heap ? (double)resource_profiles_mib(conf, "spark.memory.offHeap.size") : 0});
        vec_push(&task, (struct profile_amount){.name = PROFILE_CPUS, .amount = r->task_cpus});
        size_t own_executor = executor.len, own_task = task.len;
        resource_profiles_add_custom(conf, EXECUTOR_RESOURCE, &executor);
        resource_profiles_add_custom(conf, "spark.task.resource.", &task);
        struct fst_resource_profile *p =
                resource_profile_new(0, executor.data, (int)executor.len, task.data, (int)task.len, r->task_cpus);
        for (size_t i = own_executor; i < executor.len; i++)
                free((char *)executor.data[i].name);
        for (size_t i = own_task; i < task.len; i++)
                free((char *)task.data[i].name);
        vec_deinit(&executor);
        vec_deinit(&task);
        return p;
}

static void resource_profiles_keep(struct resource_profiles *r, struct fst_resource_profile *p, bool used)
{
        struct added_profile *added = new0(struct added_profile);
        *added = (struct added_profile){.profile = p, .used = used, .tasks = 1};
        p->needs.any_executor = p->task_only && !r->dynamic;
        vec_push(&r->list, added);
}

struct resource_profiles *resource_profiles_new(struct fst_context *sc)
{
        struct resource_profiles *r = new0(struct resource_profiles);
        int64_t cpus = 1, cores = 0;
        const char *master = conf_get_raw(sc->conf, "spark.master");
        bool decides = master && (strncmp(master, "spark://", 8) == 0 || strncmp(master, "local-cluster", 13) == 0);
        r->sc = sc;
        pthread_mutex_init(&r->lock, NULL);
        conf_get_bool(sc->conf, "spark.dynamicAllocation.enabled", &r->dynamic, NULL);
        conf_get_bool(sc->conf, "spark.scheduler.resource.profileMergeConflicts", &r->merges, NULL);
        conf_get_int(sc->conf, "spark.task.cpus", &cpus, NULL);
        r->local = master && strncmp(master, "local", 5) == 0 && strncmp(master, "local-cluster", 13) != 0;
        if (!decides)
                cores = 1;
        if (conf_contains(sc->conf, "spark.executor.cores"))
                conf_get_int(sc->conf, "spark.executor.cores", &cores, NULL);
        r->task_cpus = (int)cpus;
        r->cores = (int)cores;
        resource_profiles_keep(r, resource_profiles_make_default(r), true);
        return r;
}

void resource_profiles_free(struct resource_profiles *r)
{
        if (!r)
                return;
        for (size_t i = 0; i < r->list.len; i++) {
                resource_profile_free(r->list.data[i]->profile);
                free(r->list.data[i]);
        }
        vec_deinit(&r->list);
        pthread_mutex_destroy(&r->lock);
        free(r);
}

/* --------------------------------------------------------------------------------------------------------- events */

static void resource_profiles_post(struct resource_profiles *r, const struct fst_resource_profile *p)
{
        VEC(struct profile_request) requests = {0};
        for (int i = 0; i < p->n_executor; i++)
                vec_push(&requests, (struct profile_request){.name = p->executor[i].name,
                                                             .amount = p->executor[i].amount,
                                                             .discovery_script = p->executor[i].script,
                                                             .vendor = p->executor[i].vendor});
        for (int i = 0; i < p->n_task; i++)
                vec_push(&requests, (struct profile_request){.name = p->task[i].name,
                                                             .amount = p->task[i].amount,
                                                             .discovery_script = "",
                                                             .vendor = "",
                                                             .of_task = true});
        vec_reserve(&requests, 1);
        listener_bus_post_resource_profile_added(
                r->sc->bus, &(struct resource_profile_added){
                                    .id = p->id,
                                    .executor_cores = (int)resource_profile_amount(p, PROFILE_CORES, 0),
                                    .executor_memory_mib = resource_profile_amount(p, PROFILE_MEMORY, 0),
                                    .executor_offheap_mib = resource_profile_amount(p, PROFILE_OFF_HEAP, 0),
                                    .task_cpus = p->needs.cpus,
                                    .requests = requests.data,
                                    .n_requests = requests.len});
        vec_deinit(&requests);
}

void resource_profiles_post_default(struct resource_profiles *r)
{
        resource_profiles_post(r, r->list.data[0]->profile);
}

/* ---------------------------------------------------------------------------------------------------------- use */

/* Returns 0, or -ENOTSUP with Spark's sentence. */
static int resource_profiles_check_support(const struct resource_profiles *r, const struct fst_resource_profile *p,
                                           struct fst_error *error)
{
        if (p->task_only && !r->dynamic && r->local)
                return error_set(error, -ENOTSUP,
                                 "TaskResourceProfiles are only supported for Standalone, Yarn and Kubernetes cluster "
                                 "for now when dynamic allocation is disabled.");
        if (r->local || (!p->task_only && !r->dynamic))
                return error_set(error, -ENOTSUP,
                                 "ResourceProfiles are only supported on YARN and Kubernetes and Standalone with "
                                 "dynamic allocation enabled.");
        if (r->dynamic && r->cores == 0 && !resource_profile_of_executor(p, PROFILE_CORES))
                log_warn(LOG,
                         "Neither executor cores is set for resource profile, nor spark.executor.cores is explicitly "
                         "set, you may get more executors allocated than expected. It's recommended to set "
                         "executor cores explicitly. Please check SPARK-30299 for more details.");
        return 0;
}

/* Under the lock. Checks a profile and makes it known, unless it already is. */
static int resource_profiles_use(struct resource_profiles *r, struct added_profile *added, struct fst_error *error)
{
        const struct fst_resource_profile *p = added->profile;
        if (added->used)
                return 0;
        int e = resource_profiles_check_support(r, p, error);
        if (e == 0)
                e = resource_profile_tasks_per_executor(p, p->needs.any_executor ? r->list.data[0]->profile : p,
                                                        r->cores, &added->tasks, error);
        if (e)
                return e;
        added->used = true;
        log_info(LOG, "Added ResourceProfile id: %d", p->id);
        resource_profiles_post(r, p);
        return 0;
}

/* Under the lock. */
static struct added_profile *resource_profiles_by_id(const struct resource_profiles *r, int id)
{
        for (size_t i = 0; i < r->list.len; i++)
                if (r->list.data[i]->profile->id == id)
                        return r->list.data[i];
        return NULL;
}

/* Under the lock: whether it is one of this context, without reading it. */
static struct added_profile *resource_profiles_by_handle(const struct resource_profiles *r,
                                                         const fst_resource_profile *p)
{
        for (size_t i = 0; i < r->list.len; i++)
                if (r->list.data[i]->profile == p)
                        return r->list.data[i];
        return NULL;
}

const struct fst_resource_profile *resource_profiles_find(struct resource_profiles *r, int id)
{
        pthread_mutex_lock(&r->lock);
        struct added_profile *added = resource_profiles_by_id(r, id);
        pthread_mutex_unlock(&r->lock);
        return added && added->used ? added->profile : NULL;
}

int resource_profiles_tasks_per_executor(struct resource_profiles *r, int id)
{
        if (id == 0)
                return 0;
        pthread_mutex_lock(&r->lock);
        struct added_profile *added = resource_profiles_by_id(r, id);
        int tasks = added && added->used ? added->tasks : 0;
        pthread_mutex_unlock(&r->lock);
        return tasks;
}

/* Under the lock. Returns an equal profile that is in use, or @p itself, and keeps it. */
static struct added_profile *resource_profiles_merged(struct resource_profiles *r, struct fst_resource_profile *p)
{
        for (size_t i = 0; i < r->list.len; i++)
                if (r->list.data[i]->used && resource_profile_equal(r->list.data[i]->profile, p)) {
                        resource_profile_free(p);
                        return r->list.data[i];
                }
        resource_profiles_keep(r, p, false);
        return r->list.data[r->list.len - 1];
}

const struct task_profile *resource_profiles_of_stage(struct resource_profiles *r, const int *ids, int n)
{
        struct fst_error error = FST_ERROR_INIT;
        pthread_mutex_lock(&r->lock);
        struct added_profile *found = resource_profiles_by_id(r, ids[0]);
        for (int i = 1; i < n && found; i++) {
                struct added_profile *next = r->merges ? resource_profiles_by_id(r, ids[i]) : NULL;
                found = next ? resource_profiles_merged(r, resource_profile_merge(resource_profiles_next_id(),
                                                                                  found->profile, next->profile,
                                                                                  r->task_cpus))
                             : NULL;
        }
        if (found && resource_profiles_use(r, found, &error)) {
                log_error(LOG, "%s", error_message(&error));
                found = NULL;
        }
        pthread_mutex_unlock(&r->lock);
        error_deinit(&error);
        return found ? &found->profile->needs : NULL;
}

/* ------------------------------------------------------------------------------------------- the public functions */

static int resource_profiles_check_amount(const char *name, double amount, bool of_task, struct fst_error *error)
{
        if (!name || !name[0])
                return error_set(error, -EINVAL, "an amount of a resource profile has no name");
        if (!(amount >= 0) || amount > INT32_MAX)
                return error_set(error, -EINVAL, "the amount %g of %s must be from 0 to %d", amount, name, INT32_MAX);
        if (of_task && amount > 1 && amount != floor(amount))
                return error_set(error, -EINVAL, "The resource amount %.16g must be either <= 1.0, or a whole number.",
                                 amount);
        return 0;
}

FST_API fst_resource_profile *fst_resource_profile_new_at(fst_context *sc, const struct fst_executor_amount *executor,
                                                          size_t n_executor, const struct fst_task_amount *task,
                                                          size_t n_task, fst_site site)
{
        amount_list of_executor = {0}, of_task = {0};
        struct fst_error error = FST_ERROR_INIT;
        fst_resource_profile *p = NULL;
        int e = 0;
        sc = context_given(sc, site);
        if (!sc->profiles ||
            (n_executor && context_missing(executor, "resource_profile_new", "amounts of executors")) ||
            (n_task && context_missing(task, "resource_profile_new", "amounts of tasks")))
                return NULL;
        for (size_t i = 0; i < n_executor && e == 0; i++) {
                e = resource_profiles_check_amount(executor[i].name, (double)executor[i].amount, false, &error);
                vec_push(&of_executor, (struct profile_amount){.name = executor[i].name,
                                                               .amount = (double)executor[i].amount,
                                                               .script = executor[i].discovery_script,
                                                               .vendor = executor[i].vendor});
        }
        for (size_t i = 0; i < n_task && e == 0; i++) {
                e = resource_profiles_check_amount(task[i].name, task[i].amount, true, &error);
                vec_push(&of_task, (struct profile_amount){.name = task[i].name, .amount = task[i].amount});
        }
        if (e == 0) {
                pthread_mutex_lock(&sc->profiles->lock);
                p = resource_profile_new(resource_profiles_next_id(), of_executor.data, (int)of_executor.len,
                                         of_task.data, (int)of_task.len, sc->profiles->task_cpus);
                resource_profiles_keep(sc->profiles, p, false);
                pthread_mutex_unlock(&sc->profiles->lock);
        } else {
                failure_reason_set_thread(error_message(&error));
                context_misused("%s", error_message(&error));
        }
        error_deinit(&error);
        vec_deinit(&of_executor);
        vec_deinit(&of_task);
        return p;
}

FST_API int fst_resource_profile_id(const fst_resource_profile *profile)
{
        fst_context *sc = rdd_registry_running();
        int id = -1;
        if (sc && sc->profiles) {
                pthread_mutex_lock(&sc->profiles->lock);
                if (resource_profiles_by_handle(sc->profiles, profile))
                        id = profile->id;
                pthread_mutex_unlock(&sc->profiles->lock);
        }
        if (id < 0)
                context_misused("resource_profile_id was given a profile that does not exist, or whose context was "
                                "stopped");
        return id;
}

FST_API fst_rdd *fst_with_resources_at(fst_rdd *rdd, const fst_resource_profile *profile, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        rdd = rdd_given(rdd, site);
        struct resource_profiles *r = rdd->sc->profiles;
        if (!r)
                return rdd;
        pthread_mutex_lock(&r->lock);
        struct added_profile *added = resource_profiles_by_handle(r, profile);
        int e = added ? resource_profiles_use(r, added, &error)
                      : error_set(&error, -EINVAL,
                                  "with_resources was given a resource profile that this context does not have");
        if (e == 0)
                __atomic_store_n(&rdd->lineage.profile, added->profile->id, __ATOMIC_RELAXED);
        pthread_mutex_unlock(&r->lock);
        if (e)
                failure_reason_set_thread(error_message(&error));
        return e ? rdd_fail_with(rdd, e, &error) : rdd;
}

FST_API const fst_resource_profile *fst_rdd_resource_profile(const fst_rdd *rdd)
{
        if (rdd_missing(rdd, "rdd_resource_profile") || !rdd->sc->profiles)
                return NULL;
        int id = __atomic_load_n(&rdd->lineage.profile, __ATOMIC_RELAXED);
        return id ? resource_profiles_find(rdd->sc->profiles, id) : NULL;
}
