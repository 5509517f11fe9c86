/* See task_resources.h. Invariant: the text is empty, or ends in an empty string. */
#include "rdd/pipeline/task_resources.h"

#include "base/mem.h"
#include "rdd/pipeline/task_run.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

void task_resources_put(struct task_resources *r, const char *name, const char *const *addresses, size_t n)
{
        if (!*name)
                return;
        buf_append(&r->text, name, strlen(name) + 1);
        for (size_t i = 0; i < n; i++)
                if (*addresses[i])
                        buf_append(&r->text, addresses[i], strlen(addresses[i]) + 1);
        buf_append(&r->text, "", 1);
}

int task_resources_set(struct task_resources *r, const void *text, size_t len)
{
        const char *bytes = text;
        buf_reset(&r->text);
        if (len == 0)
                return 0;
        if (len < 3 || bytes[0] == '\0' || bytes[len - 1] != '\0' || bytes[len - 2] != '\0')
                return -EBADMSG;
        buf_append(&r->text, text, len);
        return 0;
}

bool task_resources_next(const struct task_resources *r, size_t *at, const char **name, const char **addresses,
                         int most, int *n)
{
        if (*at >= r->text.len)
                return false;
        *name = r->text.data + *at;
        *n = 0;
        *at += strlen(*name) + 1;
        for (; *at < r->text.len; *at += strlen(r->text.data + *at) + 1) {
                if (r->text.data[*at] == '\0') {
                        ++*at;
                        break;
                }
                if (*n < most)
                        addresses[*n] = r->text.data + *at;
                ++*n;
        }
        return true;
}

void task_resources_deinit(struct task_resources *r)
{
        buf_deinit(&r->text);
}

FST_API int fst_task_resource(const fst_task *task, const char *name, const char **addresses, size_t max)
{
        if (task_run_missing_argument(task, name, "fst_task_resource", "a name"))
                return -EINVAL;
        const struct task_resources *r = task->run->resources;
        const char *found;
        int n;
        for (size_t at = 0; r && task_resources_next(r, &at, &found, addresses, (int)MIN(max, (size_t)INT_MAX), &n);)
                if (strcmp(found, name) == 0)
                        return n;
        return 0;
}
