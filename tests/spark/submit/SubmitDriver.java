/*
 * Genuine spark-submit as a server for many command lines, in one virtual machine.
 *
 * Reads one JSON object a line from standard input and answers with one a line:
 *   {"words": [...], "env": {...}, "classpath": [...], "launcher": {...}}
 * words: what follows bin/spark-submit. env: the whole environment. classpath: directories in front of the class path
 * (where HADOOP_CONF_DIR would be). launcher: what bin/spark-class adds to the environment when it asks Spark's launcher
 * library to rewrite the words; without it SparkSubmit gets them as they are. start: whether the submission is carried
 * out, in this process.
 *
 * Answers: "arguments", "classpath", "conf", "mainClass" of SparkSubmit.prepareSubmitEnvironment, or "error",
 * "exception" (its class) and "exit"; "printed" (what the user sees), "action", "parsed" (the report of --verbose),
 * "launched" (the words after the launcher), "rows" (see OptionAssigner).
 *
 * The environment is exchanged inside the process, because Spark reads it in many places. This works as long as
 * nothing of it is read before the first case: all of Spark's classes are loaded for the first one.
 */
package org.apache.spark.deploy;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;

public class SubmitDriver {
    private static final String SPARK_SUBMIT = "org.apache.spark.deploy.SparkSubmit";
    private static final ObjectMapper json = new ObjectMapper();
    private static final ByteArrayOutputStream printed = new ByteArrayOutputStream();

    /* Spark wants to leave the process. */
    private static class Exit extends RuntimeException {
        final int status;
        Exit(int status) { this.status = status; }
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> environment() throws Exception {
        Field unmodifiable = Class.forName("java.lang.ProcessEnvironment").getDeclaredField("theUnmodifiableEnvironment");
        unmodifiable.setAccessible(true);
        Object view = unmodifiable.get(null);
        Field below = Class.forName("java.util.Collections$UnmodifiableMap").getDeclaredField("m");
        below.setAccessible(true);
        return (Map<String, String>) below.get(view);
    }

    private static Object module(String name) throws Exception {
        return Class.forName(name + "$").getField("MODULE$").get(null);
    }

    /* Spark's function for leaving, of one argument or two: it throws Exit instead. */
    private static void replaceExit() throws Exception {
        Object submit = module(SPARK_SUBMIT);
        for (Method method : submit.getClass().getMethods())
            if (method.getName().equals("exitFn_$eq")) {
                Class<?> function = method.getParameterTypes()[0];
                method.invoke(submit, Proxy.newProxyInstance(function.getClassLoader(), new Class<?>[] {function},
                    (proxy, called, arguments) -> {
                        if (called.getName().startsWith("apply"))
                            throw new Exit(arguments != null && arguments.length > 0 ?
                                           ((Number) arguments[0]).intValue() : 1);
                        return called.getName().equals("toString") ? "exit" : null;
                    }));
            }
        submit.getClass().getMethod("printStream_$eq", PrintStream.class)
            .invoke(submit, new PrintStream(printed, true, "UTF-8"));
    }

    /* What SparkSubmit.main makes: prints its messages instead of logging them. */
    private static SparkSubmit newSubmit() throws Exception {
        for (int i = 1; i < 9; i++) {
            Class<?> found;
            try {
                found = Class.forName(SPARK_SUBMIT + "$$anon$" + i);
            } catch (ClassNotFoundException e) {
                continue;
            }
            if (!SparkSubmit.class.isAssignableFrom(found))
                continue;
            Constructor<?> constructor = found.getDeclaredConstructors()[0];
            constructor.setAccessible(true);
            return (SparkSubmit) constructor.newInstance();
        }
        throw new IllegalStateException("SparkSubmit.main's own kind of SparkSubmit was not found");
    }

    private static List<String> strings(Object scalaSequence) {
        List<String> list = new ArrayList<>();
        scala.collection.Iterator<?> each = ((scala.collection.Iterable<?>) scalaSequence).iterator();
        while (each.hasNext())
            list.add((String) each.next());
        return list;
    }

    /* The words as the launcher hands them to SparkSubmit. Its refusals are printed, with the usage, as by its Main. */
    private static List<String> launch(List<String> words, Map<String, String> env, Map<String, Object> answer)
        throws Throwable {
        Class<?> type = Class.forName("org.apache.spark.launcher.SparkSubmitCommandBuilder");
        Constructor<?> constructor = type.getDeclaredConstructor(List.class);
        Method build = type.getDeclaredMethod("buildCommand", Map.class);
        constructor.setAccessible(true);
        build.setAccessible(true);
        List<?> command;
        try {
            command = (List<?>) build.invoke(constructor.newInstance(words), new HashMap<>(env));
        } catch (InvocationTargetException e) {
            if (!(e.getCause() instanceof IllegalArgumentException))
                throw e.getCause();
            answer.put("error", e.getCause().getMessage());
            answer.put("exception", "launcher");
            return usage(words);
        }
        int at = command.indexOf(SPARK_SUBMIT);
        if (at < 0)
            throw new IllegalStateException("the launcher starts something else: " + command);
        List<String> launched = new ArrayList<>();
        for (Object word : command.subList(at + 1, command.size()))
            launched.add((String) word);
        return launched;
    }

    /* After a refusal the launcher asks SparkSubmit for the usage, of the same class if there was one. */
    private static List<String> usage(List<String> words) throws Throwable {
        Class<?> type = Class.forName("org.apache.spark.launcher.Main$MainClassOptionParser");
        Constructor<?> constructor = type.getDeclaredConstructors()[0];
        constructor.setAccessible(true);
        Object parser = constructor.getParameterCount() == 0 ? constructor.newInstance() :
                        constructor.newInstance(new Object[constructor.getParameterCount()]);
        Method parse = Class.forName("org.apache.spark.launcher.SparkSubmitOptionParser")
                           .getDeclaredMethod("parse", List.class);
        parse.setAccessible(true);
        try {
            parse.invoke(parser, words);
        } catch (InvocationTargetException ignored) {
        }
        Field name = type.getDeclaredField("className");
        name.setAccessible(true);
        List<String> help = new ArrayList<>();
        if (name.get(parser) != null)
            help.addAll(Arrays.asList("--class", (String) name.get(parser)));
        help.add("--usage-error");
        return help;
    }

    private static void submit(List<String> words, Map<String, Object> answer) throws Throwable {
        SparkSubmit submit = newSubmit();
        Method parse = SparkSubmit.class.getDeclaredMethod("parseArguments", String[].class);
        parse.setAccessible(true);
        SparkSubmitArguments parsed;
        try {
            parsed = (SparkSubmitArguments) parse.invoke(submit, (Object) words.toArray(new String[0]));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
        String action = String.valueOf(parsed.action());
        answer.put("action", action);
        if (parsed.verbose())
            answer.put("parsed", parsed.toString());
        if (!action.equals("SUBMIT"))
            return;
        Method prepare = null;
        for (Method method : SparkSubmit.class.getMethods())
            if (method.getName().equals("prepareSubmitEnvironment"))
                prepare = method;
        scala.Tuple4<?, ?, ?, ?> four;
        try {
            four = (scala.Tuple4<?, ?, ?, ?>) prepare.invoke(submit, parsed, scala.Option.apply(null));
        } catch (InvocationTargetException e) {
            throw e.getCause();
        }
        Map<String, String> conf = new TreeMap<>();
        Object all = four._3().getClass().getMethod("getAll").invoke(four._3());
        for (Object pair : (Object[]) all)
            conf.put((String) ((scala.Tuple2<?, ?>) pair)._1(), (String) ((scala.Tuple2<?, ?>) pair)._2());
        answer.put("arguments", strings(four._1()));
        answer.put("classpath", strings(four._2()));
        answer.put("conf", conf);
        answer.put("mainClass", four._4());
        answer.put("exit", 0);
    }

    /* Carries out the submission. The caller's environment must make it return, rather than run an application here. */
    private static void start(List<String> words, Map<String, Object> answer) throws Throwable {
        Method logOut = org.apache.hadoop.security.UserGroupInformation.class.getDeclaredMethod("reset");
        logOut.setAccessible(true);
        logOut.invoke(null);
        newSubmit().doSubmit(words.toArray(new String[0]));
        answer.put("exit", 0);
    }

    /* What Spark keeps from one case to the next. */
    private static void forget() throws Exception {
        printed.reset();
        OptionAssigner.rows.clear();
        Object r = module("org.apache.spark.api.r.RUtils");
        r.getClass().getMethod("rPackages_$eq", scala.Option.class).invoke(r, scala.Option.apply(null));
        org.apache.hadoop.fs.FileSystem.closeAll();
    }

    @SuppressWarnings("unchecked")
    private static Map<String, Object> run(Map<String, Object> question) throws Exception {
        Map<String, Object> answer = new LinkedHashMap<>();
        Map<String, String> env = (Map<String, String>) question.get("env");
        Map<String, String> mine = environment();
        mine.clear();
        mine.putAll(env);
        List<URL> front = new ArrayList<>();
        for (Object directory : (List<Object>) question.getOrDefault("classpath", Collections.emptyList()))
            front.add(new File((String) directory).toURI().toURL());
        Thread.currentThread().setContextClassLoader(
            new URLClassLoader(front.toArray(new URL[0]), SubmitDriver.class.getClassLoader()));
        forget();
        try {
            List<String> words = (List<String>) question.get("words");
            Map<String, String> launcher = (Map<String, String>) question.get("launcher");
            if (launcher != null) {
                launcher.forEach(mine::putIfAbsent);
                words = launch(words, env, answer);
                answer.put("launched", words);
                mine.keySet().retainAll(env.keySet());
            }
            if (question.get("start") != null)
                start(words, answer);
            else
                submit(words, answer);
        } catch (Exit e) {
            answer.put("exit", e.status & 255);
        } catch (Throwable e) {
            if (e.getClass().getSimpleName().equals("SparkUserAppException"))
                answer.put("exit", (Integer) e.getClass().getMethod("exitCode").invoke(e) & 255);
            else {
                answer.put("error", String.valueOf(e.getMessage()));
                answer.put("exception", e.getClass().getName());
                answer.put("exit", 1);
                if (question.get("trace") != null) {
                    java.io.StringWriter trace = new java.io.StringWriter();
                    e.printStackTrace(new java.io.PrintWriter(trace));
                    answer.put("trace", trace.toString());
                }
            }
        }
        answer.put("printed", new String(printed.toByteArray(), StandardCharsets.UTF_8));
        List<Object[]> rows = new ArrayList<>();
        for (OptionAssigner row : OptionAssigner.rows)
            rows.add(row.summary());
        answer.put("rows", rows);
        return answer;
    }

    /* The options of this version, for the coverage. */
    private static List<List<String>> names(String field) throws Exception {
        Class<?> type = Class.forName("org.apache.spark.launcher.SparkSubmitOptionParser");
        Constructor<?> constructor = type.getDeclaredConstructor();
        constructor.setAccessible(true);
        Field options = type.getDeclaredField(field);
        options.setAccessible(true);
        List<List<String>> lists = new ArrayList<>();
        for (String[] spellings : (String[][]) options.get(constructor.newInstance()))
            lists.add(Arrays.asList(spellings));
        return lists;
    }

    public static void main(String[] words) throws Exception {
        PrintStream out = new PrintStream(System.out, true, "UTF-8");
        PrintStream console = new PrintStream(printed, true, "UTF-8");
        System.setOut(console);
        System.setErr(console);
        Properties properties = (Properties) System.getProperties().clone();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        replaceExit();
        Map<String, Object> hello = new LinkedHashMap<>();
        hello.put("options", names("opts"));
        hello.put("switches", names("switches"));
        out.println(json.writeValueAsString(hello));
        for (String line; (line = in.readLine()) != null;) {
            System.setProperties((Properties) properties.clone());
            out.println(json.writeValueAsString(run(json.readValue(line, Map.class))));
        }
    }
}
