/* Placement: drivers first, then executors of applications in the order of their registration, and lower profile ids
 * first.
 *
 * An application's executors are spread over as many workers as possible, one to each in turn, or packed on as few.
 * With cores set for an executor, a worker may get several. Without, it gets one executor that takes all cores that
 * the application may have of it in this pass. Cores are handed out by whole executors: otherwise 16 cores on each of
 * 4 workers could end as 12 on each of them and no executor of 16 at all.
 *
 * The result equals that of scanning every application and every worker each time, which is too slow for 1,000 times
 * 10,000. Three facts make it cheap. After a pass, each profile either wants no more, or no worker has room for
 * another executor (it is starved). A starved profile can only use workers that gained capacity since then, and these
 * are kept in the order of their gains. Workers are indexed by the selection policy, so that a profile that wants k
 * executors visits few more than the first k workers with room.
 */
#include "standalone/core/master_state.h"

struct worker_choice {
        struct master_worker *worker;
        int cores, executors;
};

struct placement {
        struct master *m;
        struct master_app *app;
        struct app_profile *profile;
        int cores_left, executors; /* cores_left: cores to assign. executors: new ones so far */
        VEC(struct worker_choice) choices;
        VEC(struct master_worker *) some;
};

static int cores_at_once(const struct app_profile *p)
{
        return MAX(p->cores, 1);
}

static bool wants_more(const struct master_app *app, const struct app_profile *p)
{
        return p->known && app_cores_left(app) >= cores_at_once(p) && p->executors < p->target;
}

static bool has_room(const struct placement *pl, const struct worker_choice *c)
{
        const struct app_profile *p = pl->profile;

        if (pl->cores_left < cores_at_once(p) || worker_cores_free(c->worker) - c->cores < cores_at_once(p))
                return false;
        if (p->cores == 0 && c->executors == 1) /* more cores for its only executor */
                return true;
        return p->executors + pl->executors < p->target &&
               worker_has_beside(c->worker, c->executors, p->memory, &p->needs);
}

/* Assigns one more executor, or one more core of the only one. When packing, assigns all that fit. Returns false if
 * the worker has no room.
 */
static bool hand_out(struct placement *pl, struct worker_choice *c)
{
        bool any = false;

        while (has_room(pl, c)) {
                any = true;
                pl->cores_left -= cores_at_once(pl->profile);
                c->cores += cores_at_once(pl->profile);
                if (pl->profile->cores > 0 || c->executors == 0) {
                        c->executors++;
                        pl->executors++;
                }
                if (pl->m->config.spread_out_apps)
                        break;
        }
        return any;
}

/* Handles the first turn of a worker. Returns false if no other worker can get an executor. */
static bool placement_add_worker(struct placement *pl, struct master_worker *w)
{
        struct worker_choice c = {.worker = w};

        if (hand_out(pl, &c))
                vec_push(&pl->choices, c);
        return pl->cores_left >= cores_at_once(pl->profile) &&
               pl->profile->executors + pl->executors < pl->profile->target;
}

static struct master_worker *worker_of(struct index_node *node)
{
        return container_of(node, struct master_worker, node);
}

static void consider_all(struct placement *pl)
{
        const struct worker_index *index = &pl->m->index;
        enum worker_selection by = pl->m->config.selection;
        bool by_cores = by == CORES_FREE_ASC || by == CORES_FREE_DESC, by_id = by == WORKER_BY_ID;
        int64_t least = by_cores ? cores_at_once(pl->profile) : by_id ? 0 : pl->profile->memory;

        if (by == CORES_FREE_ASC || by == MEMORY_FREE_ASC || by_id) {
                for (struct index_node *n = worker_index_from(index, least); n; n = worker_index_next(n))
                        if (!placement_add_worker(pl, worker_of(n)))
                                return;
        } else {
                for (struct index_node *n = worker_index_last(index); n && n->number >= least;
                     n = worker_index_previous(n))
                        if (!placement_add_worker(pl, worker_of(n)))
                                return;
        }
}

static int compare_nodes(const void *a, const void *b)
{
        const struct index_node *x = &(*(struct master_worker *const *)a)->node;
        const struct index_node *y = &(*(struct master_worker *const *)b)->node;

        if (x->number != y->number)
                return x->number < y->number ? -1 : 1;
        return strcmp(x->name, y->name);
}

/* Considers only workers that gained capacity after @since. Returns false if they are so many that the index is
 * faster.
 */
static bool consider_some(struct placement *pl, uint64_t since)
{
        enum worker_selection by = pl->m->config.selection;

        pl->some.len = 0;
        for (struct master_worker *w = pl->m->last_gained; w && w->gained > since; w = w->gained_prev) {
                if (pl->some.len >= 64 && pl->some.len > pl->m->alive.len / 16)
                        return false;
                if (worker_has(w, cores_at_once(pl->profile), pl->profile->memory, &pl->profile->needs))
                        vec_push(&pl->some, w);
        }
        size_t n = pl->some.len;

        if (n > 1)
                qsort(pl->some.data, n, sizeof(*pl->some.data), compare_nodes);
        for (size_t i = 0; i < n; i++)
                if (!placement_add_worker(
                            pl, pl->some.data[by == CORES_FREE_DESC || by == MEMORY_FREE_DESC ? n - 1 - i : i]))
                        break;
        return true;
}

static void placement_launch(struct placement *pl, struct worker_choice *c)
{
        struct master *m = pl->m;
        struct app_profile *p = pl->profile;
        int each = p->cores > 0 ? p->cores : c->cores;

        for (int i = 0; i < c->executors; i++) {
                struct master_executor *e =
                        app_add_executor(m, pl->app, p, c->worker, -1, each, p->memory, EXECUTOR_LAUNCHING);

                worker_take(m, c->worker, each, p->memory, &p->needs, &e->holds, &e->n_holds);
                master_log(m, LOG_INFO, "Launching executor %s/%d on worker %s", pl->app->id, e->id, c->worker->id);
                master_emit(m, (struct master_action){MASTER_LAUNCH_EXECUTOR, .peer = c->worker->peer, .executor = e,
                                                      .worker = c->worker});
                master_emit(m, (struct master_action){MASTER_EXECUTOR_ADDED, .peer = pl->app->peer, .executor = e,
                                                      .worker = c->worker});
        }
        if (pl->app->state == APP_WAITING)
                pl->app->state = APP_RUNNING;
}

static void place_executors(struct placement *pl)
{
        struct master *m = pl->m;
        struct app_profile *p = pl->profile;

        pl->cores_left = app_cores_left(pl->app);
        pl->executors = 0;
        pl->choices.len = 0;

        bool all = !p->starved || !consider_some(pl, p->tried);

        if (all)
                consider_all(pl);
        for (bool more = m->config.spread_out_apps; more;) {
                more = false;
                for (size_t i = 0; i < pl->choices.len; i++)
                        more |= hand_out(pl, &pl->choices.data[i]);
        }
        if (all && pl->choices.len == 0 && m->n_apps == 1 && pl->app->n_executors == 0)
                master_log(m, LOG_WARN, "App %s requires more resource than any of Workers could have.", pl->app->id);
        for (size_t i = 0; i < pl->choices.len; i++)
                placement_launch(pl, &pl->choices.data[i]);
        if (pl->choices.len > 0)
                p->told_misfit = false;
        else
                master_check_fit(m, pl->app, p);
        p->starved = wants_more(pl->app, p);
        p->tried = m->supply;
}

/* ------------------------------------------------------------------------------------------------ drivers */

static void launch_driver(struct master *m, struct master_driver *d, struct master_worker *w)
{
        worker_take(m, w, d->cores, d->memory, &d->needs, &d->holds, &d->n_holds);
        master_driver_on(m, d, w);
        master_log(m, LOG_INFO, "Launching driver %s on worker %s", d->id, w->id);
        master_store(m, MASTER_RECORD_DRIVER, d->id, d); /* store that it was launched */
        master_emit(m, (struct master_action){MASTER_LAUNCH_DRIVER, .peer = w->peer, .driver = d, .worker = w});
}

static size_t random_below(struct master *m, size_t n)
{
        m->random += 0x9e3779b97f4a7c15u;
        return (size_t)(object_hash_number(m->random) % n);
}

static int compare_ids(const void *a, const void *b)
{
        return strcmp((*(struct master_worker *const *)a)->id, (*(struct master_worker *const *)b)->id);
}

/* Live workers in the order in which they get drivers: shuffled as far as needed, or by id. */
struct round {
        struct master *m;
        struct master_worker **sorted; /* NULL: shuffled, in place */
        size_t at, shuffled;
};

static struct master_worker *round_at(struct round *r)
{
        struct master *m = r->m;

        if (r->sorted)
                return r->sorted[r->at];
        if (r->at == r->shuffled) {
                size_t other = r->at + random_below(m, m->alive.len - r->at);
                struct master_worker *w = m->alive.data[other];

                m->alive.data[other] = m->alive.data[r->at];
                m->alive.data[other]->alive_at = other;
                m->alive.data[r->at] = w;
                w->alive_at = r->at;
                r->shuffled++;
        }
        return m->alive.data[r->at];
}

static void place_driver(struct round *r, struct master_driver *d)
{
        struct master *m = r->m;
        bool idle = true;

        if (r->sorted)
                r->at = 0;
        for (size_t visited = 0; visited < m->alive.len; visited++) {
                struct master_worker *w = round_at(r);

                r->at = (r->at + 1) % m->alive.len;
                idle &= w->n_drivers == 0 && w->n_executors == 0;
                if (worker_has(w, d->cores, d->memory, &d->needs)) {
                        launch_driver(m, d, w);
                        return;
                }
        }
        d->tried = m->supply + 1;
        if (idle && !d->idle_warned)
                master_log(m, LOG_WARN, "Driver %s requires more resource than any of Workers could have.", d->id);
        d->idle_warned |= idle;
}

static void place_drivers(struct master *m)
{
        struct round r = {.m = m};

        if (m->n_waiting_drivers == 0)
                return;
        if (!m->config.spread_out_drivers && m->alive.len > 0) {
                r.sorted = new_array(struct master_worker *, m->alive.len);
                memcpy(r.sorted, m->alive.data, m->alive.len * sizeof(*r.sorted));
                qsort(r.sorted, m->alive.len, sizeof(*r.sorted), compare_ids);
        }
        for (struct master_driver *d = m->drivers.first, *next; d && m->n_waiting_drivers > 0; d = next) {
                next = d->next;
                if (m->n_drivers - m->n_waiting_drivers >= m->config.max_drivers)
                        break;
                if (d->waiting && d->tried != m->supply + 1)
                        place_driver(&r, d);
        }
        free(r.sorted);
}

void master_schedule(struct master *m, int64_t now)
{
        m->now = now;
        if (m->status != MASTER_ALIVE || !m->dirty)
                return;
        m->dirty = false;
        m->event++;
        place_drivers(m);

        struct placement pl = {.m = m};

        for (struct master_app *app = m->apps.first; app; app = app->next) {
                pl.app = app;
                if (app->lost) /* it is not connected */
                        continue;
                for (size_t i = 0; i < app->profiles.len; i++) {
                        struct app_profile *p = pl.profile = app->profiles.data[i];

                        if (!wants_more(app, p)) {
                                p->starved = false;
                                master_check_fit(m, app, p);
                        } else if (!p->starved || p->tried != m->supply) {
                                place_executors(&pl);
                        }
                }
        }
        vec_deinit(&pl.choices);
        vec_deinit(&pl.some);
}
