/* Golden bytes of frames, streams split at any position, and invalid frames. */
#include "rpc/frame_reader.h"
#include "rpc/handshake.h"
#include "rpc/send_queue.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "net/byte_order.h"
#include "net/crc32c.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static const uint8_t golden[FRAME_HEADER_SIZE] = {
        'F',  'S',  'R',  'P',  2,    4,    0x34, 0x12, 8,    7,    6, 5, 4, 3, 2, 1,
        0xef, 0xbe, 0xad, 0xde, 0x05, 0x00, 0x01, 0x00, 0x01, 0x02, 0, 0, 0, 0, 0, 0,
        0x44, 0x33, 0x22, 0x11, 0xdb, 0x9f, 0xea, 0x22,
};

static void golden_bytes(void **state)
{
        struct frame_header h = {.kind = FRAME_ASK,
                                 .type = 0x1234,
                                 .id = 0x0102030405060708,
                                 .endpoint = 0xdeadbeef,
                                 .body_len = 0x10005,
                                 .attachment_len = 0x201,
                                 .checksum = 0x11223344};
        struct frame_header back = {0};
        uint8_t out[FRAME_HEADER_SIZE];
        frame_header_put(out, &h);
        assert_memory_equal(out, golden, sizeof(golden));
        for (size_t len = 0; len < sizeof(golden); len++)
                assert_int_equal(frame_header_get(golden, len, 1 << 20, &back, NULL), 0);
        assert_int_equal(frame_header_get(golden, sizeof(golden), 1 << 20, &back, NULL), sizeof(golden));
        assert_int_equal(back.version, FRAME_VERSION);
        assert_int_equal(back.kind, h.kind);
        assert_int_equal(back.type, h.type);
        assert_true(back.id == h.id);
        assert_int_equal(back.endpoint, h.endpoint);
        assert_int_equal(back.body_len, h.body_len);
        assert_int_equal(back.attachment_len, h.attachment_len);
        assert_int_equal(back.checksum, h.checksum);
        assert_int_equal(frame_checksum("1234", 4, "56789", 5), 0xe3069283u);
        assert_int_equal(frame_checksum("123456789", 9, NULL, 0), 0xe3069283u);
        assert_int_equal(frame_checksum(NULL, 0, "123456789", 9), 0xe3069283u);
        assert_int_equal(frame_checksum(NULL, 0, NULL, 0), 0);
        assert_int_equal(frame_endpoint("CoarseGrainedScheduler"), frame_endpoint("CoarseGrainedScheduler"));
        assert_int_equal(frame_endpoint(""), 2166136261u);
        assert_int_equal(frame_endpoint("a"), 0xe40c292c); /* FNV-1a's own test vector */
}

/* Makes the checksum of a changed header valid. */
static void frame_header_repair(uint8_t *bytes)
{
        if (frame_header_size(bytes[5]) == FRAME_HEADER_SIZE)
                put_le32(bytes + 36, crc32c(bytes, 36));
}

static void refuse(const char *what, struct frame_header h, size_t at, uint8_t byte, int code)
{
        uint8_t bytes[FRAME_HEADER_SIZE];
        struct fst_error error = FST_ERROR_INIT;
        struct frame_header out = {.type = 77};
        frame_header_put(bytes, &h);
        bytes[at] = byte;
        frame_header_repair(bytes);
        int r = frame_header_get(bytes, sizeof(bytes), 1000, &out, &error);
        if (r != code || out.type != 77 || !error.message)
                fail_msg("%s: %d", what, r);
        error_deinit(&error);
}

static void impossible_headers(void **state)
{
        struct frame_header send = {.kind = FRAME_SEND, .id = 1, .body_len = 600, .attachment_len = 400};
        struct frame_header hello = {.kind = FRAME_HELLO}, ping = {.kind = FRAME_PING};
        refuse("magic", send, 0, 'G', -EPROTO);
        refuse("version", send, 4, 1, -EPROTO);
        refuse("no kind", send, 5, 0, -EPROTO);
        refuse("kind 9", send, 5, 9, -EPROTO);
        refuse("no id", send, 8, 0, -EPROTO);
        refuse("endpoint of a reply", (struct frame_header){.kind = FRAME_REPLY, .id = 1}, 16, 1, -EPROTO);
        refuse("type of a hello", hello, 6, 1, -EPROTO);
        refuse("id of a hello", hello, 8, 1, -EPROTO);
        refuse("attached hello", hello, 24, 1, -EPROTO);
        refuse("long hello", hello, 21, 0x11, -EMSGSIZE);
        refuse("ping with a body", ping, 20, 1, -EPROTO);
        refuse("failure with an attachment", (struct frame_header){.kind = FRAME_FAIL, .id = 1}, 24, 1, -EPROTO);
        refuse("body too large", send, 23, 0xff, -EMSGSIZE);
        refuse("attachment too large", send, 31, 0xff, -EMSGSIZE);
        refuse("sum too large", send, 24, 0x91, -EMSGSIZE);
        uint8_t bytes[FRAME_HEADER_SIZE];
        struct frame_header out;
        frame_header_put(bytes, &send);
        assert_int_equal(frame_header_get(bytes, sizeof(bytes), 1000, &out, NULL), FRAME_HEADER_SIZE);
        frame_header_put(bytes, &hello);
        bytes[4] = 9; /* every version can read HELLO */
        assert_int_equal(frame_header_get(bytes, FRAME_HELLO_HEADER_SIZE, 1000, &out, NULL), FRAME_HELLO_HEADER_SIZE);
        assert_int_equal(out.version, 9);
}

static void strangers_are_named(void **state)
{
        static const struct {
                const char *bytes, *says;
                int code; /* 0: -EPROTO */
        } strangers[] = {
                {"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03zzzzzzzzzzzzzzzzzzzzzz", "speaks TLS"},
                {"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", "speaks HTTP", -EPROTONOSUPPORT},
                {"\0\0\0\0\0\0\1\2\x03zzzzzzzzzzzzzzzzzzzzzzz", "Apache Spark"},
                {"zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "7a 7a 7a 7a"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(strangers); i++) {
                CASE_LABEL("%zu of strangers: bytes \"%s\", says \"%s\", code %d", i,
                           strangers[i].bytes ? strangers[i].bytes : "(none)",
                           strangers[i].says ? strangers[i].says : "(none)", strangers[i].code);
                struct frame_header h;
                struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(frame_header_get((const uint8_t *)strangers[i].bytes, FRAME_HELLO_HEADER_SIZE, 1000, &h, &error),
                                 strangers[i].code ? strangers[i].code : -EPROTO);
                assert_non_null(strstr(error_message(&error), strangers[i].says));
                error_deinit(&error);
        }
}

/* Three messages as one stream: a small one, an empty one, and one with an attachment. */
static void make_stream(struct buf *b, size_t body, size_t attachment)
{
        uint8_t head[FRAME_HEADER_SIZE];
        struct frame_header h[] = {
                {.kind = FRAME_SEND, .id = 1, .type = 5, .endpoint = 9, .body_len = (uint32_t)body},
                {.kind = FRAME_PING},
                {.kind = FRAME_REPLY, .id = 3, .type = 6, .body_len = 2, .attachment_len = attachment},
                {.kind = FRAME_SEND, .id = 2, .type = 7, .endpoint = 9, .body_len = 1},
        };
        for (size_t i = 0; i < ARRAY_SIZE(h); i++) {
                _cleanup_(buf_deinit) struct buf content = BUF_INIT;
                for (size_t k = 0; k < h[i].body_len + h[i].attachment_len; k++)
                        buf_putc(&content, (char)(k + i));
                h[i].checksum = frame_checksum(content.data, content.len, NULL, 0);
                frame_header_put(head, &h[i]);
                buf_append(b, head, sizeof(head));
                buf_append(b, content.data, content.len);
        }
}

static void read_stream(const struct buf *b, size_t step, size_t body, size_t attachment)
{
        uint8_t scratch[4096];
        struct frame_reader r;
        struct frame f;
        size_t at = 0, frames = 0;
        frame_reader_init(&r, 1 << 24);
        while (at < b->len) {
                uint8_t *where;
                size_t room;
                frame_reader_room(&r, scratch, sizeof(scratch), &where, &room);
                assert_true(room > 0);
                size_t n = MIN(MIN(step, room), b->len - at);
                memcpy(where, b->data + at, n);
                frame_reader_filled(&r, n);
                at += n;
                int code;
                while ((code = frame_reader_next(&r, &f, NULL)) > 0) {
                        frames++;
                        assert_int_equal(f.header.body_len, frames == 1 ? body : frames == 2 ? 0 : frames == 3 ? 2 : 1);
                        for (size_t k = 0; k < f.header.body_len; k++)
                                assert_int_equal(f.body[k], (uint8_t)(k + frames - 1));
                        assert_int_equal(f.attachment != NULL, frames == 3 && attachment > 0);
                        for (size_t k = 0; f.attachment && k < attachment; k++)
                                if (f.attachment[k] != (uint8_t)(k + 2 + 2))
                                        fail_msg("byte %zu of the attachment differs", k);
                        if (step % 2 && f.attachment)
                                free(frame_reader_take_attachment(&r));
                }
                assert_int_equal(code, 0);
                memset(scratch, 0xee, sizeof(scratch)); /* scratch is shared and overwritten */
        }
        assert_int_equal(frames, 4);
        assert_false(frame_reader_partial(&r));
        frame_reader_deinit(&r);
}

static void any_cut(void **state)
{
        static const size_t sizes[][2] = {{10, 0}, {10, 33}, {5000, 100}, {3, 5000}, {100000, 3 << 20}};
        static const size_t steps[] = {1, 2, 7, 31, 32, 33, 64, 100, 1000, 4096, 65536, 1 << 20};
        for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
                _cleanup_(buf_deinit) struct buf b = BUF_INIT;
                make_stream(&b, sizes[s][0], sizes[s][1]);
                for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
                        if (b.len / steps[i] < 100000)
                                read_stream(&b, steps[i], sizes[s][0], sizes[s][1]);
        }
}

/* Reads a stream in pieces of @step bytes. Returns the last status, and the number of frames. */
static int read_damaged(const struct buf *b, size_t step, int *frames)
{
        uint8_t scratch[4096];
        struct frame_reader r;
        struct frame f;
        int code = 0;
        *frames = 0;
        frame_reader_init(&r, 1000);
        for (size_t at = 0; at < b->len && code >= 0;) {
                uint8_t *where;
                size_t room;
                frame_reader_room(&r, scratch, sizeof(scratch), &where, &room);
                size_t n = MIN(MIN(step, room), b->len - at);
                memcpy(where, b->data + at, n);
                frame_reader_filled(&r, n);
                at += n;
                while ((code = frame_reader_next(&r, &f, NULL)) > 0)
                        ++*frames;
        }
        frame_reader_deinit(&r);
        return code;
}

/* Each bit of the four frames is flipped: that frame is not delivered, and the stream ends there. */
static void a_flipped_bit_is_detected(void **state)
{
        static const size_t sizes[] = {FRAME_HEADER_SIZE + 10, FRAME_HEADER_SIZE, FRAME_HEADER_SIZE + 2 + 33, FRAME_HEADER_SIZE + 1};
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        make_stream(&b, 10, 33);
        for (size_t frame = 0, at = 0; frame < ARRAY_SIZE(sizes); at += sizes[frame++])
                for (size_t bit = at * 8; bit < (at + sizes[frame]) * 8; bit++) {
                        b.data[bit / 8] ^= (char)(1 << bit % 8);
                        for (size_t step = 7; step < 1000; step *= 10) {
                                int frames, code = read_damaged(&b, step, &frames);
                                if ((code != -EBADMSG && code != -EPROTO) || frames != (int)frame)
                                        fail_msg("bit %zu of frame %zu: %d after %d frames", bit - at * 8, frame, code, frames);
                        }
                        b.data[bit / 8] ^= (char)(1 << bit % 8);
                }
        int frames;
        assert_int_equal(read_damaged(&b, 7, &frames), 0);
        assert_int_equal(frames, 4);
}

static void nothing_after_nonsense(void **state)
{
        uint8_t scratch[4096], *where;
        size_t room;
        struct frame_reader r;
        struct frame f;
        frame_reader_init(&r, 1000);
        frame_reader_room(&r, scratch, sizeof(scratch), &where, &room);
        memset(where, 'x', 100);
        frame_reader_filled(&r, 100);
        assert_int_equal(frame_reader_next(&r, &f, NULL), -EPROTO);
        assert_int_equal(frame_reader_next(&r, &f, NULL), -EPROTO);
        frame_reader_deinit(&r);
}

static int released;

static void count_release(void *arg, const void *data)
{
        released++;
        assert_ptr_equal(arg, data);
}

static void queue_keeps_order(void **state)
{
        struct out_pool pool = {0};
        struct out_queue q;
        _cleanup_(buf_deinit) struct buf want = BUF_INIT;
        _cleanup_(buf_deinit) struct buf got = BUF_INIT;
        static uint8_t large[200000];
        out_queue_init(&q, &pool);
        released = 0;
        for (size_t i = 0; i < 300; i++) {
                size_t n = i % 7 == 0 ? 70000 : i * 13 % 5000 + 1;
                uint8_t *at = out_queue_reserve(&q, n);
                memset(at, (int)i, n);
                buf_append(&want, at, n);
                out_queue_commit(&q, n);
                if (i % 5 == 0) {
                        memset(large, 7, sizeof(large));
                        out_queue_add(&q, large, sizeof(large), count_release, large);
                        buf_append(&want, large, sizeof(large));
                }
                struct iovec iov[4];
                int k = out_queue_iov(&q, iov, 4);
                size_t all = 0, take;
                for (int v = 0; v < k; v++)
                        all += iov[v].iov_len;
                take = all * (i % 11) / 10;
                take = MIN(take, all);
                size_t left = take;
                for (int v = 0; v < k && left > 0; v++) {
                        size_t here = MIN(left, iov[v].iov_len);
                        buf_append(&got, iov[v].iov_base, here);
                        left -= here;
                }
                out_queue_sent(&q, take);
        }
        while (q.bytes > 0) {
                struct iovec iov;
                assert_int_equal(out_queue_iov(&q, &iov, 1), 1);
                size_t n = MIN(iov.iov_len, (size_t)9999);
                buf_append(&got, iov.iov_base, n);
                out_queue_sent(&q, n);
        }
        assert_int_equal(want.len, got.len);
        assert_memory_equal(want.data, got.data, got.len);
        assert_int_equal(released, 60);
        assert_null(q.current);
        out_queue_add(&q, large, 5, count_release, large);
        out_queue_deinit(&q);
        assert_int_equal(released, 61);
        out_pool_deinit(&pool);
}

static void hellos(void **state)
{
        _cleanup_(buf_deinit) struct buf b = BUF_INIT;
        struct hello a, back, c;
        struct fst_error error = FST_ERROR_INIT;
        hello_init(&a);
        hello_init(&c);
        strcpy(a.app_id, "app-1");
        strcpy(a.address, "[::1]:7077");
        a.max_message_bytes = 1 << 27;
        hello_encode(&a, &b);
        assert_int_equal(hello_decode((uint8_t *)b.data, b.len, &back, NULL), 0);
        assert_string_equal(back.app_id, "app-1");
        assert_string_equal(back.address, "[::1]:7077");
        assert_string_equal(back.software, "firesteel " FIRESTEEL_VERSION);
        assert_memory_equal(back.instance, a.instance, HELLO_INSTANCE_SIZE);
        assert_int_equal(hello_check(&c, &back, NULL), 0);
        assert_int_equal(hello_check(&a, &back, &error), -EPROTO);
        assert_non_null(strstr(error_message(&error), "reached itself"));
        strcpy(c.app_id, "app-2");
        assert_int_equal(hello_check(&c, &back, &error), -EPROTO);
        assert_non_null(strstr(error_message(&error), "the application app-1"));
        back.version_low = back.version_high = 7;
        strcpy(back.software, "firesteel 9.9");
        assert_int_equal(hello_check(&c, &back, &error), -EPROTO);
        assert_non_null(strstr(error_message(&error), "firesteel 9.9 with version 7"));
        assert_non_null(strstr(error_message(&error), "with version 2"));
        for (size_t i = 0; i < b.len; i++) /* truncated anywhere: an error, or a HELLO without its line ends */
                if (hello_decode((uint8_t *)b.data, i, &back, &error) == 0)
                        assert_memory_equal(back.instance, a.instance, HELLO_INSTANCE_SIZE);
        for (size_t bit = 0; bit < b.len * 8; bit++) { /* flipped anywhere: an error, or other versions */
                b.data[bit / 8] ^= (char)(1 << bit % 8);
                if (hello_decode((uint8_t *)b.data, b.len, &back, &error) == 0 && back.version_high == FRAME_VERSION)
                        fail_msg("bit %zu", bit);
                b.data[bit / 8] ^= (char)(1 << bit % 8);
        }
        buf_reset(&b);
        strcpy(a.app_id, "app\n1");
        hello_encode(&a, &b);
        assert_int_equal(hello_decode((uint8_t *)b.data, b.len, &back, &error), -EPROTO);
        buf_reset(&b);
        strcpy(a.app_id, "app");
        strcpy(a.address, "nowhere");
        hello_encode(&a, &b);
        assert_int_equal(hello_decode((uint8_t *)b.data, b.len, &back, &error), -EPROTO);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(golden_bytes),
                cmocka_unit_test(impossible_headers),
                cmocka_unit_test(strangers_are_named),
                cmocka_unit_test(any_cut),
                cmocka_unit_test(a_flipped_bit_is_detected),
                cmocka_unit_test(nothing_after_nonsense),
                cmocka_unit_test(queue_keeps_order),
                cmocka_unit_test(hellos),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
