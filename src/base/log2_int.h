/* The natural logarithm without libm, whose loading would cost a process more than all its logarithms. */
#pragma once

/*
 * Returns ln @x to within a few units in the last place. @x is positive and normal. The bits are the same on every
 * machine, as random draws from a seed require.
 */
double natural_log(double x);
