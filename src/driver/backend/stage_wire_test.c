/*
 * Tests stages as bytes: their encoding, refused input, untrusted input. tests/lineage shows that decoded
 * stages compute the same results.
 */
#include "exec/task/stage_wire.h"

#include "base/buf.h"
#include "base/mem.h"
#include "api/api_fixture.h"
#include "driver/context.h"
#include "exec/actions/action_kinds.h"
#include "io/output_committer.h"
#include "rdd/slice.h"
#include "rpc/stage.pb-c.h"
#include "store/page.h"

#include <stdio.h>
#include <time.h>

#define HERE(operation) ((fst_site){(operation), "app/demo.c", 7})

static int64_t twice(fst_task *task, int64_t x)
{
        return 2 * x;
}

/* A shared object other than this program: a function of it stands for one of an application. */
static fst_fn foreign(void)
{
        return (fst_fn){.code = (void (*)(void))cmocka_set_message_output,
                        .shape = FST_SHAPE(FST_FORM_I64, FST_KIND_I64, FST_KIND_NONE),
                        .name = "foreign"};
}

static int identify(void *owner, const struct module *module, struct stage_module *file, struct fst_error *error)
{
        assert_string_equal(file->name, module->name);
        memset(file->sha256, 0x5a, sizeof(file->sha256));
        file->has_sha256 = true;
        file->size = 4711;
        return 0;
}

static const struct stage_modules_source shipped = {.identify = identify}, forked = {.same_program = true};

struct stage_world {
        fst_context *sc;
        struct action count;
        struct stage_context work;
};

static int setup(void **state)
{
        struct stage_world *w = new0(struct stage_world);
        w->sc = api_context("local[2,4]", NULL);
        w->count = (struct action){.class = &count_action_class, .type = FST_I64};
        w->work = (struct stage_context){
                .refs = 1, .env = &w->sc->env, .stage_id = 5, .stage_attempt = 1, .action = &w->count};
        *state = w;
        return 0;
}

static int teardown(void **state)
{
        struct stage_world *w = *state;
        shuffle_reader_env_deinit(&w->work.inputs);
        fst_context_stop(w->sc);
        free(w);
        return 0;
}

static void encode(const struct stage_context *work, const struct stage_modules_source *modules, struct buf *out)
{
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(rdd_plan((fst_rdd *)work->final), 0);
        if (stage_encode(work, modules, out, &error))
                fail_msg("%s", error_message(&error));
}

static struct stage_context *decode(const void *data, size_t len, const struct exec_env *env)
{
        struct fst_error error = FST_ERROR_INIT;
        struct stage_context *work = NULL;
        if (stage_decode(data, len, env, &work, &error))
                fail_msg("%s", error_message(&error));
        return work;
}

/* Sets two locations, and @maps outputs of shuffle 3 on them in turn. The last one is lost. */
static void give_inputs(struct stage_world *w, int maps)
{
        struct shuffle_reader_env *in = &w->work.inputs;
        in->locations = new_array(struct shuffle_location, 2);
        in->locations[0] = (struct shuffle_location){0, mem_strdup("1"), mem_strdup("alpha"), 7001};
        in->locations[1] = (struct shuffle_location){4, mem_strdup("2"), mem_strdup("::1"), 7002};
        in->n_locations = 2;
        in->inputs = new_array(struct shuffle_inputs, 1);
        in->inputs[0] = (struct shuffle_inputs){3, maps, new_array(struct shuffle_map, (size_t)maps)};
        in->n_inputs = 1;
        for (int i = 0; i < maps; i++)
                in->inputs[0].maps[i] = (struct shuffle_map){1000 + 3 * i, i + 1 == maps ? -1 : i % 2};
}

static fst_rdd *numbers(struct stage_world *w)
{
        static const int64_t data[] = {1, -2, 3};
        return fst_parallelize_at(w->sc, data, 3, FST_I64, 2, HERE("parallelize"));
}

/* ------------------------------------------------------------------------------------------------------ encoding */

static void as_hexadecimal(const struct buf *bytes, struct buf *text)
{
        for (size_t i = 0; i < bytes->len; i++)
                buf_printf(text, "%02x", (unsigned char)bytes->data[i]);
}

static void encodes_result_stage(void **state)
{
        static const char golden[] =
                "080118052001"                                                     /* version, stage, attempt */
                "2a6a"                                                             /* the RDD: 106 bytes */
                "100218013002"                                                     /* parallelize, I64, 2 partitions */
                "520b706172616c6c656c697a65"                                       /* operation */
                "5a17706172616c6c656c697a652061742064656d6f2e633a37"               /* call site */
                "723c"                                                             /* slices */
                "08031238"                                                         /* 3 rows, 56 bytes */
                "4653533101000000030000000000000018000000000000009c78565829c0be20" /* their header */
                "0100000000000000feffffffffffffff0300000000000000"                 /* 1, -2, 3 */
                "3a070a05636f756e74"                                               /* count */
                "420d1201311a05616c70686120d936" /* executor 0: "1" on alpha, port 7001 */
                "420d08041201321a033a3a3120da36" /* executor 4 */
                "4a0d080312030102001a04d00f0600" /* shuffle 3 */;
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT, text = BUF_INIT;
        w->work.final = numbers(w);
        give_inputs(w, 3);
        encode(&w->work, &shipped, &bytes);
        as_hexadecimal(&bytes, &text);
        assert_string_equal(buf_text(&text), golden);

        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        const fst_rdd *rdd = work->final;
        assert_int_equal(work->stage_id, 5);
        assert_int_equal(work->stage_attempt, 1);
        assert_false(work->barrier);
        assert_int_equal(rdd->op, RDD_PARALLELIZE);
        assert_int_equal(rdd->lineage.partitions, 2);
        assert_string_equal(rdd->call_site, "parallelize at demo.c:7");
        assert_int_equal(((int64_t *)rdd->parallelize.data)[1], -2);
        assert_ptr_equal(work->action->class, &count_action_class);
        assert_int_equal(work->inputs.here, -1);
        assert_string_equal(work->inputs.locations[1].host, "::1");
        assert_int_equal(work->inputs.locations[1].executor, 4);
        assert_int_equal(work->inputs.locations[1].port, 7002);
        assert_int_equal(work->inputs.inputs[0].shuffle_id, 3);
        assert_int_equal(work->inputs.inputs[0].maps[1].task_id, 1003);
        assert_int_equal(work->inputs.inputs[0].maps[1].location, 1);
        assert_int_equal(work->inputs.inputs[0].maps[2].location, -1);
        stage_context_unref(work);
}

static void encodes_map_stage(void **state)
{
        static const char golden[] =
                "080118052001"                                                     /* version, stage, attempt */
                "2a65"                                                             /* the RDD: 101 bytes */
                "100218033001"                                                     /* parallelize, BYTES, 1 partition */
                "520b706172616c6c656c697a65"                                       /* operation */
                "5a17706172616c6c656c697a652061742064656d6f2e633a37"               /* call site */
                "7237"                                                             /* slices */
                "08031233"                                                         /* 3 rows, 51 bytes */
                "465353310300000003000000000000001300000000000000ad8649c70754ba74" /* their header */
                "040000000000000003000000"                                         /* lengths */
                "70656172666967"                                                   /* "pearfig" */
                "3226"                                                             /* the stage: 38 bytes */
                "08011803300138014a02000352036669675a13736f72745f62792061742064656d6f2e633a37" /* shuffle, 3 partitions
                                                                                                  by range, descending;
                                                                                                  bounds; call site */
                ;
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT, text = BUF_INIT;
        static const fst_bytes data[] = {{"pear", 4}, {"", 0}, {"fig", 3}};
        fst_rdd *words = fst_parallelize_at(w->sc, data, 3, FST_BYTES, 1, HERE("parallelize"));
        fst_rdd *sorted = fst_sort_by_at(words, fst_fn_identity, FST_BYTES, FST_DESCENDING, 3, HERE("sort_by"));
        struct sample_key keys[3];
        for (int i = 0; i < 3; i++) {
                fst_column column = {.bytes = (fst_bytes *)&data[i]};
                keys[i] = (struct sample_key){key_prefix(FST_BYTES, column, 0), data[i], 1};
        }
        w->work.final = words;
        w->work.shuffled = sorted;
        w->work.action = NULL;
        struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(stage_encode(&w->work, &shipped, &bytes, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "bounds of sort_by at demo.c:7"));
        error_deinit(&error);
        partitioner_set_bounds(&sorted->shuffle.partitioner, keys, 3);
        encode(&w->work, &shipped, &bytes);
        as_hexadecimal(&bytes, &text);
        assert_string_equal(buf_text(&text), golden);

        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        const struct partitioner *a = &sorted->shuffle.partitioner, *b = &work->shuffled->shuffle.partitioner;
        assert_int_equal(b->n_bounds, a->n_bounds);
        for (int i = 0; i < a->n_bounds; i++) {
                assert_int_equal(b->prefixes[i], a->prefixes[i]);
                assert_true(fst_bytes_equal(b->bounds[i], a->bounds[i]));
        }
        assert_int_equal(b->order, FST_DESCENDING);
        assert_int_equal(work->shuffled->shuffle.id, sorted->shuffle.id);
        const fst_bytes *rows = work->final->parallelize.data;
        assert_true(fst_bytes_equal(rows[0], data[0]));
        assert_true(rows[1].len == 0);
        assert_true(fst_bytes_equal(rows[2], data[2]));
        stage_context_unref(work);
}

/* Comparing bytes needs a pointer even for empty bytes, which the wire does not carry. */
static void encodes_empty_bound(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        static const fst_bytes data[] = {{"", 0}, {"pear", 4}};
        fst_rdd *words = fst_parallelize_at(w->sc, data, 2, FST_BYTES, 1, HERE("parallelize"));
        fst_rdd *sorted = fst_sort_by_at(words, fst_fn_identity, FST_BYTES, FST_ASCENDING, 2, HERE("sort_by"));
        partitioner_set_bounds(&sorted->shuffle.partitioner, &(struct sample_key){0, data[0], 1}, 1);
        w->work.final = words;
        w->work.shuffled = sorted;
        w->work.action = NULL;
        w->work.barrier = true;
        encode(&w->work, &shipped, &bytes);
        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        assert_true(work->barrier);
        const struct partitioner *p = &work->shuffled->shuffle.partitioner;
        fst_batch batch = {.rows = 2, .type = FST_BYTES, .key.bytes = (fst_bytes *)data};
        uint32_t places[2];
        assert_int_equal(p->n_bounds, 1);
        assert_int_equal(p->bounds[0].len, 0);
        assert_non_null(p->bounds[0].data);
        partitioner_place(p, &batch, places);
        assert_int_equal(places[0], 0);
        assert_int_equal(places[1], 1);
        stage_context_unref(work);
}

static void many_map_outputs_stay_small(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        w->work.final = numbers(w);
        give_inputs(w, 10000);
        encode(&w->work, &shipped, &bytes);
        assert_true(bytes.len < 40000);
        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        assert_int_equal(work->inputs.inputs[0].n, 10000);
        for (int i = 0; i < 9999; i++) {
                assert_int_equal(work->inputs.inputs[0].maps[i].task_id, 1000 + 3 * i);
                assert_int_equal(work->inputs.inputs[0].maps[i].location, i % 2);
        }
        stage_context_unref(work);
}

static void text_splits_stay_small(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        fst_rdd *text = fst_text_file_at(w->sc, "/dev/null", 1, HERE("text_file"));
        enum { FILES = 100, EACH = 100, SIZE = 32 << 20 };
        for (int i = 0; i < FILES * EACH; i++) {
                char path[64];
                snprintf(path, sizeof(path), "file:/data/input/part-%05d%s", i / EACH, i / EACH == 99 ? ".gz" : "");
                vec_push(&text->text.splits,
                         (struct input_split){.path = arena_copy(&text->text.splits.arena, path, strlen(path)),
                                              .start = (uint64_t)(i % EACH) * SIZE,
                                              .length = i % EACH == EACH - 1 ? SIZE / 3 : SIZE,
                                              .codec = i / EACH == 99 ? CODEC_GZIP : CODEC_NONE});
        }
        text->lineage.partitions = FILES * EACH;
        text->planned = true;
        w->work.final = text;
        encode(&w->work, &shipped, &bytes);
        assert_true(bytes.len < 60000);
        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        for (int i = 0; i < FILES * EACH; i++) {
                const struct input_split *a = &text->text.splits.data[i], *b = &work->final->text.splits.data[i];
                assert_string_equal(a->path, b->path);
                assert_true(a->start == b->start);
                assert_true(a->length == b->length);
                assert_true(a->codec == b->codec);
        }
        stage_context_unref(work);
}

/* Three files of two partitions. */
static fst_rdd *whole_files(struct stage_world *w)
{
        static const char *const paths[] = {"file:/a", "file:/b.gz", "file:/c"};
        fst_rdd *files = fst_whole_text_files_at(w->sc, "/dev/null", 1, HERE("whole_text_files"));
        for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
                vec_push(&files->whole.splits, (struct input_split){.path = paths[i],
                                                                    .length = 10 * i,
                                                                    .codec = i == 1 ? CODEC_GZIP : CODEC_NONE});
        files->whole.firsts = new_array(uint32_t, 3);
        memcpy(files->whole.firsts, (uint32_t[]){0, 2, 3}, 3 * sizeof(uint32_t));
        files->lineage.partitions = 2;
        files->planned = true;
        return files;
}

/* Four splits of two partitions. */
static fst_rdd *combined_text(struct stage_world *w)
{
        static const char *const paths[] = {"file:/a", "file:/a", "file:/b.gz", "file:/c"};
        fst_rdd *text = fst_text_file_at(w->sc, "/dev/null", 1, HERE("text_file"));
        struct input_splits *splits = &text->text.splits;
        for (size_t i = 0; i < ARRAY_SIZE(paths); i++)
                vec_push(splits, (struct input_split){.path = paths[i],
                                                      .start = i == 1 ? 7 : 0,
                                                      .length = 7,
                                                      .codec = i == 2 ? CODEC_GZIP : CODEC_NONE});
        splits->firsts = arena_alloc(&splits->arena, 3 * sizeof(uint32_t));
        memcpy(splits->firsts, (uint32_t[]){0, 3, 4}, 3 * sizeof(uint32_t));
        text->lineage.partitions = (int)(splits->partitions = 2);
        text->planned = true;
        return text;
}

static void encodes_partitions_of_several_splits(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        w->work.final = combined_text(w);
        encode(&w->work, &shipped, &bytes);
        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        const struct input_splits *splits = &work->final->text.splits;
        assert_int_equal(work->final->lineage.partitions, 2);
        assert_int_equal(input_splits_partitions(splits), 2);
        assert_memory_equal(splits->firsts, ((uint32_t[]){0, 3, 4}), 3 * sizeof(uint32_t));
        assert_int_equal(splits->len, 4);
        assert_int_equal(splits->data[1].start, 7);
        assert_string_equal(splits->data[3].path, "file:/c");
        stage_context_unref(work);
}

static void encodes_file_partitions(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT, records = BUF_INIT;
        w->work.final = whole_files(w);
        encode(&w->work, &shipped, &bytes);
        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        const fst_rdd *files = work->final;
        assert_int_equal(files->whole.splits.len, 3);
        assert_memory_equal(files->whole.firsts, ((uint32_t[]){0, 2, 3}), 3 * sizeof(uint32_t));
        assert_string_equal(files->whole.splits.data[1].path, "file:/b.gz");
        assert_int_equal(files->whole.splits.data[1].codec, CODEC_GZIP);
        assert_int_equal(files->whole.splits.data[2].length, 20);
        stage_context_unref(work);

        fst_rdd *fixed = fst_binary_records_at(w->sc, "/dev/null", 12, HERE("binary_records"));
        vec_push(&fixed->text.splits, (struct input_split){.path = "file:/a", .start = 24, .length = 36});
        fixed->lineage.partitions = 1;
        fixed->planned = true;
        w->work.final = fixed;
        encode(&w->work, &shipped, &records);
        work = decode(records.data, records.len, &w->sc->env);
        assert_int_equal(work->final->type.key_size, 12);
        assert_int_equal(work->final->text.splits.data[0].start, 24);
        stage_context_unref(work);
}

static void decoder_finds_own_map_outputs(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct exec_env env = w->sc->env;
        w->work.final = numbers(w);
        give_inputs(w, 5);
        encode(&w->work, &shipped, &bytes);
        env.executor_id = "2";
        struct stage_context *work = decode(bytes.data, bytes.len, &env);
        assert_int_equal(work->inputs.here, 1);
        assert_ptr_equal(work->inputs.store, env.shuffles);
        stage_context_unref(work);
}

/* ------------------------------------------------------------------------------------------------------- functions */

static int note_module(void *owner, const struct stage_module *file, struct fst_error *error)
{
        assert_true(strstr(file->name, "libcmocka") != NULL);
        assert_true(file->has_sha256);
        assert_int_equal(file->sha256[31], 0x5a);
        assert_int_equal(file->size, 4711);
        assert_true(strlen(file->build_id) >= 8);
        ++*(int *)owner;
        return 0;
}

static void encodes_functions_with_module(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        long double captured = 2.5L; /* needs an alignment of 16 */
        fst_fn fn = fst_fn_with(foreign(), &captured, sizeof(captured));
        fst_rdd *mapped = fst_map_at(numbers(w), fn, FST_I64, HERE("map"));
        mapped = fst_map_at(mapped, foreign(), FST_I64, HERE("map"));
        int modules = 0;
        w->work.final = fst_rdd_set_name(fst_persist(mapped, FST_STORAGE_MEMORY_AND_DISK), "doubled");
        encode(&w->work, &shipped, &bytes);
        assert_int_equal(stage_modules(bytes.data, bytes.len, note_module, &modules, &error), 0);
        assert_int_equal(modules, 1);

        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        assert_string_equal(work->final->lineage.name, "doubled");
        assert_int_equal(work->final->lineage.storage_level, FST_STORAGE_MEMORY_AND_DISK);
        assert_null(work->final->fn.captured);
        const fst_rdd *below = rdd_parent(work->final);
        assert_ptr_equal(below->fn.code, fn.code);
        assert_int_equal((uintptr_t)below->fn.captured % 16, 0);
        assert_int_equal(below->fn.captured_size, sizeof(captured));
        assert_true(*(const long double *)below->fn.captured == captured);
        assert_non_null(strstr(below->fn.name, "libcmocka"));
        stage_context_unref(work);
}

static void rejects_functions_of_the_program(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct fst_error error = FST_ERROR_INIT;
        w->work.final = fst_map_at(numbers(w), FST_FN(twice), FST_I64, HERE("map"));
        assert_int_equal(stage_encode(&w->work, &shipped, &bytes, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "twice"));
        assert_non_null(strstr(error_message(&error), "function of the program itself"));
        assert_non_null(strstr(error_message(&error), "firesteel compile"));
        assert_int_equal(bytes.len, 0);
        error_deinit(&error);
        encode(&w->work, &forked, &bytes);
        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        assert_true(work->final->fn.code == (void (*)(void))twice);
        stage_context_unref(work);
}

/* Change one message of an encoded stage. */
static void change(struct buf *bytes, void (*how)(Firesteel__Stage *stage))
{
        Firesteel__Stage *stage = firesteel__stage__unpack(NULL, bytes->len, (const uint8_t *)bytes->data);
        how(stage);
        size_t size = firesteel__stage__get_packed_size(stage);
        buf_reset(bytes);
        buf_reserve(bytes, size);
        bytes->len = firesteel__stage__pack(stage, (uint8_t *)bytes->data);
        firesteel__stage__free_unpacked(stage, NULL);
}

static void another_build(Firesteel__Stage *s)
{
        s->modules[0]->build_id.data[0] ^= 1;
}
static void another_version(Firesteel__Stage *s)
{
        s->version = 2;
}
static void another_offset(Firesteel__Stage *s)
{
        s->rdds[1]->function->offset = 1ull << 40;
}
static void another_shape(Firesteel__Stage *s)
{
        s->rdds[1]->function->shape = FST_SHAPE(FST_FORM_I64, FST_KIND_BYTES, FST_KIND_NONE);
}
static void another_builtin(Firesteel__Stage *s)
{
        s->rdds[1]->function->module = 0;
}
static void no_module(Firesteel__Stage *s)
{
        s->rdds[1]->function->module = 3;
}
static void itself_as_parent(Firesteel__Stage *s)
{
        s->rdds[1]->parents[0] = 1;
}
static void more_partitions(Firesteel__Stage *s)
{
        s->rdds[1]->partitions = 3;
}
static void another_operator(Firesteel__Stage *s)
{
        s->rdds[1]->op = (Firesteel__Operator)99;
}
static void another_type(Firesteel__Stage *s)
{
        s->rdds[0]->kinds = FST_KIND_BYTES;
}
static void more_rows(Firesteel__Stage *s)
{
        s->rdds[0]->slices->rows = 1ull << 60;
}
static void damaged_rows(Firesteel__Stage *s)
{
        s->rdds[0]->slices->data.data[SLICE_HEADER] ^= 1;
}
static void more_files(Firesteel__Stage *s)
{
        s->rdds[0]->text->files[1] = 2;
}
static void fewer_files(Firesteel__Stage *s)
{
        s->rdds[0]->text->files[0] = 1;
}
static void fewer_partitions(Firesteel__Stage *s)
{
        s->rdds[0]->text->n_files--;
}
static void another_codec(Firesteel__Stage *s)
{
        s->rdds[0]->text->codec[0] = CODEC_KINDS;
}
static void lines_instead(Firesteel__Stage *s)
{
        s->rdds[0]->op = FIRESTEEL__OPERATOR__TEXT_FILE;
}
static void records_instead(Firesteel__Stage *s)
{
        s->rdds[0]->op = FIRESTEEL__OPERATOR__BINARY_RECORDS;
}
static void another_action(Firesteel__Stage *s)
{
        s->action->name[0] = 'C';
}
static void another_place(Firesteel__Stage *s)
{
        s->inputs[0]->location[0] = 3;
}
static void fewer_places(Firesteel__Stage *s)
{
        s->inputs[0]->n_location--;
}
static void no_rdds(Firesteel__Stage *s)
{
        while (s->n_rdds)
                firesteel__rdd__free_unpacked(s->rdds[--s->n_rdds], NULL);
}

struct stage_change {
        void (*how)(Firesteel__Stage *stage);
        int status;
        const char *says;
};

static void check_refused(struct stage_world *w, const struct stage_change *changes, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
                struct fst_error error = FST_ERROR_INIT;
                struct stage_context *work = NULL;
                encode(&w->work, &shipped, &bytes);
                change(&bytes, changes[i].how);
                int r = stage_decode(bytes.data, bytes.len, &w->sc->env, &work, &error);
                if (r != changes[i].status || !strstr(error_message(&error), changes[i].says))
                        fail_msg("change %zu: %d \"%s\"", i, r, error_message(&error));
                assert_null(work);
                error_deinit(&error);
        }
}

static void rejects_invalid_files(void **state)
{
        static const struct stage_change changes[] = {
                {more_files, -EBADMSG, "files that do not exist"},
                {fewer_files, -EBADMSG, "splits do not match its partitions"},
                {fewer_partitions, -EBADMSG, "files of each partition are missing"},
                {another_codec, -EBADMSG, "invalid file or codec"},
                {lines_instead, -EBADMSG, "lines of text are BYTES"},
                {records_instead, -EBADMSG, "binary records are FIXED"},
        };
        static const struct stage_change text_changes[] = {
                {more_files, -EBADMSG, "files that do not exist"},
                {fewer_files, -EBADMSG, "splits do not match its partitions"},
                {fewer_partitions, -EBADMSG, "files of each partition are missing"},
        };
        struct stage_world *w = *state;
        w->work.final = whole_files(w);
        check_refused(w, changes, ARRAY_SIZE(changes));
        w->work.final = combined_text(w);
        check_refused(w, text_changes, ARRAY_SIZE(text_changes));
}

static void rejects_stages_of_other_builds_and_inconsistent_operators(void **state)
{
        static const struct stage_change changes[] = {
                {another_build, -ENOENT, "no module with build-id"},
                {another_version, -EBADMSG, "version 2"},
                {another_offset, -EINVAL, "not in the code of"},
                {another_shape, -EBADMSG, "takes BYTES, but the rows are I64"},
                {another_builtin, -EBADMSG, "no built-in function"},
                {no_module, -EBADMSG, "a function has no module"},
                {itself_as_parent, -EBADMSG, "does not precede it"},
                {more_partitions, -EBADMSG, "partitions do not match its parent"},
                {another_operator, -EBADMSG, "operator is unknown"},
                {another_type, -EBADMSG, "rows of parallelize"},
                {more_rows, -EBADMSG, "rows of parallelize"},
                {damaged_rows, -EBADMSG, "checksum"},
                {another_action, -EBADMSG, "no action Count"},
                {another_place, -EBADMSG, "invalid location"},
                {fewer_places, -EBADMSG, "wrong number of map output locations"},
                {no_rdds, -EBADMSG, "list of RDDs is empty"},
        };
        struct stage_world *w = *state;
        w->work.final = fst_map_at(numbers(w), foreign(), FST_I64, HERE("map"));
        give_inputs(w, 3);
        check_refused(w, changes, ARRAY_SIZE(changes));
}

static int meet(fst_task *task, int64_t key, int64_t left, int64_t right, fst_out *out)
{
        return 0;
}

static void unknown_side(Firesteel__Stage *s)
{
        s->shuffle_write->side = 2;
}

static void one_part(Firesteel__Stage *s)
{
        s->shuffle_write->heavy_keys[1]->parts = 1;
}

static void unordered_keys(Firesteel__Stage *s)
{
        s->shuffle_write->heavy_keys[1]->hash = 7;
}

static void encodes_heavy_keys(void **state)
{
        static const struct stage_change changes[] = {
                {unknown_side, -EBADMSG, "unknown side"},
                {one_part, -EBADMSG, "a heavy key is invalid"},
                {unordered_keys, -EBADMSG, "a heavy key is invalid"},
        };
        static const int64_t data[] = {1, -2, 3};
        struct stage_world *w = *state;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        fst_rdd *pairs = fst_parallelize_pairs(w->sc, data, data, 3);
        fst_rdd *joined = fst_skewed_join_at(pairs, pairs, FST_FN(meet), FST_I64, 3, HERE("skewed_join"));
        struct heavy_key keys[] = {{7, 1, 2, JOIN_LEFT}, {UINT64_C(9) << 40, 2, 3, JOIN_RIGHT}};
        uint32_t slots[8] = {0};
        struct heavy_keys heavy = {.keys = keys, .n = 2, .slots = slots};
        w->work.final = pairs;
        w->work.shuffled = joined->parents[JOIN_RIGHT];
        w->work.action = NULL;
        assert_int_equal(stage_encode(&w->work, &shipped, &bytes, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "heavy keys of skewed_join at demo.c:7 are not known"));
        error_deinit(&error);
        partitioner_set_heavy_keys(&joined->parents[JOIN_RIGHT]->shuffle.partitioner, &heavy);
        encode(&w->work, &shipped, &bytes);
        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        const struct partitioner *p = &work->shuffled->shuffle.partitioner;
        assert_int_equal(p->kind, PARTITIONER_SKEWED);
        assert_int_equal(p->side, JOIN_RIGHT);
        for (int i = 0; i < 2; i++)
                assert_memory_equal(heavy_keys_find(&p->heavy, keys[i].hash), &keys[i],
                                    offsetof(struct heavy_key, spread));
        stage_context_unref(work);
        check_refused(w, changes, ARRAY_SIZE(changes));
}

/* Each byte changed, and each prefix: an error or a stage, and never much memory. */
static void rejects_damaged_stages(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        w->work.final = fst_map_at(numbers(w), foreign(), FST_I64, HERE("map"));
        give_inputs(w, 20);
        encode(&w->work, &shipped, &bytes);
        for (size_t i = 0; i < bytes.len * 4; i++) {
                struct fst_error error = FST_ERROR_INIT;
                struct stage_context *work = NULL;
                size_t at = i % bytes.len, len = i < bytes.len ? at : bytes.len;
                char *copy = mem_alloc(len + 1), was = bytes.data[at];
                memcpy(copy, bytes.data, len);
                if (at < len)
                        copy[at] = i < 2 * bytes.len ? (char)~was : i < 3 * bytes.len ? (char)(was + 1) : 0;
                if (stage_decode(copy, len, &w->sc->env, &work, &error) == 0) {
                        assert_true(work->memory.bytes < 2 * (32 * len + 65536) + 8192);
                        stage_context_unref(work);
                }
                error_deinit(&error);
                free(copy);
        }
}

static void small_input_allocates_little_memory(void **state)
{
        struct stage_world *w = *state;
        struct fst_error error = FST_ERROR_INIT;
        struct stage_context *work = NULL;
        enum { EMPTY = 500000 };
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        buf_append(&bytes, "\x08\x01", 2);
        for (int i = 0; i < EMPTY; i++)
                buf_append(&bytes, "\x2a\x00", 2); /* an empty Rdd: 2 bytes for some 300 of memory */
        assert_int_equal(stage_decode(bytes.data, bytes.len, &w->sc->env, &work, &error), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "memory"));
        error_deinit(&error);
}

/* ---------------------------------------------------------------------------------------------------------- saving */

static void saving_attempts_share_a_directory(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        struct output_options options = OUTPUT_OPTIONS_INIT;
        struct save_action save = {{.class = &save_action_class, .type = FST_I64}, NULL};
        assert_int_equal(output_committer_new("/tmp/nowhere", 12, &options, &save.committer, NULL), 0);
        w->work.final = numbers(w);
        w->work.action = &save.action;
        encode(&w->work, &shipped, &bytes);
        struct stage_context *work = decode(bytes.data, bytes.len, &w->sc->env);
        struct save_action *there = container_of(work->action, struct save_action, action);
        char *a = output_committer_task_path(save.committer, 1, 77);
        char *b = output_committer_task_path(there->committer, 1, 77);
        assert_string_equal(a, b);
        free(a);
        free(b);
        stage_context_unref(work);
        output_committer_free(save.committer);

        struct output_identity evil = {"/tmp/nowhere", "2024/../../x", 1, 1};
        assert_int_equal(output_committer_join(&evil, &save.committer, NULL), -EINVAL);
}

/* ----------------------------------------------------------------------------------------------------------- speed */

static double microseconds(void)
{
        struct timespec t;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* A stage with rows, five operators with captured structs, and 64 map outputs of 2 executors. */
static void encodes_typical_stage_in_microseconds(void **state)
{
        struct stage_world *w = *state;
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        int64_t captured[4] = {1, 2, 3, 4};
        fst_rdd *rdd = numbers(w);
        enum { ROUNDS = 2000 };
        for (int i = 0; i < 5; i++)
                rdd = fst_map_at(rdd, fst_fn_with(foreign(), captured, sizeof(captured)), FST_I64, HERE("map"));
        w->work.final = rdd;
        give_inputs(w, 64);
        double start = microseconds();
        for (int i = 0; i < ROUNDS; i++) {
                buf_reset(&bytes);
                encode(&w->work, &shipped, &bytes);
        }
        double encoded = microseconds();
        for (int i = 0; i < ROUNDS; i++)
                stage_context_unref(decode(bytes.data, bytes.len, &w->sc->env));
        double decoded = microseconds();
        print_message("%zu bytes, encoded in %.1f us, decoded in %.1f us\n", bytes.len, (encoded - start) / ROUNDS,
                      (decoded - encoded) / ROUNDS);
        assert_true(encoded - start < 500.0 * ROUNDS);
        assert_true(decoded - encoded < 500.0 * ROUNDS);
}

#define WITH_WORLD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
        const struct CMUnitTest tests[] = {
                WITH_WORLD(encodes_result_stage),
                WITH_WORLD(encodes_map_stage),
                WITH_WORLD(encodes_empty_bound),
                WITH_WORLD(many_map_outputs_stay_small),
                WITH_WORLD(text_splits_stay_small),
                WITH_WORLD(decoder_finds_own_map_outputs),
                WITH_WORLD(encodes_functions_with_module),
                WITH_WORLD(rejects_functions_of_the_program),
                WITH_WORLD(encodes_file_partitions),
                WITH_WORLD(encodes_partitions_of_several_splits),
                WITH_WORLD(rejects_stages_of_other_builds_and_inconsistent_operators),
                WITH_WORLD(rejects_invalid_files),
                WITH_WORLD(encodes_heavy_keys),
                WITH_WORLD(rejects_damaged_stages),
                WITH_WORLD(small_input_allocates_little_memory),
                WITH_WORLD(saving_attempts_share_a_directory),
                WITH_WORLD(encodes_typical_stage_in_microseconds),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
