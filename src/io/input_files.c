/* See input_files.h. The steps are Hadoop's: cut the comma list, match each pattern against the file system, skip names
 * that begin with '.' or '_', replace a directory by its files. All missing inputs are reported at once. */
#include "io/input_files.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "io/fs/file_systems.h"
#include "io/fs/glob.h"
#include "io/fs/glob_files.h"
#include "io/fs/path.h"

#include <string.h>

struct input_planner {
        const struct input_options *options;
        struct fst_error *error;
        struct file_list files;
        struct buf missing; /* a line for each missing input */
};

static bool input_file_is_hidden(const char *path)
{
        const char *name = path_name(path);
        return name[0] == '.' || name[0] == '_';
}

/* Adds the files of a matched path: the path itself or the files in the directory. Takes over @status. */
static int input_files_add_files(struct input_planner *p, const struct file_system *fs, struct file_status *status,
                                 bool top)
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
                if (r < 0 || input_file_is_hidden(entries.data[i].path))
                        file_status_deinit(&entries.data[i]);
                else
                        r = input_files_add_files(p, fs, &entries.data[i], false);
        }
        vec_deinit(&entries);
        return r;
}

/* Removes files whose names begin with '.' or '_'. Names of directories above do not matter. */
static void input_files_remove_hidden(struct file_list *files)
{
        size_t kept = 0;
        for (size_t i = 0; i < files->len; i++) {
                if (input_file_is_hidden(files->data[i].path))
                        file_status_deinit(&files->data[i]);
                else
                        files->data[kept++] = files->data[i];
        }
        files->len = kept;
}

/* Adds the files of one word of the comma list, or a line to p->missing. */
static int input_files_add_input(struct input_planner *p, const char *word)
{
        _cleanup_free_ char *full = NULL;
        const struct file_system *fs;
        int r = file_system_resolve(word, &full, &fs, p->error);
        if (r < 0)
                return r;

        struct file_list found = {0};
        r = glob_files(fs, full, &found, p->error);
        input_files_remove_hidden(&found);
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
                        r = input_files_add_files(p, fs, &found.data[i], true);
        }
        vec_deinit(&found);
        return r;
}

static int input_files_find_one(struct input_planner *p, const char *paths)
{
        _cleanup_(glob_words_deinit) struct glob_words words = {0};
        int r = 0;

        glob_split_list(paths, &words);
        for (size_t i = 0; r == 0 && i < words.len; i++)
                r = input_files_add_input(p, words.data[i]);
        if (r < 0 || p->missing.len == 0)
                return r;
        if (!p->options->ignore_missing)
                return error_set(p->error, -ENOENT, "%s", buf_text(&p->missing));
        log_warn("HadoopRDD", "%s doesn't exist and no partitions returned from this path.", paths);
        file_list_deinit(&p->files);
        return 0;
}

int input_files_find(const char *paths, const struct input_options *options, struct file_list *files, uint64_t *bytes,
                     struct fst_error *error)
{
        struct input_planner p = {.options = options, .error = error};
        uint64_t all = 0;
        int r = input_files_find_one(&p, paths);
        buf_deinit(&p.missing);
        if (r < 0) {
                file_list_deinit(&p.files);
                return r;
        }
        for (size_t i = 0; i < p.files.len; i++)
                all += p.files.data[i].size;
        *files = p.files;
        *bytes = all;
        return 0;
}

uint64_t input_block_size(const struct file_status *file, const struct input_options *options)
{
        bool local = path_scheme_len(file->path) == 4 && memcmp(file->path, "file", 4) == 0;
        return local && options->block_size ? options->block_size : file->block_size;
}

/* Reads a number of bytes like Hadoop's Configuration.getLong: decimal, or hexadecimal after 0x. */
static int input_files_read_long(const struct fst_conf *conf, const char *key, uint64_t *out, struct fst_error *error)
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

/* True if tasks may run on other hosts. */
static bool input_files_need_hosts(const struct fst_conf *conf)
{
        const char *master = conf_get_raw(conf, "spark.master");
        return master && (!text_starts_with(master, "local") || text_starts_with(master, "local-cluster"));
}

int input_options_read(const struct fst_conf *conf, struct input_options *options, struct fst_error *error)
{
        struct input_options o = INPUT_OPTIONS_INIT;
        o.places = input_files_need_hosts(conf);
        int r = input_files_read_long(conf, "spark.hadoop.mapred.min.split.size", &o.min_split_size, error);
        if (r == 0)
                r = input_files_read_long(conf, "spark.hadoop.mapreduce.input.fileinputformat.split.minsize",
                                          &o.min_split_size, error);
        if (r == 0)
                r = input_files_read_long(conf, "spark.hadoop.mapreduce.input.fileinputformat.split.maxsize",
                                          &o.max_split_size, error);
        if (r == 0)
                r = input_files_read_long(conf, "spark.hadoop.fs.local.block.size", &o.block_size, error);
        if (r == 0)
                r = conf_read_bool(conf, "spark.hadoop.mapreduce.input.fileinputformat.input.dir.recursive",
                                   &o.recursive, error);
        if (r == 0)
                r = conf_read_bool(conf, "spark.hadoopRDD.ignoreEmptySplits", &o.ignore_empty, error);
        if (r == 0)
                r = conf_read_bool(conf, "spark.files.ignoreMissingFiles", &o.ignore_missing, error);
        if (r == 0)
                *options = o;
        return r;
}
