/*
 * The clock, the network and the executors of a simulation.
 *
 * One iteration is that of a driver's loop: it receives messages, passes them to the scheduler, and lets it assign
 * tasks to free cores once. All statuses of one iteration are passed in one call.
 *
 * Faults happen between executors and driver. The driver learns of a dead executor later. A task that reads from a dead
 * executor fails even before the driver knows. A message is late, repeated, or lost together with its connection, and
 * then the executor is lost too. A dead executor is replaced after a while.
 */
#include "sched/simulator/simulator.h"

#include "base/hash_table.h"
#include "base/log2_int.h"
#include "sched/simulator/simulation.h"

#include <stdio.h>

enum { NETWORK_NS = 200000, TURN_NS = 50000 };

/* ------------------------------------------------------------------------------------------------- chance */

static uint64_t simulator_draw(struct sim *sim)
{
        return object_hash_number(sim->random += 0x9e3779b97f4a7c15u);
}

uint32_t sim_roll(struct sim *sim, uint32_t sides)
{
        return (uint32_t)(((simulator_draw(sim) >> 32) * sides) >> 32);
}

static double simulator_unit(uint64_t bits)
{
        return (double)(bits >> 11) * 0x1p-53;
}

bool sim_chance(struct sim *sim, double chance)
{
        return chance > 0 && simulator_unit(simulator_draw(sim)) < chance;
}

uint64_t sim_hash(const struct sim *sim, uint64_t a, uint64_t b, uint64_t c)
{
        return object_hash_number(object_hash_number(object_hash_number(sim->o.seed * 0x9e3779b97f4a7c15u + a) +
                                                     b * 0xd1342543de82ef95u) +
                                  c);
}

int64_t sim_spread(struct sim *sim, int64_t mean)
{
        return mean <= 0 ? 0 : (int64_t)((double)mean * (0.5 + simulator_unit(simulator_draw(sim))));
}

bool sim_mishap(struct sim *sim, double chance)
{
        return chance > 0 && sim->now < sim->calm_at && simulator_unit(simulator_draw(sim)) < chance;
}

/* Returns a task's duration, derived from its id, so that it need not be stored. */
static int64_t task_ns(const struct sim *sim, int64_t id)
{
        uint64_t dice = object_hash_number(sim->o.seed * 0x9e3779b97f4a7c15u + (uint64_t)id * 0xd1342543de82ef95u + 1);
        double factor = 0.5 + simulator_unit(dice);

        if (sim->o.stragglers > 0 && simulator_unit(object_hash_number(dice + 1)) < sim->o.stragglers)
                factor *= sim->o.straggler_factor;
        return (int64_t)((double)sim->o.task_ns * factor) + 1;
}

/* ------------------------------------------------------------------------------------------- the scheduler */

static int64_t clock_of(const struct sim *sim)
{
        return sim->o.clock ? sim->o.clock() : 0;
}

/* Adds the time of a call that began at @since. */
static void simulator_decided(struct sim *sim, int64_t since)
{
        sim->report->decisions++;
        if (sim->o.clock)
                sim->report->decision_ns += sim->o.clock() - since;
}

static void tell_statuses(struct sim *sim)
{
        int n = sim->batched;

        if (n == 0)
                return;
        sim->batched = 0;
        int64_t since = clock_of(sim);

        sched_update_status(sim->s, sim->batch, n, sim->now);
        simulator_decided(sim, since);
        for (int i = 0; i < n; i++)
                sim->tasks.data[sim->batch[i].task_id].telling = false;
}

/* ------------------------------------------------------------------------------------------------ network */

int64_t sim_travel(struct sim *sim, bool *twice)
{
        int64_t delay = sim_spread(sim, NETWORK_NS);

        if (twice)
                *twice = false;
        if (!sim_mishap(sim, sim->o.loss))
                return delay;
        switch (sim_roll(sim, twice ? 3 : 2)) {
        case 0:
                sim->report->messages_lost++;
                return -1;
        case 1:
                sim->report->messages_late++;
                return delay + sim_spread(sim, sim->o.task_ns);
        default:
                sim->report->messages_twice++;
                *twice = true;
                return delay;
        }
}

int64_t sim_lifetime(struct sim *sim, int64_t mean)
{
        return (int64_t)(-natural_log(1 - simulator_unit(simulator_draw(sim))) * (double)mean);
}

/* Starts the batch's current task after @delay. */
static void begin_task(struct sim *sim, int index, int64_t delay)
{
        struct sim_run *run = &sim->runs.data[index];
        int64_t id = run->first_id + run->at;
        struct sim_task *task = &sim->tasks.data[id];
        bool gone = sim_input_gone(sim, run->set);
        int64_t ns = gone || task->kill_came ? 1000 : task_ns(sim, id);

        task->outcome = gone ? TASK_FETCH_FAILED : TASK_SUCCEEDED;
        sim_at(sim, delay + ns, SIM_STEP, index, run->generation);
}

void sim_send_run(struct sim *sim, int index)
{
        struct sim_run *run = &sim->runs.data[index];
        int64_t delay = sim_travel(sim, NULL);

        run->each = sim->o.random && sim_roll(sim, 2);
        if (!sim->executors.data[run->executor].works)
                return;
        if (delay < 0)
                sim_at(sim, 0, SIM_DIE, run->executor, 0);
        else
                begin_task(sim, index, delay);
}

void sim_send_kill(struct sim *sim, int64_t task_id)
{
        int64_t delay = sim_travel(sim, NULL);

        if (delay < 0)
                sim_at(sim, 0, SIM_DIE, sim->runs.data[sim->tasks.data[task_id].run].executor, 0);
        else
                sim_at(sim, delay, SIM_KILL, 0, task_id);
}

/* Sends the statuses of @n tasks from @first to the driver. */
static void send_statuses(struct sim *sim, int executor, int64_t first, int n)
{
        bool twice;
        int64_t delay = sim_travel(sim, &twice);

        if (delay < 0) {
                sim_at(sim, 0, SIM_DIE, executor, 0);
                return;
        }
        sim_at(sim, delay, SIM_STATUS, n, first);
        if (twice)
                sim_at(sim, delay + sim_spread(sim, NETWORK_NS), SIM_STATUS, n, first);
}

/* ----------------------------------------------------------------------------------------------- executors */

void sim_add_executor(struct sim *sim, int host, int cores, int profile)
{
        char id[24], name[24];
        int index = (int)sim->executors.len;

        if (cores == 0 && !sim->o.random)
                cores = sim->o.cores;
        else if (cores == 0)
                cores = sim->o.config.task_cpus * (1 + (int)sim_roll(sim, (uint32_t)cores)) + (int)sim_roll(sim, 2);
        cores = MAX(cores, profile ? sim->profiles[profile].cpus : 0);
        snprintf(id, sizeof(id), "%d", index);
        snprintf(name, sizeof(name), "host%d", host);
        vec_push(&sim->executors, (struct sim_executor){.host = host,
                                                        .cores = cores,
                                                        .profile = profile,
                                                        .first = -1,
                                                        .known = true,
                                                        .works = true,
                                                        .enabled = true,
                                                        .usable_since = sim->report->events});
        sim->report->executors++;
        sim->n_known++;
        int64_t since = clock_of(sim);
        int got = sim_register(sim, id, name, cores, profile);

        simulator_decided(sim, since);
        sim_check(sim, got == index, "executor %d got the index %d", index, got);
        if (sim->o.messages)
                sim->o.messages->executor_added(sim->o.messages->owner, index, id, name, cores);
        if (sim->life_ns > 0 && sim->now < sim->calm_at)
                sim_at(sim, sim_lifetime(sim, sim->life_ns), SIM_DIE, index, 1);
}

bool sim_input_gone(struct sim *sim, struct sim_set *set)
{
        if (set->dead_input >= 0)
                return true;
        for (; set->deaths_seen < sim->deaths.len; set->deaths_seen++)
                for (int i = 0; i < set->n_inputs; i++)
                        for (int m = 0; m < set->inputs[i].n; m++)
                                if (set->inputs[i].executors[m] == sim->deaths.data[set->deaths_seen]) {
                                        set->dead_input = i;
                                        set->dead_map = m;
                                        return true;
                                }
        return false;
}

static void simulator_die(struct sim *sim, int executor)
{
        struct sim_executor *e = &sim->executors.data[executor];
        int64_t notice = NETWORK_NS;

        if (!e->works)
                return;
        e->works = false;
        if (!sim->o.config.outputs_outlive_executors && !sim_outputs_are_stored(sim))
                vec_push(&sim->deaths, executor);
        for (int run = e->first; run >= 0; run = sim->runs.data[run].next)
                sim->runs.data[run].generation++;
        if (sim_roll(sim, 2)) /* it hangs, detected only by its missing heartbeats */
                notice += sim_spread(sim, sim->o.task_ns * 2);
        sim_at(sim, notice, SIM_NOTICE, executor, 0);
}

static void on_notice(struct sim *sim, int executor)
{
        struct sim_executor *e = &sim->executors.data[executor];
        int host = e->host, profile = e->profile;

        if (sim->o.messages)
                sim->o.messages->executor_lost(sim->o.messages->owner, executor);
        int64_t since = clock_of(sim);

        sim->report->executors_lost++;
        sched_executor_lost(sim->s, executor, sim_roll(sim, 2), "the connection was lost", sim->now);
        simulator_decided(sim, since);
        e->known = false;
        sim->n_known--;
        sim_check_lost(sim, executor);
        /* a random cluster may shrink, but not become empty */
        if (!sim->o.random || sim->keeps_size || sim->n_known == 0 || sim->n_profiles > 0 || sim_roll(sim, 4))
                sim_at(sim, sim_spread(sim, sim->o.task_ns), SIM_ADD, host,
                       (sim->keeps_size ? e->cores : 0) + (int64_t)profile * SIM_PROFILE);
}

static void on_die(struct sim *sim, int executor, bool may_leave)
{
        struct sim_executor *e = &sim->executors.data[executor];

        if (may_leave && sim->now >= sim->calm_at)
                return;
        if (may_leave && e->enabled && e->works && sim->o.random && sim_roll(sim, 8) == 0) { /* silent for a while */
                sim_at(sim, 0, SIM_DISABLE, executor, 0);
                sim_at(sim, 1 + sim_spread(sim, sim->o.task_ns * 2), SIM_ENABLE, executor, 0);
                return;
        }
        if (may_leave && e->enabled && e->works && sim->o.random && sim_roll(sim, 4) == 0) {
                sim_at(sim, 0, SIM_DISABLE, executor, 0); /* decommissioned: gets no more tasks, and ends later */
                sim_at(sim, sim_spread(sim, sim->o.task_ns * 2), SIM_DIE, executor, 0);
                return;
        }
        simulator_die(sim, executor);
}

static void on_disable(struct sim *sim, int executor)
{
        struct sim_executor *e = &sim->executors.data[executor];

        if (!e->known || !e->enabled)
                return;
        sim->report->executors_disabled++;
        e->enabled = false;
        sched_disable_executor(sim->s, executor);
}

static void on_enable(struct sim *sim, int executor)
{
        struct sim_executor *e = &sim->executors.data[executor];

        if (!e->known || e->enabled)
                return;
        e->enabled = true;
        e->usable_since = sim->report->events;
        sched_enable_executor(sim->s, executor);
}

/* ----------------------------------------------------------------------------------- tasks on an executor */

static enum task_state simulator_outcome(struct sim *sim, const struct sim_run *run, const struct sim_task *task)
{
        if (run->set->save >= 0 && task->commit == SIM_COMMIT_DONE)
                return TASK_SUCCEEDED;
        if (run->set->save >= 0 && !task->kill_came && task->outcome != TASK_FETCH_FAILED)
                return task->commit == SIM_COMMIT_DENIED ? TASK_COMMIT_DENIED : TASK_FAILED;
        if (task->kill_came)
                return sim->o.random && run->set->save < 0 && sim_roll(sim, 4) == 0 ? TASK_SUCCEEDED : TASK_KILLED;
        if (task->outcome == TASK_FETCH_FAILED || task->outcome == TASK_FAILED)
                return (enum task_state)task->outcome;
        if (run->set->n_inputs > 0 && sim_mishap(sim, sim->o.fetch_failures))
                return TASK_FETCH_FAILED;
        if (!sim_mishap(sim, sim->o.task_failures))
                return TASK_SUCCEEDED;
        switch (sim->o.random ? sim_roll(sim, 16) : 0) {
        case 1:
                return TASK_COMMIT_DENIED;
        case 2:
                return TASK_KILLED;
        case 3:
                return TASK_FAILED_FATAL;
        default:
                return TASK_FAILED;
        }
}

/* All tasks of a batch of map tasks have computed: gives the core back, unless too many batches are being stored. */
static void simulator_store_outputs(struct sim *sim, int index)
{
        struct sim_run *run = &sim->runs.data[index];
        struct sim_executor *e = &sim->executors.data[run->executor];
        bool twice = false;
        int64_t delay = 0;

        run->storing = e->storing < e->cores;
        e->storing += run->storing;
        if (run->storing)
                delay = sim_travel(sim, &twice);
        if (delay < 0) {
                sim_at(sim, 0, SIM_DIE, run->executor, 0);
                return;
        }
        for (int i = 0; i < run->storing + twice; i++)
                sim_at(sim, delay + i, SIM_COMPUTED, 0, run->first_id);
        sim_at(sim, sim_spread(sim, sim->o.task_ns), SIM_STORED, index, run->generation);
}

static void on_stored(struct sim *sim, int index, int64_t generation)
{
        struct sim_run *run = &sim->runs.data[index];

        if (run->generation != (uint32_t)generation)
                return;
        sim->executors.data[run->executor].storing -= run->storing;
        send_statuses(sim, run->executor, run->first_id, run->n);
}

/* The scheduler ignores it if the batch has ended or is lost. */
static void on_computed(struct sim *sim, int64_t first_id)
{
        int index = sim->tasks.data[first_id].run;

        if (index >= 0)
                sim_profiles_give(&sim->executors.data[sim->runs.data[index].executor], &sim->runs.data[index]);
        sched_release_core(sim->s, first_id, sim->now);
}

static void simulator_on_step(struct sim *sim, int index, int64_t generation)
{
        struct sim_run *run = &sim->runs.data[index];

        if (run->generation != (uint32_t)generation)
                return;
        int64_t id = run->first_id + run->at;

        if (sim_celeborn_waits(sim, index, id) || sim_commits_ask(sim, index, id))
                return;
        run->at++;
        sim->tasks.data[id].outcome = (uint8_t)simulator_outcome(sim, run, &sim->tasks.data[id]);
        if (sim->o.stores && !run->set->result) {
                if (run->at == run->n)
                        simulator_store_outputs(sim, index);
        } else if (run->each || run->n == 1)
                send_statuses(sim, run->executor, id, 1);
        else if (run->at == run->n)
                send_statuses(sim, run->executor, run->first_id, run->n);
        if (run->at < run->n)
                begin_task(sim, index, 0);
}

static void on_kill(struct sim *sim, int64_t id)
{
        struct sim_task *task = &sim->tasks.data[id];
        int index = task->run;
        struct sim_run *run = index >= 0 ? &sim->runs.data[index] : NULL;

        if (!run || run->first_id + run->at > id || !sim->executors.data[run->executor].works)
                return; /* it has ended */
        task->kill_came = true;
        if (run->first_id + run->at < id)
                return; /* it waits for its turn */
        run->generation++;
        sim_at(sim, sim_spread(sim, NETWORK_NS), SIM_STEP, index, run->generation);
}

/* --------------------------------------------------------------------------------- statuses at the driver */

static void name_fetch(struct sim *sim, const struct sim_set *set, struct task_fetch *fetch)
{
        int i = set->dead_input, m = set->dead_map;

        if (i < 0) {
                i = sim->celeborn ? 0 : (int)sim_roll(sim, (uint32_t)set->n_inputs); /* as sim_celeborn_lost */
                m = (int)sim_roll(sim, (uint32_t)set->inputs[i].n);
        }
        *fetch = (struct task_fetch){
                .shuffle_id = set->inputs[i].shuffle_id, .map_partition = m, .executor = set->inputs[i].executors[m]};
        if (set->dead_input < 0 && sim->o.random) { /* some failures lack details */
                if (sim_roll(sim, 4) == 0)
                        fetch->map_partition = -1;
                if (sim_roll(sim, 3) == 0)
                        fetch->executor = -1;
        }
        if (sim->celeborn) /* no single output is lost, but the shuffle */
                fetch->map_partition = fetch->executor = -1;
        sim->report->fetch_failures++;
}

/* A failed fetch loses its shuffle in Celeborn, if outputs are there, before the scheduler learns of the failure. */
static void celeborn_on_fetch_failed(struct sim *sim, int64_t id)
{
        const struct sim_task *task = &sim->tasks.data[id];

        if (!sim->celeborn || task->run < 0 || task->told || task->outcome != TASK_FETCH_FAILED)
                return;
        tell_statuses(sim);
        if (sim->tasks.data[id].run >= 0)
                sim_celeborn_lost(sim, sim->runs.data[sim->tasks.data[id].run].set);
}

static void receive_status(struct sim *sim, int64_t id)
{
        celeborn_on_fetch_failed(sim, id);

        struct sim_task *task = &sim->tasks.data[id];
        struct task_status *status = &sim->batch[sim->batched];
        const struct sim_run *run = task->run >= 0 ? &sim->runs.data[task->run] : NULL;
        struct task_attempt_info info;

        *status = (struct task_status){.task_id = id,
                                       .state = (enum task_state)task->outcome,
                                       .run_ns = task_ns(sim, id),
                                       .message = task->outcome == TASK_SUCCEEDED ? NULL : "simulated"};
        if (task->told)
                status->state = TASK_FAILED; /* repeated messages must have no effect */
        task->told = task->telling = true;
        if (status->state == TASK_FETCH_FAILED && run) {
                name_fetch(sim, run->set, &sim->fetches[sim->batched]);
                status->fetch = &sim->fetches[sim->batched];
        }
        if (status->state == TASK_SUCCEEDED && run && !run->set->result && !sim_celeborn_has_output(sim, id))
                status->state = TASK_KILLED;
        sim->report->failures += status->state == TASK_FAILED && run;
        if (run && sim->commits)
                sim_commits_failed(sim, id, status->state);
        if (run && status->state == TASK_FAILED && sim->o.config.exclusion.stage && sched_task(sim->s, id, &info))
                sim_places_failed(run->set, info.index, run->executor);
        if (status->state == TASK_SUCCEEDED && run && !run->set->result) {
                if (!sim_check(sim, sched_task(sim->s, id, &info) && info.executor == run->executor,
                               "task %lld ended on executor %d, where it no longer runs", (long long)id, run->executor))
                        return;
                vec_push(&sim->outputs, (struct sim_output){.executor = run->executor,
                                                            .shuffle = info.set->stage->shuffle->shuffle_id,
                                                            .map = info.partition,
                                                            .attempt = run->attempt,
                                                            .task = id});
                status->output = sim->outputs.len | (sim_outputs_are_stored(sim) ? MAP_OUTPUT_STORED : 0);
        } else if (status->state == TASK_SUCCEEDED && !run) { /* of a lost executor: must be released at once */
                vec_push(&sim->outputs, (struct sim_output){.executor = -1, .shuffle = -1, .map = -1});
                status->output = sim->outputs.len;
        }
        if (run)
                sim_task_ended(sim, id);
        if (++sim->batched == SCHED_MAX_RUN)
                tell_statuses(sim);
}

/* The status of a batch arrives, unless it is lost or has arrived before. */
static void sim_encode_status(struct sim *sim, int64_t first, int n)
{
        const struct sim_task *tasks = &sim->tasks.data[first];
        enum task_state states[SCHED_MAX_RUN];
        int64_t run_ns[SCHED_MAX_RUN];

        if (!sim->o.messages || tasks[0].run < 0 || sim->runs.data[tasks[0].run].n != n)
                return;
        for (int i = 0; i < n; i++) {
                states[i] = (enum task_state)tasks[i].outcome;
                run_ns[i] = task_ns(sim, first + i);
        }
        sim->o.messages->status(sim->o.messages->owner, sim->runs.data[tasks[0].run].executor, first, n, states,
                                run_ns);
}

/* ---------------------------------------------------------------------------------------------- the driver */

static void on_cancel(struct sim *sim, const struct event *event)
{
        switch ((enum sim_cancel)event->extra) {
        case SIM_CANCEL_JOB:
                sched_cancel_job(sim->s, event->index, NULL, sim->now);
                break;
        case SIM_CANCEL_GROUP:
                sched_cancel_group(sim->s, "even", NULL, sim->now);
                break;
        case SIM_CANCEL_TAG:
                sched_cancel_tag(sim->s, "more", "simulated", sim->now);
                break;
        case SIM_CANCEL_STAGE:
                sched_cancel_stage(sim->s, event->index, "simulated", sim->now);
                break;
        case SIM_CANCEL_ALL:
                sched_cancel_all(sim->s, sim->now);
                break;
        }
}

static void simulator_handle(struct sim *sim, const struct event *event)
{
        int64_t since;

        if (event->kind == SIM_STEP) {
                simulator_on_step(sim, event->index, event->number);
                return;
        }
        if (event->kind == SIM_STATUS) {
                sim_encode_status(sim, event->number, event->index);
                for (int i = 0; i < event->index && !sim->broken; i++)
                        receive_status(sim, event->number + i);
                return;
        }
        tell_statuses(sim); /* the scheduler gets events in order */
        switch ((enum sim_event)event->kind) {
        case SIM_STEP:
        case SIM_STATUS:
                break;
        case SIM_KILL:
                on_kill(sim, event->number);
                break;
        case SIM_DIE:
                on_die(sim, event->index, event->number);
                break;
        case SIM_NOTICE:
                on_notice(sim, event->index);
                break;
        case SIM_ADD:
                sim_add_executor(sim, event->index, (int)(event->number % SIM_PROFILE),
                                 (int)(event->number / SIM_PROFILE));
                break;
        case SIM_DISABLE:
                on_disable(sim, event->index);
                break;
        case SIM_ENABLE:
                on_enable(sim, event->index);
                break;
        case SIM_ASK:
                sim_commits_on_ask(sim, event->number);
                break;
        case SIM_ANSWER:
                sim_commits_on_answer(sim, event->number, event->index);
                break;
        case SIM_COMPUTED:
                on_computed(sim, event->number);
                break;
        case SIM_STORED:
                on_stored(sim, event->index, event->number);
                break;
        case SIM_CELEBORN:
                sim_celeborn_on_message(sim, event->number);
                break;
        case SIM_WORKER_DIE:
                sim_celeborn_on_die(sim, event->index);
                break;
        case SIM_WORKER_ADD:
                sim_celeborn_add_worker(sim);
                break;
        case SIM_SUBMIT:
                since = clock_of(sim);
                sim_submit(sim);
                simulator_decided(sim, since);
                break;
        case SIM_CANCEL:
                on_cancel(sim, event);
                break;
        case SIM_UNREGISTER:
                if (sim->celeborn)
                        sim_celeborn_clean(sim, event->index);
                else
                        sched_unregister_shuffle(sim->s, event->index);
                break;
        case SIM_CACHE:
                sim->rdds.data[event->index]->whole = !sim->rdds.data[event->index]->whole;
                break;
        }
}

/* Ends the executors that the scheduler kills. */
static void simulator_kill_executors(struct sim *sim)
{
        for (struct executor_kill kill; sched_next_kill(sim->s, &kill);) {
                sim_at(sim, 0, SIM_DIE, kill.executor, 0);
                free(kill.reason);
        }
}

/* Receives messages, then lets the scheduler decide. Returns false if no event is left. */
static bool simulator_turn(struct sim *sim)
{
        int64_t next = MIN(MIN(event_queue_time(&sim->queue), sched_deadline(sim->s)), sim_celeborn_deadline(sim));

        if (next == INT64_MAX)
                return false;
        sim->now = MAX(sim->now, next);
        int64_t end = sim->now + TURN_NS;

        while (event_queue_time(&sim->queue) <= end && !sim->broken) {
                struct event event = event_queue_pop(&sim->queue);

                sim->now = MAX(sim->now, event.at);
                sim->report->events++;
                simulator_handle(sim, &event);
        }
        tell_statuses(sim);
        if (sim_celeborn_deadline(sim) <= sim->now)
                sim_celeborn_tick(sim);
        simulator_kill_executors(sim);
        int64_t since = clock_of(sim);

        if (sched_deadline(sim->s) <= sim->now)
                sched_tick(sim->s, sim->now);
        sched_revive(sim->s, sim->now);
        simulator_decided(sim, since);
        if (sim->o.messages)
                sim->o.messages->turn_ended(sim->o.messages->owner);
        sim_places_check_turn(sim);
        sim->report->turns++;
        if (sim->o.disturb)
                sim->o.disturb(sim->s, sim->report->turns, sim_roll(sim, 1u << 31));
        return true;
}

static bool all_ended(const struct sim *sim)
{
        return sim->ended == (int)sim->jobs.len;
}

static void simulator_begin(struct sim *sim)
{
        sim->random = sim->o.seed;
        sim->spare_run = -1;
        sim->calm_at = INT64_MAX;
        if (sim->o.random)
                sim_draw(sim);
        else if (sim->o.deaths > 0)
                sim->life_ns = (int64_t)(60e9 / sim->o.deaths);
        if (sim->o.journal) {
                sim->stop_at = sim->o.dies_at;
                sim->o.config.first_task_id = sim->o.journal->next_task_id;
        }
        sim->profiles[0].cpus = sim->o.config.task_cpus;
        if (sim->o.random)
                sim_profiles_draw(sim);
        for (int i = 0; i < sim->o.hosts; i++)
                vec_push(&sim->hosts, (struct sim_host){0});
        if (sim->o.saves > 0)
                sim->commits = commit_coordinator_new();
        sim->s = sched_new(&sim->o.config, &sim_ops, sim);
        if (sim->o.trace.write)
                sched_record(sim->s, sim->o.trace);
        if (sim->o.celeborn.workers > 0)
                sim_celeborn_new(sim);
        for (int i = 0; i < sim->o.executors && !sim->broken; i++)
                if (i == 0 || !sim->o.random || sim_roll(sim, 2))
                        sim_add_executor(sim, i % sim->o.hosts, 0, i % (sim->n_profiles + 1));
                else
                        sim_at(sim, sim_spread(sim, sim->o.task_ns * 20), SIM_ADD, i % sim->o.hosts,
                               i % (sim->n_profiles + 1) * (int64_t)SIM_PROFILE);
        sim_make_work(sim);
        if (sim->o.journal)
                sim_journal_return(sim);
        double ideal = (double)sim->o.tasks / sim->o.executors / (sim->o.cores / sim->o.config.task_cpus) +
                       (double)sim->o.jobs * sim->o.stages * sim->o.straggler_factor;

        sim->end_at = (int64_t)MIN(600e9 + 10 * ideal * (double)sim->o.task_ns, 4e18);
}

int simulator_run(const struct simulator_options *options, struct simulator_report *report, struct fst_error *error)
{
        struct sim *sim = new0(struct sim);

        *report = (struct simulator_report){0};
        sim->o = *options;
        sim->report = report;
        sim->error = error;
        simulator_begin(sim);
        while (!sim->broken && simulator_turn(sim)) {
                if (sim->stop_at > 0 && report->events >= sim->stop_at)
                        break;
                if (all_ended(sim)) {
                        bool idle = true;

                        for (size_t i = 0; i < sim->executors.len && idle; i++)
                                idle = sim->executors.data[i].first < 0;
                        if (idle)
                                break;
                }
                sim_check(sim, sim->now < sim->end_at,
                          "too many events with %d of %zu jobs ended: a job is stuck, or so many faults occur that no "
                          "stage can be completed",
                          sim->ended, sim->jobs.len);
        }
        report->virtual_ns = sim->now;
        if (!sim->broken && sim->stop_at == 0)
                sim_check_end(sim);
        if (!sim->broken && sim->o.journal) {
                sim_journal_check(sim);
                sim_journal_hold(sim);
        }
        sim->last = true;
        sched_free(sim->s);
        sim_check_freed(sim);
        sim_check(sim, !sim->commits || commit_coordinator_is_empty(sim->commits),
                  "the commit coordinator still has stages");
        sim_celeborn_free(sim);
        event_queue_deinit(&sim->queue);
        sim_free_work(sim);
        vec_deinit(&sim->executors);
        vec_deinit(&sim->runs);
        vec_deinit(&sim->tasks);
        vec_deinit(&sim->outputs);
        vec_deinit(&sim->deaths);
        vec_deinit(&sim->hosts);
        vec_deinit(&sim->gang_on);
        commit_coordinator_free(sim->commits);
        int result = sim->broken ? FST_SIMULATOR_E_BROKEN : 0;

        free(sim);
        return result;
}

void simulator_report_add(struct simulator_report *sum, const struct simulator_report *more)
{
        int64_t *to = (int64_t *)sum;
        const int64_t *from = (const int64_t *)more;

        _Static_assert(sizeof(*sum) % sizeof(int64_t) == 0, "a report is counts and nothing else");
        for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
                to[i] += from[i];
}
