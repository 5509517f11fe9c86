/* See resume.h: the executors of the application, in the journal. */
#include "driver/resume/resume_internal.h"

#include "driver/backend/scheduler_backend.h"
#include "journal/fields.h"
#include "journal/place.h"

#include <string.h>

struct driver_epoch resume_driver_epoch(const struct resume *r)
{
        if (!r || !r->place)
                return (struct driver_epoch){.journal = ""};
        return (struct driver_epoch){.epoch = r->epoch,
                                     .journal = strrchr(journal_place_path(r->place), '/') + 1,
                                     .executors_wait = r->executors_wait,
                                     .earlier = r->history.executors.data,
                                     .n_earlier = (int)r->history.executors.len,
                                     .next_executor_id = r->history.next_executor_id,
                                     .registration_timeout_ms = r->registration_timeout_ms};
}

void resume_executor_registered(struct resume *r, const struct earlier_executor *x)
{
        size_t place;
        if (!r)
                return;
        struct buf *b = resume_record_begin(r, RESUME_EXECUTOR, &place);
        fields_put_text(b, x->id);
        fields_put_text(b, x->host);
        fields_put_number(b, (uint64_t)x->cores);
        fields_put_number(b, (uint64_t)x->profile);
        fields_put_number(b, (uint64_t)x->pid);
        fields_put_number(b, x->started);
        resume_record_end(r, b, place);
}

void resume_executor_lost(struct resume *r, const char *id)
{
        size_t place;
        if (!r)
                return;
        struct buf *b = resume_record_begin(r, RESUME_EXECUTOR_LOST, &place);
        fields_put_text(b, id);
        resume_record_end(r, b, place);
}
