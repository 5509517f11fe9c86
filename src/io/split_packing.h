/* Puts consecutive splits together into partitions, so that one task reads several small files: Spark SQL's rule for
 * the partitions of files, without its order by size. */
#pragma once

#include "io/input_splits.h"

struct fst_conf;

struct split_packing {
        uint64_t max_bytes; /* of a partition: spark.files.maxPartitionBytes */
        uint64_t open_cost; /* bytes that could be read while a file is opened: spark.files.openCostInBytes */
        uint64_t cores;     /* partitions are at most so large that each core gets one */
};

/* Reads max_bytes and open_cost. Returns -EINVAL with key and value. */
int split_packing_read(const struct fst_conf *conf, struct split_packing *packing, struct fst_error *error);

/* Returns the size of a partition of @files with @bytes: min(max_bytes, max(open_cost, (bytes + files * open_cost) /
 * cores)). */
uint64_t split_packing_size(const struct split_packing *packing, uint64_t bytes, size_t files);

/* Sets splits->firsts and splits->partitions. A split closes its partition if with the next one, and open_cost for each
 * before, it would exceed that size. Splits keep their order. */
void split_packing_apply(const struct split_packing *packing, struct input_splits *splits);
