/* See file_copy.h. */
#include "io/fs/file_copy.h"

#include "base/mem.h"

#define BLOCK ((size_t)256 << 10)

int file_create(const struct file_system *fs, const char *path, file_writer *write, void *context,
                struct fst_error *error)
{
        struct open_file file = OPEN_FILE_INIT;
        int r = fs->create(fs, path, &file, error);
        if (r < 0)
                return r;
        r = write(context, &file, error);
        if (r < 0)
                fs->discard(&file);
        else
                r = fs->close(&file, error);
        if (r < 0)
                fs->remove(fs, path, NULL);
        return r;
}

static int file_copy_blocks(void *context, struct open_file *to, struct fst_error *error)
{
        struct open_file *from = context;
        _cleanup_free_ char *block = mem_alloc(BLOCK);
        for (uint64_t at = 0;;) {
                const ssize_t n = from->fs->read_at(from, block, BLOCK, at, error);
                if (n <= 0)
                        return (int)n;
                const int r = to->fs->write(to, block, (size_t)n, error);
                if (r < 0)
                        return r;
                at += (uint64_t)n;
        }
}

int file_copy(struct open_file *from, const struct file_system *fs, const char *path, struct fst_error *error)
{
        return file_create(fs, path, file_copy_blocks, from, error);
}

struct file_text {
        const void *data;
        size_t n;
};

static int file_put_text(void *context, struct open_file *to, struct fst_error *error)
{
        const struct file_text *text = context;
        return text->n ? to->fs->write(to, text->data, text->n, error) : 0;
}

int file_put(const struct file_system *fs, const char *path, const void *data, size_t n, struct fst_error *error)
{
        return file_create(fs, path, file_put_text, &(struct file_text){.data = data, .n = n}, error);
}
