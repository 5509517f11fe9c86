/*
 * to_debug_string: an RDD and what it is computed from, in Spark's form. What follows in the same stage stands below at
 * the same depth; what is behind a shuffle is set in, beginning with "+-(partitions)".
 *
 * What several RDDs are computed from is described below each of them, so that lineage which doubles from round to
 * round would have more lines than there is memory. Spark prints them; here an RDD that stands in the first FULL lines,
 * or behind them, has only its own line when it comes again behind them.
 */
#include "driver/context.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "driver/actions/actions.h"
#include "rdd/rdd_checkpoint.h"
#include "rdd/rdd_class.h"
#include "rdd/rdd_registry.h"
#include "store/storage_level.h"

#define FULL 10000

/* An RDD that is to be described, with what stands before its lines. */
struct entry {
        fst_rdd *rdd;
        char *prefix; /* owned */
        bool shuffled, last;
};

/* What was described so far. */
struct told {
        struct buf out;
        size_t lines;
        bool *known; /* by id */
        int ids;     /* RDDs that were made meanwhile have greater ones */
};

static void describe(struct buf *out, fst_rdd *rdd, const char *first)
{
        const char *name = __atomic_load_n(&rdd->name, __ATOMIC_ACQUIRE);
        int number = __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        const struct storage_level *level = &storage_levels[number];
        buf_printf(out, "%s%s%s%s%s[%d] at %s [", out->len ? "\n" : "", first, name ? name : "", name ? " " : "",
                   rdd->class->spark, rdd->lineage.id, rdd->call_site);
        if (number != FST_STORAGE_NONE)
                buf_printf(out, "%s%s%s %dx Replicated", level->disk ? "Disk " : "",
                           !level->memory    ? ""
                           : level->off_heap ? "Memory (off heap) "
                                             : "Memory ",
                           level->deserialized ? "Deserialized" : "Serialized", level->replicas);
        buf_putc(out, ']');
}

/* What stands before the lines below one that begins with @before and the number of partitions in parentheses. */
static char *below(const char *before, const char *count)
{
        int width = (int)strlen(count), left = (width - 1) / 2;
        return mem_printf("%s%*s|%*s", before, left, "", width - left, "");
}

/* @prefix without the last bar and the spaces behind it. */
static char *without_bar(const char *prefix)
{
        size_t len = strlen(prefix), spaces = len;
        while (spaces > 0 && prefix[spaces - 1] == ' ')
                spaces--;
        bool bar = spaces > 0 && spaces < len && prefix[spaces - 1] == '|';
        return mem_printf("%.*s", (int)(bar ? spaces - 1 : len), prefix);
}

typedef VEC(struct entry) entries;

/* What @rdd is computed from, the first on top, unless that was said and much else. @prefix stands before it. */
static void push_parents(struct told *told, entries *stack, fst_rdd *rdd, const char *prefix)
{
        bool *known = rdd->lineage.id < told->ids ? &told->known[rdd->lineage.id] : NULL;
        if (++told->lines > FULL && known && *known)
                return;
        if (known)
                *known = true;
        fst_rdd *source = __atomic_load_n(&rdd->checkpoint.source, __ATOMIC_ACQUIRE);
        int n = source ? 1 : rdd->n_parents;
        for (int i = n; i-- > 0;)
                vec_push(stack, (struct entry){.rdd = source ? source : rdd->parents[i],
                                               .prefix = mem_strdup(prefix),
                                               .shuffled = !source && rdd->op == RDD_SHUFFLED,
                                               .last = i == n - 1});
}

static void describe_shuffled(struct told *told, entries *stack, const struct entry *e)
{
        _cleanup_free_ char *here = without_bar(e->prefix), *count = mem_printf("(%d)", e->rdd->lineage.partitions);
        _cleanup_free_ char *first = mem_printf("%s+-%s ", here, count);
        _cleanup_free_ char *indented = mem_printf("%s%s", here, e->last ? "  " : "| ");
        _cleanup_free_ char *next = below(indented, count);
        describe(&told->out, e->rdd, first);
        push_parents(told, stack, e->rdd, next);
}

FST_API const char *fst_to_debug_string(fst_rdd *rdd)
{
        if (rdd_missing(rdd, "to_debug_string"))
                return rdd ? "to_debug_string was given an RDD that does not exist"
                           : "to_debug_string was given NULL where an RDD is wanted";
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct told told = {.out = BUF_INIT, .ids = rdd_registry_next_id(rdd->sc)};
        entries stack = {0};
        if (rdd_plan(rdd))
                return action_keep_bytes(rdd->sc, fst_bytes_of(error_message(&rdd->error))).data;
        _cleanup_free_ char *count = mem_printf("(%d)", rdd->lineage.partitions);
        _cleanup_free_ char *first = mem_printf("%s ", count), *next = below("", count);
        told.known = new_array(bool, (size_t)told.ids);
        describe(&told.out, rdd, first);
        push_parents(&told, &stack, rdd, next);
        while (stack.len > 0) {
                struct entry e = stack.data[--stack.len];
                if (e.shuffled) {
                        describe_shuffled(&told, &stack, &e);
                } else {
                        describe(&told.out, e.rdd, e.prefix);
                        push_parents(&told, &stack, e.rdd, e.prefix);
                }
                free(e.prefix);
        }
        vec_deinit(&stack);
        const char *text = action_keep_bytes(rdd->sc, (fst_bytes){buf_text(&told.out), told.out.len}).data;
        buf_deinit(&told.out);
        free(told.known);
        return text;
}
