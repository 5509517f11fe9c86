/*
 * Spark's names of blocks: "rdd_3_7" (partition 7 of RDD 3), "broadcast_2_piece0", "taskresult_81" (the large result of
 * a task), and our own "parallel_4_0" (a slice of the driver). Messages and pages use names. Tables use the numbers.
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

/* Bytes of the longest name, including its NUL. */
#define BLOCK_NAME_SIZE 48

/*
 * Parses a name from another process. Returns false, @name untouched, unless it is exactly the output of
 * block_name_format.
 */
bool block_name_parse(const char *text, struct block_name *name);

/* Returns @out. */
const char *block_name_format(struct block_name name, char out[static BLOCK_NAME_SIZE]);
