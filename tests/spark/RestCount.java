import java.util.Arrays;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/** An application for a genuine cluster: counts; or ends with a status; or waits until a file is there. */
public class RestCount {
  public static void main(String[] args) throws Exception {
    if (args[0].equals("fail")) System.exit(3);
    while (args[0].equals("wait") && !new java.io.File(args[1]).exists()) Thread.sleep(100);
    if (!args[0].equals("count")) return;
    try (JavaSparkContext sc = new JavaSparkContext(new SparkConf())) {
      long n = sc.parallelize(Arrays.asList(1, 2, 3, 4), 2).count();
      System.out.println("counted " + n + " for " + String.join("|", args));
    }
  }
}
