/*
 * A journal of arbitrary bytes, and one whose first frame has arbitrary content with valid checksums: the reader ends
 * within the file, and what it read can be written and read again.
 */
#include "base/error.h"
#include "base/mem.h"
#include "journal/fields.h"
#include "journal/frame.h"

#include <stdlib.h>
#include <string.h>

static int copy_record(void *context, uint8_t kind, const void *content, size_t size)
{
        struct buf *body = context;
        size_t place = journal_record_begin(body, kind);
        struct field_reader f = fields_of(content, size);
        while (f.at < f.end && !f.bad) {
                fields_take_number(&f);
                free(fields_take_text(&f));
                fields_take_bytes(&f);
        }
        if (f.at != f.end)
                abort();
        buf_append(body, content, size);
        journal_record_end(body, place);
        return 0;
}

static void check_journal(const void *data, size_t size)
{
        struct buf body = BUF_INIT, again = BUF_INIT, copy = BUF_INIT;
        struct journal_extent extent;
        struct fst_error error = FST_ERROR_INIT;
        unsigned char header[JOURNAL_FRAME_HEADER];
        int r = journal_read_frames(data, size, "j", copy_record, &body, &extent, &error);
        if ((r < 0) != (error.message != NULL) || extent.good > size || (r < 0 && body.len) ||
            (r == 0 && extent.end == JOURNAL_COMPLETE && extent.good != size))
                abort();
        if (body.len) {
                journal_frame_header(body.data, body.len, header);
                buf_puts(&again, JOURNAL_FIRST_LINE);
                buf_append(&again, header, sizeof(header));
                buf_append(&again, body.data, body.len);
                if (journal_read_frames(again.data, again.len, "j", copy_record, &copy, &extent, NULL) ||
                    extent.end != JOURNAL_COMPLETE || copy.len != body.len ||
                    memcmp(copy.data, body.data, body.len) != 0)
                        abort();
        }
        error_deinit(&error);
        buf_deinit(&body);
        buf_deinit(&again);
        buf_deinit(&copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct buf whole = BUF_INIT;
        unsigned char header[JOURNAL_FRAME_HEADER];
        check_journal(data, size);
        journal_frame_header(data, size, header);
        buf_puts(&whole, JOURNAL_FIRST_LINE);
        buf_append(&whole, header, sizeof(header));
        if (size)
                buf_append(&whole, data, size);
        check_journal(whole.data, whole.len);
        buf_deinit(&whole);
        return 0;
}
