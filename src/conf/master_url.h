/*
 * What a master URL says: `spark.master` as a kind and its numbers.
 *
 *      local                           one thread, no retries
 *      local[N]  local[*]              N threads (as many as there are processors), no retries
 *      local[N,F]  local[*,F]          … and a task may fail F times
 *      local-cluster[n, cores, MiB]    n executors, each a process of its own, on this machine
 *      spark://host:port[,host:port…]  a standalone master
 *      yarn                            and, from before 2.0, yarn-client and yarn-cluster
 *      mesos://host:port               also mesos://zk://…
 *      k8s://…                         an API server, https:// put in where no scheme is given
 *
 * Pure: it reads no clock, no file, and not the number of processors, which is passed in.
 */
#pragma once

#include <stdbool.h>

struct fst_error;

enum master_kind { MASTER_LOCAL, MASTER_LOCAL_CLUSTER, MASTER_SPARK, MASTER_YARN, MASTER_MESOS, MASTER_K8S };

struct master_url {
        enum master_kind kind;
        int threads;      /* LOCAL: at least 1 */
        int max_failures; /* LOCAL: 1 unless given; at least 1 */
        int executors;    /* LOCAL_CLUSTER */
        int cores;        /* LOCAL_CLUSTER: for each executor */
        int memory_mib;   /* LOCAL_CLUSTER: for each executor */
};

/*
 * Read @text into *@out. @processors is what `*` stands for. -EINVAL with @error and *@out untouched for what is
 * no master URL, or has numbers that cannot be (`local[0]`); Spark's sentence where Spark has one.
 */
int master_url_parse(const char *text, int processors, struct master_url *out, struct fst_error *error);

/* "local", "local-cluster", "spark", "yarn", "mesos", "k8s". */
const char *master_kind_name(enum master_kind kind);
