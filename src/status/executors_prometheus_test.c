/* The text of /metrics/executors/prometheus: names and types as genuine Spark 4.3 wrote them. */
#include "status/executors_prometheus.h"

#include "base/mem.h"
#include "status/status.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define LABELS "{application_id=\"app-1\", application_name=\"a \\\"b\\\" \\\\ \\n\", executor_id=\"1\"}"

static struct status *status_with_executor(void)
{
        struct status *s = status_new(NULL);
        status_on_application_start(s, &(struct application_start){.id = "app-1", .name = "a \"b\" \\ \n", .ms = 1});
        status_on_executor_added(s, &(struct executor_added){.id = "1", .host = "h", .ms = 2, .total_cores = 4});
        return s;
}

static int lines_of(struct buf *b)
{
        int n = 0;
        for (const char *p = buf_text(b); *p; p++)
                n += *p == '\n';
        return n;
}

static void prometheus_lines_have_sparks_names(void **state)
{
        static const char *const lines[] = {
                "metrics_executor_rddBlocks" LABELS " 3\n",
                "metrics_executor_memoryUsed_bytes" LABELS " 41326\n",
                "metrics_executor_diskUsed_bytes" LABELS " 0\n",
                "metrics_executor_totalCores" LABELS " 4\n",
                "metrics_executor_failedTasks_total" LABELS " 2\n",
                "metrics_executor_totalDuration_seconds_total" LABELS " 58.509\n",
                "metrics_executor_totalGCTime_seconds_total" LABELS " 0.0\n",
                "metrics_executor_totalInputBytes_bytes_total" LABELS " 7\n",
                "metrics_executor_JVMHeapMemory_bytes" LABELS " 0\n",
                "metrics_executor_ProcessTreeOtherRSSMemory_bytes" LABELS " 4096\n",
                "metrics_executor_MinorGCCount_total" LABELS " 0\n",
                "metrics_executor_ConcurrentGCTime_seconds_total" LABELS " 0.0\n",
        };
        struct status *s = status_with_executor();
        struct status_executor *x = status_find_executor(s, "1");
        struct buf b = BUF_INIT;
        x->rdd_blocks = 3;
        x->memory_used = 41326;
        x->failed_tasks = 2;
        x->duration_ms = 58509;
        x->input_bytes = 7;
        x->has_peaks = true;
        x->peaks.values[PEAK_OTHER_RESIDENT] = 4096;
        executors_prometheus_put(s, "1.2", "abc", &b);
        assert_ptr_equal(strstr(buf_text(&b), "spark_info{version=\"1.2\", revision=\"abc\"} 1.0\n"), buf_text(&b));
        for (size_t i = 0; i < ARRAY_SIZE(lines); i++) {
                CASE_LABEL("%s", lines[i]);
                assert_non_null(strstr(buf_text(&b), lines[i]));
        }
        assert_int_equal(lines_of(&b), 42); /* as many as genuine Spark has for an executor, with spark_info */
        buf_deinit(&b);
        status_free(s);
}

static void dead_executors_and_absent_peaks_have_no_lines(void **state)
{
        struct status *s = status_with_executor();
        struct buf b = BUF_INIT;
        executors_prometheus_put(s, "1.2", "abc", &b);
        assert_null(strstr(buf_text(&b), "JVMHeapMemory"));
        assert_non_null(strstr(buf_text(&b), "executor_id=\"1\""));
        buf_reset(&b);
        status_on_executor_removed(s, &(struct executor_removed){.id = "1", .ms = 3, .reason = "gone"});
        executors_prometheus_put(s, "1.2", "abc", &b);
        assert_int_equal(lines_of(&b), 1);
        buf_deinit(&b);
        status_free(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(prometheus_lines_have_sparks_names),
                cmocka_unit_test(dead_executors_and_absent_peaks_have_no_lines),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
