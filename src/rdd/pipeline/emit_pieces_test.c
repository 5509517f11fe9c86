/* Compares fst_emit_pieces with a loop over fst_split_next and fst_emit, with all vectors that this processor has. */
#include "rdd/pipeline/emit_pieces.h"

#include "base/mem.h"
#include "rdd/pipeline/key.h"
#include "rdd/pipeline/op.h"

#include <firesteel/text.h>

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define TEXT 4096
#define NUMBER 7
#define BLOCK_BYTES 64

/* A sink that joins the rows that it gets by '|'. */
struct joining_sink {
        struct op op;
        char *joined;
        size_t len, rows;
        bool pairs;
        uint32_t (*consumed)(uint32_t n); /* how many of @n pieces it consumes */
};

static int joining_sink_consume(struct op *op, const struct rows *in)
{
        struct joining_sink *sink = container_of(op, struct joining_sink, op);
        assert_in_range(in->batch.rows, 1, FST_BATCH_ROWS);
        for (uint32_t i = 0; i < in->batch.rows; i++) {
                fst_bytes row = in->batch.key.bytes[i];
                memcpy(sink->joined + sink->len, row.data, row.len);
                sink->len += row.len;
                sink->joined[sink->len++] = '|';
                if (sink->pairs)
                        assert_int_equal(in->batch.value.i64[i], NUMBER);
        }
        sink->rows += in->batch.rows;
        return 0;
}

/* Consumes a part of the pieces; the others come as rows. */
static int joining_sink_consume_pieces(struct op *op, const struct piece_ends *pieces, uint32_t *done)
{
        struct joining_sink *sink = container_of(op, struct joining_sink, op);
        assert_int_equal(pieces->pairs, sink->pairs);
        *done = sink->consumed(pieces->n);
        for (uint32_t i = 0; i < *done; i++) {
                fst_bytes piece = piece_at(pieces, i);
                assert_int_not_equal(piece.len, 0);
                memcpy(sink->joined + sink->len, piece.data, piece.len);
                sink->len += piece.len;
                sink->joined[sink->len++] = '|';
        }
        sink->rows += *done;
        return 0;
}

static const struct op_class pieces_sink_class = {"pieces_sink", .consume = joining_sink_consume,
                                                  .consume_pieces = joining_sink_consume_pieces};
static const struct op_class joining_sink_class = {"joining_sink", .consume = joining_sink_consume};
static const struct op_class emitter_class = {"flat_map"};
static struct task_run run;

/* An operator that emits into a sink. */
struct emitter {
        struct op op;
        struct joining_sink sink;
};

static void emitter_init(struct emitter *e, bool pairs, size_t room)
{
        fst_type type = pairs ? FST_PAIR(BYTES, I64) : FST_BYTES;
        *e = (struct emitter){.sink = {.joined = mem_alloc(room), .pairs = pairs}};
        op_init(&e->op, &emitter_class, &run, type);
        op_init(&e->sink.op, &joining_sink_class, &run, type);
        op_alloc_out(&e->op, type);
        e->op.next = &e->sink.op;
}

static void emitter_deinit(struct emitter *e)
{
        op_deinit(&e->op);
        free(e->sink.joined);
}

static uint64_t random_state;

static uint64_t random_below(uint64_t n)
{
        random_state += 0x9e3779b97f4a7c15u;
        return key_mix(random_state) % n;
}

/* Writes words of up to @longest letters, some of them empty, and returns the length of the text. */
static size_t text_make(char *text, size_t longest)
{
        size_t len = random_below(TEXT / (1 + random_below(100)));
        for (size_t i = 0; i < len; i++)
                text[i] = random_below(longest + 1) ? (char)('a' + random_below(26)) : ' ';
        return len;
}

static void emit_by_loop(struct emitter *e, fst_bytes text)
{
        fst_split pieces = fst_split_of(text, ' ');
        for (fst_bytes piece; fst_split_next(&pieces, &piece);)
                if (e->sink.pairs)
                        fst_emit(&e->op.out, piece, NUMBER);
                else
                        fst_emit(&e->op.out, piece);
}

/* @stable: the text is in memory that outlives the batch, so that views of it are emitted. Otherwise it is erased after
 * the call, so that only copies keep it. */
static void compare_with_loop(enum pieces_vectors vectors, bool pairs, bool stable, size_t longest)
{
        enum { CALLS = 40 };
        static char texts[CALLS][TEXT], scratch[TEXT];
        struct emitter ours, loop;
        emitter_init(&ours, pairs, CALLS * (TEXT + 1));
        emitter_init(&loop, pairs, CALLS * (TEXT + 1));
        loop.op.out.stable[0] = (struct fst_stable){(uintptr_t)texts, sizeof(texts)};
        ours.op.out.stable[random_below(2)] = stable ? loop.op.out.stable[0] : (struct fst_stable){0};
        for (int i = 0; i < CALLS; i++) {
                size_t len = text_make(texts[i], longest);
                char *text = stable ? texts[i] : memcpy(scratch, texts[i], len);
                emit_by_loop(&loop, (fst_bytes){texts[i], len});
                pieces_emit_with(vectors, &ours.op.out, (fst_bytes){text, len}, ' ', pairs ? &(int64_t){NUMBER} : NULL,
                                 __FILE__, __LINE__);
                memset(scratch, 0, sizeof(scratch));
        }
        assert_int_equal(op_flush(&ours.op), 0);
        assert_int_equal(op_flush(&loop.op), 0);
        assert_int_equal(ours.sink.rows, loop.sink.rows);
        assert_int_equal(ours.sink.len, loop.sink.len);
        assert_memory_equal(ours.sink.joined, loop.sink.joined, loop.sink.len);
        emitter_deinit(&ours);
        emitter_deinit(&loop);
}

static void emits_what_a_loop_emits(void **state)
{
        for (int vectors = PIECES_PLAIN; vectors <= (int)pieces_vectors_here(); vectors++)
                for (int i = 0; i < 60; i++)
                        compare_with_loop((enum pieces_vectors)vectors, i & 1, i & 2,
                                          (size_t[]){0, 1, 5, 12, 300}[i % 5]);
}

/* Blocks of 64 bytes that are full, end with the text, or hold 64 separators. */
static void emits_at_the_edges_of_blocks(void **state)
{
        static char text[3 * 64 + 1];
        for (int vectors = PIECES_PLAIN; vectors <= (int)pieces_vectors_here(); vectors++)
                for (size_t len = 0; len < sizeof(text); len++)
                        for (int kind = 0; kind < 3; kind++) {
                                struct emitter e;
                                emitter_init(&e, true, 2 * sizeof(text));
                                memset(text, kind == 0 ? ' ' : 'x', sizeof(text));
                                if (kind == 1 && len > 0)
                                        text[len - 1] = ' ';
                                if (kind == 2 && len > 1)
                                        text[len - 2] = ' ';
                                e.op.out.stable[0] = (struct fst_stable){(uintptr_t)text, sizeof(text)};
                                pieces_emit_with((enum pieces_vectors)vectors, &e.op.out, (fst_bytes){text, len}, ' ',
                                                 &(int64_t){NUMBER}, __FILE__, __LINE__);
                                assert_int_equal(op_flush(&e.op), 0);
                                size_t expected = len == 0 ? 1 : kind == 0 ? 0 : kind == 1 ? len > 1 : len > 1 ? 2 : 1;
                                assert_int_equal(e.sink.rows, expected);
                                emitter_deinit(&e);
                        }
}

enum { LINES = 60 };

/* Lines in one buffer. Some end with more than a newline, so that the next one is no neighbour. */
static size_t lines_make(char *buffer, fst_bytes *lines, size_t longest)
{
        size_t at = 0;
        for (int i = 0; i < LINES; i++) {
                size_t len = random_below(4) ? random_below(150) : random_below(3);
                for (size_t j = 0; j < len; j++)
                        buffer[at + j] = random_below(longest + 1) ? (char)('a' + random_below(26)) : ' ';
                lines[i] = (fst_bytes){buffer + at, len};
                at += len;
                if (random_below(10) == 0)
                        buffer[at++] = '\r';
                buffer[at++] = '\n';
        }
        return at;
}

static void assert_same_rows(struct emitter *ours, struct emitter *loop)
{
        assert_int_equal(op_flush(&ours->op), 0);
        assert_int_equal(op_flush(&loop->op), 0);
        assert_int_equal(ours->sink.rows, loop->sink.rows);
        assert_int_equal(ours->sink.len, loop->sink.len);
        assert_memory_equal(ours->sink.joined, loop->sink.joined, loop->sink.len);
        emitter_deinit(ours);
        emitter_deinit(loop);
}

/* Emits pieces of lines, of parts of lines and with other numbers, and other rows between them. */
static void emit_lines_and_others(const fst_bytes *lines, bool pairs, struct emitter *ours, struct emitter *loop)
{
        for (int i = 0; i < LINES; i++) {
                fst_bytes line = lines[i];
                const uint64_t kind = random_below(20);
                if (kind == 0 && line.len > 2)
                        line = (fst_bytes){line.data + 1, line.len - 1 - random_below(2)};
                emit_by_loop(loop, line);
                if (pairs)
                        fst_emit_pieces_with(&ours->op.out, line, ' ', NUMBER);
                else
                        fst_emit_pieces(&ours->op.out, line, ' ');
                if (kind == 1 && pairs) {
                        fst_emit(&ours->op.out, fst_bytes_of("other"), NUMBER);
                        fst_emit(&loop->op.out, fst_bytes_of("other"), NUMBER);
                } else if (kind == 2 && !pairs) {
                        fst_emit(&ours->op.out, line);
                        fst_emit(&loop->op.out, line);
                }
        }
}

static void emits_deferred_lines_as_a_loop_does(void **state)
{
        static char buffer[LINES * 160];
        fst_bytes lines[LINES];
        for (int i = 0; i < 400; i++) {
                const bool pairs = i & 1;
                const size_t size = lines_make(buffer, lines, (size_t[]){0, 1, 5, 12, 300}[i % 5]);
                struct emitter ours, loop;
                emitter_init(&ours, pairs, 4 * sizeof(buffer));
                emitter_init(&loop, pairs, 4 * sizeof(buffer));
                struct rows source = {.stable = {{(uintptr_t)buffer, size}}, .lines = true};
                op_borrow(&ours.op, &source);
                op_borrow(&loop.op, &source);
                ours.op.may_defer = true;
                emit_lines_and_others(lines, pairs, &ours, &loop);
                assert_same_rows(&ours, &loop);
        }
}

static uint32_t consumes_some(uint32_t n)
{
        return random_below(3) ? n : (uint32_t)random_below(n + 1);
}

static void passes_pieces_to_an_operator_that_consumes_them(void **state)
{
        static char buffer[LINES * 160 + 16];
        fst_bytes lines[LINES];
        for (int i = 0; i < 400; i++) {
                const bool pairs = i & 1;
                const size_t size = lines_make(buffer, lines, (size_t[]){1, 5, 12, 300}[i % 4]);
                struct emitter ours, loop;
                emitter_init(&ours, pairs, 4 * sizeof(buffer));
                emitter_init(&loop, pairs, 4 * sizeof(buffer));
                struct rows source = {.stable = {{(uintptr_t)buffer, size}}, .lines = true};
                op_borrow(&ours.op, &source);
                op_borrow(&loop.op, &source);
                ours.op.may_defer = true;
                ours.sink.op.class = &pieces_sink_class;
                ours.sink.consumed = consumes_some;
                emit_lines_and_others(lines, pairs, &ours, &loop);
                assert_same_rows(&ours, &loop);
        }
}

static void emits_deferred_lines_with_all_vectors(void **state)
{
        static char buffer[LINES * 160];
        for (int i = 0; i < 400; i++)
                for (int vectors = PIECES_AVX2; vectors <= (int)pieces_vectors_here(); vectors++) {
                        const size_t size = random_below(3 * BLOCK_BYTES + 1);
                        struct emitter ours, loop;
                        emitter_init(&ours, true, 2 * sizeof(buffer));
                        emitter_init(&loop, true, 2 * sizeof(buffer));
                        struct rows source = {.stable = {{(uintptr_t)buffer, sizeof(buffer)}}, .lines = true};
                        op_borrow(&ours.op, &source);
                        op_borrow(&loop.op, &source);
                        for (size_t j = 0; j < size; j++)
                                buffer[j] = "ab \n"[random_below((uint64_t[]){4, 3, 2}[i % 3])];
                        for (const char *at = buffer, *end; at <= buffer + size; at = end + 1) {
                                const char *hit = memchr(at, '\n', (size_t)(buffer + size - at));
                                end = hit ? hit : buffer + size;
                                emit_by_loop(&loop, (fst_bytes){at, (size_t)(end - at)});
                        }
                        ours.op.deferred = (struct deferred_lines){.start = buffer,
                                                                   .end = buffer + size,
                                                                   .room = ours.op.out.room,
                                                                   .separator = ' ',
                                                                   .pairs = true,
                                                                   .number = NUMBER};
                        pieces_emit_deferred_with((enum pieces_vectors)vectors, &ours.op);
                        assert_same_rows(&ours, &loop);
                }
}

static void discards_deferred_lines_of_an_abandoned_partition(void **state)
{
        static const char line[] = "one two";
        struct emitter e;
        emitter_init(&e, false, 100);
        struct rows source = {.stable = {{(uintptr_t)line, sizeof(line)}}, .lines = true};
        op_borrow(&e.op, &source);
        e.op.may_defer = true;
        fst_emit_pieces(&e.op.out, fst_bytes_of(line), ' ');
        op_drop(&e.op);
        fst_emit(&e.op.out, fst_bytes_of("three"));
        assert_int_equal(op_flush(&e.op), 0);
        assert_int_equal(e.sink.rows, 1);
        assert_memory_equal(e.sink.joined, "three|", 6);
        emitter_deinit(&e);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(emits_what_a_loop_emits),
                cmocka_unit_test(emits_at_the_edges_of_blocks),
                cmocka_unit_test(emits_deferred_lines_as_a_loop_does),
                cmocka_unit_test(emits_deferred_lines_with_all_vectors),
                cmocka_unit_test(passes_pieces_to_an_operator_that_consumes_them),
                cmocka_unit_test(discards_deferred_lines_of_an_abandoned_partition),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
