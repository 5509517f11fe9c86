/* See broadcast_table.h. */
#include "rdd/cogroup/broadcast_table.h"

#include "base/clock.h"
#include "base/list.h"
#include "base/mem.h"
#include "process/interruptible_wait.h"
#include "rdd/pipeline/key.h"
#include "rdd/pipeline/task_run.h"
#include "store/memory.h"

#include <errno.h>
#include <inttypes.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed; /* a task has ended to build a table */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct {
        struct broadcast_table *first, *last;
} tables;

static void broadcast_tables_init(void)
{
        cond_init_monotonic(&changed);
}

size_t broadcast_table_bytes(const struct broadcast_side *small)
{
        const size_t rows = (size_t)small->rows;
        return rows * sizeof(struct sort_entry) + join_table_bytes(rows);
}

bool broadcast_table_is_of(const struct broadcast_table *t, const struct broadcast_side *small, const char *data)
{
        return t->variable == small->variable && t->type.key == small->type.key && t->type.value == small->type.value &&
               t->type.key_size == small->type.key_size && t->type.value_size == small->type.value_size &&
               (!t->data || t->data == data);
}

struct broadcast_table *broadcast_table_ref(struct memory_manager *manager, const struct broadcast_side *small,
                                            const char *data)
{
        pthread_once(&once, broadcast_tables_init);
        pthread_mutex_lock(&lock);
        struct broadcast_table *t = tables.first;
        while (t && (t->manager != manager || !broadcast_table_is_of(t, small, data)))
                t = t->next;
        if (!t) {
                t = new0(struct broadcast_table);
                t->manager = manager;
                t->variable = small->variable;
                t->type = small->type;
                t->data = sort_index_holds(small->type) ? NULL : data;
                t->bytes = broadcast_table_bytes(small);
                list_append(&tables, t);
        }
        t->refs++;
        pthread_mutex_unlock(&lock);
        return t;
}

void broadcast_table_unref(struct broadcast_table *t)
{
        if (!t)
                return;
        pthread_mutex_lock(&lock);
        const bool last = --t->refs == 0;
        if (last)
                list_remove(&tables, t);
        pthread_mutex_unlock(&lock);
        if (!last)
                return;
        free(t->entries);
        join_table_free(&t->table);
        free(t);
}

bool broadcast_table_reserve(struct broadcast_table *t)
{
        pthread_mutex_lock(&lock);
        const bool reserved = t->users || memory_acquire_fixed_storage(t->manager, t->bytes);
        t->users += reserved;
        pthread_mutex_unlock(&lock);
        return reserved;
}

void broadcast_table_release(struct broadcast_table *t)
{
        pthread_mutex_lock(&lock);
        if (--t->users == 0)
                memory_release_storage(t->manager, t->bytes);
        pthread_mutex_unlock(&lock);
}

/* ------------------------------------------------------------------------------------------------------- building */

/* Reads a record of at most @room bytes. Returns false if it is longer. */
static bool broadcast_record_read(fst_type type, const unsigned char *at, size_t room, struct record_view *record)
{
        const size_t lengths = (type.key == FST_KIND_BYTES ? 4 : 0) + (type.value == FST_KIND_BYTES ? 4 : 0);
        if (room < lengths)
                return false;
        *record = record_read(type, at);
        return room - lengths >= (uint64_t)record->key_len + record->value_len;
}

/* Makes the entries of all rows. */
static int broadcast_table_read_rows(struct broadcast_table *t, struct task_run *run,
                                     const struct broadcast_side *small, const char *data)
{
        const struct record_order order = record_order(small->type, FST_ASCENDING);
        const bool whole = sort_index_holds(small->type);
        const unsigned char *at = (const unsigned char *)data, *end = at + small->size;
        for (uint64_t i = 0; i < small->rows; i++) {
                struct sort_entry *entry = &t->entries[i];
                struct record_view r;
                if (!broadcast_record_read(small->type, at, (size_t)(end - at), &r))
                        return task_run_fail(run, -EBADMSG,
                                             "broadcast variable %" PRId64 " ends within row %" PRIu64
                                             " of the small side of a join",
                                             small->variable, i);
                entry->prefix = order.by_bytes ? key_hash_bytes((const char *)r.key, r.key_len)
                                               : record_prefix(&order, &r, (size_t)(end - r.key));
                entry->record = at;
                if (whole) {
                        entry->value = 0;
                        memcpy(&entry->value, r.value, r.value_len);
                }
                at = record_end(&r);
        }
        return 0;
}

static void broadcast_table_drop(struct broadcast_table *t)
{
        free(steal(t->entries));
        join_table_free(&t->table);
}

static int broadcast_table_make(struct broadcast_table *t, struct task_run *run, const struct broadcast_side *small,
                                const char *data)
{
        const size_t rows = (size_t)small->rows;
        t->entries = mem_try((rows + 1) * sizeof(*t->entries));
        if (!t->entries || !join_table_alloc(&t->table, rows))
                return task_run_fail(run, -ENOMEM, "no memory for the %zu rows of the small side of a join", rows);
        int r = broadcast_table_read_rows(t, run, small, data);
        if (r == 0)
                join_table_build(&t->table, join_key_of(small->type),
                                 (struct join_rows){t->entries, (uint32_t)rows, small->type, NULL}, 0);
        return r;
}

/* Waits while another task builds the table. Returns 0 or negative. The lock is held. */
static int broadcast_table_wait(struct broadcast_table *t, struct task_run *run)
{
        bool goes_on = true;
        if (t->state != BROADCAST_TABLE_STARTED)
                return 0;
        memory_task_rest(task_run_memory(run), true);
        while (goes_on && t->state == BROADCAST_TABLE_STARTED)
                goes_on = stop_wait(&changed, &lock, run->task.stopped);
        memory_task_rest(task_run_memory(run), false);
        return goes_on ? 0 : task_run_cancelled(run);
}

int broadcast_table_build(struct broadcast_table *t, struct task_run *run, const struct broadcast_side *small,
                          const char *data)
{
        pthread_mutex_lock(&lock);
        int r = broadcast_table_wait(t, run);
        if (r == 0 && t->state == BROADCAST_TABLE_MISSING) { /* perhaps again: the task that built it has failed */
                t->state = BROADCAST_TABLE_STARTED;
                pthread_mutex_unlock(&lock);
                r = broadcast_table_make(t, run, small, data);
                if (r)
                        broadcast_table_drop(t);
                pthread_mutex_lock(&lock);
                t->state = r ? BROADCAST_TABLE_MISSING : BROADCAST_TABLE_BUILT;
                pthread_cond_broadcast(&changed);
        }
        pthread_mutex_unlock(&lock);
        return r;
}
