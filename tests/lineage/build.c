/* See build.h. */
#include "build.h"

#include "base/mem.h"
#include "files.h"
#include "functions.h"

fst_constant build_zero(fst_type column, struct build_value *room)
{
        memset(room, 0, sizeof(*room));
        room->bytes = fst_bytes_of("");
        switch (column.key) {
        case FST_KIND_I64:
                return FST_CONSTANT(&room->i64);
        case FST_KIND_F64:
                return FST_CONSTANT(&room->f64);
        case FST_KIND_BYTES:
                return FST_CONSTANT(&room->bytes);
        default:
                return (fst_constant){room->fixed, column.key_size, FST_KIND_FIXED};
        }
}

/* ------------------------------------------------------------------------------------------------------- sources */

static void put_column(char *to, struct cell c)
{
        if (c.kind == FST_KIND_I64)
                memcpy(to, &c.i64, 8);
        else if (c.kind == FST_KIND_F64)
                memcpy(to, &c.f64, 8);
        else if (c.kind == FST_KIND_BYTES)
                memcpy(to, &c.bytes, sizeof(c.bytes));
        else if (c.kind == FST_KIND_FIXED)
                memcpy(to, c.bytes.data, c.bytes.len);
}

static size_t column_size(fst_type column)
{
        return column.key == FST_KIND_BYTES ? sizeof(fst_bytes) : column.key_size;
}

static fst_rdd *parallelized(fst_context *sc, struct plan *p, const struct node *n)
{
        fst_type key = type_key(n->type), value = type_value(n->type);
        size_t key_size = column_size(key), value_size = column_size(value);
        _cleanup_free_ char *keys = mem_alloc((n->count + 1) * key_size);
        _cleanup_free_ char *values = mem_alloc((n->count + 1) * MAX(value_size, (size_t)1));
        for (size_t i = 0; i < n->count; i++) {
                struct row r = plan_source_row(p, n, i);
                put_column(keys + i * key_size, r.key);
                put_column(values + i * value_size, r.value);
        }
        return n->type.value ? fst_parallelize_pairs_at(sc, keys, values, n->count, key, value, n->n, FST_HERE("pairs"))
                             : fst_parallelize_at(sc, keys, n->count, key, n->n, FST_HERE("parallelize"));
}

/* ------------------------------------------------------------------------------------------------------ operators */

static fst_rdd *split(fst_rdd *rdd, const struct node *n)
{
        fst_rdd *splits[3];
        fst_random_split(rdd, ((const double[]){1, 2, 4}), 3, n->seed, splits);
        return splits[n->variant];
}

static fst_rdd *reduced(fst_rdd *rdd, const struct node *n)
{
        const struct deed *d = &n->deed;
        struct build_value room;
        fst_type made = type_value(n->type);
        switch (n->operator) {
        case REDUCE_BY_KEY: {
                fst_fn f = n->variant == 0   ? fn_add(d)
                           : n->variant == 1 ? fn_greater(d)
                           : n->variant == 2 ? fst_fn_sum
                           : n->variant == 3 ? fst_fn_max
                                             : fst_fn_min;
                return fst_reduce_by_key_n(rdd, f, n->n);
        }
        case FOLD_BY_KEY:
                return fst_fold_by_key_at(rdd, build_zero(made, &room), fn_add(d), n->n, FST_HERE("fold_by_key"));
        case AGGREGATE_BY_KEY:
                return fst_aggregate_by_key_at(rdd, build_zero(made, &room), fn_take(d), fn_add(d), n->n,
                                               FST_HERE("aggregate_by_key"));
        default:
                return fst_combine_by_key_n(rdd, fn_create(d), fn_take(d), fn_add(d), made, n->n);
        }
}

static fst_rdd *preserving(fst_rdd *rdd, const struct node *n)
{
        return n->deed.keep_key ? fst_preserves_partitioning(rdd) : rdd;
}

static fst_rdd *grouped(fst_context *sc, fst_rdd **in, const struct node *n)
{
        fst_fn f = fn_groups(&n->deed);
        switch (FST_SHAPE_FORM(f.shape)) {
        case FST_FORM_GROUP:
                return preserving(fst_flat_map_groups_n(in[0], f, n->type, n->n), n);
        case FST_FORM_COGROUP:
                return preserving(fst_cogroup_n(in[0], in[1], f, n->type, n->n), n);
        default:
                return preserving(fst_cogroup_all_n(sc, in, (size_t)n->n_parents, f, n->type, n->n), n);
        }
}

static fst_rdd *built(fst_context *sc, struct plan *p, int i, fst_rdd **in, const char *folder)
{
        const struct node *n = &p->nodes[i];
        const struct deed *d = &n->deed;
        enum fst_order order = n->descending ? FST_DESCENDING : FST_ASCENDING;
        fst_fn f;
        switch (n->operator) {
        case RANGE:
                return fst_range_n(sc, n->seed, n->seed + (int64_t)n->count, n->n);
        case PARALLELIZE:
                return parallelized(sc, p, n);
        case TEXT_FILE:
        case BINARY_RECORDS:
                return files_read(sc, p, i, NULL, folder);
        case OBJECT_FILE:
        case SAVED_TEXT:
        case WHOLE_TEXT_FILES:
        case BINARY_FILES:
                return files_read(sc, p, i, in[0], folder);
        case BARRIER:
                return fst_repartition(fst_barrier_map_partitions(in[0], fn_gathered(d), n->type), n->n);
        case MAP:
                return fst_map(in[0], fn_rows(d), n->type);
        case MAP_TO_NUMBER:
                return fst_map(in[0], fn_number(d), n->type);
        case FLAT_MAP:
                return fst_flat_map(in[0], fn_rows(d), n->type);
        case FILTER:
                return fst_filter(in[0], fn_keeps(d));
        case MAP_VALUES:
                return fst_map_values(in[0], fn_rows(d), d->into);
        case FLAT_MAP_VALUES:
                return fst_flat_map_values(in[0], fn_rows(d), d->into);
        case KEYS:
                return fst_keys(in[0]);
        case VALUES:
                return fst_values(in[0]);
        case KEY_BY:
                return fst_key_by(in[0], fn_rows(d), d->into);
        case MAP_PARTITIONS:
                return preserving(fst_map_partitions(in[0], fn_partition(d), n->type), n);
        case MAP_PARTITIONS_WITH_INDEX:
                return preserving(fst_map_partitions_with_index(in[0], fn_partition_at(d), n->type), n);
        case MAP_BATCHES:
                return fst_map_batches(in[0], fn_batch(d), n->type);
        case SORT_BY:
                return fst_sort_by_n(in[0], fn_rows(d), d->into, order, n->n);
        case SORT_ROWS:
                return fst_sort_by_n(in[0], fst_fn_identity, n->type, order, n->n);
        case UNION:
                return n->n_parents == 2 && n->variant ? fst_union(in[0], in[1])
                                                       : fst_union_all(sc, in, (size_t)n->n_parents);
        case REPARTITION:
                return fst_repartition(in[0], n->n);
        case COALESCE:
                return fst_coalesce(in[0], n->n);
        case SAMPLE:
                return fst_sample(in[0], n->variant, n->fraction, n->seed);
        case RANDOM_SPLIT:
                return split(in[0], n);
        case ZIP_WITH_INDEX:
                return fst_zip_with_index(in[0]);
        case ZIP_WITH_UNIQUE_ID:
                return fst_zip_with_unique_id(in[0]);
        case ZIP:
                return fst_zip(in[0], in[1]);
        case ZIP_PARTITIONS:
                f = fn_zipped(d);
                return FST_SHAPE_FORM(f.shape) == FST_FORM_ITER_2
                               ? fst_zip_partitions(in[0], in[1], f, n->type)
                               : fst_zip_partitions_all(sc, in, (size_t)n->n_parents, f, n->type);
        case CARTESIAN:
                return fst_cartesian(in[0], in[1]);
        case SORT_WITHIN_PARTITIONS:
                return fst_sort_within_partitions(in[0], order);
        case PIPE:
                return fst_pipe(in[0], "cat");
        case GROUP_BY:
                return fst_group_by_n(in[0], fn_rows(d), d->into, n->n);
        case DISTINCT:
                return fst_distinct_n(in[0], n->n);
        case INTERSECTION:
                return fst_intersection_n(in[0], in[1], n->n);
        case SUBTRACT:
                return fst_subtract_n(in[0], in[1], n->n);
        case GLOM:
                return fst_glom(in[0]);
        case REDUCE_BY_KEY:
        case FOLD_BY_KEY:
        case AGGREGATE_BY_KEY:
        case COMBINE_BY_KEY:
                return reduced(in[0], n);
        case SORT_BY_KEY:
                return fst_sort_by_key_n(in[0], order, n->n);
        case GROUP_BY_KEY:
                return fst_group_by_key_n(in[0], n->n);
        case FLAT_MAP_GROUPS:
        case COGROUP:
                return grouped(sc, in, n);
        case JOIN:
                if (node_is_broadcast_join(n))
                        return fst_broadcast_join(in[0], in[1], fn_joined(d, 0), n->type);
                if (node_is_skewed_join(n))
                        return fst_skewed_join_n(in[0], in[1], fn_joined(d, 0), n->type, n->n);
                return preserving(fst_join_n(in[0], in[1], fn_joined(d, 0), n->type, n->n), n);
        case RIGHT_OUTER_JOIN:
                if (node_is_skewed_join(n))
                        return fst_skewed_right_outer_join_n(in[0], in[1], fn_joined(d, 1), n->type, n->n);
                return preserving(fst_right_outer_join_n(in[0], in[1], fn_joined(d, 1), n->type, n->n), n);
        case LEFT_OUTER_JOIN:
                if (node_is_broadcast_join(n))
                        return fst_broadcast_left_outer_join(in[0], in[1], fn_joined(d, 2), n->type);
                if (node_is_skewed_join(n))
                        return fst_skewed_left_outer_join_n(in[0], in[1], fn_joined(d, 2), n->type, n->n);
                return preserving(fst_left_outer_join_n(in[0], in[1], fn_joined(d, 2), n->type, n->n), n);
        case FULL_OUTER_JOIN:
                return preserving(fst_full_outer_join_n(in[0], in[1], fn_joined(d, 3), n->type, n->n), n);
        case SUBTRACT_BY_KEY:
                return fst_subtract_by_key_n(in[0], in[1], n->n);
        case PARTITION_BY:
                return fst_partition_by(in[0], n->n);
        case PARTITION_BY_RANGE:
                return fst_partition_by_range(in[0], n->n, order);
        case PARTITION_BY_FUNCTION:
                return fst_partition_by_function(in[0], n->n, fn_place(d));
        case PLACE_AND_SORT:
                return fst_repartition_and_sort_within_partitions(in[0], n->n, order);
        default:
                abort();
        }
}

void build_node(fst_context *sc, struct plan *p, int i, const char *folder)
{
        struct node *n = &p->nodes[i];
        fst_rdd *in[NODE_PARENTS];
        for (int k = 0; k < n->n_parents; k++)
                in[k] = p->nodes[n->parents[k]].rdd;
        n->rdd = built(sc, p, i, in, folder);
        if (n->n_parents && n->rdd == in[0]) { /* it already had this partitioner, and may be persisted */
                n->level = FST_STORAGE_NONE;
                n->checkpoint = KEEP_LINEAGE;
        }
        if (n->level)
                fst_persist(n->rdd, n->level);
        if (n->checkpoint == CHECKPOINT)
                fst_checkpoint(n->rdd);
        if (n->checkpoint == LOCAL_CHECKPOINT)
                fst_local_checkpoint(n->rdd);
}
