import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;
import scala.reflect.ClassTag$;

/**
 * The jobs of bench/apps/pagerank.c, kmeans.c and pairs.c. Each prints "job: SECONDS" and its result in their form;
 * what is made and kept before is timed apart ("links: ", "points: ").
 */
final class RddBench {
        private RddBench() {}

        private interface Action<T> {
                T run();
        }

        private static <T> T timed(String what, Action<T> action) {
                long start = System.nanoTime();
                T result = action.run();
                System.out.printf("%s: %.4f%n", what, (System.nanoTime() - start) / 1e9);
                return result;
        }

        private static JavaRDD<Long> range(JavaSparkContext sc, long n, int slices) {
                return new JavaRDD<>(sc.sc().range(0, n, 1, slices), ClassTag$.MODULE$.Object()).map(i -> (Long) i);
        }

        /** What a result is known by; aggregate gives each partition its own, so adding in place is allowed. */
        private static final class Total implements Serializable {
                long rows;
                long sum;

                Total add(long moreRows, long more) {
                        rows += moreRows;
                        sum += more;
                        return this;
                }

                Total add(Total other) {
                        return add(other.rows, other.sum);
                }
        }

        private static Total numbers(JavaRDD<Long> rdd) {
                return rdd.aggregate(new Total(), (total, x) -> total.add(1, x), Total::add);
        }

        private static void pagerank(JavaSparkContext sc, long pages, long count, int rounds, int slices) {
                JavaPairRDD<Long, Iterable<Long>> links = range(sc, count, slices)
                        .mapToPair(i -> new Tuple2<>(Numbers.linkFrom(i, pages), Numbers.linkTo(i, pages)))
                        .groupByKey(slices)
                        .cache();
                timed("links", links::count);
                JavaPairRDD<Long, Double> ranks = links.mapValues(to -> 1.0);
                for (int round = 0; round < rounds; round++) {
                        ranks = links.join(ranks)
                                .values()
                                .flatMapToPair(page -> {
                                        int n = 0;
                                        for (Long to : page._1()) {
                                                n++;
                                        }
                                        List<Tuple2<Long, Double>> parts = new ArrayList<>(n);
                                        for (Long to : page._1()) {
                                                parts.add(new Tuple2<>(to, page._2() / n));
                                        }
                                        return parts.iterator();
                                })
                                .reduceByKey(Double::sum)
                                .mapValues(sum -> 0.15 + 0.85 * sum);
                }
                JavaPairRDD<Long, Double> last = ranks;
                double[] all = timed("job", () -> last.aggregate(new double[3], (sums, row) -> {
                        sums[0]++;
                        sums[1] += row._2();
                        sums[2] += row._2() * (row._1() % 1000);
                        return sums;
                }, RddBench::addAll));
                System.out.printf("ranks: %.0f %.17g %.17g%n", all[0], all[1], all[2]);
        }

        private static double[] addAll(double[] into, double[] from) {
                for (int i = 0; i < into.length; i++) {
                        into[i] += from[i];
                }
                return into;
        }

        private static int nearest(double[][] centres, double[] point) {
                int best = 0;
                double least = Double.POSITIVE_INFINITY;
                for (int i = 0; i < centres.length; i++) {
                        double sum = 0;
                        for (int d = 0; d < point.length; d++) {
                                sum += (point[d] - centres[i][d]) * (point[d] - centres[i][d]);
                        }
                        if (sum < least) {
                                least = sum;
                                best = i;
                        }
                }
                return best;
        }

        /** Sums of points, then their number, for each centre in turn. */
        private static double[][] round(JavaRDD<double[]> points, double[][] centres) {
                int width = Numbers.DIMENSIONS + 1;
                double[] sums = points.aggregate(new double[centres.length * width], (into, point) -> {
                        int at = nearest(centres, point) * width;
                        for (int d = 0; d < point.length; d++) {
                                into[at + d] += point[d];
                        }
                        into[at + point.length]++;
                        return into;
                }, RddBench::addAll);
                double[][] moved = new double[centres.length][];
                for (int i = 0; i < centres.length; i++) {
                        double n = sums[i * width + Numbers.DIMENSIONS];
                        moved[i] = centres[i].clone();
                        for (int d = 0; d < Numbers.DIMENSIONS && n > 0; d++) {
                                moved[i][d] = sums[i * width + d] / n;
                        }
                }
                return moved;
        }

        private static void kmeans(JavaSparkContext sc, long n, int rounds, int slices) {
                JavaRDD<double[]> points = range(sc, n, slices).map(Numbers::point).cache();
                timed("points", points::count);
                double[][] first = new double[Numbers.CENTRES][];
                for (int i = 0; i < first.length; i++) {
                        first[i] = Numbers.point(i);
                }
                double[][] last = timed("job", () -> {
                        double[][] centres = first;
                        for (int round = 0; round < rounds; round++) {
                                centres = round(points, centres);
                        }
                        return centres;
                });
                for (double[] centre : last) {
                        StringBuilder line = new StringBuilder("centre:");
                        for (double x : centre) {
                                line.append(String.format(" %.12g", x));
                        }
                        System.out.println(line);
                }
        }

        private static Total join(JavaSparkContext sc, long left, long right, int slices) {
                JavaPairRDD<Long, Long> lefts =
                        range(sc, left, slices).mapToPair(i -> new Tuple2<>(Numbers.leftKey(i, right), i));
                JavaPairRDD<Long, Long> rights =
                        range(sc, right, slices).mapToPair(i -> new Tuple2<>(2 * i, Numbers.rightValue(2 * i)));
                return numbers(lefts.join(rights, slices).values().map(both -> both._1() ^ both._2()));
        }

        private static Total groupByKey(JavaSparkContext sc, long n, long keys, int slices) {
                return range(sc, n, slices)
                        .mapToPair(i -> new Tuple2<>(Numbers.skewedKey(i, keys), i))
                        .groupByKey(slices)
                        .aggregate(new Total(), (total, group) -> {
                                long rows = 0;
                                long sum = 0;
                                for (long x : group._2()) {
                                        rows++;
                                        sum += x;
                                }
                                return total.add(1, Numbers.groupDigest(group._1(), rows, sum));
                        }, Total::add);
        }

        private static void print(Action<Total> action) {
                Total total = timed("job", action);
                System.out.printf("total: %d %s%n", total.rows, Long.toUnsignedString(total.sum));
        }

        /** Whether args[0] names one of these jobs; then it has been run. */
        static boolean run(JavaSparkContext sc, String[] args) {
                int slices = args.length > 1 ? Integer.parseInt(args[args.length - 1]) : 0;
                switch (args[0]) {
                        case "pagerank":
                                pagerank(sc, Long.parseLong(args[1]), Long.parseLong(args[2]), Integer.parseInt(args[3]),
                                                slices);
                                return true;
                        case "kmeans":
                                kmeans(sc, Long.parseLong(args[1]), Integer.parseInt(args[2]), slices);
                                return true;
                        case "join":
                                print(() -> join(sc, Long.parseLong(args[1]), Long.parseLong(args[2]), slices));
                                return true;
                        case "group_by_key":
                                print(() -> groupByKey(sc, Long.parseLong(args[1]), Long.parseLong(args[2]), slices));
                                return true;
                        case "distinct":
                                long n = Long.parseLong(args[1]);
                                print(() -> numbers(range(sc, n, slices).map(i -> Numbers.twice(i, n)).distinct(slices)));
                                return true;
                        default:
                                return false;
                }
        }
}
