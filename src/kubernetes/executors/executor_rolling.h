/*
 * Chooses the next executor to replace when executors are rolled: Spark's ExecutorRollPlugin
 * (spark.kubernetes.executor.rollInterval, .rollPolicy, .minTasksPerExecutorBeforeRolling).
 */
#pragma once

#include <stdint.h>

enum roll_policy {
        ROLL_ID,
        ROLL_ADD_TIME,
        ROLL_TOTAL_GC_TIME,
        ROLL_TOTAL_DURATION,
        ROLL_AVERAGE_DURATION,
        ROLL_FAILED_TASKS,
        ROLL_PEAK_JVM_ONHEAP_MEMORY,
        ROLL_PEAK_JVM_OFFHEAP_MEMORY,
        ROLL_TOTAL_SHUFFLE_WRITE,
        ROLL_DISK_USED,
        ROLL_OUTLIER,
        ROLL_OUTLIER_NO_FALLBACK,
};

/* An executor in the status store. Times in ms, sizes in bytes. */
struct roll_summary {
        int32_t id; /* negative: the driver, which is never chosen */
        int64_t add_time;
        int total_tasks, failed_tasks;
        int64_t total_duration, total_gc_time, total_shuffle_write, disk_used;
        int64_t peak_heap, peak_off_heap; /* JVMHeapMemory, JVMOffHeapMemory */
};

/* Parses "OUTLIER", … Returns 0, or -1 for an unknown name. */
int roll_policy_parse(const char *name, enum roll_policy *policy);
const char *roll_policy_name(enum roll_policy policy);

/* Returns the id of the executor to decommission, or -1. Skips executors with fewer than @min_tasks tasks. */
int32_t roll_choose(const struct roll_summary *executors, int n, enum roll_policy policy, int min_tasks);
