/*
 * Bytes as Celeborn's servers and executors send them. The first byte chooses the parser of the rest: 0 a stream of
 * frames with their heads, 1 a message of a master or worker, 2 a message of a push or fetch port, 3 the answer to a
 * push of as many batches as the second byte says, 4 a question of an executor, 5 an answer of the driver. Those that 4
 * and 5 read are written and read again.
 */
#include "base/error.h"
#include "celeborn/protocol/celeborn_frame.h"
#include "celeborn/protocol/celeborn_message.h"
#include "celeborn/protocol/celeborn_wire.h"

#include <stdlib.h>

#define MAX_FRAME 100000

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned sum_of(const uint8_t *data, size_t len)
{
        unsigned sum = 0;
        for (size_t i = 0; i < len; i++)
                sum += data[i];
        return sum;
}

static void read_frames(const uint8_t *data, size_t size, struct fst_error *error)
{
        struct celeborn_frame frame;
        struct celeborn_slice slice;
        const char *text;
        size_t used, len;
        int64_t id;
        int r;
        while ((r = celeborn_frame_parse(data, size, MAX_FRAME, &frame, &used, error)) == 0) {
                if (used > size || used != CELEBORN_FRAME_HEADER + (size_t)frame.head_len + frame.body_len)
                        abort();
                unsigned sum = sum_of(frame.head, frame.head_len) + sum_of(frame.body, frame.body_len);
                celeborn_frame_request_id(&frame, &id);
                celeborn_frame_slice(&frame, &slice);
                if (celeborn_frame_failure(&frame, &text, &len))
                        sum += sum_of((const uint8_t *)text, len) + (unsigned)celeborn_status_of_failure(text, len);
                if (sum == 1)
                        celeborn_status_name((int)sum);
                data += used;
                size -= used;
        }
        if (r == FST_CELEBORN_E_PARTIAL ? used <= size : !error->message)
                abort();
}

static void read_message(int r, const struct celeborn_message *message, const struct fst_error *error)
{
        char *host;
        int port;
        if (r == 0 && sum_of(message->body, message->len) == 1)
                celeborn_status_name(message->type);
        if (r != 0 && !error->message)
                abort();
        if (r == FST_CELEBORN_E_EXCEPTION && celeborn_leader_of_exception(error->message, &host, &port))
                free(host);
}

static void read_question(const uint8_t *data, size_t size, struct fst_error *error)
{
        struct celeborn_question question = {0}, again = {0};
        struct buf out = BUF_INIT;
        if (celeborn_question_parse(data, size, &question, error) == 0) {
                celeborn_question_put(&question, &out);
                if (celeborn_question_parse((const uint8_t *)out.data, out.len, &again, error) || again.n != question.n)
                        abort();
        }
        celeborn_question_deinit(&question);
        celeborn_question_deinit(&again);
        buf_deinit(&out);
}

static void read_answer(const uint8_t *data, size_t size, struct fst_error *error)
{
        struct celeborn_answer answer = {0}, again = {0};
        struct buf out = BUF_INIT;
        if (celeborn_answer_parse(data, size, &answer, error) == 0) {
                celeborn_answer_put(&answer, &out);
                if (celeborn_answer_parse((const uint8_t *)out.data, out.len, &again, error) ||
                    again.n_locations != answer.n_locations || again.n_workers != answer.n_workers)
                        abort();
        }
        celeborn_answer_deinit(&answer);
        celeborn_answer_deinit(&again);
        buf_deinit(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct fst_error error = FST_ERROR_INIT;
        struct celeborn_message message;
        struct celeborn_push_answer push = {0};
        if (size < 2)
                return 0;
        const uint8_t *rest = data + 1;
        const size_t left = size - 1;
        switch (data[0] % 6) {
        case 0:
                read_frames(rest, left, &error);
                break;
        case 1:
                read_message(celeborn_endpoint_message_parse(rest, left, &message, &error), &message, &error);
                break;
        case 2:
                read_message(celeborn_data_message_parse(rest, left, &message, &error), &message, &error);
                break;
        case 3:
                if (celeborn_push_answer_parse(rest + 1, left - 1, rest[0], &push, &error) == 0)
                        for (int i = 0; i < push.n; i++)
                                if (push.indexes[i] < 0 || push.indexes[i] >= rest[0])
                                        abort();
                celeborn_push_answer_deinit(&push);
                break;
        case 4:
                read_question(rest, left, &error);
                break;
        case 5:
                read_answer(rest, left, &error);
                break;
        }
        error_deinit(&error);
        return 0;
}
