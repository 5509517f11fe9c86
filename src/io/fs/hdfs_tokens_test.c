/* Delegation tokens of this process and of processes that it forks, their services, and requests for new ones. The
 * namenode is simulated here; `make check-yarn-kerberos` runs against a real one. */
#include "io/fs/hdfs_tokens.h"

#include "base/error.h"
#include "base/string_prefix.h"
#include "hadoop/credentials.h"
#include "io/fs/hadoop_conf.h"
#include "io/fs/remote_fs.h"
#include "net/http/http_fixture.h"
#include "unit/cases.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static struct http_fixture server;
static struct hadoop_conf conf;
static struct remote_fs *remote;
static struct fst_error error;
static struct buf asked; /* the request lines */
static int status;
static const char *says;

static const char *no_variable(const char *name)
{
        return NULL;
}

static void serve(struct fixture_exchange *x)
{
        buf_printf(&asked, "%s %s\n", x->method, x->target);
        fixture_answer(x, status, "", says);
}

static struct hadoop_token example_token(const char *kind, const char *service, const char *password)
{
        struct hadoop_token t = {
                .alias = mem_strdup(service), .kind = mem_strdup(kind), .service = mem_strdup(service)};
        buf_puts(&t.identifier, "who");
        buf_puts(&t.password, password);
        return t;
}

static void add(struct hadoop_credentials *c, const char *kind, const char *service, const char *password)
{
        struct hadoop_token t = example_token(kind, service, password);
        hadoop_credentials_add(c, &t);
        hadoop_token_deinit(&t);
}

static void use(const char *kind, const char *service, const char *password)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        add(&c, kind, service, password);
        hdfs_tokens_add(&c);
}

/* Whether the token for @path has this password; NULL: there is none. */
static bool finds(const char *path, const char *password)
{
        struct hadoop_token t = {0};
        _cleanup_free_ char *text = hdfs_tokens_find(&conf, path);
        if (!text || !password)
                return !text && !password;
        const bool same = hadoop_token_from_text(text, &t, NULL) == 0 && t.password.len == strlen(password) &&
                          memcmp(t.password.data, password, t.password.len) == 0;
        hadoop_token_deinit(&t);
        return same;
}

static void names_the_service_of_a_path(void **state)
{
        static const struct {
                const char *path, *service, *kind;
        } cases[] = {
                {"hdfs://127.0.0.1:9000/x", "127.0.0.1:9000", HDFS_TOKEN},
                {"hdfs://localhost/x", "127.0.0.1:8020", HDFS_TOKEN},
                {"hdfs://depot/x", "ha-hdfs:depot", HDFS_TOKEN},
                {"hdfs:/x", "ha-hdfs:depot", HDFS_TOKEN},
                {"webhdfs://127.0.0.1/x", "127.0.0.1:9870", WEBHDFS_TOKEN},
                {"swebhdfs://127.0.0.1:1/x", "127.0.0.1:1", SWEBHDFS_TOKEN},
                {"file:/x", NULL, NULL},
                {"s3a://bucket/x", NULL, NULL},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%s", cases[i].path);
                const char *kind;
                _cleanup_free_ char *service = hdfs_token_service(&conf, cases[i].path, &kind);
                if (!cases[i].service) {
                        assert_null(service);
                        continue;
                }
                assert_string_equal(service, cases[i].service);
                assert_string_equal(kind, cases[i].kind);
        }
        hadoop_conf_set(&conf, "hadoop.security.token.service.use_ip", "false");
        const char *kind;
        _cleanup_free_ char *service = hdfs_token_service(&conf, "hdfs://LocalHost:1/x", &kind);
        assert_string_equal(service, "localhost:1");
        hadoop_conf_set(&conf, "hadoop.security.token.service.use_ip", "true");
}

static void finds_the_token_of_its_service(void **state)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        add(&c, HDFS_TOKEN, "127.0.0.1:9000", "one");
        add(&c, HDFS_TOKEN, "ha-hdfs:depot", "two");
        add(&c, HDFS_TOKEN, "localhost:7", "named");
        hdfs_tokens_add(&c);
        assert_true(finds("hdfs://127.0.0.1:9000/x", "one"));
        assert_true(finds("hdfs://localhost:9000/x", "one"));
        assert_true(finds("hdfs://depot/x", "two"));
        assert_true(finds("hdfs://localhost:7/x", "named"));
        assert_true(finds("hdfs://127.0.0.1:9001/x", NULL));
        assert_true(finds("webhdfs://127.0.0.1:9000/x", NULL));
        use(HDFS_TOKEN, "127.0.0.1:9000", "newer");
        assert_true(finds("hdfs://127.0.0.1:9000/x", "newer"));
        assert_true(finds("hdfs://depot/x", "two"));
        hdfs_tokens_reset();
        assert_true(finds("hdfs://depot/x", NULL));
}

static void reads_the_file_of_the_environment(void **state)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        _cleanup_(buf_deinit) struct buf stream = BUF_INIT;
        _cleanup_free_ char *file = temp_dir_path("tokens");
        add(&c, HDFS_TOKEN, "127.0.0.1:9000", "of the container");
        hadoop_credentials_write(&c, &stream);
        FILE *f = fopen(file, "we");
        assert_int_equal(fwrite(stream.data, 1, stream.len, f), stream.len);
        fclose(f);
        setenv("HADOOP_TOKEN_FILE_LOCATION", file, 1);
        hdfs_tokens_reset();
        assert_true(finds("hdfs://127.0.0.1:9000/x", "of the container"));
        setenv("HADOOP_TOKEN_FILE_LOCATION", "/nonexistent", 1);
        hdfs_tokens_reset();
        assert_true(finds("hdfs://127.0.0.1:9000/x", NULL));
        unsetenv("HADOOP_TOKEN_FILE_LOCATION");
}

/* A task process sees the tokens that its executor gets later. */
static void shows_new_tokens_to_a_forked_process(void **state)
{
        int go[2], reply[2], result;
        char c;
        use(HDFS_TOKEN, "127.0.0.1:9000", "old");
        hdfs_tokens_share();
        assert_int_equal(pipe(go) + pipe(reply), 0);
        const pid_t child = fork();
        if (child == 0) {
                bool good = finds("hdfs://127.0.0.1:9000/x", "old");
                good = write(reply[1], "x", 1) == 1 && read(go[0], &c, 1) == 1 && good;
                _exit(good && finds("hdfs://127.0.0.1:9000/x", "new") ? 0 : 1);
        }
        assert_int_equal(read(reply[0], &c, 1), 1);
        use(HDFS_TOKEN, "127.0.0.1:9000", "new");
        assert_int_equal(write(go[1], "x", 1), 1);
        assert_int_equal(waitpid(child, &result, 0), child);
        assert_int_equal(result, 0);
        for (int i = 0; i < 2; i++) {
                close(go[i]);
                close(reply[i]);
        }
}

/* The address of the simulated namenode as a path, and its next answer. */
static const char *namenode(int code, const char *text)
{
        static char path[64];
        status = code;
        says = text;
        buf_reset(&asked);
        snprintf(path, sizeof(path), "webhdfs://127.0.0.1:%d/", server.port);
        return path;
}

static int look(const char *path)
{
        const struct file_system *fs;
        struct file_status found = {0};
        assert_int_equal(remote_fs_of(remote, path, &fs, &error), 0);
        const int r = fs->stat(fs, path, &found, &error);
        file_status_deinit(&found);
        return r;
}

static void fetches_and_renews_tokens(void **state)
{
        struct hadoop_token sent = example_token("", "", "secret"), token = {0};
        _cleanup_free_ char *text = hadoop_token_to_text(&sent);
        _cleanup_free_ char *body = mem_printf("{\"Token\": {\"urlString\": \"%s\"}}", text);
        _cleanup_free_ char *service = mem_printf("127.0.0.1:%d", server.port);
        int64_t expires = 0;
        const char *path = namenode(200, body);
        assert_int_equal(hdfs_token_fetch(remote, path, "rm/h@R", &token, &error), 0);
        _cleanup_free_ char *line =
                mem_printf("GET /webhdfs/v1/?op=GETDELEGATIONTOKEN&renewer=rm%%2Fh%%40R&service=127.0.0.1%%3A%d"
                           "&kind=WEBHDFS%%20delegation\n",
                           server.port);
        assert_string_equal(buf_text(&asked), line);
        assert_string_equal(token.kind, WEBHDFS_TOKEN);
        assert_string_equal(token.service, service);
        assert_string_equal(token.alias, service);
        path = namenode(200, "{\"long\": 1700000000000}");
        assert_int_equal(hdfs_token_renew(remote, path, &token, &expires, &error), 0);
        assert_int_equal(expires, 1700000000000);
        assert_true(text_starts_with(buf_text(&asked), "PUT /webhdfs/v1/?op=RENEWDELEGATIONTOKEN&token="));
        path = namenode(200, "");
        assert_int_equal(hdfs_token_cancel(remote, path, &token, &error), 0);
        assert_true(text_starts_with(buf_text(&asked), "PUT /webhdfs/v1/?op=CANCELDELEGATIONTOKEN&token="));
        path = namenode(403, "{\"RemoteException\": {\"exception\": \"InvalidToken\", \"message\": \"gone\"}}");
        assert_true(hdfs_token_cancel(remote, path, &token, &error) < 0);
        error_deinit(&error);
        assert_int_equal(hdfs_token_fetch(remote, "s3a://bucket/", "rm", &token, &error), -ENODATA);
        path = namenode(200, "{\"Token\": null}");
        assert_int_equal(hdfs_token_fetch(remote, path, "rm", &token, &error), -EPROTO);
        assert_int_equal(hdfs_token_renew(remote, path, &sent, &expires, &error), -EPROTO);
        hadoop_token_deinit(&sent);
        hadoop_token_deinit(&token);
}

static void proves_the_user_with_a_token(void **state)
{
        _cleanup_free_ char *service = mem_printf("127.0.0.1:%d", server.port);
        use(WEBHDFS_TOKEN, service, "secret");
        const char *path = namenode(200, "{\"FileStatus\": {\"type\": \"DIRECTORY\", \"length\": 0}}");
        assert_int_equal(look(path), 0);
        _cleanup_free_ char *word = hdfs_tokens_find(&conf, path);
        _cleanup_free_ char *line = mem_printf("GET /webhdfs/v1/?op=GETFILESTATUS&delegation=%s\n", word);
        assert_string_equal(buf_text(&asked), line);
        hadoop_conf_set(&conf, HADOOP_CONF_PROXY_USER, "carol"); /* the token is carol's */
        namenode(200, says);
        assert_int_equal(look(path), 0);
        assert_string_equal(buf_text(&asked), line);
        hadoop_conf_set(&conf, HADOOP_CONF_PROXY_USER, "");
}

static void leaves_the_token_of_the_real_user_out_for_a_proxy_user(void **state)
{
        _cleanup_(hadoop_credentials_deinit) struct hadoop_credentials c = {0};
        struct hadoop_token t = {.alias = mem_strdup("127.0.0.1:9000"),
                                 .kind = mem_strdup(HDFS_TOKEN),
                                 .service = mem_strdup("127.0.0.1:9000")};
        buf_append(&t.identifier, "\0\7alice@R\2rm\0\1\1\1\2", 17);
        buf_puts(&t.password, "alice's");
        hadoop_credentials_add(&c, &t);
        hadoop_token_deinit(&t);
        hdfs_tokens_add(&c);
        assert_true(finds("hdfs://127.0.0.1:9000/x", "alice's"));
        hadoop_conf_set(&conf, HADOOP_CONF_PROXY_USER, "carol");
        assert_true(finds("hdfs://127.0.0.1:9000/x", NULL));
        hadoop_conf_set(&conf, HADOOP_CONF_PROXY_USER, "alice");
        assert_true(finds("hdfs://127.0.0.1:9000/x", "alice's"));
        hadoop_conf_set(&conf, HADOOP_CONF_PROXY_USER, "");
        hdfs_tokens_reset();
}

static void names_the_remedy_for_a_refused_proof(void **state)
{
        _cleanup_free_ char *service = mem_printf("127.0.0.1:%d", server.port);
        const char *path = namenode(401, "{\"RemoteException\": {\"exception\": \"InvalidToken\", \"message\": "
                                         "\"token (for alice) is expired\"}}");
        use(WEBHDFS_TOKEN, service, "old");
        assert_int_equal(look(path), -EACCES);
        assert_non_null(strstr(error_message(&error), "is expired"));
        assert_non_null(strstr(error_message(&error), "--principal and --keytab"));
        hdfs_tokens_reset();
        use(WEBHDFS_TOKEN, "127.0.0.1:1", "of another");
        namenode(401, "");
        assert_int_equal(look(path), -EACCES);
        assert_non_null(strstr(error_message(&error), "kinit"));
}

/* Without Kerberos, the name is enough. */
static void acts_for_another_user(void **state)
{
        _cleanup_free_ char *user = NULL;
        const char *path = namenode(200, "{\"FileStatus\": {\"type\": \"DIRECTORY\", \"length\": 0}}");
        hadoop_conf_set(&conf, "hadoop.security.authentication", "simple");
        hadoop_conf_set(&conf, HADOOP_CONF_USER, "alice");
        hadoop_conf_set(&conf, HADOOP_CONF_PROXY_USER, "carol");
        assert_int_equal(look(path), 0);
        assert_string_equal(buf_text(&asked), "GET /webhdfs/v1/?op=GETFILESTATUS&user.name=alice&doas=carol\n");
        user = hadoop_conf_user(&conf);
        assert_string_equal(user, "carol");
}

static int start(void **state)
{
        http_fixture_start(&server, serve);
        hadoop_conf_init(&conf, no_variable);
        hadoop_conf_set(&conf, "hadoop.security.authentication", "kerberos");
        hadoop_conf_set(&conf, "fs.defaultFS", "hdfs://depot");
        hadoop_conf_set(&conf, "dfs.ha.namenodes.depot", "a,b");
        return temp_dir_make(state) < 0 || remote_fs_new(&conf, &remote, &error) < 0;
}

static int stop(void **state)
{
        remote_fs_free(remote);
        hadoop_conf_deinit(&conf);
        http_fixture_stop(&server);
        buf_deinit(&asked);
        error_deinit(&error);
        hdfs_tokens_reset();
        return temp_dir_remove(state);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_the_service_of_a_path),
                cmocka_unit_test(finds_the_token_of_its_service),
                cmocka_unit_test(reads_the_file_of_the_environment),
                cmocka_unit_test(shows_new_tokens_to_a_forked_process),
                cmocka_unit_test(fetches_and_renews_tokens),
                cmocka_unit_test(proves_the_user_with_a_token),
                cmocka_unit_test(leaves_the_token_of_the_real_user_out_for_a_proxy_user),
                cmocka_unit_test(names_the_remedy_for_a_refused_proof),
                cmocka_unit_test(acts_for_another_user),
        };
        return cmocka_run_group_tests(tests, start, stop);
}
