/*
 * The lifecycle manager step by step: the requests of one shuffle, revives, masters, refusals, invalid answers, and
 * what the next driver goes on with.
 */
#include "celeborn/lifecycle/lifecycle_fixture.h"

#include "base/mem.h"
#include "base/vec.h"
#include "celeborn/lifecycle/lifecycle_journal.h"
#include "celeborn/protocol/celeborn.pb-c.h"
#include "celeborn/protocol/celeborn_message.h"
#include "unit/cases.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* The actions of a core, oldest first. */
struct fixture {
        struct lifecycle *core;
        int64_t now;
        struct lifecycle_action last;
        VEC(struct buf) records; /* of the journal */
        size_t durable;          /* so many are, before later actions */
};

static struct celeborn_config fixture_config(bool replicate, int masters)
{
        static const struct lifecycle_master list[] = {{(char *)"m1", 9097}, {(char *)"m2", 9098}};
        struct celeborn_config config = lifecycle_fixture_config(list, masters);
        config.replicate = replicate;
        config.journaled = config.revise = true;
        config.revive_interval = 100 * MS;
        config.excluded_timeout = 60000 * MS;
        config.master_retries = 2;
        config.register_retries = 1;
        config.commit_retries = 2;
        config.stop_timeout = 3000 * MS;
        return config;
}

static void fixture_start_with(struct fixture *f, const struct celeborn_config *config)
{
        *f = (struct fixture){.now = MS};
        f->core = lifecycle_new(config, f->now);
}

static void fixture_start(struct fixture *f, bool replicate, int masters)
{
        const struct celeborn_config config = fixture_config(replicate, masters);
        fixture_start_with(f, &config);
}

static void fixture_end(struct fixture *f)
{
        lifecycle_action_deinit(&f->last);
        lifecycle_free(f->core);
        for (size_t i = 0; i < f->records.len; i++)
                buf_deinit(&f->records.data[i]);
        vec_deinit(&f->records);
}

/* The next action for others than the log and the journal; kind LIFECYCLE_LOG: there is none. */
static const struct lifecycle_action *fixture_next(struct fixture *f)
{
        do {
                lifecycle_action_deinit(&f->last);
                f->last = (struct lifecycle_action){.kind = LIFECYCLE_LOG};
                if (lifecycle_next_action(f->core, &f->last) && f->last.kind == LIFECYCLE_JOURNAL) {
                        vec_push(&f->records, f->last.journal.record);
                        f->durable = f->last.journal.strict ? f->records.len : f->durable;
                        f->last.journal.record = BUF_INIT;
                        continue;
                }
        } while (f->last.kind == LIFECYCLE_JOURNAL || (f->last.kind == LIFECYCLE_LOG && f->last.log.line));
        return &f->last;
}

static void assert_quiet(struct fixture *f)
{
        assert_int_equal(fixture_next(f)->kind, LIFECYCLE_LOG);
}

static uint64_t expect_send(struct fixture *f, int type, int port)
{
        const struct lifecycle_action *a = fixture_next(f);
        assert_int_equal(a->kind, LIFECYCLE_SEND);
        assert_int_equal(a->send.type, type);
        assert_int_equal(a->send.port, port);
        return a->send.id;
}

static const struct celeborn_answer *expect_answer(struct fixture *f, intptr_t asker, int status)
{
        const struct lifecycle_action *a = fixture_next(f);
        assert_int_equal(a->kind, LIFECYCLE_ANSWER);
        assert_int_equal((intptr_t)a->answer.asker, asker);
        assert_int_equal(a->answer.answer.status, status);
        return &a->answer.answer;
}

static void reply_with(struct fixture *f, uint64_t id, int type, const ProtobufCMessage *message)
{
        const size_t len = protobuf_c_message_get_packed_size(message);
        uint8_t *body = mem_alloc(len + 1);
        protobuf_c_message_pack(message, body);
        lifecycle_reply(f->core, id, type, body, len, f->now);
        free(body);
}

static void reply_status(struct fixture *f, uint64_t id, int type, int status)
{
        Celeborn__StatusResponse reply = CELEBORN__STATUS_RESPONSE__INIT;
        reply.status = status;
        reply_with(f, id, type, &reply.base);
}

/* Offers partition 0 at worker 1 (port 101), with a copy at worker 2 if @replicated, and the worker of port @spare. */
static void reply_slots_and_spare(struct fixture *f, uint64_t id, bool replicated, int partitions, int spare)
{
        _cleanup_free_ char *key = mem_printf("w:%d:200:200:200", spare);
        Celeborn__PartitionLocation at[2] = {CELEBORN__PARTITION_LOCATION__INIT, CELEBORN__PARTITION_LOCATION__INIT};
        Celeborn__PartitionLocation *list[] = {&at[0], &at[0]};
        Celeborn__WorkerResource resources[2] = {CELEBORN__WORKER_RESOURCE__INIT, CELEBORN__WORKER_RESOURCE__INIT};
        Celeborn__WorkerResourceEntry entries[2] = {CELEBORN__WORKER_RESOURCE_ENTRY__INIT,
                                                    CELEBORN__WORKER_RESOURCE_ENTRY__INIT};
        Celeborn__WorkerResourceEntry *both[] = {&entries[0], &entries[1]};
        Celeborn__RequestSlotsResponse reply = CELEBORN__REQUEST_SLOTS_RESPONSE__INIT;
        for (int i = 0; i < 2; i++) {
                at[i].host = (char *)"w";
                at[i].rpc_port = 101 + i;
                at[i].push_port = at[i].fetch_port = at[i].replicate_port = 200;
                at[i].mode = i;
                entries[i].value = &resources[i];
        }
        if (replicated)
                at[0].peer = &at[1];
        entries[0].key = (char *)"w:101:200:200:200";
        entries[1].key = key;
        resources[0].primary_partitions = list;
        resources[0].n_primary_partitions = (size_t)partitions;
        reply.worker_resource = both;
        reply.n_worker_resource = 2;
        reply_with(f, id, CELEBORN_REQUEST_SLOTS_RESPONSE, &reply.base);
}

static void reply_slots(struct fixture *f, uint64_t id, bool replicated, int partitions)
{
        reply_slots_and_spare(f, id, replicated, partitions, 103);
}

static void ask(struct fixture *f, intptr_t asker, enum celeborn_question_kind kind, int shuffle, int epoch,
                uint8_t cause)
{
        struct celeborn_question question = {.kind = kind, .shuffle = shuffle};
        if (kind == CELEBORN_ASK_REVIVE) {
                question.n = 1;
                question.revives = new_array(struct celeborn_revive, 1);
                question.revives[0] = (struct celeborn_revive){0, 0, epoch, cause};
        }
        lifecycle_ask(f->core, (void *)asker, &question, f->now);
}

/* Shuffle 0 with one partition, open. */
static void fixture_open_with(struct fixture *f, const struct celeborn_config *config)
{
        Celeborn__HeartbeatFromApplicationResponse beat = CELEBORN__HEARTBEAT_FROM_APPLICATION_RESPONSE__INIT;
        const bool replicate = config->replicate;
        fixture_start_with(f, config);
        reply_with(f, expect_send(f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097), CELEBORN_HEARTBEAT_RESPONSE,
                   &beat.base);
        lifecycle_begin(f->core, 0, 1, 1, f->now);
        reply_slots(f, expect_send(f, CELEBORN_REQUEST_SLOTS, 9097), replicate, 1);
        const uint64_t first = expect_send(f, CELEBORN_RESERVE_SLOTS, 101);
        if (replicate)
                reply_status(f, expect_send(f, CELEBORN_RESERVE_SLOTS, 102), CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        reply_status(f, first, CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        assert_quiet(f);
}

static void fixture_open(struct fixture *f, bool replicate)
{
        const struct celeborn_config config = fixture_config(replicate, 1);
        fixture_open_with(f, &config);
}

static void shuffle_is_reserved_written_committed_and_read(void **state)
{
        static const int32_t attempts[] = {7};
        Celeborn__CommitFilesResponse committed = CELEBORN__COMMIT_FILES_RESPONSE__INIT;
        char *ids[] = {(char *)"0-0"};
        struct fixture f;
        fixture_open(&f, true);
        ask(&f, 1, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
        const struct celeborn_answer *answer = expect_answer(&f, 1, CELEBORN_SUCCESS);
        assert_int_equal(answer->n_locations, 1);
        assert_int_equal(answer->workers[answer->locations[0].primary].rpc_port, 101);
        assert_int_equal(answer->workers[answer->locations[0].replica].rpc_port, 102);
        ask(&f, 2, CELEBORN_ASK_FILES, 0, 0, 0);
        assert_quiet(&f); /* until all maps have ended */

        lifecycle_maps_ended(f.core, 0, attempts, f.now);
        const uint64_t first = expect_send(&f, CELEBORN_COMMIT_FILES, 101);
        const uint64_t second = expect_send(&f, CELEBORN_COMMIT_FILES, 102);
        ask(&f, 3, CELEBORN_ASK_REVIVE, 0, 0, CELEBORN_SOFT_SPLIT);
        expect_answer(&f, 3, CELEBORN_STAGE_ENDED);
        committed.committed_primary_ids = ids;
        committed.n_committed_primary_ids = 1;
        reply_with(&f, first, CELEBORN_COMMIT_FILES_RESPONSE, &committed.base);
        lifecycle_failed(f.core, second, "connection reset", f.now);
        assert_quiet(&f);
        f.now += 500 * MS;
        lifecycle_tick(f.core, f.now); /* the same request again */
        lifecycle_failed(f.core, expect_send(&f, CELEBORN_COMMIT_FILES, 102), "connection refused", f.now);
        answer = expect_answer(&f, 2, CELEBORN_SUCCESS);
        assert_int_equal(answer->n_locations, 1);
        assert_true(answer->locations[0].primary >= 0);
        assert_int_equal(answer->locations[0].replica, -1);

        lifecycle_drop(f.core, 0, f.now);
        expect_send(&f, CELEBORN_UNREGISTER_SHUFFLE, 9097);
        ask(&f, 4, CELEBORN_ASK_FILES, 0, 0, 0);
        expect_answer(&f, 4, CELEBORN_SHUFFLE_UNREGISTERED);
        ask(&f, 5, CELEBORN_ASK_FILES, 9, 0, 0);
        expect_answer(&f, 5, CELEBORN_SHUFFLE_UNREGISTERED);
        fixture_end(&f);
}

static void file_without_a_readable_copy_loses_the_shuffle(void **state)
{
        static const int32_t attempts[] = {7};
        Celeborn__CommitFilesResponse failed = CELEBORN__COMMIT_FILES_RESPONSE__INIT;
        char *ids[] = {(char *)"0-0"};
        struct fixture f;
        fixture_open(&f, false);
        ask(&f, 1, CELEBORN_ASK_FILES, 0, 0, 0);
        lifecycle_maps_ended(f.core, 0, attempts, f.now);
        failed.status = CELEBORN_PARTIAL_SUCCESS;
        failed.failed_primary_ids = ids;
        failed.n_failed_primary_ids = 1;
        reply_with(&f, expect_send(&f, CELEBORN_COMMIT_FILES, 101), CELEBORN_COMMIT_FILES_RESPONSE, &failed.base);
        expect_answer(&f, 1, CELEBORN_SHUFFLE_DATA_LOST);
        fixture_end(&f);
}

static void many_revives_of_a_file_are_one_change(void **state)
{
        struct fixture f;
        fixture_open(&f, false);
        for (int i = 1; i <= 5; i++)
                ask(&f, i, CELEBORN_ASK_REVIVE, 0, 0, CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY);
        assert_quiet(&f);
        f.now += 100 * MS;
        assert_true(lifecycle_deadline(f.core) <= f.now);
        lifecycle_tick(f.core, f.now);
        reply_status(&f, expect_send(&f, CELEBORN_RESERVE_SLOTS, 103), CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        for (int i = 1; i <= 5; i++) {
                const struct celeborn_answer *answer = expect_answer(&f, i, CELEBORN_SUCCESS);
                assert_int_equal(answer->locations[0].epoch, 1);
                assert_int_equal(answer->workers[answer->locations[0].primary].rpc_port, 103);
        }
        ask(&f, 6, CELEBORN_ASK_REVIVE, 0, 0, CELEBORN_HARD_SPLIT); /* others were earlier */
        assert_int_equal(expect_answer(&f, 6, CELEBORN_SUCCESS)->locations[0].epoch, 1);
        ask(&f, 7, CELEBORN_ASK_REVIVE, 0, 9, CELEBORN_HARD_SPLIT); /* there is no such epoch */
        assert_int_equal(expect_answer(&f, 7, CELEBORN_SUCCESS)->locations[0].epoch, 1);
        assert_quiet(&f);
        fixture_end(&f);
}

/* Shuffle 0 with one partition at worker 101; 103 is another one. At @factor of lost ones the master is asked. */
static void fixture_open_dynamic(struct fixture *f, double factor)
{
        struct celeborn_config config = fixture_config(false, 1);
        config.dynamic = true;
        config.dynamic_factor = factor;
        fixture_open_with(f, &config);
}

/* The master is asked for workers for partition 0 without worker 101. */
static uint64_t expect_request_for_workers(struct fixture *f, size_t n_excluded)
{
        const uint64_t id = expect_send(f, CELEBORN_REQUEST_SLOTS, 9097);
        Celeborn__RequestSlots *m = celeborn__request_slots__unpack(NULL, f->last.send.len, f->last.send.body);
        assert_non_null(m);
        assert_int_equal(m->n_partition_id_list, 1);
        assert_int_equal(m->partition_id_list[0], 0);
        assert_int_equal(m->n_excluded_worker_set, n_excluded);
        assert_int_equal(m->excluded_worker_set[0]->rpc_port, 101);
        celeborn__request_slots__free_unpacked(m, NULL);
        return id;
}

static void master_names_more_workers_when_half_are_lost(void **state)
{
        struct fixture f;
        fixture_open_dynamic(&f, 0.5);
        ask(&f, 1, CELEBORN_ASK_REVIVE, 0, 0, CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY);
        ask(&f, 2, CELEBORN_ASK_REVIVE, 0, 0, CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY);
        ask(&f, 3, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
        uint64_t id = expect_request_for_workers(&f, 1);
        assert_quiet(&f); /* one request for all, and all wait */
        reply_slots_and_spare(&f, id, false, 1, 104);
        reply_status(&f, expect_send(&f, CELEBORN_RESERVE_SLOTS, 103), CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        for (int i = 1; i <= 3; i++)
                assert_int_equal(expect_answer(&f, i, CELEBORN_SUCCESS)->locations[0].epoch, 1);
        /* the worker that the master has named since is used, also if it names no other */
        ask(&f, 4, CELEBORN_ASK_REVIVE, 0, 1, CELEBORN_PUSH_TIMEOUT_PRIMARY);
        id = expect_request_for_workers(&f, 2);
        reply_status(&f, id, CELEBORN_REQUEST_SLOTS_RESPONSE, CELEBORN_SLOT_NOT_AVAILABLE);
        reply_status(&f, expect_send(&f, CELEBORN_RESERVE_SLOTS, 104), CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        const struct celeborn_answer *answer = expect_answer(&f, 4, CELEBORN_SUCCESS);
        assert_int_equal(answer->locations[0].epoch, 2);
        assert_int_equal(answer->workers[answer->locations[0].primary].rpc_port, 104);
        assert_quiet(&f);
        fixture_end(&f);
}

static void master_is_not_asked_for_workers_while_enough_are_usable(void **state)
{
        struct fixture f;
        fixture_open_dynamic(&f, 0.6);
        ask(&f, 1, CELEBORN_ASK_REVIVE, 0, 0, CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY);
        assert_quiet(&f);
        f.now += 100 * MS;
        lifecycle_tick(f.core, f.now);
        reply_status(&f, expect_send(&f, CELEBORN_RESERVE_SLOTS, 103), CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        expect_answer(&f, 1, CELEBORN_SUCCESS);
        fixture_end(&f);
}

/* No worker is left, and no master answers: the executor learns that there is no other location, and gives up. */
static void questions_are_answered_when_no_master_names_workers(void **state)
{
        struct fixture f;
        fixture_open_dynamic(&f, 1);
        ask(&f, 1, CELEBORN_ASK_REVIVE, 0, 0, CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY);
        f.now += 100 * MS;
        lifecycle_tick(f.core, f.now);
        reply_status(&f, expect_send(&f, CELEBORN_RESERVE_SLOTS, 103), CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        expect_answer(&f, 1, CELEBORN_SUCCESS);
        ask(&f, 2, CELEBORN_ASK_REVIVE, 0, 1, CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY);
        for (int i = 0; i < 3; i++) { /* config.master_retries and one */
                lifecycle_failed(f.core, expect_request_for_workers(&f, 2), "connection refused", f.now);
                f.now += 100 * MS;
                lifecycle_tick(f.core, f.now);
        }
        assert_int_equal(expect_answer(&f, 2, CELEBORN_SUCCESS)->locations[0].epoch, 1);
        assert_quiet(&f);
        fixture_end(&f);
}

static void maps_may_end_while_the_master_is_asked_for_workers(void **state)
{
        static const int32_t attempts[] = {7};
        struct fixture f;
        fixture_open_dynamic(&f, 0.5);
        ask(&f, 1, CELEBORN_ASK_REVIVE, 0, 0, CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY);
        const uint64_t id = expect_request_for_workers(&f, 1);
        lifecycle_maps_ended(f.core, 0, attempts, f.now);
        expect_send(&f, CELEBORN_COMMIT_FILES, 101);
        expect_answer(&f, 1, CELEBORN_STAGE_ENDED);
        reply_slots_and_spare(&f, id, false, 1, 104);
        assert_quiet(&f);
        fixture_end(&f);
}

static void reservation_that_fails_moves_to_another_worker(void **state)
{
        struct fixture f;
        fixture_start(&f, true, 1);
        expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097);
        lifecycle_begin(f.core, 0, 1, 1, f.now);
        ask(&f, 1, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
        reply_slots(&f, expect_send(&f, CELEBORN_REQUEST_SLOTS, 9097), true, 1);
        reply_status(&f, expect_send(&f, CELEBORN_RESERVE_SLOTS, 101), CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        reply_status(&f, expect_send(&f, CELEBORN_RESERVE_SLOTS, 102), CELEBORN_RESERVE_SLOTS_RESPONSE,
                     CELEBORN_RESERVE_SLOTS_FAILED);
        expect_send(&f, CELEBORN_DESTROY_WORKER_SLOTS, 101);
        reply_status(&f, expect_send(&f, CELEBORN_RESERVE_SLOTS, 101), CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        reply_status(&f, expect_send(&f, CELEBORN_RESERVE_SLOTS, 103), CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        assert_int_equal(expect_answer(&f, 1, CELEBORN_SUCCESS)->locations[0].epoch, 1);
        fixture_end(&f);
}

static void request_follows_the_leader_among_masters(void **state)
{
        struct fixture f;
        fixture_start(&f, false, 2);
        lifecycle_failed(f.core, expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097), "connection refused",
                         f.now);
        f.now += 100 * MS;
        lifecycle_tick(f.core, f.now);
        lifecycle_failed(f.core, expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9098),
                         "Suggested leader is Master:(m3:9099,m3:9099)", f.now);
        lifecycle_begin(f.core, 0, 1, 1, f.now);
        const uint64_t lost = expect_send(&f, CELEBORN_REQUEST_SLOTS, 9099);
        f.now += 2000 * MS; /* it does not answer */
        lifecycle_tick(f.core, f.now);
        expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097); /* soon after the one that failed */
        assert_quiet(&f);
        f.now += 100 * MS;
        lifecycle_tick(f.core, f.now);
        const uint64_t again = expect_send(&f, CELEBORN_REQUEST_SLOTS, 9097);
        reply_slots(&f, lost, false, 1); /* too late */
        assert_quiet(&f);
        reply_slots(&f, again, false, 1);
        expect_send(&f, CELEBORN_RESERVE_SLOTS, 101);
        fixture_end(&f);
}

static void refused_shuffle_names_the_remedy_and_registers_again_when_asked(void **state)
{
        struct fixture f;
        fixture_start(&f, false, 1);
        expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097);
        lifecycle_begin(f.core, 0, 1, 1, f.now);
        ask(&f, 1, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
        for (int i = 0; i < 2; i++) {
                Celeborn__RequestSlotsResponse reply = CELEBORN__REQUEST_SLOTS_RESPONSE__INIT;
                reply.status = CELEBORN_SLOT_NOT_AVAILABLE;
                reply_with(&f, expect_send(&f, CELEBORN_REQUEST_SLOTS, 9097), CELEBORN_REQUEST_SLOTS_RESPONSE,
                           &reply.base);
                f.now += 500 * MS;
                if (i == 0)
                        lifecycle_tick(f.core, f.now);
        }
        const struct celeborn_answer *answer = expect_answer(&f, 1, CELEBORN_RESERVE_SLOTS_FAILED);
        assert_non_null(strstr(answer->message, "SLOT_NOT_AVAILABLE; check spark.celeborn.master.endpoints"));
        ask(&f, 2, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
        expect_send(&f, CELEBORN_REQUEST_SLOTS, 9097);
        fixture_end(&f);
}

static void without_a_master_that_ever_answered_questions_fail_at_once(void **state)
{
        struct fixture f;
        fixture_start(&f, false, 1);
        const uint64_t beat = expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097);
        lifecycle_failed(f.core, beat, "connection refused", f.now);
        lifecycle_begin(f.core, 0, 1, 1, f.now);
        ask(&f, 1, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
        for (int i = 0; i < 3; i++) { /* master_retries is 2 */
                lifecycle_failed(f.core, expect_send(&f, CELEBORN_REQUEST_SLOTS, 9097), "connection refused", f.now);
                f.now += 100 * MS;
                lifecycle_tick(f.core, f.now);
        }
        const struct celeborn_answer *answer = expect_answer(&f, 1, CELEBORN_RESERVE_SLOTS_FAILED);
        assert_non_null(strstr(answer->message, "connection refused; check spark.celeborn.master.endpoints"));
        ask(&f, 2, CELEBORN_ASK_LOCATIONS, 0, 0, 0); /* the task's next attempt */
        expect_answer(&f, 2, CELEBORN_RESERVE_SLOTS_FAILED);
        assert_quiet(&f);
        Celeborn__HeartbeatFromApplicationResponse here = CELEBORN__HEARTBEAT_FROM_APPLICATION_RESPONSE__INIT;
        f.now += 10000 * MS;
        lifecycle_tick(f.core, f.now);
        reply_with(&f, expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097), CELEBORN_HEARTBEAT_RESPONSE,
                   &here.base);
        ask(&f, 3, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
        expect_send(&f, CELEBORN_REQUEST_SLOTS, 9097);
        fixture_end(&f);
}

static void invalid_answers_are_failures(void **state)
{
        struct fixture f;
        fixture_start(&f, false, 1);
        expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097);
        lifecycle_begin(f.core, 0, 1, 1, f.now);
        ask(&f, 1, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
        reply_slots(&f, expect_send(&f, CELEBORN_REQUEST_SLOTS, 9097), false, 2); /* partition 0 twice */
        expect_answer(&f, 1, CELEBORN_RESERVE_SLOTS_FAILED);
        lifecycle_begin(f.core, 1, 1, 1, f.now);
        ask(&f, 2, CELEBORN_ASK_LOCATIONS, 1, 0, 0);
        lifecycle_reply(f.core, expect_send(&f, CELEBORN_REQUEST_SLOTS, 9097), CELEBORN_REQUEST_SLOTS_RESPONSE,
                        (const uint8_t *)"\xff\xff", 2, f.now);
        expect_answer(&f, 2, CELEBORN_RESERVE_SLOTS_FAILED);
        lifecycle_reply(f.core, 999, CELEBORN_REQUEST_SLOTS_RESPONSE, NULL, 0, f.now); /* to no request */
        assert_quiet(&f);
        fixture_end(&f);
}

static void heartbeats_go_on_until_the_end_is_announced(void **state)
{
        struct fixture f;
        fixture_open(&f, false);
        f.now = lifecycle_deadline(f.core);
        assert_int_equal(f.now, MS + 10000 * MS);
        lifecycle_tick(f.core, f.now);
        expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097);
        ask(&f, 1, CELEBORN_ASK_FILES, 0, 0, 0);
        lifecycle_stop(f.core, f.now);
        expect_answer(&f, 1, CELEBORN_SHUFFLE_UNREGISTERED);
        reply_status(&f, expect_send(&f, CELEBORN_APPLICATION_LOST, 9097), CELEBORN_APPLICATION_LOST_RESPONSE, 0);
        assert_int_equal(fixture_next(&f)->kind, LIFECYCLE_STOPPED);
        assert_true(lifecycle_deadline(f.core) == INT64_MAX);
        fixture_end(&f);
}

static void stops_at_once_when_no_master_ever_answered(void **state)
{
        struct fixture f;
        fixture_start(&f, false, 2);
        expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097);
        lifecycle_stop(f.core, f.now);
        for (int i = 0; i < 3; i++) {
                assert_true(lifecycle_deadline(f.core) > f.now);
                lifecycle_failed(f.core, expect_send(&f, CELEBORN_APPLICATION_LOST, i % 2 ? 9098 : 9097),
                                 "connection refused", f.now);
                lifecycle_tick(f.core, f.now);
        }
        assert_int_equal(fixture_next(&f)->kind, LIFECYCLE_STOPPED);
        fixture_end(&f);
}

/* ------------------------------------------------------------------------------------------------ resuming */

/* A driver that goes on after the first @n records of an earlier one. */
/* Sends the next heartbeat, which the master answers with these shuffles. */
static void fixture_beat(struct fixture *f, int32_t *shuffles, size_t n)
{
        Celeborn__HeartbeatFromApplicationResponse beat = CELEBORN__HEARTBEAT_FROM_APPLICATION_RESPONSE__INIT;
        beat.registered_shuffles = shuffles;
        beat.n_registered_shuffles = n;
        f->now += 10000 * MS;
        lifecycle_tick(f->core, f->now);
        reply_with(f, expect_send(f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097), CELEBORN_HEARTBEAT_RESPONSE,
                   &beat.base);
}

static Celeborn__ReviseLostShuffles *expect_revise(struct fixture *f, uint64_t *id)
{
        const struct lifecycle_action *a = fixture_next(f);
        assert_int_equal(a->kind, LIFECYCLE_SEND);
        assert_int_equal(a->send.type, CELEBORN_REVISE_LOST_SHUFFLES);
        *id = a->send.id;
        return celeborn__revise_lost_shuffles__unpack(NULL, a->send.len, a->send.body);
}

static void shuffles_that_the_master_has_lost_are_registered_again(void **state)
{
        struct fixture f;
        int32_t known[] = {4, 0};
        uint64_t id;
        fixture_open(&f, false); /* whose heartbeat was sent before */
        fixture_beat(&f, known, 2);
        assert_quiet(&f);
        fixture_beat(&f, NULL, 0);
        Celeborn__ReviseLostShuffles *revise = expect_revise(&f, &id);
        assert_string_equal(revise->app_id, "app");
        assert_int_equal(revise->n_lost_shuffles, 1);
        assert_int_equal(revise->lost_shuffles[0], 0);
        celeborn__revise_lost_shuffles__free_unpacked(revise, NULL);
        lifecycle_reply(f.core, id, CELEBORN_REVISE_LOST_SHUFFLES_RESPONSE, NULL, 0, f.now);
        fixture_beat(&f, known, 2);
        assert_quiet(&f);
        f.now += 10000 * MS;
        lifecycle_tick(f.core, f.now);
        const uint64_t late = expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097);
        lifecycle_drop(f.core, 0, f.now);
        expect_send(&f, CELEBORN_UNREGISTER_SHUFFLE, 9097);
        Celeborn__HeartbeatFromApplicationResponse beat = CELEBORN__HEARTBEAT_FROM_APPLICATION_RESPONSE__INIT;
        reply_with(&f, late, CELEBORN_HEARTBEAT_RESPONSE, &beat.base);
        assert_quiet(&f); /* it is not needed any more */
        fixture_end(&f);
}

static void a_master_that_cannot_revise_is_asked_once(void **state)
{
        struct fixture f;
        uint64_t id;
        fixture_open(&f, false);
        fixture_beat(&f, NULL, 0);
        celeborn__revise_lost_shuffles__free_unpacked(expect_revise(&f, &id), NULL);
        lifecycle_failed(f.core, id, "IllegalArgumentException", f.now);
        assert_quiet(&f);
        fixture_beat(&f, NULL, 0);
        assert_quiet(&f);
        fixture_end(&f);
}

static void heartbeat_that_fails_is_soon_followed_by_another(void **state)
{
        struct fixture f;
        fixture_open(&f, false);
        f.now += 10000 * MS;
        lifecycle_tick(f.core, f.now);
        lifecycle_failed(f.core, expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097), "connection refused",
                         f.now);
        assert_true(lifecycle_deadline(f.core) <= f.now + 1000 * MS);
        fixture_end(&f);
}

/* But no sooner than some time after the last one: a master may close each connection. */
static void connection_that_ends_is_followed_by_a_heartbeat(void **state)
{
        int32_t known[] = {0};
        struct fixture f;
        fixture_open(&f, false);
        fixture_beat(&f, known, 1);
        lifecycle_master_disconnected(f.core, f.now);
        assert_int_equal(lifecycle_deadline(f.core), f.now + 1000 * MS);
        f.now += 5000 * MS;
        lifecycle_master_disconnected(f.core, f.now);
        assert_true(lifecycle_deadline(f.core) <= f.now);
        lifecycle_tick(f.core, f.now);
        expect_send(&f, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097);
        assert_quiet(&f);
        fixture_end(&f);
}

static void fixture_resume(struct fixture *next, const struct fixture *f, size_t n)
{
        const struct celeborn_config config = fixture_config(true, 1);
        const struct lifecycle_past_shuffle past = {.number = 0, .shuffle = 5, .maps = 1, .partitions = 1};
        struct lifecycle_past_shuffle read;
        struct buf begun = BUF_INIT;
        *next = (struct fixture){.now = f->now};
        next->core = lifecycle_new(&config, next->now);
        lifecycle_record_shuffle(&begun, &past);
        assert_int_equal(lifecycle_read_shuffle((fst_bytes){begun.data, begun.len}, &read), 0);
        assert_memory_equal(&read, &past, sizeof(past));
        assert_int_equal(lifecycle_restore(next->core, (fst_bytes){begun.data, begun.len}), 0);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(
                        lifecycle_restore(next->core, (fst_bytes){f->records.data[i].data, f->records.data[i].len}), 0);
        lifecycle_restored(next->core, next->now);
        expect_send(next, CELEBORN_HEARTBEAT_FROM_APPLICATION, 9097);
        buf_deinit(&begun);
}

/* Shuffle 0, replicated: an executor asked where to push, and after a split; its maps have ended. */
static void fixture_until_commit(struct fixture *f)
{
        static const int32_t attempts[] = {7};
        fixture_open(f, true);
        ask(f, 1, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
        expect_answer(f, 1, CELEBORN_SUCCESS);
        assert_int_equal(f->records.len, 4); /* three workers, the location */
        ask(f, 2, CELEBORN_ASK_REVIVE, 0, 0, CELEBORN_HARD_SPLIT);
        f->now += 100 * MS;
        lifecycle_tick(f->core, f->now);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(fixture_next(f)->send.type, CELEBORN_RESERVE_SLOTS);
                reply_status(f, f->last.send.id, CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        }
        while (fixture_next(f)->kind != LIFECYCLE_ANSWER)
                reply_status(f, f->last.send.id, CELEBORN_RESERVE_SLOTS_RESPONSE, 0);
        assert_int_equal(f->last.answer.answer.locations[0].epoch, 1);
        assert_int_equal(f->records.len, 5);
        assert_int_equal(f->durable, 5); /* a task may write there after the driver has died */
        lifecycle_maps_ended(f->core, 0, attempts, f->now);
}

/* Answers the requests to commit as workers do that have all files, and returns how many files the answer names. */
static int fixture_commit(struct fixture *f, intptr_t asker, int *requests)
{
        ask(f, asker, CELEBORN_ASK_FILES, 0, 0, 0);
        for (*requests = 0; fixture_next(f)->kind == LIFECYCLE_SEND; ++*requests) {
                Celeborn__CommitFilesResponse done = CELEBORN__COMMIT_FILES_RESPONSE__INIT;
                Celeborn__CommitFiles *asked =
                        celeborn__commit_files__unpack(NULL, f->last.send.len, f->last.send.body);
                assert_int_equal(f->last.send.type, CELEBORN_COMMIT_FILES);
                assert_int_equal(asked->epoch, 1);
                assert_int_equal(asked->map_attempts[0], 7);
                done.committed_primary_ids = asked->primary_ids;
                done.n_committed_primary_ids = asked->n_primary_ids;
                done.committed_replica_ids = asked->replica_ids;
                done.n_committed_replica_ids = asked->n_replica_ids;
                reply_with(f, f->last.send.id, CELEBORN_COMMIT_FILES_RESPONSE, &done.base);
                celeborn__commit_files__free_unpacked(asked, NULL);
        }
        assert_int_equal(f->last.kind, LIFECYCLE_ANSWER);
        assert_int_equal(f->last.answer.answer.status, CELEBORN_SUCCESS);
        return f->last.answer.answer.n_locations;
}

static void another_driver_goes_on_after_any_record(void **state)
{
        struct fixture f, next;
        int requests, again;
        fixture_until_commit(&f);
        assert_int_equal(fixture_commit(&f, 3, &requests), 2);
        assert_int_equal(f.records.len, 7);
        for (size_t n = 0; n <= f.records.len; n++) {
                fixture_resume(&next, &f, n);
                switch (lifecycle_past(next.core, 0)) {
                case LIFECYCLE_PAST_GONE: /* no executor knew where to push */
                        assert_in_range(n, 0, 3);
                        break;
                case LIFECYCLE_PAST_OPEN:
                        assert_in_range(n, 4, 5);
                        ask(&next, 1, CELEBORN_ASK_LOCATIONS, 0, 0, 0);
                        assert_int_equal(expect_answer(&next, 1, CELEBORN_SUCCESS)->locations[0].epoch, n - 4);
                        assert_int_equal(next.last.answer.answer.workers[0].rpc_port,
                                         n == 4 ? 101 : next.last.answer.answer.workers[0].rpc_port);
                        lifecycle_drop(next.core, 0, next.now);
                        expect_send(&next, CELEBORN_UNREGISTER_SHUFFLE, 9097);
                        assert_int_equal(next.durable, next.records.len); /* its maps cannot go on */
                        assert_true(next.durable > 0);
                        break;
                case LIFECYCLE_PAST_ENDED:
                        assert_in_range(n, 6, 7);
                        assert_int_equal(fixture_commit(&next, 1, &again), 2);
                        assert_int_equal(again, n == 6 ? requests : 0); /* the same requests once more */
                        break;
                }
                fixture_end(&next);
        }
        fixture_end(&f);
}

static void damaged_records_are_refused(void **state)
{
        struct fixture f;
        const struct celeborn_config config = fixture_config(true, 1);
        int requests;
        fixture_until_commit(&f);
        fixture_commit(&f, 3, &requests);
        for (size_t i = 0; i < f.records.len; i++)
                for (size_t len = 0; len < f.records.data[i].len; len++) {
                        struct lifecycle *core = lifecycle_new(&config, f.now);
                        for (size_t k = 0; k < i && k < 3; k++) /* workers, but not the shuffle */
                                lifecycle_restore(core, (fst_bytes){f.records.data[k].data, f.records.data[k].len});
                        assert_int_equal(lifecycle_restore(core, (fst_bytes){f.records.data[i].data, len}), -EBADMSG);
                        lifecycle_free(core);
                }
        fixture_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(shuffle_is_reserved_written_committed_and_read),
                cmocka_unit_test(file_without_a_readable_copy_loses_the_shuffle),
                cmocka_unit_test(many_revives_of_a_file_are_one_change),
                cmocka_unit_test(master_names_more_workers_when_half_are_lost),
                cmocka_unit_test(master_is_not_asked_for_workers_while_enough_are_usable),
                cmocka_unit_test(questions_are_answered_when_no_master_names_workers),
                cmocka_unit_test(maps_may_end_while_the_master_is_asked_for_workers),
                cmocka_unit_test(reservation_that_fails_moves_to_another_worker),
                cmocka_unit_test(request_follows_the_leader_among_masters),
                cmocka_unit_test(refused_shuffle_names_the_remedy_and_registers_again_when_asked),
                cmocka_unit_test(without_a_master_that_ever_answered_questions_fail_at_once),
                cmocka_unit_test(invalid_answers_are_failures),
                cmocka_unit_test(heartbeats_go_on_until_the_end_is_announced),
                cmocka_unit_test(stops_at_once_when_no_master_ever_answered),
                cmocka_unit_test(shuffles_that_the_master_has_lost_are_registered_again),
                cmocka_unit_test(a_master_that_cannot_revise_is_asked_once),
                cmocka_unit_test(heartbeat_that_fails_is_soon_followed_by_another),
                cmocka_unit_test(connection_that_ends_is_followed_by_a_heartbeat),
                cmocka_unit_test(another_driver_goes_on_after_any_record),
                cmocka_unit_test(damaged_records_are_refused),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
