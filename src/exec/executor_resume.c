/*
 * An executor whose driver has died: keeps its map outputs, cached blocks and running tasks (resume/executor_held_runs.c),
 * and registers with the next driver (exec/resume/driver_wait.h decides).
 *
 * When a later driver is found, tasks that it cannot adopt are killed, and the executor registers when they have ended.
 */
#include "exec/executor_internal.h"

#include "base/log.h"
#include "base/mem.h"
#include "celeborn/lifecycle/celeborn_driver.h"
#include "exec/driver_client.h"
#include "exec/executor_stages.h"
#include "exec/executor_transfer.h"
#include "exec/resume/driver_search.h"
#include "exec/resume/driver_wait.h"
#include "io/output_committer.h"
#include "rpc/control.pb-c.h"
#include "rpc/wire_memory.h"
#include "shuffle/remote/object_shuffle.h"
#include "shuffle/shuffle_store.h"
#include "store/block_name.h"
#include "store/block_store.h"

#include <inttypes.h>
#include <unistd.h>

#define LOG "ExecutorResume"
#define LOOK_INTERVAL_MS 100         /* in a directory */
#define REMOTE_LOOK_INTERVAL_MS 2000 /* on HDFS or in an object store */
#define CALL_INTERVAL_MS INT64_C(100)      /* between calls of the dead driver's address, at first, */
#define MAX_CALL_INTERVAL_MS INT64_C(1000) /* and later */
#define SILENCE_MS 2000              /* without a reply to a heartbeat: the driver may be stuck */
#define IDLE_INTERVAL_MS 10          /* between looks whether the killed tasks have ended */
#define KILL_TIMEOUT_MS 10000        /* for killed tasks to end */
#define HELD_SHARE 16 /* an executor holds so large a part of spark.driver.maxResultSize without a driver */

struct executor_resume {
        struct executor *x;
        char *application; /* the name of the journal */
        struct driver_wait wait;
        struct driver_search *search;
        uv_timer_t timer;
        int64_t asked; /* when a heartbeat was sent that has no reply; 0: none */
        char *url;     /* of the current driver, */
        char *found;   /* and of one that was found */

        struct rpc_ref *called; /* the driver that is called */
        char *called_url;
        uint32_t call;
        VEC(struct driver_call *) calls;
        bool killing; /* its tasks must end before it registers */
        int64_t kill_since;
        Firesteel__AppConfig *config; /* of the called driver */
};

/* Owner of the requests of one call: a later call makes its answers void. */
struct driver_call {
        struct executor *x;
        uint32_t number;
};

static void executor_resume_tick(struct executor_resume *r);

static void executor_resume_on_timer(uv_timer_t *timer)
{
        executor_resume_tick(timer->data);
}

static void executor_resume_on_looked(void *owner, int epoch, const char *url)
{
        struct executor_resume *r = owner;
        driver_wait_looked(&r->wait, epoch, now_ns());
        if (r->wait.found) {
                free(r->found);
                r->found = mem_strdup(url);
        }
        executor_resume_tick(r);
}

int executor_resume_new(struct executor *x, const char *application, int epoch, struct fst_error *error)
{
        const char *directory = conf_get_raw(&x->conf, "spark.firesteel.resume.dir");
        int64_t timeout_ms;
        int64_t max_result_size = 0;
        int status = conf_get_ms(&x->conf, "spark.firesteel.resume.executorTimeout", &timeout_ms, error);
        if (status == 0)
                status = conf_get_bytes(&x->conf, "spark.driver.maxResultSize", &max_result_size, error);
        if (status || !*application || !directory || !timeout_ms || epoch < 1)
                return status;
        struct executor_resume *r = x->resume = new0(struct executor_resume);
        r->x = x;
        r->application = mem_strdup(application);
        r->url = mem_strdup(x->options->driver_url);
        r->search = driver_search_new(&x->loop, directory, application, executor_resume_on_looked, r);
        x->driver_number = 1;
        x->held.limit = (size_t)MAX(max_result_size, INT64_C(0)) / HELD_SHARE;
        uv_timer_init(&x->loop, &r->timer);
        r->timer.data = r;
        const int64_t interval =
                driver_search_is_remote(r->search) ? REMOTE_LOOK_INTERVAL_MS : LOOK_INTERVAL_MS;
        driver_wait_init(&r->wait,
                         &(struct driver_wait_times){.timeout = timeout_ms * 1000000,
                                                     .look = interval * 1000000,
                                                     .call = CALL_INTERVAL_MS * 1000000,
                                                     .max_call = MAX_CALL_INTERVAL_MS * 1000000},
                         epoch, (uint32_t)getpid());
        return 0;
}

bool executor_obeys(const struct executor *x, int epoch)
{
        return !x->resume || driver_wait_obeys(&x->resume->wait, epoch);
}

bool executor_is_waiting(const struct executor *x)
{
        return x->resume && x->resume->wait.state == DRIVER_SEARCHED;
}

/* --------------------------------------------------------------------------------------------------- registering */

static void executor_resume_drop_call(struct executor_resume *r)
{
        rpc_ref_unref(steal(r->called));
        free(steal(r->called_url));
        firesteel__app_config__free_unpacked(steal(r->config), NULL);
        r->killing = false;
}

static void executor_resume_failed(struct executor_resume *r, const char *why)
{
        log_debug(LOG, "%s: %s", r->called_url, why);
        executor_resume_drop_call(r);
        driver_wait_failed(&r->wait, r->call, now_ns());
        executor_resume_tick(r);
}

/* The state of the former driver goes, and the tasks that wait for one may go on. */
static void executor_resume_take_driver(struct executor_resume *r, struct rpc_peer *peer)
{
        struct executor *x = r->x;
        log_info(LOG, "Registered with the next driver of the application, number %d, at %s", r->wait.epoch,
                 r->called_url);
        x->peer = rpc_peer_ref_new(peer);
        rpc_ref_unref(x->driver);
        x->driver = steal(r->called);
        free(r->url);
        r->url = steal(r->called_url);
        driver_client_set_driver(x->asks, x->driver);
        executor_transfer_set_driver(x->data, r->config->driver_host, r->config->driver_port);
        executor_transfer_add_files(x->data, r->config->files);
        executor_take_tokens(x, r->config->delegation_tokens.data, r->config->delegation_tokens.len);
        x->missed_heartbeats = 0;
        r->asked = 0;
        executor_end_holding(x);
        __atomic_store_n(&x->epoch, r->wait.epoch, __ATOMIC_RELAXED);
}

/* Takes the owner of an answer. Returns NULL if the answer is not for the current call. */
static struct executor_resume *executor_resume_answered(struct driver_call *call)
{
        struct executor_resume *r = call->x->resume;
        bool current = r && !call->x->ended && r->called && r->call == call->number;
        return current ? r : NULL;
}

/* It lives as long as @r: an answer may never come. */
static struct driver_call *executor_resume_call_owner(struct executor_resume *r)
{
        struct driver_call *call = new0(struct driver_call);
        *call = (struct driver_call){r->x, r->call};
        vec_push(&r->calls, call);
        return call;
}

static void executor_resume_on_registered(void *owner, struct rpc_answer *answer)
{
        struct executor_resume *r = executor_resume_answered(owner);
        struct executor *x = r ? r->x : NULL;
        if (!r)
                return;
        if (answer->status < 0) {
                executor_resume_failed(r, answer->message);
                return;
        }
        Firesteel__RegisteredExecutor *registered =
                answer->status ? NULL : firesteel__registered_executor__unpack(&wire_guarded, answer->len, answer->body);
        if (!registered) {
                log_error(LOG, "The driver at %s refuses this executor: %s", r->called_url,
                          answer->message ? answer->message : "its reply is malformed");
                executor_resume_drop_call(r);
                driver_wait_refused(&r->wait, r->call);
        } else if (driver_wait_registered(&r->wait, r->call, registered->epoch)) {
                x->index = registered->index;
                executor_resume_take_driver(r, answer->peer);
                executor_resume_drop_call(r);
        } else {
                executor_resume_failed(r, "it is not later than the driver that was lost");
        }
        firesteel__registered_executor__free_unpacked(registered, NULL);
        executor_resume_tick(r);
}

/* The cached blocks. Changes since the list was made follow as updates. */
static void executor_resume_put_blocks(struct executor *x, Firesteel__Holdings *holdings)
{
        size_t n;
        struct block_id *ids = block_store_list(x->env.blocks, &n);
        holdings->blocks = new_array(Firesteel__BlockUpdate *, n);
        for (size_t i = 0; i < n; i++) {
                struct block_status status;
                char text[BLOCK_NAME_SIZE];
                if (!block_store_status(x->env.blocks, ids[i], &status) || status.level == FST_STORAGE_NONE)
                        continue;
                Firesteel__BlockUpdate *update = mem_alloc(sizeof(*update));
                firesteel__block_update__init(update);
                update->name = mem_strdup(
                        block_name_format((struct block_name){BLOCK_RDD, ids[i].rdd, ids[i].partition}, text));
                update->storage_level = status.level;
                update->memory_bytes = (int64_t)status.memory_bytes;
                update->disk_bytes = (int64_t)status.disk_bytes;
                update->rows = (int64_t)status.rows;
                holdings->blocks[holdings->n_blocks++] = update;
        }
        free(ids);
}

/* The number of the @n outputs from @ids on that are of the first one's shuffle. */
static size_t executor_resume_count_outputs(const struct shuffle_output_id *ids, size_t n)
{
        size_t count = 1;
        while (count < n && ids[count].shuffle_id == ids->shuffle_id)
                count++;
        return count;
}

/* The map outputs, shuffle by shuffle. */
static void executor_resume_put_outputs(struct executor *x, Firesteel__Holdings *holdings)
{
        size_t n;
        struct shuffle_output_id *ids = executor_transfer_list_outputs(x->data, &n);
        Firesteel__HeldOutputs *last = NULL;
        holdings->outputs = new_array(Firesteel__HeldOutputs *, n);
        for (size_t i = 0; i < n; i++) {
                if (executor_holds_task(x, ids[i].task_id)) /* it comes with its run */
                        continue;
                if (!last || last->shuffle != ids[i].shuffle_id) {
                        last = mem_alloc(sizeof(*last));
                        firesteel__held_outputs__init(last);
                        last->shuffle = ids[i].shuffle_id;
                        const size_t room = executor_resume_count_outputs(&ids[i], n - i);
                        last->map_partitions = new_array(int32_t, room);
                        last->task_ids = new_array(int64_t, room);
                        holdings->outputs[holdings->n_outputs++] = last;
                }
                last->map_partitions[last->n_map_partitions++] = ids[i].map_partition;
                last->task_ids[last->n_task_ids++] = ids[i].task_id;
        }
        free(ids);
}

static Firesteel__Holdings *executor_resume_holdings(struct executor_resume *r)
{
        Firesteel__Holdings *holdings = mem_alloc(sizeof(*holdings));
        firesteel__holdings__init(holdings);
        holdings->resume_application = mem_strdup(r->application);
        holdings->epoch = r->wait.epoch;
        holdings->writer = r->x->writer;
        holdings->io_encryption_key.data = mem_alloc(r->x->io_secret.len + 1);
        holdings->io_encryption_key.len = r->x->io_secret.len;
        if (r->x->io_secret.len)
                memcpy(holdings->io_encryption_key.data, r->x->io_secret.data, r->x->io_secret.len);
        executor_list_held_runs(r->x, holdings);
        executor_resume_put_outputs(r->x, holdings);
        executor_resume_put_blocks(r->x, holdings);
        return holdings;
}

/* Everything that the former driver has sent is gone, so that the next one finds the executor as if it were new. */
static void executor_resume_register(struct executor_resume *r)
{
        struct executor *x = r->x;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        r->killing = false;
        executor_stages_clear(x->stages);
        lost_executors_clear(&x->lost);
        buf_reset(&x->updates);
        executor_transfer_take_updates(x->data, &x->updates); /* the holdings have them */
        buf_reset(&x->updates);
        pthread_mutex_lock(&x->lock);
        buf_reset(&x->outbox);
        pthread_mutex_unlock(&x->lock);
        Firesteel__Holdings *holdings = executor_resume_holdings(r);
        struct driver_call *call = executor_resume_call_owner(r);
        int status = executor_send_registration(x, r->called, holdings, executor_resume_on_registered, call, &error);
        explicit_bzero(holdings->io_encryption_key.data, holdings->io_encryption_key.len);
        firesteel__holdings__free_unpacked(holdings, NULL);
        if (status)
                executor_resume_failed(r, error_message(&error));
}

/* Kills what the next driver cannot adopt. Returns false while some of it runs, or tasks wait for their stage. */
static bool executor_resume_has_killed(struct executor *x)
{
        return executor_kill_unheld_tasks(x) && !executor_stages_waits(x->stages);
}

static const char *executor_resume_property(const Firesteel__AppConfig *config, const char *key)
{
        for (size_t i = 0; i < config->n_properties; i++)
                if (strcmp(config->properties[i]->key, key) == 0)
                        return config->properties[i]->value;
        return "";
}

/* Returns the key that says where map outputs outside of executors are, if the driver that is called has another place. */
static const char *executor_resume_find_other_place(const struct executor_resume *r)
{
        static const char *const keys[] = {OBJECT_DIRECTORY_KEY, CELEBORN_APP_KEY};
        for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
                const char *here = conf_get_raw(&r->x->conf, keys[i]);
                if (strcmp(here ? here : "", executor_resume_property(r->config, keys[i])) != 0)
                        return keys[i];
        }
        return NULL;
}

/* A driver that is stuck has its connection still: tasks may wait for it. */
static void executor_resume_leave_driver(struct executor_resume *r)
{
        struct rpc_peer *former = steal(r->x->peer);
        r->killing = true;
        r->kill_since = now_ns();
        executor_begin_holding(r->x, true);
        if (former && rpc_peer_connected(former))
                rpc_peer_close(former, "another driver has taken over the application");
        rpc_peer_unref(former);
}

static void executor_resume_on_config(void *owner, struct rpc_answer *answer)
{
        struct executor_resume *r = executor_resume_answered(owner);
        if (!r)
                return;
        if (answer->status) {
                executor_resume_failed(r, answer->message);
                return;
        }
        r->config = firesteel__app_config__unpack(&wire_guarded, answer->len, answer->body);
        const bool same = r->config && strcmp(r->config->resume_application, r->application) == 0;
        if (!driver_wait_reached(&r->wait, r->call, same ? r->config->epoch : 0, now_ns())) {
                executor_resume_failed(r, "it is not a later driver of the application");
                return;
        }
        const char *other = executor_resume_find_other_place(r);
        if (other) {
                log_error(LOG, "The driver at %s has another %s: this executor cannot use it", r->called_url, other);
                executor_resume_drop_call(r);
                driver_wait_refused(&r->wait, r->call);
        } else {
                executor_resume_leave_driver(r);
        }
        executor_resume_tick(r);
}

static void executor_resume_call(struct executor_resume *r, const char *url)
{
        struct executor *x = r->x;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        Firesteel__RetrieveAppConfig question = FIRESTEEL__RETRIEVE_APP_CONFIG__INIT;
        executor_resume_drop_call(r);
        r->call = r->wait.called;
        r->called_url = mem_strdup(url);
        question.resource_profile = x->options->resource_profile;
        question.epoch = r->wait.epoch;
        struct driver_call *call = executor_resume_call_owner(r);
        int status = rpc_env_ref(x->rpc, url, &r->called, &error);
        if (status == 0)
                status = rpc_ask_packed(r->called, FIRESTEEL__CONTROL_TYPE__RETRIEVE_APP_CONFIG, &question.base, NULL, 0,
                                        executor_resume_on_config, call);
        if (status)
                executor_resume_failed(r, error.message ? error_message(&error) : strerror(-status));
}

/* ------------------------------------------------------------------------------------------------------- waiting */

static void executor_resume_give_up(struct executor_resume *r)
{
        log_error(LOG, "No driver goes on with the application and this executor. Shutting down.");
        executor_end(r->x, EXECUTOR_EXIT_FAILED);
}

/* Registers once the killed tasks have ended. Returns when to look again; INT64_MAX: no need. */
static int64_t executor_resume_check_tasks(struct executor_resume *r, int64_t now)
{
        if (!r->killing)
                return INT64_MAX;
        if (executor_resume_has_killed(r->x)) {
                executor_resume_register(r);
                return INT64_MAX;
        }
        if (now - r->kill_since > KILL_TIMEOUT_MS * INT64_C(1000000)) {
                log_error(LOG, "Tasks of the former driver do not end. Shutting down.");
                executor_end(r->x, EXECUTOR_EXIT_FAILED);
                return INT64_MAX;
        }
        return now + IDLE_INTERVAL_MS * INT64_C(1000000);
}

static int64_t executor_resume_check_silence(struct executor_resume *r, int64_t now)
{
        const int64_t due = r->asked ? r->asked + SILENCE_MS * INT64_C(1000000) : INT64_MAX;
        if (now < due)
                return due;
        driver_wait_silent(&r->wait, true, now);
        return INT64_MAX;
}

static void executor_resume_tick(struct executor_resume *r)
{
        int64_t now = now_ns(), next = executor_resume_check_silence(r, now);
        enum driver_wait_action action;
        if (r->x->ended)
                return;
        while ((action = driver_wait_next(&r->wait, now)) != DRIVER_WAIT_NOTHING && !r->x->ended) {
                if (action == DRIVER_WAIT_LOOK)
                        driver_search_look(r->search, r->wait.epoch);
                else if (action == DRIVER_WAIT_END)
                        executor_resume_give_up(r);
                else
                        executor_resume_call(r, action == DRIVER_WAIT_CALL_FOUND ? r->found : r->url);
        }
        next = MIN(next, executor_resume_check_tasks(r, now));
        next = MIN(next, driver_wait_deadline(&r->wait));
        if (r->x->ended || next == INT64_MAX)
                uv_timer_stop(&r->timer);
        else
                uv_timer_start(&r->timer, executor_resume_on_timer, next > now ? (uint64_t)(next - now) / 1000000 + 1 : 0,
                               0);
}

bool executor_driver_lost(struct executor *x, const char *why)
{
        struct executor_resume *r = x->resume;
        if (!r || !driver_wait_lost(&r->wait, now_ns()))
                return false;
        log_warn(LOG, "The driver at %s is lost: %s. Looking for the next one, for %" PRId64 " s", r->url, why,
                 r->wait.times.timeout / 1000000000);
        r->asked = 0;
        executor_begin_holding(x, false);
        executor_resume_tick(r);
        return true;
}

void executor_resume_heartbeat(struct executor *x, bool answered)
{
        struct executor_resume *r = x->resume;
        if (!r)
                return;
        if (answered)
                driver_wait_silent(&r->wait, false, now_ns());
        r->asked = answered ? 0 : r->asked ? r->asked : now_ns();
        executor_resume_tick(r);
}

void executor_resume_stop(struct executor *x)
{
        struct executor_resume *r = x->resume;
        if (!r)
                return;
        driver_search_stop(r->search);
        uv_timer_stop(&r->timer);
        executor_resume_drop_call(r);
        executor_stop_holding(x);
}

void executor_resume_free(struct executor *x)
{
        struct executor_resume *r = steal(x->resume);
        if (!r)
                return;
        driver_search_free(r->search);
        for (size_t i = 0; i < r->calls.len; i++)
                free(r->calls.data[i]);
        vec_deinit(&r->calls);
        free(r->application);
        free(r->url);
        free(r->found);
        free(r);
}
