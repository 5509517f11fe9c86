/* Tests how stages travel: once to each executor, with shared bytes, or as a broadcast. */
#include "driver/messages/stage_shipping.h"

#include "api/api_fixture.h"
#include "base/error.h"
#include "base/mem.h"
#include "driver/context.h"
#include "exec/actions/action_kinds.h"

struct shipping_world {
        fst_context *sc;
        struct action count;
        struct stage_context work;
        struct stage_shipping *shipping;
        int put, removed, fails; /* broadcasts */
        int64_t id;
        size_t bytes;
};

static int shipping_put(void *owner, int64_t id, const void *data, size_t len, struct fst_error *error)
{
        struct shipping_world *w = owner;
        if (w->fails)
                return error_set(error, -ENOMEM, "no room");
        w->put++;
        w->id = id;
        w->bytes = len;
        return 0;
}

static void shipping_remove(void *owner, int64_t id)
{
        struct shipping_world *w = owner;
        assert_int_equal(id, w->id);
        w->removed++;
}

/* A count of numbers that reads @maps map outputs, each of which takes some 3 bytes. */
static struct shipping_world *world_new(int maps, size_t broadcast_from)
{
        struct shipping_world *w = new0(struct shipping_world);
        w->sc = api_context("local[1]", NULL);
        w->count = (struct action){.class = &count_action_class, .type = FST_I64};
        w->work = (struct stage_context){.refs = 1,
                                         .env = &w->sc->env,
                                         .stage_id = 5,
                                         .action = &w->count,
                                         .final = fst_range_n(w->sc, 0, 3, 2)};
        assert_int_equal(rdd_plan((fst_rdd *)w->work.final), 0);
        struct shuffle_reader_env *in = &w->work.inputs;
        in->locations = new_array(struct shuffle_location, 1);
        in->locations[0] = (struct shuffle_location){0, mem_strdup("1"), mem_strdup("alpha"), 7001};
        in->n_locations = in->n_inputs = 1;
        in->inputs = new_array(struct shuffle_inputs, 1);
        in->inputs[0] = (struct shuffle_inputs){3, maps, new_array(struct shuffle_map, (size_t)maps)};
        for (int i = 0; i < maps; i++)
                in->inputs[0].maps[i] = (struct shuffle_map){1000 + 100 * i, 0};
        w->shipping = stage_shipping_new(&(struct stage_shipping_options){.modules = {.same_program = true},
                                                                          .broadcast_from = broadcast_from,
                                                                          .broadcast = shipping_put,
                                                                          .remove_broadcast = shipping_remove,
                                                                          .owner = w});
        return w;
}

static void world_free(struct shipping_world *w)
{
        stage_shipping_free(w->shipping);
        shuffle_reader_env_deinit(&w->work.inputs);
        fst_context_stop(w->sc);
        free(w);
}

/* As if the message was queued. */
static struct rpc_attachment ship(struct shipping_world *w, int executor, int executors, int expected,
                                  Firesteel__StageHeader *header)
{
        struct rpc_attachment bytes = {0};
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(stage_shipping_message(w->shipping, &w->work, executor, executors, header, &bytes, &error),
                         expected);
        if (expected)
                stage_shipping_sent(w->shipping, &w->work, executor);
        return bytes;
}

static void outboxes_share_the_bytes_of_a_stage(void **state)
{
        struct shipping_world *w = world_new(20000, SIZE_MAX);
        Firesteel__StageHeader header;
        struct rpc_attachment a = ship(w, 0, 2, 1, &header), b = ship(w, 70, 2, 1, &header);
        assert_int_equal(header.stage_id, 5);
        assert_int_equal(header.broadcast, 0);
        assert_in_range(a.len, 40000, 80000);
        assert_ptr_equal(a.data, b.data);
        ship(w, 0, 2, 0, &header);
        assert_true(stage_shipping_has(w->shipping, &w->work, 70));
        assert_false(stage_shipping_has(w->shipping, &w->work, 71));
        stage_shipping_forget(w->shipping, &w->work);
        assert_false(stage_shipping_has(w->shipping, &w->work, 70));
        a.release(a.arg, a.data);
        assert_int_equal(((const uint8_t *)b.data)[0], 8); /* still there: the field of the version */
        stage_shipping_free(steal(w->shipping));
        b.release(b.arg, b.data);
        assert_int_equal(w->put, 0);
        world_free(w);
}

static void large_traffic_becomes_a_broadcast(void **state)
{
        struct shipping_world *w = world_new(20000, SIZE_MAX);
        Firesteel__StageHeader first, second;
        assert_int_equal(ship(w, 0, 1000, 1, &first).len, 0);
        assert_int_equal(ship(w, 1, 1000, 1, &second).len, 0);
        assert_int_equal(w->put, 1);
        assert_int_equal(first.broadcast, w->id);
        assert_true(w->id > INT32_MAX);
        assert_int_equal(first.bytes, w->bytes);
        assert_int_equal(second.broadcast, w->id);
        assert_int_equal(w->removed, 0);
        stage_shipping_forget(w->shipping, &w->work);
        assert_int_equal(w->removed, 1);
        int64_t before = w->id;
        assert_int_equal(ship(w, 0, 1000, 1, &first).len, 0); /* another attempt */
        assert_true(first.broadcast > before);
        world_free(w);
}

static void small_stages_are_sent_to_however_many_executors(void **state)
{
        struct shipping_world *w = world_new(100, SIZE_MAX);
        Firesteel__StageHeader header;
        struct rpc_attachment bytes = ship(w, 0, 100000, 1, &header);
        assert_int_equal(w->put, 0);
        bytes.release(bytes.arg, bytes.data);
        world_free(w);
}

static void size_limit_broadcasts_to_one_executor(void **state)
{
        struct shipping_world *w = world_new(100, 50);
        Firesteel__StageHeader header;
        assert_int_equal(ship(w, 0, 1, 1, &header).len, 0);
        assert_int_equal(w->put, 1);
        world_free(w);
}

static void without_room_for_a_broadcast_it_is_sent(void **state)
{
        struct shipping_world *w = world_new(20000, 50);
        Firesteel__StageHeader header;
        w->fails = 1;
        struct rpc_attachment bytes = ship(w, 0, 1000, 1, &header);
        assert_true(bytes.len > 0);
        bytes.release(bytes.arg, bytes.data);
        world_free(w);
        assert_int_equal(header.broadcast, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(outboxes_share_the_bytes_of_a_stage),
                cmocka_unit_test(large_traffic_becomes_a_broadcast),
                cmocka_unit_test(small_stages_are_sent_to_however_many_executors),
                cmocka_unit_test(size_limit_broadcasts_to_one_executor),
                cmocka_unit_test(without_room_for_a_broadcast_it_is_sent),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
