/*
 * Parses the numbers in master URLs:
 *
 *      local                           one thread, no retries
 *      local[N]  local[*]              N threads (*: as many as processors), no retries
 *      local[N,F]  local[*,F]          … and a task may fail F times
 *      local-cluster[n, cores, MiB]    n executors on this machine, each a process
 *
 * Pure: it reads no clock and no file, and the caller passes the number of processors. driver/backend/cluster_manager.h
 * finds the cluster manager of a master URL.
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
 * Parse @text, which begins with "local" or "local-cluster", into *@out. `*` stands for @processors. Returns 0, or
 * -EINVAL with @error (Spark's sentence where it has one) and *@out unchanged for any other form and invalid numbers
 * (`local[0]`).
 */
int local_master_parse(const char *text, int processors, struct master_url *out, struct fst_error *error);
int local_cluster_master_parse(const char *text, int processors, struct master_url *out, struct fst_error *error);
