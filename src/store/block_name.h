/*
 * The names of blocks, Spark's: "rdd_3_7" (partition 7 of RDD 3), "broadcast_2_piece0", "taskresult_81" (the large
 * result of a task), "parallel_4_0" (a slice of the driver's, which is ours alone). Names travel and are shown; tables
 * use the numbers.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum block_kind { BLOCK_NONE, BLOCK_RDD, BLOCK_BROADCAST, BLOCK_TASK_RESULT, BLOCK_PARALLEL };

struct block_name {
        enum block_kind kind;
        int64_t id;   /* of the RDD, broadcast variable or task */
        int32_t part; /* partition or piece; 0 for BLOCK_TASK_RESULT */
};

/* Bytes of the longest name, with its NUL. */
#define BLOCK_NAME_SIZE 48

/* From text of another process: false (@name untouched) unless it is exactly what block_name_format would write. */
bool block_name_parse(const char *text, struct block_name *name);

/* Returns @out. */
const char *block_name_format(struct block_name name, char out[static BLOCK_NAME_SIZE]);
