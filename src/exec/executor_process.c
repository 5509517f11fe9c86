/* See executor_process.h. */
#include "exec/executor_process.h"

#include "base/mem.h"
#include "base/string_list.h"
#include "process/child.h"
#include "exec/app/sanitizers.h"
#include "exec/guard/core_file.h"

#include <signal.h>
#include <sys/wait.h>

extern char **environ;

void executor_process_environment(struct string_list *variables, const char *secret)
{
        for (char **e = environ; *e; e++)
                string_list_add(variables, *e);
        if (secret)
                string_list_set_variable(variables, "_SPARK_AUTH_SECRET", secret);
        sanitizers_add_environment(variables);
        _cleanup_free_ char *fd = mem_printf("%d", CHILD_WORDS_FD);
        string_list_set_variable(variables, "FIRESTEEL_CRASH_FD", fd);
}

char *executor_process_end(pid_t pid, int wait_status, const char *last_words, const char *directory)
{
        size_t n = strcspn(last_words, "\n");
        const char *words = n ? last_words : NULL;
        if (WIFSIGNALED(wait_status)) {
                int signal = WTERMSIG(wait_status);
                char core[300] = "";
                if (WCOREDUMP(wait_status))
                        core_file_describe(pid, signal, "firesteel", directory, NULL, core, sizeof(core));
                return mem_printf("Command exited with code %d (SIG%s%s%s%s)%s%.*s", 128 + signal,
                                  sigabbrev_np(signal) ? sigabbrev_np(signal) : "?",
                                  WCOREDUMP(wait_status) ? ", core dumped" : "", core[0] ? ", " : "", core,
                                  words ? ": " : "", (int)n, words ? words : "");
        }
        return mem_printf("Command exited with code %d%s%.*s", WEXITSTATUS(wait_status), words ? ": " : "", (int)n,
                          words ? words : "");
}

int executor_process_status(int wait_status)
{
        return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}
