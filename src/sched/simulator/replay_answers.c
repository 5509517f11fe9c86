/*
 * A replay's side of the scheduler's calls: queries get the answers that the trace records, decisions are counted.
 */
#include "sched/simulator/sched_replay_internal.h"

#include <stdio.h>

void sched_replay_diverge(struct replay *r, const char *now, size_t len)
{
        size_t then = r->compared < r->end ? sched_replay_line_len(r, r->compared) : 0;

        if (r->diverged)
                return;
        r->diverged = true;
        error_set(r->error, FST_REPLAY_E_DIVERGED,
                  "line %zu: the trace has \"%.*s\", the replay \"%.*s\", after \"%.*s\"", r->line,
                  then ? (int)MIN(then, (size_t)400) : 18, then ? r->compared : "(end of the trace)",
                  (int)MIN(len, (size_t)400), now, (int)MIN(sched_replay_line_len(r, r->at), (size_t)400), r->at);
}

void sched_replay_compare(void *owner, const char *line, size_t len)
{
        struct replay *r = owner;

        if (r->diverged || r->compared == r->end) /* a truncated trace ends here */
                return;
        if ((size_t)(r->end - r->compared) < len || memcmp(r->compared, line, len) != 0) {
                sched_replay_diverge(r, line, len - 1);
                return;
        }
        r->report.lines++;
        r->compared += len;
        r->line++;
}

/* Returns true if the expected line is this answer. */
static bool sched_replay_answered(const struct replay *r, const char *word, int64_t number)
{
        char line[64];
        int len = snprintf(line, sizeof(line), "%s %lld\n", word, (long long)number);

        return !r->diverged && r->end - r->compared >= len && memcmp(r->compared, line, (size_t)len) == 0;
}

bool sched_replay_cached(const struct lineage *rdd, int partition)
{
        return sched_replay_answered(container_of(rdd, struct replay_rdd, lineage)->replay, "cached", rdd->id);
}

/* Stores the words of the expected line after @word. Returns false if it is another line. */
static bool sched_replay_due(const struct replay *r, const char *word, struct trace_words *w)
{
        size_t len = strlen(word);

        if (r->diverged || (size_t)(r->end - r->compared) < len || memcmp(r->compared, word, len) != 0)
                return false;
        *w = trace_words_of(r->compared + len, sched_replay_line_len(r, r->compared) - len);
        return true;
}

static int sched_replay_preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out,
                                  int max)
{
        struct replay *r = owner;
        struct trace_words w;
        int n = 0;

        if (!sched_replay_due(r, "preferred ", &w) || trace_take_number(&w, 0, MAX_ID) != rdd->id ||
            trace_take_number(&w, 0, INT32_MAX) != partition)
                return 0;
        n = (int)trace_take_number(&w, 0, max);
        for (int i = 0; i < n && !w.bad; i++) {
                out[i].executor = (int)trace_take_number(&w, -1, MAX_ID);
                char *host = trace_take_text(&w);

                out[i].host = host;
                if (host)
                        vec_push(&r->hosts, host); /* the scheduler borrows it until its next query */
        }
        return w.bad ? 0 : n;
}

void sched_replay_free_requests(struct replay *r)
{
        for (size_t i = 0; i < r->requests.len; i++)
                free(r->requests.data[i].name);
        r->requests.len = 0;
}

static bool sched_replay_may_prefer(void *owner, const struct lineage *rdd)
{
        return sched_replay_answered(owner, "may_prefer", rdd->id);
}

static const char *sched_replay_rack(void *owner, const char *host)
{
        struct replay *r = owner;
        struct trace_words w;

        if (!sched_replay_due(r, "rack ", &w))
                return NULL;
        _cleanup_free_ char *name = trace_take_text(&w);
        char *answer = name && strcmp(name, host) == 0 ? trace_take_text(&w) : NULL;

        if (answer)
                vec_push(&r->hosts, answer);
        return answer;
}

/* Keeps the answer until the next query. */
static const struct task_profile *sched_replay_profile(void *owner, const int *ids, int n)
{
        struct replay *r = owner;
        struct trace_words w;

        if (!sched_replay_due(r, "profile ", &w))
                return NULL;
        sched_replay_free_requests(r);
        r->profile = (struct task_profile){.id = (int)trace_take_number(&w, 1, MAX_ID)};
        r->profile.cpus = (int)trace_take_number(&w, 1, MAX_ID);
        r->profile.any_executor = trace_take_number(&w, 0, 1);
        while (trace_words_left(&w) && !w.bad) {
                char *name = trace_take_text(&w);
                int64_t amount = trace_take_number(&w, 1, INT64_MAX);

                if (name && (amount <= RESOURCE_ONE || amount % RESOURCE_ONE == 0))
                        vec_push(&r->requests, (struct resource_request){name, amount});
                else
                        free(name);
        }
        r->profile.requests = r->requests.data;
        r->profile.n_requests = (int)r->requests.len;
        return w.bad ? NULL : &r->profile;
}

void sched_replay_needs(const struct lineage *child, const struct lineage_dep *dep, int partition, int *first,
                        int *count)
{
        const int *at = container_of(child, struct replay_rdd, lineage)->needs[dep - child->deps];

        *first = at[2 * partition];
        *count = at[2 * partition + 1];
}

void sched_replay_free_hosts(struct replay *r)
{
        for (size_t i = 0; i < r->hosts.len; i++)
                free(r->hosts.data[i]);
        r->hosts.len = 0;
}

/* -------------------------------------------------------------------------------------------- decisions */

static void sched_replay_job_started(void *owner, struct job *job)
{
        ((struct replay *)owner)->report.jobs++;
}

static void sched_replay_stage_submitted(void *owner, struct stage *stage, struct task_set *set)
{
}

static void sched_replay_launch(void *owner, int executor, struct task_set *set, const struct task_launch *run, int n)
{
        ((struct replay *)owner)->report.tasks += n;
}

static void sched_replay_kill_task(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
}

static void sched_replay_stage_completed(void *owner, struct stage *stage, const char *failure)
{
}

static void sched_replay_job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
}

static void sched_replay_map_output_removed(void *owner, int shuffle_id, int map_partition, int executor,
                                            uint64_t handle)
{
}

static void sched_replay_task_set_removed(void *owner, struct task_set *set)
{
}

static void sched_replay_task_lost(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
}

static void sched_replay_stage_removed(void *owner, struct stage *stage)
{
}

static void sched_replay_job_removed(void *owner, struct job *job)
{
}

const struct sched_ops sched_replay_ops = {
        .job_started = sched_replay_job_started,
        .stage_submitted = sched_replay_stage_submitted,
        .launch = sched_replay_launch,
        .kill_task = sched_replay_kill_task,
        .task_lost = sched_replay_task_lost,
        .stage_completed = sched_replay_stage_completed,
        .job_ended = sched_replay_job_ended,
        .map_output_removed = sched_replay_map_output_removed,
        .task_set_removed = sched_replay_task_set_removed,
        .stage_removed = sched_replay_stage_removed,
        .job_removed = sched_replay_job_removed,
        .preferred = sched_replay_preferred,
        .may_prefer = sched_replay_may_prefer,
        .rack = sched_replay_rack,
        .profile = sched_replay_profile,
};
