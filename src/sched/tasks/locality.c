/*
 * Spark's PendingTasksByLocality and the locality half of its TaskSetManager.
 *
 * Invariants: levels ends with ANY. current is an index of levels. A pending task is in the list of each of its
 * preferred locations, or in no_pref.
 */
#include "sched/tasks/locality.h"

#include "sched/tasks/task_set.h"

enum { MAX_PLACES = 16 }; /* of one task, enough for every level */

/* ------------------------------------------------------------------------------------------------------- lists */

static size_t list_slot(const struct list_map *m, int32_t key)
{
        size_t i = ((uint32_t)key * 2654435761u) & (m->n_slots - 1);

        while (m->slots[i] && m->lists[m->slots[i] - 1].key != key)
                i = (i + 1) & (m->n_slots - 1);
        return i;
}

static struct place_list *list_find(const struct list_map *m, int32_t key)
{
        int32_t at = m->n_slots ? m->slots[list_slot(m, key)] : 0;

        return at ? &m->lists[at - 1] : NULL;
}

static void list_push(struct list_map *m, int32_t key, int32_t index)
{
        struct place_list *list;

        if (2 * (m->n + 1) > m->n_slots) {
                m->n_slots = m->n_slots ? 2 * m->n_slots : 16;
                free(m->slots);
                m->slots = new_array(int32_t, m->n_slots);
                for (size_t i = 0; i < m->n; i++)
                        m->slots[list_slot(m, m->lists[i].key)] = (int32_t)i + 1;
        }
        size_t slot = list_slot(m, key);

        if (!m->slots[slot]) {
                if (m->n == m->cap) {
                        m->cap = m->cap ? 2 * m->cap : 16;
                        m->lists = mem_grow(m->lists, m->cap * sizeof(*m->lists));
                }
                m->lists[m->n++] = (struct place_list){.key = key};
                m->slots[slot] = (int32_t)m->n;
        }
        list = &m->lists[m->slots[slot] - 1];
        if (list->tasks.len > 0 && list->tasks.data[list->tasks.len - 1] == index)
                return;
        vec_push(&list->tasks, index);
        if (!list->listed)
                vec_push(&m->filled, m->slots[slot] - 1);
        list->listed = true;
}

/* Forgets missing locations, which may exist again. */
static void list_again(struct list_map *m)
{
        for (size_t i = 0; i < m->n; i++) {
                if (m->lists[i].tasks.len == 0 || m->lists[i].listed)
                        continue;
                m->lists[i].listed = true;
                vec_push(&m->filled, (int32_t)i);
        }
}

static void list_map_deinit(struct list_map *m)
{
        for (size_t i = 0; i < m->n; i++)
                vec_deinit(&m->lists[i].tasks);
        free(m->lists);
        free(m->slots);
        vec_deinit(&m->filled);
}

/* Returns whether the list has a pending task on top. Drops others from the top. */
static bool list_waits(index_list *list, const struct task_set *set)
{
        while (list->len > 0 && !task_set_waits(set, list->data[list->len - 1]))
                list->len--;
        return list->len > 0;
}

/* Returns whether an executor exists for the tasks of list @key of this level. */
static bool has_place(const struct executors *x, enum task_locality level, int32_t key)
{
        return level == LOCALITY_PROCESS_LOCAL ? executors_usable(x, key)
               : level == LOCALITY_NODE_LOCAL  ? x->hosts.data[key].n_alive > 0
                                               : x->alive_on_rack.data[key] > 0;
}

/*
 * Returns whether some task can still run at this level. Departure: Spark also waits for tasks whose executor is lost,
 * as long as some other task of the set prefers a live executor, so each lost cached partition costs
 * spark.locality.wait.
 */
static bool map_waits(struct list_map *m, const struct task_set *set, const struct executors *x,
                      enum task_locality level)
{
        while (m->filled.len > 0) {
                struct place_list *list = &m->lists[m->filled.data[m->filled.len - 1]];

                if (has_place(x, level, list->key) && list_waits(&list->tasks, set))
                        return true;
                list->listed = false;
                m->filled.len--;
        }
        return false;
}

/* ------------------------------------------------------------------------------------------------ life, levels */

void locality_add(struct locality *l, const struct executors *x, int32_t index)
{
        int32_t first = l->first[index], end = l->first[index + 1];

        if (first == end)
                vec_push(&l->no_pref, index);
        for (int32_t i = first; i < end; i++) {
                const struct place *place = &l->places.data[i];
                int rack = x->hosts.data[place->host].rack;

                if (place->executor >= 0)
                        list_push(&l->on_executor, place->executor, index);
                list_push(&l->on_host, place->host, index);
                if (rack >= 0)
                        list_push(&l->on_rack, rack, index);
        }
}

static bool any_alive(const struct list_map *m, const struct executors *x, enum task_locality level)
{
        for (size_t i = 0; i < m->n; i++)
                if (has_place(x, level, m->lists[i].key))
                        return true;
        return false;
}

static void compute_levels(struct locality *l, const struct executors *x)
{
        l->n_levels = 0;
        l->membership = x->membership;
        if (any_alive(&l->on_executor, x, LOCALITY_PROCESS_LOCAL))
                l->levels[l->n_levels++] = LOCALITY_PROCESS_LOCAL;
        if (any_alive(&l->on_host, x, LOCALITY_NODE_LOCAL))
                l->levels[l->n_levels++] = LOCALITY_NODE_LOCAL;
        if (l->no_pref.len > 0)
                l->levels[l->n_levels++] = LOCALITY_NO_PREF;
        if (any_alive(&l->on_rack, x, LOCALITY_RACK_LOCAL))
                l->levels[l->n_levels++] = LOCALITY_RACK_LOCAL;
        l->levels[l->n_levels++] = LOCALITY_ANY;
}

static int level_index(const struct locality *l, enum task_locality level)
{
        int i = 0;

        while (l->levels[i] < level)
                i++;
        return i;
}

void locality_refresh(struct locality *l, const struct executors *x)
{
        enum task_locality before[LOCALITY_LEVELS], level;
        int n_before = l->n_levels, index = l->current;

        if (l->membership == x->membership)
                return;
        memcpy(before, l->levels, sizeof(before));
        level = l->levels[l->current];
        compute_levels(l, x);
        list_again(&l->on_executor);
        list_again(&l->on_host);
        list_again(&l->on_rack);
        l->current = level_index(l, level);
        if (l->current <= index)
                return;
        /* a nearer level has appeared: begin at the nearest one that is new (SPARK-31837) */
        for (int i = 0; i < l->n_levels; i++) {
                bool known = false;

                for (int k = 0; k < n_before; k++)
                        known |= before[k] == l->levels[i];
                if (!known) {
                        l->current = i;
                        return;
                }
        }
}

struct locality *locality_new(struct task_set *set, struct executors *x, const struct sched_ops *ops, void *ops_owner,
                              locate_fn *locate, void *owner, int64_t now)
{
        struct locality *l = new0(struct locality);
        struct task_location found[MAX_PLACES];

        l->first = new_array(int32_t, (size_t)set->n + 1);
        for (int i = 0; i < set->n; i++) {
                int n = locate(owner, set, i, found, MAX_PLACES);

                for (int k = 0; k < n; k++) {
                        struct place place = {.executor = -1, .host = -1};

                        if (executors_known(x, found[k].executor))
                                place = (struct place){found[k].executor, executors_at(x, found[k].executor)->host};
                        else if (found[k].host)
                                place.host = executors_host_index(x, found[k].host, ops->rack, ops_owner);
                        if (place.host >= 0)
                                vec_push(&l->places, place);
                }
                l->first[i + 1] = (int32_t)l->places.len;
        }
        if (l->places.len == 0) {
                locality_free(l);
                return NULL;
        }
        for (int i = set->n; i-- > 0;)
                locality_add(l, x, i);
        compute_levels(l, x);
        l->last_reset = now;
        return l;
}

void locality_free(struct locality *l)
{
        if (!l)
                return;
        free(l->first);
        vec_deinit(&l->places);
        list_map_deinit(&l->on_executor);
        list_map_deinit(&l->on_host);
        list_map_deinit(&l->on_rack);
        vec_deinit(&l->no_pref);
        free(l);
}

/* ------------------------------------------------------------------------------------------- delay scheduling */

static int64_t wait_at(const struct locality *l, const struct locality_config *config)
{
        switch (l->levels[l->current]) {
        case LOCALITY_PROCESS_LOCAL:
                return config->wait_process;
        case LOCALITY_NODE_LOCAL:
                return config->wait_node;
        case LOCALITY_RACK_LOCAL:
                return config->wait_rack;
        default:
                return 0;
        }
}

static bool more_at(struct locality *l, const struct task_set *set, const struct executors *x)
{
        switch (l->levels[l->current]) {
        case LOCALITY_PROCESS_LOCAL:
                return map_waits(&l->on_executor, set, x, l->levels[l->current]);
        case LOCALITY_NODE_LOCAL:
                return map_waits(&l->on_host, set, x, l->levels[l->current]);
        case LOCALITY_NO_PREF:
                return list_waits(&l->no_pref, set);
        case LOCALITY_RACK_LOCAL:
                return map_waits(&l->on_rack, set, x, l->levels[l->current]);
        default:
                return true;
        }
}

enum task_locality locality_allowed(struct locality *l, const struct task_set *set, const struct executors *x,
                                    const struct locality_config *config, int64_t now)
{
        while (l->current < l->n_levels - 1) {
                int64_t wait = wait_at(l, config);

                if (!more_at(l, set, x))
                        l->last_reset = now;
                else if (now - l->last_reset >= wait)
                        l->last_reset += wait;
                else
                        break;
                l->current++;
        }
        return l->levels[l->current];
}

void locality_reset(struct locality *l, enum task_locality level, int64_t now)
{
        l->last_reset = now;
        l->current = level_index(l, level);
}

int64_t locality_deadline(const struct locality *l, const struct locality_config *config)
{
        return l->current == l->n_levels - 1 ? INT64_MAX : l->last_reset + wait_at(l, config);
}

index_list *locality_list(struct locality *l, const struct executors *x, enum task_locality level, int executor)
{
        const struct sched_executor *e = &x->at.data[executor];
        struct place_list *list = NULL;

        if (level == LOCALITY_NO_PREF)
                return &l->no_pref;
        if (level == LOCALITY_PROCESS_LOCAL)
                list = list_find(&l->on_executor, executor);
        else if (level == LOCALITY_NODE_LOCAL)
                list = list_find(&l->on_host, e->host);
        else if (x->hosts.data[e->host].rack >= 0)
                list = list_find(&l->on_rack, x->hosts.data[e->host].rack);
        return list ? &list->tasks : NULL;
}

enum task_locality locality_of(const struct locality *l, const struct executors *x, int32_t index, int executor)
{
        const struct sched_executor *e = &x->at.data[executor];
        enum task_locality best = LOCALITY_ANY;
        int rack = x->hosts.data[e->host].rack;

        if (!l || l->first[index] == l->first[index + 1])
                return LOCALITY_NO_PREF;
        for (int32_t i = l->first[index]; i < l->first[index + 1]; i++) {
                const struct place *place = &l->places.data[i];

                if (place->executor == executor)
                        return LOCALITY_PROCESS_LOCAL;
                if (place->host == e->host)
                        best = LOCALITY_NODE_LOCAL;
                else if (rack >= 0 && x->hosts.data[place->host].rack == rack)
                        best = best == LOCALITY_NODE_LOCAL ? best : LOCALITY_RACK_LOCAL;
        }
        return best;
}
