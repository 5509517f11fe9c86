/** The numbers of bench/apps/generator.h, written again: see there. */
final class Numbers {
        private Numbers() {}

        static final int DIMENSIONS = 10;
        static final int CENTRES = 10;

        static long mix(long i) {
                long z = i + 0x9e3779b97f4a7c15L;
                z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
                z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
                return z ^ (z >>> 31);
        }

        static long below(long random, long n) {
                return (random >>> 32) * n >>> 32;
        }

        static double unit(long random) {
                return (random >>> 11) * 0x1p-53;
        }

        static long linkFrom(long i, long pages) {
                return below(mix(2 * i), pages);
        }

        static long linkTo(long i, long pages) {
                return below(mix(2 * i + 1), pages);
        }

        static double[] point(long i) {
                long cube = below(mix(~i), CENTRES);
                double[] x = new double[DIMENSIONS];
                for (int d = 0; d < DIMENSIONS; d++) {
                        x[d] = 6 * unit(mix(~(cube * DIMENSIONS + d) << 32)) + 4 * unit(mix(i * DIMENSIONS + d));
                }
                return x;
        }

        static long leftKey(long i, long right) {
                return below(mix(i), 2 * right);
        }

        static long rightValue(long key) {
                return mix(~key) >>> 8;
        }

        static long skewedKey(long i, long keys) {
                long random = mix(i);
                return below(random, 10) < 3 ? 0 : below(mix(random), keys);
        }

        static long groupDigest(long key, long rows, long sum) {
                return mix(key) * rows + sum;
        }

        static long twice(long i, long n) {
                return mix(i % (n / 2));
        }
}
