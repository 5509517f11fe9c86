/*
 * The numbers of master URLs that have some:
 *
 *      local                           one thread, no retries
 *      local[N]  local[*]              N threads (as many as there are processors), no retries
 *      local[N,F]  local[*,F]          … and a task may fail F times
 *      local-cluster[n, cores, MiB]    n executors, each a process of its own, on this machine
 *
 * Pure: it reads no clock, no file, and not the number of processors, which is passed in. Which cluster manager a
 * master URL belongs to is in driver/backend/cluster_manager.h.
 */
#pragma once

struct fst_error;

struct master_url {
        int threads;      /* local: at least 1 */
        int max_failures; /* local: 1 unless given; at least 1 */
        int executors;    /* local-cluster */
        int cores;        /* local-cluster: for each executor */
        int memory_mib;   /* local-cluster: for each executor */
};

/*
 * Read @text, which begins with "local" or "local-cluster", into *@out. @processors is what `*` stands for. -EINVAL
 * with
 * @error and *@out untouched for any other form, or for invalid numbers (`local[0]`); Spark's sentence where Spark has
 * one.
 */
int local_master_parse(const char *text, int processors, struct master_url *out, struct fst_error *error);
int local_cluster_master_parse(const char *text, int processors, struct master_url *out, struct fst_error *error);
