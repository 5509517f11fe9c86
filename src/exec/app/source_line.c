/* See source_line.h. The report comes from damaged memory, so only files that this process loaded itself are opened. */
#include "exec/app/source_line.h"

#include "base/buf.h"
#include "base/mem.h"
#include "exec/app/module.h"
#include "exec/guard/crash.h"
#include "process/command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

enum { MAX_MODULES = 64 };

/* Returns the length of "segv.c:6" in the output of addr2line; 0 if the line is unknown ("??:0"). */
static size_t source_line_known(const char *said)
{
        size_t len = strcspn(said, " \n");
        const char *colon = memrchr(said, ':', len);
        return said[0] != '?' && colon && isdigit((unsigned char)colon[1]) && colon[1] != '0' ? len : 0;
}

static char *source_line_find(const char *path, unsigned long long offset)
{
        _cleanup_(buf_deinit) struct buf said = BUF_INIT;
        _cleanup_free_ char *file = mem_strdup(path), *address = mem_printf("0x%llx", offset);
        char *words[] = {"addr2line", "-e", file, address, NULL};
        int status;
        if (command_run(&(struct command){.words = words, .captured = &said, .no_input = true}, &status) < 0 ||
            !WIFEXITED(status) || WEXITSTATUS(status) != 0)
                return NULL;
        const char *line = buf_text(&said);
        while (strncmp(line, "./", 2) == 0) /* relative to the compiler's directory */
                line += 2;
        size_t len = source_line_known(line);
        return len ? mem_strndup(line, len) : NULL;
}

char *source_line_add(const char *report)
{
        const struct module *modules[MAX_MODULES];
        size_t n = MIN(module_list(modules, MAX_MODULES), (size_t)MAX_MODULES);
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *command = mem_printf("(" CRASH_LINE_COMMAND "%s 0x", modules[i]->path);
                const char *at = strstr(report, command);
                unsigned long long offset;
                if (!at || sscanf(at + strlen(command), "%llx", &offset) != 1)
                        continue;
                _cleanup_free_ char *line = source_line_find(modules[i]->path, offset);
                return line ? mem_printf("%.*s%s: %s", (int)(at + 1 - report), report, line, at + 1) : NULL;
        }
        return NULL;
}
