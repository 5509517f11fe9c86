/* See executor_table.h. */
#include "driver/backend/executor_table.h"

#include "base/error.h"
#include "base/mem.h"
#include "rpc/rpc.h"

#include <elf.h>
#include <gnu/libc-version.h>
#include <stdio.h>

#define MAX_NAME 255
#define MAX_CORES 65536

struct remote_executor *executor_table_at(struct executor_table *t, int index)
{
        return index >= 0 && index < t->n ? t->at[index] : NULL;
}

static bool executor_table_has_id(const void *executor, const void *id)
{
        return strcmp(((const struct remote_executor *)executor)->id, id) == 0;
}

struct remote_executor *executor_table_find(const struct executor_table *t, const char *id)
{
        return object_table_find(&t->by_id, object_hash_text(id), executor_table_has_id, id);
}

#if defined(__x86_64__)
#define MACHINE EM_X86_64
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
#else
#define MACHINE EM_NONE
#endif

static bool executor_table_libc_is_older(const char *theirs)
{
        int major = 0, minor = 0, our_major = 0, our_minor = 0;
        if (sscanf(theirs, "glibc %d.%d", &major, &minor) != 2)
                return true;
        sscanf(gnu_get_libc_version(), "%d.%d", &our_major, &our_minor);
        return major < our_major || (major == our_major && minor < our_minor);
}

/* Whether a text may be written to the log and shown on pages. */
static bool executor_table_is_printable(const char *text)
{
        size_t n = strlen(text);
        for (size_t i = 0; i < n; i++)
                if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
                        return false;
        return n > 0 && n <= MAX_NAME;
}

int executor_table_check(struct executor_table *t, const Firesteel__RegisterExecutor *r, struct fst_error *error)
{
        if (!executor_table_is_printable(r->executor_id) || !executor_table_is_printable(r->hostname))
                return error_set(error, -EINVAL, "the registration of an executor has no id or no host name");
        struct remote_executor *same = executor_table_find(t, r->executor_id);
        if (r->cores < 1 || r->cores > MAX_CORES || r->slots < 0 || r->slots > 2 * MAX_CORES || r->transfer_port < 0 ||
            r->transfer_port > 65535 || r->shuffle_service_port < 0 || r->shuffle_service_port > 65535 ||
            r->memory < 0 || r->off_heap_memory < 0)
                return error_set(
                        error, -EINVAL,
                        "executor '%s' on host '%s' has an invalid value: %d cores, %d slots, port %d, %lld bytes of memory",
                        r->executor_id, r->hostname, r->cores, r->slots, r->transfer_port, (long long)r->memory);
        if (same && same->state != EXECUTOR_GONE)
                return error_set(error, -EEXIST, "Duplicate executor ID: %s", r->executor_id);
        if (r->abi != FST_ABI)
                return error_set(
                        error, -ENOEXEC,
                        "executor %s runs Firesteel %s with interface %u, the driver Firesteel %s with %d: install "
                        "the same version on both",
                        r->executor_id, r->version, r->abi, FIRESTEEL_VERSION, FST_ABI);
        if (r->machine != MACHINE)
                return error_set(
                        error, -ENOEXEC,
                        "executor %s is on another kind of machine (ELF machine %u, the driver's is %u), which "
                        "cannot run the application's code",
                        r->executor_id, r->machine, (unsigned)MACHINE);
        if (executor_table_libc_is_older(r->libc))
                return error_set(error, -ENOEXEC,
                                 "executor %s has %s, which is older than the driver's glibc %s, with which the "
                                 "application was built: build it where the oldest is",
                                 r->executor_id, r->libc, gnu_get_libc_version());
        return 0;
}

static void executor_table_set_properties(struct strmap *map, Firesteel__Property *const *list, size_t n)
{
        for (size_t i = 0; i < n; i++)
                strmap_set(map, list[i]->key, list[i]->value);
}

struct remote_executor *executor_table_add(struct executor_table *t, const Firesteel__RegisterExecutor *r)
{
        struct remote_executor *x = new0(struct remote_executor);
        if (t->n == t->cap) {
                t->cap = t->cap ? t->cap * 2 : 8;
                t->at = mem_grow(t->at, (size_t)t->cap * sizeof(*t->at));
                t->location_of = mem_grow(t->location_of, (size_t)t->cap * sizeof(*t->location_of));
        }
        x->index = t->n;
        x->id = mem_strdup(r->executor_id);
        x->host = mem_strdup(r->hostname);
        x->cores = r->cores;
        x->slots = MAX(r->slots, r->cores);
        x->transfer_port = r->transfer_port;
        x->service_port = r->shuffle_service_port;
        x->memory = r->memory;
        x->off_heap_memory = r->off_heap_memory;
        x->pid = r->pid;
        x->running = new_array(struct task_batch *, (size_t)x->slots);
        executor_table_set_properties(&x->log_urls, r->log_urls, r->n_log_urls);
        executor_table_set_properties(&x->attributes, r->attributes, r->n_attributes);
        struct remote_executor *before = executor_table_find(t, x->id);
        if (before) /* it is gone: its successor has its id */
                object_table_remove(&t->by_id, object_hash_text(x->id), before);
        object_table_put(&t->by_id, object_hash_text(x->id), x);
        return t->at[t->n++] = x;
}

void executor_table_mark_dirty(struct executor_table *t, struct remote_executor *x)
{
        if (x->dirty)
                return;
        x->dirty = true;
        x->next_dirty = t->dirty;
        t->dirty = x;
}

struct remote_executor *executor_table_take_dirty(struct executor_table *t)
{
        struct remote_executor *x = t->dirty;
        if (x) {
                t->dirty = x->next_dirty;
                x->dirty = false;
        }
        return x;
}

void executor_table_locate(struct executor_table *t, struct shuffle_location **locations, int *n)
{
        *locations = new_array(struct shuffle_location, (size_t)t->n + 1);
        *n = 0;
        for (int i = 0; i < t->n; i++) {
                const struct remote_executor *x = t->at[i];
                bool there = x->state != EXECUTOR_GONE || x->service_port;
                t->location_of[i] = there ? *n : -1;
                if (there)
                        (*locations)[(*n)++] =
                                (struct shuffle_location){.executor = i,
                                                          .executor_id = mem_strdup(x->id),
                                                          .host = mem_strdup(x->host),
                                                          .port = x->service_port ? x->service_port : x->transfer_port,
                                                          .service = x->service_port != 0};
        }
}

void executor_take_slot(struct remote_executor *x, struct task_batch *run)
{
        for (run->slot = 0; x->running[run->slot];)
                run->slot++;
        x->running[run->slot] = run;
        run->computed = false;
}

bool executor_restore_slot(struct remote_executor *x, struct task_batch *run)
{
        int slot = run->slot;
        if (x->running[slot])
                for (slot = 0; slot < x->slots && x->running[slot];)
                        slot++;
        if (slot == x->slots)
                return false;
        run->slot = slot;
        run->computed = false;
        x->running[slot] = run;
        return true;
}

struct task_batch *executor_find_batch(const struct remote_executor *x, int slot, int64_t first_id)
{
        struct task_batch *run = slot >= 0 && slot < x->slots ? x->running[slot] : NULL;
        if (run && run->tasks[0].info.id == first_id)
                return run;
        for (int s = 0; s < x->slots; s++)
                if (x->running[s] && x->running[s]->held && x->running[s]->tasks[0].info.id == first_id)
                        return x->running[s];
        return run;
}

void executor_free_slot(struct remote_executor *x, const struct task_batch *run)
{
        if (x->running[run->slot] != run)
                return;
        x->running[run->slot] = NULL;
        x->computed -= run->computed;
}

bool executor_batch_computed(struct remote_executor *x, int64_t task_id)
{
        for (int s = 0; s < x->slots && x->computed < x->slots - x->cores; s++) {
                struct task_batch *run = x->running[s];
                if (!run || run->tasks[0].info.id != task_id || run->computed)
                        continue;
                run->computed = true;
                x->computed++;
                return true;
        }
        return false;
}

void executor_table_drop_refs(struct executor_table *t)
{
        for (int i = 0; i < t->n; i++)
                rpc_ref_unref(steal(t->at[i]->ref));
}

void executor_table_deinit(struct executor_table *t)
{
        for (int i = 0; i < t->n; i++) {
                struct remote_executor *x = t->at[i];
                buf_deinit(&x->launches);
                buf_deinit(&x->removals);
                strmap_deinit(&x->log_urls);
                free(x->decommission_reason);
                strmap_deinit(&x->attributes);
                vec_deinit(&x->held);
                vec_deinit(&x->stale_rdds);
                free(x->running);
                free(x->id);
                free(x->host);
                free(x);
        }
        object_table_deinit(&t->by_id);
        free(t->at);
        free(t->location_of);
        *t = (struct executor_table){0};
}
