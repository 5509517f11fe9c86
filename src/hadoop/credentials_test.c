/* Hadoop's credentials: golden bytes of a real file, round trips, damage. */
#include "hadoop/credentials.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

/* The file that a NodeManager of Hadoop 3.4.3 wrote for an ApplicationMaster, with another identifier and password. */
static const char am_file[] = "HDTS\0\x01\0"
                              "\x1a"
                              "abcdefghijklmnopqrstuvwxyz"
                              "\x14"
                              "01234567890123456789"
                              "\x10"
                              "YARN_AM_RM_TOKEN"
                              "\0\0";

static struct hadoop_token example_token(const char *alias, const char *kind, size_t len)
{
        struct hadoop_token t = {
                .alias = mem_strdup(alias), .kind = mem_strdup(kind), .service = mem_strdup("127.0.0.1:9000")};
        for (size_t i = 0; i < len; i++)
                buf_putc(&t.identifier, (char)i);
        buf_append(&t.password, "pass\0word", 9);
        return t;
}

static void reads_the_file_of_a_node_manager(void **state)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        assert_int_equal(hadoop_credentials_read(&c, am_file, sizeof(am_file) - 1, NULL), 0);
        assert_int_equal(c.tokens.len, 1);
        const struct hadoop_token *t = hadoop_credentials_find(&c, "YARN_AM_RM_TOKEN", NULL);
        assert_non_null(t);
        assert_string_equal(t->alias, "");
        assert_string_equal(t->service, "");
        assert_int_equal(t->identifier.len, 26);
        assert_memory_equal(t->password.data, "01234567890123456789", 20);
        assert_null(hadoop_credentials_find(&c, "YARN_AM_RM_TOKEN", "elsewhere:1"));
        assert_null(hadoop_credentials_find(&c, "HDFS_DELEGATION_TOKEN", NULL));
        struct buf again = BUF_INIT;
        hadoop_credentials_write(&c, &again);
        assert_int_equal(again.len, sizeof(am_file) - 1);
        assert_memory_equal(again.data, am_file, again.len);
        buf_deinit(&again);
}

static void round_trips_lengths_of_every_form(void **state)
{
        static const size_t lengths[] = {0, 1, 127, 128, 255, 256, 65535, 65536, 1 << 20};
        for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
                CASE_LABEL("identifier of %zu bytes", lengths[i]);
                _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0}, read = {0};
                struct hadoop_token t = example_token("one", "KIND", lengths[i]);
                hadoop_credentials_add(&c, &t);
                hadoop_credentials_add_secret(&c, "spark.secret", "\0\1\2", 3);
                struct buf bytes = BUF_INIT;
                hadoop_credentials_write(&c, &bytes);
                assert_int_equal(hadoop_credentials_read(&read, bytes.data, bytes.len, NULL), 0);
                assert_int_equal(read.tokens.data[0].identifier.len, lengths[i]);
                assert_memory_equal(buf_text(&read.tokens.data[0].identifier), buf_text(&t.identifier), lengths[i]);
                assert_memory_equal(hadoop_credentials_secret(&read, "spark.secret")->data, "\0\1\2", 3);
                assert_null(hadoop_credentials_secret(&read, "other"));
                buf_deinit(&bytes);
                hadoop_token_deinit(&t);
        }
}

static void replaces_a_token_with_the_same_alias(void **state)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        struct hadoop_token first = example_token("hdfs", "OLD", 1), second = example_token("hdfs", "NEW", 2);
        hadoop_credentials_add(&c, &first);
        hadoop_credentials_add(&c, &second);
        assert_int_equal(c.tokens.len, 1);
        assert_string_equal(c.tokens.data[0].kind, "NEW");
        hadoop_token_deinit(&first);
        hadoop_token_deinit(&second);
}

static void rejects_damaged_streams_and_adds_nothing(void **state)
{
        for (size_t cut = 0; cut < sizeof(am_file) - 1; cut++) {
                CASE_LABEL("the first %zu bytes", cut);
                _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
                _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
                assert_int_equal(hadoop_credentials_read(&c, am_file, cut, &error), -EBADMSG);
                assert_int_equal(c.tokens.len, 0);
                assert_non_null(error.message);
        }
        static const struct {
                const char *label, *bytes;
                size_t len;
                int result;
        } rows[] = {
                {"another magic", "HDTX\0\0\0", 7, -EBADMSG},
                {"version 1", "HDTS\1\0\0", 7, -ENOTSUP},
                {"a negative number of tokens", "HDTS\0\xff\0", 7, -EBADMSG},
                {"a length beyond the end", "HDTS\0\1\x7f", 7, -EBADMSG},
                {"a length of 8 bytes", "HDTS\0\1\x88\x7f\xff\xff\xff\xff\xff\xff\xff", 15, -EBADMSG},
        };
        for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
                CASE_LABEL("%s", rows[i].label);
                _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
                assert_int_equal(hadoop_credentials_read(&c, rows[i].bytes, rows[i].len, NULL), rows[i].result);
        }
}

static void names_the_file_that_it_cannot_read(void **state)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        assert_int_equal(hadoop_credentials_load(&c, "/nonexistent/tokens", &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "/nonexistent/tokens"));
}

static void round_trips_a_token_as_a_word(void **state)
{
        for (size_t len = 0; len < 40; len++) {
                CASE_LABEL("identifier of %zu bytes", len);
                struct hadoop_token t = example_token("127.0.0.1:9000", "HDFS_DELEGATION_TOKEN", len), back = {0};
                _cleanup_free_ char *text = hadoop_token_to_text(&t);
                assert_null(strpbrk(text, "+/="));
                assert_int_equal(hadoop_token_from_text(text, &back, NULL), 0);
                assert_int_equal(back.identifier.len, len);
                assert_memory_equal(back.password.data, "pass\0word", 9);
                assert_string_equal(back.kind, t.kind);
                assert_string_equal(back.service, t.service);
                hadoop_token_deinit(&t);
                hadoop_token_deinit(&back);
        }
        struct hadoop_token none = {0};
        assert_int_equal(hadoop_token_from_text("not base64!", &none, NULL), -EBADMSG);
        assert_int_equal(hadoop_token_from_text("AAAA", &none, NULL), -EBADMSG);     /* too short for four fields */
        assert_int_equal(hadoop_token_from_text("AAAAAAAA", &none, NULL), -EBADMSG); /* too long */
        assert_null(none.kind);
}

/* An identifier as a NameNode issued it, for alice with the renewer rm, and cut short at each place. */
static void reads_the_identifier_of_a_delegation_token(void **state)
{
        static const unsigned char bytes[] = "\0\5alice\2rm\5carol\x8a\1\x9a\x9a\x9a\x9a\x9a\x8a\1\x9b\0\0\0\0\1\2";
        struct hadoop_token token = {0};
        struct hadoop_token_identifier id;
        for (size_t len = 0; len + 1 < sizeof(bytes); len++) {
                CASE_LABEL("cut off after %zu bytes", len);
                buf_reset(&token.identifier);
                buf_append(&token.identifier, bytes, len);
                assert_int_equal(hadoop_token_identify(&token, &id), -EBADMSG);
        }
        buf_reset(&token.identifier);
        buf_append(&token.identifier, bytes, sizeof(bytes) - 1);
        assert_int_equal(hadoop_token_identify(&token, &id), 0);
        assert_string_equal(id.owner, "alice");
        assert_string_equal(id.renewer, "rm");
        assert_string_equal(id.real_user, "carol");
        assert_int_equal(id.issued_ms, 0x19a9a9a9a9a);
        assert_int_equal(id.max_ms, 0x19b00000000);
        hadoop_token_identifier_deinit(&id);
        buf_putc(&token.identifier, 0);
        assert_int_equal(hadoop_token_identify(&token, &id), -EBADMSG); /* too long */
        buf_reset(&token.identifier);
        buf_append(&token.identifier, "\x0a\x08", 2); /* protobuf, as YARN's */
        assert_int_equal(hadoop_token_identify(&token, &id), -EBADMSG);
        hadoop_token_deinit(&token);
}

static void forgets_secrets_and_keeps_tokens(void **state)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        const struct hadoop_token token = {.alias = (char *)"rm", .kind = (char *)"KIND", .service = (char *)"rm:1"};
        hadoop_credentials_add(&c, &token);
        hadoop_credentials_add_secret(&c, "spark.secret", "abc", 3);
        for (int i = 0; i < 2; i++) { /* the second time there are none */
                hadoop_credentials_forget_secrets(&c);
                assert_null(hadoop_credentials_secret(&c, "spark.secret"));
                assert_non_null(hadoop_credentials_find(&c, "KIND", "rm:1"));
        }
        hadoop_credentials_add_secret(&c, "spark.secret", "de", 2);
        assert_int_equal(hadoop_credentials_secret(&c, "spark.secret")->len, 2);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_the_file_of_a_node_manager),
                cmocka_unit_test(round_trips_lengths_of_every_form),
                cmocka_unit_test(replaces_a_token_with_the_same_alias),
                cmocka_unit_test(rejects_damaged_streams_and_adds_nothing),
                cmocka_unit_test(names_the_file_that_it_cannot_read),
                cmocka_unit_test(forgets_secrets_and_keeps_tokens),
                cmocka_unit_test(round_trips_a_token_as_a_word),
                cmocka_unit_test(reads_the_identifier_of_a_delegation_token),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
