/* Tests walks over chains, forks, diamonds and long lineages: each RDD once, parents first, within the extent. */
#include "rdd/rdd_visit.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define MANY 5000

struct rdd_graph {
        fst_rdd *rdds[MANY];
        int n;
};

static fst_rdd *node(struct rdd_graph *g, enum rdd_op op, fst_rdd *a, fst_rdd *b)
{
        fst_rdd *rdd = new0(fst_rdd);
        rdd->op = op;
        rdd->n_parents = (a != NULL) + (b != NULL);
        rdd->parents = new_array(fst_rdd *, 2);
        rdd->parents[0] = a;
        rdd->parents[1] = b;
        return g->rdds[g->n++] = rdd;
}

static void graph_free(struct rdd_graph *g)
{
        for (int i = 0; i < g->n; i++) {
                free(g->rdds[i]->parents);
                free(g->rdds[i]);
        }
}

/* Checks that the walk has @n RDDs, each once and after its parents, and finds each of them. */
static void check(fst_rdd *final, enum rdd_visit_extent extent, uint32_t n)
{
        struct rdd_visit walk;
        rdd_visit_init(&walk, final, extent);
        assert_int_equal(walk.n, n);
        assert_ptr_equal(walk.rdds[n - 1], final);
        for (uint32_t i = 0; i < n; i++) {
                assert_int_equal(rdd_visit_index(&walk, walk.rdds[i]), i);
                if (extent == RDD_VISIT_STAGE && walk.rdds[i]->op == RDD_SHUFFLED)
                        continue;
                for (int k = 0; k < walk.rdds[i]->n_parents; k++)
                        assert_true(rdd_visit_index(&walk, walk.rdds[i]->parents[k]) < i);
        }
        rdd_visit_deinit(&walk);
}

static void visits_chains_up_to_source_or_shuffle(void **state)
{
        struct rdd_graph g = {.n = 0};
        fst_rdd *source = node(&g, RDD_RANGE, NULL, NULL), *at = source;
        for (int i = 0; i < 10; i++)
                at = node(&g, i == 4 ? RDD_SHUFFLED : RDD_MAP, at, NULL);
        check(source, RDD_VISIT_ALL, 1);
        check(at, RDD_VISIT_ALL, 11);
        check(at, RDD_VISIT_STAGE, 6);
        graph_free(&g);
}

static void visits_shared_ancestors_once(void **state)
{
        struct rdd_graph g = {.n = 0};
        fst_rdd *source = node(&g, RDD_RANGE, NULL, NULL), *at = source;
        for (int i = 0; i < 60; i++) /* 2^60 paths */
                at = node(&g, RDD_MAP_VALUES, at, at);
        check(at, RDD_VISIT_ALL, 61);
        fst_rdd *shuffled = node(&g, RDD_SHUFFLED, at, NULL);
        fst_rdd *left = node(&g, RDD_MAP, shuffled, NULL), *right = node(&g, RDD_FILTER, shuffled, NULL);
        fst_rdd *both = node(&g, RDD_MAP_VALUES, left, right);
        check(both, RDD_VISIT_ALL, 65);
        check(both, RDD_VISIT_STAGE, 4);
        graph_free(&g);
}

static void visits_deep_lineages_without_recursion(void **state)
{
        struct rdd_graph g = {.n = 0};
        fst_rdd *source = node(&g, RDD_RANGE, NULL, NULL), *at = source;
        while (g.n < MANY)
                at = node(&g, RDD_MAP, at, g.n % 10 ? NULL : source);
        check(at, RDD_VISIT_ALL, MANY);
        graph_free(&g);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(visits_chains_up_to_source_or_shuffle),
                cmocka_unit_test(visits_shared_ancestors_once),
                cmocka_unit_test(visits_deep_lineages_without_recursion),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
