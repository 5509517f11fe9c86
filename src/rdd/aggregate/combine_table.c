/*
 * The hash table of an aggregate; see combine_table.h.
 *
 * Rows are processed in groups (table_group.h): first every key of the group is loaded, then every row accesses its
 * slot.
 *
 * Invariants: capacity is a power of 2 and at least MIN_TABLE while the table is started. count ≤ limit < capacity, so
 * every search ends at a free slot. A slot is written after everything that it refers to, so denied memory leaves the
 * table unchanged.
 *
 * The load factor is up to 1/2 (7/8 when growing is denied): each key that is not where its search begins costs a
 * mispredicted branch. Growing needs old and new slots at the same time, as in Spark's AppendOnlyMap.
 */
#include "rdd/aggregate/combine_table.h"

#include "rdd/aggregate/combine_rows.h"
#include "rdd/aggregate/table_group.h"
#include "rdd/aggregate/table_sharing.h"
#include "store/range_cache.h"

#define MIN_TABLE ((size_t)1 << 11)
#define MAX_TABLE ((size_t)1 << 31)
#define LIMIT(capacity) ((capacity) / 2)
#define LIMIT_REFUSED(capacity) ((capacity) / 8 * 7)
#define MIN_KEPT 4096 /* keys: a smaller table is soon filled again */

/* ------------------------------------------------------------------------------------------------- memory */

static void table_set_slots(struct combine_table *t, char *slots, size_t capacity)
{
        t->memory_of_slots = slots;
        t->capacity = capacity;
        t->limit = LIMIT(capacity);
}

static void table_unmap_slots(struct combine_table *t)
{
        range_unmap(t->slots, table_bytes(t, t->capacity));
        table_set_slots(t, NULL, 0);
}

static size_t table_capacity_for(size_t keys)
{
        size_t capacity = MIN_TABLE;
        while (capacity < MAX_TABLE && LIMIT(capacity) < keys + TABLE_GROUP)
                capacity *= 2;
        return capacity;
}

/* Reserves and maps new slots. Returns 0, FST_MEMORY_E_DENIED, or the error of another consumer's spill. */
static int slots_new(struct combine_table *t, size_t capacity, char **slots)
{
        size_t bytes = table_bytes(t, capacity);
        int r = memory_acquire(t->memory, bytes);
        if (r)
                return r;
        *slots = range_map(bytes);
        if (*slots)
                return 0;
        memory_release(t->memory, bytes);
        return FST_MEMORY_E_DENIED;
}

/* The memory of the content beside the slots. */
static size_t table_page_bytes(const struct combine_table *t)
{
        size_t bytes = table_sharing_bytes(t);
        for (const struct page *page = t->pages; page; page = page->next)
                bytes += page->block;
        return bytes;
}

static void table_drop_kept(struct combine_table *t)
{
        t->stays = false;
        t->unreserved = table_page_bytes(t);
        table_clear(t);
}

/* Ends the stay of keys between two tasks: reserves the memory that they have, or removes them. Returns true if they
 * are still there. */
static bool table_take_back(struct combine_table *t)
{
        if (!t->stays)
                return false;
        if (t->may_keep && memory_acquire(t->memory, table_bytes(t, t->capacity) + table_page_bytes(t)) == 0) {
                t->stays = false;
                t->kept = t->count;
                return true;
        }
        table_drop_kept(t);
        return false;
}

int table_start(struct combine_table *t, size_t keys)
{
        size_t wanted = table_capacity_for(MAX(keys, t->peak));
        t->peak = t->rows_out = 0;
        t->has_rows = t->reads_fresh = false;
        bool kept = table_take_back(t);
        t->is_positive = t->may_keep;
        if (kept)
                return 0;
        /* Clearing and reading pass over all slots: a table that is far too large would cost more than a new one. */
        if (t->slots && (t->capacity > wanted * 16 || t->capacity < table_capacity_for(keys) ||
                         memory_acquire(t->memory, table_bytes(t, t->capacity)) != 0))
                table_unmap_slots(t);
        if (t->slots)
                return 0;
        char *slots;
        size_t capacity = table_capacity_for(keys);
        int r = slots_new(t, capacity, &slots);
        if (r == FST_MEMORY_E_DENIED && capacity > MIN_TABLE)
                r = slots_new(t, capacity = MIN_TABLE, &slots);
        if (r)
                return r;
        table_set_slots(t, slots, capacity);
        return 0;
}

void table_release(struct combine_table *t)
{
        if (t->stays)
                memory_release(t->memory, table_page_bytes(t));
        else
                table_clear(t);
        memory_release(t->memory, table_bytes(t, t->capacity));
}

void table_keep(struct combine_table *t)
{
        size_t added = t->count - t->kept;
        bool repeats =
                t->kept ? added <= t->rows_out / 2 && t->rows_out >= t->count / 2 : t->rows_out <= t->rows_in / 2;
        if (t->count >= MIN_KEPT && repeats) {
                t->stays = true;
                return;
        }
        t->gave_up = t->gave_up || t->kept;
        table_clear(t);
}

void table_shrink(struct combine_table *t)
{
        table_clear(t);
        char *slots = t->capacity > MIN_TABLE ? range_map(table_bytes(t, MIN_TABLE)) : NULL;
        if (!slots)
                return;
        memory_release(t->memory, table_bytes(t, t->capacity - MIN_TABLE));
        table_unmap_slots(t);
        table_set_slots(t, slots, MIN_TABLE);
}

static void table_forget_structs(struct combine_table *t)
{
        struct_column_deinit(&t->into);
        struct_column_deinit(&t->other);
        struct_column_deinit(&t->taken);
        arena_deinit(&t->encoded);
}

void table_free(struct combine_table *t)
{
        table_unshare(t);
        vec_deinit(&t->fresh);
        page_list_free(NULL, t->pages);
        t->pages = NULL;
        table_unmap_slots(t);
        table_forget_structs(t);
}

void table_clear(struct combine_table *t)
{
        if (t->dirty)
                memset(t->slots, 0, table_bytes(t, t->capacity));
        t->dirty = t->has_aside = t->has_rows = t->is_positive = false;
        t->count = t->kept = 0;
        t->limit = LIMIT(t->capacity);
        size_t bytes = table_page_bytes(t);
        table_unshare(t);
        page_list_free(NULL, t->pages);
        if (bytes > t->unreserved)
                memory_release(t->memory, bytes - t->unreserved);
        t->unreserved = 0;
        t->pages = NULL;
}

static void table_copy_slots(struct combine_table *t, const struct table_slot *old, size_t n)
{
        size_t mask = t->capacity - 1;
        for (size_t i = 0; i < n; i++) {
                if (!old[i].meta)
                        continue;
                size_t at = slot_home(t->capacity, t->seed, old[i].meta, SLOTS_IN_LINE);
                while (t->slots[at].meta)
                        at = (at + 1) & mask;
                t->slots[at] = old[i];
        }
}

static void table_copy_numbers(struct combine_table *t, const struct number_slot *old, size_t n)
{
        size_t mask = t->capacity - 1;
        for (size_t i = 0; i < n; i++) {
                if (!old[i].key)
                        continue;
                size_t at = slot_home(t->capacity, t->seed, number_hash(old[i].key ^ NUMBER_FREE), NUMBERS_IN_LINE);
                while (t->numbers[at].key)
                        at = (at + 1) & mask;
                t->numbers[at] = old[i];
        }
}

/* At least doubles the slots. Both tables are ordered by the product, so this is one pass over each. */
static int combine_table_grow(struct combine_table *t)
{
        size_t capacity = t->capacity * (t->capacity < (size_t)1 << 15 ? 4 : 2), old_capacity = t->capacity;
        char *slots, *old = t->memory_of_slots;
        if (capacity > MAX_TABLE)
                return FST_MEMORY_E_DENIED;
        int r = slots_new(t, capacity, &slots);
        if (r)
                return r;
        memory_release(t->memory, table_sharing_bytes(t));
        table_unshare(t); /* its slots have other places */
        table_set_slots(t, slots, capacity);
        if (t->is_number)
                table_copy_numbers(t, (const struct number_slot *)old, old_capacity);
        else
                table_copy_slots(t, (const struct table_slot *)old, old_capacity);
        range_unmap(old, table_bytes(t, old_capacity));
        memory_release(t->memory, table_bytes(t, old_capacity));
        return 0;
}

int table_take(struct combine_table *t, size_t size, void **memory)
{
        struct page *page = t->pages;
        size = (size + 15) & ~(size_t)15;
        if (!page || page->capacity - page->used < size) {
                int r = page_new(t->memory, t->type, size, &page);
                if (r == FST_MEMORY_E_DENIED && t->may_overdraw && t->count == 0) {
                        r = page_new_unreserved(t->memory->task, t->type, size, &page);
                        t->unreserved += r ? 0 : page->block;
                }
                if (r)
                        return r;
                page->used = 0;
                /* A full page goes behind the page with free room. */
                if (t->pages && page->capacity - size < t->pages->capacity - t->pages->used) {
                        page->next = t->pages->next;
                        t->pages->next = page;
                } else {
                        page->next = t->pages;
                        t->pages = page;
                }
        }
        *memory = page->data + page->used;
        page->used += (uint32_t)size;
        return 0;
}

int table_init(struct combine_table *t, const struct aggregate_options *options, struct memory_consumer *memory,
               struct fst_error *error)
{
        bool is_number = options->type.key == FST_KIND_I64 || options->type.key == FST_KIND_F64;
        if (t->stays && !fst_type_equal(t->type, options->type))
                table_drop_kept(t);
        if (t->is_number != is_number)
                table_unmap_slots(t);
        t->is_number = is_number;
        t->type = options->type;
        t->combine = options->combine;
        t->task = options->task;
        t->out = options->out;
        t->out_reset = options->out_reset;
        t->memory = memory;
        t->rows_in = t->keys = 0;
        t->may_keep = options->keep_keys && !t->gave_up && !is_number && t->type.value == FST_KIND_I64 &&
                      !options->values && options->combine.shape == FST_SHAPE(FST_FORM_BUILTIN, FST_BUILTIN_SUM, 0);
        table_forget_structs(t);
        struct_column_init(&t->into, t->type.value, t->type.value_size);
        struct_column_init(&t->other, t->type.value, t->type.value_size);
        if (options->values)
                struct_column_init(&t->taken, options->values->type.value, options->values->type.value_size);
        return combine_rows_choose(t, options, error);
}

/* -------------------------------------------------------------------------------------------------- adding */

/* Makes room for @n further keys. */
static int table_make_room(struct combine_table *t, uint32_t n)
{
        /* Not for kept keys that this task does not have. */
        if (t->kept && t->count - t->kept > t->kept / 2) {
                t->gave_up = true;
                return FST_MEMORY_E_DENIED;
        }
        int r = combine_table_grow(t);
        if (r != FST_MEMORY_E_DENIED)
                return r;
        t->limit = LIMIT_REFUSED(t->capacity);
        return t->count + n <= t->limit ? 0 : r;
}

/* Sets *@batch to the same rows in *@shown, whose values, structs with fields, are as functions see them. */
static int table_show_values(struct combine_table *t, const fst_batch **batch, fst_batch *shown)
{
        *shown = **batch;
        shown->type.value = FST_KIND_FIXED;
        shown->type.value_size = t->taken.type->size;
        int r = struct_column_read(&t->taken, (*batch)->value.bytes, shown->rows, t->error);
        shown->value.fixed = t->taken.rows;
        *batch = shown;
        return r;
}

/* Counts @rows that were added when the table had @before keys. */
static void table_count_added(struct combine_table *t, size_t before, uint32_t rows)
{
        t->dirty = t->dirty || t->count;
        t->has_rows = t->has_rows || rows;
        t->rows_in += rows;
        t->keys += t->count - before;
        t->peak = MAX(t->peak, t->count);
}

/* Returns whether sums of at most 2^32 such numbers stay positive. */
static bool numbers_are_positive(const int64_t *numbers, uint32_t n)
{
        uint64_t all = 0;
        for (uint32_t i = 0; i < n; i++)
                all |= (uint64_t)numbers[i] - 1;
        return all <= INT32_MAX;
}

/* Prepares for @n further rows, which may not be @positive. Returns FST_MEMORY_E_DENIED if the rows so far must be
 * drained first, because 0 would not say any more which keys have rows. */
static int table_check_positive(struct combine_table *t, bool positive, uint32_t n)
{
        if (!t->is_positive || (positive && t->rows_in + n <= UINT32_MAX))
                return 0;
        if (t->kept && t->has_rows)
                return FST_MEMORY_E_DENIED;
        if (t->kept)
                table_clear(t);
        t->is_positive = false;
        return 0;
}

int table_add(struct combine_table *t, enum table_input input, const fst_batch *batch, uint32_t *at,
              struct fst_error *error)
{
        table_rows_fn rows = input == TABLE_VALUES ? t->take_rows : t->combine_rows;
        struct table_group group;
        const void *captured = t->task ? t->task->captured : NULL;
        uint32_t first = *at;
        size_t before = t->count;
        int r = 0;
        fst_batch shown;
        t->error = error;
        if (t->is_positive &&
            (r = table_check_positive(t, numbers_are_positive(batch->value.i64 + first, batch->rows - first),
                                      batch->rows - first)) != 0)
                return r;
        if (unlikely(input == TABLE_VALUES && t->taken.type) && (r = table_show_values(t, &batch, &shown)) != 0)
                return r;
        if (t->task)
                t->task->captured = input == TABLE_VALUES ? t->merge.captured : t->combine.captured;
        while (first < batch->rows) {
                uint32_t n = MIN(batch->rows - first, (uint32_t)TABLE_GROUP), done;
                if (unlikely(t->count + n > t->limit) && (r = table_make_room(t, n)) != 0)
                        break;
                table_group_load(&group, t, batch, first, n);
                if (t->is_number)
                        table_group_find_numbers(&group, n);
                r = rows(t, &group, n, batch, first, &done);
                first += done;
                if (r)
                        break;
        }
        if (t->task)
                t->task->captured = captured;
        table_count_added(t, before, first - *at);
        *at = first;
        return r;
}

int table_add_pieces(struct combine_table *t, const struct piece_ends *pieces, uint32_t *at, struct fst_error *error)
{
        struct table_group group;
        int64_t numbers[TABLE_GROUP];
        const fst_batch batch = {.type = t->type, .value.i64 = numbers};
        const void *captured = t->task ? t->task->captured : NULL;
        uint32_t first = *at;
        size_t before = t->count;
        int r = 0;
        t->error = error;
        if ((r = table_check_positive(t, numbers_are_positive(&pieces->number, 1), pieces->n - first)) != 0)
                return r;
        for (uint32_t i = 0; pieces->pairs && i < TABLE_GROUP; i++)
                numbers[i] = pieces->number;
        if (t->task)
                t->task->captured = t->combine.captured;
        while (first < pieces->n) {
                uint32_t n = MIN(pieces->n - first, (uint32_t)TABLE_GROUP), done;
                if (unlikely(t->count + n > t->limit) && (r = table_make_room(t, n)) != 0)
                        break;
                table_group_load_pieces(&group, t, pieces, first, n);
                r = t->combine_rows(t, &group, n, &batch, 0, &done);
                first += done;
                if (r)
                        break;
        }
        if (t->task)
                t->task->captured = captured;
        table_count_added(t, before, first - *at);
        *at = first;
        return r;
}

/* ------------------------------------------------------------------------------------------------- reading */

/* Rows are read column by column, this many at a time: their slots stay in the first-level cache, and the type is
 * looked at once for all of them. */
#define READ_AT_ONCE 128u

/* Reads the values of @n slots into the rows from @row on. */
static void slots_read_values(const struct combine_table *t, const union slot_value **values, uint32_t n,
                              fst_batch *batch, uint32_t row)
{
        switch (t->type.value) {
        case FST_KIND_NONE:
                break;
        case FST_KIND_BYTES:
                for (uint32_t i = 0; i < n; i++) {
                        const struct table_cell *cell = values[i]->out;
                        batch->value.bytes[row + i] = (fst_bytes){cell->data, cell->len};
                }
                break;
        case FST_KIND_FIXED: {
                size_t size = t->type.value_size;
                for (uint32_t i = 0; i < n; i++)
                        memcpy(batch->value.fixed + (row + i) * size,
                               size > sizeof(values[i]->small) ? values[i]->out : values[i]->small, size);
                break;
        }
        default: {
                int64_t *numbers = batch->value.i64 + row;
                for (uint32_t i = 0; i < n; i++)
                        numbers[i] = values[i]->i64;
        }
        }
}

/* Reads @n <= READ_AT_ONCE used slots into the rows from @row on, and their hashes unless @hashes is NULL. */
static void slots_read(const struct combine_table *t, struct table_slot *const *slots, uint32_t n, fst_batch *batch,
                       uint32_t row, uint64_t *hashes)
{
        const union slot_value *values[READ_AT_ONCE];
        fst_bytes *bytes = batch->key.bytes + row;
        size_t size = t->type.key_size;
        for (uint32_t i = 0; i < n; i++)
                values[i] = &slots[i]->value;
        if (t->type.key == FST_KIND_BYTES)
                for (uint32_t i = 0; i < n; i++)
                        bytes[i] = (fst_bytes){slot_key(slots[i]), meta_len(slots[i]->meta)};
        else
                for (uint32_t i = 0; i < n; i++)
                        memcpy(batch->key.fixed + (row + i) * size, slot_key(slots[i]), size);
        slots_read_values(t, values, n, batch, row);
        for (uint32_t i = 0; hashes && i < n; i++)
                hashes[row + i] = slot_hash(slots[i]);
}

static void number_slots_read(const struct combine_table *t, struct number_slot *const *slots, uint32_t n,
                              fst_batch *batch, uint32_t row, uint64_t *hashes)
{
        const union slot_value *values[READ_AT_ONCE];
        int64_t *keys = batch->key.i64 + row;
        for (uint32_t i = 0; i < n; i++) {
                values[i] = &slots[i]->value;
                keys[i] = (int64_t)(slots[i]->key ^ NUMBER_FREE);
        }
        slots_read_values(t, values, n, batch, row);
        for (uint32_t i = 0; hashes && i < n; i++)
                hashes[row + i] = number_hash((uint64_t)keys[i]);
}

/* Finds the next used slots, at most @max, from *@pos on. No branch depends on a slot. */
static uint32_t table_used_slots(const struct combine_table *t, size_t *pos, uint32_t max, struct table_slot **used)
{
        uint32_t n = 0;
        size_t at = *pos;
        for (; at < t->capacity && n < max; at++) {
                used[n] = &t->slots[at];
                n += t->slots[at].meta != 0;
        }
        *pos = at;
        return n;
}

/* The same for the slots of keys that have rows, in a table that may have others. */
static uint32_t table_positive_slots(const struct combine_table *t, size_t *pos, uint32_t max, struct table_slot **used)
{
        uint32_t n = 0;
        size_t at = *pos;
        for (; at < t->capacity && n < max; at++) {
                used[n] = &t->slots[at];
                n += (t->slots[at].meta != 0) & (t->slots[at].value.bits != 0);
        }
        *pos = at;
        return n;
}

/* The same for those that are not shared, once the others have been taken. */
static uint32_t table_fresh_slots(const struct combine_table *t, size_t *pos, uint32_t max, struct table_slot **used)
{
        uint32_t n = 0;
        size_t at = *pos;
        for (; at < t->fresh.len && n < max; at++) {
                used[n] = &t->slots[t->fresh.data[at]];
                n += used[n]->value.bits != 0;
        }
        *pos = at;
        return n;
}

/* The same for numbers. The aside slot comes after the last. */
static uint32_t table_used_numbers(struct combine_table *t, size_t *pos, uint32_t max, struct number_slot **used)
{
        uint32_t n = 0;
        size_t at = *pos;
        for (; at < t->capacity && n < max; at++) {
                used[n] = &t->numbers[at];
                n += t->numbers[at].key != 0;
        }
        if (at == t->capacity && n < max) {
                used[n] = &t->aside;
                n += t->has_aside;
                at++;
        }
        *pos = at;
        return n;
}

static uint32_t table_read_numbers(struct combine_table *t, size_t *pos, uint32_t room, fst_batch *batch,
                                   uint64_t *hashes)
{
        struct number_slot *used[READ_AT_ONCE];
        uint32_t row = 0, n;
        while (row < room && (n = table_used_numbers(t, pos, MIN(room - row, READ_AT_ONCE), used)) > 0) {
                number_slots_read(t, used, n, batch, row, hashes);
                for (uint32_t i = 0; i < n; i++)
                        used[i]->key = 0;
                if (used[n - 1] == &t->aside)
                        t->has_aside = false;
                row += n;
        }
        return row;
}

static uint32_t table_read_slots(struct combine_table *t, size_t *pos, uint32_t room, fst_batch *batch,
                                 uint64_t *hashes, bool keep)
{
        uint32_t (*next)(const struct combine_table *, size_t *, uint32_t, struct table_slot **) =
                t->reads_fresh ? table_fresh_slots
                : t->kept      ? table_positive_slots
                               : table_used_slots;
        struct table_slot *used[READ_AT_ONCE];
        uint32_t row = 0, n;
        while (row < room && (n = next(t, pos, MIN(room - row, READ_AT_ONCE), used)) > 0) {
                slots_read(t, used, n, batch, row, hashes);
                for (uint32_t i = 0; i < n; i++)
                        if (keep)
                                used[i]->value.bits = 0;
                        else
                                used[i]->meta = 0;
                row += n;
        }
        return row;
}

uint32_t table_read(struct combine_table *t, size_t *pos, uint32_t room, fst_batch *batch, uint64_t *hashes, bool keep)
{
        uint32_t rows = t->is_number ? table_read_numbers(t, pos, room, batch, hashes)
                                     : table_read_slots(t, pos, room, batch, hashes, keep);
        if (keep) {
                t->rows_out += rows;
        } else {
                t->count -= rows;
                t->dirty = t->count != 0;
        }
        batch->rows = rows;
        return rows;
}

/* The product for slot @at; false if it is free. Slot `capacity` is the aside slot. */
static bool slot_product(const struct combine_table *t, size_t at, uint32_t *product)
{
        bool aside = at == t->capacity;
        uint64_t used = aside ? t->has_aside : t->is_number ? t->numbers[at].key : t->slots[at].meta;
        if (used)
                *product = slot_product_of(t->seed, aside          ? number_hash(NUMBER_FREE)
                                                    : t->is_number ? number_hash(used ^ NUMBER_FREE)
                                                                   : used);
        return used;
}

static void table_read_slot_at(struct combine_table *t, size_t at, fst_batch *batch, uint32_t row)
{
        if (t->is_number)
                number_slots_read(t, (struct number_slot *[]){at == t->capacity ? &t->aside : &t->numbers[at]}, 1,
                                  batch, row, NULL);
        else
                slots_read(t, (struct table_slot *[]){&t->slots[at]}, 1, batch, row, NULL);
}

uint32_t table_read_bucket(struct combine_table *t, uint32_t bucket, size_t *pos, uint32_t room, fst_batch *batch)
{
        size_t share = t->capacity / TABLE_BUCKETS, start = bucket * share, mask = t->capacity - 1;
        uint32_t row = 0, product;
        /* The aside slot comes first. After its own slots, a bucket continues with rows that collisions displaced, up
         * to a free slot. */
        for (; *pos <= t->capacity && row < room; ++*pos) {
                size_t at = *pos == 0 ? t->capacity : (start + *pos - 1) & mask;
                if (slot_product(t, at, &product)) {
                        if (product >> (32 - TABLE_BUCKETS_LOG2) == bucket)
                                table_read_slot_at(t, at, batch, row++);
                } else if (*pos > share) {
                        break;
                }
        }
        batch->rows = row;
        return row;
}
