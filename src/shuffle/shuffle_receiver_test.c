/*
 * Tests map outputs that move to another executor: readers find the same rows there in the same order, and an
 * incomplete upload is not kept.
 */
#include "shuffle/shuffle_receiver.h"

#include "rpc/transfer/transfer.pb-c.h"
#include "shuffle/shuffle_fixture.h"
#include "shuffle/shuffle_sender.h"
#include "shuffle/shuffle_wire.h"

enum { MAPS = 24 };

static struct shuffle_output_id id_of(int map)
{
        return (struct shuffle_output_id){SHUFFLE, map, 100 + map};
}

/* Moves an output to executor @to and updates the reader's locations. */
static int move(struct shuffle_world *w, int map, int to, struct fst_error *error)
{
        struct shuffle_output_id id = id_of(map);
        int32_t *location = &w->env.inputs->maps[map].location;
        int r = shuffle_send(w->executors[*location].store, &id, w->client, "127.0.0.1",
                             transfer_server_port(w->executors[to].server), NULL, error);
        if (r)
                return r;
        assert_true(shuffle_store_remove(w->executors[*location].store, SHUFFLE, map, 100 + map));
        *location = to;
        return 0;
}

static void moves_outputs_of_all_forms(void **state)
{
        static const enum codec_kind codecs[] = {CODEC_NONE, CODEC_LZ4, CODEC_ZSTD};
        for (size_t c = 0; c < ARRAY_SIZE(codecs); c++) {
                struct shuffle_world w;
                size_t n;
                world_init(&w, (size_t)64 << 20, codecs[c]);
                make_maps(&w, MAPS, FORMS);
                for (int m = 0; m < MAPS; m++)
                        assert_int_equal(move(&w, m, (w.env.inputs->maps[m].location + 1) % EXECUTORS, NULL), 0);
                for (int p = 0; p < w.partitions; p++, shuffle_run_again(&w))
                        assert_int_equal(read_all(&w, p, 0), 0);
                /* Move all outputs again, now from files, to an executor that has all of them. */
                for (int m = 0; m < MAPS; m++)
                        if (w.env.inputs->maps[m].location != 2)
                                assert_int_equal(move(&w, m, 2, NULL), 0);
                for (int p = 0; p < w.partitions; p++, shuffle_run_again(&w))
                        assert_int_equal(read_all(&w, p, 0), 0);
                free(shuffle_store_list(w.executors[2].store, &n));
                assert_int_equal(n, MAPS);
                free(shuffle_store_list(w.executors[0].store, &n));
                assert_int_equal(n, 0);
                world_deinit(&w);
        }
}

static void does_not_send_a_missing_output(void **state)
{
        struct shuffle_world w;
        struct fst_error error = FST_ERROR_INIT;
        struct shuffle_output_id id = {SHUFFLE, 3, 999};
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 4, MEMORY);
        assert_int_equal(shuffle_send(w.executors[1].store, &id, w.client, "127.0.0.1",
                                      transfer_server_port(w.executors[2].server), NULL, &error),
                         -ENOENT);
        error_deinit(&error);
        world_deinit(&w);
}

/* Writes the complete upload of @map to @bytes. */
static size_t stream_of(struct shuffle_world *w, int map, unsigned char *bytes, size_t most)
{
        Firesteel__FetchShuffle fetch = FIRESTEEL__FETCH_SHUFFLE__INIT;
        struct transfer_stream *stream;
        struct iovec iov[64];
        size_t len = 0;
        int n;
        fetch.shuffle = SHUFFLE;
        fetch.end_partition = w->partitions;
        fetch.n_map_partitions = fetch.n_map_task_ids = 1;
        fetch.map_partitions = &(int32_t){map};
        fetch.map_task_ids = &(int64_t){100 + map};
        struct shuffle_store *store = w->executors[w->env.inputs->maps[map].location].store;
        assert_int_equal(shuffle_server_open(store, &fetch, &stream, NULL), 0);
        while ((n = stream->class->next(stream, iov, 64, NULL)) > 0)
                for (int i = 0; i < n; len += iov[i++].iov_len) {
                        assert_true(len + iov[i].iov_len <= most);
                        memcpy(bytes + len, iov[i].iov_base, iov[i].iov_len);
                }
        assert_int_equal(n, 0);
        stream->class->close(stream);
        return len;
}

/* Uploads @bytes in parts of @step and returns the status. */
static int upload(struct shuffle_world *w, const unsigned char *bytes, size_t len, size_t step, int partitions)
{
        struct fst_error error = FST_ERROR_INIT;
        Firesteel__PutShuffle put = FIRESTEEL__PUT_SHUFFLE__INIT;
        struct transfer_sink *sink;
        put.shuffle = SHUFFLE;
        put.task_id = 7;
        put.partitions = partitions;
        put.kinds = (uint32_t)TYPE.key | (uint32_t)TYPE.value << 8;
        put.key_size = TYPE.key_size;
        put.value_size = TYPE.value_size;
        int r = shuffle_receiver_open(w->executors[2].store, w->memory, &put, &sink, &error);
        if (r) {
                error_deinit(&error);
                return r;
        }
        for (size_t at = 0; at < len && r == 0; at += step)
                r = sink->class->write(sink, bytes + at, MIN(step, len - at), &error);
        if (r == 0)
                r = sink->class->end(sink, &error);
        sink->class->close(sink);
        error_deinit(&error);
        /* The output exists only if it was accepted. */
        assert_int_equal(shuffle_store_remove(w->executors[2].store, SHUFFLE, 0, 7), r == 0);
        return r;
}

static void rejects_truncated_and_damaged_uploads(void **state)
{
        struct shuffle_world w;
        size_t most = (size_t)8 << 20;
        unsigned char *bytes = mem_alloc(most);
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        make_maps(&w, 3, BOTH);
        size_t len = stream_of(&w, 1, bytes, most);
        static const size_t steps[] = {1, 7, 1000, 300000};
        for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
                assert_int_equal(upload(&w, bytes, len, steps[i], w.partitions), 0);
        assert_int_equal(upload(&w, bytes, len, 1000, w.partitions + 1), -EBADMSG);
        assert_int_equal(upload(&w, bytes, len, 1000, w.partitions - 1), -EBADMSG);
        assert_int_equal(upload(&w, bytes, len, 1000, 0), -EINVAL);
        assert_int_equal(upload(&w, bytes, 0, 1000, w.partitions), -EBADMSG);
        for (size_t cut = 1; cut < len; cut += len / 97)
                assert_int_equal(upload(&w, bytes, len - cut, 4096, w.partitions), -EBADMSG);
        for (size_t at = 0; at < len; at += len / 211) {
                bytes[at] ^= 16;
                assert_true(upload(&w, bytes, len, 4096, w.partitions) < 0);
                bytes[at] ^= 16;
        }
        world_deinit(&w);
        free(bytes);
}

static void rejects_invalid_records(void **state)
{
        struct shuffle_world w;
        unsigned char gone[SHUFFLE_RECORD + 4] = {0};
        Firesteel__PutShuffle put = FIRESTEEL__PUT_SHUFFLE__INIT;
        struct transfer_sink *sink;
        world_init(&w, (size_t)64 << 20, CODEC_NONE);
        shuffle_record_put(gone, (struct shuffle_record){SHUFFLE_GONE, 0, 0, 4});
        assert_int_equal(upload(&w, gone, sizeof(gone), 3, 1), -ENOENT);
        shuffle_record_put(gone, (struct shuffle_record){SHUFFLE_PAGE, 0, 0, UINT32_MAX});
        assert_int_equal(upload(&w, gone, sizeof(gone), 3, 1), -EBADMSG);
        shuffle_record_put(gone, (struct shuffle_record){SHUFFLE_END, 0, 0, 4});
        assert_int_equal(upload(&w, gone, sizeof(gone), 3, 1), 0); /* an output without rows */
        put.partitions = 1;
        put.kinds = 77;
        assert_int_equal(shuffle_receiver_open(w.executors[2].store, w.memory, &put, &sink, NULL), -EINVAL);
        put.kinds = FST_KIND_I64;
        put.key_size = 4;
        assert_int_equal(shuffle_receiver_open(w.executors[2].store, w.memory, &put, &sink, NULL), -EINVAL);
        put.key_size = 8;
        put.map_partition = -1;
        assert_int_equal(shuffle_receiver_open(w.executors[2].store, w.memory, &put, &sink, NULL), -EINVAL);
        world_deinit(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(moves_outputs_of_all_forms),
                cmocka_unit_test(does_not_send_a_missing_output),
                cmocka_unit_test(rejects_truncated_and_damaged_uploads),
                cmocka_unit_test(rejects_invalid_records),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
