#include "history/history_zip.h"

#include "base/mem.h"
#include "io/fs/file_systems.h"
#include "io/fs/path.h"

static int history_zip_file(const struct file_system *fs, const char *path, const char *name, struct zip_writer *zip,
                            struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        char data[65536];
        int r = fs->open(fs, path, &file, error);
        if (r < 0)
                return r;
        r = zip_writer_begin(zip, name, error);
        for (uint64_t offset = 0; r == 0;) {
                ssize_t n = fs->read_at(&file, data, sizeof(data), offset, error);
                if (n <= 0) {
                        r = (int)n;
                        break;
                }
                offset += (uint64_t)n;
                r = zip_writer_put(zip, data, (size_t)n, error);
        }
        if (r == 0)
                r = zip_writer_end(zip, error);
        fs->close(&file, NULL);
        return r;
}

int history_zip_log(const struct file_system *fs, const struct event_log_info *log, struct zip_writer *zip,
                    struct fst_error *error)
{
        struct file_list list = {0};
        if (!log->is_rolling)
                return history_zip_file(fs, log->path, path_name(log->path), zip, error);
        _cleanup_free_ char *dir = mem_printf("%s/", path_name(log->path));
        int r = zip_writer_add(zip, dir, "", 0, error);
        if (r == 0)
                r = fs->list(fs, log->path, &list, error);
        for (size_t i = 0; r == 0 && i < list.len; i++) {
                _cleanup_free_ char *name = mem_printf("%s%s", dir, path_name(list.data[i].path));
                if (!list.data[i].directory)
                        r = history_zip_file(fs, list.data[i].path, name, zip, error);
        }
        file_list_deinit(&list);
        return r;
}
