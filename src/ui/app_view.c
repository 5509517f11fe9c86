/* See app_view.h. */
#include "ui/app_view.h"

#include <unistd.h>

void app_view_init(struct app_view *view, const struct app_view_class *class, struct status *status,
                   const struct redactor *redactor)
{
        *view = (struct app_view){.class = class, .status = status, .redactor = redactor};
        pthread_mutex_init(&view->lock, NULL);
}

void app_view_deinit(struct app_view *view)
{
        pthread_mutex_destroy(&view->lock);
}

void app_view_write(struct app_view *view)
{
        __atomic_add_fetch(&view->n_writers, 1, __ATOMIC_RELAXED);
        pthread_mutex_lock(&view->lock);
        __atomic_sub_fetch(&view->n_writers, 1, __ATOMIC_RELAXED);
}

void app_view_written(struct app_view *view)
{
        pthread_mutex_unlock(&view->lock);
}

void app_view_read(struct app_view *view)
{
        pthread_mutex_lock(&view->lock);
}

void app_view_end(struct app_view *view)
{
        pthread_mutex_unlock(&view->lock);
}

/* The mutex is not fair: a reader that unlocks and locks at once would win every time. */
bool app_view_pause(struct app_view *view)
{
        enum { POLL_US = 20, MAX_POLLS = 500 };
        if (__atomic_load_n(&view->n_writers, __ATOMIC_RELAXED) == 0)
                return false;
        pthread_mutex_unlock(&view->lock);
        for (int i = 0; i < MAX_POLLS && __atomic_load_n(&view->n_writers, __ATOMIC_RELAXED) > 0; i++)
                usleep(POLL_US);
        pthread_mutex_lock(&view->lock);
        return true;
}
