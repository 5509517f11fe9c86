/* The persisted RDDs, and the blocks of one; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"

enum { RDD_ID, RDD_NAME, RDD_LEVEL, RDD_CACHED, RDD_FRACTION, RDD_MEMORY, RDD_DISK, RDD_COLUMNS };

static int rdd_fraction(const struct status_rdd *rdd)
{
        return rdd->partitions > 0 ? (int)(rdd->cached.len * 100 / (size_t)rdd->partitions) : 0;
}

static struct page_key rdd_key(const struct status_rdd *rdd, size_t column)
{
        struct page_key key = {.number = rdd->id, .row = rdd};
        switch (column) {
        case RDD_NAME:
                key.text = rdd->name;
                break;
        case RDD_LEVEL:
                key.text = rdd->level;
                break;
        case RDD_CACHED:
                key.number = (int64_t)rdd->cached.len;
                break;
        case RDD_FRACTION:
                key.number = rdd_fraction(rdd);
                break;
        case RDD_MEMORY:
                key.number = rdd->memory_used;
                break;
        case RDD_DISK:
                key.number = rdd->disk_used;
                break;
        default:
                break;
        }
        return key;
}

void page_serve_storage(struct ui_page *p)
{
        static const struct page_column columns[RDD_COLUMNS] = {
                [RDD_ID] = {"ID", true},
                [RDD_NAME] = {"RDD Name"},
                [RDD_LEVEL] = {"Storage Level"},
                [RDD_CACHED] = {"Cached Partitions", true},
                [RDD_FRACTION] = {"Fraction Cached", true},
                [RDD_MEMORY] = {"Size in Memory", true},
                [RDD_DISK] = {"Size on Disk", true},
        };
        struct page_table t;
        size_t n = 0, at = 0;
        for (size_t i = 0; i < p->s->rdds.len; i++)
                n += p->s->rdds.data[i]->cached.len > 0;
        page_begin(p, TAB_STORAGE, "Storage");
        if (!n) {
                buf_puts(p->b, "<p class=\"nothing\">No RDD is stored now. An event log lists blocks only if "
                               "spark.eventLog.logBlockUpdates.enabled was set.</p>\n");
                page_end(p);
                return;
        }
        if (!page_table_init(p, &t, "rdd", columns, RDD_COLUMNS, RDD_ID, false, n))
                return;
        struct page_key *keys = new_array(struct page_key, n);
        for (size_t i = 0; i < p->s->rdds.len; i++)
                if (p->s->rdds.data[i]->cached.len > 0)
                        keys[at++] = rdd_key(p->s->rdds.data[i], t.sort);
        page_table_sort(&t, keys);
        page_begin_section(p, "rdd", "RDDs", true);
        page_table_begin(p, &t);
        for (size_t i = t.from; i < t.end; i++) {
                const struct status_rdd *rdd = keys[i].row;
                html_put(p->b,
                         "<tr><td class=n>%d<td class=text><a href=\"%s/storage/rdd/?id=%d\">%s</a>"
                         "<td>%s",
                         rdd->id, p->q->base, rdd->id, rdd->name, rdd->level);
                html_put(p->b, "<td class=n>%D<td class=n>%d&nbsp;%%", (int64_t)rdd->cached.len, rdd_fraction(rdd));
                page_put_bytes_cell(p, rdd->memory_used);
                page_put_bytes_cell(p, rdd->disk_used);
                buf_puts(p->b, "\n");
        }
        page_table_end(p);
        page_end_section(p);
        free(keys);
        page_end(p);
}

/* --------------------------------------------------------------------------------------------------------- RDD */

static void rdd_put_distributions(struct ui_page *p, const struct status_rdd *rdd)
{
        size_t n = rdd->distributions.len;
        html_table_begin(p->b, "distribution", "Data Distribution on Executors",
                         "Executor|Host|#On Heap Memory|#Off Heap Memory|#Disk", n, "No executor holds a block.");
        for (size_t i = 0; i < n; i++) {
                const struct status_distribution *d = &rdd->distributions.data[i];
                const struct executor_ref *ref = &p->s->executor_names.data[d->executor];
                html_put(p->b, "<tr><td>%s<td>%s", ref->id, ref->host);
                page_put_bytes_cell(p, d->on_heap_used);
                page_put_bytes_cell(p, d->off_heap_used);
                page_put_bytes_cell(p, d->disk_used);
                buf_puts(p->b, "\n");
        }
        html_table_end(p->b, n);
}

enum { BLOCK_NAME, BLOCK_LEVEL, BLOCK_MEMORY, BLOCK_DISK, BLOCK_EXECUTORS, BLOCK_COLUMNS };

static bool rdd_put_blocks(struct ui_page *p, const struct status_rdd *rdd)
{
        static const struct page_column columns[BLOCK_COLUMNS] = {
                [BLOCK_NAME] = {"Block Name"},
                [BLOCK_LEVEL] = {"Storage Level"},
                [BLOCK_MEMORY] = {"Size in Memory", true},
                [BLOCK_DISK] = {"Size on Disk", true},
                [BLOCK_EXECUTORS] = {"Executors", false, true},
        };
        struct page_table t;
        size_t n = rdd->cached.len;
        if (!page_table_init(p, &t, "block", columns, BLOCK_COLUMNS, BLOCK_NAME, false, n))
                return false;
        struct page_key *keys = new_array(struct page_key, n);
        for (size_t i = 0; i < n; i++) {
                const struct status_partition *part = &rdd->cached.data[i];
                keys[i] = (struct page_key){.number = t.sort == BLOCK_MEMORY ? part->memory_used
                                                      : t.sort == BLOCK_DISK ? part->disk_used
                                                                             : part->index,
                                            .text = t.sort == BLOCK_LEVEL ? part->level : NULL,
                                            .row = part};
        }
        page_table_sort(&t, keys);
        _cleanup_free_ char *heading = mem_printf("Partitions (%zu)", n);
        page_begin_section(p, "block", heading, true);
        page_table_begin(p, &t);
        for (size_t i = t.from; i < t.end; i++) {
                const struct status_partition *part = keys[i].row;
                html_put(p->b, "<tr><td>%s<td>%s", part->block, part->level);
                page_put_bytes_cell(p, part->memory_used);
                page_put_bytes_cell(p, part->disk_used);
                buf_puts(p->b, "<td>");
                for (size_t k = 0; k < part->executors.len; k++)
                        html_put(p->b, "%s%s", k ? ", " : "", p->s->executor_names.data[part->executors.data[k]].id);
                buf_puts(p->b, "\n");
        }
        page_table_end(p);
        page_end_section(p);
        free(keys);
        return true;
}

void page_serve_rdd(struct ui_page *p)
{
        int id;
        if (!page_get_id(p, "id", &id))
                return;
        const struct status_rdd *rdd = status_find_rdd(p->s, id);
        if (!rdd) {
                page_fail(p, 404, "No information to display for RDD %d", id);
                return;
        }
        page_begin(p, TAB_STORAGE, "RDD Storage Info for %s", rdd->name);
        buf_puts(p->b, "<dl class=\"facts\">\n");
        html_put_fact(p->b, "Storage Level", "%s", rdd->level);
        html_put_fact(p->b, "Cached Partitions", "%D", (int64_t)rdd->cached.len);
        html_put_fact(p->b, "Total Partitions", "%d", rdd->partitions);
        buf_puts(p->b, "<dt>Memory Size</dt><dd>");
        page_put_bytes(p, rdd->memory_used);
        buf_puts(p->b, "</dd>\n<dt>Disk Size</dt><dd>");
        page_put_bytes(p, rdd->disk_used);
        buf_puts(p->b, "</dd>\n</dl>\n");
        rdd_put_distributions(p, rdd);
        if (rdd_put_blocks(p, rdd))
                page_end(p);
}
