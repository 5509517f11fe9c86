/*
 * See map.h.
 *
 * Keys and values are in the order of the keys' first rows. A hash table of row numbers, at most half full, finds a
 * key.
 */
#include "driver/actions/map.h"

#include "base/error.h"
#include "base/live_handles.h"
#include "base/mem.h"
#include "driver/actions/actions.h"
#include "driver/actions/sorted_rows.h"
#include "driver/context_handles.h"
#include "exec/actions/row_sink.h"
#include "rdd/aggregate/hash.h"
#include "rdd/aggregate/op_lookup.h"
#include "rdd/pipeline/struct_view.h"

struct fst_map {
        struct context_result owned;
        fst_context *sc;
        struct sorted_rows rows;
        size_t n;        /* number of keys */
        uint32_t *slots; /* row + 1, or 0 */
        size_t mask;
};

static void map_free(struct context_result *owned)
{
        fst_map *map = container_of(owned, fst_map, owned);
        live_handle_remove(HANDLE_MAP, map);
        sorted_rows_deinit(&map->rows);
        free(map->slots);
        free(map);
}

/* Returns the slot of a key: empty, or with its row. */
static uint32_t *map_find_slot(const fst_map *map, const struct reduce_value *key, uint64_t hash)
{
        for (size_t at = hash & map->mask;; at = (at + 1) & map->mask) {
                fst_batch row;
                if (!map->slots[at])
                        return &map->slots[at];
                row = sorted_rows_rows(&map->rows, map->slots[at] - 1, 1);
                if (lookup_is_key(&row, 0, key))
                        return &map->slots[at];
        }
}

/* Moves rows with new keys to the front. Later rows of the same key overwrite the value. */
static void map_add_rows(fst_map *map, size_t from, uint32_t n)
{
        uint64_t hashes[FST_BATCH_ROWS];
        fst_batch batch = sorted_rows_rows(&map->rows, from, n);
        hash_keys(&batch, hashes);
        for (uint32_t i = 0; i < n; i++) {
                struct reduce_value key = reduce_value_at(map->rows.type, batch.key, i);
                uint32_t *slot = map_find_slot(map, &key, hashes[i]);
                if (*slot) {
                        sorted_rows_copy_value(&map->rows, *slot - 1, from + i);
                } else {
                        sorted_rows_copy(&map->rows, map->n, from + i);
                        *slot = (uint32_t)++map->n;
                }
        }
}

int map_new(fst_context *sc, fst_type type, struct page *pages, fst_map **out, struct fst_error *error)
{
        fst_map *map = new0(fst_map);
        size_t slots = 2;
        int r = sorted_rows_init(&map->rows, type, pages, error);
        while (slots < 2 * map->rows.n)
                slots *= 2;
        map->sc = sc;
        map->mask = slots - 1;
        map->slots = r ? NULL : mem_try(slots * sizeof(*map->slots));
        if (r == 0 && !map->slots)
                r = error_set(error, -ENOMEM, "no memory in the driver for a map of %zu rows: " NO_DRIVER_MEMORY_REMEDY,
                              map->rows.n);
        if (r) {
                sorted_rows_deinit(&map->rows);
                free(map);
                return r;
        }
        memset(map->slots, 0, slots * sizeof(*map->slots));
        map->owned.free = map_free;
        for (size_t at = 0; at < map->rows.n; at += FST_BATCH_ROWS)
                map_add_rows(map, at, (uint32_t)MIN(map->rows.n - at, (size_t)FST_BATCH_ROWS));
        context_own(sc, &map->owned);
        live_handle_add(HANDLE_MAP, map);
        *out = map;
        return 0;
}

/* --------------------------------------------------------------------------------------------------------- queries */

FST_API int64_t fst_map_count(const fst_map *map)
{
        map = handle_given(HANDLE_MAP, map, "map_count");
        return map ? (int64_t)map->n : -EINVAL;
}

static bool map_find_value(const fst_map *map, fst_key key, fst_variable value, struct fst_error *error)
{
        fst_type value_type = {.key = map->rows.type.value, .key_size = map->rows.type.value_size};
        struct reduce_value k;
        _cleanup_(arena_deinit) struct arena space = ARENA_INIT;
        fst_batch row = {.type = map->rows.type, .rows = 1, .key = {.i64 = &key.i64}};
        uint64_t hash;
        if (lookup_key(map->rows.type, key, &space, &k, error) ||
            action_check_variable(value_type, value, "the map", error))
                return false;
        fst_bytes bytes = {k.data, k.size};
        if (row.type.key == FST_KIND_BYTES)
                row.key.bytes = &bytes;
        else if (row.type.key == FST_KIND_FIXED)
                row.key.fixed = (char *)key.fixed;
        hash_keys(&row, &hash);
        uint32_t at = *map_find_slot(map, &k, hash);
        if (!at)
                return false;
        struct reduce_value v = reduce_value_at(value_type, map->rows.value, at - 1);
        const struct struct_type *s = struct_type_of_column(value_type.key, value_type.key_size);
        if (s) /* the map keeps the bytes */
                action_read_struct(map->sc, s, (fst_bytes){v.data, v.size}, value.to);
        else if (value.kind == FST_KIND_BYTES)
                *(fst_bytes *)value.to = (fst_bytes){v.data, v.size};
        else
                action_give(map->sc, value_type, &v, value);
        return true;
}

FST_API bool fst_map_get_at(const fst_map *map, fst_key key, fst_variable value)
{
        struct fst_error error = FST_ERROR_INIT;
        map = handle_given(HANDLE_MAP, map, "map_get");
        if (!map)
                return false;
        bool found = map_find_value(map, key, value, &error);
        if (error.message)
                context_misused("fst_map_get: %s", error_message(&error));
        error_deinit(&error);
        return found;
}

/* ----------------------------------------------------------------------------------------------------------- rows */

struct map_rows {
        fst_iter iter;
        struct context_result owned;
        const fst_map *map;
        struct struct_view view;
        size_t next;
};

static bool map_rows_refill(fst_iter *iter)
{
        struct map_rows *self = container_of(iter, struct map_rows, iter);
        uint32_t n = (uint32_t)MIN(self->map->n - self->next, (size_t)FST_BATCH_ROWS);
        struct fst_error error = FST_ERROR_INIT;
        fst_batch batch = sorted_rows_rows(&self->map->rows, self->next, n);
        iter->at = 0;
        self->next += n;
        iter->status = struct_view_batch(&self->view, &batch, &iter->batch, &error);
        if (iter->status)
                context_misused("a row of a map: %s", error_message(&error));
        error_deinit(&error);
        return n > 0 && !iter->status;
}

static void map_rows_free(struct context_result *owned)
{
        struct_view_deinit(&container_of(owned, struct map_rows, owned)->view);
}

FST_API fst_iter *fst_map_rows(fst_map *map)
{
        map = handle_given(HANDLE_MAP, map, "map_rows");
        if (!map)
                return NULL;
        struct map_rows *self = new0(struct map_rows);
        struct_view_init(&self->view, map->rows.type);
        self->iter.tag = fst_type_tag(self->view.seen);
        self->iter.batch.type = self->view.seen;
        self->iter.refill = map_rows_refill;
        self->owned.free = map_rows_free;
        self->owned.iter = &self->iter;
        self->owned.memory = self;
        self->map = map;
        context_own(map->sc, &self->owned);
        return &self->iter;
}
