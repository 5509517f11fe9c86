/*
 * The natural logarithm. x = m × 2^e with m between √½ and √2. ln m = 2 artanh t with t = (m - 1) / (m + 1), which is
 * at most 0.172, so that twelve terms of the series exceed the precision of a double.
 */
#include "base/log2_int.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

double natural_log(double x)
{
        uint64_t bits;
        memcpy(&bits, &x, sizeof(bits));
        int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
        bits = (bits & ~(UINT64_C(0x7ff) << 52)) | (UINT64_C(1023) << 52);
        double m;
        memcpy(&m, &bits, sizeof(m));
        if (m > M_SQRT2) {
                m /= 2;
                exponent++;
        }
        double t = (m - 1) / (m + 1), square = t * t, sum = 0;
        for (int k = 23; k > 0; k -= 2)
                sum = sum * square + 1.0 / k;
        return 2 * t * sum + exponent * M_LN2;
}
