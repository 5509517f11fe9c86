/* The table of operators by number (as in rpc/stage.proto). See rdd_class.h. */
#include "rdd/rdd_class.h"

#include "base/mem.h"
#include "rpc/stage.pb-c.h"

static const struct rdd_class *const classes[] = {
        [RDD_BINARY_RECORDS] = &rdd_binary_records_class,
        [RDD_WHOLE_FILES] = &rdd_whole_files_class,
        [RDD_OBJECT_FILE] = &rdd_object_file_class,
        [RDD_CHECKPOINT_FILES] = &rdd_checkpoint_files_class,
        [RDD_TEXT_FILE] = &rdd_text_file_class,
        [RDD_PARALLELIZE] = &rdd_parallelize_class,
        [RDD_RANGE] = &rdd_range_class,
        [RDD_MAP] = &rdd_map_class,
        [RDD_FLAT_MAP] = &rdd_flat_map_class,
        [RDD_FILTER] = &rdd_filter_class,
        [RDD_MAP_VALUES] = &rdd_map_values_class,
        [RDD_MAP_PARTITIONS] = &rdd_map_partitions_class,
        [RDD_KEY_BY] = &rdd_key_by_class,
        [RDD_VALUES] = &rdd_values_class,
        [RDD_COALESCE] = &rdd_coalesce_class,
        [RDD_SHUFFLED] = &rdd_shuffled_class,
        [RDD_COMBINE] = &rdd_combine_class,
        [RDD_UNION] = &rdd_union_class,
        [RDD_SAMPLED] = &rdd_sampled_class,
        [RDD_INDEXED] = &rdd_indexed_class,
        [RDD_ZIPPED] = &rdd_zipped_class,
        [RDD_ZIPPED_PARTITIONS] = &rdd_zipped_partitions_class,
        [RDD_CARTESIAN] = &rdd_cartesian_class,
        [RDD_SORTED_WITHIN] = &rdd_sorted_within_class,
        [RDD_PIPED] = &rdd_piped_class,
        [RDD_GLOM] = &rdd_glom_class,
        [RDD_COUNTED] = &rdd_counted_class,
        [RDD_FOLDED] = &rdd_folded_class,
        [RDD_CHECKPOINTED] = &rdd_checkpointed_class,
        [RDD_LOCAL_CHECKPOINT] = &rdd_local_checkpoint_class,
        [RDD_COGROUP] = &rdd_cogroup_class,
        [RDD_BROADCAST_JOIN] = &rdd_broadcast_join_class,
        [RDD_KEYS] = &rdd_keys_class,
        [RDD_FLAT_MAP_VALUES] = &rdd_flat_map_values_class,
        [RDD_PACK] = &rdd_pack_class,
        [RDD_UNPACK] = &rdd_unpack_class,
        [RDD_SAMPLED_BY_KEY] = &rdd_sampled_by_key_class,
        [RDD_KEY_RANGE] = &rdd_key_range_class,
        [RDD_FRAMES] = &rdd_frames_class,
        [RDD_JAVA_OBJECT_FILE] = &rdd_java_object_file_class,
        [RDD_PYTHON] = &rdd_python_class,
};

#define SAME(name) _Static_assert((int)RDD_##name == (int)FIRESTEEL__OPERATOR__##name, "as on the wire")
SAME(TEXT_FILE);
SAME(BINARY_RECORDS);
SAME(WHOLE_FILES);
SAME(OBJECT_FILE);
SAME(CHECKPOINT_FILES);
SAME(PARALLELIZE);
SAME(RANGE);
SAME(MAP);
SAME(FLAT_MAP);
SAME(FILTER);
SAME(MAP_VALUES);
SAME(MAP_PARTITIONS);
SAME(KEY_BY);
SAME(VALUES);
SAME(COALESCE);
SAME(SHUFFLED);
SAME(COMBINE);
SAME(UNION);
SAME(SAMPLED);
SAME(INDEXED);
SAME(ZIPPED);
SAME(ZIPPED_PARTITIONS);
SAME(CARTESIAN);
SAME(SORTED_WITHIN);
SAME(PIPED);
SAME(GLOM);
SAME(COUNTED);
SAME(FOLDED);
SAME(CHECKPOINTED);
SAME(LOCAL_CHECKPOINT);
SAME(COGROUP);
SAME(BROADCAST_JOIN);
SAME(KEYS);
SAME(FLAT_MAP_VALUES);
SAME(PACK);
SAME(UNPACK);
SAME(SAMPLED_BY_KEY);
SAME(KEY_RANGE);
SAME(FRAMES);
SAME(JAVA_OBJECT_FILE);
SAME(PYTHON);

const struct rdd_class *rdd_class_of(int op)
{
        return op > 0 && (size_t)op < ARRAY_SIZE(classes) ? classes[op] : NULL;
}

const char *rdd_spark_class(const fst_rdd *rdd)
{
        if (rdd->spark_class)
                return rdd->spark_class;
        if (rdd->op != RDD_UNION)
                return rdd->class->spark;
        return rdd->n_parents == 0 ? "EmptyRDD" : rdd->unite.in_place ? "PartitionerAwareUnionRDD" : rdd->class->spark;
}
