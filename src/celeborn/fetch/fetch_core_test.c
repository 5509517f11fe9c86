/*
 * Reads as decisions: which copy, which batch; and worlds of copies that break, vanish and lie at random, in which each
 * batch that counts is taken once, in the order of the maps.
 */
#include "celeborn/fetch/fetch_core.h"

#include "base/mem.h"
#include "base/vec.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MAPS = 6, PAUSE = 100, TRIES = 3 };

static int64_t attempt_of(const void *owner, int map)
{
        (void)owner;
        return map == 4 ? -1 : 10 + map;
}

static void core_init_as(struct fetch_core *core, const struct fetch_location *locations, int n, bool sorted)
{
        fetch_core_init(core, &(struct fetch_core_config){.locations = locations,
                                                          .n = n,
                                                          .n_maps = MAPS,
                                                          .sorted = sorted,
                                                          .attempt = attempt_of,
                                                          .tries = TRIES,
                                                          .pause = PAUSE});
}

static void core_init(struct fetch_core *core, const struct fetch_location *locations, int n)
{
        core_init_as(core, locations, n, true);
}

static struct celeborn_batch batch_of(int map, int batch)
{
        return (struct celeborn_batch){.map = map, .attempt = 10 + map, .batch = batch, .size = 8};
}

static void expect(struct fetch_core *core, int map, int64_t now, enum fetch_action_kind kind, int file, int copy)
{
        struct fetch_action action = fetch_core_next(core, map, now);
        assert_int_equal(action.kind, kind);
        if (kind != FETCH_END) {
                assert_int_equal(action.file, file);
                assert_int_equal(action.copy, copy);
        }
}

static void takes_the_smallest_batch_of_the_map_that_is_new(void **state)
{
        (void)state;
        struct fetch_location at[] = {{0, {0, -1}}, {1, {1, -1}}};
        struct fetch_core core;
        core_init(&core, at, 2);
        for (int i = 0; i < 2; i++) {
                expect(&core, 0, 0, FETCH_OPEN, i, 0);
                fetch_core_opened(&core, i);
        }
        expect(&core, 0, 0, FETCH_HEAD, 0, 0);
        assert_int_equal(fetch_core_head(&core, 0, batch_of(0, 7), 8), 0);
        expect(&core, 0, 0, FETCH_HEAD, 1, 0);
        assert_int_equal(fetch_core_head(&core, 1, batch_of(0, 3), 8), 0);
        expect(&core, 0, 0, FETCH_TAKE, 1, 0);
        fetch_core_taken(&core, 1);
        struct celeborn_batch failed = batch_of(0, 4);
        failed.attempt = 99;
        expect(&core, 0, 0, FETCH_HEAD, 1, 0);
        assert_int_equal(fetch_core_head(&core, 1, failed, 8), 0);
        expect(&core, 0, 0, FETCH_SKIP, 1, 0);
        fetch_core_skipped(&core, 1);
        expect(&core, 0, 0, FETCH_HEAD, 1, 0);
        assert_int_equal(fetch_core_head(&core, 1, batch_of(0, 7), 8), 0);
        expect(&core, 0, 0, FETCH_TAKE, 0, 0);
        fetch_core_taken(&core, 0);
        expect(&core, 0, 0, FETCH_HEAD, 0, 0);
        fetch_core_file_end(&core, 0);
        expect(&core, 0, 0, FETCH_SKIP, 1, 0); /* taken from the other file */
        fetch_core_skipped(&core, 1);
        expect(&core, 0, 0, FETCH_HEAD, 1, 0);
        assert_int_equal(fetch_core_head(&core, 1, batch_of(2, 7), 8), 0);
        expect(&core, 0, 0, FETCH_END, 0, 0);
        expect(&core, 1, 0, FETCH_END, 0, 0);
        expect(&core, 2, 0, FETCH_TAKE, 1, 0);
        fetch_core_deinit(&core);
}

static void takes_unsorted_batches_as_they_arrive(void **state)
{
        (void)state;
        const struct celeborn_batch batches[] = {batch_of(2, 0), batch_of(0, 5), batch_of(2, 1), batch_of(0, 0)};
        struct fetch_location at[] = {{0, {0, 1}}};
        struct fetch_core core;
        core_init_as(&core, at, 1, false);
        expect(&core, -1, 0, FETCH_OPEN, 0, 0);
        fetch_core_opened(&core, 0);
        for (int i = 0; i < 3; i++) {
                expect(&core, -1, 0, FETCH_HEAD, 0, 0);
                assert_int_equal(fetch_core_head(&core, 0, batches[i], 8), 0);
                expect(&core, -1, 0, FETCH_TAKE, 0, 0);
                fetch_core_taken(&core, 0);
        }
        fetch_core_failed(&core, 0, FETCH_GONE, 0);
        expect(&core, -1, 0, FETCH_OPEN, 0, 1); /* the replica, from its beginning */
        fetch_core_opened(&core, 0);
        for (int i = 3; i >= 0; i--) {
                expect(&core, -1, 0, FETCH_HEAD, 0, 1);
                assert_int_equal(fetch_core_head(&core, 0, batches[i], 8), 0);
                expect(&core, -1, 0, i == 3 ? FETCH_TAKE : FETCH_SKIP, 0, 1);
                if (i == 3)
                        fetch_core_taken(&core, 0);
                else
                        fetch_core_skipped(&core, 0);
        }
        expect(&core, -1, 0, FETCH_HEAD, 0, 1);
        assert_int_equal(fetch_core_head(&core, 0, batch_of(-1, 0), 8), -EBADMSG);
        fetch_core_file_end(&core, 0);
        expect(&core, -1, 0, FETCH_END, 0, 1);
        fetch_core_deinit(&core);
}

static void rejects_invalid_heads(void **state)
{
        (void)state;
        struct fetch_location at[] = {{0, {0, -1}}};
        struct fetch_core core;
        core_init(&core, at, 1);
        fetch_core_opened(&core, 0);
        assert_int_equal(fetch_core_head(&core, 0, batch_of(MAPS, 0), 8), -EBADMSG);
        assert_int_equal(fetch_core_head(&core, 0, batch_of(-1, 0), 8), -EBADMSG);
        assert_int_equal(fetch_core_head(&core, 0, batch_of(0, -1), 8), -EBADMSG);
        assert_int_equal(fetch_core_head(&core, 0, batch_of(0, 0), 7), -EBADMSG);
        struct celeborn_batch negative = batch_of(0, 0);
        negative.size = -1;
        assert_int_equal(fetch_core_head(&core, 0, negative, 8), -EBADMSG);
        assert_int_equal(fetch_core_head(&core, 0, batch_of(3, 0), 8), 0);
        fetch_core_skipped(&core, 0);
        assert_int_equal(fetch_core_head(&core, 0, batch_of(2, 0), 8), -EBADMSG); /* not sorted */
        fetch_core_deinit(&core);
}

static void alternates_between_copies_and_pauses_between_rounds(void **state)
{
        (void)state;
        struct fetch_location at[] = {{0, {0, 1}}};
        struct fetch_core core;
        core_init(&core, at, 1);
        int64_t now = 0;
        for (int i = 0; i < 2 * TRIES; i++) {
                if (i && i % 2 == 0) {
                        expect(&core, 0, now, FETCH_WAIT, 0, 0);
                        now += PAUSE;
                }
                expect(&core, 0, now, FETCH_OPEN, 0, i % 2);
                fetch_core_failed(&core, 0, FETCH_FAILED, now);
        }
        assert_int_equal(fetch_core_next(&core, 0, now).kind, FETCH_LOST);
        fetch_core_deinit(&core);
}

static void reads_a_damaged_copy_once_more_and_gives_up_a_missing_one(void **state)
{
        (void)state;
        struct fetch_location at[] = {{0, {0, 1}}};
        struct fetch_core core;
        core_init(&core, at, 1);
        for (int i = 0; i < 2; i++) {
                expect(&core, 0, 0, FETCH_OPEN, 0, 0);
                fetch_core_opened(&core, 0);
                fetch_core_failed(&core, 0, FETCH_DAMAGED, 0);
        }
        expect(&core, 0, 0, FETCH_OPEN, 0, 1);
        fetch_core_failed(&core, 0, FETCH_GONE, 0);
        assert_int_equal(fetch_core_next(&core, 0, 0).kind, FETCH_LOST);
        fetch_core_deinit(&core);
}

static void a_replica_alone_is_read(void **state)
{
        (void)state;
        struct fetch_location at[] = {{0, {-1, 3}}};
        struct fetch_core core;
        core_init(&core, at, 1);
        expect(&core, 0, 0, FETCH_OPEN, 0, 1);
        fetch_core_failed(&core, 0, FETCH_FAILED, 0);
        expect(&core, 0, PAUSE - 1, FETCH_WAIT, 0, 1);
        expect(&core, 0, PAUSE, FETCH_OPEN, 0, 1);
        fetch_core_deinit(&core);
}

/* ------------------------------------------------------------------------------------------------- random worlds */

enum { FILES = 3, BATCHES = 40 };

/* One copy: batches by map, in any order within a map. */
struct fetch_world_copy {
        VEC(struct celeborn_batch) batches;
        size_t at;
        int fate; /* 0 sound, 1 fails for good, 2 gone, 3 damaged at a batch for good */
        size_t bad;
};

struct fetch_world {
        uint64_t seed;
        struct fetch_world_copy copies[FILES][FETCH_COPIES];
        int expected[MAPS], taken[MAPS][BATCHES];
        bool sound;   /* each file has a sound copy */
        int glitches; /* further failures that pass */
};

static uint32_t fetch_world_random(struct fetch_world *w, uint32_t below)
{
        w->seed = w->seed * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(w->seed >> 33) % below;
}

static void fetch_world_fill(struct fetch_world *w)
{
        for (int map = 0; map < MAPS; map++) {
                int n = (int)fetch_world_random(w, BATCHES);
                w->expected[map] = map == 4 ? 0 : n;
                for (int b = 0; b < n; b++) {
                        int times = 1 + (fetch_world_random(w, 4) == 0);
                        for (int t = 0; t < times; t++) {
                                int file = (int)fetch_world_random(w, FILES);
                                struct celeborn_batch batch = batch_of(map, b), failed = batch;
                                failed.attempt = 77;
                                for (int k = 0; k < FETCH_COPIES; k++) {
                                        vec_push(&w->copies[file][k].batches, batch);
                                        if (fetch_world_random(w, 5) == 0)
                                                vec_push(&w->copies[file][k].batches, failed);
                                        if (fetch_world_random(w, 5) == 0)
                                                vec_push(&w->copies[file][k].batches, batch);
                                }
                        }
                }
        }
        w->sound = true;
        for (int f = 0; f < FILES; f++) {
                bool sound = false;
                for (int k = 0; k < FETCH_COPIES; k++) {
                        struct fetch_world_copy *c = &w->copies[f][k];
                        c->fate = fetch_world_random(w, 3) ? 0 : 1 + (int)fetch_world_random(w, 3);
                        if (c->fate == 3 && !c->batches.len)
                                c->fate = 0;
                        c->bad = c->batches.len ? fetch_world_random(w, (uint32_t)c->batches.len) : 0;
                        sound |= c->fate == 0;
                }
                w->sound &= sound;
        }
        w->glitches = (int)fetch_world_random(w, 3);
}

/* Does what the core wants. */
static void fetch_world_do(struct fetch_world *w, struct fetch_core *core, const struct fetch_action *action,
                           int64_t now)
{
        struct fetch_world_copy *c = &w->copies[action->file][action->copy];
        if (c->fate == 1 || c->fate == 2) {
                fetch_core_failed(core, action->file, c->fate == 1 ? FETCH_FAILED : FETCH_GONE, now);
                return;
        }
        if (w->glitches && fetch_world_random(w, 20) == 0) {
                w->glitches--;
                fetch_core_failed(core, action->file, FETCH_FAILED, now);
                return;
        }
        switch (action->kind) {
        case FETCH_OPEN:
                c->at = 0;
                fetch_core_opened(core, action->file);
                break;
        case FETCH_HEAD:
                if (c->at == c->batches.len)
                        fetch_core_file_end(core, action->file);
                else
                        assert_int_equal(fetch_core_head(core, action->file, c->batches.data[c->at], 8), 0);
                break;
        case FETCH_SKIP:
                c->at++;
                fetch_core_skipped(core, action->file);
                break;
        case FETCH_TAKE:
                if (c->fate == 3 && c->at == c->bad) {
                        fetch_core_failed(core, action->file, FETCH_DAMAGED, now);
                        return;
                }
                struct celeborn_batch *b = &c->batches.data[c->at++];
                assert_int_equal(b->attempt, 10 + b->map);
                if (core->config.sorted)
                        assert_int_equal(b->map, core->map);
                w->taken[b->map][b->batch]++;
                fetch_core_taken(core, action->file);
                break;
        default:
                fail();
        }
}

static bool fetch_world_run(uint64_t seed, bool sorted)
{
        struct fetch_world w = {.seed = seed};
        struct fetch_location at[FILES] = {{0, {0, 1}}, {1, {1, 2}}, {2, {2, 0}}};
        struct fetch_core core;
        int64_t now = 0;
        bool lost = false;
        fetch_world_fill(&w);
        core_init_as(&core, at, FILES, sorted);
        for (int map = sorted ? 0 : -1; map < (sorted ? MAPS : 0) && !lost; map++) {
                struct fetch_action action;
                int steps = 0;
                while ((action = fetch_core_next(&core, map, now)).kind != FETCH_END && !lost) {
                        assert_true(++steps < 100000);
                        if (action.kind == FETCH_WAIT)
                                now = action.until;
                        else if (action.kind == FETCH_LOST)
                                lost = true;
                        else
                                fetch_world_do(&w, &core, &action, now);
                }
        }
        for (int map = 0; map < MAPS; map++)
                for (int b = 0; b < BATCHES; b++)
                        assert_in_range(w.taken[map][b], lost ? 0 : b < w.expected[map], b < w.expected[map]);
        if (w.sound)
                assert_false(lost);
        fetch_core_deinit(&core);
        for (int f = 0; f < FILES; f++)
                for (int k = 0; k < FETCH_COPIES; k++)
                        vec_deinit(&w.copies[f][k].batches);
        return lost;
}

static void takes_each_batch_once_in_random_worlds(void **state)
{
        (void)state;
        int lost = 0;
        for (uint64_t seed = 0; seed < 2000; seed++)
                lost += fetch_world_run(seed, seed % 2);
        assert_in_range(lost, 100, 1500);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(takes_the_smallest_batch_of_the_map_that_is_new),
                cmocka_unit_test(takes_unsorted_batches_as_they_arrive),
                cmocka_unit_test(rejects_invalid_heads),
                cmocka_unit_test(alternates_between_copies_and_pauses_between_rounds),
                cmocka_unit_test(reads_a_damaged_copy_once_more_and_gives_up_a_missing_one),
                cmocka_unit_test(a_replica_alone_is_read),
                cmocka_unit_test(takes_each_batch_once_in_random_worlds),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
