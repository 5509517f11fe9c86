/* See plan.h. */
#include "plan.h"

#include <inttypes.h>

const char *const operator_names[OPERATORS_N] = {
#define OPERATOR_TEXT(name, text) [name] = text,
        OPERATORS(OPERATOR_TEXT)};

const char *const action_names[ACTIONS_N] = {
#define ACTION_TEXT(name, text) [ACT_##name] = text,
        ACTIONS(ACTION_TEXT)};

bool node_reads_files(const struct node *n)
{
        switch (n->operator) {
        case TEXT_FILE:
        case BINARY_RECORDS:
        case OBJECT_FILE:
        case SAVED_TEXT:
        case WHOLE_TEXT_FILES:
        case BINARY_FILES:
                return true;
        default:
                return false;
        }
}

struct row plan_source_row(struct plan *p, const struct node *n, size_t i)
{
        static struct cell_room room;
        return row_keep(&p->arena, deed_row(&n->deed, i, 0, (struct cell){0}, &room));
}

static void print_deed(const struct deed *d, FILE *out)
{
        if (!d->number)
                return;
        fprintf(out, ", function %" PRIu64, d->number);
        if (d->keep_key)
                fprintf(out, " under its keys");
        if (d->in_order)
                fprintf(out, " in order");
        if (d->reads)
                fprintf(out, " of %u rows", d->reads);
        if (d->fail_one_in)
                fprintf(out,
                        d->fail_attempts == DEED_POISON ? " that fails for one in %u%s"
                                                        : " that fails at first for one in %u%s",
                        d->fail_one_in, d->fail_silently ? " without answering it" : "");
}

static void print_node(const struct plan *p, int i, FILE *out)
{
        static const char *const by[] = {"", ", by hash", ", by range", ", by function"};
        const struct node *n = &p->nodes[i];
        fprintf(out, "  %2d: %s", i, operator_names[n->operator]);
        for (int k = 0; k < n->n_parents; k++)
                fprintf(out, "%s %d", k ? " and" : " of", n->parents[k]);
        if (n->count)
                fprintf(out, ", %zu rows", n->count);
        if (n->n)
                fprintf(out, ", n = %d", n->n);
        if (n->descending)
                fprintf(out, ", descending");
        if (n->operator== SAMPLE || n->operator== RANDOM_SPLIT)
                fprintf(out, ", %g to %g, seed %" PRId64, n->fraction, n->upper, n->seed);
        if (n->variant)
                fprintf(out, ", variant %d", n->variant);
        if (n->codec)
                fprintf(out, ", codec %d", n->codec);
        print_deed(&n->deed, out);
        if (n->level)
                fprintf(out, ", persisted at level %d", (int)n->level);
        if (n->checkpoint)
                fprintf(out, n->checkpoint == CHECKPOINT ? ", checkpointed" : ", checkpointed locally");
        fprintf(out, " -> %s, %zu rows in %d partitions%s%s\n", type_text(n->type), n->table.rows, n->table.n,
                by[n->table.by.how], n->table.ordered ? "" : ", in any order");
}

void plan_print(const struct plan *p, FILE *out)
{
        for (int i = 0; i < p->n_nodes; i++)
                print_node(p, i, out);
        for (int i = 0; i < p->n_actions; i++) {
                const struct action *a = &p->actions[i];
                fprintf(out, "      %s of %d", action_names[a->act], a->node);
                if (a->n)
                        fprintf(out, ", n = %d", a->n);
                print_deed(&a->deed, out);
                fprintf(out, "%s%s\n", a->whole ? ", of partitions" : "", a->async ? ", without waiting" : "");
        }
}
