/*
 * The tasks of a stage in the order of a text: of their errors, or of the name of their first accumulator. Tasks
 * without a text come first, in the order of their rows. Descending order is the reverse.
 */
#pragma once

#include "status/status.h"

enum task_text { TASK_TEXT_ERROR, TASK_TEXT_ACCUMULATOR };

/* Returns the text by which a task sorts, or NULL. */
const char *task_text_of(const struct status_task_note *note, enum task_text kind);

/*
 * Fills @rows, which has room for page->length. Returns their number. Of @page, the order, offset, length and "only"
 * count.
 */
size_t task_texts_page(const struct status_stage *stage, const struct task_page *page, enum task_text kind,
                       size_t *rows);
