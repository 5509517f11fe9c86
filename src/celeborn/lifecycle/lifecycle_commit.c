/* Commits the files of a shuffle at its workers, and answers the questions of executors. See lifecycle.h. */
#include "celeborn/lifecycle/lifecycle_internal.h"

#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------- commit */

static int commit_copy_compare(const void *a, const void *b)
{
        const struct lifecycle_copy *x = a, *y = b;
        return x->worker != y->worker ? (x->worker > y->worker) - (x->worker < y->worker) : x->mode - y->mode;
}

static void commit_send(struct lifecycle *l, struct lifecycle_shuffle *s, const struct lifecycle_copy *copies, size_t n,
                        const int32_t *attempts, int64_t now)
{
        Celeborn__CommitFiles m = CELEBORN__COMMIT_FILES__INIT;
        _cleanup_free_ char **ids = new_array(char *, n);
        for (size_t i = 0; i < n; i++) {
                const struct lifecycle_location *at = &s->locations.data[copies[i].location];
                ids[i] = mem_printf("%d-%d", at->partition, at->epoch);
                m.n_primary_ids += copies[i].mode == CELEBORN_PRIMARY;
        }
        m.application_id = (char *)l->config.app_id;
        m.shuffle_id = s->id;
        m.primary_ids = ids; /* sorted: primaries first */
        m.replica_ids = ids + m.n_primary_ids;
        m.n_replica_ids = n - m.n_primary_ids;
        m.map_attempts = (int32_t *)attempts;
        m.n_map_attempts = (size_t)s->maps;
        m.epoch = 1; /* a worker is asked once, by this driver or the next one, and answers a repetition as before */
        struct lifecycle_request *request =
                lifecycle_send(l, s->id, copies[0].worker, CELEBORN_COMMIT_FILES, &m.base, now);
        vec_reserve(&request->copies, n);
        memcpy(request->copies.data, copies, n * sizeof(*copies));
        request->copies.len = n;
        s->outstanding++;
        for (size_t i = 0; i < n; i++)
                free(ids[i]);
}

/* True if acknowledged data of the location cannot be read. A copy to which nothing was written proves that there is
 * none. */
static bool commit_is_lost(const struct lifecycle_location *at)
{
        bool lost = false, readable = false;
        for (int mode = 0; mode < 2; mode++) {
                lost |= at->copy[mode] == COPY_LOST;
                readable |= at->copy[mode] == COPY_COMMITTED || at->copy[mode] == COPY_EMPTY;
        }
        return lost && !readable;
}

static void commit_settle(struct lifecycle *l, struct lifecycle_shuffle *s)
{
        int lost = 0;
        for (size_t i = 0; i < s->locations.len; i++)
                lost += commit_is_lost(&s->locations.data[i]);
        s->phase = lost ? SHUFFLE_LOST : SHUFFLE_COMMITTED;
        if (lost)
                journal_gone(l, s);
        else
                journal_committed(l, s);
        if (lost)
                lifecycle_log(l, LOG_WARN, "Celeborn shuffle %d has lost %d files: its map stage runs again", s->id,
                              lost);
        answers_flush(l, s);
}

void commit_begin(struct lifecycle *l, struct lifecycle_shuffle *s, const int32_t *attempts, int64_t now)
{
        copy_list copies = {0};
        for (size_t i = 0; i < s->locations.len; i++) {
                const struct lifecycle_location *at = &s->locations.data[i];
                for (uint8_t mode = 0; mode < 2 && location_is_open(at); mode++)
                        if (at->copy[mode] == COPY_RESERVED)
                                vec_push(&copies, ((struct lifecycle_copy){at->worker[mode], (int32_t)i, mode}));
        }
        if (copies.len)
                qsort(copies.data, copies.len, sizeof(*copies.data), commit_copy_compare);
        if (!s->attempts)
                journal_committing(l, s, attempts);
        s->phase = SHUFFLE_COMMITTING;
        s->outstanding = 0; /* answers to reservations are ignored from now on */
        s->queued.len = 0;
        for (size_t i = 0, end; i < copies.len; i = end) {
                for (end = i + 1; end < copies.len && copies.data[end].worker == copies.data[i].worker;)
                        end++;
                commit_send(l, s, copies.data + i, end - i, attempts, now);
        }
        vec_deinit(&copies);
        if (!s->outstanding)
                commit_settle(l, s);
        else
                answers_flush(l, s);
}

/* Sets the state of the copies of @mode that @ids names. */
static void commit_mark(struct lifecycle_shuffle *s, const struct lifecycle_request *request, uint8_t mode,
                        char *const *ids, size_t n, enum copy_state state)
{
        for (size_t i = 0; i < n; i++) {
                char *end;
                const long partition = strtol(ids[i], &end, 10);
                const long epoch = *end == '-' ? strtol(end + 1, NULL, 10) : -1;
                if (partition < 0 || partition >= s->partitions)
                        continue;
                struct lifecycle_location *at = lifecycle_location_of(s, (int32_t)partition, (int32_t)epoch);
                if (at && at->worker[mode] == request->worker)
                        at->copy[mode] = (uint8_t)state;
        }
}

void commit_on_answered(struct lifecycle *l, struct lifecycle_shuffle *s, const struct lifecycle_request *request,
                        const Celeborn__CommitFilesResponse *reply, const char *why, int64_t now)
{
        const bool valid = reply && (reply->status == CELEBORN_SUCCESS || reply->status == CELEBORN_PARTIAL_SUCCESS);
        if (s->phase != SHUFFLE_COMMITTING)
                return;
        for (size_t i = 0; i < request->copies.len; i++) {
                const struct lifecycle_copy *copy = &request->copies.data[i];
                s->locations.data[copy->location].copy[copy->mode] = valid ? COPY_EMPTY : COPY_LOST;
        }
        if (reply) {
                commit_mark(s, request, CELEBORN_PRIMARY, reply->committed_primary_ids, reply->n_committed_primary_ids,
                            COPY_COMMITTED);
                commit_mark(s, request, CELEBORN_REPLICA, reply->committed_replica_ids, reply->n_committed_replica_ids,
                            COPY_COMMITTED);
                commit_mark(s, request, CELEBORN_PRIMARY, reply->failed_primary_ids, reply->n_failed_primary_ids,
                            COPY_LOST);
                commit_mark(s, request, CELEBORN_REPLICA, reply->failed_replica_ids, reply->n_failed_replica_ids,
                            COPY_LOST);
                l->written += MAX(reply->total_written, (int64_t)0);
                l->files += MAX(reply->file_count, 0);
        }
        if (!valid) {
                _cleanup_free_ char *text = mem_printf("its files of shuffle %d are not committed: %s", s->id,
                                                       reply ? celeborn_status_name(reply->status)
                                                       : why ? why
                                                             : "the answer cannot be decoded");
                if (reply)
                        lifecycle_log(l, LOG_WARN, "Celeborn worker %s: %s", l->workers.data[request->worker].at.host,
                                      text);
                else
                        lifecycle_exclude(l, request->worker, text, now);
        }
        if (--s->outstanding == 0)
                commit_settle(l, s);
}

/* -------------------------------------------------------------------------------------------------- answers */

/* An answer while it is built: which of its workers each of ours is. */
struct answer_builder {
        struct celeborn_answer answer;
        int32_t *index; /* by worker; -1: not in the answer yet */
        VEC(struct celeborn_worker) workers;
        VEC(struct celeborn_location) locations;
};

static int32_t answer_builder_worker(const struct lifecycle *l, struct answer_builder *b, int32_t worker)
{
        if (worker < 0)
                return -1;
        if (b->index[worker] < 0) {
                struct celeborn_worker copy = l->workers.data[worker].at;
                copy.host = mem_strdup(copy.host);
                b->index[worker] = (int32_t)b->workers.len;
                vec_push(&b->workers, copy);
        }
        return b->index[worker];
}

static void answer_builder_add(const struct lifecycle *l, struct answer_builder *b, const struct lifecycle_location *at,
                               bool primary, bool replica)
{
        const int32_t first = answer_builder_worker(l, b, primary ? at->worker[CELEBORN_PRIMARY] : -1);
        const int32_t second = answer_builder_worker(l, b, replica ? at->worker[CELEBORN_REPLICA] : -1);
        vec_push(&b->locations, ((struct celeborn_location){at->partition, at->epoch, first, second}));
}

/* The location that an executor may write now, or one without copies. */
static void answer_builder_add_newest(const struct lifecycle *l, const struct lifecycle_shuffle *s,
                                      struct answer_builder *b, int32_t partition)
{
        const struct lifecycle_location none = {.partition = partition};
        const int32_t newest = partition < s->partitions ? s->newest[partition] : -1;
        const struct lifecycle_location *at = newest >= 0 ? &s->locations.data[newest] : &none;
        const bool open = newest >= 0 && location_is_open(at);
        answer_builder_add(l, b, at, open, open);
}

/* Adds the committed files of a partition, lowest epoch first. */
static void answer_builder_add_files(const struct lifecycle *l, const struct lifecycle_shuffle *s,
                                     struct answer_builder *b, int32_t partition)
{
        VEC(int32_t) chain = {0};
        for (int32_t at = s->newest[partition]; at >= 0; at = s->locations.data[at].previous)
                vec_push(&chain, at);
        while (chain.len) {
                const struct lifecycle_location *at = &s->locations.data[chain.data[--chain.len]];
                const bool primary = at->copy[CELEBORN_PRIMARY] == COPY_COMMITTED,
                           replica = at->copy[CELEBORN_REPLICA] == COPY_COMMITTED;
                if (primary || replica)
                        answer_builder_add(l, b, at, primary, replica);
        }
        vec_deinit(&chain);
}

/* The status of an answer without locations; CELEBORN_SUCCESS: with them; -1: it must wait. */
static int answer_status(const struct lifecycle_shuffle *s, const struct celeborn_question *question)
{
        switch (s->phase) {
        case SHUFFLE_REGISTERING:
                return -1;
        case SHUFFLE_DROPPED:
                return CELEBORN_SHUFFLE_UNREGISTERED;
        case SHUFFLE_FAILED:
                return question->kind == CELEBORN_ASK_FILES ? -1 : CELEBORN_RESERVE_SLOTS_FAILED;
        case SHUFFLE_LOST:
                return CELEBORN_SHUFFLE_DATA_LOST;
        case SHUFFLE_COMMITTING:
                return question->kind == CELEBORN_ASK_FILES ? -1 : CELEBORN_STAGE_ENDED;
        case SHUFFLE_COMMITTED:
                return question->kind == CELEBORN_ASK_FILES ? CELEBORN_SUCCESS : CELEBORN_STAGE_ENDED;
        case SHUFFLE_OPEN:
                break;
        }
        if (question->kind == CELEBORN_ASK_FILES)
                return -1;
        const int n = question->kind == CELEBORN_ASK_REVIVE ? question->n : s->partitions;
        for (int i = 0; i < n; i++) {
                const int32_t partition = question->kind == CELEBORN_ASK_REVIVE ? question->revives[i].partition : i;
                if (partition < s->partitions && location_is_pending(&s->locations.data[s->newest[partition]]))
                        return -1;
        }
        return CELEBORN_SUCCESS;
}

static struct celeborn_answer answer_make(const struct lifecycle *l, const struct lifecycle_shuffle *s,
                                          const struct celeborn_question *question, int status)
{
        struct answer_builder b = {.answer = {.status = status, .message = mem_strdup_if(s->failure)}};
        if (status != CELEBORN_SUCCESS)
                return b.answer;
        b.index = new_array(int32_t, l->workers.len + 1);
        for (size_t i = 0; i < l->workers.len; i++)
                b.index[i] = -1;
        if (question->kind == CELEBORN_ASK_REVIVE)
                for (int i = 0; i < question->n; i++)
                        answer_builder_add_newest(l, s, &b, question->revives[i].partition);
        for (int p = 0; p < s->partitions && question->kind == CELEBORN_ASK_LOCATIONS; p++)
                answer_builder_add_newest(l, s, &b, p);
        for (int p = 0; p < s->partitions && question->kind == CELEBORN_ASK_FILES; p++)
                answer_builder_add_files(l, s, &b, p);
        free(b.index);
        b.answer.workers = b.workers.data;
        b.answer.n_workers = (int)b.workers.len;
        b.answer.locations = b.locations.data;
        b.answer.n_locations = (int)b.locations.len;
        return b.answer;
}

void answers_flush(struct lifecycle *l, struct lifecycle_shuffle *s)
{
        if (s->waiters.len && s->phase == SHUFFLE_OPEN)
                journal_locations(l, s);
        size_t kept = 0;
        for (size_t i = 0; i < s->waiters.len; i++) {
                struct lifecycle_waiter *w = &s->waiters.data[i];
                const int status = answer_status(s, &w->question);
                if (status < 0) {
                        s->waiters.data[kept++] = *w;
                        continue;
                }
                queue_push(&l->actions,
                           (struct lifecycle_action){
                                   LIFECYCLE_ANSWER,
                                   .answer = {.asker = w->asker, .answer = answer_make(l, s, &w->question, status)}});
                celeborn_question_deinit(&w->question);
        }
        s->waiters.len = kept;
}
