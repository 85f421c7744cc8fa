import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * A member of a group: BOOTSTRAP GROUP TOPIC [SETTING=VALUE ...].
 * It prints the partition and offset of each record.
 */
public final class Member {
    private Member() {}

    public static void main(String[] arguments) {
        var settings = new Properties();
        settings.put("bootstrap.servers", arguments[0]);
        settings.put("group.id", arguments[1]);
        settings.put("auto.offset.reset", "earliest");
        for (int i = 3; i < arguments.length; i++) {
            var setting = arguments[i].split("=", 2);
            settings.put(setting[0], setting[1]);
        }
        var bytes = new ByteArrayDeserializer();
        var consumer = new KafkaConsumer<>(settings, bytes, bytes);
        var main = Thread.currentThread();
        Runtime.getRuntime().addShutdownHook(new Thread(() -> {
            consumer.wakeup();
            try {
                main.join();
            } catch (InterruptedException ignored) {
                // The machine ends anyway.
            }
        }));
        consumer.subscribe(List.of(arguments[2]));
        try {
            while (true) {
                for (var one : consumer.poll(Duration.ofMillis(200))) {
                    System.out.println(one.partition() + " " + one.offset());
                }
            }
        } catch (WakeupException stopped) {
            consumer.close();
        }
    }
}
