/* See check_mode.h. The executor manager is that of local-cluster[1,N,M]. */
#include "driver/check_mode.h"

#include "base/log.h"
#include "base/mem.h"
#include "driver/backend/cluster_manager.h"
#include "driver/context.h"
#include "exec/app/changed_globals.h"
#include "exec/guard/crash.h"

const char *check_mode_hint(const struct fst_context *sc, const char *failure)
{
        if (sc->check)
                return crash_report_task(failure) < 0
                               ? NULL
                               : "spark.firesteel.check runs tasks in another process, in which pointers of the driver "
                                 "are invalid and globals have their initial values: capture values (FST_WITH) or "
                                 "share them (fst_broadcast_bytes)";
        return crash_report_is_invalid_access(failure)
                       ? "To find captured pointers and changed globals, run the application with --master local[2] "
                         "--conf spark.firesteel.check=true"
                       : NULL;
}

static void check_mode_set_number(struct fst_conf *conf, const char *key, long long value, const char *unit)
{
        _cleanup_free_ char *text = mem_printf("%lld%s", value, unit);
        conf_set(conf, key, text);
}

int check_mode_apply(struct fst_context *sc, enum submit_compat compat, struct fst_error *error)
{
        int threads = sc->master.threads, max_failures = sc->master.max_failures;
        int64_t memory;
        int r = conf_get_bool(sc->conf, "spark.firesteel.check", &sc->check, error);
        sc->check = sc->check && r == 0 && sc->manager->in_process;
        if (r || !sc->check || (r = conf_get_bytes(sc->conf, "spark.driver.memory", &memory, error)))
                return r;
        long long mib = (memory + (1 << 20) - 1) >> 20;
        _cleanup_free_ char *master = mem_printf("local-cluster[1,%d,%lld]", threads, mib);
        if ((r = cluster_manager_read(master, compat, threads, &sc->manager, &sc->master, error)))
                return r;
        conf_set(sc->conf, "spark.dynamicAllocation.enabled", "false");
        conf_set(sc->conf, "spark.shuffle.service.enabled", "false");
        check_mode_set_number(sc->conf, "spark.cores.max", threads, "");
        check_mode_set_number(sc->conf, "spark.executor.cores", threads, "");
        check_mode_set_number(sc->conf, "spark.executor.memory", mib, "m");
        check_mode_set_number(sc->conf, "spark.task.maxFailures", max_failures, "");
        log_info("SparkContext", "spark.firesteel.check: tasks run in a process of their own");
        if (!changed_globals_are_found())
                log_warn("SparkContext", "spark.firesteel.check finds uses of changed globals on x86-64 only");
        return 0;
}
