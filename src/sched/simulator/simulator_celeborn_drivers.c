/*
 * Celeborn between drivers. Servers and executors outlive a driver: workers with their files, and what executors know
 * of locations. The next driver rebuilds the lifecycle manager from the journal
 * (celeborn/lifecycle/lifecycle_journal.h), whose records stand among those of the scheduler in the order in which
 * things happened. As a driver does, it goes on with a shuffle that an earlier one has begun if a map output in it
 * counts, and begins those of its own behind the numbers that earlier drivers may have used.
 *
 * A request of the dead driver reaches its server, or is lost. Nobody gets the answer, and all questions are asked
 * again.
 */
#include "sched/simulator/simulator_celeborn.h"

#include "celeborn/lifecycle/lifecycle_journal.h"
#include "sched/dag.h"
#include "sched/map_outputs.h"

/* -------------------------------------------------------------------------------------------------- records */

void celeborn_journal(struct sim *sim, struct buf *record, bool strict)
{
        struct simulator_journal *journal = sim->o.journal;

        if (!journal) {
                buf_deinit(record);
        } else {
                vec_push(&journal->records, ((struct simulator_record){.job = -1,
                                                                       .output = (int32_t)journal->celeborn_records.len,
                                                                       .kind = SIMULATOR_CELEBORN}));
                vec_push(&journal->celeborn_records, *record);
                if (strict && !journal->lazy_celeborn)
                        journal->durable = journal->records.len;
        }
        *record = BUF_INIT;
}

/* The records that the dead driver has left. */
static size_t celeborn_past(const struct simulator_journal *journal, fst_bytes *records)
{
        size_t n = 0;

        for (size_t i = 0; i < journal->records.len; i++) {
                const struct simulator_record *r = &journal->records.data[i];

                if (r->kind != SIMULATOR_CELEBORN)
                        continue;
                const struct buf *record = &journal->celeborn_records.data[r->output];
                records[n++] = (fst_bytes){record->data, record->len};
        }
        return n;
}

/* -------------------------------------------------------------------------------------------------- servers */

/* Executors ask the next driver, and readers it what there is. */
static void celeborn_attempt_left(struct celeborn_attempt *a)
{
        a->revived_late |= a->asked[CELEBORN_ASK_REVIVE] || a->asked[CELEBORN_ASK_LOCATIONS];
        memset(a->asked, 0, sizeof(a->asked));
        a->located = a->readable = a->lost = false;
        a->revives = 0;
        a->deaths_seen = 0;
        a->waiters.len = 0;
        for (size_t i = 0; i < a->places.len; i++)
                a->places.data[i].named = false;
}

struct sim_celeborn *celeborn_take_servers(struct sim *sim)
{
        struct sim_celeborn *c = sim->o.journal ? steal(sim->o.journal->celeborn) : NULL;

        if (!c)
                return new0(struct sim_celeborn);
        c->newest.len = 0;
        c->waiting = 0;
        for (size_t i = 0; i < c->attempts.len; i++)
                celeborn_attempt_left(c->attempts.data[i]);
        for (size_t i = 0; i < c->workers.len; i++)
                c->workers.data[i].died_at -= c->left;
        return c;
}

void celeborn_leave_servers(struct sim *sim)
{
        struct sim_celeborn *c = sim->celeborn;

        while (event_queue_time(&sim->queue) < INT64_MAX) {
                const struct event event = event_queue_pop(&sim->queue);
                struct celeborn_packet *packet = (struct celeborn_packet *)(intptr_t)event.number;

                if (event.kind != SIM_CELEBORN)
                        continue;
                if (!packet->reply && sim_roll(sim, 2))
                        celeborn_serve(sim, packet);
                celeborn_packet_free(packet);
        }
        lifecycle_free(steal(c->core));
        c->left = sim->now;
        sim->o.journal->celeborn = c;
        sim->celeborn = NULL;
}

/* --------------------------------------------------------------------------------------------------- driver */

/* Notes the shuffles of earlier drivers. */
static void celeborn_note_earlier(struct sim *sim, const fst_bytes *records, size_t n)
{
        struct sim_celeborn *c = sim->celeborn;
        struct lifecycle_past_shuffle past;

        for (size_t i = 0; i < n; i++) {
                if (lifecycle_read_shuffle(records[i], &past))
                        continue;
                const enum lifecycle_past_state state = lifecycle_past(c->core, past.number);

                *celeborn_newest_of(c, past.shuffle) =
                        (struct celeborn_newest){.attempt = state == LIFECYCLE_PAST_GONE ? -1 : past.number,
                                                 .earlier = state != LIFECYCLE_PAST_GONE};
                if (state != LIFECYCLE_PAST_GONE)
                        c->attempts.data[past.number]->ended = state == LIFECYCLE_PAST_ENDED;
        }
}

void sim_celeborn_return(struct sim *sim)
{
        struct sim_celeborn *c = sim->celeborn;
        struct simulator_journal *journal = sim->o.journal;
        struct buf numbers = BUF_INIT;

        if (!c || !journal->celeborn_records.len)
                return;
        _cleanup_free_ fst_bytes *records = new_array(fst_bytes, journal->records.len + 1);
        const size_t n = celeborn_past(journal, records);
        const int32_t next = lifecycle_next_number(records, n);

        for (size_t i = 0; i < n && !sim->broken; i++)
                sim_check(sim, lifecycle_restore(c->core, records[i]) == 0,
                          "record %zu of the lifecycle manager contradicts those before", i);
        if (!sim_check(sim, (size_t)next >= c->attempts.len, "a driver uses number %d again", next))
                return;
        lifecycle_restored(c->core, sim->now);
        celeborn_note_earlier(sim, records, n);
        while (c->attempts.len < (size_t)next) {
                struct celeborn_attempt *unused = new0(struct celeborn_attempt);

                unused->dropped = true;
                vec_push(&c->attempts, unused);
        }
        lifecycle_record_numbers(&numbers, next);
        celeborn_journal(sim, &numbers, true);
        celeborn_perform(sim);
}

/* ---------------------------------------------------------------------------------------------- map outputs */

void sim_celeborn_accepted(struct sim *sim, int job, struct sim_output *output)
{
        struct simulator_journal *journal = sim->o.journal;

        if (!journal || !sim->celeborn)
                return;
        const int32_t index = (int32_t)journal->outputs.len;

        vec_push(&journal->outputs, ((struct simulator_map_output){.shuffle = output->shuffle,
                                                                   .map = output->map,
                                                                   .attempt = output->attempt,
                                                                   .task = output->task}));
        vec_push(&journal->records, ((struct simulator_record){job, index, SIMULATOR_MAP_OUTPUT}));
        output->journaled = index + 1;
}

void sim_celeborn_removed(struct sim *sim, const struct sim_output *output)
{
        if (sim->o.journal && output->journaled && !sim->last)
                vec_push(&sim->o.journal->records,
                         ((struct simulator_record){-1, output->journaled - 1, SIMULATOR_MAP_LOST}));
}

/* A map output that the journal names. */
struct celeborn_past_output {
        struct simulator_map_output at;
        int32_t job, number; /* in the journal; later ones are higher */
};

static int celeborn_past_output_compare(const void *x, const void *y)
{
        const struct celeborn_past_output *a = x, *b = y;

        if (a->at.shuffle != b->at.shuffle)
                return a->at.shuffle < b->at.shuffle ? -1 : 1;
        if (a->at.map != b->at.map)
                return a->at.map < b->at.map ? -1 : 1;
        return (a->number > b->number) - (a->number < b->number);
}

/* The last output of each map, unless it was lost, by shuffle and map. Returns their number. */
static int celeborn_past_outputs(const struct simulator_journal *journal, struct celeborn_past_output *past)
{
        _cleanup_free_ uint8_t *lost = new_array(uint8_t, journal->outputs.len);
        size_t n = 0;
        int kept = 0;

        for (size_t i = 0; i < journal->records.len; i++) {
                const struct simulator_record *r = &journal->records.data[i];

                if (r->kind == SIMULATOR_MAP_LOST)
                        lost[r->output] = 1;
                if (r->kind == SIMULATOR_MAP_OUTPUT)
                        past[n++] = (struct celeborn_past_output){journal->outputs.data[r->output], r->job, r->output};
        }
        qsort(past, n, sizeof(*past), celeborn_past_output_compare);
        for (size_t i = 0; i < n; i++) {
                const bool replaced = i + 1 < n && past[i + 1].at.shuffle == past[i].at.shuffle &&
                                      past[i + 1].at.map == past[i].at.map;

                if (!replaced && !lost[past[i].number])
                        past[kept++] = past[i];
        }
        return kept;
}

/* Makes one of the job's outputs known to the driver. */
static struct earlier_output celeborn_restore_output(struct sim *sim, const struct celeborn_past_output *past)
{
        vec_push(&sim->outputs, ((struct sim_output){.executor = MAX_LISTED_EXECUTORS,
                                                     .shuffle = past->at.shuffle,
                                                     .map = past->at.map,
                                                     .attempt = past->at.attempt,
                                                     .task = past->at.task,
                                                     .journaled = past->number + 1,
                                                     .state = OUTPUT_COUNTED}));
        return (struct earlier_output){.shuffle_id = past->at.shuffle,
                                       .map_partition = past->at.map,
                                       .executor = MAX_LISTED_EXECUTORS,
                                       .handle = sim->outputs.len | MAP_OUTPUT_STORED};
}

int sim_celeborn_stored(struct sim *sim, int job, struct earlier_output **stored)
{
        const struct simulator_journal *journal = sim->o.journal;
        int n = 0;

        *stored = NULL;
        if (!sim->celeborn || !journal || !journal->outputs.len)
                return 0;
        _cleanup_free_ struct celeborn_past_output *past = new_array(struct celeborn_past_output, journal->outputs.len);
        const int count = celeborn_past_outputs(journal, past);

        *stored = new_array(struct earlier_output, journal->outputs.len);
        for (int i = 0, end; i < count; i = end) {
                struct celeborn_newest *newest = celeborn_newest_of(sim->celeborn, past[i].at.shuffle);
                int found = 0;

                for (end = i; end < count && past[end].at.shuffle == past[i].at.shuffle; end++)
                        if (newest->earlier && past[end].job == job && past[end].at.attempt == newest->attempt)
                                past[i + found++] = past[end];
                newest->adopted |= found > 0;
                /* no map can be added to a shuffle that has ended: it would be begun again */
                const struct celeborn_attempt *a = found ? sim->celeborn->attempts.data[newest->attempt] : NULL;

                for (int k = 0; k < found && (!a->ended || found == a->maps); k++)
                        (*stored)[n++] = celeborn_restore_output(sim, &past[i + k]);
        }
        return n;
}

void sim_celeborn_kept(struct sim *sim, const struct earlier_output *stored, int n)
{
        for (int i = 0; i < n; i++) {
                struct sim_output *output = &sim->outputs.data[(stored[i].handle & ~MAP_OUTPUT_STORED) - 1];
                const struct shuffle *shuffle = dag_shuffle(sim->s, stored[i].shuffle_id);

                if (shuffle && stored[i].map_partition < shuffle->outputs->n &&
                    shuffle->outputs->at[stored[i].map_partition].handle == stored[i].handle)
                        sim->o.journal->kept++;
                else if (output->state == OUTPUT_COUNTED) /* another one is there, or the job needs none */
                        output->state = OUTPUT_RELEASED;
        }
}
