/* See gathered_pages.h. */
#include "celeborn/fetch/gathered_pages.h"

#include "base/list.h"
#include "base/mem.h"
#include "store/page.h"

#include <limits.h>
#include <stdlib.h>

/* Drops the pages from @from on. */
static void gathered_pages_cut(struct gathered_pages *g, size_t from)
{
        for (size_t i = from; i < g->pages.len; i++)
                page_free(&g->memory, g->pages.data[i].page);
        g->pages.len = MIN(g->pages.len, from);
}

/* Drops the pages of later maps. Called by the task's other consumers. */
static int gathered_pages_spill(struct memory_consumer *c, size_t want, struct fst_error *error)
{
        struct gathered_pages *g = container_of(c, struct gathered_pages, memory);
        (void)want;
        (void)error;
        if (g->map < 0)
                return 0;
        size_t from = g->at;
        while (from < g->pages.len && g->pages.data[from].map == g->map)
                from++;
        if (from < g->pages.len)
                g->complete = MIN(g->complete, g->map);
        gathered_pages_cut(g, from);
        return 0;
}

void gathered_pages_init(struct gathered_pages *g, struct memory_task *task)
{
        *g = (struct gathered_pages){.map = -1, .complete = INT_MAX};
        memory_consumer_init(&g->memory, task, "shuffle read by map", gathered_pages_spill);
}

void gathered_pages_clear(struct gathered_pages *g)
{
        gathered_pages_cut(g, g->at);
        g->pages.len = g->at = 0;
}

void gathered_pages_deinit(struct gathered_pages *g)
{
        gathered_pages_clear(g);
        vec_deinit(&g->pages);
        memory_consumer_deinit(&g->memory);
}

void gathered_pages_add(struct gathered_pages *g, const struct celeborn_batch *batch, struct page *page)
{
        const uint32_t block = page->block;
        page = page_shrink(page);
        memory_release(&g->memory, block - page->block);
        vec_push(&g->pages, ((struct gathered_page){batch->map, batch->batch, page}));
}

static int gathered_page_compare(const void *a, const void *b)
{
        const struct gathered_page *x = a, *y = b;
        return x->map != y->map ? (x->map > y->map) - (x->map < y->map) : (x->batch > y->batch) - (x->batch < y->batch);
}

struct page *gathered_pages_next(struct gathered_pages *g, int map)
{
        if (g->map < 0 && g->pages.len)
                qsort(g->pages.data, g->pages.len, sizeof(*g->pages.data), gathered_page_compare);
        g->map = map;
        memory_release(&g->memory, g->lent);
        g->lent = 0;
        if (g->at == g->pages.len || g->pages.data[g->at].map != map)
                return NULL;
        struct page *page = g->pages.data[g->at++].page;
        g->lent = page->block;
        return page;
}
