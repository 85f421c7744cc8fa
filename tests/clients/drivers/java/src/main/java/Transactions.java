import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/** Transactional producers, each by its name, from one operation to the next. */
final class Transactions {
    private static final int PATIENCE_MS = 20_000;
    private final String bootstrap;
    private final Map<String, KafkaProducer<byte[], String>> producers = new HashMap<>();

    Transactions(String bootstrap) {
        this.bootstrap = bootstrap;
    }

    Object perform(JsonNode asked) throws Exception {
        String name = asked.path("producer").asText();
        var producer = producers.get(name);
        switch (asked.get("op").asText()) {
            case "open_producer" -> producers.put(name, open(asked));
            case "begin" -> producer.beginTransaction();
            case "send" -> send(producer, asked);
            case "send_offset" -> sendOffset(producer, asked);
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            case "close_producer" -> producers.remove(name).close(Duration.ofSeconds(1));
            default -> throw new IllegalArgumentException(asked.get("op").asText());
        }
        return null;
    }

    private KafkaProducer<byte[], String> open(JsonNode asked) {
        var settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", asked.get("id").asText());
        settings.put("transaction.timeout.ms", asked.get("timeoutMs").asInt());
        settings.put("max.block.ms", PATIENCE_MS);
        var producer = new KafkaProducer<>(
                settings, new ByteArraySerializer(), new StringSerializer());
        producer.initTransactions();
        return producer;
    }

    private static void send(KafkaProducer<byte[], String> producer, JsonNode asked)
            throws Exception {
        var sent = new ArrayList<Future<RecordMetadata>>();
        for (JsonNode place : asked.get("places")) {
            for (JsonNode value : asked.get("values")) {
                sent.add(producer.send(new ProducerRecord<>(
                        place.get(0).asText(), place.get(1).asInt(), null, value.asText())));
            }
        }
        producer.flush();
        for (var one : sent) {
            one.get(PATIENCE_MS, TimeUnit.MILLISECONDS);
        }
    }

    private static void sendOffset(KafkaProducer<byte[], String> producer, JsonNode asked) {
        var partition = new TopicPartition(asked.get("topic").asText(), 0);
        var offset = new OffsetAndMetadata(asked.get("offset").asLong());
        var group = new ConsumerGroupMetadata(asked.get("group").asText());
        producer.sendOffsetsToTransaction(Map.of(partition, offset), group);
    }
}
