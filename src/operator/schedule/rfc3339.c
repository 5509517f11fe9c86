/* Formats and parses times of day by the calendar of civil_time.h. */
#include "operator/schedule/rfc3339.h"

#include "operator/schedule/civil_time.h"

#include <stdio.h>
#include <stdlib.h>

void rfc3339_format(int64_t ms, char text[static RFC3339_TEXT])
{
        int64_t seconds = ms / 1000 - (ms % 1000 < 0), days = seconds / 86400 - (seconds % 86400 < 0), year;
        int of_day = (int)(seconds - days * 86400), month, day;
        civil_of_days(days, &year, &month, &day);
        snprintf(text, RFC3339_TEXT, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)(year % 100000), month, day, of_day / 3600,
                 of_day / 60 % 60, of_day % 60);
}

int64_t rfc3339_parse(const char *text)
{
        int year, month, day, hour, minute, second, n = 0, zone_hour, zone_minute;
        if (!text ||
            sscanf(text, "%4d-%2d-%2d%*1[Tt]%2d:%2d:%2d%n", &year, &month, &day, &hour, &minute, &second, &n) != 6 ||
            n == 0 || year < 0 || month < 1 || month > 12 || day < 1 || day > days_in_month(year, month) || hour < 0 ||
            hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
                return 0;
        int64_t ms = ((days_of_civil(year, month, day) * 24 + hour) * 60 + minute) * 60000 + second * 1000;
        const char *p = text + n;
        if (*p == '.') {
                int scale = 100;
                for (p++; *p >= '0' && *p <= '9'; p++, scale /= 10)
                        ms += (*p - '0') * scale;
        }
        if (*p == 'Z' || *p == 'z')
                return p[1] ? 0 : ms;
        if ((*p != '+' && *p != '-') || sscanf(p + 1, "%2d:%2d", &zone_hour, &zone_minute) != 2 || zone_hour < 0 ||
            zone_minute < 0)
                return 0;
        return ms - (*p == '-' ? -1 : 1) * (zone_hour * 60 + zone_minute) * INT64_C(60000);
}
