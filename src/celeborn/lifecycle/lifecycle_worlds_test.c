/*
 * Random worlds: a master, workers and executors around the lifecycle manager, under a virtual clock. Messages are
 * lost, late and doubled, workers die at any moment, partitions split, and many executors revive at once.
 *
 * The tests check: every push that a world acknowledged is in a file that the driver names to readers, at a worker that
 * lives and has committed it, or the shuffle is reported as lost. Each question gets one answer. A replicated shuffle
 * is not lost when at most one worker dies.
 */
#include "celeborn/lifecycle/lifecycle_fixture.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/vec.h"
#include "celeborn/lifecycle/celeborn_servers.h"
#include "celeborn/protocol/celeborn.pb-c.h"
#include "celeborn/protocol/celeborn_message.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

#define WORKERS 6
#define PARTITIONS 8
#define MAPS 12
#define MAX_SHUFFLES 3
#define MAX_EPOCHS 512

/* A file at a worker: what it has acknowledged, and whether it is closed. */
struct world_file {
        bool reserved, committed;
        int pushes;
};

struct world_worker {
        bool dead;
        struct world_file files[MAX_SHUFFLES][PARTITIONS][MAX_EPOCHS][2];
        int64_t commit_epoch;
};

/* A message to a server or back, and when it arrives. */
struct world_message {
        int64_t at;
        bool reply;
        uint64_t id;
        bool master;
        int worker; /* to which it goes, or which answers; -1: the master */
        int type;
        uint8_t *body;
        size_t len;
        const char *failure; /* of a reply */
};

enum map_state { MAP_ASKS, MAP_WAITS, MAP_PUSHES, MAP_REVIVES, MAP_ENDED, MAP_GIVEN_UP };

struct world_map {
        enum map_state state;
        int pushes; /* still to do */
        int retries;
        int partition;
        uint8_t cause;
        int asked; /* questions without an answer */
        struct celeborn_answer locations;
};

struct world_shuffle {
        bool begun, ended, dropped;
        int acknowledged[PARTITIONS];
        int acked_at[PARTITIONS][MAX_EPOCHS];
        struct world_map maps[MAPS];
        int files_status; /* -1: not answered */
        bool files_asked;
};

struct lifecycle_world {
        uint64_t random;
        struct lifecycle *core;
        int64_t now;
        struct world_worker workers[WORKERS];
        struct world_shuffle shuffles[MAX_SHUFFLES];
        VEC(struct world_message) messages;
        int loss, doubled, deaths, max_deaths, splits; /* per thousand, and counts */
        bool replicate, stopped;
        bool dynamic; /* the master names workers for an open shuffle */
        bool refuses; /* the server that answers has no room */
        int registered;
};

static unsigned world_random(struct lifecycle_world *w, unsigned below)
{
        w->random = w->random * UINT64_C(6364136223846793005) + 1442695040888963407;
        return (unsigned)(w->random >> 33) % below;
}

static bool world_chance(struct lifecycle_world *w, int per_thousand)
{
        return (int)world_random(w, 1000) < per_thousand;
}

static void world_send(struct lifecycle_world *w, struct world_message m)
{
        const int copies = world_chance(w, w->loss) ? 0 : world_chance(w, w->doubled) ? 2 : 1;
        for (int i = 0; i < copies; i++) {
                struct world_message copy = m;
                copy.at = w->now + MS * (1 + world_random(w, world_chance(w, 20) ? 4000 : 20));
                copy.body = mem_alloc(m.len + 1);
                memcpy(copy.body, m.body, m.len);
                vec_push(&w->messages, copy);
        }
        free(m.body);
}

/* ------------------------------------------------------------------------------------------------- servers */

static struct world_file *world_file_of(struct lifecycle_world *w, int worker, int shuffle, int partition, int epoch,
                                        int mode)
{
        assert_in_range(epoch, 0, MAX_EPOCHS - 1);
        return &w->workers[worker].files[shuffle][partition][epoch][mode];
}

static uint32_t world_roll(void *owner, uint32_t below)
{
        return world_random(owner, below);
}

/* The master does not learn of deaths, and sometimes offers nobody. */
static bool world_is_offered(void *owner, int worker)
{
        return !((struct lifecycle_world *)owner)->refuses;
}

static bool world_reserve(void *owner, int worker, const struct celeborn_servers_file *file)
{
        struct lifecycle_world *w = owner;
        world_file_of(w, worker, file->shuffle, file->partition, file->epoch, file->mode)->reserved = true;
        return !w->refuses;
}

static bool world_commit(void *owner, int worker, const struct celeborn_servers_file *at)
{
        struct world_file *file = world_file_of(owner, worker, at->shuffle, at->partition, at->epoch, at->mode);
        assert_true(file->reserved);
        file->committed |= file->pushes > 0;
        return file->pushes > 0;
}

static const struct celeborn_servers_class world_servers = {
        .roll = world_roll,
        .is_offered = world_is_offered,
        .reserve = world_reserve,
        .commit = world_commit,
};

/* Checks what the model of the servers does not. */
static void world_check_request(const struct lifecycle_world *w, const struct world_message *m)
{
        if (m->type == CELEBORN_REQUEST_SLOTS) {
                Celeborn__RequestSlots *request = celeborn__request_slots__unpack(NULL, m->len, m->body);
                assert_in_range(request->n_partition_id_list, w->dynamic ? 1 : PARTITIONS, PARTITIONS);
                celeborn__request_slots__free_unpacked(request, NULL);
        } else if (m->type == CELEBORN_COMMIT_FILES) {
                Celeborn__CommitFiles *request = celeborn__commit_files__unpack(NULL, m->len, m->body);
                assert_int_equal(request->n_map_attempts, MAPS);
                celeborn__commit_files__free_unpacked(request, NULL);
        }
}

static void world_serve(struct lifecycle_world *w, const struct world_message *m)
{
        struct world_message reply = {.reply = true, .id = m->id, .worker = m->worker};
        if (!m->master && w->workers[m->worker].dead) {
                if (world_chance(w, 800)) /* a refused connection; else silence */
                        vec_push(&w->messages, ((struct world_message){.at = w->now + MS,
                                                                       .reply = true,
                                                                       .id = m->id,
                                                                       .worker = m->worker,
                                                                       .failure = "connection refused"}));
                return;
        }
        world_check_request(w, m);
        w->refuses = world_chance(w, w->loss);
        assert_int_equal(celeborn_servers_answer(&world_servers, w, WORKERS, m->worker, m->type, m->body, m->len,
                                                 &reply.type, &reply.body, &reply.len),
                         0);
        world_send(w, reply);
}

/* ----------------------------------------------------------------------------------------------- executors */

static void world_ask(struct lifecycle_world *w, int shuffle, int map, enum celeborn_question_kind kind)
{
        struct celeborn_question question = {.kind = kind, .shuffle = shuffle};
        struct world_map *at = &w->shuffles[shuffle].maps[map];
        if (kind == CELEBORN_ASK_REVIVE) {
                question.n = 1;
                question.revives = new_array(struct celeborn_revive, 1);
                question.revives[0] = (struct celeborn_revive){map, at->partition,
                                                               at->locations.locations[at->partition].epoch, at->cause};
        }
        at->asked++;
        lifecycle_ask(w->core, (void *)(intptr_t)(shuffle * 1000 + map + 1), &question, w->now);
}

static int world_worker_of(const struct celeborn_answer *answer, int32_t index)
{
        return index < 0 ? -1 : answer->workers[index].rpc_port - CELEBORN_SERVERS_PORT;
}

/* One push to the map's location of a random partition. */
static void world_push(struct lifecycle_world *w, int shuffle, int map)
{
        struct world_map *at = &w->shuffles[shuffle].maps[map];
        if (!at->retries)
                at->partition = (int)world_random(w, PARTITIONS);
        const struct celeborn_location *to = &at->locations.locations[at->partition];
        const int primary = world_worker_of(&at->locations, to->primary),
                  replica = world_worker_of(&at->locations, to->replica);
        at->state = MAP_REVIVES;
        at->cause = CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY;
        if (primary < 0 || w->workers[primary].dead)
                return;
        struct world_file *file = world_file_of(w, primary, shuffle, at->partition, to->epoch, 0);
        assert_true(file->reserved);
        at->cause = CELEBORN_HARD_SPLIT;
        if (world_chance(w, w->splits))
                return;
        file->pushes++; /* possibly without an acknowledgement */
        at->cause = CELEBORN_PUSH_CONNECTION_EXCEPTION_REPLICA;
        if (replica >= 0) {
                if (w->workers[replica].dead)
                        return;
                struct world_file *copy = world_file_of(w, replica, shuffle, at->partition, to->epoch, 1);
                assert_true(copy->reserved);
                copy->pushes++;
        }
        w->shuffles[shuffle].acked_at[at->partition][to->epoch]++;
        at->retries = 0;
        at->state = --at->pushes > 0 ? MAP_PUSHES : MAP_ENDED;
}

static void world_run_map(struct lifecycle_world *w, int shuffle, int map)
{
        struct world_map *at = &w->shuffles[shuffle].maps[map];
        if (at->asked)
                return;
        if (at->state == MAP_ASKS)
                world_ask(w, shuffle, map, CELEBORN_ASK_LOCATIONS);
        else if (at->state == MAP_PUSHES)
                world_push(w, shuffle, map);
        else if (at->state == MAP_REVIVES && at->retries++ < 12)
                world_ask(w, shuffle, map, CELEBORN_ASK_REVIVE);
        else if (at->state == MAP_REVIVES)
                at->state = MAP_GIVEN_UP; /* the task failed */
}

/* Replaces the location of a partition by that of a revive's answer. */
static void world_merge(struct celeborn_answer *mine, const struct celeborn_answer *answer)
{
        const struct celeborn_location *from = &answer->locations[0];
        struct celeborn_location *to = &mine->locations[from->partition];
        int32_t index[2] = {from->primary, from->replica};
        for (int i = 0; i < 2; i++) {
                if (index[i] < 0)
                        continue;
                mine->workers = mem_grow(mine->workers, sizeof(*mine->workers) * (size_t)(mine->n_workers + 1));
                mine->workers[mine->n_workers] = answer->workers[index[i]];
                mine->workers[mine->n_workers].host = mem_strdup(answer->workers[index[i]].host);
                index[i] = mine->n_workers++;
        }
        assert_true(from->epoch >= to->epoch);
        *to = (struct celeborn_location){from->partition, from->epoch, index[0], index[1]};
}

/* Every acknowledged push is in a file that readers learn of. */
static void world_check_files(struct lifecycle_world *w, int shuffle, const struct celeborn_answer *answer)
{
        const struct world_shuffle *s = &w->shuffles[shuffle];
        bool named[PARTITIONS][MAX_EPOCHS] = {{false}};
        for (int i = 0; i < answer->n_locations; i++) {
                const struct celeborn_location *at = &answer->locations[i];
                const int copies[2] = {world_worker_of(answer, at->primary), world_worker_of(answer, at->replica)};
                assert_false(named[at->partition][at->epoch]);
                named[at->partition][at->epoch] = true;
                assert_true(copies[0] >= 0 || copies[1] >= 0);
                for (int mode = 0; mode < 2; mode++)
                        if (copies[mode] >= 0) {
                                const struct world_file *file =
                                        world_file_of(w, copies[mode], shuffle, at->partition, at->epoch, mode);
                                assert_true(file->committed);
                                assert_true(file->pushes >= s->acked_at[at->partition][at->epoch]);
                        }
                if (i)
                        assert_true(at->partition > answer->locations[i - 1].partition ||
                                    at->epoch > answer->locations[i - 1].epoch);
        }
        for (int p = 0; p < PARTITIONS; p++)
                for (int e = 0; e < MAX_EPOCHS; e++)
                        assert_true(s->acked_at[p][e] == 0 || named[p][e]);
}

static void world_answer(struct lifecycle_world *w, int asker, struct celeborn_answer *answer)
{
        const int shuffle = (asker - 1) / 1000, map = (asker - 1) % 1000;
        struct world_shuffle *s = &w->shuffles[shuffle];
        if (map == MAPS) { /* the reader */
                assert_int_equal(s->files_status, -1);
                s->files_status = answer->status;
                if (answer->status == CELEBORN_SUCCESS)
                        world_check_files(w, shuffle, answer);
                return;
        }
        struct world_map *at = &s->maps[map];
        assert_int_equal(at->asked, 1);
        at->asked = 0;
        if (answer->status != CELEBORN_SUCCESS) {
                assert_true(s->dropped || s->ended || answer->status == CELEBORN_RESERVE_SLOTS_FAILED);
                at->state = answer->status == CELEBORN_RESERVE_SLOTS_FAILED ? MAP_ASKS : MAP_GIVEN_UP;
        } else if (at->state == MAP_ASKS) {
                assert_int_equal(answer->n_locations, PARTITIONS);
                at->locations = *answer;
                *answer = (struct celeborn_answer){0};
                at->state = MAP_PUSHES;
        } else {
                assert_int_equal(answer->n_locations, 1);
                world_merge(&at->locations, answer);
                at->state = MAP_PUSHES;
        }
}

/* --------------------------------------------------------------------------------------------------- world */

static void world_actions(struct lifecycle_world *w)
{
        for (struct lifecycle_action a; lifecycle_next_action(w->core, &a);) {
                if (a.kind == LIFECYCLE_SEND) {
                        uint8_t *body = mem_alloc(a.send.len + 1);
                        memcpy(body, a.send.body, a.send.len);
                        world_send(w, (struct world_message){
                                              .id = a.send.id,
                                              .master = a.send.master,
                                              .worker = a.send.master ? -1 : a.send.port - CELEBORN_SERVERS_PORT,
                                              .type = a.send.type,
                                              .body = body,
                                              .len = a.send.len});
                } else if (a.kind == LIFECYCLE_ANSWER) {
                        world_answer(w, (int)(intptr_t)a.answer.asker, &a.answer.answer);
                } else if (a.kind == LIFECYCLE_STOPPED) {
                        assert_false(w->stopped);
                        w->stopped = true;
                }
                lifecycle_action_deinit(&a);
        }
}

static void world_deliver(struct lifecycle_world *w)
{
        for (size_t i = 0; i < w->messages.len;) {
                if (w->messages.data[i].at > w->now) {
                        i++;
                        continue;
                }
                struct world_message m = w->messages.data[i];
                w->messages.data[i] = w->messages.data[--w->messages.len];
                if (!m.reply)
                        world_serve(w, &m);
                else if (m.failure)
                        lifecycle_failed(w->core, m.id, m.failure, w->now);
                else
                        lifecycle_reply(w->core, m.id, m.type, m.body, m.len, w->now);
                free(m.body);
                world_actions(w);
        }
}

static void world_run_shuffle(struct lifecycle_world *w, int id)
{
        static const int32_t attempts[MAPS];
        struct world_shuffle *s = &w->shuffles[id];
        int ended = 0;
        if (!s->begun && world_chance(w, 20)) {
                s->begun = true;
                lifecycle_begin(w->core, id, MAPS, PARTITIONS, w->now);
        }
        for (int m = 0; m < MAPS && s->begun && !s->dropped; m++) {
                if (s->maps[m].state != MAP_ENDED && world_chance(w, 200))
                        world_run_map(w, id, m);
                ended += s->maps[m].state >= MAP_ENDED;
                world_actions(w);
        }
        if (ended == MAPS && !s->ended) {
                s->ended = true;
                lifecycle_maps_ended(w->core, id, attempts, w->now);
        }
        if (s->begun && !s->files_asked && world_chance(w, s->ended ? 200 : 5)) {
                struct celeborn_question question = {.kind = CELEBORN_ASK_FILES, .shuffle = id};
                s->files_asked = true;
                lifecycle_ask(w->core, (void *)(intptr_t)(id * 1000 + MAPS + 1), &question, w->now);
        }
        if (s->files_status >= 0 && !s->dropped && world_chance(w, 100)) {
                s->dropped = true;
                lifecycle_drop(w->core, id, w->now);
        }
        world_actions(w);
}

static bool world_is_done(const struct lifecycle_world *w)
{
        for (int i = 0; i < MAX_SHUFFLES; i++)
                if (!w->shuffles[i].dropped)
                        return false;
        return true;
}

static void world_new(struct lifecycle_world *w, uint64_t seed)
{
        static const struct lifecycle_master masters[] = {{(char *)"m1", 9097}, {(char *)"m2", 9097}};
        *w = (struct lifecycle_world){.random = seed * 77 + 1, .now = 1000 * MS};
        w->replicate = world_chance(w, 600);
        w->loss = world_chance(w, 500) ? 0 : (int)world_random(w, 60);
        w->doubled = world_chance(w, 500) ? 0 : (int)world_random(w, 200);
        w->splits = (int)world_random(w, 60);
        w->max_deaths = (int)world_random(w, WORKERS - 2);
        for (int i = 0; i < MAX_SHUFFLES; i++) {
                w->shuffles[i].files_status = -1;
                for (int m = 0; m < MAPS; m++)
                        w->shuffles[i].maps[m].pushes = 1 + (int)world_random(w, 20);
        }
        struct celeborn_config config = lifecycle_fixture_config(masters, 2);
        config.replicate = w->replicate;
        config.dynamic = w->dynamic = seed % 3 == 0;
        config.dynamic_factor = (double)(seed % 4) / 4;
        config.split_threshold = 1 << 30;
        config.max_workers = 10000;
        config.revive_interval = 50 * MS;
        config.excluded_timeout = 5000 * MS;
        config.master_retries = 15;
        config.register_retries = 3;
        config.commit_retries = 10;
        config.stop_timeout = 5000 * MS;
        w->core = lifecycle_new(&config, w->now);
}

static void world_free(struct lifecycle_world *w)
{
        for (int i = 0; i < MAX_SHUFFLES; i++)
                for (int m = 0; m < MAPS; m++)
                        celeborn_answer_deinit(&w->shuffles[i].maps[m].locations);
        for (size_t i = 0; i < w->messages.len; i++)
                free(w->messages.data[i].body);
        vec_deinit(&w->messages);
        lifecycle_free(w->core);
}

static void world_run(uint64_t seed)
{
        struct lifecycle_world *w = new0(struct lifecycle_world);
        world_new(w, seed);
        CASE_LABEL("seed %llu: replicate %d, loss %d, doubled %d, deaths %d", (unsigned long long)seed, w->replicate,
                   w->loss, w->doubled, w->max_deaths);
        for (int step = 0; step < 60000 && !world_is_done(w); step++) {
                w->now += 5 * MS;
                world_deliver(w);
                if (lifecycle_deadline(w->core) <= w->now)
                        lifecycle_tick(w->core, w->now);
                world_actions(w);
                for (int i = 0; i < MAX_SHUFFLES; i++)
                        world_run_shuffle(w, i);
                if (w->deaths < w->max_deaths && world_chance(w, 10))
                        w->workers[world_random(w, WORKERS)].dead = ++w->deaths > 0;
        }
        assert_true(world_is_done(w));
        for (int i = 0; i < MAX_SHUFFLES; i++) {
                assert_true(w->shuffles[i].files_status == CELEBORN_SUCCESS ||
                            w->shuffles[i].files_status == CELEBORN_SHUFFLE_DATA_LOST);
                if (w->loss == 0 && w->deaths <= (w->replicate ? 1 : 0))
                        assert_int_equal(w->shuffles[i].files_status, CELEBORN_SUCCESS);
        }
        lifecycle_stop(w->core, w->now);
        world_actions(w);
        for (int step = 0; step < 4000 && !w->stopped; step++) {
                w->now += 5 * MS;
                world_deliver(w);
                if (lifecycle_deadline(w->core) <= w->now)
                        lifecycle_tick(w->core, w->now);
                world_actions(w);
        }
        assert_true(w->stopped);
        assert_true(lifecycle_deadline(w->core) == INT64_MAX);
        world_free(w);
        free(w);
}

static void acknowledged_pushes_are_readable_or_reported_lost(void **state)
{
        for (uint64_t seed = 1; seed <= 150; seed++)
                world_run(seed);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(acknowledged_pushes_are_readable_or_reported_lost),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
