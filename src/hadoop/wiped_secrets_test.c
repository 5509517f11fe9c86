/*
 * Passwords of tokens and secrets are overwritten before their memory is released: free and realloc of this program
 * look for them in each block. A block that grows counts as released, because its content may move.
 */
#include "hadoop/credentials.h"
#include "hadoop/rpc_client.h"

#include "hadoop/hadoop_rpc.pb-c.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#define PASSWORD "swordfish-0123456789-swordfish"
#define ENCODED "c3dvcmRmaXNoLTAxMjM0NTY3ODktc3dvcmRmaXNo" /* in base64, in a word of its own */

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void __libc_free(void *p);
void *__libc_malloc(size_t n);

static int found; /* released blocks with the password */

static void block_search(const void *p)
{
        const size_t n = malloc_usable_size((void *)p);
        if (memmem(p, n, PASSWORD, strlen(PASSWORD)) || memmem(p, n, ENCODED, strlen(ENCODED)))
                found++;
}

void free(void *p)
{
        if (!p)
                return;
        block_search(p);
        __libc_free(p);
}

void *realloc(void *p, size_t n)
{
        void *moved = __libc_malloc(n);
        if (p && moved) {
                memcpy(moved, p, MIN(n, malloc_usable_size(p)));
                free(p);
        }
        return moved;
}

static void token_fill(struct hadoop_token *token)
{
        *token = (struct hadoop_token){.alias = mem_strdup("alias"),
                                       .kind = mem_strdup("HDFS_DELEGATION_TOKEN"),
                                       .service = mem_strdup("127.0.0.1:8020")};
        buf_puts(&token->identifier, "identifier");
        buf_puts(&token->password, PASSWORD);
}

static void credentials_fill(struct hadoop_credentials *c)
{
        struct hadoop_token token;
        token_fill(&token);
        hadoop_credentials_add(c, &token);
        hadoop_token_deinit(&token);
        hadoop_credentials_add_secret(c, "secret", PASSWORD, strlen(PASSWORD));
}

static void blocks_are_searched(void **state)
{
        found = 0;
        free(mem_strdup(PASSWORD));
        assert_int_equal(found, 1);
        free(mem_grow(mem_strdup(PASSWORD), 100));
        assert_int_equal(found, 3);
        found = 0;
}

static void wipes_credentials(void **state)
{
        struct hadoop_credentials c = {0};
        credentials_fill(&c);
        credentials_fill(&c); /* replaces both */
        hadoop_credentials_forget_secrets(&c);
        assert_int_equal(found, 0);
        hadoop_credentials_deinit(&c);
        assert_int_equal(found, 0);
}

static void wipes_their_stream(void **state)
{
        struct hadoop_credentials c = {0}, again = {0};
        struct buf stream = BUF_INIT;
        credentials_fill(&c);
        hadoop_credentials_write(&c, &stream);
        assert_int_equal(hadoop_credentials_read(&again, stream.data, stream.len, NULL), 0);
        assert_int_equal(hadoop_credentials_read(&again, stream.data, stream.len, NULL), 0);
        assert_int_equal(hadoop_credentials_read(&again, stream.data, stream.len - 1, NULL), -EBADMSG);
        buf_deinit_secret(&stream);
        hadoop_credentials_deinit(&c);
        hadoop_credentials_deinit(&again);
        assert_int_equal(found, 0);
}

static void wipes_what_it_read_from_a_file(void **state)
{
        struct hadoop_credentials c = {0}, again = {0};
        _cleanup_(buf_deinit_secret) struct buf stream = BUF_INIT;
        char path[] = "/tmp/firesteel-secrets-XXXXXX";
        const int fd = mkstemp(path);
        credentials_fill(&c);
        hadoop_credentials_write(&c, &stream);
        assert_int_equal(write(fd, stream.data, stream.len), stream.len);
        close(fd);
        assert_int_equal(hadoop_credentials_load(&again, path, NULL), 0);
        assert_string_equal(buf_text(hadoop_credentials_secret(&again, "secret")), PASSWORD);
        unlink(path);
        hadoop_credentials_deinit(&c);
        hadoop_credentials_deinit(&again);
        assert_int_equal(found, 0);
}

static void wipes_a_token_as_a_word(void **state)
{
        struct hadoop_token token, again = {0};
        token_fill(&token);
        char *text = hadoop_token_to_text(&token);
        assert_int_equal(hadoop_token_from_text(text, &again, NULL), 0);
        assert_int_equal(again.password.len, strlen(PASSWORD));
        hadoop_token_deinit(&again);
        text[strlen(text) - 4] = '\0';
        assert_int_equal(hadoop_token_from_text(text, &again, NULL), -EBADMSG);
        hadoop_token_text_free(text);
        hadoop_token_deinit(&token);
        assert_int_equal(found, 0);
}

static void on_call_done(void *owner, struct hadoop_rpc_result *result)
{
}

/* Both what proves the user and what a request carries. */
static void wipes_what_a_client_held(void **state)
{
        struct hadoop_token token;
        uv_loop_t loop;
        struct hadoop_rpc_client *client;
        const char *address = "127.0.0.1:1";
        token_fill(&token);
        uv_loop_init(&loop);
        const struct hadoop_rpc_client_options o = {
                .session = {.protocol = "org.example.P", .auth = HADOOP_RPC_TOKEN, .token = &token},
                .addresses = &address,
                .n_addresses = 1,
                .service = "ResourceManager"};
        assert_int_equal(hadoop_rpc_client_new(&loop, &o, &client, NULL), 0);
        Firesteel__Hadoop__UserInformation m = FIRESTEEL__HADOOP__USER_INFORMATION__INIT;
        m.effective_user = (char *)PASSWORD;
        const struct hadoop_rpc_call call = {
                .method = "m", .answer = &firesteel__hadoop__user_information__descriptor, .done = on_call_done};
        hadoop_rpc_client_call(client, &call, &m.base);
        hadoop_rpc_client_set_token(client, &token);
        hadoop_rpc_client_call(client, &call, &m.base);
        hadoop_rpc_client_cancel(client);
        hadoop_rpc_client_call(client, &call, &m.base);
        hadoop_rpc_client_free(client);
        uv_run(&loop, UV_RUN_DEFAULT);
        uv_loop_close(&loop);
        hadoop_token_deinit(&token);
        assert_int_equal(found, 0);
}

/* A session without security sends the request as it is, after the connection is made. */
static void wipes_what_a_session_sent(void **state)
{
        struct hadoop_rpc_session *s;
        struct hadoop_token token;
        token_fill(&token);
        const struct hadoop_rpc_options simple = {
                .protocol = "org.example.P", .auth = HADOOP_RPC_SIMPLE, .user = "alice"};
        assert_int_equal(hadoop_rpc_session_new(&simple, &s, NULL), 0);
        hadoop_rpc_session_call(s, 0, 0, "m", PASSWORD, strlen(PASSWORD));
        hadoop_rpc_session_call(s, 1, 0, "m", PASSWORD, strlen(PASSWORD));
        hadoop_rpc_session_free(s);
        assert_int_equal(found, 0);
        const struct hadoop_rpc_options proved = {
                .protocol = "org.example.P", .auth = HADOOP_RPC_TOKEN, .token = &token};
        if (hadoop_rpc_session_new(&proved, &s, NULL) == 0) {
                hadoop_rpc_session_call(s, 0, 0, "m", PASSWORD, strlen(PASSWORD)); /* waits */
                hadoop_rpc_session_free(s);
        }
        hadoop_token_deinit(&token);
        assert_int_equal(found, 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(blocks_are_searched),       cmocka_unit_test(wipes_credentials),
                cmocka_unit_test(wipes_their_stream),        cmocka_unit_test(wipes_what_it_read_from_a_file),
                cmocka_unit_test(wipes_a_token_as_a_word),   cmocka_unit_test(wipes_what_a_client_held),
                cmocka_unit_test(wipes_what_a_session_sent),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
#else
int main(void)
{
        return 77; /* a sanitizer has its own free */
}
#endif
