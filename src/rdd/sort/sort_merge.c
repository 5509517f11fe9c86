/*
 * Merges with a loser tree (rdd/sort/sort_merge.h): the winner's successor is compared with the losers on its path to
 * the root, log2(n) comparisons a row. Prefixes decide most of them.
 *
 * A page stays in memory until the call after its last row was returned, because the batch has views into it. Therefore
 * a batch ends at the end of a page.
 */
#include "rdd/sort/sort_merge.h"

#include "base/error.h"
#include "base/mem.h"

/* True if source @a precedes @b. While the tree is built, @n is a source that precedes all. */
static bool sort_merge_before(const struct sort_merge *m, size_t a, size_t b)
{
        if (a == m->n || b == m->n)
                return a == m->n;
        const struct merge_source *x = &m->sources[a], *y = &m->sources[b];
        if (x->ended || y->ended)
                return !x->ended;
        if (x->prefix != y->prefix)
                return x->prefix < y->prefix;
        int r = m->order.by_bytes ? record_compare_behind(&m->order, &x->row, &y->row, 0) : 0;
        return r ? r < 0 : a < b;
}

/* Source @s has another row: moves it up the tree. */
static void sort_merge_play(struct sort_merge *m, size_t s)
{
        for (size_t node = (s + m->n) / 2; node > 0; node /= 2)
                if (sort_merge_before(m, m->losers[node], s)) {
                        size_t winner = m->losers[node];
                        m->losers[node] = s;
                        s = winner;
                }
        m->losers[0] = s;
}

static void merge_source_load_record(struct sort_merge *m, struct merge_source *s)
{
        const unsigned char *end = s->page->data + s->page->used;
        s->row = record_read(m->order.type, s->at);
        s->prefix = record_prefix(&m->order, &s->row, (size_t)(end - s->row.key));
}

static void merge_source_load_index(struct sort_merge *m, struct merge_source *s)
{
        if (m->index_at == m->index->n) {
                s->ended = true;
                return;
        }
        const struct sort_entry *entry = &m->index->entries[m->index_at];
        if (m->index->whole) {
                s->key = sort_index_key(m->index, entry);
                s->row = (struct record_view){.key = (const unsigned char *)&s->key,
                                              .value = (const unsigned char *)&entry->value,
                                              .key_len = sizeof(s->key),
                                              .value_len = m->order.type.value_size};
                s->prefix = entry->prefix;
                return;
        }
        if (m->index_at + 8 < m->index->n)
                __builtin_prefetch(entry[8].record);
        s->row = record_read(m->order.type, entry->record);
        s->prefix = record_prefix(&m->order, &s->row, s->row.key_len);
}

/* Replaces the consumed page of a source by its next page. */
static int sort_merge_next_page(struct sort_merge *m, struct merge_source *s, struct fst_error *error)
{
        page_free(NULL, steal(s->page));
        int r = spill_reader_next(&s->reader, NULL, &s->page, error);
        if (r)
                return r;
        if (!s->page || s->page->rows == 0) {
                s->ended = true;
                return 0;
        }
        s->at = s->page->data;
        s->left = s->page->rows;
        merge_source_load_record(m, s);
        return 0;
}

int sort_merge_init(struct sort_merge *m, struct record_order order, struct spill *spill, enum codec_kind codec,
                    int level, const struct spill_run *runs, size_t n, const struct sort_index *index,
                    struct fst_error *error)
{
        *m = (struct sort_merge){.order = order, .index = index};
        m->sources = new_array(struct merge_source, n + 1);
        m->losers = new_array(size_t, n + 1);
        m->n = n + (index != NULL);
        codec_init(&m->codec, codec, level);
        for (size_t i = 0; i < n; i++) {
                struct merge_source *s = &m->sources[i];
                int r = spill_reader_init(&s->reader, spill, runs[i].start, runs[i].end, &m->codec, error);
                s->reading = r == 0;
                if (!r)
                        r = sort_merge_next_page(m, s, error);
                if (r) {
                        sort_merge_deinit(m);
                        return r;
                }
        }
        if (index)
                merge_source_load_index(m, &m->sources[n]);
        for (size_t i = 0; i < m->n; i++)
                m->losers[i] = m->n;
        for (size_t i = m->n; i-- > 0;)
                sort_merge_play(m, i);
        m->empty = m->n;
        return 0;
}

void sort_merge_deinit(struct sort_merge *m)
{
        for (size_t i = 0; m->sources && i < m->n; i++) {
                if (m->sources[i].reading)
                        spill_reader_deinit(&m->sources[i].reader);
                page_free(NULL, m->sources[i].page);
        }
        if (m->sources)
                codec_deinit(&m->codec);
        free(m->sources);
        free(m->losers);
        *m = (struct sort_merge){0};
}

int sort_merge_next(struct sort_merge *m, uint32_t room, fst_batch *batch, struct fst_error *error)
{
        if (m->empty < m->n) {
                int r = sort_merge_next_page(m, &m->sources[m->empty], error);
                if (r)
                        return r;
                sort_merge_play(m, m->empty);
                m->empty = m->n;
        }
        uint32_t row = 0;
        while (row < room) {
                size_t winner = m->losers[0];
                struct merge_source *s = &m->sources[winner];
                if (s->ended)
                        break;
                record_to_row(batch, row++, &s->row);
                if (!s->page) {
                        m->index_at++;
                        merge_source_load_index(m, s);
                } else if (--s->left) {
                        s->at = record_end(&s->row);
                        merge_source_load_record(m, s);
                } else {
                        m->empty = winner;
                        break;
                }
                sort_merge_play(m, winner);
        }
        batch->rows = row;
        return 0;
}
