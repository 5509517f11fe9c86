/* See resume.h and earlier_executors.h: the executors of the application, in the journal. */
#include "driver/resume/resume_internal.h"

#include "journal/fields.h"

int resume_earlier_executors(const struct resume *r, const struct earlier_executor **executors)
{
        *executors = r ? r->history.executors.data : NULL;
        return r ? (int)r->history.executors.len : 0;
}

int resume_next_executor_id(const struct resume *r)
{
        return r ? r->history.next_executor_id : 0;
}

bool resume_executors_wait(const struct resume *r)
{
        return r && r->executors_wait;
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
