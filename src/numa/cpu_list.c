/* See cpu_list.h. */
#include "numa/cpu_list.h"

#include <errno.h>
#include <stdbool.h>

/* Reads a number at *@text and moves it past its digits. Returns false if there is none below CPU_SETSIZE. */
static bool cpu_list_number(const char **text, int *number)
{
        const char *p = *text;
        int n = 0;
        if (*p < '0' || *p > '9')
                return false;
        for (; *p >= '0' && *p <= '9'; p++)
                if ((n = n * 10 + (*p - '0')) >= CPU_SETSIZE)
                        return false;
        *text = p;
        *number = n;
        return true;
}

int cpu_list_parse(const char *text, cpu_set_t *cpus)
{
        cpu_set_t set;
        CPU_ZERO(&set);
        while (*text && *text != '\n') {
                int first, last;
                if (!cpu_list_number(&text, &first))
                        return -EINVAL;
                last = first;
                if (*text == '-' && (text++, !cpu_list_number(&text, &last) || last < first))
                        return -EINVAL;
                for (int cpu = first; cpu <= last; cpu++)
                        CPU_SET(cpu, &set);
                if (*text == ',' && text[1] >= '0' && text[1] <= '9')
                        text++;
                else if (*text && *text != '\n')
                        return -EINVAL;
        }
        if (*text == '\n' && text[1])
                return -EINVAL;
        *cpus = set;
        return 0;
}
