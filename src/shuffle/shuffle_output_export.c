/* See shuffle_output_export.h. */
#include "shuffle/shuffle_output_export.h"

#include "base/error.h"
#include "rdd/pipeline/op.h"
#include "shuffle/output_index.h"
#include "shuffle/shuffle_store.h"
#include "store/spill.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------------------------------------------- export */

static int move_to_memfd(struct shuffle_output *o, struct disk_dirs *dirs, struct fst_error *error)
{
        int fd = memfd_create("shuffle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (fd < 0)
                return error_errno(error, "creating a memfd for a map output");
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

int shuffle_handover_give(struct shuffle_output *o, struct disk_dirs *dirs, int *fd, struct buf *index,
                          struct fst_error *error)
{
        bool in_memory = !o->file;
        int r = in_memory ? move_to_memfd(o, dirs, error) : 0;
        if (r)
                return r;
        int copy = fcntl(spill_fd(o->file), F_DUPFD_CLOEXEC, 3);
        if (copy < 0)
                return error_errno(error, "exporting a map output");
        output_index_put(o, in_memory, index);
        *fd = copy;
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- import */

static int export_damaged(struct fst_error *error, const char *what)
{
        return error_set(error, -EBADMSG, "damaged map output of a task process: %s", what);
}

static int check_export_file(int fd, uint64_t size, bool sealed, struct fst_error *error)
{
        struct stat st;
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || (uint64_t)st.st_size != size)
                return export_damaged(error, "its pages do not match its index");
        int want = F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW;
        if (sealed && (fcntl(fd, F_GET_SEALS) & want) != want)
                return export_damaged(error, "it is not sealed");
        return 0;
}

/* Makes the output without its file, and sets @head. */
static int read_export_index(const void *index, size_t len, struct memory_manager *manager, int partitions,
                             fst_type type, struct output_index *head, struct shuffle_output **output, uint64_t *size,
                             struct fst_error *error)
{
        int r = output_index_parse(index, len, head, error);
        if (r == 0 && (head->partitions != partitions || !fst_type_equal(head->type, type)))
                r = export_damaged(error, "it belongs to another shuffle");
        return r ? r : output_index_take(index, len, manager, output, size, error);
}

int shuffle_handover_take(struct shuffle_store *store, struct memory_manager *manager, int partitions, fst_type type,
                          int fd, const void *index, size_t len, struct shuffle_output **output,
                          struct fst_error *error)
{
        struct output_index head;
        struct shuffle_output *o = NULL;
        uint64_t size = 0;
        int r = read_export_index(index, len, manager, partitions, type, &head, &o, &size, error);
        if (r == 0)
                r = check_export_file(fd, size, head.in_memory, error);
        if (r) {
                close(fd);
                shuffle_output_unref(o);
                return r;
        }
        struct spill_options options = {.dirs = store->space.dirs,
                                        .type = type,
                                        .codec = head.in_memory ? CODEC_NONE : store->space.shuffle_codec,
                                        .level = store->space.level};
        o->file = spill_adopt(&options, fd, head.in_memory ? "a map output in memory" : "a map output on disk", head.iv,
                              size, head.in_memory);
        if (head.in_memory && memory_acquire_fixed_storage(manager, size)) {
                o->memory = size;
                shuffle_store_enlist(store, o);
        } else if (head.in_memory) {
                r = spill_to_disk(o->file, store->space.dirs, error);
        }
        if (r)
                shuffle_output_unref(o);
        else
                *output = o;
        return r;
}
