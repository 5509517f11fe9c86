/* See core_file.h. The patterns are those of core(5). */
#include "exec/guard/core_file.h"

#include "base/buf.h"
#include "base/mem.h"

#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <unistd.h>

static void read_line(const char *path, char *line, size_t size)
{
        line[0] = 0;
        FILE *f = fopen(path, "re");
        if (!f)
                return;
        if (!fgets(line, (int)size, f))
                line[0] = 0;
        fclose(f);
        line[strcspn(line, "\n")] = 0;
}

/* Expands a core pattern to a pattern for glob. A specifier that is unknown here (%t, the time) becomes "*". */
static void core_file_expand(const char *pattern, int pid, int signal, const char *name, struct buf *out)
{
        bool has_pid = false;
        for (const char *p = pattern; *p; p++) {
                if (*p != '%' || !p[1]) {
                        if (*p != '%')
                                buf_putc(out, *p);
                        continue;
                }
                switch (*++p) {
                case '%':
                        buf_putc(out, '%');
                        break;
                case 'p':
                case 'P':
                        has_pid = true;
                        buf_printf(out, "%d", pid);
                        break;
                case 's':
                        buf_printf(out, "%d", signal);
                        break;
                case 'e':
                        buf_puts(out, name);
                        break;
                case 'u':
                        buf_printf(out, "%u", (unsigned)getuid());
                        break;
                case 'g':
                        buf_printf(out, "%u", (unsigned)getgid());
                        break;
                default:
                        buf_putc(out, '*');
                }
        }
        char uses_pid[8];
        read_line("/proc/sys/kernel/core_uses_pid", uses_pid, sizeof(uses_pid));
        if (!has_pid && atoi(uses_pid))
                buf_printf(out, ".%d", pid);
}

void core_file_describe(int pid, int signal, const char *name, const char *directory, const char *pattern, char *text,
                        size_t size)
{
        char read[256];
        text[0] = 0;
        if (!pattern) {
                read_line("/proc/sys/kernel/core_pattern", read, sizeof(read));
                pattern = read;
        }
        if (pattern[0] == '|') {
                snprintf(text, size, "core dump: given to %.*s", (int)strcspn(pattern + 1, " "), pattern + 1);
                return;
        }
        _cleanup_(buf_deinit) struct buf path = BUF_INIT;
        if (pattern[0] != '/')
                buf_printf(&path, "%s/", directory);
        core_file_expand(pattern, pid, signal, name, &path);
        glob_t found = {0};
        if (glob(buf_text(&path), 0, NULL, &found) == 0 && found.gl_pathc > 0)
                snprintf(text, size, "core dump: %s", found.gl_pathv[found.gl_pathc - 1]);
        globfree(&found);
}
