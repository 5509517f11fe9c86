/*
 * RDDs: creates and plans nodes of lineage, and implements the properties of firesteel/rdd.h. Sources and
 * transformations are in rdd_<operator>.c.
 *
 * Every function that creates an RDD returns one. An invalid RDD (its own arguments or a parent are invalid) carries
 * status and message. It is never computed. The action at the end reports the first cause.
 */
#include "base/string_prefix.h"
#include "rdd/rdd_build.h"

#include "base/live_handles.h"
#include "base/log.h"
#include "base/mem.h"
#include "rdd/aggregate/aggregate.h"
#include "rdd/pipeline/task_run.h"
#include "rdd/rdd_checkpoint.h"
#include "rdd/rdd_class.h"
#include "rdd/rdd_registry.h"
#include "store/storage_level.h"

/* ----------------------------------------------------------------------------------------------- creating */

char *rdd_site_text(fst_site site)
{
        if (!site.file)
                return mem_strdup(site.operation);
        if (strstr(site.file, " at "))
                return mem_printf("%s:%d", site.file, site.line);
        return mem_printf("%s at %s:%d", site.operation, text_base_name(site.file), site.line);
}

fst_rdd *rdd_fail(fst_rdd *rdd, int status, const char *message)
{
        if (!rdd->status)
                rdd->status = error_set(&rdd->error, status, "%s (%s)", message, rdd->call_site);
        return rdd;
}

fst_rdd *rdd_fail_with(fst_rdd *rdd, int status, struct fst_error *error)
{
        rdd_fail(rdd, status, error_message(error));
        error_deinit(error);
        return rdd;
}

static void rdd_check_type(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = fst_type_check(rdd->type, &error);
        if (r)
                rdd_fail_with(rdd, r, &error);
}

int rdd_fail_as(fst_rdd *rdd, const fst_rdd *parent)
{
        if (!rdd->status)
                rdd->status = error_set(&rdd->error, parent->status, "%s", error_message(&parent->error));
        return rdd->status;
}

void rdd_set_op(fst_rdd *rdd, enum rdd_op op)
{
        rdd->op = op;
        rdd->class = rdd_class_of(op);
}

static bool rdd_site_equals(fst_site a, fst_site b)
{
        return a.line == b.line && a.file == b.file && a.operation == b.operation;
}

/*
 * Returns the scope of a new RDD: that of a parent which the same call created, else its own id. Calls have no numbers,
 * so calls are told apart by their places. In a loop the place is the same, but a call creates only one RDD of a kind
 * in a row: the second one begins a new scope.
 */
static int rdd_find_scope(const fst_rdd *rdd)
{
        for (int i = 0; i < rdd->n_parents; i++) {
                const fst_rdd *parent = rdd->parents[i], *at = parent;
                if (!rdd->site.file || !rdd_site_equals(parent->site, rdd->site))
                        continue;
                while (at && at->scope == parent->scope && at->op != rdd->op)
                        at = at->n_parents ? at->parents[0] : NULL;
                if (!at || at->scope != parent->scope)
                        return parent->scope;
        }
        return rdd->lineage.id;
}

void rdd_describe_as(fst_rdd *rdd, const char *spark_class, const char *name)
{
        if (rdd->status)
                return;
        rdd->spark_class = spark_class;
        if (name)
                fst_rdd_set_name(rdd, name);
}

char *rdd_call_site(fst_context *sc, fst_site site)
{
        const char *call = rdd_registry_local_property(sc, "callSite.short");
        return call ? mem_strdup(call) : rdd_site_text(site);
}

/* As in Spark, the local properties callSite.short and callSite.long have precedence. */
static void rdd_set_call_site(fst_rdd *rdd)
{
        rdd->call_site = rdd_call_site(rdd->sc, rdd->site);
        rdd->details = mem_strdup_if(rdd_registry_local_property(rdd->sc, "callSite.long"));
        rdd->lineage.call_site = rdd->call_site;
        rdd->lineage.details = rdd->details;
}

fst_rdd *rdd_new_of(fst_context *sc, enum rdd_op op, fst_type type, fst_rdd *const *parents, int n, fst_site site)
{
        fst_rdd *rdd = new0(fst_rdd);
        rdd->sc = sc;
        rdd_set_op(rdd, op);
        rdd->type = type;
        rdd->n_parents = n;
        rdd->parents = n ? new_array(fst_rdd *, (size_t)n) : NULL;
        rdd->site = site;
        rdd_set_call_site(rdd);
        rdd->lineage.name = site.operation;
        for (int i = 0; i < n; i++)
                rdd->parents[i] = parents[i];
        rdd_registry_add(sc, rdd); /* from here on the cleaner's thread may follow its parents */
        rdd->scope = rdd_find_scope(rdd);
        for (int i = 0; i < n; i++)
                if (parents[i]->status)
                        rdd_fail_as(rdd, parents[i]);
        if (!rdd->status)
                rdd_check_type(rdd);
        return rdd;
}

fst_rdd *rdd_new(fst_context *sc, enum rdd_op op, fst_type type, fst_rdd *parent, fst_site site)
{
        return rdd_new_of(sc, op, type, &parent, parent ? 1 : 0, site);
}

/* ----------------------------------------------------------------------------------------- checking arguments */

/* The reason why @rdd cannot be used. */
static const char *rdd_missing_reason(const fst_rdd *rdd)
{
        return rdd ? "was given an RDD that does not exist: its context was stopped, it was released, or its variable "
                     "was never set"
                   : "was given NULL instead of an RDD: was the RDD created?";
}

static fst_rdd *refused_rdd;

static void rdd_make_refused(void)
{
        refused_rdd = rdd_new(context_refused(), RDD_RANGE, FST_I64, NULL, rdd_site("a refused call"));
        rdd_fail(refused_rdd, -EINVAL, "the call was refused");
}

/* The RDD of the refused context. It replaces every RDD that could not be created. */
static fst_rdd *rdd_refused(void)
{
        static pthread_once_t once = PTHREAD_ONCE_INIT;
        pthread_once(&once, rdd_make_refused);
        return refused_rdd;
}

/* True inside a task, which is then failed. */
static bool rdd_task_refuses(fst_site site)
{
        if (likely(!task_run_current()))
                return false;
        _cleanup_free_ char *call = rdd_site_text(site);
        return task_run_refuses(call);
}

fst_rdd *rdd_given(fst_rdd *rdd, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        if (rdd_task_refuses(site))
                return rdd_refused();
        if (live_handle_has(HANDLE_RDD, rdd))
                return rdd;
        fst_context *sc = rdd_registry_running();
        if (sc) {
                int r = error_set(&error, -EINVAL, "%s %s", site.operation, rdd_missing_reason(rdd));
                return rdd_fail_with(rdd_new(sc, RDD_RANGE, FST_I64, NULL, site), r, &error);
        }
        _cleanup_free_ char *call = rdd_site_text(site);
        context_misused("%s %s", call, rdd_missing_reason(rdd));
        return rdd_refused();
}

bool rdd_missing(const fst_rdd *rdd, const char *operation)
{
        if (rdd_task_refuses(rdd_site(operation)))
                return true;
        if (live_handle_has(HANDLE_RDD, rdd))
                return false;
        context_misused("%s %s", operation, rdd_missing_reason(rdd));
        return true;
}

fst_rdd *rdd_first_given(fst_rdd *const *rdds, size_t n, fst_site site)
{
        if (n && !rdds)
                return rdd_given(NULL, site);
        for (size_t i = 0; i < n; i++) {
                fst_rdd *given = rdd_given(rdds[i], site);
                if (given != rdds[i])
                        return given;
        }
        return NULL;
}

static void rdd_release_intermediate(fst_rdd *rdd, int first)
{
        for (int i = 0; i < rdd->n_parents; i++) {
                fst_rdd *parent = rdd->parents[i];
                if (parent->lineage.id < first)
                        continue;
                parent->released = true;
                rdd_release_intermediate(parent, first);
        }
}

fst_rdd *rdd_release_intermediates(fst_rdd *rdd, int first)
{
        rdd_registry_lock(rdd->sc);
        rdd_release_intermediate(rdd, first);
        rdd_registry_unlock(rdd->sc);
        return rdd;
}

void rdd_copy_fn(fst_rdd *rdd, fst_fn *to, const fst_fn *fn)
{
        struct fst_error error = FST_ERROR_INIT;
        const char *name = NULL;
        int r = rdd_registry_describe(rdd->sc, fn, &name, &error);
        if (r)
                rdd_fail_with(rdd, r, &error);
        *to = *fn;
        to->name = mem_strdup(name ? name : "a function");
        if (fn->captured) {
                void *copy = mem_alloc(fn->captured_size);
                memcpy(copy, fn->captured, fn->captured_size);
                to->captured = copy;
        }
}

void rdd_drop_fn(fst_fn *fn)
{
        free((void *)fn->name);
        free((void *)fn->captured);
}

void rdd_set_fn(fst_rdd *rdd, const fst_fn *fn)
{
        rdd_copy_fn(rdd, &rdd->fn, fn);
}

void rdd_depend_narrowly(fst_rdd *rdd, bool keep_partitioner)
{
        rdd->lineage.deps = new_array(struct lineage_dep, (size_t)rdd->n_parents);
        rdd->lineage.n_deps = rdd->n_parents;
        for (int i = 0; i < rdd->n_parents; i++)
                rdd->lineage.deps[i] =
                        (struct lineage_dep){.kind = LINEAGE_NARROW, .parent = &rdd->parents[i]->lineage};
        if (keep_partitioner)
                rdd->partitioner = rdd_parent(rdd)->partitioner;
}

void rdd_check_one_column(fst_rdd *rdd, fst_type type, const char *what)
{
        char given[64];
        struct fst_error error = FST_ERROR_INIT;
        if (type.key && !type.value)
                return;
        error_set(&error, -EINVAL, "%s takes the type of %s only, but was given %s", rdd->site.operation, what,
                  fst_type_name(type, given));
        rdd_fail_with(rdd, -EINVAL, &error);
}

void rdd_check_context(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        for (int i = 0; i < rdd->n_parents; i++)
                if (rdd->parents[i]->sc != rdd->sc && !rdd->status) {
                        error_set(&error, -EINVAL, "%s needs RDDs of one context", rdd->site.operation);
                        rdd_fail_with(rdd, -EINVAL, &error);
                }
}

void rdd_check_columns(fst_rdd *rdd)
{
        struct fst_error error = FST_ERROR_INIT;
        char text[64];
        rdd_check_context(rdd);
        for (int i = 0; i < rdd->n_parents; i++)
                if (rdd->parents[i]->type.value && !rdd->status) {
                        error_set(&error, -EINVAL,
                                  "%s pairs rows of one column, but was given %s: map them to "
                                  "one column first",
                                  rdd->site.operation, fst_type_name(rdd->parents[i]->type, text));
                        rdd_fail_with(rdd, -EINVAL, &error);
                }
}

int rdd_source_partitions(fst_rdd *rdd, int wanted)
{
        if (wanted < 0)
                rdd_fail(rdd, -EINVAL, "Positive number of partitions required");
        return wanted > 0 ? wanted : fst_context_default_parallelism(rdd->sc);
}

void rdd_free(fst_rdd *rdd)
{
        if (rdd->class->free)
                rdd->class->free(rdd);
        rdd_drop_fn(&rdd->fn);
        if (rdd->values) {
                rdd_drop_fn(&rdd->values->create);
                rdd_drop_fn(&rdd->values->merge);
                free((void *)rdd->values->zero);
        }
        free(rdd->values);
        free(rdd->lineage.deps);
        free(rdd->checkpoint.former);
        free(rdd->checkpoint.path);
        free(rdd->parents);
        while (rdd->names) {
                struct rdd_name *older = rdd->names->older;
                free(rdd->names);
                rdd->names = older;
        }
        free(rdd->call_site);
        free(rdd->details);
        error_deinit(&rdd->error);
        free(rdd);
}

/* ----------------------------------------------------------------------------------------------- planning */

#define MANY_BLOCKS 1000000

/* Warns of many partitions: union and then an operation by key in a loop doubles them each time, and the cost grows
 * with their square. */
static void rdd_warn_of_many_blocks(const fst_rdd *rdd)
{
        for (int i = 0; i < rdd->lineage.n_deps; i++) {
                const struct lineage_dep *dep = &rdd->lineage.deps[i];
                if (dep->kind != LINEAGE_SHUFFLE || !dep->parent)
                        continue;
                int64_t blocks = (int64_t)dep->parent->partitions * dep->reduce_partitions;
                if (blocks > MANY_BLOCKS)
                        log_warn("SparkContext",
                                 "%s at %s:%d shuffles %d partitions into %d, %lld blocks: pass a smaller number of "
                                 "partitions, or coalesce first",
                                 rdd->site.operation, rdd->site.file, rdd->site.line, dep->parent->partitions,
                                 dep->reduce_partitions, (long long)blocks);
        }
}

static int rdd_plan_locked(fst_rdd *rdd)
{
        if (rdd->planned || rdd->status)
                return rdd->status;
        for (int i = 0; i < rdd->n_parents; i++)
                if (rdd_plan_locked(rdd->parents[i]))
                        return rdd_fail_as(rdd, rdd->parents[i]);
        if (rdd->class->plan) {
                int r = rdd->class->plan(rdd);
                if (r)
                        return r;
        } else if (rdd->n_parents) {
                rdd->lineage.partitions = rdd_parent(rdd)->lineage.partitions;
        }
        rdd->planned = true;
        rdd_warn_of_many_blocks(rdd);
        return 0;
}

int rdd_plan(fst_rdd *rdd)
{
        rdd_registry_lock(rdd->sc);
        int r = rdd_plan_locked(rdd);
        rdd_registry_unlock(rdd->sc);
        return r;
}

/* --------------------------------------------------------------------------------------------- properties */

static bool rdd_is_cached(const struct lineage *lineage, int partition)
{
        const fst_rdd *rdd = rdd_of_const(lineage);
        return rdd_registry_cached(rdd->sc, lineage->id, partition);
}

/* Jobs of other threads may read the level. */
fst_rdd *rdd_set_level(fst_rdd *rdd, enum fst_storage_level level)
{
        __atomic_store_n(&rdd->lineage.storage_level, level, __ATOMIC_RELAXED);
        __atomic_store_n(&rdd->lineage.cached, level == FST_STORAGE_NONE ? NULL : rdd_is_cached, __ATOMIC_RELAXED);
        return rdd;
}

FST_API fst_rdd *fst_persist(fst_rdd *rdd, enum fst_storage_level level)
{
        rdd = rdd_given(rdd, rdd_site("persist"));
        int before = __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        if (!storage_level_valid((int)level))
                return rdd_fail(rdd, -EINVAL,
                                "unknown storage level: use FST_STORAGE_MEMORY_ONLY or another of this enum");
        if (rdd_wants_local_checkpoint(rdd))
                return rdd_set_level(rdd, storage_level_with_disk(level));
        if (before && before != (int)level)
                return rdd_fail(rdd, -EINVAL,
                                "Cannot change storage level of an RDD after it was already assigned a level");
        return rdd_set_level(rdd, level);
}

static fst_rdd *rdd_unpersist(fst_rdd *rdd, bool blocking)
{
        rdd_set_level(rdd, FST_STORAGE_NONE);
        rdd_registry_unpersist(rdd->sc, rdd->lineage.id, blocking);
        return rdd;
}

FST_API fst_rdd *fst_unpersist(fst_rdd *rdd)
{
        return rdd_unpersist(rdd_given(rdd, rdd_site("unpersist")), false);
}

FST_API fst_rdd *fst_unpersist_blocking(fst_rdd *rdd)
{
        return rdd_unpersist(rdd_given(rdd, rdd_site("unpersist")), true);
}

FST_API int fst_rdd_id(const fst_rdd *rdd)
{
        return rdd_missing(rdd, "rdd_id") ? -EINVAL : rdd->lineage.id;
}

FST_API int fst_rdd_partitions(fst_rdd *rdd)
{
        int r = rdd_missing(rdd, "rdd_partitions") ? -EINVAL : rdd_plan(rdd);
        return r ? r : rdd->lineage.partitions;
}

FST_API enum fst_storage_level fst_rdd_storage_level(const fst_rdd *rdd)
{
        if (rdd_missing(rdd, "rdd_storage_level"))
                return FST_STORAGE_NONE;
        return (enum fst_storage_level)__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
}

FST_API enum fst_partitioner fst_rdd_partitioner(const fst_rdd *rdd)
{
        static const enum fst_partitioner kinds[] = {[PARTITIONER_HASH] = FST_HASH_PARTITIONER,
                                                     [PARTITIONER_RANGE] = FST_RANGE_PARTITIONER,
                                                     [PARTITIONER_FUNCTION] = FST_FUNCTION_PARTITIONER,
                                                     [PARTITIONER_ROUND_ROBIN] = FST_NO_PARTITIONER,
                                                     [PARTITIONER_MODULO] = FST_FUNCTION_PARTITIONER};
        if (rdd_missing(rdd, "rdd_partitioner") || !rdd->partitioner)
                return FST_NO_PARTITIONER;
        return kinds[rdd->partitioner->kind];
}

FST_API bool fst_rdd_same_partitioner(const fst_rdd *a, const fst_rdd *b)
{
        return fst_rdd_partitioner(a) && fst_rdd_partitioner(b) && partitioner_equal(a->partitioner, b->partitioner);
}

FST_API fst_type fst_rdd_type(const fst_rdd *rdd)
{
        return rdd_missing(rdd, "rdd_type") ? FST_BYTES : rdd->type;
}

FST_API fst_rdd *fst_rdd_set_name(fst_rdd *rdd, const char *name)
{
        const char *text = NULL;
        rdd = rdd_given(rdd, rdd_site("set_name"));
        rdd_registry_lock(rdd->sc);
        if (name) {
                size_t size = strlen(name) + 1;
                struct rdd_name *given = mem_alloc(sizeof(*given) + size);
                memcpy(given->text, name, size);
                given->older = rdd->names;
                rdd->names = given;
                text = given->text;
        }
        __atomic_store_n(&rdd->name, text, __ATOMIC_RELEASE);
        __atomic_store_n(&rdd->lineage.name, text ? text : rdd->site.operation, __ATOMIC_RELEASE);
        rdd_registry_unlock(rdd->sc);
        return rdd;
}
