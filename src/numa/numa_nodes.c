/*
 * See numa_nodes.h.
 *
 * Slots take nodes in turn: each goes to the node with the fewest slots for each of its cpus.
 *
 * The memory policy is set by system call, because libnuma has no other use here. Containers often forbid it. Without
 * it, the kernel also takes memory from the node on which a thread touches a page first, as long as the thread stays.
 */
#include "numa/numa_nodes.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "numa/cpu_list.h"

#include <dirent.h>
#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MAX_NODES = 1024, CPU_LIST_BYTES = 16384, LONG_BITS = 8 * sizeof(long) };

struct numa_node {
        int number;
        int n_cpus;
        cpu_set_t cpus;
};

struct numa_nodes {
        cpu_set_t allowed; /* before a thread is bound */
        bool has_policy;   /* the process was started with a memory policy */
        int n;
        struct numa_node *nodes; /* by number */
};

/* The nodes to one of which the thread is bound, for this slot; NULL: it is not bound. */
static _Thread_local const struct numa_nodes *bound_nodes;
static _Thread_local int bound_slot;

/* ------------------------------------------------------------------------------------------------ the topology */

/* Adds node @number of @directory, unless this process may use none of its cpus. */
static int numa_nodes_add(struct numa_nodes *nodes, const char *directory, int number, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *path = mem_printf("%s/node%d/cpulist", directory, number);
        struct numa_node node = {.number = number};
        int r = file_text_read(path, CPU_LIST_BYTES, &text, error);
        if (r)
                return r;
        if (cpu_list_parse(buf_text(&text), &node.cpus))
                return error_set(error, -EINVAL, "%s: \"%.*s\" is not a list of cpus such as \"0-3,8\"", path,
                                 (int)strcspn(buf_text(&text), "\n"), buf_text(&text));
        CPU_AND(&node.cpus, &node.cpus, &nodes->allowed);
        node.n_cpus = CPU_COUNT(&node.cpus);
        if (node.n_cpus == 0)
                return 0;
        nodes->nodes = mem_grow(nodes->nodes, (size_t)(nodes->n + 1) * sizeof(node));
        nodes->nodes[nodes->n++] = node;
        return 0;
}

/* Marks the numbers of the nodes of @directory. Without the directory there are none. */
static void numa_nodes_list(const char *directory, bool present[static MAX_NODES])
{
        DIR *dir = opendir(directory);
        for (struct dirent *e; dir && (e = readdir(dir));) {
                char *end;
                if (strncmp(e->d_name, "node", 4) != 0 || e->d_name[4] < '0' || e->d_name[4] > '9')
                        continue;
                long number = strtol(e->d_name + 4, &end, 10);
                if (*end == 0 && number < MAX_NODES)
                        present[number] = true;
        }
        if (dir)
                closedir(dir);
}

int numa_nodes_new(const char *directory, const cpu_set_t *allowed, struct numa_nodes **nodes, struct fst_error *error)
{
        bool present[MAX_NODES] = {false};
        struct numa_nodes *all = new0(struct numa_nodes);
        int r = 0, policy = MPOL_DEFAULT;
        all->has_policy = syscall(SYS_get_mempolicy, &policy, NULL, 0ul, NULL, 0ul) == 0 && policy != MPOL_DEFAULT;
        if (allowed)
                all->allowed = *allowed;
        /* Fails on a machine with more than CPU_SETSIZE cpus, whose slots then run unbound. */
        if (allowed || sched_getaffinity(0, sizeof(all->allowed), &all->allowed) == 0)
                numa_nodes_list(directory, present);
        for (int i = 0; i < MAX_NODES && r == 0; i++)
                if (present[i])
                        r = numa_nodes_add(all, directory, i, error);
        if (r || all->n < 2) {
                numa_nodes_free(all);
                all = NULL;
        }
        if (r == 0)
                *nodes = all;
        return r;
}

void numa_nodes_free(struct numa_nodes *nodes)
{
        if (!nodes)
                return;
        free(nodes->nodes);
        free(nodes);
}

int numa_nodes_count(const struct numa_nodes *nodes)
{
        return nodes->n;
}

int numa_nodes_cpus(const struct numa_nodes *nodes)
{
        int n = 0;
        for (int i = 0; i < nodes->n; i++)
                n += nodes->nodes[i].n_cpus;
        return n;
}

static const struct numa_node *numa_node_of_slot(const struct numa_nodes *nodes, int slot)
{
        int taken[MAX_NODES] = {0}, best = 0;
        for (int s = 0; s <= slot; s++) {
                best = 0;
                for (int i = 1; i < nodes->n; i++)
                        if ((int64_t)(taken[i] + 1) * nodes->nodes[best].n_cpus <
                            (int64_t)(taken[best] + 1) * nodes->nodes[i].n_cpus)
                                best = i;
                taken[best]++;
        }
        return &nodes->nodes[best];
}

int numa_nodes_of_slot(const struct numa_nodes *nodes, int slot, cpu_set_t *cpus)
{
        const struct numa_node *node = numa_node_of_slot(nodes, slot);
        if (cpus)
                *cpus = node->cpus;
        return node->number;
}

/* ----------------------------------------------------------------------------------------------------- binding */

static void numa_prefer_memory(int node)
{
        unsigned long mask[MAX_NODES / LONG_BITS + 1] = {0};
        mask[node / LONG_BITS] = 1ul << node % LONG_BITS;
        (void)syscall(SYS_set_mempolicy, MPOL_PREFERRED, mask, (unsigned long)MAX_NODES + 1);
}

static void numa_apply(const struct numa_nodes *nodes, int slot)
{
        const struct numa_node *node = numa_node_of_slot(nodes, slot);
        (void)sched_setaffinity(0, sizeof(node->cpus), &node->cpus);
        if (!nodes->has_policy)
                numa_prefer_memory(node->number);
}

void numa_bind_thread(const struct numa_nodes *nodes, int slot)
{
        bound_nodes = nodes;
        bound_slot = slot;
        numa_apply(nodes, slot);
}

void numa_bind_process(const struct numa_nodes *nodes, int slot, pid_t pid)
{
        const struct numa_node *node = numa_node_of_slot(nodes, slot);
        (void)sched_setaffinity(pid, sizeof(node->cpus), &node->cpus);
}

void numa_unbind_thread(void)
{
        if (!bound_nodes)
                return;
        (void)sched_setaffinity(0, sizeof(bound_nodes->allowed), &bound_nodes->allowed);
        if (!bound_nodes->has_policy)
                (void)syscall(SYS_set_mempolicy, MPOL_DEFAULT, NULL, 0ul);
}

void numa_rebind_thread(void)
{
        if (bound_nodes)
                numa_apply(bound_nodes, bound_slot);
}

int numa_create_thread(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *owner)
{
        numa_unbind_thread();
        int r = pthread_create(thread, attributes, run, owner);
        numa_rebind_thread();
        return r;
}
