/*
 * See rdd_visit.h. Most lineages are chains: these are followed from the end and reversed. If an RDD has several
 * parents, a depth-first search with its own stack (lineages of iterative programs are deep) and a hash table of
 * visited RDDs lists each after its parents.
 */
#include "rdd/rdd_visit.h"

#include "base/mem.h"
#include "base/vec.h"

/* The checkpoint that replaces the parents, or NULL. */
static fst_rdd *rdd_checkpoint_source(const fst_rdd *rdd)
{
        return __atomic_load_n(&rdd->checkpoint.source, __ATOMIC_ACQUIRE);
}

static int rdd_visit_parent_count(const fst_rdd *rdd, fst_rdd *source, enum rdd_visit_extent extent)
{
        if (source)
                return 1;
        if (extent == RDD_VISIT_ALL)
                return rdd->n_parents;
        return rdd->op == RDD_SHUFFLED ? 0 : rdd_task_parents(rdd);
}

fst_rdd *const *rdd_visit_parents(const struct rdd_visit *walk, uint32_t i, int *n)
{
        *n = rdd_visit_parent_count(walk->rdds[i], walk->sources[i], walk->extent);
        return walk->sources[i] ? &walk->sources[i] : walk->rdds[i]->parents;
}

static void rdd_visit_push(struct rdd_visit *walk, fst_rdd *rdd, fst_rdd *source)
{
        if (walk->n == walk->cap) {
                walk->cap = walk->cap ? walk->cap * 2 : 8;
                walk->rdds = mem_grow(walk->rdds, walk->cap * sizeof(*walk->rdds));
                walk->sources = mem_grow(walk->sources, walk->cap * sizeof(*walk->sources));
        }
        walk->sources[walk->n] = source;
        walk->rdds[walk->n++] = rdd;
}

/* ------------------------------------------------------------------------------------------- the table */

/* The slot of @rdd in the table: occupied by it, or the free one for it. */
static uint32_t *rdd_visit_slot(const struct rdd_visit *walk, const fst_rdd *rdd)
{
        uint64_t hash = (uint64_t)(uintptr_t)rdd * 0x9e3779b97f4a7c15u;
        uint32_t at = (uint32_t)(hash >> 32) & (walk->n_slots - 1);
        while (walk->slots[at] && walk->rdds[walk->slots[at] - 1] != rdd)
                at = (at + 1) & (walk->n_slots - 1);
        return &walk->slots[at];
}

static void rdd_visit_list(struct rdd_visit *walk, fst_rdd *rdd, fst_rdd *source)
{
        rdd_visit_push(walk, rdd, source);
        if (walk->n * 2 > walk->n_slots) {
                free(walk->slots);
                walk->n_slots = walk->n_slots ? walk->n_slots * 2 : 16;
                walk->slots = new_array(uint32_t, walk->n_slots);
                for (uint32_t i = 0; i + 1 < walk->n; i++)
                        *rdd_visit_slot(walk, walk->rdds[i]) = i + 1;
        }
        *rdd_visit_slot(walk, rdd) = walk->n;
}

static bool rdd_visit_has(const struct rdd_visit *walk, const fst_rdd *rdd)
{
        return walk->n_slots && *rdd_visit_slot(walk, rdd);
}

uint32_t rdd_visit_index(const struct rdd_visit *walk, const fst_rdd *rdd)
{
        if (walk->slots)
                return *rdd_visit_slot(walk, rdd) - 1;
        for (uint32_t i = 0;; i++)
                if (walk->rdds[i] == rdd)
                        return i;
}

/* ------------------------------------------------------------------------------------------- walking */

static void rdd_visit_reverse(fst_rdd **rdds, uint32_t n)
{
        for (uint32_t i = 0, j = n - 1; i < j; i++, j--) {
                fst_rdd *rdd = rdds[i];
                rdds[i] = rdds[j];
                rdds[j] = rdd;
        }
}

static bool rdd_visit_chain(struct rdd_visit *walk, fst_rdd *final)
{
        for (fst_rdd *rdd = final, *source;; rdd = source ? source : rdd->parents[0]) {
                source = rdd_checkpoint_source(rdd);
                int parents = rdd_visit_parent_count(rdd, source, walk->extent);
                if (parents > 1)
                        return false;
                rdd_visit_push(walk, rdd, source);
                if (parents == 0)
                        break;
        }
        rdd_visit_reverse(walk->rdds, walk->n);
        rdd_visit_reverse(walk->sources, walk->n);
        return true;
}

static void rdd_visit_graph(struct rdd_visit *walk, fst_rdd *final)
{
        struct visit_frame {
                fst_rdd *rdd, *source;
                int next; /* the next parent to visit */
        };
        VEC(struct visit_frame) stack = {0};
        vec_push(&stack, (struct visit_frame){final, rdd_checkpoint_source(final), 0});
        while (stack.len > 0) {
                struct visit_frame *top = &stack.data[stack.len - 1];
                if (top->next == rdd_visit_parent_count(top->rdd, top->source, walk->extent)) {
                        if (!rdd_visit_has(walk, top->rdd))
                                rdd_visit_list(walk, top->rdd, top->source);
                        stack.len--;
                        continue;
                }
                fst_rdd *parent = top->source ? top->source : top->rdd->parents[top->next];
                top->next++;
                if (!rdd_visit_has(walk, parent))
                        vec_push(&stack, (struct visit_frame){parent, rdd_checkpoint_source(parent), 0});
        }
        vec_deinit(&stack);
}

void rdd_visit_init(struct rdd_visit *walk, fst_rdd *final, enum rdd_visit_extent extent)
{
        *walk = (struct rdd_visit){.extent = extent};
        if (rdd_visit_chain(walk, final))
                return;
        walk->n = 0;
        rdd_visit_graph(walk, final);
}

void rdd_visit_deinit(struct rdd_visit *walk)
{
        free(walk->rdds);
        free(walk->sources);
        free(walk->slots);
        *walk = (struct rdd_visit){0};
}
