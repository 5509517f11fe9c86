/*
 * See conf_validate.h. Each row has the allowed values as text, for messages, and as numbers.
 *
 * Differs from Spark, which accepts spark.memory.fraction 0 and spark.memory.storageFraction 1, and then may have no
 * memory to work with. It finds most other errors on first use.
 */
#include "conf/conf_validate.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/keys.h"

#include <inttypes.h>

#define KIB 1024.0
#define MIB (1024 * KIB)
#define MAX_INT 2147483647.0
#define MAX_SIZE 0x1p62

struct key_range {
        const char *key;
        double low, high;
        const char *allowed;
        bool above_low; /* excludes low */
};

static const struct key_range ranges[] = {
        {"spark.celeborn.client.application.heartbeatInterval", 1, MAX_SIZE, "a time, and more than 0", false},
        {"spark.celeborn.client.excludedWorker.expireTimeout", 0, MAX_SIZE, "a time, at least 0", false},
        {"spark.celeborn.client.fetch.maxRetriesForEachReplica", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.celeborn.client.fetch.timeout", 1, MAX_SIZE, "a time, and more than 0", false},
        {"spark.celeborn.client.push.maxReqsInFlight.perWorker", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.celeborn.client.push.maxReqsInFlight.total", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.celeborn.client.push.revive.maxRetries", 0, MAX_INT, "a whole number, at least 0", false},
        {"spark.celeborn.client.push.timeout", 1, MAX_SIZE, "a time, and more than 0", false},
        {"spark.celeborn.client.registerShuffle.maxRetries", 0, MAX_INT, "a whole number, at least 0", false},
        {"spark.celeborn.client.registerShuffle.retryWait", 0, MAX_SIZE, "a time, at least 0", false},
        {"spark.celeborn.client.requestCommitFiles.maxRetries", 0, MAX_INT, "a whole number, at least 0", false},
        {"spark.celeborn.client.requestCommitFiles.retryWait", 0, MAX_SIZE, "a time, at least 0", false},
        {"spark.celeborn.client.reserveSlots.maxRetries", 0, MAX_INT, "a whole number, at least 0", false},
        {"spark.celeborn.client.rpc.commitFiles.askTimeout", 1, MAX_SIZE, "a time, and more than 0", false},
        {"spark.celeborn.client.rpc.registerShuffle.askTimeout", 1, MAX_SIZE, "a time, and more than 0", false},
        {"spark.celeborn.client.rpc.reserveSlots.askTimeout", 1, MAX_SIZE, "a time, and more than 0", false},
        {"spark.celeborn.client.shuffle.batchHandleChangePartition.interval", 0, MAX_SIZE, "a time, at least 0", false},
        {"spark.celeborn.client.shuffle.partitionSplit.threshold", 1, MAX_SIZE, "a size, and more than 0", false},
        {"spark.celeborn.client.slot.assign.maxWorkers", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.celeborn.data.io.retryWait", 0, MAX_SIZE, "a time, at least 0", false},
        {"spark.celeborn.network.connect.timeout", 1, MAX_SIZE, "a time, and more than 0", false},
        {"spark.default.parallelism", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.diskStore.subDirectories", 1, 4096, "a whole number from 1 to 4096", false},
        {"spark.driver.maxResultSize", 0, MAX_SIZE, "a size, or 0 for no limit", false},
        {"spark.driver.memory", 32 * MIB, MAX_SIZE, "a size of at least 32m", false},
        {"spark.eventLog.buffer.kb", 1, MAX_INT, "a size below 2g, and more than 0", false},
        {"spark.eventLog.rolling.maxFileSize", 10 * MIB, MAX_SIZE, "a size of at least 10m", false},
        {"spark.firesteel.join.broadcastThreshold", 0, MAX_SIZE, "a size, or 0 for no broadcast join unasked", false},
        {"spark.firesteel.resume.executorTimeout", 0, MAX_SIZE, "a time, or 0 to end executors with their driver",
         false},
        {"spark.firesteel.resume.foldSize", 0, MAX_SIZE, "a size, or 0 to never fold the journal", false},
        {"spark.firesteel.resume.registrationTimeout", 0, MAX_SIZE, "a time, or 0 to wait for no executor", false},
        {"spark.firesteel.shuffle.store.objectSize", 1, MAX_SIZE, "a size, and more than 0", false},
        {"spark.firesteel.shuffle.store.wait", 0, MAX_SIZE, "a time, or 0 to wait for no other task", false},
        {"spark.io.compression.lz4.blockSize", 64, 32 * MIB, "a size from 64b to 32m", false},
        {"spark.io.compression.zstd.level", -131072, 22, "a whole number from -131072 to 22", false},
        {"spark.memory.fraction", 0, 1, "above 0 and at most 1", true},
        {"spark.memory.storageFraction", 0, 0x1.fffffffffffffp-1, "in [0, 1)", false}, /* leaves memory for execution */
        {"spark.python.factory.idleWorkerMaxPoolSize", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.python.worker.idleTimeoutSeconds", 0, MAX_SIZE, "a time, or 0 for none", false},
        {"spark.python.worker.tracebackDumpIntervalSeconds", 0, MAX_SIZE, "a time, or 0 for none", false},
        {"spark.rdd.limit.initialNumPartitions", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.rdd.limit.scaleUpFactor", -MAX_INT, MAX_INT, "a whole number (less than 2 counts as 2)", false},
        {"spark.reducer.maxBlocksInFlightPerAddress", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.reducer.maxReqsInFlight", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.reducer.maxSizeInFlight", 1, MAX_INT, "a size below 2g, and more than 0", false},
        {"spark.scheduler.listenerbus.eventqueue.capacity", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.stage.maxConsecutiveAttempts", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.task.cpus", 1, MAX_INT, "a whole number, at least 1", false},
        {"spark.ui.consoleProgress.update.interval", 1, MAX_INT, "a time, and more than 0", false},
};

/* Numbers and switches that executors read. A value that does not parse ends each executor as it starts. */
static const char *const executor_keys[] = {
        "spark.blockManager.port",
        "spark.celeborn.client.readLocalShuffleFile.enabled",
        "spark.decommission.enabled",
        "spark.executor.heartbeat.maxFailures",
        "spark.executor.processTreeMetrics.enabled",
        "spark.firesteel.archives.maxEntries",
        "spark.firesteel.archives.maxSize",
        "spark.firesteel.shuffle.store.objectSize",
        "spark.firesteel.shuffle.store.wait",
        "spark.metrics.executorMetricsSource.enabled",
        "spark.port.maxRetries",
        "spark.shuffle.io.connectionTimeout",
        "spark.shuffle.io.maxRetries",
        "spark.shuffle.io.numConnectionsPerPeer",
        "spark.shuffle.io.retryWait",
        "spark.shuffle.registration.maxAttempts",
        "spark.shuffle.registration.timeout",
        "spark.storage.decommission.enabled",
        "spark.storage.decommission.maxReplicationFailuresPerBlock",
        "spark.storage.decommission.rddBlocks.enabled",
        "spark.storage.decommission.replicationReattemptInterval",
        "spark.storage.decommission.shuffleBlocks.enabled",
        "spark.storage.maxReplicationFailures",
        "spark.task.maxDirectResultSize",
        "spark.task.reaper.enabled",
        "spark.task.reaper.killTimeout",
        "spark.task.reaper.pollingInterval",
        "spark.task.reaper.threadDump",
};

/* Reads a key of any type as a number. */
static int conf_validate_read_number(const struct fst_conf *conf, const struct key *key, double *out,
                                     struct fst_error *error)
{
        int64_t whole = 0;
        bool on = false;
        int r;
        switch (key->type) {
        case KEY_BOOL:
                r = conf_get_bool(conf, key->name, &on, error);
                whole = on;
                break;
        case KEY_DOUBLE:
                return conf_get_double(conf, key->name, out, error);
        case KEY_BYTES:
                r = conf_get_bytes(conf, key->name, &whole, error);
                break;
        case KEY_TIME:
                r = conf_get_ms(conf, key->name, &whole, error);
                break;
        default:
                r = conf_get_int(conf, key->name, &whole, error);
        }
        if (r == 0)
                *out = (double)whole;
        return r;
}

static int conf_validate_check_range(const struct fst_conf *conf, const struct key_range *range,
                                     struct fst_error *error)
{
        struct fst_error why = FST_ERROR_INIT;
        struct key key;
        double x = 0;
        const char *value = conf_get_value(conf, range->key);
        if (!value || !*value || !key_find(range->key, &key))
                return 0;
        int r = conf_validate_read_number(conf, &key, &x, &why);
        if (r)
                error_set(error, r, "%s: it must be %s", error_message(&why), range->allowed);
        else if (!(range->above_low ? x > range->low : x >= range->low) || !(x <= range->high))
                r = error_set(error, -EINVAL, "%s is %s: it must be %s", range->key, value, range->allowed);
        error_deinit(&why);
        return r;
}

/* Refuses a value that its typed getter refuses, among them an empty text. */
static int conf_validate_check_parses(const struct fst_conf *conf, const char *name, struct fst_error *error)
{
        struct key key;
        double x;
        if (!conf_get_value(conf, name) || !key_find(name, &key))
                return 0;
        return conf_validate_read_number(conf, &key, &x, error);
}

/* ------------------------------------------------------------------------------------------------- rules */

static int conf_validate_check_java_options(const struct fst_conf *conf, const char *key, struct fst_error *error)
{
        _cleanup_free_ char *options = NULL;
        int r = conf_get_string(conf, key, &options, error);
        if (r || !options)
                return r;
        if (strstr(options, "-Dspark"))
                return error_set(
                        error, -EINVAL,
                        "%s is not allowed to set Spark options (was '%s'). Set them directly on a SparkConf or "
                        "in a properties file when using ./bin/spark-submit.",
                        key, options);
        if (strstr(options, "-Xmx"))
                return error_set(error, -EINVAL,
                                 "%s is not allowed to specify max heap memory settings (was '%s'). Use "
                                 "spark.executor.memory instead.",
                                 key, options);
        return 0;
}

static int conf_validate_check_deploy_mode(const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *mode = NULL;
        int r = conf_get_string(conf, "spark.submit.deployMode", &mode, error);
        if (r == 0 && mode && strcmp(mode, "client") != 0 && strcmp(mode, "cluster") != 0)
                r = error_set(error, -EINVAL,
                              "spark.submit.deployMode can only be \"cluster\" or \"client\", but was %s", mode);
        return r;
}

static int conf_validate_check_encryption(const struct fst_conf *conf, struct fst_error *error)
{
        bool crypto = false, sasl = false, authenticate = false;
        int r;
        if ((r = conf_get_bool(conf, "spark.network.crypto.enabled", &crypto, error)) ||
            (r = conf_get_bool(conf, "spark.authenticate.enableSaslEncryption", &sasl, error)) ||
            (r = conf_get_bool(conf, "spark.authenticate", &authenticate, error)))
                return r;
        if ((crypto || sasl) && !authenticate)
                return error_set(error, -EINVAL,
                                 "spark.authenticate must be enabled when enabling encryption (%s is true)",
                                 crypto ? "spark.network.crypto.enabled" : "spark.authenticate.enableSaslEncryption");
        return 0;
}

static int conf_validate_check_timeouts(const struct fst_conf *conf, struct fst_error *error)
{
        int64_t timeout = 0, interval = 0;
        int r;
        if ((r = conf_get_ms(conf, "spark.network.timeout", &timeout, error)) ||
            (r = conf_get_ms(conf, "spark.executor.heartbeatInterval", &interval, error)))
                return r;
        if (timeout < interval)
                return error_set(error, -EINVAL,
                                 "The value of spark.network.timeout=%" PRId64 "ms must be no less than the value of "
                                 "spark.executor.heartbeatInterval=%" PRId64 "ms.",
                                 timeout, interval);
        return 0;
}

static int conf_validate_check_cores(const struct fst_conf *conf, struct fst_error *error)
{
        int64_t most, each;
        int r;
        if (!conf_contains(conf, "spark.cores.max") || !conf_contains(conf, "spark.executor.cores"))
                return 0;
        if ((r = conf_get_int(conf, "spark.cores.max", &most, error)) ||
            (r = conf_get_int(conf, "spark.executor.cores", &each, error)))
                return r;
        if (most < 1 || each < 1)
                return error_set(error, -EINVAL, "%s should be a whole number, at least 1, but was %" PRId64,
                                 most < 1 ? "spark.cores.max" : "spark.executor.cores", most < 1 ? most : each);
        if (most % each)
                log_warn("SparkConf",
                         "Total executor cores: %" PRId64 " is not divisible by cores per executor: %" PRId64
                         ", the left cores: %" PRId64 " will not be allocated",
                         most, each, most % each);
        return 0;
}

/* fst_join reads the key, and cannot fail. */
static int conf_validate_check_joins(const struct fst_conf *conf, struct fst_error *error)
{
        bool splits;
        return conf_get_bool(conf, "spark.firesteel.join.splitHeavyKeys", &splits, error);
}

int conf_validate(const struct fst_conf *conf, struct fst_error *error)
{
        int r = 0;
        for (size_t i = 0; i < ARRAY_SIZE(ranges) && r == 0; i++)
                r = conf_validate_check_range(conf, &ranges[i], error);
        for (size_t i = 0; i < ARRAY_SIZE(executor_keys) && r == 0; i++)
                r = conf_validate_check_parses(conf, executor_keys[i], error);
        if (r || (r = conf_validate_check_java_options(conf, "spark.executor.defaultJavaOptions", error)) ||
            (r = conf_validate_check_java_options(conf, "spark.executor.extraJavaOptions", error)) ||
            (r = conf_validate_check_deploy_mode(conf, error)) || (r = conf_validate_check_encryption(conf, error)) ||
            (r = conf_validate_check_timeouts(conf, error)) || (r = conf_validate_check_joins(conf, error)))
                return r;
        return conf_validate_check_cores(conf, error);
}
