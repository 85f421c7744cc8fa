import java.nio.file.Files;
import java.nio.file.Path;
import kafka.Kafka;
import kafka.tools.StorageTool;
import org.apache.kafka.common.utils.Exit;

/** Apache Kafka itself: one node that is broker and controller, formatted if it is new. */
public final class SingleNode {
    private static final String CLUSTER = "dGhlIG90aGVyIGJyb2tlcg";

    private SingleNode() {}

    public static void main(String[] arguments) {
        Path properties = Path.of(arguments[0]);
        if (!Files.exists(properties.resolveSibling("data").resolve("meta.properties"))) {
            format(properties);
        }
        Kafka.main(new String[] {properties.toString()});
    }

    private static void format(Path properties) {
        Exit.setExitProcedure((status, message) -> {
            if (status != 0) {
                Runtime.getRuntime().halt(status);
            }
        });
        // Without eligible leader replicas, for which the broker would have a config of its own.
        StorageTool.main(
                new String[] {
                    "format", "-t", CLUSTER, "-c", properties.toString(), "--standalone",
                    "--feature", "eligible.leader.replicas.version=0"
                });
        Exit.resetExitProcedure();
    }
}
