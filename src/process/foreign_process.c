/* See foreign_process.h. */
#include "process/foreign_process.h"

#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

struct foreign_process {
        int pidfd;
        uv_poll_t watch;
        void (*ended)(void *owner);
        void *owner;
};

uint64_t process_start_ticks(pid_t pid)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        unsigned long long ticks = 0;
        char path[64];
        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        if (file_text_read(path, 4096, &text, NULL))
                return 0;
        const char *end = strrchr(buf_text(&text), ')'); /* of the name, which may hold any character */
        if (!end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
                           &ticks) != 1)
                return 0;
        return ticks;
}

static void foreign_process_on_end(uv_poll_t *watch, int status, int events)
{
        struct foreign_process *p = watch->data;
        uv_poll_stop(watch);
        p->ended(p->owner);
}

static void foreign_process_closed(uv_handle_t *handle)
{
        struct foreign_process *p = handle->data;
        close(p->pidfd);
        free(p);
}

int foreign_process_new(uv_loop_t *loop, pid_t pid, uint64_t started, void (*ended)(void *owner), void *owner,
                        struct foreign_process **process)
{
        if (pid <= 1 || !started)
                return -ESRCH;
        int pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
        if (pidfd < 0)
                return -errno;
        if (process_start_ticks(pid) != started) { /* read after the pidfd was opened: it is that process's */
                close(pidfd);
                return -ESRCH;
        }
        struct foreign_process *p = new0(struct foreign_process);
        *p = (struct foreign_process){.pidfd = pidfd, .ended = ended, .owner = owner};
        p->watch.data = p;
        int r = uv_poll_init(loop, &p->watch, pidfd);
        if (r) {
                close(pidfd);
                free(p);
                return r;
        }
        uv_poll_start(&p->watch, UV_READABLE, foreign_process_on_end);
        *process = p;
        return 0;
}

int foreign_process_kill(struct foreign_process *p, int signal)
{
        return syscall(SYS_pidfd_send_signal, p->pidfd, signal, NULL, 0) < 0 ? -errno : 0;
}

void foreign_process_free(struct foreign_process *p)
{
        if (!p)
                return;
        uv_poll_stop(&p->watch);
        uv_close((uv_handle_t *)&p->watch, foreign_process_closed);
}
