/*
 * See task_batch_wire.h. Fields that the tasks of a batch share, or that follow from the first task, are written once:
 * a launch of 256 tasks of a new stage takes about 20 bytes, the status of 256 empty tasks about 1.5 KB.
 *
 * Columns are copied through arrays on the stack, so packing only allocates room in the buffer.
 */
#include "exec/task/task_batch_wire.h"

#include "base/buf.h"
#include "base/mem.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "rpc/control.pb-c.h"
#include "shuffle/remote_shuffle.h"

#define COUNTERS (sizeof(struct task_counters) / sizeof(int64_t))

/* Limits of a peer's values, so that their sums do not overflow. */
#define MAX_MS ((int64_t)1 << 50)
#define MAX_NS (INT64_MAX / MAX_TASK_BATCH / 2) /* more than half a year */
#define MAX_COUNTER ((int64_t)1 << 53)
#define MAX_RESULT ((uint64_t)1 << 53)

_Static_assert(sizeof(struct task_counters) % sizeof(int64_t) == 0, "counters are int64_t, and travel by position");

void task_batch_append(const ProtobufCMessage *message, struct buf *to)
{
        size_t size = protobuf_c_message_get_packed_size(message);
        buf_reserve(to, size);
        protobuf_c_message_pack(message, (uint8_t *)to->data + to->len);
        to->len += size;
        to->data[to->len] = '\0';
}

/* ----------------------------------------------------------------------------------------------------- launches */

static bool follow_by_one(const struct task_batch *run)
{
        const struct slot_task *first = &run->tasks[0];
        for (int i = 1; i < run->n; i++) {
                const struct slot_task *t = &run->tasks[i];
                if (t->index != first->index + i || t->info.partition != first->info.partition + i ||
                    t->output != first->output + i || t->info.attempt != first->info.attempt)
                        return false;
        }
        return true;
}

/* A batch's resources as messages, which borrow names and addresses from the batch. */
struct run_resources {
        Firesteel__Resource *of, **list;
        const char **addresses;
        size_t n;
};

/* Counts the kinds of resources, and the addresses of all of them. */
static void count_resources(const struct task_batch *run, size_t *kinds, size_t *addresses)
{
        size_t at = 0;
        const char *name;
        *kinds = *addresses = 0;
        for (int count; task_resources_next(&run->resources, &at, &name, NULL, 0, &count); ++*kinds)
                *addresses += (size_t)count;
}

static void run_resources_init(struct run_resources *r, const struct task_batch *run)
{
        size_t kinds, room, at = 0;
        const char *name;
        *r = (struct run_resources){0};
        count_resources(run, &kinds, &room);
        if (!kinds)
                return;
        r->of = new_array(Firesteel__Resource, kinds);
        r->list = new_array(Firesteel__Resource *, kinds);
        r->addresses = new_array(const char *, room + 1);
        const char **next = r->addresses;
        for (int count; task_resources_next(&run->resources, &at, &name, next, (int)room, &count);
             next += count, room -= (size_t)count) {
                Firesteel__Resource *resource = &r->of[r->n];
                firesteel__resource__init(resource);
                resource->name = (char *)name;
                resource->addresses = (char **)next;
                resource->n_addresses = (size_t)count;
                r->list[r->n++] = resource;
        }
}

static void run_resources_deinit(struct run_resources *r)
{
        free(r->of);
        free(r->list);
        free(r->addresses);
}

void task_batch_append_launch(const struct task_batch *run, struct buf *to)
{
        const struct slot_task *first = &run->tasks[0];
        int32_t columns[4][MAX_TASK_BATCH];
        Firesteel__TaskRun message = FIRESTEEL__TASK_RUN__INIT;
        message.slot = run->slot;
        message.stage_id = first->info.stage;
        message.stage_attempt = first->info.stage_attempt;
        message.first_task_id = first->info.id;
        message.n = run->n;
        message.crash_suspect = run->crash_suspect;
        message.held = run->held;
        message.first_index = first->index;
        message.first_partition = first->info.partition;
        message.first_output = first->output;
        message.first_attempt = first->info.attempt;
        struct run_resources resources;
        run_resources_init(&resources, run);
        message.n_resources = resources.n;
        message.resources = resources.list;
        if (!follow_by_one(run)) {
                for (int i = 0; i < run->n; i++) {
                        columns[0][i] = run->tasks[i].index;
                        columns[1][i] = run->tasks[i].info.partition;
                        columns[2][i] = run->tasks[i].output;
                        columns[3][i] = run->tasks[i].info.attempt;
                }
                message.n_index = message.n_partition = message.n_output = message.n_attempt = (size_t)run->n;
                message.index = columns[0];
                message.partition = columns[1];
                message.output = columns[2];
                message.attempt = columns[3];
        }
        Firesteel__LaunchTasks launch = FIRESTEEL__LAUNCH_TASKS__INIT;
        launch.n_runs = 1;
        launch.runs = &(Firesteel__TaskRun *){&message};
        task_batch_append(&launch.base, to);
        run_resources_deinit(&resources);
}

int task_batch_read_launch(const task_launch_message *from, int slots, struct task_batch *run, struct fst_error *error)
{
        size_t n = (size_t)from->n;
        if (from->n < 1 || from->n > MAX_TASK_BATCH)
                return error_set(error, -EBADMSG, "the batch has %d tasks", from->n);
        if (from->slot < 0 || from->slot >= slots)
                return error_set(error, -EBADMSG, "the batch is for slot %d of %d", from->slot, slots);
        if (from->first_task_id < 0 || from->first_task_id > INT64_MAX - MAX_TASK_BATCH)
                return error_set(error, -EBADMSG, "the batch has an invalid first TID %lld",
                                 (long long)from->first_task_id);
        bool columns = from->n_index > 0;
        if (columns && (from->n_index != n || from->n_partition != n || from->n_output != n || from->n_attempt != n))
                return error_set(error, -EBADMSG, "the batch has columns of another length");
        if (!columns &&
            (from->first_index > INT32_MAX - MAX_TASK_BATCH || from->first_partition > INT32_MAX - MAX_TASK_BATCH ||
             from->first_output > INT32_MAX - MAX_TASK_BATCH))
                return error_set(error, -EBADMSG, "the batch has an invalid partition");
        run->slot = from->slot;
        run->crash_suspect = from->crash_suspect;
        run->n = from->n;
        buf_reset(&run->resources.text);
        for (size_t i = 0; i < from->n_resources; i++)
                task_resources_put(&run->resources, from->resources[i]->name,
                                   (const char *const *)from->resources[i]->addresses, from->resources[i]->n_addresses);
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                memset(t, 0, sizeof(*t));
                t->info = (struct fst_task_info){
                        .id = from->first_task_id + i,
                        .stage = from->stage_id,
                        .stage_attempt = from->stage_attempt,
                        .partition = columns ? from->partition[i] : from->first_partition + i,
                        .attempt = columns ? from->attempt[i] : from->first_attempt,
                };
                t->index = columns ? from->index[i] : from->first_index + i;
                t->output = columns ? from->output[i] : from->first_output + i;
        }
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- statuses */

/* Memory that a status is packed from. The columns point into it. */
struct status_scratch {
        Firesteel__RunStatus message;
        uint32_t states[MAX_TASK_BATCH], sizes[MAX_TASK_BATCH], places[MAX_TASK_BATCH];
        int64_t run_ns[MAX_TASK_BATCH];
        int64_t values[COUNTERS * MAX_TASK_BATCH];
        uint32_t counters[COUNTERS];
        Firesteel__TaskFailure *failures[MAX_TASK_BATCH];
        Firesteel__TaskExtra *extras[MAX_TASK_BATCH];
        struct buf results;
};

static const int64_t *counters_of(const struct slot_task *t)
{
        return (const int64_t *)&t->counters;
}

static void add_counters(struct status_scratch *s, const struct task_batch *run)
{
        uint64_t used = 0;
        for (int i = 0; i < run->n; i++)
                for (size_t c = 0; c < COUNTERS; c++)
                        used |= (uint64_t)(counters_of(&run->tasks[i])[c] != 0) << c;
        int64_t *value = s->values;
        for (; used; used &= used - 1) {
                size_t c = (size_t)__builtin_ctzll(used);
                s->counters[s->message.n_counters++] = (uint32_t)c;
                for (int i = 0; i < run->n; i++)
                        *value++ = counters_of(&run->tasks[i])[c];
        }
        s->message.counters = s->counters;
        s->message.counter_values = s->values;
        s->message.n_counter_values = (size_t)(value - s->values);
}

static void add_failure(struct status_scratch *s, struct slot_task *t, int at)
{
        Firesteel__TaskFailure *f = mem_alloc(sizeof(*f));
        firesteel__task_failure__init(f);
        f->at = at;
        f->status = t->status;
        if (t->message)
                f->message = t->message;
        if (t->state == TASK_FETCH_FAILED) {
                f->fetch_shuffle = t->fetch_shuffle;
                f->fetch_map = t->fetch_map;
                f->fetch_executor = t->fetch_executor;
        }
        s->failures[s->message.n_failures++] = f;
        s->message.failures = s->failures;
}

static Firesteel__TaskExtra *add_extra(struct status_scratch *s, int at)
{
        size_t n = s->message.n_extras;
        if (n && s->extras[n - 1]->at == at)
                return s->extras[n - 1];
        Firesteel__TaskExtra *extra = mem_alloc(sizeof(*extra));
        firesteel__task_extra__init(extra);
        extra->at = at;
        s->message.extras = s->extras;
        return s->extras[s->message.n_extras++] = extra;
}

/* Fails a task after it has succeeded. Takes the message of @error; without one, @what names the failure. */
static void fail_success(struct slot_task *t, int status, struct fst_error *error, const char *what)
{
        t->state = TASK_FAILED;
        t->status = status;
        t->message = error->message ? steal(error->message) : mem_printf("%s: %s", what, strerror(-status));
}

/*
 * Appends the result to those of the batch, or leaves it at the executor if it is large. It is encoded in its place
 * among them, so that a small result costs no allocation; that of a task process has been encoded there. A result that
 * cannot be sent fails its task.
 */
static void add_result(struct status_scratch *s, struct slot_task *t, struct action *action, int at,
                       const struct task_status_options *options)
{
        struct fst_error error = FST_ERROR_INIT;
        size_t start = s->results.len;
        if (t->is_encoded) {
                buf_append(&s->results, t->encoded.data, t->encoded.len);
        } else {
                int r = task_result_encode(action, &t->result, &s->results, &error);
                if (r) {
                        fail_success(t, r, &error, "its result cannot be sent");
                        return;
                }
        }
        size_t len = s->results.len - start;
        if (!options->keep || len <= options->max_direct) {
                s->sizes[at] = (uint32_t)len;
                return;
        }
        int r = options->keep(options->owner, t->info.id, &(struct buf){.data = s->results.data + start, .len = len},
                              &error);
        buf_truncate(&s->results, start);
        if (r == 0)
                add_extra(s, at)->result_bytes = len;
        else
                fail_success(t, r, &error, "its result cannot be kept");
}

static void add_accumulated(struct status_scratch *s, struct slot_task *t, int at)
{
        struct buf encoded = BUF_INIT;
        accumulator_updates_encode(t->accumulated, &encoded);
        add_extra(s, at)->accumulators = (ProtobufCBinaryData){encoded.len, (uint8_t *)encoded.data};
}

static void status_release(struct status_scratch *s, struct task_batch *run)
{
        for (size_t i = 0; i < s->message.n_failures; i++)
                free(s->failures[i]);
        for (size_t i = 0; i < s->message.n_extras; i++) {
                free(s->extras[i]->accumulators.data);
                free(s->extras[i]);
        }
        for (int i = 0; i < run->n; i++) {
                free(steal(run->tasks[i].message));
                accumulator_updates_free(steal(run->tasks[i].accumulated));
                buf_deinit(&run->tasks[i].encoded);
        }
        buf_deinit(&s->results);
}

void task_batch_append_computed(const struct task_batch *run, struct buf *to)
{
        Firesteel__StatusUpdate update = FIRESTEEL__STATUS_UPDATE__INIT;
        update.n_computed = 1;
        update.computed = &(int64_t){run->tasks[0].info.id};
        task_batch_append(&update.base, to);
}

void task_batch_append_status(struct task_batch *run, struct action *action, const struct task_status_options *options,
                              struct buf *to)
{
        struct status_scratch s; /* 50 KB of stack; thread-local storage would be zeroed in each thread first */
        bool failed = false;
        uint32_t placed = 0;
        firesteel__run_status__init(&s.message);
        s.results = BUF_INIT;
        s.message.slot = run->slot;
        s.message.first_task_id = run->tasks[0].info.id;
        s.message.n = run->n;
        s.message.start_ms = run->tasks[0].start_ms;
        add_counters(&s, run);
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                s.sizes[i] = 0;
                if (action && t->state == TASK_SUCCEEDED)
                        add_result(&s, t, action, i, options);
                if (t->accumulated && t->state == TASK_SUCCEEDED)
                        add_accumulated(&s, t, i);
                s.run_ns[i] = t->run_ns;
                s.states[i] = t->state;
                s.places[i] = t->state == TASK_SUCCEEDED ? t->place : 0;
                placed |= s.places[i];
                failed |= t->state != TASK_SUCCEEDED;
                if (t->state != TASK_SUCCEEDED)
                        add_failure(&s, t, i);
        }
        s.message.run_ns = s.run_ns;
        s.message.n_run_ns = (size_t)run->n;
        s.message.states = s.states;
        s.message.n_states = failed ? (size_t)run->n : 0;
        s.message.places = s.places;
        s.message.n_places = placed ? (size_t)run->n : 0;
        s.message.result_sizes = s.sizes;
        s.message.n_result_sizes = s.results.len ? (size_t)run->n : 0;
        s.message.results = (ProtobufCBinaryData){s.results.len, (uint8_t *)s.results.data};
        Firesteel__StatusUpdate update = FIRESTEEL__STATUS_UPDATE__INIT;
        update.n_runs = 1;
        update.runs = &(Firesteel__RunStatus *){&s.message};
        task_batch_append(&update.base, to);
        status_release(&s, run);
}

static int check_columns(const run_status *from, const struct task_batch *run, struct fst_error *error)
{
        size_t n = (size_t)run->n, total = 0;
        if (from->n != run->n || from->first_task_id != run->tasks[0].info.id)
                return error_set(error, -EBADMSG,
                                 "the status of %d tasks from TID %lld does not match the batch in slot %d", from->n,
                                 (long long)from->first_task_id, from->slot);
        bool good = from->n_run_ns == n && (from->n_states == 0 || from->n_states == n) &&
                    (from->n_result_sizes == 0 || from->n_result_sizes == n) && from->n_counters <= COUNTERS &&
                    (from->n_places == 0 || from->n_places == n) && from->n_counter_values == from->n_counters * n;
        for (size_t i = 0; good && i < from->n_counters; i++)
                good = from->counters[i] < COUNTERS;
        for (size_t i = 0; good && i < from->n_run_ns; i++)
                good = from->run_ns[i] >= 0 && from->run_ns[i] <= MAX_NS;
        good = good && from->start_ms >= 0 && from->start_ms <= MAX_MS;
        for (size_t i = 0; good && i < from->n_states; i++)
                good = task_state_is_reported(from->states[i]);
        for (size_t i = 0; good && i < from->n_places; i++)
                good = from->places[i] < REMOTE_PLACES;
        for (size_t i = 0; good && i < from->n_failures; i++)
                good = from->failures[i]->at >= 0 && from->failures[i]->at < run->n;
        for (size_t i = 0; good && i < from->n_extras; i++)
                good = from->extras[i]->at >= 0 && from->extras[i]->at < run->n &&
                       from->extras[i]->result_bytes <= MAX_RESULT;
        for (size_t i = 0; good && i < from->n_result_sizes; i++)
                total += from->result_sizes[i];
        if (good && total == from->results.len)
                return 0;
        return error_set(error, -EBADMSG, "the status has columns that do not match its %d tasks", run->n);
}

static void run_wire_read_failure(const Firesteel__TaskFailure *f, struct slot_task *t)
{
        free(t->message);
        t->status = f->status < 0 ? f->status : -EIO;
        t->message = mem_strdup(f->message ? f->message : "");
        t->fetch_shuffle = f->fetch_shuffle;
        t->fetch_map = f->fetch_map;
        t->fetch_executor = f->fetch_executor;
}

static void read_extra(const Firesteel__TaskExtra *extra, struct slot_task *t)
{
        struct fst_error error = FST_ERROR_INIT;
        t->result_waits = extra->result_bytes;
        accumulator_updates_free(steal(t->accumulated));
        int r = extra->accumulators.len ? accumulator_updates_decode(extra->accumulators.data, extra->accumulators.len,
                                                                     &t->accumulated, &error)
                                        : 0;
        if (r == 0)
                return;
        t->state = TASK_FAILED;
        t->status = r;
        free(t->message);
        t->message = steal(error.message);
}

int task_batch_read_status(const run_status *from, struct task_batch *run, struct fst_error *error)
{
        int r = check_columns(from, run, error);
        if (r)
                return r;
        const uint8_t *result = from->results.data;
        const size_t n = (size_t)run->n;
        int64_t at_ns = 0;
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                t->state = from->n_states ? (enum task_state)from->states[i] : TASK_SUCCEEDED;
                t->run_ns = from->run_ns[i];
                t->place = from->n_places ? from->places[i] : 0;
                t->start_ms = from->start_ms + at_ns / 1000000;
                at_ns += t->run_ns;
                t->finish_ms = from->start_ms + at_ns / 1000000;
                t->is_encoded = true;
                if (from->n_result_sizes && from->result_sizes[i]) {
                        buf_append(&t->encoded, result, from->result_sizes[i]);
                        result += from->result_sizes[i];
                }
        }
        for (size_t c = 0; c < from->n_counters; c++)
                for (int i = 0; i < run->n; i++) {
                        int64_t value = MIN(from->counter_values[c * n + (size_t)i], MAX_COUNTER);
                        ((int64_t *)&run->tasks[i].counters)[from->counters[c]] = MAX(value, 0);
                }
        for (size_t i = 0; i < from->n_failures; i++)
                run_wire_read_failure(from->failures[i], &run->tasks[from->failures[i]->at]);
        for (size_t i = 0; i < from->n_extras; i++)
                read_extra(from->extras[i], &run->tasks[from->extras[i]->at]);
        for (int i = 0; i < run->n; i++)
                if (run->tasks[i].state != TASK_SUCCEEDED && !run->tasks[i].message)
                        run->tasks[i].message = mem_strdup("the executor gave no reason");
        return 0;
}
