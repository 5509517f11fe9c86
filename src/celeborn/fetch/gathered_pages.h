/*
 * The pages of one partition, which arrive in any order and leave in the order of map partitions and batches.
 *
 * They are held in memory, which the task's other consumers can have back: then the pages of later maps are dropped,
 * and the caller reads them again.
 *
 * One thread.
 */
#pragma once

#include "base/vec.h"
#include "celeborn/protocol/celeborn_frame.h"
#include "store/memory.h"

struct page;

struct gathered_page {
        int32_t map, batch;
        struct page *page;
};

struct gathered_pages {
        struct memory_consumer memory; /* reserves the pages */
        VEC(struct gathered_page) pages;
        size_t at;    /* the next page to leave */
        int map;      /* the last one of gathered_pages_next; -1: pages still arrive */
        size_t lent;  /* bytes of the page that has left, reserved until the next call */
        int complete; /* pages of maps after this one were dropped; INT_MAX: none were */
};

void gathered_pages_init(struct gathered_pages *g, struct memory_task *task);
void gathered_pages_deinit(struct gathered_pages *g);

/* Drops all pages. They arrive once more. */
void gathered_pages_clear(struct gathered_pages *g);

/* Adds a page that is reserved through g->memory. Steals it. No page has left yet. */
void gathered_pages_add(struct gathered_pages *g, const struct celeborn_batch *batch, struct page *page);

/*
 * Removes and returns the next page of map @map, which does not fall from call to call, and is at most `complete`;
 * NULL: there is none. The page
 * stays reserved until the next call, which the caller makes after it has freed the page without a release.
 */
struct page *gathered_pages_next(struct gathered_pages *g, int map);
