/*
 * Frames of another program's workers (include/firesteel/frames.h): sources, and conversions to and from rows.
 *
 * The rows of a file are views into its mapping: an RDD_PARALLELIZE node whose bytes are the file's. The kernel reads
 * pages when tasks need them and may drop them afterwards.
 */
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/rdd_wire_class.h"
#include "rdd/pipeline/op_frames.h"

#include "base/mem.h"
#include "base/vec.h"

#include <firesteel/frames.h>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* --------------------------------------------------------------------------------------------------- from a file */

typedef VEC(fst_bytes) frame_list;

/* Finds the frames in @file. Returns 0, or -EBADMSG with @error. */
static int frames_split(fst_bytes file, frame_list *frames, struct fst_error *error)
{
        for (fst_bytes rest = file; rest.len;) {
                size_t size = frame_size(rest);
                if (size == 0)
                        return error_set(error, -EBADMSG,
                                         "frame %zu at byte %zu of %zu is damaged: its length is %d, and %zu bytes are "
                                         "left",
                                         frames->len, (size_t)(rest.data - file.data), file.len,
                                         rest.len < FRAME_HEADER ? 0 : frame_length(rest.data), rest.len);
                vec_push(frames, (fst_bytes){rest.data, size});
                rest.data += size;
                rest.len -= size;
        }
        return 0;
}

/* Maps @path. *@file is {NULL, 0} for an empty file. Returns 0, or -errno with @error. */
static int frames_map(const char *path, fst_bytes *file, struct fst_error *error)
{
        struct stat st;
        *file = (fst_bytes){0};
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st)) {
                int r = error_set(error, -errno, "the file cannot be opened: %m");
                if (fd >= 0)
                        close(fd);
                return r;
        }
        if (!S_ISREG(st.st_mode)) {
                close(fd);
                return error_set(error, -EINVAL, "it is not a regular file");
        }
        void *data = st.st_size ? mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0) : NULL;
        int r = data == MAP_FAILED ? error_set(error, -errno, "the file cannot be mapped into memory: %m") : 0;
        close(fd);
        if (r == 0 && data) {
                (void)madvise(data, (size_t)st.st_size, MADV_SEQUENTIAL);
                *file = (fst_bytes){data, (size_t)st.st_size};
        }
        return r;
}

FST_API fst_rdd *fst_frames_from_file_at(fst_context *sc, const char *path, int slices, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        frame_list frames = {0};
        fst_bytes file;
        sc = context_given(sc, site);
        fst_rdd *rdd = rdd_new(sc, RDD_PARALLELIZE, FST_BYTES, NULL, site);
        rdd->lineage.partitions = rdd_source_partitions(rdd, slices);
        if (!path || !*path)
                return rdd_fail(rdd, -EINVAL, "frames_from_file needs the path of a file");
        int r = frames_map(path, &file, &error);
        if (r == 0) {
                rdd->parallelize.bytes = (char *)file.data;
                rdd->parallelize.n_bytes = file.len;
                rdd->parallelize.mapped = file.data != NULL;
                r = frames_split(file, &frames, &error);
        }
        if (r) {
                vec_deinit(&frames);
                return rdd_fail_with(rdd, error_wrap(&error, r, "%s", path), &error);
        }
        rdd->parallelize.count = frames.len;
        rdd->parallelize.data = frames.data;
        return rdd;
}

/* -------------------------------------------------------------------------------------------------- conversions */

static fst_rdd *frames_rdd_new(fst_rdd *parent, enum frames_mode mode, fst_type type, fst_site site)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = frames_check(mode, parent->type, type, &error);
        fst_rdd *rdd = rdd_new(parent->sc, RDD_FRAMES, type, parent, site);
        rdd->frames = mode;
        rdd_depend_narrowly(rdd, false);
        if (r == 0 || rdd->status) {
                error_deinit(&error);
                return rdd;
        }
        return rdd_fail_with(rdd, r, &error);
}

FST_API fst_rdd *fst_frames_from_rows_at(fst_rdd *rdd, fst_site site)
{
        return frames_rdd_new(rdd_given(rdd, site), FRAMES_OF_ROWS, FST_BYTES, site);
}

FST_API fst_rdd *fst_frames_to_rows_at(fst_rdd *frames, fst_site site)
{
        return frames_rdd_new(rdd_given(frames, site), FRAMES_TO_ROWS, FST_BYTES, site);
}

FST_API fst_rdd *fst_frames_to_pairs_at(fst_rdd *frames, fst_site site)
{
        return frames_rdd_new(rdd_given(frames, site), FRAMES_TO_PAIRS, FST_PAIR(I64, BYTES), site);
}

FST_API fst_rdd *fst_frames_to_numbers_at(fst_rdd *frames, fst_type type, fst_site site)
{
        return frames_rdd_new(rdd_given(frames, site), FRAMES_UNPICKLE, type, site);
}

FST_API fst_rdd *fst_frames_to_elements_at(fst_rdd *frames, fst_type type, fst_site site)
{
        return frames_rdd_new(rdd_given(frames, site), FRAMES_UNPACK, type, site);
}

FST_API fst_rdd *fst_frames_from_elements_at(fst_rdd *rdd, fst_site site)
{
        return frames_rdd_new(rdd_given(rdd, site), FRAMES_PACK, FST_BYTES, site);
}

FST_API fst_rdd *fst_frames_values_at(fst_rdd *pairs, fst_site site)
{
        pairs = rdd_given(pairs, site);
        fst_rdd *rdd = fst_values_at(pairs, site);
        if (!rdd->status)
                rdd->partitioner = pairs->partitioner;
        return rdd;
}

/* The rows of @pairs as rows of frames. Descriptions show both steps as one. */
static fst_rdd *frames_join_new(fst_rdd *pairs, fst_site site)
{
        fst_rdd *rdd = frames_rdd_new(pairs, FRAMES_JOIN, FST_BYTES, site);
        if (rdd->status)
                return rdd;
        pairs->hidden = true;
        rdd_describe_as(rdd, pairs->class->spark, NULL);
        return rdd;
}

FST_API fst_rdd *fst_frames_zip_at(fst_rdd *left, fst_rdd *right, fst_site site)
{
        left = rdd_given(left, site);
        right = rdd_given(right, site);
        int first = rdd_registry_next_id(left->sc);
        return rdd_release_intermediates(frames_join_new(fst_zip_at(left, right, site), site), first);
}

FST_API fst_rdd *fst_frames_cartesian_at(fst_rdd *left, fst_rdd *right, fst_site site)
{
        left = rdd_given(left, site);
        right = rdd_given(right, site);
        int first = rdd_registry_next_id(left->sc);
        return rdd_release_intermediates(frames_join_new(fst_cartesian_at(left, right, site), site), first);
}

/* ------------------------------------------------------------------------------------------ on the wire, in tasks */

static int frames_encode(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Rdd *m, struct fst_error *error)
{
        m->frames = (uint32_t)rdd->frames;
        return 0;
}

static int frames_decode(struct rdd_wire_reader *reader, const Firesteel__Rdd *m, fst_rdd *rdd, struct fst_error *error)
{
        if (m->frames < FRAMES_OF_ROWS || m->frames > FRAMES_LAST_MODE)
                return rdd_wire_bad(rdd, error, "its conversion of frames is unknown");
        rdd->frames = (int)m->frames;
        int r = frames_check((enum frames_mode)rdd->frames, rdd_parent(rdd)->type, rdd->type, error);
        return r ? rdd_wire_bad_with(rdd, r, error) : rdd_wire_check_partitions(rdd, error);
}

static struct op *frames_new(const fst_rdd *rdd, struct task_run *run)
{
        return frames_op_new(run, (enum frames_mode)rdd->frames, rdd_parent(rdd)->type, rdd->type);
}

const struct rdd_class rdd_frames_class = {
        .spark = "MapPartitionsRDD",
        .parents = 1,
        .encode = frames_encode,
        .decode = frames_decode,
        .op_new = frames_new,
};
