/* Golden bytes of launcher messages, streams split at any position, and invalid streams. */
#include "rpc/launcher_wire.h"

#include "base/error.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

/* A stream that java.io.ObjectOutputStream wrote with the launcher libraries of Spark 2.3.4, 2.4.8, 3.5.9 and 4.3.0. */
static const char *const golden[] = {
        "aced0005737200306f72672e6170616368652e737061726b2e6c61756e636865722e4c61756e6368657250726f746f63"
        "6f6c2448656c6c6f7f5afac86517b0cd0200024c00067365637265747400124c6a6176612f6c616e672f537472696e67"
        "3b4c000c737061726b56657273696f6e71007e0001787200326f72672e6170616368652e737061726b2e6c61756e6368"
        "65722e4c61756e6368657250726f746f636f6c244d657373616765ba91306956ca883502000078707400067365637265"
        "74740005342e332e30",
        "737200336f72672e6170616368652e737061726b2e6c61756e636865722e4c61756e6368657250726f746f636f6c2453"
        "657441707049641786d3a135827e480200014c0005617070496471007e00017871007e00027400076c6f63616c2d31",
        "737200336f72672e6170616368652e737061726b2e6c61756e636865722e4c61756e6368657250726f746f636f6c2453"
        "65745374617465ef751ff39fe4c9880200014c000573746174657400304c6f72672f6170616368652f737061726b2f6c"
        "61756e636865722f537061726b41707048616e646c652453746174653b7871007e00027e72002e6f72672e6170616368"
        "652e737061726b2e6c61756e636865722e537061726b41707048616e646c652453746174650000000000000000120000"
        "7872000e6a6176612e6c616e672e456e756d000000000000000012000078707400095355424d4954544544",
        "7371007e00097e71007e000c74000752554e4e494e47",
        "7371007e000971007e0011",
        "7371007e000674000c68c3a9eda0bdedb880e282ac",
        "7371007e000670",
        "7372002f6f72672e6170616368652e737061726b2e6c61756e636865722e4c61756e6368657250726f746f636f6c2453"
        "746f701805482f54cd23010200007871007e0002",
        "7371007e0017",
};

static const struct launcher_message messages[] = {
        {.kind = LAUNCHER_HELLO, .text = (char *)"secret", .version = (char *)"4.3.0"},
        {.kind = LAUNCHER_SET_APP_ID, .text = (char *)"local-1"},
        {.kind = LAUNCHER_SET_STATE, .state = LAUNCHER_SUBMITTED},
        {.kind = LAUNCHER_SET_STATE, .state = LAUNCHER_RUNNING},
        {.kind = LAUNCHER_SET_STATE, .state = LAUNCHER_RUNNING},
        {.kind = LAUNCHER_SET_APP_ID, .text = (char *)"h\u00e9\U0001F600\u20ac"},
        {.kind = LAUNCHER_SET_APP_ID},
        {.kind = LAUNCHER_STOP},
        {.kind = LAUNCHER_STOP},
};

static void from_hex(const char *hex, struct buf *out)
{
        for (; *hex; hex += 2) {
                unsigned byte;
                assert_int_equal(sscanf(hex, "%2x", &byte), 1);
                buf_putc(out, (char)byte);
        }
}

static void golden_stream(struct buf *out)
{
        for (size_t i = 0; i < ARRAY_SIZE(golden); i++)
                from_hex(golden[i], out);
}

static void assert_same(const struct launcher_message *m, const struct launcher_message *expected)
{
        assert_int_equal(m->kind, expected->kind);
        assert_int_equal(m->state, expected->state);
        assert_int_equal(m->text != NULL, expected->text != NULL);
        if (m->text)
                assert_string_equal(m->text, expected->text);
        assert_int_equal(m->version != NULL, expected->version != NULL);
        if (m->version)
                assert_string_equal(m->version, expected->version);
}

static void writes_what_java_writes(void **state)
{
        struct launcher_writer w = LAUNCHER_WRITER_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
                _cleanup_(buf_deinit) struct buf expected = BUF_INIT, out = BUF_INIT;
                from_hex(golden[i], &expected);
                assert_int_equal(launcher_writer_put(&w, &messages[i], &out, NULL), 0);
                assert_int_equal(out.len, expected.len);
                assert_memory_equal(out.data, expected.data, out.len);
        }
}

static void reads_what_java_writes(void **state)
{
        _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
        golden_stream(&stream);
        for (size_t step = 1; step <= stream.len; step = step < 8 ? step + 1 : step * 3) {
                struct launcher_reader r = LAUNCHER_READER_INIT;
                struct launcher_message m;
                size_t n = 0;
                for (size_t at = 0; at < stream.len; at += step) {
                        launcher_reader_feed(&r, stream.data + at, MIN(step, stream.len - at));
                        int code;
                        while ((code = launcher_reader_next(&r, &m, NULL)) > 0) {
                                assert_true(n < ARRAY_SIZE(messages));
                                assert_same(&m, &messages[n++]);
                                launcher_message_deinit(&m);
                        }
                        assert_int_equal(code, 0);
                }
                assert_int_equal(n, ARRAY_SIZE(messages));
                launcher_reader_deinit(&r);
        }
}

/* Reads @stream and returns the first result that is not a message. */
static int read_all(const void *stream, size_t n, struct fst_error *error)
{
        struct launcher_reader r = LAUNCHER_READER_INIT;
        struct launcher_message m;
        int code = 0;
        for (size_t at = 0; at < n && code == 0; at += MAX_LAUNCHER_MESSAGE) {
                launcher_reader_feed(&r, (const char *)stream + at, MIN((size_t)MAX_LAUNCHER_MESSAGE, n - at));
                while ((code = launcher_reader_next(&r, &m, error)) > 0)
                        launcher_message_deinit(&m);
        }
        launcher_reader_deinit(&r);
        return code;
}

/* A changed byte makes the stream invalid or shorter, unless it is in a text. */
static void refuses_every_other_byte(void **state)
{
        _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
        from_hex(golden[0], &stream);
        from_hex(golden[3], &stream);
        size_t secret = (size_t)((char *)memmem(stream.data, stream.len, "secrett", 7) - stream.data);
        secret = (size_t)((char *)memmem(stream.data + secret + 7, stream.len - secret - 7, "secret", 6) - stream.data);
        assert_int_equal(read_all(stream.data, stream.len, NULL), -EBADMSG); /* its numbers refer to missing objects */
        buf_reset(&stream);
        from_hex(golden[0], &stream);
        from_hex(golden[1], &stream);
        from_hex(golden[2], &stream);
        assert_int_equal(read_all(stream.data, stream.len, NULL), 0);
        size_t refused = 0, short_ones = 0, texts = 0;
        for (size_t at = 0; at < stream.len; at++) {
                struct fst_error error = FST_ERROR_INIT;
                char before = stream.data[at];
                stream.data[at] = (char)(before ^ 1);
                int r = read_all(stream.data, stream.len, &error);
                assert_true(r <= 0);
                assert_int_equal(error.message != NULL, r < 0);
                *(r < 0 ? &refused : at >= secret && at < secret + 13 ? &texts : &short_ones) += 1;
                stream.data[at] = before;
                error_deinit(&error);
        }
        assert_true(refused > stream.len - 40);
        assert_true(texts <= 13);
        assert_true(short_ones <= 16);
}

static void refuses_other_objects(void **state)
{
        static const char *const hostile[] = {
                "47455420",                                           /* GET of a browser */
                "aced000570",                                         /* null */
                "aced00057400016100",                                 /* a string */
                "aced000571007e0000",                                 /* a dangling reference */
                "aced00057371007e0000",                               /* a dangling reference as class */
                "aced000579",                                         /* a reset */
                "aced000577020001",                                   /* block data */
                "aced000575",                                         /* an array */
                "aced00057372ffff",                                   /* a name of 65,535 bytes */
                "aced0005737200116a6176612e7574696c2e486173684d6170", /* java.util.HashMap */
                "aced0005737d00000001",                               /* a proxy */
                "aced000573720010606162636465666768696a6b6c6d6e6f",   /* no class */
        };
        for (size_t i = 0; i < ARRAY_SIZE(hostile); i++) {
                _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
                struct fst_error error = FST_ERROR_INIT;
                from_hex(hostile[i], &stream);
                assert_int_equal(read_all(stream.data, stream.len, &error), -EBADMSG);
                assert_non_null(strstr(error_message(&error), "not a launcher's message: "));
                error_deinit(&error);
        }
}

static void ends_a_stream_without_end(void **state)
{
        _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
        struct launcher_writer w = LAUNCHER_WRITER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        for (int i = 0; i < MAX_LAUNCHER_HANDLES; i++)
                launcher_writer_put(&w, &messages[7], &stream, NULL);
        assert_int_equal(read_all(stream.data, stream.len, &error), -EMSGSIZE);
        assert_non_null(strstr(error_message(&error), "too many objects"));
        error_deinit(&error);
}

static void refuses_texts(void **state)
{
        static const char *const texts[] = {"\x80",         "a\xc3",        "\xc0\x80",
                                            "\xe0\x80\x80", "\xed\xa0\x80", "\xf8\x88\x80\x80\x80"};
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        struct launcher_writer w = LAUNCHER_WRITER_INIT;
        struct fst_error error = FST_ERROR_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
                struct launcher_message m = {.kind = LAUNCHER_SET_APP_ID, .text = (char *)texts[i]};
                assert_int_equal(launcher_writer_put(&w, &m, &out, &error), -EILSEQ);
                assert_int_equal(out.len, 0);
        }
        _cleanup_free_ char *text = mem_alloc(MAX_LAUNCHER_MESSAGE);
        memset(text, 'x', MAX_LAUNCHER_MESSAGE - 1);
        text[MAX_LAUNCHER_MESSAGE - 1] = '\0';
        struct launcher_message m = {.kind = LAUNCHER_SET_APP_ID, .text = text};
        assert_int_equal(launcher_writer_put(&w, &m, &out, &error), -EMSGSIZE);
        assert_int_equal(out.len, 0);
        /* The failed message used no numbers, so the next bytes are a separate stream. */
        assert_int_equal(launcher_writer_put(&w, &messages[0], &out, NULL), 0);
        assert_int_equal(read_all(out.data, out.len, NULL), 0);
        error_deinit(&error);
}

static void states_have_names(void **state)
{
        assert_string_equal(launcher_state_name(LAUNCHER_LOST), "LOST");
        assert_string_equal(launcher_state_name((enum launcher_state)99), "UNKNOWN");
        assert_false(launcher_state_is_final(LAUNCHER_RUNNING));
        assert_true(launcher_state_is_final(LAUNCHER_FINISHED));
        assert_true(launcher_state_is_final(LAUNCHER_LOST));
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(writes_what_java_writes),   cmocka_unit_test(reads_what_java_writes),
                cmocka_unit_test(refuses_every_other_byte),  cmocka_unit_test(refuses_other_objects),
                cmocka_unit_test(ends_a_stream_without_end), cmocka_unit_test(refuses_texts),
                cmocka_unit_test(states_have_names),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
