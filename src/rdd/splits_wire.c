/* See splits_wire.h. */
#include "rdd/splits_wire.h"

#include "base/mem.h"

Firesteel__TextSplits *splits_encode(struct rdd_wire_writer *w, const struct input_splits *splits)
{
        Firesteel__TextSplits *text = arena_alloc(&w->arena, sizeof(*text));
        size_t n = splits->len;
        bool packed = false;
        firesteel__text_splits__init(text);
        text->paths = arena_alloc(&w->arena, n * sizeof(*text->paths));
        text->path = arena_alloc(&w->arena, n * sizeof(*text->path));
        text->start = arena_alloc(&w->arena, n * sizeof(*text->start));
        text->length = arena_alloc(&w->arena, n * sizeof(*text->length));
        text->codec = arena_alloc(&w->arena, n * sizeof(*text->codec));
        for (size_t i = 0; i < n; i++) {
                const struct input_split *split = &splits->data[i], *before = i ? split - 1 : NULL;
                bool same = before && (before->path == split->path || strcmp(before->path, split->path) == 0);
                if (!same)
                        text->paths[text->n_paths++] = rdd_wire_text(split->path);
                text->path[i] = i && !same;
                text->start[i] = (int64_t)(split->start - (same ? before->start + before->length : 0));
                text->length[i] = (int64_t)(split->length - (before ? before->length : 0));
                text->codec[i] = split->codec;
                packed |= split->codec != 0;
        }
        text->n_path = text->n_start = text->n_length = n;
        text->n_codec = packed ? n : 0;
        return text;
}

int splits_decode(struct rdd_wire_reader *reader, const Firesteel__TextSplits *m, size_t n, const fst_rdd *rdd,
                  struct input_splits *out, struct fst_error *error)
{
        size_t path = 0;
        if (!m || m->n_path != n || m->n_start != n || m->n_length != n || (m->n_codec && m->n_codec != n))
                return rdd_wire_bad(rdd, error, "its splits do not match its partitions");
        struct input_split *splits = wire_array(reader->memory, n, sizeof(*splits));
        if (!splits)
                return rdd_wire_too_big(error);
        uint64_t total = 0;
        for (size_t i = 0; i < n; i++) {
                const struct input_split *before = i ? &splits[i - 1] : NULL;
                path += m->path[i];
                if (path >= m->n_paths || (m->n_codec && m->codec[i] >= CODEC_KINDS))
                        return rdd_wire_bad(rdd, error, "a split has an invalid file or codec");
                bool same = before && m->path[i] == 0;
                splits[i].path = m->paths[path];
                splits[i].start = (uint64_t)m->start[i] + (same ? before->start + before->length : 0);
                splits[i].length = (uint64_t)m->length[i] + (before ? before->length : 0);
                splits[i].codec = m->n_codec ? (enum codec_kind)m->codec[i] : CODEC_NONE;
                if (splits[i].start > INT64_MAX || splits[i].length > INT64_MAX - splits[i].start)
                        return rdd_wire_bad(rdd, error, "a split lies outside the file");
                total += splits[i].length;
        }
        *out = (struct input_splits){.data = splits, .len = n, .cap = n, .bytes = total};
        return 0;
}

void splits_encode_firsts(struct rdd_wire_writer *w, Firesteel__TextSplits *text, const uint32_t *firsts, size_t n)
{
        text->files = arena_alloc(&w->arena, n * sizeof(*text->files));
        text->n_files = n;
        for (size_t i = 0; i < n; i++)
                text->files[i] = firsts[i + 1] - firsts[i];
}

int splits_decode_firsts(struct rdd_wire_reader *reader, const Firesteel__TextSplits *m, size_t n, const fst_rdd *rdd,
                         uint32_t **out, struct fst_error *error)
{
        if (!m || m->n_files != n)
                return rdd_wire_bad(rdd, error, "its files of each partition are missing");
        uint32_t *firsts = wire_array(reader->memory, n + 1, sizeof(*firsts));
        if (!firsts)
                return rdd_wire_too_big(error);
        firsts[0] = 0;
        for (size_t i = 0; i < n; i++) {
                if (m->files[i] > m->n_path - firsts[i])
                        return rdd_wire_bad(rdd, error, "a partition refers to files that do not exist");
                firsts[i + 1] = firsts[i] + m->files[i];
        }
        *out = firsts;
        return 0;
}
