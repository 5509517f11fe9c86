// Jobs whose event log has what pages of a history server show, for Spark before 3.5, whose spark-shell cannot run genuine.scala:
// skipped stages, failures, speculation, pools, cached RDDs, a lost executor. For spark-submit.
import java.io.File;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

public class GenuineOld {
    interface Job {
        void run() throws Exception;
    }

    static void attempt(String name, Job job) {
        try {
            job.run();
        } catch (Throwable e) {
            System.out.println("job " + name + " failed: " + String.valueOf(e.getMessage()).split("\n")[0]);
        }
    }

    public static void main(String[] args) {
        JavaSparkContext sc = new JavaSparkContext(new SparkConf().setAppName("genuine"));
        String dir = sc.getConf().get("spark.test.dir");
        List<Integer> numbers = new ArrayList<>();
        for (int i = 0; i < 2000; i++)
            numbers.add(i);
        JavaPairRDD<String, Integer> words =
            sc.parallelize(numbers, 6).mapToPair(i -> new Tuple2<>("w" + i % 97, i)).setName("words");
        JavaPairRDD<String, Integer> counts = words.reduceByKey((a, b) -> a + b, 5);
        sc.setJobGroup("group \"one\"", "Counts <words> & sums", false);
        sc.setLocalProperty("spark.scheduler.pool", "production");
        attempt("count", () -> counts.count());
        attempt("again", () -> counts.map(t -> t._2).reduce((a, b) -> a + b));
        sc.clearJobGroup();
        sc.setLocalProperty("spark.scheduler.pool", null);

        JavaRDD<String> cached =
            sc.parallelize(numbers, 4).map(i -> "x" + i).setName("cached").persist(StorageLevel.MEMORY_ONLY());
        JavaRDD<Integer> disk = sc.parallelize(numbers, 2).persist(StorageLevel.DISK_ONLY());
        attempt("cache", () -> System.out.println(cached.count() + disk.count() + cached.count()));

        attempt("retry", () -> sc.parallelize(numbers, 4).map(i -> {
            if (TaskContext.get().attemptNumber() == 0 && TaskContext.get().partitionId() == 2)
                throw new IllegalStateException("first\nattempt");
            return i;
        }).count());
        attempt("failure", () -> sc.parallelize(numbers, 3).map(i -> {
            if (i == 70)
                throw new RuntimeException("row 70 is bad");
            return i;
        }).count());
        attempt("speculation", () -> sc.parallelize(Arrays.asList(1, 2, 3, 4, 5, 6, 7, 8), 8).map(i -> {
            Thread.sleep(i == 8 && TaskContext.get().attemptNumber() == 0 ? 8000 : 100);
            return i;
        }).count());
        attempt("sort", () -> words.sortByKey(true, 4).count());
        attempt("output", () -> counts.map(t -> t.toString()).saveAsTextFile(dir + "/out"));
        attempt("input", () -> sc.textFile(dir + "/out", 4).map(s -> s.length()).distinct().count());

        // An executor ends while its map outputs are needed.
        JavaPairRDD<Integer, Integer> outputs =
            sc.parallelize(numbers, 6).mapToPair(i -> new Tuple2<>(i % 10, i)).reduceByKey((a, b) -> a + b, 6);
        attempt("lost executor", () -> outputs.map(t -> {
            if (new File(SparkEnv.get().conf().get("spark.test.dir") + "/ended").createNewFile())
                Runtime.getRuntime().halt(3);
            Thread.sleep(300);
            return t;
        }).count());
        attempt("after", () -> counts.count());
        sc.stop();
    }
}
