/*
 * The records of a driver's journal, from arbitrary bytes. Each record is its kind, the length of its content (a byte)
 * and the content. Any prefix makes a history whose parts agree, whose jobs a driver can take once each, in order or
 * not. An application and a job that were read can be written and read again.
 */
#include "base/mem.h"
#include "driver/resume/history.h"
#include "journal/frame.h"
#include "net/byte_order.h"
#include "shuffle/remote_shuffle.h"

#include <stdlib.h>
#include <string.h>

static void check_application(const void *content, size_t size)
{
        struct resume_application app = {0}, again = {0};
        struct buf first = BUF_INIT, second = BUF_INIT;
        if (resume_application_read(content, size, &app))
                return;
        resume_application_put(&first, &app);
        if (resume_application_read(first.data, first.len, &again))
                abort();
        resume_application_put(&second, &again);
        if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
                abort();
        buf_deinit(&first);
        buf_deinit(&second);
        resume_application_deinit(&app);
        resume_application_deinit(&again);
}

static void check_job(const void *content, size_t size)
{
        struct resume_job_record job, again;
        struct buf bytes = BUF_INIT;
        if (resume_job_read(content, size, &job))
                return;
        resume_job_put(&bytes, &job);
        if (resume_job_read(bytes.data, bytes.len, &again) || again.job != job.job || again.outputs != job.outputs ||
            again.alone != job.alone || !resume_signature_equal(&again.signature, &job.signature) ||
            again.call_site.len != job.call_site.len)
                abort();
        buf_deinit(&bytes);
}

static void check_results(const struct past_job *job)
{
        for (size_t i = 0; i < job->results.len; i++) {
                const struct past_result *result = &job->results.data[i];
                if (!result->count || result->output >= job->outputs || result->count > job->outputs - result->output ||
                    !job->done)
                        abort();
                for (uint32_t k = 0; k < result->count; k++)
                        if (!job->done[result->output + k])
                                abort();
                for (size_t j = 0; j < i; j++)
                        if (job->results.data[j].output < result->output + result->count &&
                            result->output < job->results.data[j].output + job->results.data[j].count)
                                abort();
        }
}

/* Each map partition has one output, which belongs to one job. */
static void check_map_outputs(struct history *h)
{
        size_t found = 0;
        for (uint64_t job = 0; job <= h->jobs.len; job++) { /* also one that there is not: it has no outputs */
                size_t n;
                const struct past_map_output *outputs = history_map_outputs(h, job, &n);
                if (n && job == h->jobs.len)
                        abort();
                for (size_t i = 0; i < n; i++)
                        if (outputs[i].job != job || !outputs[i].place || outputs[i].place >= REMOTE_PLACES ||
                            outputs[i].writer < 0 || outputs[i].task_id < 0)
                                abort();
                found += n;
        }
        if (found != h->maps.len)
                abort();
        for (size_t i = 0; i < h->maps.len; i++)
                for (size_t j = 0; j < i; j++)
                        if (h->maps.data[i].shuffle == h->maps.data[j].shuffle &&
                            h->maps.data[i].partition == h->maps.data[j].partition)
                                abort();
}

/* A driver submits the jobs of the journal again, and one that the journal does not have. */
static void check_taking(struct history *h)
{
        const size_t jobs = h->jobs.len, outputs = h->outputs.len;
        for (size_t i = 0; i < jobs; i++) {
                struct buf why = BUF_INIT;
                struct past_job *past = NULL, *expected = h->jobs.data[i];
                struct resume_job_record job = {.signature = expected->signature,
                                                .outputs = expected->outputs,
                                                .alone = h->ordered,
                                                .call_site = {expected->call_site, strlen(expected->call_site)}};
                if (!history_find(h, &job) || history_take_job(h, &job, &past, &why) != HISTORY_TAKEN ||
                    past != h->jobs.data[job.job] || !past->taken)
                        abort();
                buf_deinit(&why);
        }
        for (size_t i = 0; i < outputs; i++) {
                uint64_t number;
                struct past_output *past = history_take_output(h, h->outputs.data[i]->path, &number);
                if (!past || number >= outputs || past != h->outputs.data[number])
                        abort();
        }
        while (h->abandoned.len && !h->abandoned.data[0]->taken) {
                uint64_t number;
                struct past_output *past = history_take_output(h, h->abandoned.data[0]->path, &number);
                if (past != h->abandoned.data[0] || !past->taken)
                        abort();
        }
        struct buf why = BUF_INIT;
        struct past_job *past = NULL;
        struct resume_job_record another = {.alone = true, .call_site = {"another", 7}};
        if (history_take_job(h, &another, &past, &why) != HISTORY_NEW || another.job != jobs)
                abort();
        buf_deinit(&why);
}

/* A fold can be read, and folding it again changes nothing. */
static void check_fold(struct history *h)
{
        struct buf first = BUF_INIT, second = BUF_INIT;
        struct history again;
        history_init(&again);
        history_put(h, &first);
        for (size_t at = 0; at < first.len;) {
                uint32_t size = get_le32((const unsigned char *)first.data + at + 1);
                at += JOURNAL_RECORD_HEADER;
                if (history_add(&again, (uint8_t)first.data[at - JOURNAL_RECORD_HEADER], first.data + at, size))
                        abort();
                at += size;
        }
        history_put(&again, &second);
        if (first.len != second.len || memcmp(first.data, second.data, first.len) != 0)
                abort();
        history_deinit(&again);
        buf_deinit(&first);
        buf_deinit(&second);
}

/* A job with more outputs than this takes memory that sanitizers fill, so the target leaves it out. */
enum { MAX_OUTPUTS = 1 << 20 };

static bool is_too_large(uint8_t kind, const void *content, size_t size)
{
        struct resume_job_record job;
        return kind == RESUME_JOB && resume_job_read(content, size, &job) == 0 && job.outputs > MAX_OUTPUTS;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct history h;
        uint64_t jobs, results, counted = 0;
        history_init(&h);
        while (size >= 2) {
                size_t length = data[1] < size - 2 ? data[1] : size - 2;
                check_application(data + 2, length);
                check_job(data + 2, length);
                if (is_too_large(data[0], data + 2, length))
                        break;
                if (history_add(&h, data[0], data + 2, length) < 0)
                        break; /* as the reader of a journal */
                data += 2 + length;
                size -= 2 + length;
        }
        for (size_t i = 0; i < h.jobs.len; i++) {
                check_results(h.jobs.data[i]);
                for (size_t j = 0; j < h.jobs.data[i]->results.len; j++)
                        counted += h.jobs.data[i]->results.data[j].count;
        }
        history_count(&h, &jobs, &results);
        if (jobs != h.jobs.len || results != counted || h.last_task_id < -1)
                abort();
        check_fold(&h);
        check_map_outputs(&h);
        check_taking(&h);
        history_deinit(&h);
        return 0;
}
