/*
 * Tables of cases: an assertion that fails within the loop over a table names the row and its values.
 *
 *      for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
 *              CASE_LABEL("%s: port %d", cases[i].label, cases[i].port);
 *              assert_int_equal(parse(cases[i].text, &port), cases[i].result);
 *      }
 *
 * prints "in case a negative port: port -1" beside cmocka's own message. The label holds until the end of
 * the block. unit_tests.c prints it. Programs of their own (unit_programs in src/meson.build) have none.
 */
#pragma once

#include "base/mem.h"

#define CASE_LABEL(...) _cleanup_(case_end) int case_label = case_begin(__VA_ARGS__)

int case_begin(const char *format, ...) __attribute__((format(printf, 1, 2)));
void case_end(int *unused);
