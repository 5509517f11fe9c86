/* Tests requests to a namenode and to an S3 store, both simulated here, and the handling of their answers. `make
 * check-hdfs` and `make check-s3` run against real ones. */
#include "io/fs/remote_fs.h"

#include "base/error.h"
#include "base/strmap.h"
#include "base/string_prefix.h"
#include "io/fs/hadoop_conf.h"
#include "net/http/http_fixture.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct http_fixture server;
static struct hadoop_conf conf;
static struct remote_fs *remote;
static struct fst_error error;
static struct buf asked; /* the relevant part of each request, one line each */

static const char *environment(const char *name)
{
        return strcmp(name, "HADOOP_USER_NAME") == 0 ? "me" : NULL;
}

/* -------------------------------------------------------------------------------------------------------- servers */

static struct strmap objects; /* content of the store: "/bucket/key" → content */
static bool no_delete;        /* the store rejects removing several keys at once */
static const char *namenode_says;
static int namenode_status;
static int busy, busy_status; /* the store answers so many further requests with this status */
static const char *busy_body;
static _Atomic int gets;                    /* requests for objects or ranges of them */
static char last_sum[64], last_digest[128]; /* headers of the last PUT */

/* Lists the keys below @prefix, grouped into directories unless @deep. */
static void list_objects(struct fixture_exchange *x, const char *prefix, bool deep)
{
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(&objects);
        _cleanup_free_ char *last = NULL;
        buf_puts(&out, "<ListBucketResult>");
        for (size_t i = 0; i < objects.count; i++) {
                const char *key = sorted[i]->key + strlen("/bucket/");
                if (!text_starts_with(key, prefix))
                        continue;
                const char *slash = deep ? NULL : strchr(key + strlen(prefix), '/');
                if (!slash) {
                        buf_printf(&out, "<Contents><Key>%s</Key><Size>%zu</Size></Contents>", key,
                                   strlen(sorted[i]->value));
                        continue;
                }
                char *folder = mem_strndup(key, (size_t)(slash + 1 - key));
                if (!last || strcmp(last, folder) != 0)
                        buf_printf(&out, "<CommonPrefixes><Prefix>%s</Prefix></CommonPrefixes>", folder);
                free(last);
                last = folder;
        }
        buf_puts(&out, "</ListBucketResult>");
        fixture_answer(x, 200, "", buf_text(&out));
}

static void serve_store(struct fixture_exchange *x)
{
        char source[256], range[64];
        char *query = strchr(x->target, '?');
        if (query)
                *query++ = '\0';
        if (busy > 0) {
                busy--;
                return fixture_answer(x, busy_status, "", busy_body);
        }
        if (query && strcmp(query, "delete=") == 0) {
                if (no_delete)
                        return fixture_answer(x, 501, "", "");
                for (const char *p = x->body, *end; (p = strstr(p, "<Key>")); p = end) {
                        end = strstr(p, "</Key>");
                        _cleanup_free_ char *name = mem_printf("/bucket/%.*s", (int)(end - p - 5), p + 5);
                        strmap_remove(&objects, name);
                }
                return fixture_answer(x, 200, "", "<DeleteResult></DeleteResult>");
        }
        if (query && strstr(query, "list-type=2")) {
                _cleanup_(buf_deinit) struct buf prefix = BUF_INIT;
                for (const char *p = strstr(query, "prefix=") + 7; *p; p++)
                        if (text_starts_with(p, "%2F"))
                                buf_putc(&prefix, '/'), p += 2;
                        else
                                buf_putc(&prefix, *p);
                return list_objects(x, buf_text(&prefix), !strstr(query, "delimiter"));
        }
        const char *found = strmap_get(&objects, x->target);
        if (strcmp(x->method, "PUT") == 0) {
                bool copied = fixture_header(x, "x-amz-copy-source", source, sizeof(source));
                const char *content = copied ? strmap_get(&objects, source) : x->body;
                if (!content)
                        return fixture_answer(x, 404, "", "");
                fixture_header(x, "x-amz-checksum-crc32c", last_sum, sizeof(last_sum));
                fixture_header(x, "x-amz-content-sha256", last_digest, sizeof(last_digest));
                _cleanup_free_ char *kept = mem_strdup(content);
                strmap_set(&objects, x->target, kept);
                return fixture_answer(x, 200, "ETag: \"1\"\r\n", "");
        }
        if (strcmp(x->method, "DELETE") == 0) {
                strmap_remove(&objects, x->target);
                return fixture_answer(x, 204, "", "");
        }
        if (!found)
                return fixture_answer(x, 404, "", "<Error><Message>no such key</Message></Error>");
        int from, to;
        gets += strcmp(x->method, "GET") == 0;
        if (fixture_header(x, "Range", range, sizeof(range)) && sscanf(range, "bytes=%d-%d", &from, &to) == 2)
                return fixture_answer_bytes(x, 206, "", found + from, (size_t)to - (size_t)from + 1);
        fixture_answer(x, 200, "", found);
}

static void serve_namenode(struct fixture_exchange *x)
{
        _cleanup_free_ char *location = mem_printf("Location: %s/datanode?delegation=abc&x y\r\n", server.url);
        buf_printf(&asked, "%s %s%s%s\n", x->method, x->target, *x->body ? " " : "", x->body);
        if (text_starts_with(x->target, "/datanode"))
                return fixture_answer(x, namenode_status == 307 ? 201 : namenode_status, "", namenode_says);
        fixture_answer(x, namenode_status, namenode_status == 307 ? location : "",
                       namenode_status == 307 ? "" : namenode_says);
}

static void serve(struct fixture_exchange *x)
{
        if (text_starts_with(x->target, "/bucket"))
                serve_store(x);
        else
                serve_namenode(x);
}

/* ------------------------------------------------------------------------------------------------------------ tests */

static const struct file_system *system_of(const char *path)
{
        const struct file_system *fs;
        assert_int_equal(remote_fs_of(remote, path, &fs, &error), 0);
        return fs;
}

static void done(int r)
{
        if (r < 0)
                fail_msg("%s", error_message(&error));
}

static int put(const char *path, const char *content)
{
        const struct file_system *fs = system_of(path);
        struct open_file file = OPEN_FILE_INIT;
        int r = fs->create(fs, path, &file, &error);
        if (r == 0)
                r = fs->write(&file, content, strlen(content), &error);
        if (r < 0) {
                if (file.fs)
                        fs->discard(&file);
                return r;
        }
        return fs->close(&file, &error);
}

/* Checks all keys of the store, written as "a b/c". */
static void assert_store(const char *keys)
{
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        _cleanup_free_ struct strmap_entry **sorted = strmap_sorted(&objects);
        for (size_t i = 0; i < objects.count; i++)
                buf_printf(&all, "%s%s", i ? " " : "", sorted[i]->key + strlen("/bucket/"));
        assert_string_equal(buf_text(&all), keys);
}

static void reads_and_lists_objects(void **state)
{
        const struct file_system *fs = system_of("s3a://bucket/x");
        struct open_file file;
        char part[8];
        done(put("s3a://bucket/a/b", "content"));
        done(put("s3a://bucket/a/c", ""));
        assert_store("a/b a/c");
        done(fs->open(fs, "s3a://bucket/a/b", &file, &error));
        assert_int_equal(file.size, 7);
        assert_int_equal(fs->read_at(&file, part, sizeof(part), 3, &error), 4);
        assert_memory_equal(part, "tent", 4);
        assert_int_equal(fs->read_at(&file, part, sizeof(part), 7, &error), 0);
        done(fs->close(&file, &error));
        assert_int_equal(fs->open(fs, "s3a://bucket/a", &file, &error), -EISDIR);
        assert_int_equal(fs->open(fs, "s3a://bucket/z", &file, &error), -ENOENT);
        done(fs->create(fs, "s3a://bucket/never", &file, &error));
        done(fs->write(&file, "x", 1, &error));
        fs->discard(&file);
        assert_store("a/b a/c");
        done(fs->remove(fs, "s3a://bucket/a", &error));
        assert_store("");
        done(fs->remove(fs, "s3a://bucket/a", &error));
        assert_int_equal(fs->remove(fs, "s3a://bucket/", &error), -EINVAL);
}

/* The reader reads small pieces, but sends few requests. */
static void reads_ahead_in_few_requests(void **state)
{
        const struct file_system *fs = system_of("s3a://bucket/x");
        struct open_file file;
        size_t size = (size_t)5 << 20, at = 0;
        char *content = mem_alloc(size + 1), piece[10000];
        for (size_t i = 0; i < size; i++)
                content[i] = "abcdefghijklmnopq"[i % 17];
        content[size] = '\0';
        done(put("s3a://bucket/large", content));
        done(fs->open(fs, "s3a://bucket/large", &file, &error));
        file.wanted = size;
        gets = 0;
        for (ssize_t n; (n = fs->read_at(&file, piece, sizeof(piece), at, &error)) != 0; at += (size_t)n) {
                assert_true(n > 0);
                assert_memory_equal(piece, content + at, n);
        }
        assert_int_equal(at, size);
        assert_int_equal(gets, 2);
        /* Reads beyond `wanted`, and reads after seeks, request little. */
        file.wanted = 1000;
        gets = 0;
        assert_int_equal(fs->read_at(&file, piece, 5000, 17, &error), 5000);
        assert_memory_equal(piece, content, 5000);
        assert_int_equal(fs->read_at(&file, piece, 5000, 5017, &error), 5000);
        assert_int_equal(gets, 1);
        assert_int_equal(fs->read_at(&file, piece, 17, (uint64_t)17 << 16, &error), 17);
        assert_memory_equal(piece, content, 17);
        assert_int_equal(gets, 2);
        /* A read up to `wanted` is one request, a later one of its bytes another. */
        file.wanted = 30000;
        assert_int_equal(fs->read_at(&file, piece, 10000, 20000, &error), 10000);
        assert_memory_equal(piece, content + 20000, 10000);
        assert_int_equal(gets, 3);
        assert_int_equal(fs->read_at(&file, piece, 100, 20000, &error), 100);
        assert_memory_equal(piece, content + 20000, 100);
        assert_int_equal(gets, 4);
        done(fs->close(&file, &error));
        done(fs->remove(fs, "s3a://bucket/large", &error));
        free(content);
}

static void writes_one_object_with_a_large_part(void **state)
{
        const size_t size = (size_t)9 << 20; /* more than a part, unless said */
        char *content = mem_alloc(size + 1);
        for (size_t i = 0; i < size; i++)
                content[i] = "abcdefghijklmnopq"[i % 17];
        content[size] = '\0';
        hadoop_conf_set(&conf, "fs.s3a.multipart.size", "40m");
        done(put("s3a://bucket/whole", content));
        hadoop_conf_set(&conf, "fs.s3a.multipart.size", "");
        assert_string_equal(strmap_get(&objects, "/bucket/whole"), content);
        done(system_of("s3a://bucket/x")->remove(system_of("s3a://bucket/x"), "s3a://bucket/whole", &error));
        free(content);
}

static void reports_block_sizes(void **state)
{
        struct file_status status;
        const struct file_system *fs = system_of("s3a://bucket/x");
        done(put("s3a://bucket/x", "1"));
        done(fs->stat(fs, "s3a://bucket/x", &status, &error));
        assert_int_equal(status.block_size, 32 << 20);
        file_status_deinit(&status);
        hadoop_conf_set(&conf, "fs.s3a.bucket.bucket.block.size", "1M");
        done(fs->stat(fs, "s3a://bucket/x", &status, &error));
        assert_int_equal(status.block_size, 1 << 20);
        file_status_deinit(&status);
        hadoop_conf_set(&conf, "fs.s3a.bucket.bucket.block.size", "much");
        assert_int_equal(fs->stat(fs, "s3a://bucket/x", &status, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "fs.s3a.block.size"));
        hadoop_conf_set(&conf, "fs.s3a.bucket.bucket.block.size", "");
        done(fs->remove(fs, "s3a://bucket/x", &error));
}

static void renames_directories_of_objects(void **state)
{
        const struct file_system *fs = system_of("s3a://bucket/x");
        done(fs->mkdirs(fs, "s3a://bucket/new/empty", &error));
        done(fs->mkdirs(fs, "s3a://bucket/new/empty", &error));
        done(put("s3a://bucket/new/one", "1"));
        done(put("s3a://bucket/new/deep/two", "2"));
        assert_store("new/deep/two new/empty/ new/one");
        done(fs->rename(fs, "s3a://bucket/new", "s3a://bucket/old", &error));
        assert_store("old/deep/two old/empty/ old/one");
        assert_string_equal(strmap_get(&objects, "/bucket/old/deep/two"), "2");
        done(fs->rename(fs, "s3a://bucket/old/one", "s3a://bucket/old/deep/two", &error));
        assert_store("old/deep/two old/empty/");
        assert_string_equal(strmap_get(&objects, "/bucket/old/deep/two"), "1");
        assert_int_equal(fs->rename(fs, "s3a://bucket/old/deep/two", "s3a://bucket/old", &error), -ENOTEMPTY);
        assert_int_equal(fs->rename(fs, "s3a://bucket/none", "s3a://bucket/x", &error), -ENOENT);
        assert_int_equal(fs->mkdirs(fs, "s3a://bucket/old/deep/two", &error), -ENOTDIR);
        done(fs->remove(fs, "s3a://bucket/old", &error));
        assert_store("");
        for (no_delete = false;; no_delete = true) {
                char path[64];
                for (int i = 0; i < 3; i++) {
                        snprintf(path, sizeof(path), "s3a://bucket/many/%d", i);
                        done(put(path, "x"));
                }
                done(fs->remove(fs, "s3a://bucket/many", &error));
                assert_store("");
                if (no_delete)
                        break;
        }
}

static void sends_a_checksum_in_place_of_a_digest(void **state)
{
        const struct file_system *fs = system_of("s3a://bucket/x");
        struct open_file file;
        done(put("s3a://bucket/x", "123456789"));
        assert_string_equal(last_sum, "");
        assert_string_equal(last_digest, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225");
        hadoop_conf_set(&conf, "fs.s3a.create.checksum.algorithm", "CRC32C");
        done(put("s3a://bucket/x", "123456789"));
        assert_string_equal(last_sum, "4waSgw==");
        assert_string_equal(last_digest, "UNSIGNED-PAYLOAD");
        hadoop_conf_set(&conf, "fs.s3a.create.checksum.algorithm", "NONE");
        done(put("s3a://bucket/x", "123456789"));
        assert_string_equal(last_digest, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225");
        hadoop_conf_set(&conf, "fs.s3a.create.checksum.algorithm", "MD5");
        assert_int_equal(fs->create(fs, "s3a://bucket/x", &file, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "fs.s3a.create.checksum.algorithm=MD5 is not supported"));
        hadoop_conf_set(&conf, "fs.s3a.create.checksum.algorithm", "");
        done(fs->remove(fs, "s3a://bucket/x", &error));
}

static void store_is_busy(int times, int status, const char *body)
{
        busy_status = status;
        busy_body = body;
        busy = times;
}

static void repeats_requests_while_the_store_is_busy(void **state)
{
        const struct file_system *fs = system_of("s3a://bucket/x");
        store_is_busy(1, 503, "<Error><Code>SlowDown</Code></Error>");
        done(put("s3a://bucket/x", "1"));
        store_is_busy(1, 429, "");
        done(put("s3a://bucket/x", "2"));
        store_is_busy(1, 400, "<Error><Code>RequestTimeout</Code></Error>");
        done(put("s3a://bucket/x", "3"));
        assert_string_equal(strmap_get(&objects, "/bucket/x"), "3");
        assert_int_equal(busy, 0);
        store_is_busy(2, 400, "<Error><Code>BadDigest</Code><Message>no</Message></Error>");
        assert_int_equal(put("s3a://bucket/x", "4"), -EIO);
        assert_int_equal(busy, 1); /* one attempt */
        assert_non_null(strstr(error_message(&error), "s3a://bucket/x: the object store answers 400: no"));
        assert_null(strstr(error_message(&error), "times"));
        store_is_busy(6, 503, "<Error><Message>Slow Down</Message></Error>");
        assert_int_equal(put("s3a://bucket/x", "5"), -EIO);
        assert_int_equal(busy, 0);
        assert_non_null(strstr(error_message(&error), "answers 503: Slow Down (6 times; let fewer tasks"));
        done(fs->remove(fs, "s3a://bucket/x", &error));
}

/* Creates a file for bulk content, of the pieces "12", "3456" and "789". */
static int put_bulk(const char *path)
{
        const struct file_system *fs = system_of(path);
        struct open_file file;
        static const char kept[] = "3456789";
        int r = fs->create_bulk(fs, path, &file, &error);
        if (r < 0)
                return r;
        r = fs->write(&file, "1", 1, &error);
        r = r < 0 ? r : fs->write(&file, (char[]){'2'}, 1, &error);
        r = r < 0 ? r : fs->write_kept(&file, kept, 4, &error);
        r = r < 0 ? r : fs->write_kept(&file, kept + 4, 3, &error);
        int closed = fs->close(&file, r < 0 ? NULL : &error);
        return r < 0 ? r : closed;
}

static void sends_bulk_content_in_pieces_with_a_checksum(void **state)
{
        const struct file_system *fs = system_of("s3a://bucket/x");
        last_sum[0] = '\0';
        done(put_bulk("s3a://bucket/x"));
        assert_string_equal(strmap_get(&objects, "/bucket/x"), "123456789");
        assert_string_equal(last_sum, "4waSgw==");
        assert_string_equal(last_digest, "UNSIGNED-PAYLOAD");
        hadoop_conf_set(&conf, "fs.s3a.create.checksum.algorithm", "NONE");
        last_sum[0] = '\0';
        done(put_bulk("s3a://bucket/x"));
        assert_string_equal(strmap_get(&objects, "/bucket/x"), "123456789");
        assert_string_equal(last_sum, "");
        assert_string_equal(last_digest, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225");
        hadoop_conf_set(&conf, "fs.s3a.create.checksum.algorithm", "");
        struct open_file file;
        done(fs->create_bulk(fs, "s3a://bucket/empty", &file, &error));
        done(fs->close(&file, &error));
        assert_string_equal(strmap_get(&objects, "/bucket/empty"), "");
        done(fs->remove(fs, "s3a://bucket/empty", &error));
        done(fs->remove(fs, "s3a://bucket/x", &error));
}

/* Sets the namenode's answer and clears the recorded requests. */
static const char *hdfs(int status, const char *says)
{
        static char path[64];
        namenode_status = status;
        namenode_says = says;
        buf_reset(&asked);
        snprintf(path, sizeof(path), "webhdfs://127.0.0.1:%d/dir/a b", server.port);
        return path;
}

static void asks_the_active_namenode(void **state)
{
        const char *path = hdfs(307, "");
        const struct file_system *fs = system_of(path);
        done(put(path, "content"));
        assert_string_equal(buf_text(&asked), "PUT /webhdfs/v1/dir/a%20b?op=CREATE&overwrite=true&user.name=me\n"
                                              "PUT /datanode?delegation=abc&x%20y content\n");
        path = hdfs(307, "");
        done(fs->put_new(fs, path, "content", 7, &error));
        assert_string_equal(buf_text(&asked), "PUT /webhdfs/v1/dir/a%20b?op=CREATE&overwrite=false&user.name=me\n"
                                              "PUT /datanode?delegation=abc&x%20y content\n");
        hdfs(403, "{\"RemoteException\":{\"exception\":\"FileAlreadyExistsException\",\"message\":\"x\"}}");
        assert_int_equal(fs->put_new(fs, path, "content", 7, &error), -EEXIST);
        error_deinit(&error);
        hdfs(200, "{\"boolean\": true}");
        done(fs->mkdirs(fs, path, &error));
        done(fs->remove(fs, path, &error));
        done(fs->rename(fs, path, "hdfs://h/new&name", &error));
        assert_string_equal(buf_text(&asked),
                            "PUT /webhdfs/v1/dir/a%20b?op=MKDIRS&user.name=me\n"
                            "DELETE /webhdfs/v1/dir/a%20b?op=DELETE&recursive=true&user.name=me\n"
                            "PUT /webhdfs/v1/dir/a%20b?op=RENAME&renameoptions=OVERWRITE&destination=/new%26name&"
                            "user.name=me\n");
        hdfs(200, "{\"boolean\": false}");
        done(fs->remove(fs, path, &error));
        assert_int_equal(fs->mkdirs(fs, path, &error), -EIO);
}

static void sets_permission_and_copies_in_hdfs_only(void **state)
{
        struct file_status status;
        const char *path = hdfs(200, "{\"FileStatus\":{\"type\":\"FILE\",\"length\":7,\"permission\":\"1644\"}}");
        const struct file_system *fs = system_of(path);
        done(fs->set_permission(fs, path, 0700, &error));
        done(fs->set_replication(fs, path, 3, &error));
        assert_string_equal(buf_text(&asked),
                            "PUT /webhdfs/v1/dir/a%20b?op=SETPERMISSION&permission=700&user.name=me\n"
                            "PUT /webhdfs/v1/dir/a%20b?op=SETREPLICATION&replication=3&user.name=me\n");
        done(fs->stat(fs, path, &status, &error));
        assert_int_equal(status.permission, 0644);
        file_status_deinit(&status);
        hdfs(404, "");
        assert_int_equal(fs->set_permission(fs, path, 0700, &error), -ENOENT);
        fs = system_of("s3a://bucket/x");
        assert_null(fs->set_permission);
        assert_null(fs->set_replication);
}

static void reads_hosts_of_blocks(void **state)
{
        _cleanup_(block_list_deinit) struct block_list blocks = {0};
        struct file_status status;
        const char *path = hdfs(200, "{\"FileStatus\":{\"type\":\"FILE\",\"length\":7,\"blockSize\":65536}}");
        const struct file_system *fs = system_of(path);
        done(fs->stat(fs, path, &status, &error));
        assert_int_equal(status.block_size, 65536);
        file_status_deinit(&status);
        hdfs(200, "{\"BlockLocations\":{\"BlockLocation\":["
                  "{\"offset\":0,\"length\":5,\"hosts\":[\"one\",\"two\"]},"
                  "{\"offset\":5,\"length\":2,\"hosts\":[]}]}}");
        done(fs->hosts(fs, path, &blocks, &error));
        assert_string_equal(buf_text(&asked), "GET /webhdfs/v1/dir/a%20b?op=GETFILEBLOCKLOCATIONS&user.name=me\n");
        assert_int_equal(blocks.len, 2);
        assert_string_equal(blocks.data[0].hosts, "one\ntwo\n");
        assert_int_equal(blocks.data[1].offset, 5);
        assert_int_equal(blocks.data[1].length, 2);
        assert_string_equal(blocks.data[1].hosts, "");
        /* A namenode of Hadoop 2 does not support this request. */
        hdfs(400,
             "{\"RemoteException\":{\"exception\":\"IllegalArgumentException\",\"message\":\"No enum constant\"}}");
        done(fs->hosts(fs, path, &blocks, &error));
        hdfs(404, "{\"RemoteException\":{\"exception\":\"FileNotFoundException\",\"message\":\"gone\"}}");
        assert_int_equal(fs->hosts(fs, path, &blocks, &error), -ENOENT);
        hdfs(200, "{\"BlockLocations\":{\"BlockLocation\":[{\"offset\":-1,\"length\":5}]}}");
        assert_int_equal(fs->hosts(fs, path, &blocks, &error), -EPROTO);
        assert_int_equal(blocks.len, 2);
}

static void maps_namenode_exceptions_to_errno(void **state)
{
        static const struct {
                const char *says;
                int result;
        } cases[] = {
                {"{'exception':'AccessControlException','message':'Permission denied: user=me'}", -EACCES},
                {"{'exception':'FileAlreadyExistsException','message':'/dir is a file'}", -EEXIST},
                {"{'exception':'ParentNotDirectoryException','message':'no'}", -ENOTDIR},
                {"{'exception':'DSQuotaExceededException','message':'The DiskSpace quota is exceeded'}", -EDQUOT},
                {"{'exception':'IOException','message':'rename destination directory is not empty: /x'}", -ENOTEMPTY},
                {"{'exception':'FileNotFoundException','message':'gone'}", -ENOENT},
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                CASE_LABEL("%zu of cases: says \"%s\", result %d", i, cases[i].says ? cases[i].says : "(none)",
                           cases[i].result);
                _cleanup_free_ char *text = mem_printf("{\"RemoteException\":%s}", cases[i].says);
                for (char *p = text; (p = strchr(p, '\'')); p++)
                        *p = '"';
                const char *path = hdfs(403, text);
                const struct file_system *fs = system_of(path);
                assert_int_equal(fs->rename(fs, path, "hdfs://h/x", &error), cases[i].result);
                assert_non_null(strstr(error_message(&error), "dir/a b"));
                assert_int_equal(put(path, "content"), cases[i].result);
        }
        const char *path = hdfs(200, "<html>");
        const struct file_system *fs = system_of(path);
        assert_int_equal(fs->mkdirs(fs, path, &error), -EPROTO);
        assert_int_equal(put(path, "x"), -EIO);
        assert_int_equal(remote_fs_of(remote, "gs://b/x", &fs, &error), -EPROTONOSUPPORT);
}

static int start(void **state)
{
        http_fixture_start(&server, serve);
        hadoop_conf_init(&conf, environment);
        hadoop_conf_set(&conf, "fs.s3a.endpoint", server.url);
        hadoop_conf_set(&conf, "fs.s3a.access.key", "me");
        hadoop_conf_set(&conf, "fs.s3a.secret.key", "mine");
        return remote_fs_new(&conf, &remote, &error) < 0;
}

static int stop(void **state)
{
        remote_fs_free(remote);
        remote_fs_free(NULL);
        hadoop_conf_deinit(&conf);
        http_fixture_stop(&server);
        strmap_deinit(&objects);
        buf_deinit(&asked);
        error_deinit(&error);
        return 0;
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_and_lists_objects),
                cmocka_unit_test(reads_ahead_in_few_requests),
                cmocka_unit_test(writes_one_object_with_a_large_part),
                cmocka_unit_test(reports_block_sizes),
                cmocka_unit_test(sends_a_checksum_in_place_of_a_digest),
                cmocka_unit_test(repeats_requests_while_the_store_is_busy),
                cmocka_unit_test(sends_bulk_content_in_pieces_with_a_checksum),
                cmocka_unit_test(renames_directories_of_objects),
                cmocka_unit_test(asks_the_active_namenode),
                cmocka_unit_test(sets_permission_and_copies_in_hdfs_only),
                cmocka_unit_test(reads_hosts_of_blocks),
                cmocka_unit_test(maps_namenode_exceptions_to_errno),
        };
        return cmocka_run_group_tests(tests, start, stop);
}
