/*
 * See simulate_messages.h. It does what driver/backend/cluster_backend.c, driver_endpoint.c and driver_transfer.c do with
 * the same parts: the executor table, batches of tasks, the shipping of stages, turns and places of pieces.
 *
 * Executors that get a broadcast stage ask for its piece at the end of the turn, and announce it when they have it. What
 * executors do is not counted.
 */
#include "cmd/simulate/simulate_messages.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "driver/backend/block_master.h"
#include "driver/backend/executor_table.h"
#include "driver/messages/stage_shipping.h"
#include "driver/messages/broadcast_turns.h"
#include "driver/context.h"
#include "driver/messages/stage_inputs.h"
#include "driver/messages/task_batches.h"
#include "exec/actions/action_kinds.h"
#include "exec/task/task_batch_wire.h"
#include "rdd/rdd.h"
#include "rpc/send_queue.h"
#include "rpc/wire_memory.h"
#include "sched/dag.h"
#include "sched/tasks/task_set.h"

#include <firesteel/firesteel.h>
#include <gnu/libc-version.h>
#include <stdio.h>

#define TRANSFER_PORT 7078
#define MAX_DIRECT_RESULT ((size_t)1 << 20) /* spark.task.maxDirectResultSize */

struct simulated_stage {
        const struct task_set *set;
        struct stage_context *work;
        size_t bytes, shared; /* encoded, and shared by outboxes: 0 if it is broadcast */
        int64_t broadcast;
        bool counted;
};

/* An executor that fetches a piece. */
struct piece_fetch {
        struct block_name piece;
        int executor;
};

struct simulate_messages {
        struct simulator_messages ops;
        struct message_costs costs;
        struct fst_context *sc;
        fst_rdd *pairs, *sums;
        struct action count;
        struct executor_table executors;
        struct out_pool pool;
        VEC(struct out_queue) outboxes; /* by executor */
        VEC(int) busy;                  /* executors with bytes in their outboxes */
        VEC(struct simulated_stage) stages;
        struct task_batches batches;
        struct task_batch *ended; /* what an executor reports */
        struct stage_shipping *shipping;
        struct block_master *blocks;
        struct broadcast_turns *turns;
        VEC(struct piece_fetch) asking, fetching;
        struct buf wire; /* of messages that executors send */
};

/* ------------------------------------------------------------------------------------------------------- sending */

static void message_put(struct simulate_messages *m, int executor, uint16_t type, const struct buf *body,
                        const ProtobufCMessage *packed, const struct rpc_attachment *attachment)
{
        struct out_queue *q = &m->outboxes.data[executor];
        size_t len = packed ? protobuf_c_message_get_packed_size(packed) : body->len;
        bool attached = attachment && attachment->len;
        struct frame_header h = {.kind = FRAME_SEND,
                                 .type = type,
                                 .body_len = (uint32_t)len,
                                 .attachment_len = attached ? attachment->len : 0};
        if (q->bytes == 0)
                vec_push(&m->busy, executor);
        out_queue_put_message(q, &h, body ? body->data : NULL, packed, attached ? attachment : NULL);
}

static void messages_flush(struct simulate_messages *m, struct remote_executor *x)
{
        if (x->launches.len)
                message_put(m, x->index, FIRESTEEL__CONTROL_TYPE__LAUNCH_TASKS, &x->launches, NULL, NULL);
        if (x->removals.len)
                message_put(m, x->index, FIRESTEEL__CONTROL_TYPE__REMOVE, &x->removals, NULL, NULL);
        m->costs.launch_sent += (int64_t)(x->launches.len + x->removals.len);
        buf_reset(&x->launches);
        buf_reset(&x->removals);
}

static void messages_measure(struct simulate_messages *m)
{
        size_t bytes = 0;
        for (size_t i = 0; i < m->busy.len; i++) {
                const struct remote_executor *x = m->executors.at[m->busy.data[i]];
                bytes += out_queue_memory(&m->outboxes.data[m->busy.data[i]]) + x->launches.cap + x->removals.cap;
        }
        for (size_t i = 0; i < m->stages.len; i++)
                bytes += m->stages.data[i].shared;
        m->costs.peak_outboxes = MAX(m->costs.peak_outboxes, (int64_t)bytes);
}

/* ------------------------------------------------------------------------------------------- pieces of broadcasts */

static int messages_broadcast(void *owner, int64_t id, const void *data, size_t len, struct fst_error *error)
{
        struct simulate_messages *m = owner;
        m->costs.broadcasts++;
        return 0;
}

static void messages_remove_broadcast(void *owner, int64_t id)
{
        struct simulate_messages *m = owner;
        int *executors;
        struct block_name piece;
        block_master_remove_broadcast(m->blocks, id, true, &executors);
        free(executors);
        broadcast_turns_remove(m->turns, id);
        broadcast_turns_next(m->turns, 0, &piece);
}

/* The driver tells @executor who has the piece: that it may fetch it. */
static void messages_answer(struct simulate_messages *m, struct block_name piece, int executor)
{
        struct block_location places[MAX_BLOCK_LOCATIONS];
        Firesteel__BlockLocation list[MAX_BLOCK_LOCATIONS], *pointers[MAX_BLOCK_LOCATIONS];
        Firesteel__BlockLocations answer = FIRESTEEL__BLOCK_LOCATIONS__INIT;
        int n = block_master_locations(m->blocks, piece, executor, places, MAX_PIECE_HOLDERS, NULL);
        for (int i = 0; i < n; i++) {
                firesteel__block_location__init(&list[i]);
                list[i].executor = places[i].executor;
                list[i].host = places[i].host;
                list[i].port = places[i].port;
                pointers[i] = &list[i];
        }
        answer.n_locations = (size_t)n;
        answer.locations = pointers;
        message_put(m, executor, FIRESTEEL__CONTROL_TYPE__BLOCK_LOCATIONS, NULL, &answer.base, NULL);
        m->costs.stage_sent += (int64_t)protobuf_c_message_get_packed_size(&answer.base);
        for (size_t i = 0; i < m->stages.len && n == 0; i++) /* it comes from the driver itself */
                if (piece.id == m->stages.data[i].broadcast)
                        m->costs.stage_sent += (int64_t)m->stages.data[i].bytes;
        vec_push(&m->fetching, (struct piece_fetch){piece, executor});
}

static void messages_on_ask(struct simulate_messages *m, const struct piece_fetch *fetch)
{
        char name[BLOCK_NAME_SIZE], *list = (char *)block_name_format(fetch->piece, name);
        Firesteel__BlockNames question = FIRESTEEL__BLOCK_NAMES__INIT;
        question.n_names = 1;
        question.names = &list;
        buf_reset(&m->wire);
        task_batch_append(&question.base, &m->wire);

        int64_t since = now_ns();
        struct block_name piece;
        struct wire_scratch scratch;
        ProtobufCAllocator allocator = wire_scratch_allocator(&scratch);
        Firesteel__BlockNames *names = firesteel__block_names__unpack(&allocator, m->wire.len, (uint8_t *)m->wire.data);
        block_name_parse(names->names[0], &piece);
        if (broadcast_turns_ask(m->turns, piece, (void *)(intptr_t)(fetch->executor + 1), 0))
                messages_answer(m, piece, fetch->executor);
        firesteel__block_names__free_unpacked(names, &allocator);
        m->costs.stage_ns += now_ns() - since;
}

static void messages_on_fetched(struct simulate_messages *m, const struct piece_fetch *fetch)
{
        char name[BLOCK_NAME_SIZE];
        Firesteel__BlockUpdate update = FIRESTEEL__BLOCK_UPDATE__INIT;
        Firesteel__BlockUpdates message = FIRESTEEL__BLOCK_UPDATES__INIT;
        update.name = (char *)block_name_format(fetch->piece, name);
        update.storage_level = FST_STORAGE_MEMORY_AND_DISK_SER;
        update.memory_bytes = 1 << 20;
        message.n_updates = 1;
        message.updates = &(Firesteel__BlockUpdate *){&update};
        buf_reset(&m->wire);
        task_batch_append(&message.base, &m->wire);

        int64_t since = now_ns();
        struct block_name piece;
        struct wire_scratch scratch;
        ProtobufCAllocator allocator = wire_scratch_allocator(&scratch);
        Firesteel__BlockUpdates *got =
                firesteel__block_updates__unpack(&allocator, m->wire.len, (uint8_t *)m->wire.data);
        block_name_parse(got->updates[0]->name, &piece);
        block_master_update(m->blocks, fetch->executor, piece,
                            &(struct block_info){.level = (enum fst_storage_level)got->updates[0]->storage_level,
                                                 .memory_bytes = got->updates[0]->memory_bytes});
        broadcast_turns_held(m->turns, piece);
        for (void *asker; (asker = broadcast_turns_next(m->turns, 0, &piece));)
                messages_answer(m, piece, (int)(intptr_t)asker - 1);
        firesteel__block_updates__free_unpacked(got, &allocator);
        m->costs.stage_ns += now_ns() - since;
}

/* Executors fetch their stages from the driver and from each other. */
static void messages_fetch_pieces(struct simulate_messages *m)
{
        for (size_t i = 0; i < m->asking.len; i++)
                messages_on_ask(m, &m->asking.data[i]);
        m->asking.len = 0;
        for (size_t i = 0; i < m->fetching.len; i++) {
                struct piece_fetch fetch = m->fetching.data[i]; /* the list grows */
                messages_on_fetched(m, &fetch);
        }
        m->fetching.len = 0;
}

/* ------------------------------------------------------------------------------------------------------ executors */

static void messages_executor_added(void *owner, int executor, const char *id, const char *host, int cores)
{
        struct simulate_messages *m = owner;
        Firesteel__RegisterExecutor r = FIRESTEEL__REGISTER_EXECUTOR__INIT;
        struct out_queue outbox;
        r.executor_id = (char *)id;
        r.hostname = (char *)host;
        r.cores = cores;
        r.transfer_port = TRANSFER_PORT;
        executor_table_add(&m->executors, &r);
        block_master_add_executor(m->blocks, executor, id, host, TRANSFER_PORT);
        out_queue_init(&outbox, &m->pool);
        vec_push(&m->outboxes, outbox);
}

static void messages_executor_lost(void *owner, int executor)
{
        struct simulate_messages *m = owner;
        struct remote_executor *x = m->executors.at[executor];
        x->state = EXECUTOR_GONE;
        for (int slot = 0; slot < x->slots; slot++)
                if (x->running[slot])
                        task_batches_return(&m->batches, steal(x->running[slot]));
        block_master_remove_executor(m->blocks, executor, NULL, NULL);
}

/* --------------------------------------------------------------------------------------------------------- stages */

static struct simulated_stage *messages_stage(struct simulate_messages *m, const struct task_set *set)
{
        size_t i = 0;
        while (m->stages.data[i].set != set)
                i++;
        return &m->stages.data[i];
}

static void messages_stage_submitted(void *owner, const struct stage *stage, const struct task_set *set)
{
        struct simulate_messages *m = owner;
        int64_t since = now_ns();
        struct stage_context *work = new0(struct stage_context);
        work->refs = 1;
        work->env = &m->sc->env;
        work->stage_id = stage->id;
        work->stage_attempt = set->attempt;
        work->final = stage->n_parents ? m->sums : m->pairs;
        if (stage_is_result(stage))
                work->action = &m->count;
        else
                work->shuffled = m->sums;
        work->inputs = (struct shuffle_reader_env){
                .inputs = new_array(struct shuffle_inputs, (size_t)stage->n_parents),
                .n_inputs = stage->n_parents,
                .here = -1,
        };
        if (stage->n_parents)
                executor_table_locate(&m->executors, &work->inputs.locations, &work->inputs.n_locations);
        for (int i = 0; i < stage->n_parents; i++)
                stage_inputs_read(&work->inputs.inputs[i], stage->parents[i]->outputs, m->executors.location_of,
                                  m->executors.n, NULL, NULL); /* no output is stored outside of executors */
        vec_push(&m->stages, (struct simulated_stage){.set = set, .work = work});
        m->costs.in_scheduler_ns += now_ns() - since;
        m->costs.stage_ns += now_ns() - since;
}

/* Sends the stage of the set, unless the executor has it. */
static void messages_send_stage(struct simulate_messages *m, struct simulated_stage *s, int executor)
{
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__StageHeader header;
        struct rpc_attachment bytes;
        int64_t since = now_ns();
        int r = stage_shipping_message(m->shipping, s->work, executor, m->executors.n, &header, &bytes, &error);
        if (r == 0)
                return;
        if (r < 0) { /* the lineage is our own */
                fprintf(stderr, "firesteel simulate: %s\n", error_message(&error));
                abort();
        }
        size_t len = bytes.len;
        message_put(m, executor, FIRESTEEL__CONTROL_TYPE__STAGE, NULL, &header.base, &bytes);
        stage_shipping_sent(m->shipping, s->work, executor);
        int64_t ns = now_ns() - since;
        if (!s->counted) {
                s->counted = true;
                s->shared = len;
                s->broadcast = header.broadcast;
                s->bytes = header.broadcast ? header.bytes : len;
                m->costs.stages++;
                m->costs.stage_bytes += (int64_t)s->bytes;
        }
        if (header.broadcast)
                vec_push(&m->asking, (struct piece_fetch){{BLOCK_BROADCAST, header.broadcast, 0}, executor});
        m->costs.stage_messages++;
        m->costs.stage_sent += (int64_t)(len + protobuf_c_message_get_packed_size(&header.base));
        m->costs.stage_ns += ns;
        m->costs.in_scheduler_ns += ns;
}

static void messages_task_set_removed(void *owner, const struct task_set *set)
{
        struct simulate_messages *m = owner;
        struct simulated_stage *s = messages_stage(m, set);
        int64_t since = now_ns();
        Firesteel__StageHeader header = FIRESTEEL__STAGE_HEADER__INIT;
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        header.stage_id = s->work->stage_id;
        header.stage_attempt = s->work->stage_attempt;
        removal.n_stages = 1;
        removal.stages = &(Firesteel__StageHeader *){&header};
        for (int i = 0; i < m->executors.n; i++) {
                struct remote_executor *x = m->executors.at[i];
                if (x->state != EXECUTOR_ALIVE || !stage_shipping_has(m->shipping, s->work, i))
                        continue;
                task_batch_append(&removal.base, &x->removals);
                executor_table_mark_dirty(&m->executors, x);
        }
        stage_shipping_forget(m->shipping, s->work);
        stage_context_unref(s->work);
        *s = m->stages.data[--m->stages.len];
        m->costs.stage_ns += now_ns() - since;
        m->costs.in_scheduler_ns += now_ns() - since;
}

/* ---------------------------------------------------------------------------------------------------------- tasks */

static void messages_launch(void *owner, int executor, const struct task_set *set, const struct task_launch *launches,
                            int n)
{
        struct simulate_messages *m = owner;
        struct simulated_stage *s = messages_stage(m, set);
        struct remote_executor *x = m->executors.at[executor];
        messages_send_stage(m, s, executor);
        int64_t since = now_ns();
        struct task_batch *run = task_batches_take(&m->batches, set, launches, n);
        run->work = stage_context_ref(s->work);
        run->executor = executor;
        executor_take_slot(x, run);
        task_batch_append_launch(run, &x->launches);
        executor_table_mark_dirty(&m->executors, x);
        m->costs.launch_ns += now_ns() - since;
        m->costs.in_scheduler_ns += now_ns() - since;
}

static void messages_kill_task(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
        struct simulate_messages *m = owner;
        struct remote_executor *x = m->executors.at[executor];
        Firesteel__KillTask kill = FIRESTEEL__KILL_TASK__INIT;
        if (x->state != EXECUTOR_ALIVE)
                return;
        int64_t since = now_ns();
        messages_flush(m, x);
        kill.task_id = task_id;
        kill.interrupt = interrupt;
        kill.reason = (char *)(reason ? reason : "");
        message_put(m, executor, FIRESTEEL__CONTROL_TYPE__KILL_TASK, NULL, &kill.base, NULL);
        m->costs.launch_ns += now_ns() - since;
        m->costs.in_scheduler_ns += now_ns() - since;
}

static void messages_map_output_removed(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle)
{
        struct simulate_messages *m = owner;
        struct remote_executor *x = executor_table_at(&m->executors, executor);
        if (!x || x->state != EXECUTOR_ALIVE)
                return;
        int64_t since = now_ns();
        Firesteel__MapOutput output = FIRESTEEL__MAP_OUTPUT__INIT;
        Firesteel__Remove removal = FIRESTEEL__REMOVE__INIT;
        output.shuffle = shuffle_id;
        output.map_partition = map_partition;
        output.task_id = output_handle_task(handle);
        removal.n_outputs = 1;
        removal.outputs = &(Firesteel__MapOutput *){&output};
        task_batch_append(&removal.base, &x->removals);
        executor_table_mark_dirty(&m->executors, x);
        m->costs.launch_ns += now_ns() - since;
        m->costs.in_scheduler_ns += now_ns() - since;
}

/* The executor's part: writes the outcomes of @run to m->wire, with the counters that a task of a shuffle has. */
static void messages_report(struct simulate_messages *m, const struct task_batch *run, const enum task_state *states,
                            const int64_t *run_ns)
{
        struct task_batch *ended = m->ended;
        const struct task_status_options options = {.max_direct = MAX_DIRECT_RESULT};
        ended->slot = run->slot;
        ended->n = run->n;
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &ended->tasks[i];
                const int64_t rows = 100000 + run->tasks[i].info.id % 1000;
                *t = (struct slot_task){.info = run->tasks[i].info,
                                        .state = states[i],
                                        .run_ns = run_ns[i],
                                        .start_ms = 1700000000000,
                                        .status = states[i] == TASK_SUCCEEDED ? 0 : -EIO,
                                        .message = states[i] == TASK_SUCCEEDED ? NULL : mem_strdup("simulated"),
                                        .result.number = rows,
                                        .counters = {.run_ns = run_ns[i],
                                                     .cpu_ns = run_ns[i] / 2,
                                                     .peak_memory = 1 << 20,
                                                     .shuffle_remote_blocks = 200,
                                                     .shuffle_remote_bytes = rows * 16,
                                                     .shuffle_fetch_wait_ns = run_ns[i] / 8,
                                                     .shuffle_read_records = rows,
                                                     .shuffle_write_bytes = rows * 16,
                                                     .shuffle_write_records = rows}};
        }
        buf_reset(&m->wire);
        task_batch_append_status(ended, run->work->action, &options, &m->wire);
}

static void messages_status(void *owner, int executor, int64_t first_id, int n, const enum task_state *states,
                            const int64_t *run_ns)
{
        struct simulate_messages *m = owner;
        struct remote_executor *x = m->executors.at[executor];
        struct fst_error error = FST_ERROR_INIT;
        int slot = 0;
        while (slot < x->slots && !(x->running[slot] && x->running[slot]->tasks[0].info.id == first_id))
                slot++;
        if (slot == x->slots)
                return;
        messages_report(m, x->running[slot], states, run_ns);

        int64_t since = now_ns();
        struct wire_scratch scratch;
        ProtobufCAllocator allocator = wire_scratch_allocator(&scratch);
        Firesteel__StatusUpdate *update =
                firesteel__status_update__unpack(&allocator, m->wire.len, (uint8_t *)m->wire.data);
        struct task_batch *run = executor_find_batch(x, update->runs[0]->slot, update->runs[0]->first_task_id);
        if (task_batch_read_status(update->runs[0], run, &error)) {
                fprintf(stderr, "firesteel simulate: %s\n", error_message(&error));
                abort();
        }
        for (int i = 0; i < run->n && run->work->action; i++) {
                struct slot_task *t = &run->tasks[i];
                if (t->state == TASK_SUCCEEDED)
                        task_result_decode(run->work->action, t->encoded.data, t->encoded.len, &t->result, &error);
        }
        executor_free_slot(x, run);
        task_batches_return(&m->batches, run);
        firesteel__status_update__free_unpacked(update, &allocator);
        m->costs.status_ns += now_ns() - since;
        m->costs.status_bytes += (int64_t)m->wire.len;
}

static void messages_turn_ended(void *owner)
{
        struct simulate_messages *m = owner;
        int64_t since = now_ns();
        for (struct remote_executor *x; (x = executor_table_take_dirty(&m->executors));)
                messages_flush(m, x);
        m->costs.launch_ns += now_ns() - since;
        messages_fetch_pieces(m);
        messages_measure(m);
        since = now_ns();
        for (size_t i = 0; i < m->busy.len; i++) {
                struct out_queue *q = &m->outboxes.data[m->busy.data[i]];
                out_queue_sent(q, q->bytes);
        }
        m->busy.len = 0;
        m->costs.launch_ns += now_ns() - since;
}

/* -------------------------------------------------------------------------------------------------- start and end */

static int pair_with_one(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, 1);
        return 0;
}

static int messages_make_lineage(struct simulate_messages *m, struct fst_error *error)
{
        fst_conf *conf = fst_conf_new();
        fst_conf_set(conf, "spark.master", "local[1]");
        fst_conf_set(conf, "spark.app.name", "simulate");
        fst_conf_set(conf, "spark.ui.enabled", "false");
        fst_conf_set(conf, "spark.log.level", "OFF");
        m->sc = fst_context_new_conf(conf);
        if (m->sc->status)
                return error_set(error, m->sc->status, "a local context cannot be made");
        m->pairs = fst_flat_map(fst_range_n(m->sc, 0, 1 << 20, 200), pair_with_one, FST_PAIR(I64, I64));
        m->sums = fst_reduce_by_key_n(m->pairs, fst_fn_sum, 200);
        m->count = (struct action){.class = &count_action_class, .type = m->sums->type};
        int r = rdd_plan(m->sums);
        return r ? error_set(error, r, "the lineage of simulated stages cannot be planned") : 0;
}

int simulate_messages_new(struct simulate_messages **out, struct fst_error *error)
{
        struct simulate_messages *m = new0(struct simulate_messages);
        m->ops = (struct simulator_messages){
                .executor_added = messages_executor_added,
                .executor_lost = messages_executor_lost,
                .stage_submitted = messages_stage_submitted,
                .launch = messages_launch,
                .kill_task = messages_kill_task,
                .status = messages_status,
                .map_output_removed = messages_map_output_removed,
                .task_set_removed = messages_task_set_removed,
                .turn_ended = messages_turn_ended,
                .owner = m,
        };
        m->ended = new0(struct task_batch);
        m->blocks = block_master_new();
        m->turns = broadcast_turns_new();
        m->shipping = stage_shipping_new(&(struct stage_shipping_options){
                .modules = {.same_program = true},
                .broadcast_from = SIZE_MAX,
                .broadcast = messages_broadcast,
                .remove_broadcast = messages_remove_broadcast,
                .owner = m,
        });
        int r = messages_make_lineage(m, error);
        if (r)
                simulate_messages_free(m);
        else
                *out = m;
        return r;
}

const struct simulator_messages *simulate_messages_ops(struct simulate_messages *m)
{
        return &m->ops;
}

const struct message_costs *simulate_messages_costs(const struct simulate_messages *m)
{
        return &m->costs;
}

void simulate_messages_free(struct simulate_messages *m)
{
        if (!m)
                return;
        for (size_t i = 0; i < m->outboxes.len; i++)
                out_queue_deinit(&m->outboxes.data[i]);
        for (int i = 0; i < m->executors.n; i++)
                for (int slot = 0; slot < m->executors.at[i]->slots; slot++)
                        if (m->executors.at[i]->running[slot])
                                task_batches_return(&m->batches, steal(m->executors.at[i]->running[slot]));
        stage_shipping_free(m->shipping);
        broadcast_turns_free(m->turns);
        block_master_free(m->blocks);
        executor_table_deinit(&m->executors);
        task_batches_deinit(&m->batches);
        out_pool_deinit(&m->pool);
        fst_context_stop(m->sc);
        vec_deinit(&m->outboxes);
        vec_deinit(&m->busy);
        vec_deinit(&m->stages);
        vec_deinit(&m->asking);
        vec_deinit(&m->fetching);
        buf_deinit(&m->wire);
        free(m->ended);
        free(m);
}
