/* Tests the checks before an application starts, and their messages. */
#include "conf/conf_validate.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/keys.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <cmocka.h>

/* Returns the message for one or two keys. */
static char *check(const char *key, const char *value, const char *other, const char *other_value)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        conf_init(&conf);
        conf_set(&conf, key, value);
        if (other)
                conf_set(&conf, other, other_value);
        int r = conf_validate(&conf, &error);
        assert_int_equal(r, error.message ? -EINVAL : 0);
        conf_deinit(&conf);
        return error.message;
}

static void assert_good(const char *key, const char *value)
{
        char *message = check(key, value, NULL, NULL);
        if (message)
                fail_msg("%s=%s: %s", key, value, message);
}

static void assert_bad(const char *key, const char *value, const char *words)
{
        _cleanup_free_ char *message = check(key, value, NULL, NULL);
        if (!message || !strstr(message, key) || !strstr(message, value) || !strstr(message, words))
                fail_msg("%s=%s: %s", key, value, message ? message : "taken");
}

static void rejects_settings_of_joins(void **state)
{
        assert_bad("spark.firesteel.join.broadcastThreshold", "lots", "a size, or 0");
        assert_bad("spark.firesteel.join.broadcastThreshold", "-1", "a size, or 0");
        assert_good("spark.firesteel.join.broadcastThreshold", "0");
        assert_good("spark.firesteel.join.broadcastThreshold", "64m");
        assert_bad("spark.firesteel.join.splitHeavyKeys", "maybe", "use true or false");
        assert_good("spark.firesteel.join.splitHeavyKeys", "true");
}

static void rejects_numbers_out_of_range(void **state)
{
        assert_bad("spark.task.cpus", "0.5", "at least 1");
        assert_bad("spark.task.cpus", "0", "at least 1");
        assert_bad("spark.task.cpus", "4000000000", "at least 1");
        assert_good("spark.task.cpus", "2");
        assert_bad("spark.memory.fraction", "0", "above 0");
        assert_bad("spark.memory.fraction", "NaN", "above 0");
        assert_bad("spark.memory.fraction", "1.01", "above 0 and at most 1");
        assert_bad("spark.memory.fraction", "much", "at most 1");
        assert_good("spark.memory.fraction", "0.95");
        assert_bad("spark.memory.storageFraction", "-0.1", "in [0, 1)");
        assert_good("spark.memory.storageFraction", "0");
        assert_bad("spark.memory.storageFraction", "1", "in [0, 1)");
        assert_good("spark.memory.storageFraction", "0.99");
        assert_bad("spark.driver.memory", "31m", "at least 32m");
        assert_good("spark.driver.memory", "32m");
        assert_good("spark.driver.memory", "32");
        assert_bad("spark.diskStore.subDirectories", "0", "from 1 to 4096");
        assert_bad("spark.diskStore.subDirectories", "4097", "from 1 to 4096");
        assert_bad("spark.io.compression.lz4.blockSize", "63", "from 64b to 32m");
        assert_bad("spark.io.compression.lz4.blockSize", "33m", "from 64b to 32m");
        assert_bad("spark.io.compression.zstd.level", "23", "to 22");
        assert_good("spark.io.compression.zstd.level", "-5");
        assert_bad("spark.driver.maxResultSize", "-1", "0 for no limit");
        assert_good("spark.driver.maxResultSize", "0");
        assert_bad("spark.default.parallelism", "0", "at least 1");
        assert_bad("spark.default.parallelism", "many", "at least 1");
        assert_bad("spark.scheduler.listenerbus.eventqueue.capacity", "0", "at least 1");
        assert_bad("spark.stage.maxConsecutiveAttempts", "0", "at least 1");
        assert_bad("spark.rdd.limit.initialNumPartitions", "0", "at least 1");
        assert_bad("spark.eventLog.rolling.maxFileSize", "9m", "at least 10m");
        assert_bad("spark.eventLog.buffer.kb", "0", "more than 0");
}

/* They would only end executors, over and over. */
static void rejects_settings_of_executors_that_do_not_parse(void **state)
{
        assert_bad("spark.firesteel.shuffle.store.objectSize", "abc", "a size, and more than 0");
        assert_bad("spark.firesteel.shuffle.store.objectSize", "", "spark.firesteel.shuffle.store.objectSize");
        assert_bad("spark.firesteel.shuffle.store.wait", "soon", "a time, or 0");
        assert_bad("spark.shuffle.io.numConnectionsPerPeer", "two", "numConnectionsPerPeer");
        assert_bad("spark.shuffle.io.retryWait", "abc", "retryWait");
        assert_bad("spark.task.maxDirectResultSize", "abc", "maxDirectResultSize");
        assert_bad("spark.task.reaper.enabled", "maybe", "use true or false");
        assert_bad("spark.firesteel.archives.maxSize", "abc", "maxSize");
        assert_good("spark.task.reaper.enabled", "true");
        assert_good("spark.task.reaper.killTimeout", "-1");
        assert_good("spark.firesteel.shuffle.store.objectSize", "1");
}

static void rejects_negative_settings_of_resuming_and_of_the_store(void **state)
{
        assert_bad("spark.firesteel.resume.foldSize", "-1", "a size, or 0 to never fold the journal");
        assert_bad("spark.firesteel.resume.registrationTimeout", "-5s", "a time, or 0");
        assert_bad("spark.firesteel.resume.executorTimeout", "-1", "a time, or 0 to end executors with their driver");
        assert_bad("spark.firesteel.shuffle.store.objectSize", "-1", "a size, and more than 0");
        assert_bad("spark.firesteel.shuffle.store.objectSize", "0", "a size, and more than 0");
        assert_bad("spark.firesteel.shuffle.store.wait", "-1", "a time, or 0");
        assert_good("spark.firesteel.resume.foldSize", "0");
        assert_good("spark.firesteel.resume.registrationTimeout", "0");
        assert_good("spark.firesteel.resume.executorTimeout", "0");
        assert_good("spark.firesteel.shuffle.store.wait", "0ms");
}

static void rejects_settings_of_celeborn(void **state)
{
        static const char *const positive[] = {
                "application.heartbeatInterval",    "fetch.maxRetriesForEachReplica", "fetch.timeout",
                "push.maxReqsInFlight.perWorker",   "push.maxReqsInFlight.total",     "push.timeout",
                "rpc.commitFiles.askTimeout",       "rpc.registerShuffle.askTimeout", "rpc.reserveSlots.askTimeout",
                "shuffle.partitionSplit.threshold", "slot.assign.maxWorkers",
        };
        static const char *const from_zero[] = {
                "excludedWorker.expireTimeout",  "push.revive.maxRetries",
                "registerShuffle.maxRetries",    "registerShuffle.retryWait",
                "requestCommitFiles.maxRetries", "requestCommitFiles.retryWait",
                "reserveSlots.maxRetries",       "shuffle.batchHandleChangePartition.interval",
        };
        for (size_t i = 0; i < ARRAY_SIZE(positive); i++) {
                _cleanup_free_ char *key = mem_printf("spark.celeborn.client.%s", positive[i]);
                assert_bad(key, "0", "it must be");
                assert_bad(key, "-1", "it must be");
                assert_good(key, "1");
        }
        for (size_t i = 0; i < ARRAY_SIZE(from_zero); i++) {
                _cleanup_free_ char *key = mem_printf("spark.celeborn.client.%s", from_zero[i]);
                assert_bad(key, "-1", "at least 0");
                assert_good(key, "0");
        }
        assert_bad("spark.celeborn.data.io.retryWait", "-1", "at least 0");
        assert_bad("spark.celeborn.network.connect.timeout", "0", "more than 0");
        assert_bad("spark.celeborn.client.readLocalShuffleFile.enabled", "maybe", "use true or false");
}

static void accepts_defaults(void **state)
{
        assert_good("spark.app.name", "x");
}

static void checks_rules_between_keys(void **state)
{
        assert_bad("spark.executor.extraJavaOptions", "-Dspark.x=1", "not allowed to set Spark options");
        assert_bad("spark.executor.defaultJavaOptions", "-Xmx1g", "Use spark.executor.memory instead");
        assert_good("spark.executor.extraJavaOptions", "-XX:+UseG1GC");
        assert_bad("spark.submit.deployMode", "elsewhere", "can only be");
        assert_good("spark.submit.deployMode", "cluster");
        assert_bad("spark.network.timeout", "5000ms", "must be no less than");
        char *message = check("spark.network.crypto.enabled", "true", NULL, NULL);
        assert_non_null(strstr(message, "spark.authenticate must be enabled"));
        free(message);
        assert_null(check("spark.network.crypto.enabled", "true", "spark.authenticate", "true"));
        log_reset_levels(LOG_OFF);
        assert_null(check("spark.cores.max", "7", "spark.executor.cores", "2"));
        message = check("spark.cores.max", "7", "spark.executor.cores", "0");
        assert_non_null(strstr(message, "spark.executor.cores should be a whole number, at least 1, but was 0"));
        free(message);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rejects_numbers_out_of_range),
                cmocka_unit_test(rejects_settings_of_joins),
                cmocka_unit_test(rejects_settings_of_executors_that_do_not_parse),
                cmocka_unit_test(rejects_negative_settings_of_resuming_and_of_the_store),
                cmocka_unit_test(rejects_settings_of_celeborn),
                cmocka_unit_test(accepts_defaults),
                cmocka_unit_test(checks_rules_between_keys),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
