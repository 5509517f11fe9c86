/* See process_tree.h. Processes that end meanwhile are not counted. */
#include "exec/guard/process_tree.h"

#include "base/mem.h"
#include "base/vec.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef VEC(struct process_stat) process_stat_list;

bool process_stat_parse(const char *text, struct process_stat *out)
{
        const char *open = strchr(text, '('), *close = strrchr(text, ')');
        struct process_stat s = {0};
        char *end;
        long pid = strtol(text, &end, 10);
        if (!open || !close || close < open || pid <= 0 || end == text)
                return false;
        s.pid = (int)pid;
        snprintf(s.name, sizeof(s.name), "%.*s", (int)MIN((size_t)(close - open - 1), sizeof(s.name) - 1), open + 1);
        /* Fields 3 to 24: the state, the parent, 18 more, the virtual size, resident pages. */
        if (sscanf(close + 1,
                   " %*c %d %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %" SCNd64
                   " %" SCNd64,
                   &s.parent, &s.virtual_bytes, &s.resident_pages) != 3)
                return false;
        *out = s;
        return true;
}

static bool process_stat_read(int pid, struct process_stat *out)
{
        char path[40], text[1024];
        snprintf(path, sizeof(path), "/proc/%d/stat", pid);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return false;
        ssize_t n = read(fd, text, sizeof(text) - 1);
        close(fd);
        if (n <= 0)
                return false;
        text[n] = '\0';
        return process_stat_parse(text, out);
}

static void process_list_read(process_stat_list *list)
{
        DIR *proc = opendir("/proc");
        for (struct dirent *entry; proc && (entry = readdir(proc));) {
                struct process_stat s;
                if (isdigit((unsigned char)entry->d_name[0]) && process_stat_read(atoi(entry->d_name), &s))
                        vec_push(list, s);
        }
        if (proc)
                closedir(proc);
}

static void process_tree_add(struct process_tree *tree, const struct process_stat *s)
{
        int64_t resident = s->resident_pages * sysconf(_SC_PAGESIZE);
        if (strstr(s->name, "java")) {
                tree->jvm_virtual += s->virtual_bytes;
                tree->jvm_resident += resident;
        } else if (strstr(s->name, "python")) {
                tree->python_virtual += s->virtual_bytes;
                tree->python_resident += resident;
        } else {
                tree->other_virtual += s->virtual_bytes;
                tree->other_resident += resident;
        }
}

/* Moves the descendants of the first @n of the list behind them, until there are no more. Returns how many there are.
 */
static size_t process_list_gather(process_stat_list *list, size_t n)
{
        for (size_t parent = 0; parent < n; parent++)
                for (size_t i = n; i < list->len; i++) {
                        if (list->data[i].parent != list->data[parent].pid)
                                continue;
                        struct process_stat moved = list->data[n];
                        list->data[n++] = list->data[i];
                        list->data[i] = moved;
                }
        return n;
}

bool process_tree_read(int pid, bool alone, struct process_tree *out)
{
        process_stat_list list = {0};
        struct process_stat root;
        if (!process_stat_read(pid, &root))
                return false;
        *out = (struct process_tree){0};
        vec_push(&list, root);
        if (!alone)
                process_list_read(&list);
        for (size_t i = 1; i < list.len; i++)
                if (list.data[i].pid == pid)
                        list.data[i--] = list.data[--list.len];
        size_t n = process_list_gather(&list, 1);
        for (size_t i = 0; i < n; i++)
                process_tree_add(out, &list.data[i]);
        vec_deinit(&list);
        return true;
}
