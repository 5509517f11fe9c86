/* The natural logarithm without libm: its loading would cost every process more than all logarithms do that we take. */
#pragma once

/*
 * ln @x, within a few units in the last place. @x is positive and not subnormal. The same bits on every machine, which
 * what is drawn from a seed wants.
 */
double natural_log(double x);
