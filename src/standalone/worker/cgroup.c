/*
 * Control groups. A group is a directory in each hierarchy: one for version 2, those of memory and cpu for version 1.
 */
#include "standalone/worker/cgroup.h"

#include "base/error.h"
#include "base/mem.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERIOD_US 100000

enum { HIERARCHIES = 2 };

struct cgroups {
        int version;
        char *parents[HIERARCHIES]; /* version 1: memory, cpu. version 2: only the first */
};

struct cgroup {
        int version;
        char *paths[HIERARCHIES];
        char *procs[HIERARCHIES + 1];
};

static int cgroup_put(const char *directory, const char *file, const char *text, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", directory, file);
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_CREAT, 0644);
        int r = fd < 0 || write(fd, text, strlen(text)) < 0 ? -errno : 0;
        if (fd >= 0)
                close(fd);
        return r ? error_set(error, r, "spark.firesteel.worker.cgroup: writing %s to %s: %s", text, path, strerror(-r))
                 : 0;
}

static int cgroup_make(const char *path, struct fst_error *error)
{
        return mkdir(path, 0755) < 0 && errno != EEXIST
                       ? error_errno(error, "spark.firesteel.worker.cgroup: making %s", path)
                       : 0;
}

/* Creates every group from the hierarchy's root to the parent. In version 2 each enables the controllers for its
 * children.
 */
static int make_parent(const char *root, const char *parent, int version, char **out, struct fst_error *error)
{
        _cleanup_free_ char *path = mem_strdup(root);
        int r = version == 2 ? cgroup_put(path, "cgroup.subtree_control", "+cpu +memory", error) : 0;
        for (const char *at = parent + strspn(parent, "/"); r == 0 && *at; at += strspn(at, "/")) {
                size_t n = strcspn(at, "/");
                char *deeper = mem_printf("%s/%.*s", path, (int)n, at);
                free(path);
                path = deeper;
                r = cgroup_make(path, error);
                if (r == 0 && version == 2)
                        r = cgroup_put(path, "cgroup.subtree_control", "+cpu +memory", error);
                at += n;
        }
        if (r == 0)
                *out = steal(path);
        return r;
}

/* Removes unused groups. rmdir fails for those with processes. */
static void cgroup_sweep(const char *parent)
{
        DIR *d = opendir(parent);
        for (struct dirent *e; d && (e = readdir(d));)
                if (e->d_type == DT_DIR && e->d_name[0] != '.')
                        (void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
        if (d)
                closedir(d);
}

static bool cgroup_has(const char *root, const char *name)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", root, name);
        return access(path, F_OK) == 0;
}

int cgroups_new(const char *root, const char *parent, struct cgroups **out, struct fst_error *error)
{
        const char *cpu = cgroup_has(root, "cpu") ? "cpu" : "cpu,cpuacct";
        struct cgroups *g = new0(struct cgroups);
        int r;
        if (cgroup_has(root, "cgroup.controllers")) {
                g->version = 2;
                r = make_parent(root, parent, 2, &g->parents[0], error);
        } else if (cgroup_has(root, "memory") && cgroup_has(root, cpu)) {
                _cleanup_free_ char *memory = mem_printf("%s/memory", root), *cpus = mem_printf("%s/%s", root, cpu);
                g->version = 1;
                r = make_parent(memory, parent, 1, &g->parents[0], error);
                if (r == 0)
                        r = make_parent(cpus, parent, 1, &g->parents[1], error);
        } else {
                r = error_set(error, -ENOENT,
                              "spark.firesteel.worker.cgroup: neither version 2 of control groups nor the hierarchies "
                              "memory and cpu of version 1 are mounted at %s",
                              root);
        }
        if (r) {
                cgroups_free(g);
                return r;
        }
        for (int i = 0; i < HIERARCHIES && g->parents[i]; i++)
                cgroup_sweep(g->parents[i]);
        *out = g;
        return 0;
}

void cgroups_free(struct cgroups *groups)
{
        if (!groups)
                return;
        for (int i = 0; i < HIERARCHIES; i++)
                free(groups->parents[i]);
        free(groups);
}

static int cgroup_limit(const struct cgroup *g, int64_t memory, int cores, struct fst_error *error)
{
        _cleanup_free_ char *bytes = mem_printf("%lld", (long long)memory);
        _cleanup_free_ char *quota = mem_printf("%d", cores * PERIOD_US), *period = mem_printf("%d", PERIOD_US);
        _cleanup_free_ char *both = mem_printf("%s %s", quota, period);
        int r;
        if (g->version == 2)
                return (r = cgroup_put(g->paths[0], "memory.max", bytes, error))
                               ? r
                               : cgroup_put(g->paths[0], "cpu.max", both, error);
        if ((r = cgroup_put(g->paths[0], "memory.limit_in_bytes", bytes, error)) ||
            (r = cgroup_put(g->paths[1], "cpu.cfs_period_us", period, error)))
                return r;
        return cgroup_put(g->paths[1], "cpu.cfs_quota_us", quota, error);
}

int cgroup_new(const struct cgroups *groups, const char *name, int64_t memory, int cores, struct cgroup **out,
               struct fst_error *error)
{
        struct cgroup *g = new0(struct cgroup);
        int r = 0;
        g->version = groups->version;
        for (int i = 0; r == 0 && i < HIERARCHIES && groups->parents[i]; i++) {
                g->paths[i] = mem_printf("%s/%s", groups->parents[i], name);
                g->procs[i] = mem_printf("%s/cgroup.procs", g->paths[i]);
                r = cgroup_make(g->paths[i], error);
        }
        if (r == 0)
                r = cgroup_limit(g, memory, cores, error);
        if (r)
                cgroup_free(g);
        else
                *out = g;
        return r;
}

char *const *cgroup_procs(const struct cgroup *group)
{
        return group->procs;
}

void cgroup_free(struct cgroup *group)
{
        if (!group)
                return;
        int saved = errno;
        for (int i = 0; i < HIERARCHIES; i++)
                if (group->paths[i]) {
                        (void)rmdir(group->paths[i]);
                        free(group->paths[i]);
                        free(group->procs[i]);
                }
        free(group);
        errno = saved;
}
