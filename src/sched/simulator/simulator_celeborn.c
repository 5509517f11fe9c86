/*
 * Map outputs in Celeborn: the lifecycle manager of a driver (celeborn/lifecycle) among simulated servers and tasks.
 *
 * Behaviour. Each attempt at a shuffle is a Celeborn shuffle, as in a driver. A map task that has computed pushes to
 * the newest location of every partition. If a worker of one has died, it asks for other locations first. A stage that
 * reads a complete shuffle makes its workers commit, and its tasks ask which files count. Where no living worker has a
 * file, the fetch fails, the driver gives up the whole shuffle, and its map stage runs again. Timeouts are those of a
 * driver; in random worlds, where a task may take microseconds, all times are a thousandth of a task for a millisecond.
 *
 * Invariants, beside those of the scheduler: readers learn of every file with data, from a worker that has committed
 * it; a shuffle is reported as lost only if all workers of one of its files have died; a stage reads only outputs of
 * the newest attempt, and none is removed that a running stage writes.
 *
 * Messages between driver and servers take time, and none is lost while its server lives: lifecycle_worlds_test.c loses
 * and repeats them.
 */
#include "sched/simulator/simulation.h"

#include "base/clock.h"
#include "base/mem.h"
#include "celeborn/lifecycle/celeborn_servers.h"
#include "celeborn/lifecycle/lifecycle.h"
#include "celeborn/protocol/celeborn_message.h"
#include "sched/dag.h"

#include <stdio.h>

enum {
        MAX_REVIVES = 5,     /* spark.celeborn.client.push.revive.maxRetries */
        MAX_WORKERS = 60000, /* in a run: their numbers are ports */
};

/* In milliseconds: the mean delay of a message, and when the master knows that a worker has died. */
#define MESSAGE_MS 0.2
#define NOTICE_MS 5000

enum celeborn_read { READ_READY, READ_WAITS, READ_LOST };

struct celeborn_worker_state {
        bool dead;
        int64_t died_at;
};

/* A file at one worker or, replicated, two. */
struct celeborn_place {
        int32_t partition, epoch;
        int32_t worker[2]; /* by enum celeborn_mode; -1: none */
        int32_t previous;  /* place of the partition with a lower epoch; -1: none */
        bool pushed;       /* it has data */
        bool committed[2];
        bool named; /* to readers */
};

struct celeborn_waiter {
        int32_t run;
        uint32_t generation;
};

/* An attempt to write a shuffle; its index is Celeborn's number of it. */
struct celeborn_attempt {
        int32_t shuffle, maps, partitions;
        bool ended, dropped;
        bool asked[CELEBORN_ASK_FILES + 1]; /* by question: there is no answer yet */
        bool located, readable, lost;
        bool revived_late; /* locations were asked for when its maps ended: tasks do not know all */
        int revives;       /* in a row that did not help */
        VEC(struct celeborn_place) places;
        int32_t *newest;    /* by partition: the place that tasks push to; -1: none */
        size_t fresh;       /* places from here on have no data */
        size_t deaths_seen; /* deaths since which all places that count had a living worker */
        VEC(struct celeborn_waiter) waiters;
};

/* A message that is on its way. */
struct celeborn_packet {
        uint64_t id;
        bool reply;
        int worker; /* -1: the master */
        int type;
        uint8_t *body;
        size_t len;
        const char *failure; /* of a reply; NULL: none */
};

struct sim_celeborn {
        struct lifecycle *core;
        VEC(struct celeborn_worker_state) workers;
        VEC(struct celeborn_attempt *) attempts;
        VEC(int32_t) current; /* by shuffle: its newest attempt; -1: none */
        size_t deaths;
        int waiting; /* tasks */
        int64_t life_ns;
        int64_t ms; /* ns: a millisecond, or in a random world a thousandth of a task */
};

static int64_t celeborn_delay(struct sim *sim)
{
        return sim_spread(sim, MAX((int64_t)(MESSAGE_MS * (double)sim->celeborn->ms), (int64_t)1));
}

static void celeborn_wake(struct sim *sim, struct celeborn_attempt *a, bool failed);
static void celeborn_perform(struct sim *sim);

/* ------------------------------------------------------------------------------------------------- servers */

static uint32_t celeborn_roll(void *owner, uint32_t below)
{
        return sim_roll(owner, below);
}

static bool celeborn_is_offered(void *owner, int worker)
{
        const struct sim *sim = owner;
        const struct celeborn_worker_state *w = &sim->celeborn->workers.data[worker];

        return !w->dead || sim->now < w->died_at + NOTICE_MS * sim->celeborn->ms;
}

static bool celeborn_reserve(void *owner, int worker, const struct celeborn_servers_file *file)
{
        return true;
}

static struct celeborn_place *celeborn_place_of(struct celeborn_attempt *a, int partition, int epoch)
{
        int32_t at = partition >= 0 && partition < a->partitions ? a->newest[partition] : -1;

        while (at >= 0 && a->places.data[at].epoch != epoch)
                at = a->places.data[at].previous;
        return at >= 0 ? &a->places.data[at] : NULL;
}

/* A location of which no task learned has no data. */
static bool celeborn_commit(void *owner, int worker, const struct celeborn_servers_file *file)
{
        struct sim *sim = owner;
        struct celeborn_attempt *a = sim->celeborn->attempts.data[file->shuffle];
        struct celeborn_place *at = celeborn_place_of(a, file->partition, file->epoch);

        sim_check(sim, a->ended, "a worker commits Celeborn shuffle %d, whose maps have not ended", file->shuffle);
        if (!at || !at->pushed || at->worker[file->mode] != worker)
                return false;
        sim->report->files_committed += !at->committed[file->mode];
        at->committed[file->mode] = true;
        return true;
}

static const struct celeborn_servers_class celeborn_servers = {
        .roll = celeborn_roll,
        .is_offered = celeborn_is_offered,
        .reserve = celeborn_reserve,
        .commit = celeborn_commit,
};

static bool celeborn_is_alive(const struct sim *sim, int worker)
{
        return worker >= 0 && !sim->celeborn->workers.data[worker].dead;
}

void sim_celeborn_add_worker(struct sim *sim)
{
        struct sim_celeborn *c = sim->celeborn;
        const int index = (int)c->workers.len;

        vec_push(&c->workers, (struct celeborn_worker_state){0});
        sim->report->workers++;
        if (c->life_ns > 0 && index < MAX_WORKERS)
                sim_at(sim, sim_lifetime(sim, c->life_ns), SIM_WORKER_DIE, index, 0);
}

void sim_celeborn_on_die(struct sim *sim, int worker)
{
        struct sim_celeborn *c = sim->celeborn;

        if (sim->now >= sim->calm_at)
                return;
        c->workers.data[worker] = (struct celeborn_worker_state){.dead = true, .died_at = sim->now};
        c->deaths++;
        sim->report->workers_lost++;
        sim_at(sim, sim_spread(sim, sim->o.task_ns), SIM_WORKER_ADD, 0, 0);
}

/* ------------------------------------------------------------------------------------------------ messages */

static void celeborn_packet_free(struct celeborn_packet *m)
{
        free(m->body);
        free(m);
}

static void celeborn_send(struct sim *sim, struct celeborn_packet message)
{
        struct celeborn_packet *m = new0(struct celeborn_packet);

        *m = message;
        sim_at(sim, celeborn_delay(sim), SIM_CELEBORN, 0, (int64_t)(intptr_t)m);
}

/* A request reaches its server. A dead one refuses the connection, or is silent. */
static void celeborn_serve(struct sim *sim, const struct celeborn_packet *m)
{
        struct celeborn_packet reply = {.reply = true, .id = m->id, .worker = m->worker};

        if (m->worker >= 0 && !celeborn_is_alive(sim, m->worker)) {
                if (sim_roll(sim, 5) == 0)
                        return;
                reply.failure = "connection refused";
        } else {
                const int r =
                        celeborn_servers_answer(&celeborn_servers, sim, (int)sim->celeborn->workers.len, m->worker,
                                                m->type, m->body, m->len, &reply.type, &reply.body, &reply.len);
                if (!sim_check(sim, r == 0, "the lifecycle manager sends an invalid message of type %d", m->type))
                        return;
        }
        celeborn_send(sim, reply);
}

void sim_celeborn_on_message(struct sim *sim, int64_t number)
{
        struct celeborn_packet *m = (struct celeborn_packet *)(intptr_t)number;

        if (!m->reply)
                celeborn_serve(sim, m);
        else if (m->failure)
                lifecycle_failed(sim->celeborn->core, m->id, m->failure, sim->now);
        else
                lifecycle_reply(sim->celeborn->core, m->id, m->type, m->body, m->len, sim->now);
        celeborn_packet_free(m);
        celeborn_perform(sim);
}

/* ------------------------------------------------------------------------------------------------- answers */

static int celeborn_worker_index(const struct celeborn_answer *answer, int32_t index)
{
        return index < 0 ? -1 : answer->workers[index].rpc_port - CELEBORN_SERVERS_PORT;
}

/* Tasks learn of locations. Returns the number of new ones. */
static int celeborn_learn(struct celeborn_attempt *a, const struct celeborn_answer *answer)
{
        int n = 0;

        for (int i = 0; i < answer->n_locations; i++) {
                const struct celeborn_location *at = &answer->locations[i];
                const int32_t old = a->newest[at->partition];

                if (at->primary < 0 || (old >= 0 && a->places.data[old].epoch >= at->epoch))
                        continue;
                a->newest[at->partition] = (int32_t)a->places.len;
                vec_push(&a->places, ((struct celeborn_place){.partition = at->partition,
                                                              .epoch = at->epoch,
                                                              .worker = {celeborn_worker_index(answer, at->primary),
                                                                         celeborn_worker_index(answer, at->replica)},
                                                              .previous = old}));
                n++;
        }
        return n;
}

/* Checks the files that readers are told: all that have data, with workers that have committed them. */
static void celeborn_check_files(struct sim *sim, struct celeborn_attempt *a, const struct celeborn_answer *answer)
{
        for (int i = 0; i < answer->n_locations; i++) {
                const struct celeborn_location *from = &answer->locations[i];
                const int32_t copies[2] = {celeborn_worker_index(answer, from->primary),
                                           celeborn_worker_index(answer, from->replica)};
                struct celeborn_place *at = celeborn_place_of(a, from->partition, from->epoch);
                bool holds = at && !at->named && (copies[0] >= 0 || copies[1] >= 0);

                for (int mode = 0; mode < 2 && holds; mode++)
                        holds = copies[mode] < 0 || (at->committed[mode] && at->worker[mode] == copies[mode]);
                if (!sim_check(sim, holds,
                               "readers of shuffle %d are told of file %d-%d, which no such worker committed",
                               a->shuffle, from->partition, from->epoch))
                        return;
                at->named = true;
                for (int mode = 0; mode < 2; mode++)
                        at->worker[mode] = copies[mode];
        }
        for (size_t i = 0; i < a->places.len; i++)
                sim_check(sim, a->places.data[i].named || !a->places.data[i].pushed,
                          "readers of shuffle %d are not told of file %d-%d, which has data", a->shuffle,
                          a->places.data[i].partition, a->places.data[i].epoch);
}

/* A shuffle may be lost if all workers of a file have died. */
static void celeborn_check_lost(struct sim *sim, const struct celeborn_attempt *a)
{
        bool dead = a->places.len == 0 || a->revived_late; /* tasks do not know all files */

        for (size_t i = 0; i < a->places.len && !dead; i++)
                dead = !celeborn_is_alive(sim, a->places.data[i].worker[0]) &&
                       !celeborn_is_alive(sim, a->places.data[i].worker[1]);
        sim_check(sim, dead, "shuffle %d is reported as lost, but every file has a living worker", a->shuffle);
}

static void celeborn_answered(struct sim *sim, uintptr_t asker, const struct celeborn_answer *answer)
{
        const enum celeborn_question_kind kind = asker % 4;
        struct celeborn_attempt *a = sim->celeborn->attempts.data[asker / 4];
        bool failed = false;

        if (!sim_check(sim, a->asked[kind], "question %d about shuffle %d is answered twice", (int)kind, a->shuffle))
                return;
        a->asked[kind] = false;
        if (a->dropped || answer->status == CELEBORN_SHUFFLE_UNREGISTERED) {
                a->dropped = true;
        } else if (kind == CELEBORN_ASK_FILES) {
                a->readable = answer->status == CELEBORN_SUCCESS;
                a->lost = answer->status == CELEBORN_SHUFFLE_DATA_LOST;
                failed = !a->readable && !a->lost;
                a->deaths_seen = 0;
                if (a->readable)
                        celeborn_check_files(sim, a, answer);
                if (a->lost)
                        celeborn_check_lost(sim, a);
        } else if (answer->status == CELEBORN_SUCCESS) {
                const int n = celeborn_learn(a, answer);
                sim_check(sim, a->located || n == a->partitions, "tasks learn of %d of %d locations of shuffle %d", n,
                          a->partitions, a->shuffle);
                a->located = true;
                sim->report->revives += kind == CELEBORN_ASK_REVIVE ? n : 0;
        } else {
                failed = answer->status != CELEBORN_STAGE_ENDED;
        }
        celeborn_wake(sim, a, failed);
}

static void celeborn_perform(struct sim *sim)
{
        for (struct lifecycle_action action; lifecycle_next_action(sim->celeborn->core, &action);) {
                if (action.kind == LIFECYCLE_SEND)
                        celeborn_send(
                                sim,
                                (struct celeborn_packet){
                                        .id = action.send.id,
                                        .worker = action.send.master ? -1 : action.send.port - CELEBORN_SERVERS_PORT,
                                        .type = action.send.type,
                                        .body = steal(action.send.body),
                                        .len = action.send.len});
                else if (action.kind == LIFECYCLE_ANSWER)
                        celeborn_answered(sim, (uintptr_t)action.answer.asker, &action.answer.answer);
                lifecycle_action_deinit(&action);
        }
}

/* --------------------------------------------------------------------------------------------------- tasks */

static void celeborn_ask(struct sim *sim, int attempt, enum celeborn_question_kind kind,
                         struct celeborn_revive *revives, int n)
{
        struct celeborn_attempt *a = sim->celeborn->attempts.data[attempt];
        struct celeborn_question question = {.kind = kind, .shuffle = attempt, .revives = revives, .n = n};

        a->asked[kind] = true;
        lifecycle_ask(sim->celeborn->core, (void *)((uintptr_t)attempt * 4 + kind), &question, sim->now);
        celeborn_perform(sim);
}

static void celeborn_wait(struct sim *sim, struct celeborn_attempt *a, int run)
{
        vec_push(&a->waiters, ((struct celeborn_waiter){run, sim->runs.data[run].generation}));
        sim->celeborn->waiting++;
}

/* Tasks that wait go on, or fail. */
static void celeborn_wake(struct sim *sim, struct celeborn_attempt *a, bool failed)
{
        for (size_t i = 0; i < a->waiters.len; i++) {
                const struct celeborn_waiter *w = &a->waiters.data[i];
                const struct sim_run *run = &sim->runs.data[w->run];

                if (run->generation != w->generation)
                        continue;
                if (failed)
                        sim->tasks.data[run->first_id + run->at].outcome = TASK_FAILED;
                sim_at(sim, celeborn_delay(sim), SIM_STEP, w->run, w->generation);
        }
        sim->celeborn->waiting -= (int)a->waiters.len;
        a->waiters.len = 0;
}

/* Whether the files that readers were told are at living workers. */
static bool celeborn_is_readable(const struct sim *sim, struct celeborn_attempt *a)
{
        for (size_t i = 0; i < a->places.len && a->deaths_seen < sim->celeborn->deaths; i++) {
                const struct celeborn_place *at = &a->places.data[i];

                if (at->named && !celeborn_is_alive(sim, at->worker[0]) && !celeborn_is_alive(sim, at->worker[1]))
                        return false;
        }
        a->deaths_seen = sim->celeborn->deaths;
        return true;
}

static enum celeborn_read celeborn_read(struct sim *sim, int attempt, int run)
{
        struct celeborn_attempt *a = sim->celeborn->attempts.data[attempt];

        if (a->dropped || a->lost || (a->readable && !celeborn_is_readable(sim, a)))
                return READ_LOST;
        if (a->readable)
                return READ_READY;
        celeborn_wait(sim, a, run);
        if (!a->asked[CELEBORN_ASK_FILES])
                celeborn_ask(sim, attempt, CELEBORN_ASK_FILES, NULL, 0);
        return READ_WAITS;
}

/* The newest places with a dead worker, as a question; *@n of them. NULL: there are none. */
static struct celeborn_revive *celeborn_dead_places(const struct sim *sim, struct celeborn_attempt *a, int *n)
{
        struct celeborn_revive *revives = NULL;

        *n = 0;
        for (int p = 0; p < a->partitions && a->deaths_seen < sim->celeborn->deaths; p++) {
                const struct celeborn_place *at = &a->places.data[a->newest[p]];
                const bool primary = celeborn_is_alive(sim, at->worker[0]);

                if (primary && (at->worker[1] < 0 || celeborn_is_alive(sim, at->worker[1])))
                        continue;
                if (!revives)
                        revives = new_array(struct celeborn_revive, (size_t)a->partitions);
                revives[(*n)++] = (struct celeborn_revive){-1, p, at->epoch,
                                                           primary ? CELEBORN_PUSH_CONNECTION_EXCEPTION_REPLICA
                                                                   : CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY};
        }
        if (!revives)
                a->deaths_seen = sim->celeborn->deaths;
        return revives;
}

/* A map task has computed. Returns true if it must wait before it pushes; sets *@failed if it cannot push. */
static bool celeborn_push(struct sim *sim, int attempt, int run, bool *failed)
{
        struct celeborn_attempt *a = sim->celeborn->attempts.data[attempt];
        struct celeborn_revive *revives;
        int n;

        if (a->dropped) { /* workers refuse it */
                *failed = true;
                return false;
        }
        if (a->ended) /* what it would push is not read */
                return false;
        if (!a->located || a->asked[CELEBORN_ASK_REVIVE]) {
                celeborn_wait(sim, a, run);
                if (!a->located && !a->asked[CELEBORN_ASK_LOCATIONS])
                        celeborn_ask(sim, attempt, CELEBORN_ASK_LOCATIONS, NULL, 0);
                return true;
        }
        if ((revives = celeborn_dead_places(sim, a, &n))) {
                if (a->revives++ == MAX_REVIVES) {
                        a->revives = 0;
                        free(revives);
                        *failed = true;
                        return false;
                }
                celeborn_wait(sim, a, run);
                celeborn_ask(sim, attempt, CELEBORN_ASK_REVIVE, revives, n);
                return true;
        }
        a->revives = 0;
        for (; a->fresh < a->places.len; a->fresh++) {
                struct celeborn_place *at = &a->places.data[a->fresh];

                at->pushed = a->newest[at->partition] == (int32_t)a->fresh;
        }
        return false;
}

/* A task of a running attempt at a stage would fail each time if its shuffle were removed. */
static void celeborn_check_written(struct sim *sim, const struct sim_set *set, int64_t task_id)
{
        struct task_attempt_info info;

        if (sim->celeborn->attempts.data[set->attempt_written]->dropped && sched_task(sim->s, task_id, &info))
                sim_check(sim, info.set->zombie || info.set->stage->set != info.set,
                          "Celeborn shuffle %d was removed, but stage %s writes to it", set->attempt_written,
                          info.set->id);
}

bool sim_celeborn_waits(struct sim *sim, int index, int64_t task_id)
{
        struct sim_set *set = sim->runs.data[index].set;
        struct sim_task *task = &sim->tasks.data[task_id];
        bool failed = false;

        if (!sim->celeborn || task->kill_came || task->outcome != TASK_SUCCEEDED || task->commit != SIM_COMMIT_NONE)
                return false;
        for (int i = 0; i < set->n_inputs; i++) {
                const enum celeborn_read read = celeborn_read(sim, set->inputs[i].attempt, index);

                if (read == READ_WAITS)
                        return true;
                if (read == READ_READY)
                        continue;
                set->dead_input = i;
                set->dead_map = 0;
                task->outcome = TASK_FETCH_FAILED;
                return false;
        }
        if (!set->result)
                celeborn_check_written(sim, set, task_id);
        if (!set->result && celeborn_push(sim, set->attempt_written, index, &failed))
                return true;
        if (failed)
                task->outcome = TASK_FAILED;
        return false;
}

/* -------------------------------------------------------------------------------------------------- driver */

static int32_t *celeborn_current(struct sim *sim, int shuffle)
{
        while (sim->celeborn->current.len <= (size_t)shuffle)
                vec_push(&sim->celeborn->current, -1);
        return &sim->celeborn->current.data[shuffle];
}

bool sim_celeborn_has_output(struct sim *sim, int64_t task_id)
{
        const struct sim_set *set = sim->runs.data[sim->tasks.data[task_id].run].set;
        struct task_attempt_info info;

        return !sim->celeborn || !sched_task(sim->s, task_id, &info) ||
               *celeborn_current(sim, info.set->stage->shuffle->shuffle_id) == set->attempt_written;
}

static void celeborn_drop(struct sim *sim, int shuffle)
{
        int32_t *current = celeborn_current(sim, shuffle);

        if (*current < 0)
                return;
        sim->celeborn->attempts.data[*current]->dropped = true;
        lifecycle_drop(sim->celeborn->core, *current, sim->now);
        *current = -1;
        celeborn_perform(sim);
}

void sim_celeborn_clean(struct sim *sim, int shuffle)
{
        const struct shuffle *known = dag_shuffle(sim->s, shuffle);

        if (known && known->stage)
                return;
        sched_unregister_shuffle(sim->s, shuffle);
        celeborn_drop(sim, shuffle);
}

void sim_celeborn_begin(struct sim *sim, struct sim_set *s, const struct stage *stage)
{
        const int shuffle = stage->outputs->shuffle_id;
        int32_t *current = celeborn_current(sim, shuffle);

        if (*current >= 0 && sim->celeborn->attempts.data[*current]->ended) /* its outputs are computed again */
                celeborn_drop(sim, shuffle);
        if (*current < 0) {
                struct celeborn_attempt *a = new0(struct celeborn_attempt);

                *current = (int32_t)sim->celeborn->attempts.len;
                a->shuffle = shuffle;
                a->maps = stage->outputs->n;
                a->partitions = MAX(stage->shuffle->reduce_partitions, 1);
                a->newest = new_array(int32_t, (size_t)a->partitions);
                memset(a->newest, -1, sizeof(*a->newest) * (size_t)a->partitions);
                vec_push(&sim->celeborn->attempts, a);
                lifecycle_begin(sim->celeborn->core, *current, a->maps, a->partitions, sim->now);
                celeborn_perform(sim);
        }
        s->attempt_written = *current;
}

void sim_celeborn_maps_ended(struct sim *sim, struct sim_input *input, const struct map_outputs *from)
{
        input->attempt = *celeborn_current(sim, from->shuffle_id);
        if (!sim_check(sim, input->attempt >= 0, "a stage reads shuffle %d, which Celeborn does not have",
                       from->shuffle_id))
                return;
        struct celeborn_attempt *a = sim->celeborn->attempts.data[input->attempt];

        for (int m = 0; m < from->n; m++) {
                const int attempt = sim->outputs.data[(from->at[m].handle & ~MAP_OUTPUT_STORED) - 1].attempt;

                sim_check(sim, attempt == input->attempt,
                          "a stage reads output %d of shuffle %d from attempt %d, but the newest is %d", m,
                          from->shuffle_id, attempt, input->attempt);
        }
        if (a->ended)
                return;
        _cleanup_free_ int32_t *attempts = new_array(int32_t, (size_t)from->n + 1);

        a->ended = true;
        a->revived_late = a->asked[CELEBORN_ASK_REVIVE];
        sim->report->shuffles_committed++;
        lifecycle_maps_ended(sim->celeborn->core, input->attempt, attempts, sim->now);
        celeborn_perform(sim);
}

bool sim_celeborn_lost(struct sim *sim, const struct sim_set *set)
{
        const int i = set->dead_input < 0 ? 0 : set->dead_input;
        const int64_t removed = sim->report->outputs_removed;
        const int shuffle = set->inputs[i].shuffle_id;

        if (*celeborn_current(sim, shuffle) != set->inputs[i].attempt)
                return false;
        celeborn_drop(sim, shuffle);
        sched_unregister_shuffle(sim->s, shuffle);
        sim->report->shuffles_lost++;
        sim->report->maps_again += sim->report->outputs_removed - removed;
        return true;
}

int64_t sim_celeborn_deadline(const struct sim *sim)
{
        return sim->celeborn && sim->celeborn->waiting > 0 ? lifecycle_deadline(sim->celeborn->core) : INT64_MAX;
}

void sim_celeborn_tick(struct sim *sim)
{
        lifecycle_tick(sim->celeborn->core, sim->now);
        celeborn_perform(sim);
}

/* ------------------------------------------------------------------------------------------- begin and end */

void sim_celeborn_draw(struct simulator_options *o)
{
        o->celeborn.workers = 2 + (int)(o->seed / 2 % 4);
        o->celeborn.replicate = o->seed / 8 % 2;
        o->celeborn.dynamic = o->seed / 16 % 2;
        o->celeborn.dynamic_factor = (double)(o->seed / 32 % 5) / 4;
        o->celeborn.deaths = o->seed % 3 ? 60e9 / ((double)o->task_ns * (double)(10 + o->seed % 50)) : 0;
}

void sim_celeborn_new(struct sim *sim)
{
        static const struct lifecycle_master master = {(char *)"master", 9097};
        const int64_t ms = sim->o.random ? MAX(sim->o.task_ns / 1000, (int64_t)1) : NS_PER_MS;
        const struct celeborn_config config = {.app_id = "simulated",
                                               .hostname = "driver",
                                               .tenant = "default",
                                               .user = "default",
                                               .tags = "",
                                               .masters = &master,
                                               .n_masters = 1,
                                               .replicate = sim->o.celeborn.replicate,
                                               .dynamic = sim->o.celeborn.dynamic,
                                               .dynamic_factor = sim->o.celeborn.dynamic_factor,
                                               .split_threshold = 1 << 30,
                                               .max_workers = 10000,
                                               .heartbeat = 10000 * ms,
                                               .revive_interval = 100 * ms,
                                               .excluded_timeout = 180000 * ms,
                                               .master_timeout = 60000 * ms,
                                               .reserve_timeout = 60000 * ms,
                                               .commit_timeout = 60000 * ms,
                                               .master_wait = 100 * ms,
                                               .register_wait = 3000 * ms,
                                               .commit_wait = 10000 * ms,
                                               .master_retries = 15,
                                               .register_retries = 3,
                                               .reserve_retries = 3,
                                               .commit_retries = 4,
                                               .stop_timeout = 3000 * ms};
        struct sim_celeborn *c = sim->celeborn = new0(struct sim_celeborn);

        c->ms = ms;
        c->life_ns = sim->o.celeborn.deaths > 0 ? (int64_t)(60e9 / sim->o.celeborn.deaths) : 0;
        for (int i = 0; i < sim->o.celeborn.workers; i++)
                sim_celeborn_add_worker(sim);
        c->core = lifecycle_new(&config, sim->now);
        celeborn_perform(sim);
}

void sim_celeborn_free(struct sim *sim)
{
        struct sim_celeborn *c = sim->celeborn;

        if (!c)
                return;
        while (event_queue_time(&sim->queue) < INT64_MAX) {
                const struct event event = event_queue_pop(&sim->queue);

                if (event.kind == SIM_CELEBORN)
                        celeborn_packet_free((struct celeborn_packet *)(intptr_t)event.number);
        }
        for (size_t i = 0; i < c->attempts.len; i++) {
                vec_deinit(&c->attempts.data[i]->places);
                vec_deinit(&c->attempts.data[i]->waiters);
                free(c->attempts.data[i]->newest);
                free(c->attempts.data[i]);
        }
        vec_deinit(&c->attempts);
        vec_deinit(&c->workers);
        vec_deinit(&c->current);
        lifecycle_free(c->core);
        free(c);
        sim->celeborn = NULL;
}
