/*
 * The place in the Python program that the next calls of a thread come from, such as "collect at pi.py:12". The library
 * keeps the texts of a site as long as the process, so each distinct site is stored once.
 */
#pragma once

#include <firesteel/types.h>

/* Sets this thread's site to @text as pyspark writes it, or forgets it (NULL). */
void call_site_set(const char *text);

/* This thread's site, or @operation with an unknown file. @operation is static. */
fst_site call_site(const char *operation);

/* Splits "collect at pi.py:12" into *@site, whose texts point into @text, which is changed. False if it has no line. */
bool call_site_parse(char *text, fst_site *site);
