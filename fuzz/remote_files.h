/* All operations on a remote file system whose server replies from the input, for webhdfs_fuzz.c and s3_fuzz.c. */
#pragma once

#include "base/error.h"
#include "base/log.h"
#include "fuzz/canned_http.h"
#include "io/fs/hadoop_conf.h"
#include "io/fs/remote_fs.h"

static const char *remote_files_env(const char *name)
{
        return NULL;
}

/* Aborts on an error without a message, and on a result outside the requested range. */
static void remote_files_check(int r, struct fst_error *error)
{
        if (r < 0 && !*error_message(error))
                abort();
        error_deinit(error);
}

static void remote_files_read(const struct file_system *fs, const char *path, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        char bytes[300];
        int r = fs->open(fs, path, &file, error);
        remote_files_check(r, error);
        if (r < 0)
                return;
        file.wanted = file.size;
        for (uint64_t offset = 0; offset < file.size && offset < 2000;) {
                ssize_t n = fs->read_at(&file, bytes, sizeof(bytes), offset, error);
                if (n > (ssize_t)sizeof(bytes))
                        abort();
                remote_files_check(n < 0 ? -1 : 0, error);
                if (n <= 0)
                        break;
                offset += (uint64_t)n;
        }
        fs->close(&file, error);
        error_deinit(error);
}

static void remote_files_write(const struct file_system *fs, const char *path, struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        int r = fs->create(fs, path, &file, error);
        remote_files_check(r, error);
        if (r < 0)
                return;
        r = fs->write(&file, "content", 7, error);
        remote_files_check(r, error);
        if (r < 0)
                fs->discard(&file);
        else
                remote_files_check(fs->close(&file, error), error);
}

/* The first byte chooses the first operation. */
static void remote_files_fuzz(const char *directory, const char *path, const uint8_t *data, size_t size)
{
        static const struct hadoop_conf *conf;
        static struct hadoop_conf settings;
        if (!conf) {
                hadoop_conf_init(&settings, remote_files_env);
                hadoop_conf_set(&settings, "fs.s3a.access.key", "key");
                hadoop_conf_set(&settings, "fs.s3a.secret.key", "secret");
                hadoop_conf_set(&settings, "fs.s3a.endpoint", "http://store");
                hadoop_conf_set(&settings, "fs.s3a.attempts.maximum", "1");
                conf = &settings;
                log_set_level(LOG_OFF);
                http_ops_replace(&canned_ops);
        }
        if (size == 0)
                return;
        struct fst_error error = FST_ERROR_INIT;
        struct remote_fs *remote;
        const struct file_system *fs;
        if (remote_fs_new(conf, &remote, &error) < 0 || remote_fs_of(remote, path, &fs, &error) < 0)
                abort();
        canned_begin(data + 1, size - 1);
        for (int i = 0; i < 8; i++) {
                struct file_status status = {0};
                struct file_list list = {0};
                struct block_list blocks = {0};
                int r = 0;
                switch ((data[0] + i) % 8) {
                case 0:
                        r = fs->stat(fs, path, &status, &error);
                        if (r == 0 && !status.path)
                                abort();
                        break;
                case 1:
                        r = fs->list(fs, directory, &list, &error);
                        break;
                case 2:
                        r = fs->hosts ? fs->hosts(fs, path, &blocks, &error) : 0;
                        break;
                case 3:
                        remote_files_read(fs, path, &error);
                        break;
                case 4:
                        remote_files_write(fs, path, &error);
                        break;
                case 5:
                        r = fs->mkdirs(fs, directory, &error);
                        break;
                case 6:
                        r = fs->rename(fs, path, directory, &error);
                        break;
                case 7:
                        r = fs->remove(fs, directory, &error);
                        break;
                }
                remote_files_check(r, &error);
                file_status_deinit(&status);
                file_list_deinit(&list);
                block_list_deinit(&blocks);
        }
        remote_fs_free(remote);
}
