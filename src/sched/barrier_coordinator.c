/*
 * Spark's BarrierCoordinator. A meeting exists from the first request of a stage attempt until the attempt ends. Its
 * epoch counts completed barriers. The timeout runs from the arrival of the first task.
 *
 * Invariant: arrived is the number of taken seats. Between two epochs all seats are free.
 */
#include "sched/barrier_coordinator.h"

#include "base/mem.h"
#include "base/vec.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

struct seat {
        bool taken;
        void *user;
        struct barrier_message message; /* a copy */
};

struct meeting {
        int stage, stage_attempt, n_tasks;
        int epoch, arrived;
        enum barrier_method method; /* of this epoch */
        int64_t until;              /* INT64_MAX if no task waits */
        struct seat *seats;
};

struct barrier_coordinator {
        int64_t timeout;
        const struct barrier_ops *ops;
        void *owner;
        VEC(struct meeting) meetings;
};

struct barrier_coordinator *barrier_coordinator_new(int64_t timeout, const struct barrier_ops *ops, void *owner)
{
        struct barrier_coordinator *c = new0(struct barrier_coordinator);

        c->timeout = timeout;
        c->ops = ops;
        c->owner = owner;
        return c;
}

static void clear_seats(struct meeting *m)
{
        for (int i = 0; i < m->n_tasks; i++) {
                free((void *)m->seats[i].message.data);
                m->seats[i] = (struct seat){0};
        }
        m->arrived = 0;
        m->until = INT64_MAX;
}

static void remove_meeting(struct barrier_coordinator *c, struct meeting *m)
{
        clear_seats(m);
        free(m->seats);
        *m = c->meetings.data[--c->meetings.len];
}

void barrier_coordinator_free(struct barrier_coordinator *c)
{
        if (!c)
                return;
        while (c->meetings.len > 0)
                remove_meeting(c, &c->meetings.data[0]);
        vec_deinit(&c->meetings);
        free(c);
}

/* Fails the waiting tasks with the message, and removes the meeting. */
static void fail_meeting(struct barrier_coordinator *c, struct meeting *m, const char *message)
{
        for (int i = 0; i < m->n_tasks; i++)
                if (m->seats[i].taken)
                        c->ops->fail(c->owner, m->seats[i].user, message);
        remove_meeting(c, m);
}

static struct meeting *meeting_of(struct barrier_coordinator *c, const struct barrier_request *r)
{
        for (size_t i = 0; i < c->meetings.len; i++)
                if (c->meetings.data[i].stage == r->stage && c->meetings.data[i].stage_attempt == r->stage_attempt)
                        return &c->meetings.data[i];
        vec_push(&c->meetings, (struct meeting){.stage = r->stage,
                                                .stage_attempt = r->stage_attempt,
                                                .n_tasks = r->n_tasks,
                                                .until = INT64_MAX,
                                                .seats = new_array(struct seat, (size_t)MAX(r->n_tasks, 1))});
        return &c->meetings.data[c->meetings.len - 1];
}

static void barrier_coordinator_complete(struct barrier_coordinator *c, struct meeting *m)
{
        struct barrier_message *messages = new_array(struct barrier_message, (size_t)m->n_tasks);

        for (int i = 0; i < m->n_tasks; i++)
                messages[i] = m->seats[i].message;
        for (int i = 0; i < m->n_tasks; i++)
                c->ops->reply(c->owner, m->seats[i].user, messages, m->n_tasks);
        free(messages);
        clear_seats(m);
        m->epoch++;
}

/* Checks the request by itself. Returns NULL or an error message, which the caller frees. */
static char *barrier_coordinator_refuse(const struct meeting *m, const struct barrier_request *r)
{
        if (r->n_tasks != m->n_tasks || r->index < 0 || r->index >= m->n_tasks)
                return mem_printf("Number of tasks of Stage %d (Attempt %d) is %d from Task %" PRId64
                                  ", previously it was %d.",
                                  r->stage, r->stage_attempt, r->n_tasks, r->task_id, m->n_tasks);
        if (r->epoch != m->epoch || m->seats[r->index].taken)
                return mem_printf("The request to sync of Stage %d (Attempt %d) with barrier epoch %d has already "
                                  "finished. Maybe task %" PRId64 " is not properly killed.",
                                  r->stage, r->stage_attempt, r->epoch, r->task_id);
        return NULL;
}

static void sit_down(struct meeting *m, const struct barrier_request *r)
{
        struct seat *seat = &m->seats[r->index];

        *seat = (struct seat){.taken = true, .user = r->user, .message = {NULL, r->message.len}};
        if (r->message.len > 0) {
                void *copy = mem_alloc(r->message.len);

                memcpy(copy, r->message.data, r->message.len);
                seat->message.data = copy;
        }
        m->arrived++;
}

void barrier_coordinator_request(struct barrier_coordinator *c, const struct barrier_request *r, int64_t now)
{
        struct meeting *m;
        _cleanup_free_ char *refusal = NULL;

        if (r->n_tasks < 1) {
                c->ops->fail(c->owner, r->user, "a barrier has at least one task");
                return;
        }
        m = meeting_of(c, r);
        refusal = barrier_coordinator_refuse(m, r);
        if (refusal) {
                c->ops->fail(c->owner, r->user, refusal);
                return;
        }
        if (m->arrived > 0 && m->method != r->method) {
                static const char *const names[] = {"BARRIER", "ALL_GATHER"};
                _cleanup_free_ char *message =
                        mem_printf("Different barrier sync types found for the sync Stage %d (Attempt %d): %s, %s. "
                                   "Please use the same barrier sync type within a single sync.",
                                   r->stage, r->stage_attempt, names[m->method], names[r->method]);

                sit_down(m, r);
                fail_meeting(c, m, message);
                return;
        }
        if (m->arrived == 0) {
                m->method = r->method;
                m->until = c->timeout > INT64_MAX - now ? INT64_MAX : now + c->timeout;
        }
        sit_down(m, r);
        if (m->arrived == m->n_tasks)
                barrier_coordinator_complete(c, m);
}

void barrier_coordinator_stage_end(struct barrier_coordinator *c, int stage, int stage_attempt)
{
        for (size_t i = c->meetings.len; i-- > 0;) {
                struct meeting *m = &c->meetings.data[i];

                if (m->stage == stage && (stage_attempt < 0 || m->stage_attempt == stage_attempt))
                        fail_meeting(c, m, "the stage has ended");
        }
}

int64_t barrier_coordinator_deadline(const struct barrier_coordinator *c)
{
        int64_t deadline = INT64_MAX;

        for (size_t i = 0; i < c->meetings.len; i++)
                if (c->meetings.data[i].until < deadline)
                        deadline = c->meetings.data[i].until;
        return deadline;
}

void barrier_coordinator_tick(struct barrier_coordinator *c, int64_t now)
{
        for (size_t i = c->meetings.len; i-- > 0;) {
                struct meeting *m = &c->meetings.data[i];

                if (m->until > now)
                        continue;
                _cleanup_free_ char *message =
                        mem_printf("The coordinator didn't get all barrier sync requests for barrier epoch %d from "
                                   "Stage %d (Attempt %d) within %" PRId64 " second(s).",
                                   m->epoch, m->stage, m->stage_attempt, c->timeout / 1000000000);
                fail_meeting(c, m, message);
        }
}
