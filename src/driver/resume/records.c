/* See records.h. */
#include "driver/resume/records.h"

#include "base/error.h"
#include "base/mem.h"
#include "journal/fields.h"
#include "net/byte_order.h"

#define MAX_RESUME_WORDS 100000

void resume_application_deinit(struct resume_application *app)
{
        free(app->id);
        free(app->token);
        free(app->program);
        free(app->directory);
        for (size_t i = 0; i < app->words.len; i++)
                free(app->words.data[i]);
        vec_deinit(&app->words);
        *app = (struct resume_application){0};
}

void resume_application_put(struct buf *out, const struct resume_application *app)
{
        fields_put_number(out, RESUME_RECORDS_VERSION);
        fields_put_text(out, app->id);
        fields_put_number(out, (uint64_t)app->started_ms);
        fields_put_text(out, app->token);
        fields_put_text(out, app->program);
        fields_put_text(out, app->directory);
        fields_put_number(out, app->words.len);
        for (size_t i = 0; i < app->words.len; i++)
                fields_put_text(out, app->words.data[i]);
}

int resume_application_read(const void *content, size_t size, struct resume_application *app)
{
        struct field_reader f = fields_of(content, size);
        uint64_t version = fields_take_number(&f);
        if (version < 1 || version > RESUME_RECORDS_VERSION)
                return -EPROTONOSUPPORT;
        *app = (struct resume_application){.id = fields_take_text(&f)};
        app->started_ms = (int64_t)fields_take_limited(&f, INT64_MAX);
        app->token = fields_take_text(&f);
        app->program = fields_take_text(&f);
        app->directory = fields_take_text(&f);
        for (uint64_t n = fields_take_limited(&f, MAX_RESUME_WORDS); n > 0 && !f.bad; n--)
                vec_push(&app->words, fields_take_text(&f));
        if (fields_are_complete(&f))
                return 0;
        resume_application_deinit(app);
        return -EBADMSG;
}

void resume_job_put(struct buf *out, const struct resume_job_record *job)
{
        fields_put_number(out, job->job);
        buf_put_le64(out, job->signature.whole[0]);
        buf_put_le64(out, job->signature.whole[1]);
        buf_put_le32(out, job->signature.modules);
        buf_put_le32(out, job->signature.inputs);
        fields_put_number(out, job->outputs);
        fields_put_number(out, job->alone);
        fields_put_bytes(out, job->call_site.data, job->call_site.len);
}

int resume_job_read(const void *content, size_t size, struct resume_job_record *job)
{
        struct field_reader f = fields_of(content, size);
        *job = (struct resume_job_record){.job = fields_take_limited(&f, MAX_RESUME_NUMBER)};
        if (f.bad || f.end - f.at < 24)
                return -EBADMSG;
        job->signature = (struct resume_signature){.whole = {get_le64(f.at), get_le64(f.at + 8)},
                                                   .modules = get_le32(f.at + 16),
                                                   .inputs = get_le32(f.at + 20)};
        f.at += 24;
        job->outputs = (uint32_t)fields_take_limited(&f, INT32_MAX);
        job->alone = fields_take_limited(&f, 1);
        job->call_site = fields_take_bytes(&f);
        return fields_are_complete(&f) ? 0 : -EBADMSG;
}
