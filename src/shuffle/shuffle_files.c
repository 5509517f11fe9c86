/* See shuffle_files.h. */
#include "shuffle/shuffle_files.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/fs.h"
#include "shuffle/output_index.h"
#include "store/file_cipher.h"
#include "store/page_pool.h"
#include "store/spill.h"

#include <dirent.h>
#include <endian.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#define MAGIC "FSTINDX1"
#define MAGIC_SIZE 8
#define CHECK_SIZE 8
#define MAX_INDEX ((off_t)512 << 20)
#define NAME_SIZE 64

struct shuffle_files {
        struct disk_dirs *dirs;
        struct spill_space space;
        int subdirectories;
};

static void name_of(char name[static NAME_SIZE], int shuffle, int map, int64_t task, const char *kind)
{
        snprintf(name, NAME_SIZE, "shuffle_%d_%d_%" PRId64 ".%s", shuffle, map, task, kind);
}

int shuffle_files_new(const char *list, int subdirectories, const struct spill_space *space, struct file_key *key,
                      struct shuffle_files **files, struct fst_error *error)
{
        struct disk_dirs *dirs;
        int r = disk_dirs_new_lasting(list, subdirectories, &dirs, error);
        if (r) {
                file_key_free(key);
                return r;
        }
        disk_dirs_encrypt(dirs, key);
        struct shuffle_files *f = new0(struct shuffle_files);
        f->dirs = dirs;
        f->space = *space;
        f->space.dirs = dirs;
        f->subdirectories = subdirectories;
        *files = f;
        return 0;
}

void shuffle_files_free(struct shuffle_files *files)
{
        if (!files)
                return;
        disk_dirs_free(files->dirs);
        free(files);
}

void shuffle_files_remove_all(struct shuffle_files *files)
{
        if (!files)
                return;
        disk_dirs_remove(files->dirs);
        free(files);
}

const struct disk_dirs *shuffle_files_dirs(const struct shuffle_files *files)
{
        return files->dirs;
}

/* ------------------------------------------------------------------------------------------------------ writing */

/* Copies a page of @from's file unchanged to the end of @to's. */
static int copy_page(struct shuffle_output *from, const struct shuffle_extent *e, unsigned char *block,
                     struct shuffle_output *to, uint32_t partition, struct fst_error *error)
{
        uint64_t offset;
        _cleanup_free_ unsigned char *large = e->length > PAGE_BLOCK ? mem_try(e->length) : NULL;
        unsigned char *frame = e->length > PAGE_BLOCK ? large : block;
        if (!frame)
                return error_set(error, -ENOMEM, "no memory to copy a page of %u bytes", e->length);
        int r = spill_read_bytes(from->file, e->offset, frame, e->length, error);
        if (r == 0)
                r = spill_write_frame(to->file, frame, e->length, &offset, error);
        if (r == 0)
                shuffle_output_add_extent(to, partition, offset, e->length);
        return r;
}

static int write_partition(struct shuffle_output *from, uint32_t p, unsigned char *block, struct shuffle_output *to,
                           struct fst_error *error)
{
        const struct shuffle_partition *at = shuffle_output_at(from, (int)p);
        int r = 0;
        for (uint32_t e = at->extents; e && r == 0; e = from->extents[e - 1].next)
                r = copy_page(from, &from->extents[e - 1], block, to, p, error);
        for (const struct page *page = at->last ? at->last->next : NULL; page && r == 0;) {
                uint64_t offset;
                uint32_t length;
                r = spill_write_page(to->file, page, &offset, &length, error);
                if (r == 0)
                        shuffle_output_add_extent(to, p, offset, length);
                page = page == at->last ? NULL : page->next;
        }
        return r;
}

static int write_pages(struct shuffle_files *f, struct shuffle_output *from, const char *name,
                       struct shuffle_output *to, struct fst_error *error)
{
        struct spill_options options = {.dirs = f->dirs,
                                        .name = name,
                                        .keep = true,
                                        .type = from->type,
                                        .codec = f->space.shuffle_codec,
                                        .level = f->space.level,
                                        .if_cheaper = f->space.shuffle_if_cheaper};
        unsigned char *block = from->file ? page_pool_get() : NULL;
        int r = from->file && !block ? error_set(error, -ENOMEM, "no memory to write a map output") : 0;
        if (r == 0)
                r = spill_new(&options, &to->file, error);
        for (int p = shuffle_output_next(from, 0); p < from->partitions && r == 0; p = shuffle_output_next(from, p + 1))
                r = write_partition(from, (uint32_t)p, block, to, error);
        page_pool_put(block);
        to->rows = from->rows;
        to->bytes = from->bytes;
        shuffle_output_pack(to);
        return r ? r : shuffle_output_finish(to, error);
}

static int write_index(struct shuffle_files *f, const struct shuffle_output *o, const char *name,
                       struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf index = BUF_INIT;
        _cleanup_free_ char *path = NULL;
        int fd;
        buf_append(&index, MAGIC, MAGIC_SIZE);
        output_index_put(o, false, &index);
        uint64_t check = htole64(XXH3_64bits(index.data, index.len));
        buf_append(&index, &check, CHECK_SIZE);
        int r = disk_dirs_create(f->dirs, name, &fd, &path, error);
        if (r)
                return r;
        r = write_all(fd, index.data, index.len);
        if (close(fd) < 0 && r == 0)
                r = -errno;
        if (r == 0)
                return 0;
        unlink(path);
        return disk_dirs_failed(f->dirs, "writing", path, r, error);
}

static int write_output(struct shuffle_files *f, struct shuffle_output *output, const char *data, const char *index,
                        struct shuffle_output **kept, struct fst_error *error)
{
        struct shuffle_output *o = shuffle_output_new(output->partitions, output->type, output->manager);
        shuffle_output_pin(output);
        int r = write_pages(f, output, data, o, error);
        shuffle_output_unpin(output);
        if (r == 0)
                r = write_index(f, o, index, error);
        if (r)
                shuffle_output_unref(o);
        else
                *kept = o;
        return r;
}

int shuffle_files_keep(struct shuffle_files *f, int shuffle, int map, int64_t task, struct shuffle_output *output,
                       struct shuffle_output **kept, struct fst_error *error)
{
        char data[NAME_SIZE], index[NAME_SIZE];
        if ((uint32_t)output->partitions > OUTPUT_INDEX_PARTITIONS)
                return error_set(error, -EINVAL,
                                 "shuffle %d has %d partitions; the shuffle service serves at most %u: use fewer, or "
                                 "set spark.shuffle.service.enabled to false",
                                 shuffle, output->partitions, OUTPUT_INDEX_PARTITIONS);
        name_of(data, shuffle, map, task, "data");
        name_of(index, shuffle, map, task, "index");
        /* An earlier file of the same task is removed before the second attempt. */
        for (bool first = true;; first = false) {
                size_t left = disk_dirs_left(f->dirs);
                int r = write_output(f, output, data, index, kept, error);
                if (r == 0)
                        return 0;
                shuffle_files_remove(f, shuffle, map, task);
                size_t still = disk_dirs_left(f->dirs);
                if (r == -EEXIST ? !first : still == left || still == 0)
                        return r;
                error_deinit(error); /* another directory, where everything can be written again */
        }
}

static struct shuffle_roots roots_of(const struct shuffle_files *f)
{
        size_t n = disk_dirs_count(f->dirs);
        struct shuffle_roots roots = {.at = new_array(char *, n), .n = n, .subdirectories = f->subdirectories};
        for (size_t i = 0; i < n; i++)
                roots.at[i] = (char *)disk_dirs_root(f->dirs, i);
        return roots;
}

void shuffle_files_remove(struct shuffle_files *f, int shuffle, int map, int64_t task)
{
        struct shuffle_roots roots = roots_of(f);
        shuffle_roots_remove(&roots, shuffle, map, task);
        free(roots.at);
}

void shuffle_files_remove_shuffle(struct shuffle_files *f, int shuffle)
{
        struct shuffle_roots roots = roots_of(f);
        shuffle_roots_remove_shuffle(&roots, shuffle);
        free(roots.at);
}

/* ------------------------------------------------------------------------------------------------------ reading */

static char *find_output_file(const struct shuffle_roots *roots, int shuffle, int map, int64_t task, const char *kind)
{
        char name[NAME_SIZE];
        name_of(name, shuffle, map, task, kind);
        return disk_dirs_find((const char *const *)roots->at, roots->n, roots->subdirectories, name);
}

/* Reads the index without magic and checksum. The caller owns *@data. The index begins at MAGIC_SIZE. */
static int read_index(const char *path, unsigned char **data, size_t *len, struct fst_error *error)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0) {
                int r = error_errno(error, "reading %s", path);
                if (fd >= 0)
                        close(fd);
                return r;
        }
        bool can_be = S_ISREG(st.st_mode) && st.st_size >= MAGIC_SIZE + CHECK_SIZE && st.st_size <= MAX_INDEX;
        size_t n = can_be ? (size_t)st.st_size : 0;
        unsigned char *bytes = can_be ? mem_try(n) : NULL;
        bool whole = bytes && pread(fd, bytes, n, 0) == (ssize_t)n && memcmp(bytes, MAGIC, MAGIC_SIZE) == 0;
        close(fd);
        uint64_t check = 0;
        if (whole)
                memcpy(&check, bytes + n - CHECK_SIZE, CHECK_SIZE);
        if (!whole || le64toh(check) != XXH3_64bits(bytes, n - CHECK_SIZE)) {
                free(bytes);
                return error_set(error, -EBADMSG, "%s is damaged", path);
        }
        *data = bytes;
        *len = n - MAGIC_SIZE - CHECK_SIZE;
        return 0;
}

int shuffle_files_open(const struct shuffle_roots *roots, int shuffle, int map, int64_t task,
                       struct shuffle_output **output, size_t *bytes, struct fst_error *error)
{
        _cleanup_free_ char *index_path = find_output_file(roots, shuffle, map, task, "index");
        _cleanup_free_ char *path = find_output_file(roots, shuffle, map, task, "data");
        _cleanup_free_ unsigned char *index = NULL;
        struct output_index head;
        struct shuffle_output *o = NULL;
        struct stat st;
        uint64_t size;
        size_t len = 0;
        if (!index_path || !path)
                return -ENOENT;
        int r = read_index(index_path, &index, &len, error);
        if (r)
                return r;
        r = output_index_parse(index + MAGIC_SIZE, len, &head, error);
        if (r == 0)
                r = output_index_take(index + MAGIC_SIZE, len, NULL, &o, &size, error);
        if (r)
                return error_wrap(error, r, "%s", index_path);
        if (lstat(path, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != size) {
                shuffle_output_unref(o);
                return error_set(error, -EBADMSG, "%s has another length than its index states", path);
        }
        o->file = spill_adopt_file(head.type, path, head.iv, size);
        *bytes = sizeof(*o) + (size_t)o->n_at * sizeof(o->at[0]) + (size_t)o->partitions / 8 +
                 o->extents_cap * sizeof(*o->extents) + strlen(path) + 256;
        *output = o;
        return 0;
}

bool shuffle_roots_remove(const struct shuffle_roots *roots, int shuffle, int map, int64_t task)
{
        bool found = false;
        const char *const kinds[] = {"index", "data"};
        for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
                _cleanup_free_ char *path = find_output_file(roots, shuffle, map, task, kinds[i]);
                found |= path && unlink(path) == 0;
        }
        return found;
}

static size_t remove_in(const char *directory, const char *prefix)
{
        size_t n = 0;
        DIR *d = opendir(directory);
        if (!d)
                return 0;
        for (struct dirent *e; (e = readdir(d));)
                n += text_starts_with(e->d_name, prefix) && unlinkat(dirfd(d), e->d_name, 0) == 0;
        closedir(d);
        return n;
}

static size_t remove_everywhere(const struct shuffle_roots *roots, const char *prefix, bool directories)
{
        size_t n = 0;
        for (size_t i = 0; i < roots->n; i++) {
                for (int sub = 0; sub < roots->subdirectories; sub++) {
                        _cleanup_free_ char *directory = mem_printf("%s/%02x", roots->at[i], (unsigned)sub);
                        n += remove_in(directory, prefix);
                        if (directories)
                                rmdir(directory);
                }
                if (directories)
                        rmdir(roots->at[i]);
        }
        return n;
}

size_t shuffle_roots_remove_shuffle(const struct shuffle_roots *roots, int shuffle)
{
        char prefix[NAME_SIZE];
        snprintf(prefix, sizeof(prefix), "shuffle_%d_", shuffle);
        return remove_everywhere(roots, prefix, false);
}

void shuffle_roots_remove_all(const struct shuffle_roots *roots)
{
        remove_everywhere(roots, "shuffle_", true);
}
