import java.io.DataOutputStream;
import java.io.IOException;
import java.io.Serializable;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.BytesWritable;
import org.apache.hadoop.mapreduce.RecordWriter;
import org.apache.hadoop.mapreduce.TaskAttemptContext;
import org.apache.hadoop.mapreduce.lib.output.FileOutputFormat;
import org.apache.spark.api.java.JavaSparkContext;
import scala.Tuple2;

/** TeraSort of binary records: what examples/terasort.c does, in the way of Spark's TeraSort programs. */
final class TeraBench {
        private TeraBench() {}

        private static final int RECORD = 100;
        private static final int KEY = 10;

        private static final class KeyOrder implements Comparator<byte[]>, Serializable {
                @Override
                public int compare(byte[] a, byte[] b) {
                        return Arrays.compareUnsigned(a, b);
                }
        }

        /** Keys and values one after another, with nothing between them. */
        public static final class RawOutput extends FileOutputFormat<BytesWritable, BytesWritable> {
                @Override
                public RecordWriter<BytesWritable, BytesWritable> getRecordWriter(TaskAttemptContext task)
                                throws IOException {
                        Path path = getDefaultWorkFile(task, "");
                        DataOutputStream out = path.getFileSystem(task.getConfiguration()).create(path, false);
                        return new RecordWriter<>() {
                                @Override
                                public void write(BytesWritable key, BytesWritable value) throws IOException {
                                        out.write(key.getBytes(), 0, key.getLength());
                                        out.write(value.getBytes(), 0, value.getLength());
                                }

                                @Override
                                public void close(TaskAttemptContext unused) throws IOException {
                                        out.close();
                                }
                        };
                }
        }

        static void sort(JavaSparkContext sc, String in, String out) {
                sc.binaryRecords(in, RECORD)
                        .mapToPair(record -> new Tuple2<>(Arrays.copyOf(record, KEY), Arrays.copyOfRange(record, KEY, RECORD)))
                        .sortByKey(new KeyOrder())
                        .mapToPair(row -> new Tuple2<>(new BytesWritable(row._1()), new BytesWritable(row._2())))
                        .saveAsNewAPIHadoopFile(out, BytesWritable.class, BytesWritable.class, RawOutput.class);
        }
}
