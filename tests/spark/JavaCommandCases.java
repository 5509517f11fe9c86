// Runs org.apache.spark.launcher.Main many times in one JVM, each time with an environment of its own.
//
// Standard input holds cases: a count of arguments and the arguments, a count of variables and name=value for each, all
// as ints and strings of DataOutputStream. Standard output gets for each: what Main wrote to standard output, what it
// wrote to standard error, and the message of what it threw ("" if it returned), as lengths and bytes.
import java.io.*;
import java.lang.reflect.*;
import java.nio.charset.StandardCharsets;
import java.util.*;

public class JavaCommandCases {
    private static Object field(Object of, String name) throws Exception {
        Field field = of.getClass().getDeclaredField(name);
        field.setAccessible(true);
        return field.get(of);
    }

    // The JVM's own copy of the environment, which System.getenv answers from.
    @SuppressWarnings("unchecked")
    private static Map<String, String> environment() throws Exception {
        return (Map<String, String>) field(System.getenv(), "m");
    }

    private static String text(DataInputStream in) throws IOException {
        return new String(in.readNBytes(in.readInt()), StandardCharsets.UTF_8);
    }

    private static void put(DataOutputStream out, byte[] bytes) throws IOException {
        out.writeInt(bytes.length);
        out.write(bytes);
    }

    public static void main(String[] unused) throws Exception {
        DataInputStream in = new DataInputStream(new BufferedInputStream(System.in));
        DataOutputStream out = new DataOutputStream(new FileOutputStream(FileDescriptor.out));
        Method main = Class.forName("org.apache.spark.launcher.Main").getDeclaredMethod("main", String[].class);
        main.setAccessible(true);
        while (true) {
            int count;
            try {
                count = in.readInt();
            } catch (EOFException end) {
                return;
            }
            String[] arguments = new String[count];
            for (int i = 0; i < count; i++)
                arguments[i] = text(in);
            Map<String, String> environment = environment();
            environment.clear();
            for (int i = in.readInt(); i > 0; i--) {
                String[] pair = text(in).split("=", 2);
                environment.put(pair[0], pair[1]);
            }
            ByteArrayOutputStream output = new ByteArrayOutputStream(), errors = new ByteArrayOutputStream();
            System.setOut(new PrintStream(output, false, "UTF-8"));
            System.setErr(new PrintStream(errors, false, "UTF-8"));
            String thrown = "";
            try {
                main.invoke(null, (Object) arguments);
            } catch (InvocationTargetException e) {
                thrown = String.valueOf(e.getCause().getMessage());
            }
            System.out.flush();
            System.err.flush();
            put(out, output.toByteArray());
            put(out, errors.toByteArray());
            put(out, thrown.getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
    }
}
