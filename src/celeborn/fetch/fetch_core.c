/* See fetch_core.h. */
#include "celeborn/fetch/fetch_core.h"

#include "base/hash_table.h"
#include "base/mem.h"

#include <errno.h>

enum fetch_file_state { FILE_CLOSED, FILE_OPEN, FILE_HEAD, FILE_ENDED };

struct fetch_copy {
        int tries; /* failures since the last new batch */
        int damages;
        bool given_up;
};

struct fetch_file {
        struct fetch_location at;
        enum fetch_file_state state;
        struct fetch_copy copies[FETCH_COPIES];
        int copy; /* the one that is open, or the next one */
        struct celeborn_batch head;
        int last_map;       /* of this copy, which is sorted by map */
        int64_t not_before; /* of the next open */
};

void fetch_core_init(struct fetch_core *core, const struct fetch_core_config *config)
{
        *core = (struct fetch_core){.config = *config, .map = -1};
        core->files = new_array(struct fetch_file, (size_t)MAX(config->n, 1));
        for (int i = 0; i < config->n; i++) {
                struct fetch_file *f = &core->files[i];
                f->at = config->locations[i];
                for (int k = 0; k < FETCH_COPIES; k++)
                        f->copies[k].given_up = f->at.copies[k] < 0;
                f->copy = f->copies[0].given_up ? 1 : 0;
        }
        core->config.locations = NULL;
}

void fetch_core_deinit(struct fetch_core *core)
{
        free(core->files);
        free(core->seen);
        *core = (struct fetch_core){0};
}

/* --------------------------------------------------------------------------------------------- batches of the map */

/* Returns what `seen` keeps of a batch. */
static uint64_t fetch_core_value(const struct celeborn_batch *batch)
{
        return ((uint64_t)(uint32_t)batch->map << 32 | (uint32_t)batch->batch) + 1;
}

/* Returns the slot of a value, which is free if the value is new. */
static uint64_t *fetch_core_slot(const struct fetch_core *core, uint64_t value)
{
        size_t i = object_hash_number(value) & (core->seen_slots - 1);
        while (core->seen[i] && core->seen[i] != value)
                i = (i + 1) & (core->seen_slots - 1);
        return &core->seen[i];
}

static bool fetch_core_has_seen(const struct fetch_core *core, const struct celeborn_batch *batch)
{
        return core->seen_slots && *fetch_core_slot(core, fetch_core_value(batch));
}

static void fetch_core_see(struct fetch_core *core, const struct celeborn_batch *batch)
{
        if (core->n_seen * 2 >= core->seen_slots) {
                struct fetch_core old = *core;
                core->seen_slots = MAX(core->seen_slots * 2, (size_t)16);
                core->seen = new_array(uint64_t, core->seen_slots);
                for (size_t i = 0; i < old.seen_slots; i++)
                        if (old.seen[i])
                                *fetch_core_slot(core, old.seen[i]) = old.seen[i];
                free(old.seen);
        }
        *fetch_core_slot(core, fetch_core_value(batch)) = fetch_core_value(batch);
        core->n_seen++;
}

static void fetch_core_set_map(struct fetch_core *core, int map)
{
        if (map == core->map)
                return;
        core->map = map;
        if (core->n_seen)
                memset(core->seen, 0, core->seen_slots * sizeof(*core->seen));
        core->n_seen = 0;
}

/* True if the batch at the head of a file is not needed: of an earlier map, another attempt, or known. */
static bool fetch_core_drops(const struct fetch_core *core, const struct celeborn_batch *head)
{
        return head->map < core->map || head->attempt != core->config.attempt(core->config.owner, head->map) ||
               ((head->map == core->map || !core->config.sorted) && fetch_core_has_seen(core, head));
}

/* -------------------------------------------------------------------------------------------------------- copies */

int fetch_core_copy(const struct fetch_core *core, int file)
{
        return core->files[file].copy;
}

static bool fetch_file_is_lost(const struct fetch_file *f)
{
        return f->copies[0].given_up && f->copies[1].given_up;
}

void fetch_core_failed(struct fetch_core *core, int file, enum fetch_failure failure, int64_t now)
{
        struct fetch_file *f = &core->files[file];
        struct fetch_copy *c = &f->copies[f->copy];
        f->state = FILE_CLOSED;
        c->damages += failure == FETCH_DAMAGED;
        c->tries += failure == FETCH_FAILED;
        c->given_up |= failure == FETCH_GONE || c->damages > 1 || c->tries >= core->config.tries;
        f->not_before = 0;
        if (failure == FETCH_DAMAGED && !c->given_up)
                return; /* the same copy again, at once */
        const struct fetch_copy *other = &f->copies[1 - f->copy];
        bool again = other->given_up || (other->tries && other->tries >= c->tries); /* a round is over */
        f->not_before = again ? now + core->config.pause : 0;
        if (!other->given_up)
                f->copy = 1 - f->copy;
}

void fetch_core_opened(struct fetch_core *core, int file)
{
        struct fetch_file *f = &core->files[file];
        f->state = FILE_OPEN;
        f->last_map = 0;
}

/* -------------------------------------------------------------------------------------------------------- batches */

int fetch_core_head(struct fetch_core *core, int file, struct celeborn_batch head, size_t left)
{
        struct fetch_file *f = &core->files[file];
        if (head.map < (core->config.sorted ? f->last_map : 0) || head.map >= core->config.n_maps || head.batch < 0 ||
            head.size < 0 || (size_t)head.size > left)
                return -EBADMSG;
        f->head = head;
        f->last_map = head.map;
        f->state = FILE_HEAD;
        return 0;
}

void fetch_core_file_end(struct fetch_core *core, int file)
{
        core->files[file].state = FILE_ENDED;
}

void fetch_core_skipped(struct fetch_core *core, int file)
{
        core->files[file].state = FILE_OPEN;
}

void fetch_core_taken(struct fetch_core *core, int file)
{
        struct fetch_file *f = &core->files[file];
        fetch_core_see(core, &f->head);
        f->state = FILE_OPEN;
        for (int i = 0; i < FETCH_COPIES; i++)
                f->copies[i].tries = 0;
}

/* Returns an action that a file needs before its next batch is known. */
static bool fetch_core_advance(const struct fetch_core *core, int file, int64_t now, struct fetch_action *action)
{
        const struct fetch_file *f = &core->files[file];
        *action = (struct fetch_action){.file = file, .copy = f->copy};
        switch (f->state) {
        case FILE_CLOSED:
                action->kind = fetch_file_is_lost(f) ? FETCH_LOST : f->not_before > now ? FETCH_WAIT : FETCH_OPEN;
                action->until = f->not_before;
                return true;
        case FILE_OPEN:
                action->kind = FETCH_HEAD;
                return true;
        case FILE_HEAD:
                action->kind = FETCH_SKIP;
                return fetch_core_drops(core, &f->head);
        case FILE_ENDED:
                break;
        }
        return false;
}

struct fetch_action fetch_core_next(struct fetch_core *core, int map, int64_t now)
{
        struct fetch_action action, later = {.kind = FETCH_END};
        int best = -1;
        fetch_core_set_map(core, map);
        for (int i = 0; i < core->config.n; i++) /* requests for all files, before any answer is read */
                if (core->files[i].state == FILE_CLOSED && fetch_core_advance(core, i, now, &action)) {
                        if (action.kind != FETCH_WAIT)
                                return action;
                        if (later.kind == FETCH_END || action.until < later.until)
                                later = action;
                }
        if (later.kind == FETCH_WAIT)
                return later;
        for (int i = 0; i < core->config.n; i++) {
                const struct fetch_file *f = &core->files[i];
                if (fetch_core_advance(core, i, now, &action))
                        return action;
                if (f->state == FILE_HEAD && !core->config.sorted)
                        return (struct fetch_action){.kind = FETCH_TAKE, .file = i, .copy = f->copy};
                if (f->state == FILE_HEAD && f->head.map == map &&
                    (best < 0 || f->head.batch < core->files[best].head.batch))
                        best = i;
        }
        return best < 0 ? (struct fetch_action){.kind = FETCH_END}
                        : (struct fetch_action){.kind = FETCH_TAKE, .file = best, .copy = core->files[best].copy};
}
