/*
 * The machine's memory nodes, and threads that stay on the cpus of one.
 *
 *      struct numa_nodes *nodes;
 *      if (numa_nodes_new(NUMA_NODES_DIRECTORY, NULL, &nodes, error) == 0 && nodes)
 *              numa_bind_thread(nodes, slot);
 */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <sys/types.h>

struct fst_error;
struct numa_nodes;

#define NUMA_NODES_DIRECTORY "/sys/devices/system/node"

/*
 * Reads the nodes of @directory, in which nodeN/cpulist lists the cpus of node N, as far as @allowed contains these
 * cpus. With NULL these are the cpus that the calling thread may use. *@nodes, which the caller owns, is NULL if fewer
 * than two nodes are left. Returns 0; negative with @error, which names the file, if a list cannot be read or is
 * malformed.
 */
int numa_nodes_new(const char *directory, const cpu_set_t *allowed, struct numa_nodes **nodes, struct fst_error *error);

/* NULL is allowed. The threads that were bound must have ended. */
void numa_nodes_free(struct numa_nodes *nodes);

/* The number of nodes, at least 2. */
int numa_nodes_count(const struct numa_nodes *nodes);

/* The number of cpus of all nodes that this process may use. */
int numa_nodes_cpus(const struct numa_nodes *nodes);

/*
 * For tests: returns the number of the node on which @slot runs. The slots 0 … @slot are spread over the nodes in
 * proportion to their cpus. @cpus, unless NULL, becomes the cpus of the node.
 */
int numa_nodes_of_slot(const struct numa_nodes *nodes, int slot, cpu_set_t *cpus);

/*
 * Keeps the calling thread on the cpus of the node of @slot, and asks for memory of that node, unless the process
 * was started with a memory policy, for instance by numactl. @nodes must live as long as the thread. No effect where
 * the system forbids it.
 */
void numa_bind_thread(const struct numa_nodes *nodes, int slot);

/* Keeps process @pid, which has one thread, on the cpus of the node of @slot. The kernel prefers the memory there. */
void numa_bind_process(const struct numa_nodes *nodes, int slot, pid_t pid);

/*
 * Around the start of a program, which inherits cpus and memory policy from the calling thread: a bound thread gets
 * those back that the nodes were read with, and is then bound again. No effect for other threads.
 */
void numa_unbind_thread(void);
void numa_rebind_thread(void);

/*
 * As pthread_create, for threads that the whole process uses: the new thread is not bound, even if the thread of a slot
 * starts it. A thread that works for one slot inherits the node with pthread_create.
 */
int numa_create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *owner);
