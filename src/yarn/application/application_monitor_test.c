/* The report of an application reads as in Spark. */
#include "yarn/application/application_monitor.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void report_reads_as_sparks(void **state)
{
        Firesteel__Yarn__ApplicationReport report = FIRESTEEL__YARN__APPLICATION_REPORT__INIT;
        report.diagnostics = "";
        report.host = "N/A";
        report.rpc_port = -1;
        report.queue = "root.default";
        report.start_time = 1795523761749;
        report.tracking_url = "http://h:8088/proxy/x/";
        report.user = "root";
        _cleanup_free_ char *text = application_report_text(&report);
        assert_string_equal(text, "\n\t client token: N/A\n\t diagnostics: N/A\n\t ApplicationMaster host: N/A\n\t "
                                  "ApplicationMaster RPC port: -1\n\t queue: root.default\n\t start time: "
                                  "1795523761749\n\t final status: UNDEFINED\n\t tracking URL: "
                                  "http://h:8088/proxy/x/\n\t user: root");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(report_reads_as_sparks),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
