/*
 * fst_to_debug_string: an RDD and its ancestors, in Spark's form. Ancestors in the same stage are printed at the same
 * depth. Ancestors behind a shuffle are indented, beginning with "+-(partitions)".
 *
 * Spark prints a shared ancestor below each of its children, so that lineage which doubles in each round needs more
 * lines than memory holds. Differs from Spark: after the first MAX_FULL_LINES lines, an RDD that was already printed
 * gets its own line only.
 */
#include "driver/context.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/vec.h"
#include "conf/units.h"
#include "driver/actions/actions.h"
#include "rdd/rdd_class.h"
#include "rdd/rdd_registry.h"
#include "store/storage_level.h"

#define MAX_FULL_LINES 10000

/* An RDD to print, with the prefix of its lines. */
struct debug_node {
        fst_rdd *rdd;
        char *prefix; /* owned */
        bool shuffled, last;
};

/* The output so far. */
struct debug_output {
        struct buf text;
        const fst_rdd *asked; /* its description */
        size_t lines;
        bool *known; /* printed; by id */
        int ids;     /* RDDs made later have greater ids */
};

/* "Memory Serialized 1x Replicated"; "" for an RDD that is not persisted. */
static void debug_string_put_level(struct buf *out, const fst_rdd *rdd)
{
        int number = __atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED);
        const struct storage_level *level = &storage_levels[number];
        if (number != FST_STORAGE_NONE)
                buf_printf(out, "%s%s%s %dx Replicated", level->disk ? "Disk " : "",
                           !level->memory    ? ""
                           : level->off_heap ? "Memory (off heap) "
                                             : "Memory ",
                           level->deserialized ? "Deserialized" : "Serialized", level->replicas);
}

/*
 * The line of @rdd begins with @first. If partitions are cached, a second one, which begins with @second, tells how
 * many. As in Spark, each line has the storage level of the RDD whose description was asked for.
 */
static void debug_string_print_line(struct debug_output *output, const fst_rdd *rdd, const char *first,
                                    const char *second)
{
        struct buf *out = &output->text;
        struct fst_storage_info storage = {0};
        const char *name = __atomic_load_n(&rdd->name, __ATOMIC_ACQUIRE);
        buf_printf(out, "%s%s%s%s%s[%d] at %s [", out->len ? "\n" : "", first, name ? name : "", name ? " " : "",
                   rdd_spark_class(rdd), rdd->lineage.id, rdd->call_site);
        debug_string_put_level(out, output->asked);
        buf_putc(out, ']');
        if (!__atomic_load_n(&rdd->lineage.storage_level, __ATOMIC_RELAXED) ||
            fst_get_storage_info(rdd, &storage) < 0 || storage.cached_partitions == 0)
                return;
        buf_printf(out, "\n%s    CachedPartitions: %d; MemorySize: ", second, storage.cached_partitions);
        units_put_bytes(out, storage.memory_bytes);
        buf_puts(out, "; DiskSize: ");
        units_put_bytes(out, storage.disk_bytes);
}

/* The prefix of the lines below a line that begins with @before and the number of partitions in parentheses. */
static char *debug_string_child_prefix(const char *before, const char *count)
{
        int width = (int)strlen(count), left = (width - 1) / 2;
        return mem_printf("%s%*s|%*s", before, left, "", width - left, "");
}

/* @prefix without its last bar and the spaces behind it. */
static char *debug_string_without_bar(const char *prefix)
{
        size_t len = strlen(prefix), spaces = len;
        while (spaces > 0 && prefix[spaces - 1] == ' ')
                spaces--;
        bool bar = spaces > 0 && spaces < len && prefix[spaces - 1] == '|';
        return mem_printf("%.*s", (int)(bar ? spaces - 1 : len), prefix);
}

typedef VEC(struct debug_node) debug_stack;

/*
 * Push the parents of @rdd, the first on top, unless they were printed and the output is long. @prefix begins their
 * lines.
 */
static void debug_string_push_parents(struct debug_output *output, debug_stack *stack, fst_rdd *rdd, const char *prefix)
{
        bool *known = rdd->lineage.id < output->ids ? &output->known[rdd->lineage.id] : NULL;
        if (++output->lines > MAX_FULL_LINES && known && *known)
                return;
        if (known)
                *known = true;
        fst_rdd *source = __atomic_load_n(&rdd->checkpoint.source, __ATOMIC_ACQUIRE);
        if (!source && rdd->n_parents == 1 && rdd->parents[0]->hidden)
                rdd = rdd->parents[0];
        int n = source ? 1 : rdd->n_parents;
        for (int i = n; i-- > 0;)
                vec_push(stack, (struct debug_node){.rdd = source ? source : rdd->parents[i],
                                                    .prefix = mem_strdup(prefix),
                                                    .shuffled = !source && rdd->op == RDD_SHUFFLED,
                                                    .last = i == n - 1});
}

static void debug_string_print_shuffled(struct debug_output *output, debug_stack *stack, const struct debug_node *e)
{
        _cleanup_free_ char *here = debug_string_without_bar(e->prefix),
                            *count = mem_printf("(%d)", e->rdd->lineage.partitions);
        _cleanup_free_ char *first = mem_printf("%s+-%s ", here, count);
        _cleanup_free_ char *indented = mem_printf("%s%s", here, e->last ? "  " : "| ");
        _cleanup_free_ char *next = debug_string_child_prefix(indented, count);
        debug_string_print_line(output, e->rdd, first, next);
        debug_string_push_parents(output, stack, e->rdd, next);
}

FST_API const char *fst_to_debug_string(fst_rdd *rdd)
{
        if (rdd_missing(rdd, "to_debug_string"))
                return rdd ? "to_debug_string was given an RDD that does not exist"
                           : "to_debug_string was given NULL instead of an RDD";
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct debug_output output = {.text = BUF_INIT, .asked = rdd, .ids = rdd_registry_next_id(rdd->sc)};
        debug_stack stack = {0};
        if (rdd_plan(rdd))
                return action_keep_bytes(rdd->sc, fst_bytes_of(error_message(&rdd->error))).data;
        _cleanup_free_ char *count = mem_printf("(%d)", rdd->lineage.partitions);
        _cleanup_free_ char *first = mem_printf("%s ", count), *next = debug_string_child_prefix("", count);
        output.known = new_array(bool, (size_t)output.ids);
        _cleanup_free_ char *second = mem_printf("%s ", next);
        debug_string_print_line(&output, rdd, first, second);
        debug_string_push_parents(&output, &stack, rdd, next);
        while (stack.len > 0) {
                struct debug_node e = stack.data[--stack.len];
                if (e.shuffled) {
                        debug_string_print_shuffled(&output, &stack, &e);
                } else {
                        debug_string_print_line(&output, e.rdd, e.prefix, e.prefix);
                        debug_string_push_parents(&output, &stack, e.rdd, e.prefix);
                }
                free(e.prefix);
        }
        vec_deinit(&stack);
        const char *text = action_keep_bytes(rdd->sc, (fst_bytes){buf_text(&output.text), output.text.len}).data;
        buf_deinit(&output.text);
        free(output.known);
        return text;
}
