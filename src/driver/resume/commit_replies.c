/* See commit_replies.h. */
#include "driver/resume/commit_replies.h"

#include "base/mem.h"
#include "driver/resume/resume.h"

void commit_replies_hold(struct commit_replies *replies, const struct commit_requester *asker)
{
        vec_push(&replies->waiting, (struct commit_reply){.asker = *asker});
}

void commit_replies_request(struct commit_replies *replies, struct resume *resume)
{
        const size_t n = replies->waiting.len;
        if (n == 0 || replies->waiting.data[n - 1].position)
                return;
        uint64_t position = resume_request_write(resume);
        if (position == 0) {
                commit_replies_send(replies, UINT64_MAX);
                return;
        }
        for (size_t i = n; i > 0 && !replies->waiting.data[i - 1].position; i--)
                replies->waiting.data[i - 1].position = position;
}

void commit_replies_send(struct commit_replies *replies, uint64_t position)
{
        size_t n = 0;
        for (size_t i = 0; i < replies->waiting.len; i++) {
                struct commit_reply reply = replies->waiting.data[i];
                if (reply.position <= position && (reply.position || position == UINT64_MAX))
                        reply.asker.reply(reply.asker.owner, true);
                else
                        replies->waiting.data[n++] = reply;
        }
        replies->waiting.len = n;
}

void commit_replies_deinit(struct commit_replies *replies)
{
        for (size_t i = 0; i < replies->waiting.len; i++)
                replies->waiting.data[i].asker.reply(replies->waiting.data[i].asker.owner, false);
        vec_deinit(&replies->waiting);
}
