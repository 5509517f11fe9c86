// Compresses a file with a codec of genuine Spark: java -cp 'jars/*' Compress.java CODEC FROM TO
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.spark.SparkConf;
import org.apache.spark.io.CompressionCodec;
import org.apache.spark.io.CompressionCodec$;

public class Compress {
    public static void main(String[] args) throws Exception {
        CompressionCodec codec = CompressionCodec$.MODULE$.createCodec(new SparkConf(false), args[0]);
        try (OutputStream out = codec.compressedContinuousOutputStream(Files.newOutputStream(Path.of(args[2])))) {
            Files.copy(Path.of(args[1]), out);
        }
    }
}
