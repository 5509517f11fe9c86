/*
 * The operations of io/fs/remote_fs.h as a program, for `make check-hdfs` and `make check-s3`: Hadoop's settings as
 * KEY=VALUE, "--", then
 *
 *      put FILE PATH [BYTES [SECONDS]]  written BYTES at a time (64 KiB), with a pause of SECONDS in the middle
 *      discard FILE PATH       likewise, but not kept
 *      bulk FILE PATH          as bulk content, by turns of kept and of copied pieces
 *      part PATH OFFSET SIZE   what is there, by open and read_at
 *      cat PATH | list PATH | stat PATH | mkdirs PATH | rename FROM TO | remove PATH
 *
 * The last line of standard error is what failed.
 */
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/hadoop_conf.h"
#include "io/fs/remote_fs.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const char *variable(const char *name)
{
        return getenv(name);
}

static int to_stdout(void *context, const char *data, size_t n)
{
        return fwrite(data, 1, n, stdout) == n ? 0 : -EIO;
}

static int put(const struct file_system *fs, char **words, int n, bool keep, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        size_t size = n > 3 ? strtoul(words[3], NULL, 10) : 65536, got;
        _cleanup_free_ char *block = mem_alloc(size);
        FILE *from = fopen(words[1], "re");
        if (!from)
                return error_errno(error, "%s", words[1]);
        int r = fs->create(fs, words[2], &file, error);
        for (int i = 0; r == 0 && (got = fread(block, 1, size, from)) > 0; i++) {
                r = fs->write(&file, block, got, error);
                if (n > 4 && i == 1)
                        sleep((unsigned)atoi(words[4]));
        }
        fclose(from);
        if (r < 0 || !keep) {
                if (file.fs)
                        fs->discard(&file);
                return r;
        }
        return fs->close(&file, error);
}

static int put_bulk(const struct file_system *fs, char **words, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        FILE *from = fopen(words[1], "re");
        if (!from)
                return error_errno(error, "%s", words[1]);
        const size_t room = (size_t)64 << 20, piece = 100000;
        _cleanup_free_ char *content = mem_alloc(room);
        size_t size = fread(content, 1, room, from);
        fclose(from);
        int r = fs->create_bulk(fs, words[2], &file, error);
        for (size_t at = 0, i = 0; r == 0 && at < size; at += piece, i++)
                r = (i % 2 ? fs->write : fs->write_kept)(&file, content + at, MIN(piece, size - at), error);
        if (r == 0)
                return fs->close(&file, error);
        if (file.fs)
                fs->discard(&file);
        return r;
}

static int part(const struct file_system *fs, char **words, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        size_t size = strtoul(words[3], NULL, 10);
        _cleanup_free_ char *data = mem_alloc(size + 1);
        int r = fs->open(fs, words[1], &file, error);
        if (r < 0)
                return r;
        ssize_t n = fs->read_at(&file, data, size, strtoull(words[2], NULL, 10), error);
        r = fs->close(&file, n < 0 ? NULL : error);
        if (n > 0)
                fwrite(data, 1, (size_t)n, stdout);
        return n < 0 ? (int)n : r;
}

static int act(struct remote_fs *remote, char **words, int n, struct fst_error *error)
{
        const struct file_system *fs;
        bool writes = strcmp(words[0], "put") == 0 || strcmp(words[0], "discard") == 0;
        bool bulk = strcmp(words[0], "bulk") == 0;
        struct file_list list = {0};
        struct file_status status = {0};
        int r = remote_fs_of(remote, words[writes || bulk ? 2 : 1], &fs, error);
        if (r < 0)
                return r;
        if (writes)
                return put(fs, words, n, *words[0] == 'p', error);
        if (bulk)
                return put_bulk(fs, words, error);
        if (strcmp(words[0], "cat") == 0)
                return remote_fs_fetch(remote, words[1], to_stdout, NULL, error);
        if (strcmp(words[0], "part") == 0)
                return part(fs, words, error);
        if (strcmp(words[0], "mkdirs") == 0)
                return fs->mkdirs(fs, words[1], error);
        if (strcmp(words[0], "rename") == 0)
                return fs->rename(fs, words[1], words[2], error);
        if (strcmp(words[0], "abort") == 0)
                return fs->abort_uploads(fs, words[1], error);
        if (strcmp(words[0], "remove") == 0)
                return fs->remove(fs, words[1], error);
        if (strcmp(words[0], "stat") == 0) {
                r = fs->stat(fs, words[1], &status, error);
                if (r == 0)
                        printf("%s %llu\n", status.directory ? "directory" : "file", (unsigned long long)status.size);
                file_status_deinit(&status);
                return r;
        }
        r = fs->list(fs, words[1], &list, error);
        for (size_t i = 0; r == 0 && i < list.len; i++)
                printf("%s%s\n", list.data[i].path, list.data[i].directory ? "/" : "");
        file_list_deinit(&list);
        return r;
}

int main(int argc, char **argv)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        _cleanup_(hadoop_conf_deinit) struct hadoop_conf conf = {0};
        struct remote_fs *remote = NULL;
        hadoop_conf_init(&conf, variable);
        int r = hadoop_conf_load(&conf, NULL, &error), at = 1;
        for (char *value; r == 0 && at < argc && strcmp(argv[at], "--") != 0; at++)
                if ((value = strchr(argv[at], '='))) {
                        *value = '\0';
                        hadoop_conf_set(&conf, argv[at], value + 1);
                }
        r = r < 0 ? r : remote_fs_new(&conf, &remote, &error);
        if (r == 0 && argc - at >= 3)
                r = act(remote, argv + at + 1, argc - at - 1, &error);
        remote_fs_free(remote);
        if (r < 0)
                fprintf(stderr, "%s: %s\n", strerrorname_np(-r), error_message(&error));
        return r < 0;
}
