/* Plans input like Hadoop's `mapred` FileInputFormat; see text_plan.h. */
#include "io/text_plan.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#define LARGE_FILE ((uint64_t)1 << 30) /* an unsplittable file of this size gets a warning */

static int text_plan_cut_file(const struct file_status *file, bool may_be_packed, uint64_t goal,
                              const struct input_options *options, struct input_splits *splits, struct fst_error *error)
{
        enum codec_kind codec = may_be_packed ? codec_of_file(file->path) : CODEC_NONE;
        uint64_t size = MIN(goal, input_block_size(file, options));
        size = MAX(size, options->min_split_size);
        size = MAX(size, (uint64_t)1);
        if (file->size == 0 && options->ignore_empty)
                return 0;
        int r = may_be_packed ? codec_check_file(file->path, error) : 0;
        if (r < 0)
                return r;
        if (codec != CODEC_NONE && file->size > LARGE_FILE)
                log_warn("HadoopRDD",
                         "Loading one large unsplittable file %s with only one partition, because the "
                         "file is compressed by unsplittable compression codec.",
                         file->path);
        return input_splits_cut(splits, file, codec, size, options->places, error);
}

static int text_plan_files(const char *paths, bool may_be_packed, int min_partitions,
                           const struct input_options *options, struct input_splits *splits, struct fst_error *error)
{
        _cleanup_(file_list_deinit) struct file_list files = {0};
        int r = input_files_find(paths, options, &files, &splits->bytes, error);
        uint64_t goal = splits->bytes / (uint64_t)MAX(min_partitions, 1);
        splits->files = files.len;
        for (size_t i = 0; r == 0 && i < files.len; i++)
                r = text_plan_cut_file(&files.data[i], may_be_packed, goal, options, splits, error);
        if (r < 0)
                input_splits_deinit(splits);
        return r;
}

int text_plan(const char *paths, int min_partitions, const struct input_options *options, struct input_splits *splits,
              struct fst_error *error)
{
        return text_plan_files(paths, true, min_partitions, options, splits, error);
}

int plain_plan(const char *paths, int min_partitions, const struct input_options *options, struct input_splits *splits,
               struct fst_error *error)
{
        return text_plan_files(paths, false, min_partitions, options, splits, error);
}
