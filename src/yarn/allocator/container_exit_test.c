/* Why containers ended, in Spark's words. */
#include "yarn/allocator/container_exit.h"

#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static void explains_statuses(void **state)
{
        static const struct {
                const char *label;
                int status;
                const char *host, *diagnostics;
                bool by_app, bad_node;
                const char *reason;
        } rows[] = {
                {"success", 0, "h", NULL, false, false,
                 "Executor for container C exited because of a YARN event (e.g., preemption) and not because of an error "
                 "in the running job."},
                {"preempted", -102, "h", "x", false, false, "Container C on host: h was preempted."},
                {"preempted on an unknown host", -102, NULL, "x", false, false, "Container C was preempted."},
                {"virtual memory", -103, "h",
                 "Container [pid=1,containerID=C] is running beyond virtual memory limits. Current usage: 2.1 MB of 2 GB "
                 "physical memory used; 5.8 GB of 4.2 GB virtual memory used. Killing container.",
                 true, false,
                 "Container killed by YARN for exceeding virtual memory limits. 5.8 GB of 4.2 GB virtual memory used. "
                 "Consider boosting spark.executor.memoryOverhead or boosting yarn.nodemanager.vmem-pmem-ratio or "
                 "disabling yarn.nodemanager.vmem-check-enabled because of YARN-4714."},
                {"physical memory", -104, "h",
                 "Current usage: 2.1 MB of 2 GB physical memory used; 5.8 GB of 4.2 GB virtual", true, false,
                 "Container killed by YARN for exceeding physical memory limits. 2.1 MB of 2 GB physical memory used. "
                 "Consider boosting spark.executor.memoryOverhead."},
                {"physical memory without numbers", -104, "h", NULL, true, false,
                 "Container killed by YARN for exceeding physical memory limits.  Consider boosting "
                 "spark.executor.memoryOverhead."},
                {"a lost node", -100, "h", "lost", false, false,
                 "Container marked as failed: C on host: h. Exit status: -100. Possible causes: Unknown executor exit "
                 "code (-100) Diagnostics: lost."},
                {"SIGKILL", 137, "h", "d", true, true,
                 "Container from a bad node: C on host: h. Exit status: 137. Possible causes: Unknown executor exit code "
                 "(137) (died from signal 9?) Diagnostics: d."},
                {"out of memory in the executor", 52, "h", "d", true, true,
                 "Container from a bad node: C on host: h. Exit status: 52. Possible causes: OutOfMemory Diagnostics: "
                 "d."},
                {"files could not be localized", -1000, "h", "d", true, true,
                 "Container from a bad node: C on host: h. Exit status: -1000. Possible causes: Unknown executor exit "
                 "code (-1000) Diagnostics: d."},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                CASE_LABEL("%s", rows[i].label);
                struct container_exit e =
                        container_exit_explain("C", rows[i].host, rows[i].status, rows[i].diagnostics);
                _cleanup_free_ char *reason = e.reason;
                assert_string_equal(reason, rows[i].reason);
                assert_int_equal(e.caused_by_app, rows[i].by_app);
                assert_int_equal(e.failed_node, rows[i].bad_node);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(explains_statuses)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
