import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;
import scala.reflect.ClassTag$;

/**
 * What bench/run has genuine Spark do: the same jobs as the programs in examples/ and bench/apps/.
 *
 * <p>Each mode prints "job: SECONDS", the time of its action alone, without the start of the JVM and of the context.
 */
public final class SparkBench {
        private SparkBench() {}

        private interface Action {
                void run() throws Exception;
        }

        private static double seconds(Action action) throws Exception {
                long start = System.nanoTime();
                action.run();
                return (System.nanoTime() - start) / 1e9;
        }

        private static void wordcount(JavaSparkContext sc, String in, String out) {
                sc.textFile(in)
                        .flatMap(line -> Arrays.asList(line.split(" ")).iterator())
                        .mapToPair(word -> new Tuple2<>(word, 1L))
                        .reduceByKey(Long::sum)
                        .saveAsTextFile(out);
        }

        private static void sort(JavaSparkContext sc, String in, String out) {
                JavaRDD<String> lines = sc.textFile(in);
                lines.sortBy(line -> line.substring(0, 10), true, lines.getNumPartitions()).saveAsTextFile(out);
        }

        private static JavaRDD<Object> range(JavaSparkContext sc, long n, int slices) {
                return new JavaRDD<>(sc.sc().range(0, n, 1, slices), ClassTag$.MODULE$.Object());
        }

        private static void darts(JavaSparkContext sc, long n, int slices) {
                long inside = range(sc, n, slices)
                        .map(i -> {
                                ThreadLocalRandom random = ThreadLocalRandom.current();
                                double x = random.nextDouble() * 2 - 1;
                                double y = random.nextDouble() * 2 - 1;
                                return x * x + y * y <= 1 ? 1L : 0L;
                        })
                        .reduce(Long::sum);
                System.out.printf("Pi is roughly %.6f%n", 4.0 * inside / n);
        }

        /** Numbers that are kept in memory as objects, filled by a first job, then summed again and again. */
        private static void cachedSum(JavaSparkContext sc, long n, int slices, int rounds) throws Exception {
                JavaRDD<Long> kept = range(sc, n, slices).map(i -> (Long) i * 3).cache();
                long count = kept.count();
                long[] sum = new long[1];
                for (int i = 0; i < rounds; i++) {
                        System.out.printf("read: %.6f%n", seconds(() -> sum[0] = kept.reduce(Long::sum)));
                }
                System.out.printf("sum %d of %d%n", sum[0], count);
        }

        /** One in 10,000 tasks fails at its first attempt, as in examples/empty_tasks.c. */
        private static void emptyTasks(JavaSparkContext sc, int tasks) {
                range(sc, tasks, tasks).foreachPartition(rows -> {
                        TaskContext task = TaskContext.get();
                        if (task.partitionId() % 10000 == 9999 && task.attemptNumber() == 0) {
                                throw new IllegalStateException("fails once, on purpose");
                        }
                });
        }

        /** CPU seconds of this process, the driver's (with local-cluster the master and the workers are in it too). */
        private static double cpuSeconds() {
                return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                                .getProcessCpuTime()
                        / 1e9;
        }

        /** Jobs of one task, one after the other, on the same RDD; the first tenth warms up. */
        private static void jobs(JavaSparkContext sc, int n) throws Exception {
                JavaRDD<Object> one = range(sc, 1, 1);
                double[] took = new double[n];
                for (int i = -n / 10; i < n; i++) {
                        double t = seconds(one::count);
                        if (i >= 0) {
                                took[i] = t;
                        }
                }
                Arrays.sort(took);
                System.out.printf("jobs: %d, median %.4f ms, p99 %.4f ms%n", n, took[n / 2] * 1e3, took[n * 99 / 100] * 1e3);
        }

        public static void main(String[] args) throws Exception {
                if (args[0].equals("first_result")) {
                        System.out.printf("main at %.6f%n", System.nanoTime() / 1e9);
                }
                try (JavaSparkContext sc = new JavaSparkContext(new SparkConf().setAppName("bench " + args[0]))) {
                        switch (args[0]) {
                                case "wordcount":
                                        System.out.printf("job: %.4f%n", seconds(() -> wordcount(sc, args[1], args[2])));
                                        break;
                                case "sort":
                                        System.out.printf("job: %.4f%n", seconds(() -> sort(sc, args[1], args[2])));
                                        break;
                                case "terasort":
                                        System.out.printf("job: %.4f%n", seconds(() -> TeraBench.sort(sc, args[1], args[2])));
                                        break;
                                case "darts":
                                        System.out.printf("job: %.4f%n", seconds(
                                                () -> darts(sc, Long.parseLong(args[1]), Integer.parseInt(args[2]))));
                                        break;
                                case "cached_sum":
                                        cachedSum(sc, Long.parseLong(args[1]), Integer.parseInt(args[2]),
                                                        Integer.parseInt(args[3]));
                                        break;
                                case "empty_tasks":
                                        for (int i = 0; i < Integer.parseInt(args[2]); i++) {
                                                int tasks = Integer.parseInt(args[1]);
                                                double cpu = cpuSeconds();
                                                double took = seconds(() -> emptyTasks(sc, tasks));
                                                System.out.printf("rate: %.0f tasks/s%n", tasks / took);
                                                System.out.printf("driver: %.4f us/task%n",
                                                                (cpuSeconds() - cpu) / tasks * 1e6);
                                        }
                                        break;
                                case "one_task":
                                        System.out.printf("job: %.4f%n", seconds(
                                                () -> System.out.println("counted " + range(sc, 1000, 1).count())));
                                        break;
                                case "jobs":
                                        jobs(sc, Integer.parseInt(args[1]));
                                        break;
                                case "first_result":
                                        System.out.printf("result: %d at %.6f%n", range(sc, 1000, 2).count(),
                                                        System.nanoTime() / 1e9);
                                        break;
                                case "idle":
                                        while (System.in.read() >= 0) {}
                                        break;
                                default:
                                        if (RddBench.run(sc, args)) {
                                                break;
                                        }
                                        throw new IllegalArgumentException("no such mode: " + args[0]);
                        }
                }
        }
}
