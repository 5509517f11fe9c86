/* Records: a new leader restores exactly the state that the last one stored, and skips invalid records. */
#include "standalone/recovery/master_record.h"

#include "base/mem.h"
#include "standalone/recovery/journal.h"
#include "standalone/core/master_fixture.h"

/* Keeps the records as persistence would: packed, the last one of each id. */
struct keeper {
        struct {
                enum master_record kind;
                char *id;
                void *data;
                size_t size;
        } kept[16];
        size_t n;
};

static size_t find(struct keeper *k, enum master_record kind, const char *id)
{
        size_t i = 0;
        while (i < k->n && (k->kept[i].kind != kind || strcmp(k->kept[i].id, id) != 0))
                i++;
        return i;
}

static struct keeper keeper;

static void keep_store(const struct master_action *a)
{
        size_t i = find(&keeper, a->record, a->id);
        if (i == keeper.n) {
                keeper.kept[keeper.n++].kind = a->record;
                keeper.kept[i].id = mem_strdup(a->id);
        } else
                free(keeper.kept[i].data);
        keeper.kept[i].data = master_record_pack(a->record, a->object, &keeper.kept[i].size);
}

static struct persistence_record record(size_t i)
{
        return (struct persistence_record){.kind = keeper.kept[i].kind,
                                           .id = keeper.kept[i].id,
                                           .data = keeper.kept[i].data,
                                           .size = keeper.kept[i].size};
}

static int forget(void **state)
{
        for (size_t i = 0; i < keeper.n; i++) {
                free(keeper.kept[i].id);
                free(keeper.kept[i].data);
        }
        keeper.n = 0;
        return 0;
}

static const char *const addresses[] = {"0", "1", "7"};
static const struct resource_addresses gpus[] = {{"gpu", addresses, 3}, {"fpga", addresses, 1}};
static const struct resource_need needs[] = {{"gpu", 2}};

static const struct worker_spec worker = {.id = "worker-20261122053000-192.0.2.7-40112",
                                          .host = "192.0.2.7",
                                          .port = 40112,
                                          .web_ui = "http://192.0.2.7:8081",
                                          .cores = 16,
                                          .memory = 64000,
                                          .resources = gpus,
                                          .n_resources = 2};

static const struct app_spec app = {
        .name = "Wörter zählen",
        .user = "alice",
        .ui_url = "http://driver:4040",
        .address = "driver:41000",
        .max_cores = 12,
        .initial_executors = -1,
        .profile = {.cores = 4, .memory = 2048, .needs = needs, .n_needs = 1, .body = {.data = "com\0mand", .size = 8}},
        .resume = {.epoch = 3, .timeout = 60 * NS_PER_SECOND, .token = "token"},
        .body = {.data = "descr\0iption", .size = 12}};

static const struct driver_spec driver = {.main_class = "main",
                                          .cores = 20,
                                          .memory = 1024,
                                          .supervise = true,
                                          .submission_id = "driver-0",
                                          .needs = needs,
                                          .n_needs = 1,
                                          .body = {.data = "\0\1\2", .size = 3}};

static void expect_body(const struct master_body *body, const void *data, size_t size)
{
        assert_int_equal(body->size, size);
        assert_memory_equal(body->data, data, size);
}

static void the_next_leader_reads_what_was_stored(void **state)
{
        struct recorder recorder = {.store = keep_store};
        struct master_config config = MASTER_CONFIG_DEFAULT;
        struct master *m = recorded_master(&recorder, &config);
        master_elected(m, NULL, 0, NULL, 0, NULL, 0, 0);
        master_register_worker(m, 1, &worker, 0);
        master_register_app(m, 2, &app, NS_PER_SECOND);
        struct master_reply reply =
                master_submit_driver(m, &driver, 2 * NS_PER_SECOND); /* more cores than exist, so it waits */
        assert_true(reply.success);
        master_schedule(m, 2 * NS_PER_SECOND);
        recorder_update(&recorder, NULL);

        struct persistence_record records[3];
        assert_int_equal(keeper.n, 3);
        for (size_t i = 0; i < 3; i++)
                records[i] = record(i);
        struct master_records r = MASTER_RECORDS_INIT;
        assert_int_equal(master_records_read(&r, records, 3), 0);
        assert_int_equal(r.workers.len, 1);
        const struct worker_spec *w = &r.workers.data[0];
        assert_string_equal(w->id, worker.id);
        assert_string_equal(w->host, worker.host);
        assert_int_equal(w->port, worker.port);
        assert_string_equal(w->web_ui, worker.web_ui);
        assert_int_equal(w->cores, worker.cores);
        assert_int_equal(w->memory, worker.memory);
        assert_int_equal(w->n_resources, 2);
        assert_string_equal(w->resources[0].name, "gpu");
        assert_int_equal(w->resources[0].n, 3);
        assert_string_equal(w->resources[0].addresses[2], "7");
        assert_int_equal(w->resources[1].n, 1);

        assert_int_equal(r.apps.len, 1);
        const struct app_record *a = &r.apps.data[0];
        assert_string_equal(a->spec.name, app.name);
        assert_string_equal(a->spec.user, app.user);
        assert_string_equal(a->spec.ui_url, app.ui_url);
        assert_string_equal(a->spec.address, app.address);
        assert_int_equal(a->submitted, 1000);
        assert_int_equal(a->spec.max_cores, 12);
        assert_int_equal(a->spec.initial_executors, -1);
        assert_int_equal(a->spec.profile.id, 0);
        assert_int_equal(a->spec.profile.cores, 4);
        assert_int_equal(a->spec.profile.memory, 2048);
        assert_int_equal(a->spec.profile.n_needs, 1);
        assert_string_equal(a->spec.profile.needs[0].name, "gpu");
        assert_int_equal(a->spec.profile.needs[0].amount, 2);
        expect_body(&a->spec.profile.body, "com\0mand", 8);
        expect_body(&a->spec.body, "descr\0iption", 12);
        assert_int_equal(a->spec.resume.epoch, 3);
        assert_int_equal(a->spec.resume.timeout, 60 * NS_PER_SECOND);
        assert_string_equal(a->spec.resume.token, "token");
        assert_false(a->waiting);

        assert_int_equal(r.drivers.len, 1);
        const struct driver_record *d = &r.drivers.data[0];
        assert_string_equal(d->id, reply.driver_id);
        assert_string_equal(d->spec.submission_id, "driver-0");
        assert_int_equal(d->submitted, 2000);
        assert_false(d->launched);
        assert_string_equal(d->spec.main_class, "main");
        assert_int_equal(d->spec.cores, 20);
        assert_int_equal(d->spec.memory, 1024);
        assert_true(d->spec.supervise);
        assert_int_equal(d->spec.n_needs, 1);
        expect_body(&d->spec.body, "\0\1\2", 3);

        struct master *next = recorded_master(&recorder, &config);
        buf_reset(&recorder.said);
        master_elected(next, r.apps.data, (int)r.apps.len, r.drivers.data, (int)r.drivers.len, r.workers.data,
                       (int)r.workers.len, 0);
        assert_string_equal(buf_text(recorder_update(&recorder, &recorder.said)),
                            "changed Wörter zählen\nchanged worker-20261122053000-192.0.2.7-40112\n");
        master_records_deinit(&r);
        master_reply_deinit(&reply);
        master_free(next);
        master_free(m);
        buf_deinit(&recorder.said);
        buf_deinit(&recorder.stored);
        buf_deinit(&recorder.logged);
}

static void that_a_driver_was_launched_is_stored(void **state)
{
        struct recorder recorder = {.store = keep_store};
        struct master_config config = MASTER_CONFIG_DEFAULT;
        struct driver_spec small = driver;
        small.cores = 1;
        struct master *m = recorded_master(&recorder, &config);
        master_elected(m, NULL, 0, NULL, 0, NULL, 0, 0);
        master_register_worker(m, 1, &worker, 0);
        struct master_reply reply = master_submit_driver(m, &small, 0);
        master_schedule(m, 0);
        recorder_update(&recorder, NULL);
        struct persistence_record launched = record(find(&keeper, MASTER_RECORD_DRIVER, reply.driver_id));
        struct master_records r = MASTER_RECORDS_INIT;
        assert_int_equal(master_records_read(&r, &launched, 1), 0);
        assert_true(r.drivers.data[0].launched);
        master_records_deinit(&r);
        master_reply_deinit(&reply);
        master_free(m);
        buf_deinit(&recorder.said);
        buf_deinit(&recorder.stored);
        buf_deinit(&recorder.logged);
}

static void what_no_master_stored_is_left_out(void **state)
{
        const struct persistence_record records[] = {
                {MASTER_RECORD_WORKER, "w-1", "", 0}, /* no host */
                {MASTER_RECORD_APP, "a-1",
                 "\x12\x03"
                 "app",
                 5},                                                           /* no address */
                {MASTER_RECORD_DRIVER, "d-1", "\xff\xff\xff", 3},              /* malformed */
                {MASTER_RECORD_WORKER, "w-2", "\x0a\x01h\x10\x80\x80\x04", 7}, /* port 65536 */
                {MASTER_RECORD_DRIVER, "d-2", "\x3a\x00", 2},                  /* a need without a name */
                {MASTER_RECORD_WORKER, "w-3", "\x0a\x01h\x10\x50", 5},
        };
        struct master_records r = MASTER_RECORDS_INIT;
        log_set_level(LOG_OFF);
        assert_int_equal(master_records_read(&r, records, ARRAY_SIZE(records)), 5);
        log_set_level(LOG_WARN);
        assert_int_equal(r.apps.len + r.drivers.len, 0);
        assert_int_equal(r.workers.len, 1);
        assert_string_equal(r.workers.data[0].id, "w-3");
        assert_int_equal(r.workers.data[0].port, 80);
        master_records_deinit(&r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_teardown(the_next_leader_reads_what_was_stored, forget),
                cmocka_unit_test_teardown(that_a_driver_was_launched_is_stored, forget),
                cmocka_unit_test(what_no_master_stored_is_left_out),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
