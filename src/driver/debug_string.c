/*
 * to_debug_string: an RDD and what it is computed from, in Spark's form. What follows in the same stage stands below at
 * the same depth; what is behind a shuffle is set in, beginning with "+-(partitions)".
 */
#include "driver/context.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "driver/actions.h"
#include "rdd/rdd_checkpoint.h"
#include "rdd/rdd_class.h"
#include "store/storage_level.h"

/* An RDD that is to be described, with what stands before its lines. */
struct entry {
        fst_rdd *rdd;
        char *prefix; /* owned */
        bool shuffled, last;
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

/* What @rdd is computed from, the first on top. @prefix stands before it. */
static void push_parents(entries *stack, fst_rdd *rdd, const char *prefix)
{
        fst_rdd *source = __atomic_load_n(&rdd->checkpoint.source, __ATOMIC_ACQUIRE);
        int n = source ? 1 : rdd->n_parents;
        for (int i = n; i-- > 0;)
                vec_push(stack, (struct entry){.rdd = source ? source : rdd->parents[i],
                                               .prefix = mem_strdup(prefix),
                                               .shuffled = !source && rdd->op == RDD_SHUFFLED,
                                               .last = i == n - 1});
}

static void describe_shuffled(struct buf *out, entries *stack, const struct entry *e)
{
        _cleanup_free_ char *here = without_bar(e->prefix), *count = mem_printf("(%d)", e->rdd->lineage.partitions);
        _cleanup_free_ char *first = mem_printf("%s+-%s ", here, count);
        _cleanup_free_ char *indented = mem_printf("%s%s", here, e->last ? "  " : "| ");
        _cleanup_free_ char *next = below(indented, count);
        describe(out, e->rdd, first);
        push_parents(stack, e->rdd, next);
}

FST_API const char *fst_to_debug_string(fst_rdd *rdd)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        _cleanup_(buf_deinit) struct buf out = BUF_INIT;
        entries stack = {0};
        if (rdd_plan(rdd))
                return action_keep_bytes(rdd->sc, fst_bytes_of(error_message(&rdd->error))).data;
        _cleanup_free_ char *count = mem_printf("(%d)", rdd->lineage.partitions);
        _cleanup_free_ char *first = mem_printf("%s ", count), *next = below("", count);
        describe(&out, rdd, first);
        push_parents(&stack, rdd, next);
        while (stack.len > 0) {
                struct entry e = stack.data[--stack.len];
                if (e.shuffled) {
                        describe_shuffled(&out, &stack, &e);
                } else {
                        describe(&out, e.rdd, e.prefix);
                        push_parents(&stack, e.rdd, e.prefix);
                }
                free(e.prefix);
        }
        vec_deinit(&stack);
        return action_keep_bytes(rdd->sc, (fst_bytes){buf_text(&out), out.len}).data;
}
