import java.util.Properties;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * ProducerPerformance with a commit every so many records: the tool itself commits by time only.
 *
 * <p>Usage: TransactionalProducer HOST:PORT TOPIC RECORDS SIZE EACH. All else is on the client's
 * defaults. A quarter as many records come first, and are not measured.
 */
public final class TransactionalProducer {
    private TransactionalProducer() {}

    public static void main(String[] args) {
        String topic = args[1];
        int records = Integer.parseInt(args[2]);
        int size = Integer.parseInt(args[3]);
        int each = Integer.parseInt(args[4]);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(settings(args[0], topic))) {
            producer.initTransactions();
            var record = new ProducerRecord<byte[], byte[]>(topic, new byte[size]);
            write(producer, record, records / 4, each);
            long began = System.nanoTime();
            write(producer, record, records, each);
            System.out.printf("records=%d ms=%d%n", records, (System.nanoTime() - began) / 1_000_000);
        }
    }

    private static Properties settings(String address, String topic) {
        Properties settings = new Properties();
        settings.put("bootstrap.servers", address);
        settings.put("transactional.id", topic + "-each");
        settings.put("key.serializer", ByteArraySerializer.class.getName());
        settings.put("value.serializer", ByteArraySerializer.class.getName());
        return settings;
    }

    private static void write(
            KafkaProducer<byte[], byte[]> producer,
            ProducerRecord<byte[], byte[]> record,
            int records,
            int each) {
        for (int written = 0; written < records; written += each) {
            producer.beginTransaction();
            for (int number = 0; number < each; number++) {
                producer.send(record);
            }
            producer.commitTransaction();  // raises what a send has failed of
        }
    }
}
