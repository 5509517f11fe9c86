/*
 * SparkSubmitSuite's cases of patterns and downloads, with servers on loopback: a web server, a namenode with WebHDFS
 * (the first one of a nameservice is on standby), and an object store that authenticates requests.
 */
#include "launch/remote_files.h"

#include "base/error.h"
#include "base/strmap.h"
#include "io/fs/file_systems.h"
#include "net/http/http_fixture.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>

static struct http_fixture server;
static struct strmap environment, conf;
static struct remote_files *files;
static struct fst_error error;

static const char *env(const char *name)
{
        return strmap_get(&environment, name);
}

static bool starts(const char *text, const char *with)
{
        return strncmp(text, with, strlen(with)) == 0;
}

static void serve_webhdfs(struct fixture_exchange *x)
{
        static const char file[] = "{\"FileStatus\":{\"type\":\"FILE\",\"length\":4,\"modificationTime\":1000}}";
        static const char list[] =
                "{\"FileStatuses\":{\"FileStatus\":["
                "{\"pathSuffix\":\"b.jar\",\"type\":\"FILE\",\"length\":4,\"modificationTime\":1},"
                "{\"pathSuffix\":\"a b.jar\",\"type\":\"FILE\",\"length\":4,\"modificationTime\":1},"
                "{\"pathSuffix\":\"c.jar\",\"type\":\"DIRECTORY\",\"length\":0,\"modificationTime\":1},"
                "{\"pathSuffix\":\"d.txt\",\"type\":\"FILE\",\"length\":4,\"modificationTime\":1}]}}";
        static const char dir[] = "{\"FileStatus\":{\"type\":\"DIRECTORY\",\"length\":0,\"modificationTime\":1}}";
        const char *name = x->target + strlen("/webhdfs/v1");
        if (!strstr(x->target, "&user.name=jo"))
                return fixture_answer(x, 401, "", "");
        if (strstr(name, "op=OPEN") && !strstr(name, "datanode")) {
                _cleanup_free_ char *to = mem_printf("Location: %s/webhdfs/v1/datanode%s\r\n", server.url, name);
                return fixture_answer(x, 307, to, "");
        }
        if (strstr(name, "op=OPEN"))
                return fixture_answer(x, 200, "", "hdfs");
        if (strstr(name, "op=LISTSTATUS"))
                return fixture_answer(x, 200, "", list);
        if (starts(name, "/lib?"))
                return fixture_answer(x, 200, "", dir);
        if (starts(name, "/secret"))
                return fixture_answer(x, 403, "",
                                      "{\"RemoteException\":{\"exception\":\"AccessControlException\","
                                      "\"message\":\"Permission denied: user=jo\\n at\"}}");
        if (strstr(name, ".jar?"))
                return fixture_answer(x, 200, "", file);
        fixture_answer(x, 404, "",
                       "{\"RemoteException\":{\"exception\":\"FileNotFoundException\",\"message\":\"no\"}}");
}

static int elsewhere; /* number of requests for it */

static void serve_s3(struct fixture_exchange *x)
{
        char who[512] = "", token[64] = "";
        fixture_header(x, "Authorization", who, sizeof(who));
        fixture_header(x, "x-amz-security-token", token, sizeof(token));
        if (!starts(who, "AWS4-HMAC-SHA256 Credential=id/") || !strstr(who, "/eu-west-1/s3/aws4_request") ||
            strcmp(token, "token") != 0)
                return fixture_answer(x, 403, "", "<Error><Message>who are you?</Message></Error>");
        if (strstr(x->target, "list-type=2"))
                return fixture_answer(
                        x, 200, "",
                        "<?xml version=\"1.0\"?><ListBucketResult><IsTruncated>false</IsTruncated><Prefix>lib/</Prefix>"
                        "<Contents><Key>lib/</Key><Size>0</Size></Contents>"
                        "<Contents><Key>lib/x.jar</Key><LastModified>2024-05-06T07:08:09.000Z</LastModified>"
                        "<Size>2</Size></Contents><Contents><Key>lib/y.jar</Key><Size>2</Size></Contents>"
                        "<CommonPrefixes><Prefix>lib/sub.jar/</Prefix></CommonPrefixes></ListBucketResult>");
        if (strcmp(x->target, "/bucket/lib/elsewhere.jar") == 0) {
                elsewhere++;
                return fixture_answer(x, 301, "x-amz-bucket-region: other.host/\r\n", "");
        }
        if (strcmp(x->target, "/bucket/lib/x.jar") == 0)
                return fixture_answer(x, 200, "", "s3");
        fixture_answer(x, 404, "", "");
}

static void serve(struct fixture_exchange *x)
{
        if (starts(x->target, "/standby"))
                fixture_answer(x, 403, "", "{\"RemoteException\":{\"exception\":\"StandbyException\"}}");
        else if (starts(x->target, "/webhdfs/v1"))
                serve_webhdfs(x);
        else if (starts(x->target, "/bucket"))
                serve_s3(x);
        else if (strcmp(x->target, "/a/app.jar") == 0)
                fixture_answer(x, 200, "", "web jar");
        else if (strcmp(x->target, "/b/app.jar") == 0)
                fixture_answer(x, 200, "", "another");
        else if (strcmp(x->target, "/moved.jar") == 0)
                fixture_answer(x, 302, "Location: /a/app.jar\r\n", "");
        else
                fixture_answer(x, 404, "", "not here");
}

static void set_hadoop(const char *key, const char *value)
{
        _cleanup_free_ char *name = mem_printf("spark.hadoop.%s", key);
        strmap_set(&conf, name, value);
}

static int set_up(void **state)
{
        _cleanup_free_ char *address = mem_printf("127.0.0.1:%d", server.port);
        error_deinit(&error);
        strmap_set(&environment, "HADOOP_USER_NAME", "jo");
        strmap_set(&environment, "TMPDIR", temp_dir);
        set_hadoop("dfs.nameservices", "ns");
        set_hadoop("dfs.ha.namenodes.ns", "one, two");
        set_hadoop("dfs.namenode.http-address.ns.one", "127.0.0.1:1"); /* nothing listens there */
        set_hadoop("dfs.namenode.http-address.ns.two", address);
        set_hadoop("dfs.namenode.rpc-address.ns.one", "nowhere:8020");
        set_hadoop("dfs.namenode.rpc-address.ns.two", "somewhere:8020");
        set_hadoop("fs.s3a.endpoint", server.url);
        set_hadoop("fs.s3a.endpoint.region", "eu-west-1");
        set_hadoop("fs.s3a.access.key", "id");
        set_hadoop("fs.s3a.secret.key", "secret");
        set_hadoop("fs.s3a.session.token", "token");
        return remote_files_new(&(struct remote_files_options){.conf = &conf, .env = env}, &files, &error);
}

static void remove_fetched(const char *path)
{
        const struct file_system *fs;
        _cleanup_free_ char *full = mem_printf("file:%s", path);
        assert_int_equal(file_system_of(full, &fs, NULL), 0);
        assert_int_equal(fs->remove(fs, full, NULL), 0);
}

static int tear_down(void **state)
{
        _cleanup_free_ char *directory = remote_files_take_directory(files);
        remote_files_free(files);
        if (directory)
                remove_fetched(directory);
        strmap_deinit(&environment);
        strmap_deinit(&conf);
        error_deinit(&error);
        return 0;
}

typedef int (*list_function)(struct remote_files *files, const char *list, char **out, struct fst_error *error);

static void assert_gives(list_function function, const char *list, const char *expected)
{
        _cleanup_free_ char *out = NULL;
        if (function(files, list, &out, &error) < 0)
                fail_msg("%s: %s", list, error_message(&error));
        assert_string_equal(out, expected);
}

static void assert_fails(list_function function, const char *list, int code, const char *words)
{
        char *out = NULL;
        assert_int_equal(function(files, list, &out, &error), code);
        assert_null(out);
        if (!strstr(error_message(&error), words))
                fail_msg("'%s' does not say '%s'", error_message(&error), words);
}

static void write_file(const char *name, const char *text)
{
        _cleanup_free_ char *path = mem_printf("%s/%s", temp_dir, name);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(text, file);
        fclose(file);
}

static void assert_content(const char *uri, const char *expected)
{
        char text[64] = "";
        assert_true(starts(uri, "file:/"));
        FILE *file = fopen(uri + 5, "r");
        assert_non_null(file);
        assert_int_equal(fread(text, 1, sizeof(text) - 1, file), strlen(expected));
        fclose(file);
        assert_string_equal(text, expected);
}

/* Resolves @list, with the directory in place of each "@", and compares the result. */
static void assert_globs(const char *list, const char *expected)
{
        struct buf in = BUF_INIT, out = BUF_INIT;
        for (; *list; list++)
                *list == '@' ? buf_puts(&in, temp_dir) : buf_putc(&in, *list);
        for (; *expected; expected++)
                *expected == '@' ? buf_puts(&out, temp_dir) : buf_putc(&out, *expected);
        assert_gives(remote_files_resolve_globs, buf_text(&in), buf_text(&out));
        buf_deinit(&in);
        buf_deinit(&out);
}

static void local_patterns(void **state)
{
        _cleanup_free_ char *sub = mem_printf("%s/sub.jar", temp_dir);
        write_file("one.jar", "1");
        write_file("two.jar", "2");
        write_file("sp ace.jar", "3");
        write_file(".one.jar.crc", "");
        assert_int_equal(mkdir(sub, 0700), 0);
        assert_globs("@/*.jar", "file:@/one.jar,file:@/sp%20ace.jar,file:@/two.jar");
        assert_globs("@/*e.jar, file:@/one.jar", "file:@/one.jar,file:@/sp%20ace.jar,file://@/one.jar");
        _cleanup_free_ char *set = mem_printf("%s/[ot].jar", temp_dir), *group = mem_printf("%s/{o", temp_dir);
        _cleanup_free_ char *where = mem_printf("Illegal character in path at index %zu: file:%s/[ot].jar",
                                                strlen("file:/") + strlen(temp_dir), temp_dir);
        assert_fails(remote_files_resolve_globs, set, -EINVAL, where);
        assert_fails(remote_files_resolve_globs, group, -EINVAL,
                     "Illegal file pattern: error parsing regexp: Unclosed group at pos 2: `{o`");
        assert_fails(remote_files_resolve_globs, "C:\\x\\y", -EINVAL,
                     "Illegal file pattern: error parsing regexp: invalid escape sequence: `\\x\\y`");
        assert_globs("@/one.jar#x", "file://@/one.jar#x");
        assert_globs("@/missing.jar", "file:@/missing.jar");
        assert_globs("@/missing.jar#m", "file:@/missing.jar#m");
        assert_globs("@/missing*", "");
        assert_globs("@", "");
        assert_globs("@/.one*", "");
        assert_globs("local:/opt/*.jar,http://h/*.jar,https://h/a#b,ftp://h/x", "local:/opt/*.jar,http://h/*.jar,"
                                                                                "https://h/a#b,ftp://h/x");
        assert_globs(" , ,", "");
        /* A "?" that is part of a name begins a query by then. */
        assert_globs("@/missing%3Fx,@/missing?x", "file:@/missing%253Fx,file:@/missing?x");
        assert_globs("http://h/a%3Fb#c%3Fd", "http://h/a?b#c%3Fd");
        _cleanup_free_ char *several = mem_printf("%s/*.jar#lib", temp_dir);
        _cleanup_free_ char *words = mem_printf("file:%s/*.jar resolves ambiguously to multiple files: file:%s/one.jar,"
                                                "file:%s/sp%%20ace.jar,file:%s/two.jar",
                                                temp_dir, temp_dir, temp_dir, temp_dir);
        assert_fails(remote_files_resolve_globs, several, -EINVAL, words);
        assert_fails(remote_files_resolve_globs, "s3x://b/a*", -EPROTONOSUPPORT, "No FileSystem for scheme \"s3x\"");
        strmap_set(&conf, "spark.firesteel.compat", "2.4");
        assert_fails(remote_files_resolve_globs, "s3x://b/a*", -EPROTONOSUPPORT, "No FileSystem for scheme: s3x");
        assert_fails(remote_files_resolve_globs, "s3x:a", -EPROTONOSUPPORT, "No FileSystem for scheme: s3x");
        strmap_remove(&conf, "spark.firesteel.compat");
        assert_null(remote_files_take_directory(files));
}

static void remote_patterns(void **state)
{
        assert_globs("hdfs://ns/lib/*.jar", "hdfs://ns/lib/a%20b.jar,hdfs://ns/lib/b.jar");
        assert_globs("hdfs://ns/lib/b.jar#x", "hdfs://ns/lib/b.jar#x");
        assert_globs("hdfs://ns/none.txt", "hdfs://ns/none.txt");
        /* A namenode's own address is that one's, whatever host its web server has. */
        assert_globs("hdfs://somewhere:8020/lib/b*.jar", "hdfs://somewhere:8020/lib/b.jar");
        assert_globs("s3a://bucket/lib/*.jar", "s3a://bucket/lib/x.jar,s3a://bucket/lib/y.jar");
        _cleanup_free_ char *web = mem_printf("webhdfs://127.0.0.1:%d/lib/b*", server.port);
        _cleanup_free_ char *found = mem_printf("webhdfs://127.0.0.1:%d/lib/b.jar", server.port);
        assert_gives(remote_files_resolve_globs, web, found);
        assert_fails(remote_files_resolve_globs, "hdfs://ns/secret", -EACCES, "Permission denied: user=jo");
        assert_fails(remote_files_resolve_globs, "hdfs:/lib/*", -EINVAL, "no host");
}

static void remote_patterns_without_a_host(void **state)
{
        set_hadoop("fs.defaultFS", "hdfs://ns/");
        assert_globs("hdfs:///lib/*.jar", "hdfs://ns/lib/a%20b.jar,hdfs://ns/lib/b.jar");
        assert_globs("hdfs:/lib/b.jar#x", "hdfs://ns/lib/b.jar#x");
        assert_globs("hdfs:///none.txt", "hdfs:///none.txt");
}

static void downloads(void **state)
{
        _cleanup_free_ char *web = NULL, *hdfs = NULL, *s3 = NULL, *moved = NULL;
        _cleanup_free_ char *url = mem_printf("%s/a/app.jar#f", server.url),
                            *other = mem_printf("%s/b/app.jar", server.url);
        _cleanup_free_ char *redirect = mem_printf("%s/moved.jar", server.url), *none = mem_printf("%s/no", server.url);
        assert_gives(remote_files_download, "file:/x/y.jar", "file:/x/y.jar");
        assert_gives(remote_files_download, "local:/x/y.jar", "local:/x/y.jar");
        assert_gives(remote_files_download, "y.jar", "y.jar");
        assert_int_equal(remote_files_download(files, url, &web, &error), 0);
        assert_content(web, "web jar");
        assert_int_equal(remote_files_download(files, redirect, &moved, &error), 0);
        assert_content(moved, "web jar");
        assert_int_equal(remote_files_download(files, "hdfs://ns/lib/b.jar", &hdfs, &error), 0);
        assert_content(hdfs, "hdfs");
        assert_int_equal(remote_files_download(files, "s3a://bucket/lib/x.jar", &s3, &error), 0);
        assert_content(s3, "s3");
        /* Downloading the same file again succeeds. Another file of that name is an error. */
        assert_gives(remote_files_download, url, web);
        assert_fails(remote_files_download, other, -EEXIST, "exists and does not match contents of");
        assert_content(web, "web jar");
        strmap_set(&conf, "spark.files.overwrite", "true");
        assert_gives(remote_files_download, other, web);
        assert_content(web, "another");
        _cleanup_free_ char *list = mem_printf("/a.jar, s3a://bucket/lib/x.jar,%s", other);
        _cleanup_free_ char *local = mem_printf("/a.jar,%s,%s", s3, web);
        assert_gives(remote_files_download_list, list, local);
        assert_fails(remote_files_download, none, -ENOENT, "http://");
        assert_fails(remote_files_download, "s3a://bucket/none", -ENOENT,
                     "No such file or directory: s3a://bucket/none");
        assert_fails(remote_files_download, "foo://h/x", -EPROTONOSUPPORT, "No FileSystem for scheme \"foo\"");
        assert_fails(remote_files_download, "s3a://bucket/lib/elsewhere.jar", -EIO, "the object store answers 301");
        assert_int_equal(elsewhere, 1); /* an invalid region causes no second request */
        set_hadoop("fs.s3a.secret.key", "");
}

static void skips_downloads_under_spark_testing(void **state)
{
        _cleanup_free_ char *out = NULL;
        strmap_set(&environment, "SPARK_TESTING", "1");
        assert_int_equal(remote_files_download(files, "http://nowhere.invalid/a/b.py", &out, &error), 0);
        assert_true(starts(out, "file:/"));
        assert_string_equal(strrchr(out, '/'), "/b.py");
}

static void downloads_forced_schemes_for_yarn(void **state)
{
        _cleanup_free_ char *url = mem_printf("%s/a/app.jar", server.url), *app = NULL;
        _cleanup_free_ char *list = mem_printf("/x,hdfs://ns/lib/b.jar,%s,local:/l", url);
        assert_gives(remote_files_localize_for_yarn, list, list);
        strmap_set(&conf, "spark.yarn.dist.forceDownloadSchemes", "ftp,http");
        assert_int_equal(remote_files_localize_for_yarn(files, url, &app, &error), 0);
        assert_content(app, "web jar");
        _cleanup_free_ char *expected = mem_printf("/x,hdfs://ns/lib/b.jar,%s,local:/l", app);
        assert_gives(remote_files_localize_for_yarn, list, expected);
        /* An existing file is not requested again. */
        int requests = server.requests;
        assert_gives(remote_files_localize_for_yarn, url, app);
        assert_int_equal(server.requests, requests);
        strmap_set(&conf, "spark.yarn.dist.forceDownloadSchemes", "*");
        _cleanup_free_ char *b = NULL;
        assert_int_equal(remote_files_localize_for_yarn(files, "hdfs://ns/lib/b.jar", &b, &error), 0);
        assert_content(b, "hdfs");
        strmap_remove(&conf, "spark.yarn.dist.forceDownloadSchemes");
        assert_fails(remote_files_localize_for_yarn, "foo://h/x", -EPROTONOSUPPORT, "No FileSystem for scheme \"foo\"");
        assert_gives(remote_files_localize_for_yarn, "gs://b/x", "gs://b/x");
}

static struct buf told = BUF_INIT;

static void tell(void *context, const char *url, const char *from, const char *to)
{
        buf_printf(&told, "%s from %s to %s\n", url, from, to);
}

static void working_directory(void **state)
{
        _cleanup_free_ char *before = getcwd(NULL, 0), *here = mem_printf("%s/here", temp_dir), *out = NULL;
        _cleanup_free_ char *list =
                mem_printf("%s/a/app.jar#mine.jar,s3a://bucket/lib/x.jar,hdfs://ns/lib/b.jar", server.url);
        assert_int_equal(mkdir(here, 0700), 0);
        assert_int_equal(chdir(here), 0);
        remote_files_free(files);
        const struct remote_files_options options = {.conf = &conf, .env = env, .moved = tell};
        assert_int_equal(remote_files_new(&options, &files, &error), 0);
        int r = remote_files_to_working_directory(files, list, false, "s3a", &out, &error);
        if (r < 0)
                fail_msg("%s", error_message(&error));
        /* An existing file is rejected and stays. */
        char *again = NULL;
        r = remote_files_to_working_directory(files, "b.jar", false, NULL, &again, &error);
        assert_int_equal(chdir(before), 0);
        assert_int_equal(r, -ENOENT);
        assert_non_null(strstr(error_message(&error), "/here/b.jar: this file lies in the working directory already"));
        error_deinit(&error);
        _cleanup_free_ char *mine = mem_printf("file:%s/mine.jar", here), *b = mem_printf("file:%s/b.jar", here);
        assert_content(mine, "web jar");
        assert_content(b, "hdfs");
        _cleanup_free_ char *expected = mem_printf("%s#mine.jar,%s,s3a://bucket/lib/x.jar", mine, b);
        assert_string_equal(out, expected);
        _cleanup_free_ char *line = mem_printf("/app.jar to %s/mine.jar\nhdfs://ns/lib/b.jar from ", here);
        assert_non_null(strstr(buf_text(&told), line));
        buf_deinit(&told);
}

static void working_directory_names_missing_file(void **state)
{
        char *out = NULL;
        assert_int_equal(remote_files_to_working_directory(files, "local:///opt/app/x.so", false, NULL, &out, &error),
                         -ENOENT);
        assert_string_equal(
                error_message(&error),
                "local:///opt/app/x.so: the driver's container has no file /opt/app/x.so. A local: name is "
                "a file of the image: add it to the image (firesteel image build --add), or correct the name");
        error_deinit(&error);
        assert_int_equal(remote_files_to_working_directory(files, "file:/none.txt#a", false, NULL, &out, &error),
                         -ENOENT);
        assert_string_equal(error_message(&error),
                            "file:/none.txt#a: the driver's container has no file /none.txt. Correct the name");
        error_deinit(&error);
}

static void anonymous_needs_to_be_said(void **state)
{
        set_hadoop("fs.s3a.access.key", "");
        assert_fails(remote_files_download, "s3a://bucket/lib/x.jar", -EACCES, "No AWS Credentials");
        remote_files_free(files);
        set_hadoop("fs.s3a.aws.credentials.provider", "org.apache.hadoop.fs.s3a.AnonymousAWSCredentialsProvider");
        assert_int_equal(remote_files_new(&(struct remote_files_options){.conf = &conf, .env = env}, &files, &error),
                         0);
        assert_fails(remote_files_download, "s3a://bucket/lib/x.jar", -EACCES,
                     "the object store answers 403: who are you?");
}

static int start(void **state)
{
        http_fixture_start(&server, serve);
        return temp_dir_make(state);
}

static int stop(void **state)
{
        http_fixture_stop(&server);
        temp_dir_remove(NULL);
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(local_patterns, set_up, tear_down),
                cmocka_unit_test_setup_teardown(remote_patterns, set_up, tear_down),
                cmocka_unit_test_setup_teardown(remote_patterns_without_a_host, set_up, tear_down),
                cmocka_unit_test_setup_teardown(downloads, set_up, tear_down),
                cmocka_unit_test_setup_teardown(skips_downloads_under_spark_testing, set_up, tear_down),
                cmocka_unit_test_setup_teardown(downloads_forced_schemes_for_yarn, set_up, tear_down),
                cmocka_unit_test_setup_teardown(working_directory, set_up, tear_down),
                cmocka_unit_test_setup_teardown(working_directory_names_missing_file, set_up, tear_down),
                cmocka_unit_test_setup_teardown(anonymous_needs_to_be_said, set_up, tear_down),
        };
        return cmocka_run_group_tests(tests, start, stop);
}
