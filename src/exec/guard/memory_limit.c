/*
 * Memory limits and use of a process; see memory_limit.h.
 *
 * The files are opened once and read with pread. A group's limit is lowered by a reserve, because the kernel kills at
 * the limit itself. The configured limit is enforced only here.
 */
#include "exec/guard/memory_limit.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_LIMIT INT64_MAX
#define UNLIMITED ((int64_t)1 << 60) /* version 1 writes a huge number for "no limit" */
#define MIN_RESERVE ((int64_t)24 << 20)
#define MAX_RESERVE ((int64_t)64 << 20)

struct memory_limit {
        int64_t configured; /* NO_LIMIT: none */
        int64_t group;      /* NO_LIMIT: none */
        char *group_name;
        int statm, usage, stat; /* descriptors; -1: not available */
        bool version_1;
        int processes;
        long page;
        enum memory_verdict last;
        int quiet; /* calls until MEMORY_LIMIT_FAIL may be returned again */
};

/* ------------------------------------------------------------------------------------------------- configuration */

int memory_limit_configured(const struct fst_conf *conf, int64_t *memory, int64_t *overhead, struct fst_error *error)
{
        int64_t heap, extra, least;
        double factor;
        int r;
        if ((r = conf_get_bytes(conf, "spark.executor.memory", &heap, error)) ||
            (r = conf_get_double(conf, "spark.executor.memoryOverheadFactor", &factor, error)) ||
            (r = conf_get_bytes(conf, "spark.executor.minMemoryOverhead", &least, error)))
                return r;
        if (conf_get_value(conf, "spark.executor.memoryOverhead")) {
                if ((r = conf_get_bytes(conf, "spark.executor.memoryOverhead", &extra, error)))
                        return r;
        } else {
                extra = MAX((int64_t)((double)heap * factor), least);
        }
        *memory = heap;
        *overhead = extra;
        return 0;
}

int memory_limit_off_heap(const struct fst_conf *conf, int64_t *bytes, struct fst_error *error)
{
        bool enabled;
        int64_t size;
        int r;
        if ((r = conf_get_bool(conf, "spark.memory.offHeap.enabled", &enabled, error)) ||
            (r = conf_get_bytes(conf, "spark.memory.offHeap.size", &size, error)))
                return r;
        if (enabled && size < 1 << 20)
                return error_set(error, -EINVAL,
                                 "requirement failed: spark.memory.offHeap.size must be at least 1MiB when "
                                 "spark.memory.offHeap.enabled == true");
        *bytes = enabled ? size : 0;
        return 0;
}

/* -------------------------------------------------------------------------------------------------- control groups */

static ssize_t read_text(int fd, char *text, size_t size)
{
        ssize_t n = fd < 0 ? -1 : pread(fd, text, size - 1, 0);
        text[n < 0 ? 0 : n] = 0;
        return n;
}

static int open_in(const char *directory, const char *file)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", directory, file);
        return open(path, O_RDONLY | O_CLOEXEC);
}

/* Reads a number from a file; NO_LIMIT for "max", malformed content, or a missing file. */
static int64_t read_limit(const char *directory, const char *file)
{
        char text[64], *end;
        int fd = open_in(directory, file);
        ssize_t n = read_text(fd, text, sizeof(text));
        if (fd >= 0)
                close(fd);
        if (n <= 0)
                return NO_LIMIT;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        return end == text || errno || value < 0 || value >= UNLIMITED ? NO_LIMIT : value;
}

/* Returns the value of line @name in the text of a memory.stat, or @otherwise. */
static int64_t stat_line(const char *text, const char *name, int64_t otherwise)
{
        size_t len = strlen(name);
        for (const char *line = text; line && *line; line = strchr(line, '\n'), line += line != NULL)
                if (strncmp(line, name, len) == 0 && line[len] == ' ')
                        return strtoll(line + len + 1, NULL, 10);
        return otherwise;
}

static void watch_group(struct memory_limit *l, const char *directory, const char *name, bool version_1)
{
        free(l->group_name);
        l->group_name = mem_printf("control group %s", *name ? name : "/");
        if (l->usage >= 0)
                close(l->usage);
        if (l->stat >= 0)
                close(l->stat);
        l->usage = open_in(directory, version_1 ? "memory.usage_in_bytes" : "memory.current");
        l->stat = open_in(directory, "memory.stat");
        l->version_1 = version_1;
}

/* Reads the lowest limit of the group @name and its visible ancestors. @name begins with '/'. */
static void read_tree(struct memory_limit *l, const char *root, char *name, bool version_1)
{
        for (;;) {
                if (strcmp(name, "/") == 0)
                        name[0] = 0;
                _cleanup_free_ char *directory = mem_printf("%s%s", root, name);
                int64_t limit = read_limit(directory, version_1 ? "memory.limit_in_bytes" : "memory.max");
                if (limit < l->group) {
                        l->group = limit;
                        watch_group(l, directory, name, version_1);
                }
                char *slash = strrchr(name, '/');
                if (!slash)
                        return;
                *slash = 0;
        }
}

/*
 * Version 1: a container may see its group as the root; memory.stat then still has the lowest limit of all ancestors.
 * If that is "no limit", the limits of the groups themselves need not be read, which saves a start 0.1 ms.
 */
static void read_v1(struct memory_limit *l, const char *root, char *name)
{
        _cleanup_free_ char *top = mem_printf("%s/memory", root);
        _cleanup_free_ char *directory = mem_printf("%s%s", top, strcmp(name, "/") == 0 ? "" : name);
        _cleanup_free_ char *group = mem_strdup(name);
        char text[8192];
        struct stat st;
        if (stat(directory, &st) < 0) {
                free(directory);
                directory = mem_strdup(top);
        }
        int fd = open_in(directory, "memory.stat");
        bool known = read_text(fd, text, sizeof(text)) > 0;
        int64_t least = known ? stat_line(text, "hierarchical_memory_limit", 0) : 0;
        if (fd >= 0)
                close(fd);
        if (least >= UNLIMITED)
                return;
        read_tree(l, top, name, true);
        if (least > 0 && least < l->group) {
                l->group = least;
                watch_group(l, directory, group, true);
        }
}

static bool lists_memory(const char *controllers)
{
        for (const char *at = controllers; *at;) {
                size_t n = strcspn(at, ",");
                if (n == 6 && strncmp(at, "memory", 6) == 0)
                        return true;
                at += n + (at[n] == ',');
        }
        return false;
}

/* Parses /proc/self/cgroup: "0::/path" for version 2, "9:memory:/path" for version 1. */
static void read_groups(struct memory_limit *l, const char *root, const char *membership)
{
        FILE *f = fopen(membership, "re");
        char line[4352];
        while (f && fgets(line, sizeof(line), f)) {
                line[strcspn(line, "\n")] = 0;
                char *controllers = strchr(line, ':');
                char *name = controllers ? strchr(controllers + 1, ':') : NULL;
                if (!name || name[1] != '/')
                        continue;
                *controllers++ = 0;
                *name++ = 0;
                if (strcmp(line, "0") == 0 && !*controllers)
                        read_tree(l, root, name, false);
                else if (lists_memory(controllers))
                        read_v1(l, root, name);
        }
        if (f)
                fclose(f);
}

/* --------------------------------------------------------------------------------------------------------- checks */

struct memory_limit *memory_limit_new(const struct memory_limit_options *o)
{
        struct memory_limit *l = new0(struct memory_limit);
        const char *fake = o->cgroup_root ? NULL : getenv("FIRESTEEL_CGROUP_ROOT"); /* for tests */
        _cleanup_free_ char *fake_self = fake ? mem_printf("%s/self", fake) : NULL;
        *l = (struct memory_limit){.configured = o->configured > 0 ? o->configured : NO_LIMIT,
                                   .group = NO_LIMIT,
                                   .processes = MAX(o->processes, 1),
                                   .usage = -1,
                                   .stat = -1,
                                   .page = sysconf(_SC_PAGESIZE)};
        l->statm = open(o->statm ? o->statm : "/proc/self/statm", O_RDONLY | O_CLOEXEC);
        read_groups(l,
                    o->cgroup_root ? o->cgroup_root
                    : fake         ? fake
                                   : "/sys/fs/cgroup",
                    o->membership ? o->membership
                    : fake        ? fake_self
                                  : "/proc/self/cgroup");
        return l;
}

void memory_limit_free(struct memory_limit *l)
{
        if (!l)
                return;
        int fds[] = {l->statm, l->usage, l->stat};
        for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
                if (fds[i] >= 0)
                        close(fds[i]);
        free(l->group_name);
        free(l);
}

int64_t memory_limit_bytes(const struct memory_limit *l)
{
        return MIN(l->configured, l->group);
}

const char *memory_limit_origin(const struct memory_limit *l)
{
        if (l->configured <= l->group)
                return l->configured == NO_LIMIT ? "no limit" : "spark.executor.memory and its overhead";
        return l->group_name;
}

static int64_t memory_limit_resident(const struct memory_limit *l)
{
        char text[128];
        long long pages = 0;
        if (read_text(l->statm, text, sizeof(text)) <= 0 || sscanf(text, "%*d %lld", &pages) != 1)
                return 0;
        return pages * l->page;
}

/*
 * Returns the group's memory that the kernel cannot reclaim. Version 1 does not tell how much kernel memory is
 * reclaimable. Nearly all of it usually is, and the reserve covers the rest.
 */
static int64_t group_used(const struct memory_limit *l)
{
        char text[8192];
        int64_t used = read_text(l->usage, text, sizeof(text)) > 0 ? strtoll(text, NULL, 10) : 0;
        if (read_text(l->stat, text, sizeof(text)) <= 0)
                return used;
        if (l->version_1) {
                int64_t anonymous = stat_line(text, "total_rss", -1), shared = stat_line(text, "total_shmem", 0);
                if (anonymous >= 0)
                        return anonymous + shared;
                return used -
                       MIN(used, stat_line(text, "total_inactive_file", 0) + stat_line(text, "total_active_file", 0));
        }
        return used - MIN(used, stat_line(text, "inactive_file", 0) + stat_line(text, "active_file", 0) +
                                        stat_line(text, "slab_reclaimable", 0));
}

int64_t memory_limit_used(struct memory_limit *l)
{
        return l->group < l->configured ? group_used(l) : memory_limit_resident(l);
}

int64_t memory_limit_group(const struct memory_limit *l)
{
        return l->group;
}

const char *memory_limit_group_name(const struct memory_limit *l)
{
        return l->group_name ? l->group_name : "no control group";
}

int memory_limit_processes(const struct memory_limit *l)
{
        return l->processes;
}

int64_t memory_limit_reserve(const struct memory_limit *l)
{
        if (l->group == NO_LIMIT)
                return 0;
        int64_t reserve = MIN(l->group / 10, MAX_RESERVE);
        reserve = MAX(reserve, MIN_RESERVE);
        return MIN(reserve, l->group / 4);
}

int64_t memory_limit_room(const struct memory_limit *l, int64_t extra)
{
        int64_t room = l->configured == NO_LIMIT ? NO_LIMIT : l->configured - memory_limit_resident(l);
        if (l->group != NO_LIMIT)
                room = MIN(room, (l->group - memory_limit_reserve(l) + extra - group_used(l)) / l->processes);
        return MAX(room, INT64_C(0));
}

enum memory_verdict memory_limit_check(struct memory_limit *l, int timeout, int64_t *used, int64_t *excess)
{
        int64_t own = memory_limit_resident(l), most = l->configured, over = own - most;
        *used = own;
        if (l->group != NO_LIMIT) {
                int64_t reserve = memory_limit_reserve(l), bound = l->group - reserve, group = group_used(l);
                if (group - bound > over) {
                        over = group - bound;
                        *used = group;
                }
                /* Other processes of the application fail first if they use more than their share. */
                if (over > reserve / 2 && own >= l->group / l->processes / 2) {
                        *excess = over;
                        return MEMORY_LIMIT_END;
                }
        }
        *excess = MAX(over, (int64_t)0);
        if (over <= 0) {
                l->quiet = 0;
                return l->last = MEMORY_LIMIT_OK;
        }
        if (l->last == MEMORY_LIMIT_OK)
                return l->last = MEMORY_LIMIT_EVICT;
        if (l->quiet > 0) {
                l->quiet--;
                return MEMORY_LIMIT_OK;
        }
        l->quiet = timeout;
        return l->last = MEMORY_LIMIT_FAIL;
}

int64_t process_resident_bytes(void)
{
        long pages = 0;
        FILE *f = fopen("/proc/self/statm", "re");
        if (f && fscanf(f, "%*d %ld", &pages) != 1)
                pages = 0;
        if (f)
                fclose(f);
        return (int64_t)pages * sysconf(_SC_PAGESIZE);
}
