/*
 * See migration.h. A round covers the data present when it begins. `covered` is the start of the last round that left
 * nothing over.
 *
 * A moved partition is removed here. A map output stays, because its readers may still need it. Moved outputs and given
 * up ones are recorded, so that later rounds skip them.
 */
#include "exec/migration.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "conf/conf.h"
#include "exec/blocks/block_manager.h"
#include "exec/driver_client.h"
#include "exec/exec_env.h"
#include "rpc/control.pb-c.h"
#include "rpc/wire_memory.h"
#include "shuffle/remote_shuffle.h"
#include "shuffle/shuffle_sender.h"
#include "shuffle/shuffle_store.h"
#include "store/block_store.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#define LOG "BlockManagerDecommissioner"
#define OUTPUT_NAME_SIZE 64
#define MAX_STORED 256 /* outputs in one object */

struct migration {
        struct migration_options options;
        bool rdds, shuffles;
        int64_t interval_ns;
        int most_failures;
        pthread_t thread;
        int stopped; /* atomic */

        /* used by the thread only */
        struct block_location peers[MAX_BLOCK_LOCATIONS];
        int n_peers, next_peer;
        struct strmap settled;  /* names of moved or given up outputs */
        struct strmap failures; /* number of failures by name */
        int moved, given_up;

        pthread_mutex_t lock; /* protects the fields below */
        pthread_cond_t wake;
        int64_t covered;
        bool failing; /* the rest is tried again after the interval */
        bool again;   /* another round was requested */
};

static bool migration_is_stopped(const struct migration *m)
{
        return __atomic_load_n(&m->stopped, __ATOMIC_ACQUIRE);
}

/* ------------------------------------------------------------------------------------------------------ peers */

static int find_peers(struct migration *m)
{
        struct fst_error error = FST_ERROR_INIT;
        const struct block_network *n = m->options.network;
        m->n_peers = n->peers ? n->peers(n->owner, NULL, &m->stopped, m->peers, MAX_BLOCK_LOCATIONS, &error) : 0;
        if (m->n_peers < 0 && !migration_is_stopped(m))
                log_warn(LOG, "cannot ask the driver for other executors: %s", error_message(&error));
        error_deinit(&error);
        return m->n_peers;
}

static const struct block_location *next_peer(struct migration *m)
{
        return &m->peers[m->next_peer++ % m->n_peers];
}

/* ------------------------------------------------------------------------------------------------------ names */

/* Counts a failure. Returns true if @name is given up. */
static bool migration_note_failure(struct migration *m, const char *name)
{
        const char *before = strmap_get(&m->failures, name);
        char times[16];
        int n = before ? atoi(before) + 1 : 1;
        if (n >= m->most_failures) {
                log_warn(LOG, "Give up migrating %s since it's been failed for %d times", name, n);
                strmap_set(&m->settled, name, "");
                m->given_up++;
                return true;
        }
        snprintf(times, sizeof(times), "%d", n);
        strmap_set(&m->failures, name, times);
        return false;
}

/* ---------------------------------------------------------------------------------------------- cached partitions */

/* Returns 0 if the block is moved, removed, or given up; 1 if it is to be tried again. */
static int move_block(struct migration *m, struct block_id id)
{
        struct fst_error error = FST_ERROR_INIT;
        char name[BLOCK_NAME_SIZE];
        block_name_format((struct block_name){BLOCK_RDD, id.rdd, id.partition}, name);
        if (strmap_get(&m->settled, name))
                return 0;
        const struct block_location *to = next_peer(m);
        int r = block_manager_give(m->options.blocks, id, to, &m->stopped, &error);
        if (r == 0) {
                log_info(LOG, "%s migrated to %s:%d successfully, Removing block now", name, to->host, to->port);
                block_store_remove(m->options.env->blocks, id);
                m->moved++;
        } else if (r == -ENOENT) {
                r = 0; /* removed meanwhile */
        } else if (!migration_is_stopped(m)) {
                log_warn(LOG, "Failed to migrate block %s to %s:%d: %s", name, to->host, to->port,
                         error_message(&error));
                r = !migration_note_failure(m, name);
                find_peers(m);
        }
        error_deinit(&error);
        return r != 0;
}

static int move_blocks(struct migration *m)
{
        size_t n;
        struct block_id *ids = block_store_list(m->options.env->blocks, &n);
        int left = 0;
        for (size_t i = 0; i < n && !migration_is_stopped(m) && m->n_peers > 0; i++)
                left += move_block(m, ids[i]);
        free(ids);
        return left;
}

/* ------------------------------------------------------------------------------------------------------ map outputs */

static int migration_ask(struct migration *m, const Firesteel__OutputsMoved *moved, struct fst_error *error)
{
        uint8_t *body = NULL;
        size_t len = 0;
        int r = driver_client_ask(m->options.asks, FIRESTEEL__CONTROL_TYPE__OUTPUTS_MOVED, &moved->base, &m->stopped,
                                  &body, &len, error);
        if (r)
                return r;
        Firesteel__OutputsMovedReply *reply = firesteel__outputs_moved_reply__unpack(&wire_guarded, len, body);
        r = reply && reply->taken ? 0 : error_set(error, -EHOSTDOWN, "that executor is ending, too");
        firesteel__outputs_moved_reply__free_unpacked(reply, NULL);
        free(body);
        return r;
}

/* Announces the new location. Returns 0 once the driver knows it. */
static int migration_announce(struct migration *m, const struct shuffle_output_id *id, const struct block_location *at,
                              struct fst_error *error)
{
        Firesteel__OutputsMoved moved = FIRESTEEL__OUTPUTS_MOVED__INIT;
        int32_t map = id->map_partition;
        int64_t task = id->task_id;
        moved.shuffle = id->shuffle_id;
        moved.executor = at->executor;
        moved.n_map_partitions = moved.n_task_ids = 1;
        moved.map_partitions = &map;
        moved.task_ids = &task;
        return migration_ask(m, &moved, error);
}

static const char *migration_output_name(const struct shuffle_output_id *id, char name[static OUTPUT_NAME_SIZE])
{
        snprintf(name, OUTPUT_NAME_SIZE, "shuffle_%d_%d_%" PRId64, id->shuffle_id, id->map_partition, id->task_id);
        return name;
}

/* Stores outputs of one shuffle in the fallback storage, and announces them. */
static int migration_store(struct migration *m, int shuffle, struct remote_output *outputs, int n,
                           struct fst_error *error)
{
        Firesteel__OutputsMoved moved = FIRESTEEL__OUTPUTS_MOVED__INIT;
        int32_t maps[MAX_STORED];
        int64_t tasks[MAX_STORED];
        uint32_t places[MAX_STORED];
        int r = m->options.fallback->class->publish(m->options.fallback, shuffle, outputs, n, error);
        if (r)
                return r;
        for (int i = 0; i < n; i++) {
                maps[i] = outputs[i].map_partition;
                tasks[i] = outputs[i].task_id;
                places[i] = outputs[i].place;
        }
        moved.shuffle = shuffle;
        moved.n_map_partitions = moved.n_task_ids = moved.n_places = (size_t)n;
        moved.map_partitions = maps;
        moved.task_ids = tasks;
        moved.places = places;
        return migration_ask(m, &moved, error);
}

/* Stores the next outputs of @ids that are of one shuffle and not settled. Returns how many of @ids it has dealt with,
 * and adds those that are left to *@left. */
static size_t migration_store_some(struct migration *m, const struct shuffle_output_id *ids, size_t count, int *left)
{
        struct remote_output outputs[MAX_STORED];
        struct fst_error error = FST_ERROR_INIT;
        char name[OUTPUT_NAME_SIZE];
        size_t at = 0;
        int n = 0;
        for (; at < count && ids[at].shuffle_id == ids[0].shuffle_id && n < MAX_STORED; at++) {
                struct shuffle_output *output =
                        strmap_get(&m->settled, migration_output_name(&ids[at], name))
                                ? NULL
                                : shuffle_store_get(m->options.env->shuffles, ids[at].shuffle_id, ids[at].map_partition,
                                                    ids[at].task_id);
                if (output)
                        outputs[n++] = (struct remote_output){
                                .map_partition = ids[at].map_partition, .task_id = ids[at].task_id, .output = output};
        }
        int r = n ? migration_store(m, ids[0].shuffle_id, outputs, n, &error) : 0;
        if (r && !migration_is_stopped(m))
                log_warn(LOG, "%d map outputs of shuffle %d do not go to the fallback storage: %s", n,
                         ids[0].shuffle_id, error_message(&error));
        for (int i = 0; i < n; i++) {
                migration_output_name(
                        &(struct shuffle_output_id){ids[0].shuffle_id, outputs[i].map_partition, outputs[i].task_id},
                        name);
                if (r == 0) {
                        strmap_set(&m->settled, name, "");
                        m->moved++;
                } else {
                        *left += !migration_note_failure(m, name);
                }
                shuffle_output_unref(outputs[i].output);
        }
        error_deinit(&error);
        return at;
}

/* Stores all map outputs. Returns the number of those that are left over. */
static int migration_store_outputs(struct migration *m)
{
        size_t n;
        struct shuffle_output_id *ids = shuffle_store_list(m->options.env->shuffles, &n);
        int left = 0;
        for (size_t at = 0; at < n && !migration_is_stopped(m);)
                at += migration_store_some(m, ids + at, n - at, &left);
        free(ids);
        return left;
}

static int move_output(struct migration *m, const struct shuffle_output_id *id)
{
        struct fst_error error = FST_ERROR_INIT;
        char name[OUTPUT_NAME_SIZE];
        if (strmap_get(&m->settled, migration_output_name(id, name)))
                return 0;
        const struct block_location *to = next_peer(m);
        struct block_peer peer = {m->options.network, to};
        struct transfer_call call = {.stopped = &m->stopped, .gone = block_peer_gone, .gone_owner = &peer};
        int r = shuffle_send(m->options.env->shuffles, id, m->options.network->client, to->host, to->port, &call,
                             &error);
        if (r == 0)
                r = migration_announce(m, id, to, &error);
        if (r == 0) {
                log_debug(LOG, "Migrated %s to %s:%d", name, to->host, to->port);
                strmap_set(&m->settled, name, "");
                m->moved++;
        } else if (r == -ENOENT) {
                r = 0; /* not needed any more */
        } else if (!migration_is_stopped(m)) {
                log_warn(LOG, "Error occurred during migrating %s to %s:%d: %s", name, to->host, to->port,
                         error_message(&error));
                int left = 0;
                if (m->options.fallback)
                        migration_store_some(m, id, 1, &left);
                r = m->options.fallback ? left : !migration_note_failure(m, name);
                find_peers(m);
        }
        error_deinit(&error);
        return r != 0;
}

static int move_outputs(struct migration *m)
{
        size_t n;
        struct shuffle_output_id *ids = shuffle_store_list(m->options.env->shuffles, &n);
        int left = 0;
        for (size_t i = 0; i < n && !migration_is_stopped(m) && m->n_peers > 0; i++)
                left += move_output(m, &ids[i]);
        free(ids);
        return left;
}

/* ------------------------------------------------------------------------------------------------------ rounds */

/* Returns the number of items left over; -1 if nothing can be moved. */
static int run_round(struct migration *m)
{
        int left = 0, before = m->moved;
        if (find_peers(m) < 0)
                return 1;
        if (m->n_peers > 0 && m->rdds)
                left += move_blocks(m);
        if (m->n_peers > 0 && m->shuffles)
                left += move_outputs(m);
        if (m->n_peers == 0 && m->options.fallback && m->shuffles) {
                left = migration_store_outputs(m);
        } else if (m->n_peers == 0) {
                log_warn(LOG, "No available peers to receive blocks, stop migration.");
                return -1;
        }
        if (m->moved > before || left > 0)
                log_info(LOG, "In total, %d blocks and map outputs have migrated, %d were given up, %d are left",
                         m->moved, m->given_up, left);
        return m->n_peers < 0 ? MAX(left, 1) : left;
}

/* Waits until a round is requested, or the interval is over. */
static void wait_for_round(struct migration *m, int left)
{
        struct timespec until = timespec_of_ns(now_ns() + m->interval_ns);
        int r = 0;
        while (!migration_is_stopped(m) && !m->again && r == 0)
                r = left > 0 ? pthread_cond_clockwait(&m->wake, &m->lock, CLOCK_MONOTONIC, &until)
                             : pthread_cond_wait(&m->wake, &m->lock);
}

static void *migration_main(void *arg)
{
        struct migration *m = arg;
        pthread_setname_np(pthread_self(), "migrate-blocks");
        log_info(LOG, "Starting block migration");
        pthread_mutex_lock(&m->lock);
        while (!migration_is_stopped(m)) {
                int64_t begin = now_ns();
                m->again = false;
                pthread_mutex_unlock(&m->lock);
                int left = run_round(m);
                pthread_mutex_lock(&m->lock);
                m->failing = left > 0;
                if (left <= 0)
                        m->covered = left < 0 ? INT64_MAX : begin;
                pthread_mutex_unlock(&m->lock);
                m->options.round_over(m->options.owner);
                pthread_mutex_lock(&m->lock);
                wait_for_round(m, left);
        }
        pthread_mutex_unlock(&m->lock);
        return NULL;
}

bool migration_done(struct migration *m, int64_t since)
{
        pthread_mutex_lock(&m->lock);
        bool done = m->covered > since, waits = m->failing;
        if (!done && !waits && !m->again) {
                m->again = true;
                pthread_cond_signal(&m->wake);
        }
        pthread_mutex_unlock(&m->lock);
        return done;
}

int migration_new(const struct migration_options *options, struct migration **migration, struct fst_error *error)
{
        const struct fst_conf *conf = options->conf;
        bool enabled, decommission;
        int64_t interval_ms, failures;
        int r;
        struct migration *m = new0(struct migration);
        *migration = NULL;
        if ((r = conf_get_bool(conf, "spark.decommission.enabled", &decommission, error)) ||
            (r = conf_get_bool(conf, "spark.storage.decommission.enabled", &enabled, error)) ||
            (r = conf_get_bool(conf, "spark.storage.decommission.rddBlocks.enabled", &m->rdds, error)) ||
            (r = conf_get_bool(conf, "spark.storage.decommission.shuffleBlocks.enabled", &m->shuffles, error)) ||
            (r = conf_get_ms(conf, "spark.storage.decommission.replicationReattemptInterval", &interval_ms, error)) ||
            (r = conf_get_int(conf, "spark.storage.decommission.maxReplicationFailuresPerBlock", &failures, error))) {
                free(m);
                return r;
        }
        m->shuffles &= !options->env->service_transfers; /* a shuffle service continues to serve them */
        if (!enabled || !decommission || !(m->rdds || m->shuffles)) {
                free(m);
                return 0;
        }
        m->options = *options;
        m->interval_ns = MAX(interval_ms, 1) * 1000000;
        m->most_failures = (int)MAX(failures, 1);
        m->covered = INT64_MIN;
        pthread_mutex_init(&m->lock, NULL);
        pthread_cond_init(&m->wake, NULL);
        r = -pthread_create(&m->thread, NULL, migration_main, m);
        if (r) {
                pthread_cond_destroy(&m->wake);
                pthread_mutex_destroy(&m->lock);
                free(m);
                return error_set(error, r, "cannot start the migration thread: %s", strerror(-r));
        }
        *migration = m;
        return 0;
}

void migration_free(struct migration *m)
{
        if (!m)
                return;
        pthread_mutex_lock(&m->lock);
        __atomic_store_n(&m->stopped, 1, __ATOMIC_RELEASE);
        pthread_cond_signal(&m->wake);
        pthread_mutex_unlock(&m->lock);
        pthread_join(m->thread, NULL);
        strmap_deinit(&m->settled);
        strmap_deinit(&m->failures);
        pthread_cond_destroy(&m->wake);
        pthread_mutex_destroy(&m->lock);
        free(m);
}
