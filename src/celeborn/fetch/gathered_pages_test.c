/* Pages that arrive in any order leave by map and batch, and give their memory back to the task's other consumers. */
#include "celeborn/fetch/gathered_pages.h"

#include "store/page.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

enum { POOL = 1 << 20, BLOCK = 64 << 10 };

struct gathered_world {
        struct memory_manager *manager;
        struct memory_task *task;
        struct gathered_pages pages;
};

static void gathered_world_init(struct gathered_world *w)
{
        w->manager = memory_manager_new(POOL, 0);
        w->task = memory_task_new(w->manager);
        gathered_pages_init(&w->pages, w->task);
}

static void gathered_world_deinit(struct gathered_world *w)
{
        gathered_pages_deinit(&w->pages);
        assert_int_equal(memory_task_held(w->task), 0);
        memory_task_free(w->task);
        memory_manager_free(w->manager);
}

/* Adds a page whose number of rows names its map and batch. */
static void gathered_world_add(struct gathered_world *w, int map, int batch)
{
        struct page *page;
        assert_int_equal(page_new_small(&w->pages.memory, FST_I64, BLOCK, &page), 0);
        page->rows = (uint32_t)(map * 100 + batch);
        gathered_pages_add(&w->pages, &(struct celeborn_batch){.map = map, .batch = batch}, page);
}

static void expect_pages(struct gathered_world *w, int map, int first, int n)
{
        for (int i = 0; i < n; i++) {
                struct page *page = gathered_pages_next(&w->pages, map);
                assert_non_null(page);
                assert_int_equal(page->rows, map * 100 + first + i);
                page_free(NULL, page);
        }
        assert_null(gathered_pages_next(&w->pages, map));
}

static void pages_leave_by_map_and_batch(void **state)
{
        (void)state;
        struct gathered_world w;
        gathered_world_init(&w);
        for (int i = 0; i < 12; i++)
                gathered_world_add(&w, i * 7 % 4, i * 7 % 12 / 4);
        assert_int_equal(memory_task_held(w.task), 12 * BLOCK);
        expect_pages(&w, 0, 0, 3);
        assert_int_equal(memory_task_held(w.task), 9 * BLOCK);
        expect_pages(&w, 1, 0, 3);
        expect_pages(&w, 2, 0, 3);
        assert_null(gathered_pages_next(&w.pages, 7));
        gathered_world_deinit(&w);
}

static void pages_of_later_maps_make_room_for_others(void **state)
{
        (void)state;
        struct gathered_world w;
        struct memory_consumer other;
        gathered_world_init(&w);
        memory_consumer_init(&other, w.task, "other", NULL);
        for (int i = 0; i < 12; i++)
                gathered_world_add(&w, i / 3, i % 3);
        struct page *page = gathered_pages_next(&w.pages, 0);
        page_free(NULL, page);
        assert_int_equal(w.pages.complete, INT_MAX);
        assert_int_equal(memory_acquire(&other, POOL / 2), 0);
        assert_int_equal(w.pages.complete, 0);
        expect_pages(&w, 0, 1, 2);
        assert_null(gathered_pages_next(&w.pages, 0));
        memory_consumer_deinit(&other);
        gathered_world_deinit(&w);
}

static void cleared_pages_can_arrive_again(void **state)
{
        (void)state;
        struct gathered_world w;
        gathered_world_init(&w);
        gathered_world_add(&w, 1, 0);
        gathered_pages_clear(&w.pages);
        assert_int_equal(memory_task_held(w.task), 0);
        gathered_world_add(&w, 1, 4);
        expect_pages(&w, 1, 4, 1);
        gathered_world_deinit(&w);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(pages_leave_by_map_and_batch),
                cmocka_unit_test(pages_of_later_maps_make_room_for_others),
                cmocka_unit_test(cleared_pages_can_arrive_again),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
