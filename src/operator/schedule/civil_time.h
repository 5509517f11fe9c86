/* Dates of the proleptic Gregorian calendar as numbers of days since 1970-01-01. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

static inline bool is_leap_year(int64_t year)
{
        return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

/* @month is 1 to 12. */
static inline int days_in_month(int64_t year, int month)
{
        static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
        return days[month - 1] + (month == 2 && is_leap_year(year));
}

/* Years begin in March here, so that the leap day is the last one of a year. */
static inline int64_t days_of_civil(int64_t year, int month, int day)
{
        year -= month <= 2;
        int64_t era = (year >= 0 ? year : year - 399) / 400, of_era = year - era * 400;
        int64_t of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
        return era * 146097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719468;
}

static inline void civil_of_days(int64_t days, int64_t *year, int *month, int *day)
{
        days += 719468;
        int64_t era = (days >= 0 ? days : days - 146096) / 146097, of_era = days - era * 146097;
        int64_t y = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
        int64_t of_year = of_era - (365 * y + y / 4 - y / 100), m = (5 * of_year + 2) / 153;
        *day = (int)(of_year - (153 * m + 2) / 5 + 1);
        *month = (int)(m < 10 ? m + 3 : m - 9);
        *year = y + era * 400 + (*month <= 2);
}

/* Sunday is 0. */
static inline int weekday_of_days(int64_t days)
{
        return (int)((days % 7 + 11) % 7);
}
