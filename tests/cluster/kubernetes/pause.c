/* The pause container: holds a pod's namespaces, reaps orphans, exits on SIGTERM. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int number)
{
        (void)number;
        _exit(0);
}

static void child_reap(int number)
{
        (void)number;
        while (waitpid(-1, NULL, WNOHANG) > 0)
                ;
}

int main(void)
{
        signal(SIGINT, end);
        signal(SIGTERM, end);
        signal(SIGCHLD, child_reap);
        for (;;)
                pause();
}
