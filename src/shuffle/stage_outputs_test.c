/* Packed outputs, and the outputs of a stage, against an array of what is in each block. */
#include "shuffle/stage_outputs.h"

#include "shuffle/shuffle_fixture.h"

enum { MAPS = 130, PARTITIONS = 700 };

static uint32_t random_below(uint64_t *state, uint32_t n)
{
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)(*state >> 33) % n;
}

/* An output in which a block has a page with chance @density in 100; notes them in @full. */
static struct shuffle_output *output_of(struct shuffle_world *w, uint64_t *state, uint32_t density, bool *full)
{
        struct shuffle_output *o = shuffle_output_new(PARTITIONS, TYPE, w->memory);
        for (uint32_t p = 0; p < PARTITIONS; p++) {
                struct page *open = NULL;
                full[p] = random_below(state, 100) < density;
                if (!full[p])
                        continue;
                add_row(o, p, &open, p, 10);
                shuffle_output_add(o, p, open);
        }
        shuffle_output_pack(o);
        return o;
}

static void check_blocks(const struct shuffle_output *o, const bool *full)
{
        int next = shuffle_output_next(o, 0);
        for (int p = 0; p < PARTITIONS; p++) {
                assert_int_equal(shuffle_output_is_empty(o, p), !full[p]);
                const struct shuffle_partition *at = shuffle_output_at(o, p);
                assert_int_equal(at && (at->last || at->extents), full[p]);
                assert_int_equal(next == p, full[p]);
                if (next == p)
                        next = shuffle_output_next(o, p + 1);
        }
        assert_int_equal(next, PARTITIONS);
}

static void packed_outputs(void **unused)
{
        struct shuffle_world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        uint64_t state = 1;
        static const uint32_t densities[] = {0, 1, 30, 60, 100};
        for (size_t i = 0; i < ARRAY_SIZE(densities); i++) {
                bool full[PARTITIONS];
                size_t freed = 0;
                struct shuffle_output *o = output_of(&w, &state, densities[i], full);
                assert_int_equal(o->present != NULL, densities[i] <= 30);
                check_blocks(o, full);
                assert_int_equal(shuffle_output_to_disk(o, &w.space, &freed, NULL), 0);
                assert_int_equal(shuffle_output_finish(o, NULL), 0);
                assert_int_equal(o->pages, 0);
                check_blocks(o, full);
                shuffle_output_unref(o);
        }
        world_deinit(&w);
}

/* The maps of a partition that a task looks at are those that have pages for it, and those that are elsewhere. */
static void wanted_outputs(void **unused)
{
        struct shuffle_world w;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        struct shuffle_inputs *inputs = &w.env.inputs[0];
        *inputs =
                (struct shuffle_inputs){.shuffle_id = SHUFFLE, .n = MAPS, .maps = new_array(struct shuffle_map, MAPS)};
        static bool full[MAPS][PARTITIONS];
        uint64_t state = 2;
        for (int m = 0; m < MAPS; m++) {
                bool here = m % 3 != 0;
                inputs->maps[m] = (struct shuffle_map){.task_id = 100 + m, .location = here ? 0 : 1};
                /* every tenth one is not packed: a task looks at all its blocks */
                struct shuffle_output *o = output_of(&w, &state, m % 10 == 1 ? 90 : 2, full[m]);
                if (!o->present || !here)
                        memset(full[m], true, sizeof(full[m]));
                if (here)
                        shuffle_store_put(w.env.store, SHUFFLE, m, 100 + m, o);
                else
                        shuffle_output_unref(o);
        }
        struct stage_outputs *s = stage_outputs_get(inputs, 0, w.env.store), *again;
        assert_non_null(s->wanted);
        assert_ptr_equal(again = stage_outputs_get(inputs, 0, w.env.store), s);
        stage_outputs_unref(again);
        stage_outputs_end(inputs);
        for (int p = 0; p < PARTITIONS; p++) {
                int next = stage_outputs_next(s, p, 0);
                for (int m = 0; m < MAPS; m++) {
                        assert_int_equal(next == m, full[m][p]);
                        if (next == m)
                                next = stage_outputs_next(s, p, m + 1);
                }
                assert_int_equal(next, MAPS);
        }
        assert_null(s->at[0]);
        assert_non_null(s->at[1]);
        stage_outputs_unref(s);
        /* After its end the stage keeps nothing. */
        stage_outputs_unref(stage_outputs_get(inputs, 0, w.env.store));
        assert_null(inputs->here);
        world_deinit(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(packed_outputs),
                cmocka_unit_test(wanted_outputs),
        };
        return cmocka_run_group_tests_name("stage outputs", tests, NULL, NULL);
}
