import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.InvocationTargetException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.utils.Exit;

/**
 * Kafka's command-line tools, one after another in one process: a line of JSON in names a tool's
 * class and its arguments, a line out has what it printed and how it ended.
 */
public final class Tools {
    private static final ObjectMapper JSON = new ObjectMapper();
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private Map<String, Object> ending;

    private Tools() {}

    /** A tool that wants to end the process ends only itself. */
    private static final class Ended extends RuntimeException {}

    public static void main(String[] none) throws IOException {
        PrintStream answers = System.out;
        System.setOut(System.err);
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            var ending = new Tools().run(JSON.readTree(line));
            answers.println(JSON.writeValueAsString(Map.of("ok", ending)));
        }
    }

    private Map<String, Object> run(JsonNode asked) {
        PrintStream usualOut = System.out;
        PrintStream usualErr = System.err;
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(err, true, StandardCharsets.UTF_8));
        Exit.setExitProcedure((status, message) -> {
            end(status);
            throw new Ended();
        });
        try {
            call(asked);
        } finally {
            System.setOut(usualOut);
            System.setErr(usualErr);
        }
        return ending;
    }

    /** What comes after the first exit is only a tool's surprise that it goes on. */
    private void end(int status) {
        if (ending == null) {
            ending = Map.of(
                    "status", status,
                    "out", out.toString(StandardCharsets.UTF_8),
                    "err", err.toString(StandardCharsets.UTF_8));
        }
    }

    private void call(JsonNode asked) {
        String[] arguments = JSON.convertValue(asked.get("arguments"), String[].class);
        try {
            Set<Thread> known = Set.copyOf(hooks());
            Class.forName(asked.get("tool").asText())
                    .getMethod("main", String[].class)
                    .invoke(null, (Object) arguments);
            for (Thread hook : Set.copyOf(hooks())) {
                if (!known.contains(hook) && Runtime.getRuntime().removeShutdownHook(hook)) {
                    hook.run();
                }
            }
            end(0);
        } catch (InvocationTargetException failed) {
            failed.getCause().printStackTrace();
            end(1);
        } catch (ReflectiveOperationException mistake) {
            throw new IllegalArgumentException(mistake);
        }
    }

    /** What is left for the end of the process: some tools do half of their work there. */
    @SuppressWarnings("unchecked")
    private static Set<Thread> hooks() throws ReflectiveOperationException {
        var hooks = Class.forName("java.lang.ApplicationShutdownHooks").getDeclaredField("hooks");
        hooks.setAccessible(true);
        return ((Map<Thread, Thread>) hooks.get(null)).keySet();
    }
}
