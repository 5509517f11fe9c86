/*
 * For check_launcher: starts an application with genuine SparkLauncher and tells, a line each, what its handle hears.
 *
 *      java LauncherProbe HOME MASTER RESOURCE ACTION FILE CONF … -- ARGUMENT …
 *
 * ACTION: none; stop or kill, once FILE exists and the handle has heard RUNNING; log: its output goes to a logger of that name, told as "log TEXT".
 */
import java.io.File;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.apache.spark.launcher.SparkAppHandle;
import org.apache.spark.launcher.SparkLauncher;

public class LauncherProbe {
    private static synchronized void tell(String line) {
        System.out.println(line);
        System.out.flush();
    }

    private static class Teller extends Handler {
        public void publish(LogRecord record) {
            tell("log " + record.getMessage());
        }

        public void flush() {
        }

        public void close() {
        }
    }

    private static class Listener implements SparkAppHandle.Listener {
        final CountDownLatch runs = new CountDownLatch(1), ended = new CountDownLatch(1);

        public void stateChanged(SparkAppHandle handle) {
            tell("state " + handle.getState());
            if (handle.getState() == SparkAppHandle.State.RUNNING)
                runs.countDown();
            if (handle.getState().isFinal())
                ended.countDown();
        }

        public void infoChanged(SparkAppHandle handle) {
            tell("id " + handle.getAppId());
        }
    }

    public static void main(String[] words) throws Exception {
        String action = words[3];
        File file = new File(words[4]);
        SparkLauncher launcher = new SparkLauncher().setSparkHome(words[0]).setMaster(words[1]).setAppResource(words[2]);
        if (words[2].endsWith(".jar"))
            launcher.setMainClass("org.example.Main");
        int i = 5;
        for (; !words[i].equals("--"); i++)
            launcher.setConf(words[i].split("=", 2)[0], words[i].split("=", 2)[1]);
        for (i++; i < words.length; i++)
            launcher.addAppArgs(words[i]);
        Logger logger = Logger.getLogger("org.firesteel.probe");
        if (action.equals("log")) {
            logger.setUseParentHandlers(false);
            logger.addHandler(new Teller());
            launcher.setConf(SparkLauncher.CHILD_PROCESS_LOGGER_NAME, logger.getName());
        } else {
            launcher.redirectOutput(ProcessBuilder.Redirect.DISCARD).redirectError(ProcessBuilder.Redirect.INHERIT);
        }
        Listener listener = new Listener();
        SparkAppHandle handle = launcher.startApplication(listener);
        if (action.equals("stop") || action.equals("kill")) {
            for (int left = 1200; !file.exists() && left > 0; left--)
                Thread.sleep(50);
            if (!listener.runs.await(60, TimeUnit.SECONDS))
                tell("does not run");
            else if (action.equals("stop"))
                handle.stop();
            else
                handle.kill();
        }
        boolean ended = listener.ended.await(100, TimeUnit.SECONDS);
        // A failing exit status may make FAILED of FINISHED afterwards: until the child is gone.
        for (int left = 1200; ProcessHandle.current().children().findAny().isPresent() && left > 0; left--)
            Thread.sleep(50);
        tell(ended ? "end " + handle.getState() : "no end");
        System.exit(0);
    }
}
