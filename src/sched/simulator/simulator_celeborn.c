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
 * A driver may die: simulator_celeborn_drivers.c.
 *
 * Messages between driver and servers take time, and none is lost while its server lives: lifecycle_worlds_test.c loses
 * and repeats them.
 */
#include "sched/simulator/simulator_celeborn.h"

#include "base/clock.h"
#include "base/mem.h"
#include "celeborn/lifecycle/celeborn_servers.h"
#include "celeborn/lifecycle/lifecycle_journal.h"
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

static int64_t celeborn_delay(struct sim *sim)
{
        return sim_spread(sim, MAX((int64_t)(MESSAGE_MS * (double)sim->celeborn->ms), (int64_t)1));
}

static void celeborn_wake(struct sim *sim, struct celeborn_attempt *a, bool failed);

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

void celeborn_plan_death(struct sim *sim, int worker)
{
        if (sim->celeborn->life_ns > 0 && worker < MAX_WORKERS)
                sim_at(sim, sim_lifetime(sim, sim->celeborn->life_ns), SIM_WORKER_DIE, worker, 0);
}

void sim_celeborn_add_worker(struct sim *sim)
{
        struct sim_celeborn *c = sim->celeborn;

        vec_push(&c->workers, (struct celeborn_worker_state){0});
        sim->report->workers++;
        celeborn_plan_death(sim, (int)c->workers.len - 1);
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

void celeborn_packet_free(struct celeborn_packet *m)
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
void celeborn_serve(struct sim *sim, const struct celeborn_packet *m)
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
                memcpy(at->readable, copies, sizeof(copies));
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
                for (int p = 0; p < a->partitions && !a->located; p++)
                        sim_check(sim, a->newest[p] >= 0, "tasks learn of no location of partition %d of shuffle %d", p,
                                  a->shuffle);
                a->located = true;
                sim->report->revives += kind == CELEBORN_ASK_REVIVE ? n : 0;
        } else {
                failed = answer->status != CELEBORN_STAGE_ENDED;
        }
        celeborn_wake(sim, a, failed);
}

void celeborn_perform(struct sim *sim)
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
                else if (action.kind == LIFECYCLE_JOURNAL)
                        celeborn_journal(sim, &action.journal.record, action.journal.strict);
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

                if (at->named && !celeborn_is_alive(sim, at->readable[0]) && !celeborn_is_alive(sim, at->readable[1]))
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

                if (a->newest[at->partition] != (int32_t)a->fresh)
                        continue;
                at->pushed = true;
                sim_check(sim, !at->committed[0] && !at->committed[1],
                          "a map pushes to file %d-%d of shuffle %d, which a worker has committed", at->partition,
                          at->epoch, a->shuffle);
        }
        return false;
}

/* A task of a running attempt at a stage would fail each time if its shuffle were removed. */
static void celeborn_check_written(struct sim *sim, const struct sim_run *run, int64_t task_id)
{
        const struct sim_set *set = run->set;
        struct task_attempt_info info;

        if (run->attempt == set->attempt_written && sim->celeborn->attempts.data[run->attempt]->dropped &&
            sched_task(sim->s, task_id, &info))
                sim_check(sim, info.set->zombie || info.set->stage->set != info.set,
                          "Celeborn shuffle %d was removed, but stage %s writes to it", set->attempt_written,
                          info.set->id);
}

bool sim_celeborn_waits(struct sim *sim, int index, int64_t task_id)
{
        const struct sim_run *run = &sim->runs.data[index];
        struct sim_set *set = run->set;
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
                celeborn_check_written(sim, run, task_id);
        if (!set->result && celeborn_push(sim, run->attempt, index, &failed))
                return true;
        if (failed)
                task->outcome = TASK_FAILED;
        return false;
}

/* -------------------------------------------------------------------------------------------------- driver */

struct celeborn_newest *celeborn_newest_of(struct sim_celeborn *c, int shuffle)
{
        while (c->newest.len <= (size_t)shuffle)
                vec_push(&c->newest, ((struct celeborn_newest){.attempt = -1}));
        return &c->newest.data[shuffle];
}

bool sim_celeborn_has_output(struct sim *sim, int64_t task_id)
{
        const struct sim_run *run = &sim->runs.data[sim->tasks.data[task_id].run];
        struct task_attempt_info info;

        return !sim->celeborn || !sched_task(sim->s, task_id, &info) ||
               celeborn_newest_of(sim->celeborn, info.set->stage->shuffle->shuffle_id)->attempt == run->attempt;
}

static void celeborn_drop(struct sim *sim, int shuffle)
{
        struct celeborn_newest *newest = celeborn_newest_of(sim->celeborn, shuffle);
        const int32_t attempt = newest->attempt;

        if (attempt < 0)
                return;
        *newest = (struct celeborn_newest){.attempt = -1};
        sim->celeborn->attempts.data[attempt]->dropped = true;
        lifecycle_drop(sim->celeborn->core, attempt, sim->now);
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

/* Begins an attempt at a shuffle. */
static void celeborn_begin(struct sim *sim, int shuffle, int maps, int partitions)
{
        struct celeborn_attempt *a = new0(struct celeborn_attempt);
        const struct lifecycle_past_shuffle past = {.number = (int32_t)sim->celeborn->attempts.len,
                                                    .shuffle = shuffle,
                                                    .maps = maps,
                                                    .partitions = partitions};
        struct buf record = BUF_INIT;

        celeborn_newest_of(sim->celeborn, shuffle)->attempt = past.number;
        a->shuffle = shuffle;
        a->maps = maps;
        a->partitions = partitions;
        a->newest = new_array(int32_t, (size_t)partitions);
        memset(a->newest, -1, sizeof(*a->newest) * (size_t)partitions);
        vec_push(&sim->celeborn->attempts, a);
        lifecycle_record_shuffle(&record, &past);
        celeborn_journal(sim, &record, false);
        lifecycle_begin(sim->celeborn->core, past.number, maps, partitions, sim->now);
        celeborn_perform(sim);
}

void sim_celeborn_begin(struct sim *sim, struct sim_set *s, const struct stage *stage)
{
        const int shuffle = stage->outputs->shuffle_id, maps = stage->outputs->n;
        const int partitions = MAX(stage->shuffle->reduce_partitions, 1);
        const struct celeborn_newest *newest = celeborn_newest_of(sim->celeborn, shuffle);
        const struct celeborn_attempt *a = newest->attempt < 0 ? NULL : sim->celeborn->attempts.data[newest->attempt];
        const bool other = a && newest->earlier && (!newest->adopted || a->maps != maps || a->partitions != partitions);

        if (a && (a->ended || other)) /* its outputs are computed again */
                celeborn_drop(sim, shuffle);
        if (celeborn_newest_of(sim->celeborn, shuffle)->attempt < 0)
                celeborn_begin(sim, shuffle, maps, partitions);
        s->attempt_written = celeborn_newest_of(sim->celeborn, shuffle)->attempt;
}

/* Checks that a stage reads what the maps wrote that had succeeded when their shuffle was committed. */
static void celeborn_check_maps(struct sim *sim, const struct celeborn_attempt *a, int attempt,
                                const struct map_outputs *from)
{
        for (int m = 0; m < from->n; m++) {
                const struct sim_output *output = &sim->outputs.data[(from->at[m].handle & ~MAP_OUTPUT_STORED) - 1];

                sim_check(sim, output->attempt == attempt,
                          "a stage reads output %d of shuffle %d from attempt %d, but the newest is %d", m,
                          from->shuffle_id, output->attempt, attempt);
                sim_check(sim, !a->written_by || a->written_by[m] == output->task,
                          "shuffle %d is committed with the output of task %lld, but a stage reads that of task %lld",
                          from->shuffle_id, (long long)a->written_by[m], (long long)output->task);
        }
}

void sim_celeborn_maps_ended(struct sim *sim, struct sim_input *input, const struct map_outputs *from)
{
        input->attempt = celeborn_newest_of(sim->celeborn, from->shuffle_id)->attempt;
        if (!sim_check(sim, input->attempt >= 0, "a stage reads shuffle %d, which Celeborn does not have",
                       from->shuffle_id))
                return;
        struct celeborn_attempt *a = sim->celeborn->attempts.data[input->attempt];

        celeborn_check_maps(sim, a, input->attempt, from);
        if (a->ended || sim->broken)
                return;
        _cleanup_free_ int32_t *attempts = new_array(int32_t, (size_t)from->n + 1);

        a->written_by = new_array(int64_t, (size_t)from->n + 1);
        for (int m = 0; m < from->n; m++) {
                a->written_by[m] = sim->outputs.data[(from->at[m].handle & ~MAP_OUTPUT_STORED) - 1].task;
                attempts[m] = (int32_t)a->written_by[m];
        }
        a->ended = true;
        a->revived_late |= a->asked[CELEBORN_ASK_REVIVE];
        sim->report->shuffles_committed++;
        lifecycle_maps_ended(sim->celeborn->core, input->attempt, attempts, sim->now);
        celeborn_perform(sim);
}

bool sim_celeborn_lost(struct sim *sim, const struct sim_set *set)
{
        const int i = set->dead_input < 0 ? 0 : set->dead_input;
        const int64_t removed = sim->report->outputs_removed;
        const int shuffle = set->inputs[i].shuffle_id;

        if (celeborn_newest_of(sim->celeborn, shuffle)->attempt != set->inputs[i].attempt)
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
                                               .journaled = sim->o.journal != NULL,
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
        struct sim_celeborn *c = sim->celeborn = celeborn_take_servers(sim);

        c->ms = ms;
        c->life_ns = sim->o.celeborn.deaths > 0 ? (int64_t)(60e9 / sim->o.celeborn.deaths) : 0;
        int living = 0;
        for (int i = 0; i < (int)c->workers.len; i++)
                if (!c->workers.data[i].dead) {
                        celeborn_plan_death(sim, i);
                        living++;
                }
        for (; living < sim->o.celeborn.workers; living++)
                sim_celeborn_add_worker(sim);
        c->core = lifecycle_new(&config, sim->now);
        celeborn_perform(sim);
}

void sim_celeborn_release(struct sim_celeborn *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->attempts.len; i++) {
                vec_deinit(&c->attempts.data[i]->places);
                vec_deinit(&c->attempts.data[i]->waiters);
                free(c->attempts.data[i]->newest);
                free(c->attempts.data[i]->written_by);
                free(c->attempts.data[i]);
        }
        vec_deinit(&c->attempts);
        vec_deinit(&c->workers);
        vec_deinit(&c->newest);
        lifecycle_free(c->core);
        free(c);
}

void sim_celeborn_free(struct sim *sim)
{
        if (!sim->celeborn)
                return;
        if (sim->o.journal && sim->stop_at > 0 && !sim->broken)
                celeborn_leave_servers(sim);
        while (event_queue_time(&sim->queue) < INT64_MAX) {
                const struct event event = event_queue_pop(&sim->queue);

                if (event.kind == SIM_CELEBORN)
                        celeborn_packet_free((struct celeborn_packet *)(intptr_t)event.number);
        }
        sim_celeborn_release(sim->celeborn);
        sim->celeborn = NULL;
}
