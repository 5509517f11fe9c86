/* Map outputs that change process; see shuffle_handover.h. */
#include "shuffle/shuffle_handover.h"

#include "base/error.h"
#include "base/mem.h"
#include "shuffle/shuffle_store.h"
#include "store/file_cipher.h"
#include "store/spill.h"

#include <endian.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define INDEX_IV 40
#define INDEX_HEADER (INDEX_IV + FILE_IV)
#define INDEX_ENTRY 8

static void put32(struct buf *b, uint32_t v)
{
        v = htole32(v);
        buf_append(b, &v, sizeof(v));
}

static void put64(struct buf *b, uint64_t v)
{
        v = htole64(v);
        buf_append(b, &v, sizeof(v));
}

static uint32_t get32(const unsigned char *p)
{
        uint32_t v;
        memcpy(&v, p, sizeof(v));
        return le32toh(v);
}

static uint64_t get64(const unsigned char *p)
{
        uint64_t v;
        memcpy(&v, p, sizeof(v));
        return le64toh(v);
}

static uint32_t type_tag(fst_type type)
{
        return (uint32_t)type.key | (uint32_t)type.value << 8;
}

/* ---------------------------------------------------------------------------------------------------- giving */

static int to_memory(struct shuffle_output *o, struct disk_dirs *dirs, struct fst_error *error)
{
        int fd = memfd_create("shuffle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (fd < 0)
                return error_errno(error, "making a memfd for a map output");
        struct spill_options options = {.dirs = dirs, .type = o->type, .codec = CODEC_NONE};
        int r = spill_new_at(&options, fd, "a map output in memory", &o->file, error);
        size_t freed = 0;
        if (r == 0)
                r = shuffle_output_to_disk(o, NULL, &freed, error);
        if (r == 0)
                r = spill_finish(o->file, error);
        if (r == 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0)
                r = error_errno(error, "sealing a map output");
        return r;
}

/* Extents are in the order of the file, one after another: the index need not say where each begins. */
static void put_pages(const struct shuffle_output *o, struct buf *index)
{
        size_t at = index->len;
        buf_reserve(index, o->n_extents * (size_t)INDEX_ENTRY);
        index->len += o->n_extents * (size_t)INDEX_ENTRY;
        for (int p = 0; p < o->partitions; p++) {
                for (uint32_t e = o->at[p].extents; e; e = o->extents[e - 1].next) {
                        uint32_t entry[2] = {htole32((uint32_t)p), htole32(o->extents[e - 1].length)};
                        memcpy(index->data + at + (e - 1) * (size_t)INDEX_ENTRY, entry, sizeof(entry));
                }
        }
        index->data[index->len] = 0;
}

int shuffle_handover_give(struct shuffle_output *o, struct disk_dirs *dirs, int *fd, struct buf *index,
                          struct fst_error *error)
{
        bool in_memory = !o->file;
        int r = in_memory ? to_memory(o, dirs, error) : 0;
        if (r)
                return r;
        int copy = fcntl(spill_fd(o->file), F_DUPFD_CLOEXEC, 3);
        if (copy < 0)
                return error_errno(error, "handing a map output over");
        put32(index, (uint32_t)o->partitions);
        put32(index, type_tag(o->type));
        put32(index, o->type.key_size);
        put32(index, o->type.value_size);
        put64(index, o->rows);
        put64(index, o->bytes);
        put32(index, o->n_extents);
        put32(index, in_memory);
        const uint8_t *iv = spill_iv(o->file);
        buf_append(index, iv ? iv : (const uint8_t[FILE_IV]){0}, FILE_IV);
        put_pages(o, index);
        *fd = copy;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- taking */

static int damaged(struct fst_error *error, const char *what)
{
        return error_set(error, -EBADMSG, "a map output from a worker process is damaged: %s", what);
}

static int check_header(const unsigned char *p, size_t len, int partitions, fst_type type, struct fst_error *error)
{
        if (len < INDEX_HEADER || get32(p + 32) != (len - INDEX_HEADER) / INDEX_ENTRY ||
            (len - INDEX_HEADER) % INDEX_ENTRY)
                return damaged(error, "its index has another length");
        if (get32(p) != (uint32_t)partitions || get32(p + 4) != type_tag(type) || get32(p + 8) != type.key_size ||
            get32(p + 12) != type.value_size)
                return damaged(error, "it is of another shuffle");
        return 0;
}

/* The extents; *@end is where the last one ends. */
static int read_pages(struct shuffle_output *o, const unsigned char *p, uint32_t n, uint64_t *end,
                      struct fst_error *error)
{
        uint64_t at = 0;
        for (uint32_t i = 0; i < n; i++, p += INDEX_ENTRY) {
                uint32_t partition = get32(p), length = get32(p + 4);
                if (partition >= (uint32_t)o->partitions)
                        return damaged(error, "a page of a partition that is not there");
                shuffle_output_add_extent(o, partition, at, length);
                at += length;
        }
        *end = at;
        return 0;
}

static int check_file(int fd, uint64_t size, bool sealed, struct fst_error *error)
{
        struct stat st;
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != size)
                return damaged(error, "its pages and its index do not agree");
        int want = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
        if (sealed && (fcntl(fd, F_GET_SEALS) & want) != want)
                return damaged(error, "it is not sealed");
        return 0;
}

int shuffle_handover_take(struct shuffle_store *store, struct memory_manager *manager, int partitions, fst_type type,
                          int fd, const void *index, size_t len, struct shuffle_output **output,
                          struct fst_error *error)
{
        const unsigned char *p = index;
        int r = check_header(p, len, partitions, type, error);
        if (r) {
                close(fd);
                return r;
        }
        bool in_memory = get32(p + 36) != 0;
        struct shuffle_output *o = shuffle_output_new(partitions, type, manager);
        uint64_t size = 0;
        o->rows = get64(p + 16);
        o->bytes = get64(p + 24);
        r = read_pages(o, p + INDEX_HEADER, get32(p + 32), &size, error);
        if (r == 0)
                r = check_file(fd, size, in_memory, error);
        if (r) {
                close(fd);
                shuffle_output_unref(o);
                return r;
        }
        struct spill_options options = {.dirs = store->space.dirs,
                                        .type = type,
                                        .codec = in_memory ? CODEC_NONE : store->space.shuffle_codec,
                                        .level = store->space.level};
        o->file = spill_adopt(&options, fd, in_memory ? "a map output in memory" : "a map output on disk", p + INDEX_IV,
                              size, in_memory);
        if (in_memory && memory_acquire_fixed_storage(manager, size)) {
                o->memory = size;
                shuffle_store_enlist(store, o);
        } else if (in_memory) {
                r = spill_to_disk(o->file, store->space.dirs, error);
        }
        if (r)
                shuffle_output_unref(o);
        else
                *output = o;
        return r;
}
