/*
 * Genuine Spark's Kubernetes objects for many configurations, in one virtual machine.
 *
 * Reads one JSON object a line from standard input and answers with one a line; what a line holds is described in
 * lines.md beside this file. The only argument is the world: a directory below which a line's files are written.
 * Besides the kinds of lines.md there are {"kind": "catalogue"}, the keys and the feature steps of this Spark,
 * {"kind": "command", "command": […]}, a command line of spark-submit, and {"kind": "running"}, a driver in this process,
 * which is answered when it runs; any further line ends it, and is answered when it has ended.
 *
 * Nothing leaves the machine: the client that Spark gets speaks to a scripted API server in this process, which
 * answers what it is sent; a command line, to the server that it names. The environment is exchanged inside the process, because Spark reads it in many places.
 */
package org.apache.spark.deploy.k8s;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.UndeclaredThrowableException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.jar.JarFile;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.hadoop.security.UserGroupInformation;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.LoggerContext;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.LoggerConfig;
import org.apache.logging.log4j.core.config.Property;
import org.apache.spark.SecurityManager;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkContext;
import org.apache.spark.deploy.SparkSubmit;
import org.apache.spark.deploy.k8s.submit.ClientArguments;
import org.apache.spark.deploy.k8s.submit.K8SSparkSubmitOperation;
import org.apache.spark.deploy.k8s.submit.JavaMainAppResource;
import org.apache.spark.deploy.k8s.submit.KubernetesClientApplication;
import org.apache.spark.deploy.k8s.submit.KubernetesClientUtils;
import org.apache.spark.deploy.k8s.submit.KubernetesDriverBuilder;
import org.apache.spark.deploy.k8s.submit.MainAppResource;
import org.apache.spark.deploy.k8s.submit.PythonMainAppResource;
import org.apache.spark.deploy.k8s.submit.RMainAppResource;
import org.apache.spark.internal.config.ConfigEntry;
import org.apache.spark.resource.ExecutorResourceRequest;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.TaskResourceRequest;
import org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBuilder;
import scala.Option;
import scala.jdk.javaapi.CollectionConverters;

public class PodsDriver {
    private static final ObjectMapper json = new ObjectMapper();
    private static final List<String> warnings = new ArrayList<>();
    private static final ApiServer api = newServer();
    private static KubernetesClient client;
    private static String world;
    private static PrintStream out;
    private static BufferedReader in;

    /* Has the pods of the line; takes every object as it is, gives it a uid, and remembers what was sent. */
    private static class ApiServer {
        private static final Pattern PODS = Pattern.compile("/api/v1/namespaces/([^/]+)/pods(?:/([^/?]+))?");
        final HttpServer server;
        final List<JsonNode> pods = new ArrayList<>();
        final List<JsonNode> objects = new ArrayList<>();
        final List<String> requests = new ArrayList<>();

        ApiServer() throws IOException {
            server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
            server.createContext("/", this::answer);
            server.start();
        }

        String address() { return "http://127.0.0.1:" + server.getAddress().getPort(); }

        private synchronized void answer(HttpExchange exchange) throws IOException {
            String body = new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
            String method = exchange.getRequestMethod();
            requests.add(method + " " + exchange.getRequestURI() + (method.equals("DELETE") ? " " + body : ""));
            int status = 404;
            String text = "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"code\":404}";
            Matcher asked = PODS.matcher(exchange.getRequestURI().getPath());
            if (asked.matches() && (method.equals("GET") || method.equals("DELETE"))) {
                ArrayNode found = json.createArrayNode();
                for (JsonNode pod : pods)
                    if (asked.group(1).equals(pod.at("/metadata/namespace").asText()) &&
                        (asked.group(2) == null ? pod.at("/metadata/labels/spark-role").asText().equals("driver") :
                                                  asked.group(2).equals(pod.at("/metadata/name").asText())))
                        found.add(pod);
                if (asked.group(2) == null) {
                    ObjectNode list = json.createObjectNode().put("kind", "PodList").put("apiVersion", "v1");
                    list.putObject("metadata").put("resourceVersion", "1");
                    text = list.set("items", found).toString();
                    status = 200;
                } else if (!found.isEmpty()) {
                    text = found.get(0).toString();
                    status = 200;
                }
            } else if (!body.isEmpty()) {
                ObjectNode object = (ObjectNode) json.readTree(body);
                objects.add(object.deepCopy());
                ObjectNode metadata = object.withObject("/metadata");
                metadata.put("uid", "uid-of-" + object.path("kind").asText().toLowerCase() + "-" +
                             metadata.path("name").asText());
                text = object.toString();
                status = 200;
            }
            byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "application/json");
            exchange.sendResponseHeaders(status, bytes.length);
            exchange.getResponseBody().write(bytes);
            exchange.close();
        }

        synchronized void forget(JsonNode line) {
            pods.clear();
            line.path("pods").forEach(pods::add);
            objects.clear();
            requests.clear();
        }
    }

    private static ApiServer newServer() {
        try {
            return new ApiServer();
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /* What users are warned of, remembered instead of printed. */
    private static void listen() {
        LoggerContext context = (LoggerContext) LogManager.getContext(false);
        AbstractAppender memory = new AbstractAppender("memory", null, null, true, Property.EMPTY_ARRAY) {
            @Override
            public void append(LogEvent event) {
                synchronized (warnings) {
                    warnings.add(event.getMessage().getFormattedMessage());
                }
            }
        };
        memory.start();
        LoggerConfig logger = new LoggerConfig("org.apache.spark.deploy.k8s", Level.WARN, false);
        logger.addAppender(memory, Level.WARN, null);
        context.getConfiguration().addLogger("org.apache.spark.deploy.k8s", logger);
        context.updateLoggers();
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

    private static String fill(String text) {
        return text.replace("{w}", world).replace("{api}", api.address());
    }

    private static String text(JsonNode line, String field) {
        JsonNode value = line.path(field);
        return value.isMissingNode() || value.isNull() ? null : fill(value.asText());
    }

    private static String[] texts(JsonNode list) {
        List<String> found = new ArrayList<>();
        list.forEach(each -> found.add(fill(each.asText())));
        return found.toArray(new String[0]);
    }

    /* The files and directories that were made, to be removed from the last to the first. */
    private static Deque<Path> writeFiles(JsonNode files) throws IOException {
        Deque<Path> made = new ArrayDeque<>();
        for (Map.Entry<String, JsonNode> entry : files.properties()) {
            Path path = Path.of(world, entry.getKey());
            JsonNode content = entry.getValue();
            boolean directory = content.path("directory").asBoolean();
            Deque<Path> missing = new ArrayDeque<>();
            for (Path at = directory ? path : path.getParent(); !Files.exists(at); at = at.getParent())
                missing.push(at);
            for (Path each : missing) {
                Files.createDirectory(each);
                made.push(each);
            }
            if (directory)
                continue;
            Files.write(path, content.isTextual() ? fill(content.asText()).getBytes(StandardCharsets.UTF_8) :
                              Base64.getDecoder().decode(content.path("base64").asText()));
            made.push(path);
        }
        return made;
    }

    private static void remove(Path path) throws IOException {
        if (Files.isDirectory(path)) {
            try (var inside = Files.list(path)) {
                for (Path each : (Iterable<Path>) inside::iterator)
                    remove(each);
            }
        }
        Files.deleteIfExists(path);
    }

    private static SparkConf conf(JsonNode line) {
        SparkConf conf = new SparkConf(false);
        for (Map.Entry<String, JsonNode> entry : line.path("conf").properties())
            conf.set(fill(entry.getKey()), fill(entry.getValue().asText()));
        return conf;
    }

    private static MainAppResource resource(JsonNode line) {
        String path = text(line.path("resource"), "path");
        switch (line.path("resource").path("type").asText()) {
        case "python":
            return new PythonMainAppResource(path);
        case "r":
            return new RMainAppResource(path);
        default:
            return new JavaMainAppResource(Option.apply(path));
        }
    }

    private static JsonNode tree(Object object) throws IOException {
        return json.readTree(Serialization.asJson(object));
    }

    private static ArrayNode trees(scala.collection.Iterable<?> objects) throws IOException {
        ArrayNode list = json.createArrayNode();
        for (Object each : CollectionConverters.asJava(objects))
            list.add(tree(each));
        return list;
    }

    private static <K, V> scala.collection.immutable.Map<K, V> immutable(Map<K, V> map) {
        return scala.collection.immutable.Map$.MODULE$.from(CollectionConverters.asScala(map));
    }

    private static void driver(JsonNode line, ObjectNode answer) throws Exception {
        SparkConf sparkConf = conf(line);
        KubernetesDriverConf conf = KubernetesConf.createDriverConf(
            sparkConf, text(line, "appId"), resource(line), text(line, "mainClass"), texts(line.path("args")),
            Option.apply(text(line, "proxyUser")));
        KubernetesDriverSpec spec = new KubernetesDriverBuilder().buildFromFeatures(conf, client);
        answer.set("pod", tree(spec.pod().pod()));
        answer.set("container", tree(spec.pod().container()));
        answer.set("pre", trees(spec.driverPreKubernetesResources()));
        answer.set("resources", trees(spec.driverKubernetesResources()));
        answer.set("properties", json.valueToTree(spec.getSystemPropertiesAsJavaMap()));
        String name = KubernetesClientUtils.configMapNameDriver();
        var files = KubernetesClientUtils.buildSparkConfDirFilesMap(name, conf.sparkConf(), spec.systemProperties());
        var data = files.updated(Config$.MODULE$.KUBERNETES_NAMESPACE().key(), conf.namespace());
        answer.set("configMap", tree(KubernetesClientUtils.buildConfigMap(name, data, immutable(Map.of()))));
    }

    private static ResourceProfile profile(JsonNode wanted, SparkConf conf) throws Exception {
        org.apache.spark.resource.ResourceProfile$.MODULE$.clearDefaultProfile();
        if (wanted.isNull() || wanted.isMissingNode())
            return org.apache.spark.resource.ResourceProfile$.MODULE$.getOrCreateDefaultProfile(conf);
        Map<String, ExecutorResourceRequest> executor = new java.util.LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : wanted.path("executor").properties())
            executor.put(entry.getKey(), new ExecutorResourceRequest(
                entry.getKey(), entry.getValue().path("amount").asLong(), entry.getValue().path("script").asText(),
                entry.getValue().path("vendor").asText()));
        Map<String, TaskResourceRequest> task = new java.util.LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> entry : wanted.path("task").properties())
            task.put(entry.getKey(), new TaskResourceRequest(entry.getKey(), entry.getValue().asDouble()));
        ResourceProfile profile = new ResourceProfile(immutable(executor), immutable(task));
        Field id = ResourceProfile.class.getDeclaredField("_id");
        id.setAccessible(true);
        id.setInt(profile, wanted.path("id").asInt());
        return profile;
    }

    private static void executor(JsonNode line, ObjectNode answer) throws Exception {
        SparkConf sparkConf = conf(line);
        JsonNode named = line.path("driverPod");
        Pod driverPod = !named.isObject() ? null : new PodBuilder().withNewMetadata()
            .withName(text(named, "name")).withUid(text(named, "uid")).withNamespace(text(named, "namespace"))
            .endMetadata().build();
        SecurityManager security = new SecurityManager(sparkConf, Option.empty(),
                                                       org.apache.spark.internal.config.package$.MODULE$.AUTH_SECRET_FILE());
        security.initializeAuth();
        ResourceProfile profile = profile(line.path("profile"), sparkConf);
        KubernetesExecutorConf conf = KubernetesConf.createExecutorConf(
            sparkConf, text(line, "executorId"), text(line, "appId"), Option.apply(driverPod), profile.id());
        KubernetesExecutorSpec spec = new KubernetesExecutorBuilder().buildFromFeatures(conf, security, client, profile);
        answer.set("pod", tree(spec.pod().pod()));
        answer.set("container", tree(spec.pod().container()));
        answer.set("resources", trees(spec.executorKubernetesResources()));
        if (!(Boolean) sparkConf.get(Config$.MODULE$.KUBERNETES_EXECUTOR_DISABLE_CONFIGMAP()))
            answer.set("configMap", tree(executorConfigMap(conf)));
    }

    /* What KubernetesClusterSchedulerBackend makes for all executors. */
    private static ConfigMap executorConfigMap(KubernetesExecutorConf conf) {
        String name = KubernetesClientUtils.configMapNameExecutor();
        Map<String, String> namespace = Map.of(Config$.MODULE$.KUBERNETES_NAMESPACE().key(), conf.namespace());
        var files = KubernetesClientUtils.buildSparkConfDirFilesMap(name, conf.sparkConf(), immutable(namespace));
        var data = files.updated(Config$.MODULE$.KUBERNETES_NAMESPACE().key(), conf.namespace());
        return KubernetesClientUtils.buildConfigMap(name, data, immutable(Map.of(
            Constants$.MODULE$.SPARK_APP_ID_LABEL(), conf.appId(),
            Constants$.MODULE$.SPARK_ROLE_LABEL(), Constants$.MODULE$.SPARK_POD_EXECUTOR_ROLE())));
    }

    private static void arguments(JsonNode line, ObjectNode answer) throws Exception {
        ClientArguments parsed = ClientArguments.fromCommandLineArgs(texts(line.path("words")));
        MainAppResource resource = parsed.mainAppResource();
        ObjectNode shown = answer.putObject("resource");
        if (resource instanceof PythonMainAppResource)
            shown.put("type", "python").put("path", ((PythonMainAppResource) resource).primaryResource());
        else if (resource instanceof RMainAppResource)
            shown.put("type", "r").put("path", ((RMainAppResource) resource).primaryResource());
        else {
            Option<String> path = ((JavaMainAppResource) resource).primaryResource();
            shown.put("type", "java").put("path", path.isDefined() ? path.get() : null);
        }
        answer.put("mainClass", parsed.mainClass());
        answer.set("args", json.valueToTree(parsed.driverArgs()));
        answer.put("proxyUser", parsed.proxyUser().isDefined() ? parsed.proxyUser().get() : null);
    }

    private static String[] submissionWords(JsonNode line) {
        if (line.has("words"))
            return texts(line.path("words"));
        List<String> words = new ArrayList<>();
        String path = text(line.path("resource"), "path");
        String type = line.path("resource").path("type").asText();
        if (path != null) {
            words.add(type.equals("python") ? "--primary-py-file" :
                      type.equals("r") ? "--primary-r-file" : "--primary-java-resource");
            words.add(path);
        }
        if (line.has("mainClass"))
            words.addAll(List.of("--main-class", text(line, "mainClass")));
        for (String each : texts(line.path("args")))
            words.addAll(List.of("--arg", each));
        if (text(line, "proxyUser") != null)
            words.addAll(List.of("--proxy-user", text(line, "proxyUser")));
        return words.toArray(new String[0]);
    }

    private static void submit(JsonNode line, ObjectNode answer) throws Exception {
        new KubernetesClientApplication().start(submissionWords(line), conf(line));
        answer.set("objects", json.valueToTree(api.objects));
        answer.set("requests", json.valueToTree(api.requests));
    }

    /* --kill and --status: what is printed and what is asked of the API server. */
    private static void operation(JsonNode line, ObjectNode answer) throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            K8SSparkSubmitOperation operation = new K8SSparkSubmitOperation();
            if (line.path("operation").asText().equals("kill"))
                operation.kill(text(line, "submissionId"), conf(line));
            else
                operation.printSubmissionStatus(text(line, "submissionId"), conf(line));
        } finally {
            System.setErr(before);
        }
        answer.put("printed", printed.toString(StandardCharsets.UTF_8));
        answer.set("asked", json.valueToTree(api.requests));
    }

    /* A command line of spark-submit, against whatever server it names: what is printed of --kill and --status. */
    private static void command(JsonNode line, ObjectNode answer) throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream before = System.err;
        System.setErr(new PrintStream(printed, true, StandardCharsets.UTF_8));
        try {
            new SparkSubmit().doSubmit(texts(line.path("command")));
        } finally {
            System.setErr(before);
        }
        answer.put("printed", printed.toString(StandardCharsets.UTF_8));
    }

    private static void running(JsonNode line, ObjectNode answer) throws Exception {
        SparkContext context = new SparkContext(conf(line));
        try {
            out.println(json.createObjectNode().put("running", context.applicationId()));
            out.flush();
            in.readLine();
        } finally {
            context.stop();
        }
        answer.put("ended", true);
    }

    private static void catalogue(ObjectNode answer) throws Exception {
        ObjectNode keys = answer.putObject("keys");
        ArrayNode prefixes = answer.putArray("prefixes");
        ObjectNode volumes = answer.putObject("volumes");
        for (Object module : new Object[] {Config$.MODULE$, Constants$.MODULE$,
                                           org.apache.spark.deploy.k8s.features.VolcanoFeatureStep$.MODULE$})
            for (Method method : module.getClass().getMethods()) {
                if (method.getParameterCount() > 0 || Modifier.isStatic(method.getModifiers()))
                    continue;
                if (ConfigEntry.class.isAssignableFrom(method.getReturnType())) {
                    ConfigEntry<?> entry = (ConfigEntry<?>) method.invoke(module);
                    keys.putObject(entry.key()).put("default", entry.defaultValueString()).put("since", entry.version())
                        .put("public", entry.isPublic());
                } else if (method.getReturnType() == String.class && !method.getName().equals("toString")) {
                    String text = (String) method.invoke(module);
                    if (text != null && text.startsWith("spark."))
                        prefixes.add(text);
                    else if (text != null && method.getName().startsWith("KUBERNETES_VOLUMES_"))
                        volumes.put(method.getName(), text);
                }
            }
        TreeSet<String> steps = new TreeSet<>();
        File jar = new File(KubernetesConf.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        try (JarFile file = new JarFile(jar)) {
            file.stream().map(entry -> entry.getName())
                .filter(name -> name.matches("org/apache/spark/deploy/k8s/features/[A-Za-z]*Step\\.class"))
                .forEach(name -> steps.add(name.replaceAll(".*/|\\.class", "")));
        }
        answer.set("steps", json.valueToTree(steps));
        answer.put("version", org.apache.spark.package$.MODULE$.SPARK_VERSION());
    }

    private static void dispatch(JsonNode line, ObjectNode answer) throws Exception {
        switch (line.path("kind").asText()) {
        case "driver":
            driver(line, answer);
            break;
        case "executor":
            executor(line, answer);
            break;
        case "submit":
            submit(line, answer);
            break;
        case "operation":
            operation(line, answer);
            break;
        case "running":
            running(line, answer);
            break;
        case "command":
            command(line, answer);
            break;
        case "arguments":
            arguments(line, answer);
            break;
        case "catalogue":
            catalogue(answer);
            break;
        default:
            throw new IllegalArgumentException("no such kind");
        }
    }

    private static ObjectNode answer(JsonNode line) throws Exception {
        ObjectNode answer = json.createObjectNode();
        answer.set("id", line.path("id"));
        warnings.clear();
        api.forget(line);
        UserGroupInformation.reset();  // a generated secret is kept in the user's credentials, which drivers deliver
        Map<String, String> env = environment();
        env.clear();
        for (Map.Entry<String, JsonNode> entry : line.path("environment").properties())
            env.put(entry.getKey(), fill(entry.getValue().asText()));
        Deque<Path> made = writeFiles(line.path("files"));
        try {
            dispatch(line, answer);
        } catch (Throwable thrown) {
            Throwable t = thrown instanceof UndeclaredThrowableException ? thrown.getCause() : thrown;
            answer.removeAll();
            answer.set("id", line.path("id"));
            answer.put("error", t.getMessage());
            answer.put("exception", t.getClass().getName());
            if (t.getCause() != null)
                answer.put("cause", t.getCause().toString());
        } finally {
            while (!made.isEmpty())
                remove(made.pop());
        }
        if (!warnings.isEmpty())
            answer.set("warnings", json.valueToTree(warnings));
        return answer;
    }

    public static void main(String[] words) throws Exception {
        out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        world = words[0];
        listen();
        environment().clear();
        client = new KubernetesClientBuilder().withConfig(
            new ConfigBuilder(Config.empty()).withMasterUrl(api.address()).withNamespace("default").build()).build();
        in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        out.println(json.createObjectNode().put("api", api.address()));
        out.flush();
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(answer(json.readTree(line)));
            out.flush();
        }
        System.exit(0);
    }
}
