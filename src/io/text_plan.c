/*
 * Input planning as Hadoop's `mapred` FileInputFormat does it (see text_plan.h).
 *
 * The steps are Hadoop's: cut the comma list, expand each pattern against the file system, leave out names that begin
 * with '.' or '_', replace a directory by its files, cut each file into splits. All missing inputs are told at once.
 *
 * Invariant: the splits of a file cover it without gap or overlap, in order.
 */
#include "io/text_plan.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "conf/conf.h"
#include "io/file_systems.h"
#include "io/glob.h"
#include "io/glob_files.h"
#include "io/paths.h"

#include <string.h>

#define SPLIT_SLOP 1.1                 /* the last split of a file may be this much longer than the others */
#define LARGE_FILE ((uint64_t)1 << 30) /* an unsplittable file of this size deserves a warning */

struct planner {
        const struct text_plan_options *options;
        struct fst_error *error;
        struct file_list files;
        struct buf missing; /* a line for each input that is not there */
};

static bool hidden(const char *path)
{
        const char *name = path_name(path);
        return name[0] == '.' || name[0] == '_';
}

/* The files of a matched path: itself, or what lies in the directory. Takes over @status. */
static int add_files(struct planner *p, const struct file_system *fs, struct file_status *status, bool top)
{
        if (!status->directory) {
                vec_push(&p->files, *status);
                return 0;
        }
        _cleanup_(file_status_deinit) struct file_status directory = *status;
        if (!top && !p->options->recursive)
                return error_set(p->error, -EISDIR,
                                 "Path: %s is a directory, which is not supported by the record reader when "
                                 "`mapreduce.input.fileinputformat.input.dir.recursive` is false.",
                                 path_local(directory.path));
        struct file_list entries = {0};
        int r = fs->list(fs, directory.path, &entries, p->error);
        for (size_t i = 0; i < entries.len; i++) {
                if (r < 0 || hidden(entries.data[i].path))
                        file_status_deinit(&entries.data[i]);
                else
                        r = add_files(p, fs, &entries.data[i], false);
        }
        vec_deinit(&entries);
        return r;
}

/* Names that begin with '.' or '_' are no input, unless a directory above them is called so. */
static void remove_hidden(struct file_list *files)
{
        size_t kept = 0;
        for (size_t i = 0; i < files->len; i++) {
                if (hidden(files->data[i].path))
                        file_status_deinit(&files->data[i]);
                else
                        files->data[kept++] = files->data[i];
        }
        files->len = kept;
}

/* One word of the comma list: its files, or a line in p->missing. */
static int add_input(struct planner *p, const char *word)
{
        _cleanup_free_ char *full = NULL;
        const struct file_system *fs;
        int r = file_system_resolve(word, &full, &fs, p->error);
        if (r < 0)
                return r;

        struct file_list found = {0};
        r = glob_files(fs, full, &found, p->error);
        remove_hidden(&found);
        if (r == 0 && found.len == 0) {
                if (p->missing.len > 0)
                        buf_putc(&p->missing, '\n');
                buf_printf(&p->missing,
                           glob_has_magic(full) ? "Input Pattern %s matches 0 files" : "Input path does not exist: %s",
                           full);
        }
        for (size_t i = 0; i < found.len; i++) {
                if (r < 0)
                        file_status_deinit(&found.data[i]);
                else
                        r = add_files(p, fs, &found.data[i], true);
        }
        vec_deinit(&found);
        return r;
}

/* The hosts of the block in which most of the split lies: a split is hardly ever longer than a block. */
static const char *hosts_of(struct input_splits *splits, const struct block_list *blocks, uint64_t start,
                            uint64_t length)
{
        const struct block_place *best = NULL;
        uint64_t most = 0;
        for (size_t i = 0; i < blocks->len; i++) {
                const struct block_place *b = &blocks->data[i];
                uint64_t from = MAX(b->offset, start), to = MIN(b->offset + b->length, start + length);
                if (to > from && to - from > most) {
                        most = to - from;
                        best = b;
                }
        }
        return best && *best->hosts ? arena_copy(&splits->arena, best->hosts, strlen(best->hosts)) : NULL;
}

static void add_split(struct input_splits *splits, const char *path, uint64_t start, uint64_t length,
                      enum codec_kind codec, const struct block_list *blocks)
{
        vec_push(splits, (struct input_split){.path = path,
                                              .start = start,
                                              .length = length,
                                              .codec = codec,
                                              .hosts = hosts_of(splits, blocks, start, length)});
}

static int find_blocks(struct planner *p, const char *path, struct block_list *blocks)
{
        const struct file_system *fs;
        if (!p->options->places)
                return 0;
        int r = file_system_of(path, &fs, p->error);
        return r < 0 || !fs->hosts ? r : fs->hosts(fs, path, blocks, p->error);
}

static int cut_file(struct planner *p, const struct file_status *file, uint64_t goal, struct input_splits *splits)
{
        _cleanup_(block_list_deinit) struct block_list blocks = {0};
        const char *path = arena_copy(&splits->arena, file->path, strlen(file->path));
        enum codec_kind codec = codec_of_file(path);
        bool local = path_scheme_len(path) == 4 && memcmp(path, "file", 4) == 0;
        uint64_t block = local && p->options->block_size ? p->options->block_size : file->block_size;

        if (file->size == 0) {
                if (!p->options->ignore_empty)
                        add_split(splits, path, 0, 0, codec, &blocks);
                return 0;
        }
        int r = codec_check_file(path, p->error);
        if (r == 0)
                r = find_blocks(p, path, &blocks);
        if (r < 0)
                return r;
        if (codec != CODEC_NONE) {
                if (file->size > LARGE_FILE)
                        log_warn("HadoopRDD",
                                 "Loading one large unsplittable file %s with only one partition, because the "
                                 "file is compressed by unsplittable compression codec.",
                                 path);
                add_split(splits, path, 0, file->size, codec, &blocks);
                return 0;
        }
        uint64_t size = MIN(goal, block);
        size = MAX(size, p->options->min_split_size);
        size = MAX(size, (uint64_t)1);
        uint64_t left = file->size;
        while ((double)left / (double)size > SPLIT_SLOP) {
                add_split(splits, path, file->size - left, size, CODEC_NONE, &blocks);
                left -= size;
        }
        if (left > 0)
                add_split(splits, path, file->size - left, left, CODEC_NONE, &blocks);
        return 0;
}

static int plan(struct planner *p, const char *paths, int min_partitions, struct input_splits *splits)
{
        _cleanup_(glob_words_deinit) struct glob_words words = {0};
        int r = 0;

        glob_split_list(paths, &words);
        for (size_t i = 0; r == 0 && i < words.len; i++)
                r = add_input(p, words.data[i]);
        if (r < 0)
                return r;
        if (p->missing.len > 0) {
                if (!p->options->ignore_missing)
                        return error_set(p->error, -ENOENT, "%s", buf_text(&p->missing));
                log_warn("HadoopRDD", "%s doesn't exist and no partitions returned from this path.", paths);
                return 0;
        }
        for (size_t i = 0; i < p->files.len; i++)
                splits->bytes += p->files.data[i].size;
        splits->files = p->files.len;
        uint64_t goal = splits->bytes / (uint64_t)MAX(min_partitions, 1);
        for (size_t i = 0; r == 0 && i < p->files.len; i++)
                r = cut_file(p, &p->files.data[i], goal, splits);
        return r;
}

int text_plan(const char *paths, int min_partitions, const struct text_plan_options *options,
              struct input_splits *splits, struct fst_error *error)
{
        struct planner p = {.options = options, .error = error};
        int r = plan(&p, paths, min_partitions, splits);
        if (r < 0)
                input_splits_deinit(splits);
        file_list_deinit(&p.files);
        buf_deinit(&p.missing);
        return r;
}

void input_splits_deinit(struct input_splits *splits)
{
        vec_deinit(splits);
        arena_deinit(&splits->arena);
        *splits = INPUT_SPLITS_INIT;
}

/* A number of bytes as Hadoop's Configuration.getLong reads it: decimal, or hexadecimal after 0x. */
static int read_long(const struct fst_conf *conf, const char *key, uint64_t *out, struct fst_error *error)
{
        const char *text = conf_get_raw(conf, key);
        if (!text)
                return 0;
        bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
        char *end;
        errno = 0;
        long long value = strtoll(text, &end, hex ? 16 : 10);
        if (errno || end == text || *end || value < 0)
                return error_set(error, -EINVAL, "%s should be a number of bytes without unit, but was %s", key, text);
        *out = (uint64_t)value;
        return 0;
}

static int read_bool(const struct fst_conf *conf, const char *key, bool *out, struct fst_error *error)
{
        const char *text = conf_get_raw(conf, key);
        if (!text)
                return 0;
        if (strcasecmp(text, "true") != 0 && strcasecmp(text, "false") != 0)
                return error_set(error, -EINVAL, "%s should be boolean, but was %s", key, text);
        *out = strcasecmp(text, "true") == 0;
        return 0;
}

/* Whether tasks may run on other hosts than this one. */
static bool has_hosts(const struct fst_conf *conf)
{
        const char *master = conf_get_raw(conf, "spark.master");
        return master && (!text_starts_with(master, "local") || text_starts_with(master, "local-cluster"));
}

int text_plan_options_read(const struct fst_conf *conf, struct text_plan_options *options, struct fst_error *error)
{
        struct text_plan_options o = TEXT_PLAN_OPTIONS_INIT;
        o.places = has_hosts(conf);
        int r = read_long(conf, "spark.hadoop.mapred.min.split.size", &o.min_split_size, error);
        if (r == 0)
                r = read_long(conf, "spark.hadoop.mapreduce.input.fileinputformat.split.minsize", &o.min_split_size,
                              error);
        if (r == 0)
                r = read_long(conf, "spark.hadoop.fs.local.block.size", &o.block_size, error);
        if (r == 0)
                r = read_bool(conf, "spark.hadoop.mapreduce.input.fileinputformat.input.dir.recursive", &o.recursive,
                              error);
        if (r == 0)
                r = read_bool(conf, "spark.hadoopRDD.ignoreEmptySplits", &o.ignore_empty, error);
        if (r == 0)
                r = read_bool(conf, "spark.files.ignoreMissingFiles", &o.ignore_missing, error);
        if (r == 0)
                *options = o;
        return r;
}
