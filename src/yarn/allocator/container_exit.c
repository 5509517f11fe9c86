/* See container_exit.h. */
#include "yarn/allocator/container_exit.h"

#include "base/mem.h"

#include <ctype.h>

/* Skips an amount such as "2.1 GB". Returns what follows, or NULL if @p does not begin with one. */
static const char *skip_amount(const char *p)
{
        const size_t digits = strspn(p, "0123456789.");
        p += digits;
        return digits && *p == ' ' && p[1] && strchr("KMG", p[1]) && p[2] == 'B' ? p + 3 : NULL;
}

/* "2.1 GB of 2 GB virtual memory used." out of the diagnostics, or "". The caller owns it. */
static char *memory_use(const char *diagnostics, const char *kind)
{
        _cleanup_free_ char *end = mem_printf(" %s memory used", kind);
        for (const char *start = diagnostics; *start; start++) {
                if (!isdigit((unsigned char)*start) && *start != '.')
                        continue;
                const char *p = skip_amount(start);
                p = p && strncmp(p, " of ", 4) == 0 ? skip_amount(p + 4) : NULL;
                if (p && strncmp(p, end, strlen(end)) == 0)
                        return mem_printf("%.*s.", (int)(p - start + (long)strlen(end)), start);
        }
        return mem_strdup("");
}

/* Explains the exit status of an executor's process in Spark's words. The caller owns the text. */
static char *executor_exit_explain(int status)
{
        static const struct {
                int status;
                const char *text;
        } rows[] = {
                {50, "Uncaught exception"},
                {51, "Uncaught exception, and logging the exception failed"},
                {52, "OutOfMemory"},
                {53, "Failed to create local directory (bad spark.local.dir?)"},
                {56, "Unable to send heartbeats to driver."},
                {57, "Executor killed by TaskReaper."},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
                if (rows[i].status == status)
                        return mem_strdup(rows[i].text);
        return status > 128 ? mem_printf("Unknown executor exit code (%d) (died from signal %d?)", status, status - 128)
                            : mem_printf("Unknown executor exit code (%d)", status);
}

/* Neither the application nor the node failed. */
static bool exit_is_from_the_system(int status)
{
        static const int statuses[] = {YARN_EXIT_KILLED_BY_RESOURCEMANAGER, YARN_EXIT_KILLED_BY_APPMASTER,
                                       YARN_EXIT_KILLED_AFTER_APP_COMPLETION, YARN_EXIT_ABORTED,
                                       YARN_EXIT_DISKS_FAILED};
        for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
                if (statuses[i] == status)
                        return true;
        return false;
}

struct container_exit container_exit_explain(const char *container, const char *host, int status,
                                             const char *diagnostics)
{
        const char *text = diagnostics ? diagnostics : "";
        _cleanup_free_ char *on_host = host ? mem_printf(" on host: %s", host) : mem_strdup("");
        struct container_exit e = {0};
        if (status == 0) {
                e.reason = mem_printf("Executor for container %s exited because of a YARN event (e.g., preemption) and "
                                      "not because of an error in the running job.",
                                      container);
        } else if (status == YARN_EXIT_PREEMPTED) {
                e.reason = mem_printf("Container %s%s was preempted.", container, on_host);
        } else if (status == YARN_EXIT_VMEM_EXCEEDED) {
                _cleanup_free_ char *use = memory_use(text, "virtual");
                e.caused_by_app = true;
                e.reason = mem_printf("Container killed by YARN for exceeding virtual memory limits. %s Consider "
                                      "boosting spark.executor.memoryOverhead or boosting "
                                      "yarn.nodemanager.vmem-pmem-ratio or disabling "
                                      "yarn.nodemanager.vmem-check-enabled because of YARN-4714.",
                                      use);
        } else if (status == YARN_EXIT_PMEM_EXCEEDED) {
                _cleanup_free_ char *use = memory_use(text, "physical");
                e.caused_by_app = true;
                e.reason = mem_printf("Container killed by YARN for exceeding physical memory limits. %s Consider "
                                      "boosting spark.executor.memoryOverhead.",
                                      use);
        } else {
                e.caused_by_app = e.failed_node = !exit_is_from_the_system(status);
                _cleanup_free_ char *causes = executor_exit_explain(status);
                e.reason = mem_printf("%s: %s%s. Exit status: %d. Possible causes: %s Diagnostics: %s.",
                                      e.failed_node ? "Container from a bad node" : "Container marked as failed",
                                      container, on_host, status, causes, text);
        }
        return e;
}
