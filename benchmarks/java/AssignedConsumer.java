import java.time.Duration;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * ConsumerPerformance without a group: the same settings, but partition 0 assigned.
 *
 * <p>Usage: AssignedConsumer HOST:PORT TOPIC RECORDS. Bytes and time are those after the first records
 * came: connecting is not what is measured.
 */
public final class AssignedConsumer {
    private static final Duration POLL = Duration.ofMillis(100);
    private static final long SILENCE_MS = 10_000;

    private AssignedConsumer() {}

    public static void main(String[] args) {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings(args[0]))) {
            TopicPartition partition = new TopicPartition(args[1], 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            read(consumer, Long.parseLong(args[2]));
        }
    }

    private static Properties settings(String address) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("receive.buffer.bytes", 2 * 1024 * 1024);
        settings.put("max.partition.fetch.bytes", 1024 * 1024);
        settings.put("check.crcs", false);
        settings.put("enable.auto.commit", false);
        return settings;
    }

    private static void read(KafkaConsumer<byte[], byte[]> consumer, long wanted) {
        long records = 0;
        long bytes = 0;
        long first = 0;
        long last = System.nanoTime();
        while (records < wanted && millis(System.nanoTime() - last) < SILENCE_MS) {
            ConsumerRecords<byte[], byte[]> found = consumer.poll(POLL);
            if (found.isEmpty()) {
                continue;
            }
            last = System.nanoTime();
            if (records == 0) {
                first = last;
            } else {
                bytes += size(found);
            }
            records += found.count();
        }
        System.out.printf("records=%d bytes=%d ms=%d%n", records, bytes, millis(last - first));
    }

    private static long size(ConsumerRecords<byte[], byte[]> found) {
        long bytes = 0;
        for (ConsumerRecord<byte[], byte[]> record : found) {
            bytes += record.value().length;
        }
        return bytes;
    }

    private static long millis(long nanos) {
        return nanos / 1_000_000;
    }
}
