/* See files.h. Whole files are compared by name without the directory, which differs between runs. */
#include "files.h"

#include "base/mem.h"
#include "place.h"

#include <inttypes.h>

/* Codecs of text files, by node.codec. */
static const struct {
        const char *name, *suffix;
} codecs[FILE_CODECS] = {{"none", ""},     {"gzip", ".gz"}, {"bzip2", ".bz2"},
                         {"zstd", ".zst"}, {"lz4", ".lz4"}, {"deflate", ".deflate"}};

/* --------------------------------------------------------------------------------------------- written and read */

static void write_rows(struct plan *p, const struct node *n, const char *path)
{
        FILE *file = fopen(path, "we");
        for (size_t k = 0; file && k < n->count; k++) {
                fst_bytes row = plan_source_row(p, n, k).key.bytes;
                fwrite(row.data, 1, row.len, file);
                if (n->operator== TEXT_FILE)
                        fputc('\n', file);
        }
        if (!file || fclose(file)) {
                perror(path);
                abort();
        }
}

static int save(fst_rdd *rdd, const struct node *n, const char *path)
{
        switch (n->operator) {
        case OBJECT_FILE:
                return fst_save_as_object_file(rdd, path);
        case BINARY_FILES:
                return fst_save_as_binary_records(rdd, path);
        default:
                return fst_save_as_text_file_codec(rdd, path, codecs[n->codec].name);
        }
}

static int by_name(fst_task *task, fst_bytes path, fst_bytes content, fst_out *out)
{
        const char *slash = memrchr(path.data, '/', path.len), *end = path.data + path.len;
        if (!slash)
                return fst_fail(task, "%.*s is no full path", (int)path.len, path.data);
        fst_emit(out, ((fst_bytes){slash + 1, (size_t)(end - slash - 1)}), content);
        return 0;
}

fst_rdd *files_read(fst_context *sc, struct plan *p, int i, fst_rdd *saved, const char *folder)
{
        const struct node *n = &p->nodes[i];
        _cleanup_free_ char *path = mem_printf("%s/%" PRIu64 "-%d", folder, p->seed, i);
        int r = saved ? save(saved, n, path) : 0;
        if (r)
                fprintf(stderr, "%s was not saved: %s\n", path, strerror(-r)); /* which cannot be read */
        if (!saved)
                write_rows(p, n, path);
        switch (n->operator) {
        case TEXT_FILE:
        case SAVED_TEXT:
                return fst_text_file_n(sc, path, n->variant);
        case BINARY_RECORDS:
                return fst_binary_records(sc, path, n->type.key_size);
        case OBJECT_FILE:
                return fst_object_file_n(sc, path, n->type, n->variant);
        case WHOLE_TEXT_FILES:
                return fst_map(fst_whole_text_files_n(sc, path, n->variant), by_name, n->type);
        default:
                return fst_map(fst_binary_files_n(sc, path, n->variant), by_name, n->type);
        }
}

/* ------------------------------------------------------------------------------------------------- expected rows */

/* Text has lines. Records follow each other, like the rows without BYTES in a list. */
static struct cell content(struct plan *p, const struct node *n, const struct rows *rows)
{
        struct list file = {0};
        char room[MAX_CELL_TEXT];
        for (size_t k = 0; k < rows->n; k++) {
                struct row r = rows->at[k];
                fst_bytes line = cell_text(r.key, room).bytes;
                if (n->operator== WHOLE_TEXT_FILES)
                        r = (struct row){cell_fixed(line.data, line.len), cell_fixed("\n", 1)};
                list_add(&p->arena, &file, r);
        }
        return list_cell(&file);
}

/* Empty files come last. A compressed file is not empty. */
static struct rows whole(struct plan *p, const struct node *n, const struct table *in)
{
        struct rows files = {0};
        for (int empty = 0; empty < 2; empty++)
                for (int part = 0; part < in->n; part++) {
                        char name[40];
                        snprintf(name, sizeof(name), "part-%05d%s", part, codecs[n->codec].suffix);
                        struct row r = {cell_bytes(fst_bytes_of(name)), content(p, n, &in->parts[part])};
                        bool is_empty = r.value.bytes.len == 0 && n->codec == 0;
                        if (is_empty == (empty == 1))
                                rows_add(&p->arena, &files, row_keep(&p->arena, r));
                }
        return files;
}

struct rows files_rows(struct plan *p, const struct node *n, const struct table *in)
{
        struct rows rows = {0};
        if (n->operator== WHOLE_TEXT_FILES || n->operator== BINARY_FILES)
                return whole(p, n, in);
        rows = table_all(p, in);
        for (size_t k = 0; k < rows.n && n->operator== SAVED_TEXT; k++) {
                char room[MAX_CELL_TEXT];
                rows.at[k] = row_keep(&p->arena, (struct row){.key = cell_text(rows.at[k].key, room)});
        }
        return rows;
}
