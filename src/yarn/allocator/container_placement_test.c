/* How containers are spread over the hosts that tasks prefer. The rows restate Spark's ContainerPlacementStrategySuite.
 */
#include "yarn/allocator/container_placement.h"

#include "base/buf.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define MAX_HOSTS 5

static void spreads_containers(void **state)
{
        static const struct {
                const char *label;
                int count, locality_tasks, tasks_per_container, pending_requests;
                struct preferred_host hosts[MAX_HOSTS];
                const char *expected; /* "COUNT*HOST,HOST …", "COUNT" for any place */
        } rows[] = {
                {"no preference", 3, 0, 1, 0, {{NULL}}, "3"},
                {"enough room, no container there",
                 3,
                 15,
                 5,
                 0,
                 {{"h3", NULL, 15}, {"h4", NULL, 15}, {"h5", NULL, 10}},
                 "2*h3,h4,h5 1*h3,h4"},
                {"too little room, no container there",
                 3,
                 30,
                 5,
                 0,
                 {{"h3", NULL, 15}, {"h4", NULL, 15}, {"h5", NULL, 10}},
                 "2*h3,h4,h5 1*h3,h4"},
                {"some containers there already",
                 3,
                 15,
                 5,
                 0,
                 {{"h1", NULL, 15, 2}, {"h2", NULL, 15, 1}, {"h3", NULL, 10, 0}},
                 "1 2*h2,h3"},
                {"all wanted containers are there",
                 3,
                 15,
                 5,
                 0,
                 {{"h1", NULL, 15, 2}, {"h2", NULL, 15, 2}, {"h3", NULL, 10, 2}},
                 "3"},
                {"some containers there already, too little room",
                 1,
                 15,
                 5,
                 0,
                 {{"h1", NULL, 15, 2}, {"h2", NULL, 15, 1}, {"h3", NULL, 10, 0}},
                 "1*h2,h3"},
                {"containers on all hosts",
                 3,
                 15,
                 5,
                 0,
                 {{"h1", NULL, 15, 2}, {"h2", NULL, 15, 2}, {"h3", NULL, 10, 1}},
                 "3"},
                {"waiting requests beside containers",
                 1,
                 15,
                 5,
                 2,
                 {{"h1", NULL, 15, 2, 1}, {"h2", NULL, 15, 1, 1}, {"h3", NULL, 10, 0, 1}},
                 "1*h3"},
                {"waiting requests count in part",
                 3,
                 15,
                 5,
                 3,
                 {{"h1", NULL, 15, 0, 3}, {"h2", NULL, 15, 0, 3}, {"h3", NULL, 10, 0, 3}},
                 "1 2*h1,h2"},
                {"more than the tasks need",
                 18,
                 30,
                 2,
                 0,
                 {{"h1", NULL, 30}, {"h2", NULL, 30}, {"h3", NULL, 20}, {"h4", NULL, 10}},
                 "2 7*h1,h2,h3,h4 6*h1,h2,h3 3*h1,h2"},
                {"a host without tasks", 2, 4, 1, 0, {{"h1", NULL, 4}, {"h2", NULL, 0}}, "2*h1"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                CASE_LABEL("%s", rows[i].label);
                struct container_placements found = {0};
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                size_t n = 0;
                while (n < MAX_HOSTS && rows[i].hosts[n].host)
                        n++;
                container_placement_compute(rows[i].hosts, n, rows[i].count, rows[i].locality_tasks,
                                            rows[i].tasks_per_container, rows[i].pending_requests, &found);
                for (size_t k = 0; k < found.len; k++) {
                        buf_printf(&text, "%s%d", k ? " " : "", found.data[k].count);
                        for (size_t m = 0; m < found.data[k].n; m++)
                                buf_printf(&text, "%s%s", m ? "," : "*", rows[i].hosts[found.data[k].hosts[m]].host);
                }
                container_placements_deinit(&found);
                assert_string_equal(buf_text(&text), rows[i].expected);
        }
}

int main(void)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(spreads_containers)};
        return cmocka_run_group_tests(tests, NULL, NULL);
}
