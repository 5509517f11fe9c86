/* See task_texts.h. Few tasks have a text: those come behind all others. */
#include "status/task_texts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct task_text_row {
        const char *text;
        size_t row;
};

static int task_text_row_compare(const void *a, const void *b)
{
        const struct task_text_row *x = a, *y = b;
        int order = strcmp(x->text, y->text);
        return order ? order : (x->row > y->row) - (x->row < y->row);
}

const char *task_text_of(const struct status_task_note *note, enum task_text kind)
{
        if (kind == TASK_TEXT_ERROR)
                return note->error;
        return note->n_accumulables && note->accumulables[0].name ? note->accumulables[0].name : NULL;
}

static bool task_page_has(const struct task_page *page, size_t row)
{
        return !page->only || page->only[row / 64] >> row % 64 & 1;
}

/* Returns the tasks with a text, sorted by it, and sets the bits of their rows. */
static struct task_text_row *task_texts_collect(const struct status_stage *stage, const struct task_page *page,
                                                enum task_text kind, uint64_t *bits, size_t *n)
{
        struct task_text_row *list = new_array(struct task_text_row, stage->notes.len);
        *n = 0;
        for (size_t i = 0; i < stage->notes.len; i++) {
                const struct status_task_note *note = &stage->notes.data[i];
                const char *text = task_text_of(note, kind);
                if (!text || task_columns_is_removed(&stage->columns, note->row) || !task_page_has(page, note->row))
                        continue;
                list[(*n)++] = (struct task_text_row){text, note->row};
                bits[note->row / 64] |= UINT64_C(1) << note->row % 64;
        }
        qsort(list, *n, sizeof(*list), task_text_row_compare);
        return list;
}

size_t task_texts_page(const struct status_stage *stage, const struct task_page *page, enum task_text kind,
                       size_t *rows)
{
        const struct task_columns *t = &stage->columns;
        uint64_t *bits = new_array(uint64_t, t->n_rows / 64 + 1);
        size_t n_texts, at = 0, out = 0;
        struct task_text_row *texts = task_texts_collect(stage, page, kind, bits, &n_texts);
        for (size_t i = 0; page->descending && i < n_texts && out < page->length; i++, at++)
                if (at >= page->offset)
                        rows[out++] = texts[n_texts - 1 - i].row;
        for (size_t i = 0; i < t->n_rows && out < page->length; i++) {
                size_t row = page->descending ? t->n_rows - 1 - i : i;
                if (bits[row / 64] >> row % 64 & 1 || !task_page_has(page, row) || task_columns_is_removed(t, row))
                        continue;
                if (at++ >= page->offset)
                        rows[out++] = row;
        }
        for (size_t i = 0; !page->descending && i < n_texts && out < page->length; i++, at++)
                if (at >= page->offset)
                        rows[out++] = texts[i].row;
        free(texts);
        free(bits);
        return out;
}
