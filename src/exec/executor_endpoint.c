/* The executor's endpoint, "Executor": handles messages of the driver (rpc/control.proto), which is trusted. */
#include "exec/executor_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/executor_transfer.h"
#include "exec/executor_stages.h"
#include "exec/task/task_batch_wire.h"
#include "exec/task/slot_monitor.h"
#include "exec/task/thread_dump_wire.h"
#include "hadoop/credentials.h"
#include "io/fs/hdfs_tokens.h"
#include "rpc/control.pb-c.h"
#include "rpc/wire_memory.h"

#include <inttypes.h>

static bool executor_endpoint_refuses(struct executor *x, struct rpc_message *m, int epoch);

/* Ends the executor after a malformed launch: otherwise the driver would wait for its tasks forever. */
static void executor_endpoint_refuse_launch(struct executor *x, const char *why)
{
        log_error("Executor", "malformed LaunchTasks message: %s", why);
        executor_end(x, EXECUTOR_EXIT_FAILED);
}

/* Decodes a launch message (LaunchTasks), and starts its task batches. */
static void executor_endpoint_launch_tasks(struct executor *x, struct rpc_message *m)
{
        Firesteel__LaunchTasks *launch = firesteel__launch_tasks__unpack(&wire_guarded, m->len, m->body);
        if (launch && executor_endpoint_refuses(x, m, launch->epoch)) {
                firesteel__launch_tasks__free_unpacked(launch, NULL);
                return;
        }
        for (size_t i = 0; launch && i < launch->n_runs && !x->ended; i++) {
                struct fst_error error = FST_ERROR_INIT;
                if (launch->runs[i]->held && executor_adopt_run(x, launch->runs[i]->first_task_id))
                        continue;
                struct task_batch *run = executor_batch_new(x);
                if (task_batch_read_launch(launch->runs[i], x->n_slots, run, &error) == 0) {
                        run->driver = executor_driver_number(x);
                        run->abandoned = false;
                        if (launch->runs[i]->held)
                                executor_batch_missing(x, run);
                        else if (!executor_gate_holds(x, run))
                                executor_stages_run(x->stages, run);
                        continue;
                }
                executor_endpoint_refuse_launch(x, error_message(&error));
                error_deinit(&error);
                task_resources_deinit(&run->resources);
                free(run);
        }
        if (!launch)
                executor_endpoint_refuse_launch(x, "it cannot be decoded");
        firesteel__launch_tasks__free_unpacked(launch, NULL);
}

static void executor_endpoint_add_stage(struct executor *x, struct rpc_message *m)
{
        Firesteel__StageHeader *header = firesteel__stage_header__unpack(&wire_guarded, m->len, m->body);
        if (header) {
                bool here = m->attachment_len > 0;
                executor_stages_add(x->stages, header->stage_id, header->stage_attempt,
                                    (struct stage_journal){header->job, header->signature},
                                    &(struct stage_bytes){.len = here ? m->attachment_len : header->bytes,
                                                          .data = rpc_message_take_attachment(m),
                                                          .broadcast = header->broadcast});
        }
        firesteel__stage_header__free_unpacked(header, NULL);
}

static void executor_endpoint_kill_task(struct executor *x, struct rpc_message *m)
{
        Firesteel__KillTask *kill = firesteel__kill_task__unpack(&wire_guarded, m->len, m->body);
        if (!kill || executor_endpoint_refuses(x, m, kill->epoch)) {
                firesteel__kill_task__free_unpacked(kill, NULL);
                return;
        }
        int slot = executor_mark_killed(x, kill->task_id);
        if (slot >= 0) {
                log_info("Executor", "Executor is trying to kill task TID %" PRId64 ", reason: %s", kill->task_id,
                         kill->reason);
                slot_monitor_killed(x->watch, slot, kill->task_id, now_ns());
                slot_kill(x->slots[slot], kill->task_id, kill->interrupt);
        } else if (!executor_gate_kills(x, kill->task_id)) {
                executor_stages_kill(x->stages, kill->task_id);
        }
        firesteel__kill_task__free_unpacked(kill, NULL);
}

/* Removes blocks and outputs. If the driver asks, the reply confirms the removal. */
static void remove_unneeded(struct executor *x, struct rpc_message *m)
{
        Firesteel__Remove *remove = firesteel__remove__unpack(&wire_guarded, m->len, m->body);
        if (!remove)
                return;
        for (size_t i = 0; i < remove->n_stages; i++)
                executor_stages_remove(x->stages, remove->stages[i]->stage_id, remove->stages[i]->stage_attempt);
        for (size_t i = 0; i < remove->n_held_runs; i++)
                executor_abandon_run(x, remove->held_runs[i]);
        executor_transfer_remove(x->data, remove);
        firesteel__remove__free_unpacked(remove, NULL);
        rpc_reply(m, FIRESTEEL__CONTROL_TYPE__REMOVE, NULL, 0, NULL);
}

void executor_add_files(struct executor *x, const uint8_t *body, size_t len)
{
        Firesteel__Files *files = firesteel__files__unpack(&wire_guarded, len, body);
        executor_transfer_add_files(x->data, files);
        firesteel__files__free_unpacked(files, NULL);
}

static void executors_lost(struct executor *x, const struct rpc_message *m)
{
        Firesteel__ExecutorsLost *gone = firesteel__executors_lost__unpack(&wire_guarded, m->len, m->body);
        for (size_t i = 0; gone && i < gone->n_executors; i++)
                lost_executors_add(&x->lost, gone->executors[i]);
        firesteel__executors_lost__free_unpacked(gone, NULL);
}

void executor_take_tokens(struct executor *x, const void *tokens, size_t len)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials credentials = {0};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (!len)
                return;
        log_info("CoarseGrainedExecutorBackend", "Updating delegation tokens for current user.");
        if (hadoop_credentials_read(&credentials, tokens, len, &error) < 0)
                log_warn("CoarseGrainedExecutorBackend", "the driver's delegation tokens: %s", error_message(&error));
        else
                hdfs_tokens_add(&credentials);
}

static void executor_endpoint_update_tokens(struct executor *x, const struct rpc_message *m)
{
        Firesteel__DelegationTokens *t = firesteel__delegation_tokens__unpack(&wire_guarded, m->len, m->body);
        if (t)
                executor_take_tokens(x, t->tokens.data, t->tokens.len);
        firesteel__delegation_tokens__free_unpacked(t, NULL);
}

static void executor_endpoint_dump_threads(struct executor *x, struct rpc_message *m)
{
        struct buf dump = BUF_INIT;
        thread_dump_encode(x->slots, x->n_slots, &dump);
        rpc_reply(m, FIRESTEEL__CONTROL_TYPE__THREAD_DUMP, dump.data, dump.len, NULL);
        buf_deinit(&dump);
}

/* A driver that was stuck wakes up and sends what a later one has to say. */
static bool executor_endpoint_refuses(struct executor *x, struct rpc_message *m, int epoch)
{
        if ((!x->peer || m->peer == x->peer) && executor_obeys(x, epoch))
                return false;
        log_warn("ExecutorResume", "Refusing a message of the driver %s: another one has taken over the application",
                 rpc_peer_name(m->peer));
        Firesteel__Epoch latest = FIRESTEEL__EPOCH__INIT;
        struct rpc_ref *driver = rpc_peer_ref(m->peer, "CoarseGrainedScheduler");
        latest.epoch = __atomic_load_n(&x->epoch, __ATOMIC_RELAXED);
        rpc_send_packed(driver, FIRESTEEL__CONTROL_TYPE__DRIVER_REFUSED, &latest.base, NULL);
        rpc_ref_unref(driver);
        return true;
}

static void executor_endpoint_stop(struct executor *x, struct rpc_message *m)
{
        Firesteel__Epoch *stop = firesteel__epoch__unpack(&wire_guarded, m->len, m->body);
        bool refused = !stop || executor_endpoint_refuses(x, m, stop->epoch);
        firesteel__epoch__free_unpacked(stop, NULL);
        if (refused)
                return;
        log_info("CoarseGrainedExecutorBackend", "Driver commanded a shutdown");
        executor_end(x, EXECUTOR_EXIT_OK);
}

static void executor_endpoint_receive(void *owner, struct rpc_message *m)
{
        struct executor *x = owner;
        if (x->peer && m->peer != x->peer && executor_endpoint_refuses(x, m, 0)) {
                if (m->ask)
                        rpc_fail(m, "another driver has taken over the application");
                return;
        }
        switch (m->type) {
        case FIRESTEEL__CONTROL_TYPE__STAGE:
                executor_endpoint_add_stage(x, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__LAUNCH_TASKS:
                executor_endpoint_launch_tasks(x, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__KILL_TASK:
                executor_endpoint_kill_task(x, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__REMOVE:
                remove_unneeded(x, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__REPLICATE:
                executor_transfer_replicate(x->data, m->body, m->len);
                break;
        case FIRESTEEL__CONTROL_TYPE__ADD_FILES:
                executor_add_files(x, m->body, m->len);
                break;
        case FIRESTEEL__CONTROL_TYPE__EXECUTORS_LOST:
                executors_lost(x, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__UPDATE_DELEGATION_TOKENS:
                executor_endpoint_update_tokens(x, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__THREAD_DUMP:
                executor_endpoint_dump_threads(x, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__DECOMMISSION_EXECUTOR:
                executor_decommission(x);
                break;
        case FIRESTEEL__CONTROL_TYPE__STOP_EXECUTOR:
                executor_endpoint_stop(x, m);
                break;
        case FIRESTEEL__CONTROL_TYPE__SHUTDOWN:
                log_info("CoarseGrainedExecutorBackend", "Driver commanded a shutdown");
                executor_end(x, EXECUTOR_EXIT_OK);
                break;
        default:
                log_warn("CoarseGrainedExecutorBackend", "ignoring a message of unknown type %d", m->type);
                if (m->ask)
                        rpc_fail(m, "executors do not accept messages of type %d", m->type);
        }
}

static void executor_endpoint_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct executor *x = owner;
        if (x->ended || !x->registered || peer != x->peer)
                return;
        rpc_peer_unref(steal(x->peer));
        if (executor_driver_lost(x, why))
                return;
        log_error("CoarseGrainedExecutorBackend", "Driver %s disassociated! Shutting down. (%s)", rpc_peer_name(peer),
                  why);
        executor_end(x, EXECUTOR_EXIT_FAILED);
}

const struct rpc_endpoint_class executor_endpoint_class = {.receive = executor_endpoint_receive,
                                                           .disconnected = executor_endpoint_disconnected};
