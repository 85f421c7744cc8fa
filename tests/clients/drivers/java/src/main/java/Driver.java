import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Apache Kafka's own client: a line of JSON in is an operation, a line out is its result. */
public final class Driver {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long PATIENCE_MS = 30_000;
    private final String bootstrap;
    private final Transactions transactions;

    private Driver(String bootstrap) {
        this.bootstrap = bootstrap;
        this.transactions = new Transactions(bootstrap);
    }

    public static void main(String[] arguments) throws IOException {
        var driver = new Driver(arguments[0]);
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            output.println(driver.answer(JSON.readTree(line)));
        }
    }

    private JsonNode answer(JsonNode asked) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            answer.set("ok", JSON.valueToTree(perform(asked)));
        } catch (Exception failure) {
            failure.printStackTrace();
            answer.put("error", failure.toString());
        }
        return answer;
    }

    private Object perform(JsonNode asked) throws Exception {
        String topic = asked.path("topic").asText();
        return switch (asked.get("op").asText()) {
            case "produce" -> produce(topic, asked);
            case "consume" -> consume(topic, asked);
            case "create_topic" -> createTopic(topic, asked);
            case "delete_topic" -> deleteTopic(topic);
            case "add_partitions" -> addPartitions(topic, asked.get("partitions").asInt());
            case "own_configs" -> ownConfigs(topic);
            case "alter_configs" -> alterConfigs(topic, asked.get("config"));
            case "delete_records" -> deleteRecords(topic, asked);
            case "describe" -> describe();
            default -> transactions.perform(asked);
        };
    }

    private List<Long> produce(String topic, JsonNode asked) throws Exception {
        var settings = settings();
        settings.put("compression.type", asked.get("codec").asText());
        if (asked.hasNonNull("maxBytes")) {
            settings.put("max.request.size", asked.get("maxBytes").asInt());
        }
        var bytes = new ByteArraySerializer();
        try (var producer = new KafkaProducer<>(settings, bytes, bytes)) {
            var sent = new ArrayList<Future<RecordMetadata>>();
            for (JsonNode record : asked.get("records")) {
                sent.add(producer.send(toRecord(topic, asked.get("partition"), record)));
            }
            var offsets = new ArrayList<Long>();
            for (var future : sent) {
                offsets.add(future.get(PATIENCE_MS, TimeUnit.MILLISECONDS).offset());
            }
            return offsets;
        }
    }

    private static ProducerRecord<byte[], byte[]> toRecord(
            String topic, JsonNode partition, JsonNode asked) throws IOException {
        Integer number = partition.isNull() ? null : partition.asInt();
        Long timestamp = asked.get("timestamp").isNull() ? null : asked.get("timestamp").asLong();
        byte[] key = bytes(asked.get("key"));
        byte[] value = bytes(asked.get("value"));
        var record = new ProducerRecord<>(topic, number, timestamp, key, value);
        for (JsonNode header : asked.get("headers")) {
            record.headers().add(header.get(0).asText(), bytes(header.get(1)));
        }
        return record;
    }

    private static byte[] bytes(JsonNode base64) throws IOException {
        return base64.isNull() ? null : base64.binaryValue();
    }

    private List<Map<String, Object>> consume(String topic, JsonNode asked) {
        var bytes = new ByteArrayDeserializer();
        var settings = settings();
        if (asked.hasNonNull("isolation")) {
            settings.put("isolation.level", asked.get("isolation").asText());
        }
        try (var consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
            var partitions = partitions(consumer, topic, asked.get("partition"));
            consumer.assign(partitions);
            seek(consumer, partitions, asked.get("start"));
            return read(consumer, asked.get("count").asInt());
        }
    }

    private static List<TopicPartition> partitions(
            KafkaConsumer<byte[], byte[]> consumer, String topic, JsonNode partition) {
        if (!partition.isNull()) {
            return List.of(new TopicPartition(topic, partition.asInt()));
        }
        return consumer.partitionsFor(topic).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
    }

    private static void seek(
            KafkaConsumer<byte[], byte[]> consumer, List<TopicPartition> all, JsonNode start) {
        if (start.isNumber()) {
            var asked = all.stream().collect(Collectors.toMap(one -> one, one -> start.asLong()));
            consumer.offsetsForTimes(asked).forEach((one, at) -> consumer.seek(one, at.offset()));
        } else if (start.asText().equals("latest")) {
            consumer.seekToEnd(all);
        } else {
            consumer.seekToBeginning(all);
        }
    }

    private static List<Map<String, Object>> read(
            KafkaConsumer<byte[], byte[]> consumer, int count) {
        var records = new ArrayList<Map<String, Object>>();
        long deadline = System.currentTimeMillis() + PATIENCE_MS;
        while (records.size() < count) {
            if (System.currentTimeMillis() > deadline) {
                throw new IllegalStateException(records.size() + " of " + count + " records came");
            }
            consumer.poll(Duration.ofMillis(200)).forEach(one -> records.add(fromRecord(one)));
        }
        return records.subList(0, count);
    }

    private static Map<String, Object> fromRecord(ConsumerRecord<byte[], byte[]> record) {
        var found = new TreeMap<String, Object>();
        var headers = new ArrayList<Object[]>();
        record.headers().forEach(one -> headers.add(new Object[] {one.key(), one.value()}));
        found.put("key", record.key());
        found.put("value", record.value());
        found.put("headers", headers);
        found.put("timestamp", record.timestamp());
        found.put("partition", record.partition());
        found.put("offset", record.offset());
        return found;
    }

    private Object createTopic(String topic, JsonNode asked) throws Exception {
        var config = new TreeMap<String, String>();
        asked.get("config").fields().forEachRemaining(
                one -> config.put(one.getKey(), one.getValue().asText()));
        var created = new NewTopic(topic, asked.get("partitions").asInt(), (short) 1);
        try (var admin = Admin.create(settings())) {
            return admin.createTopics(List.of(created.configs(config))).all().get();
        }
    }

    private Object deleteTopic(String topic) throws Exception {
        try (var admin = Admin.create(settings())) {
            return admin.deleteTopics(List.of(topic)).all().get();
        }
    }

    private Object addPartitions(String topic, int total) throws Exception {
        try (var admin = Admin.create(settings())) {
            var wanted = Map.of(topic, NewPartitions.increaseTo(total));
            return admin.createPartitions(wanted).all().get();
        }
    }

    private Object ownConfigs(String topic) throws Exception {
        try (var admin = Admin.create(settings())) {
            var resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            var found = admin.describeConfigs(List.of(resource)).all().get().get(resource);
            return found.entries().stream()
                    .filter(one -> one.source() == ConfigEntry.ConfigSource.DYNAMIC_TOPIC_CONFIG)
                    .collect(Collectors.toMap(ConfigEntry::name, ConfigEntry::value));
        }
    }

    private Object alterConfigs(String topic, JsonNode config) throws Exception {
        var changes = new ArrayList<AlterConfigOp>();
        config.fields().forEachRemaining(one -> changes.add(new AlterConfigOp(
                new ConfigEntry(one.getKey(), one.getValue().asText()), AlterConfigOp.OpType.SET)));
        try (var admin = Admin.create(settings())) {
            var resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
            return admin.incrementalAlterConfigs(Map.of(resource, changes)).all().get();
        }
    }

    private Object deleteRecords(String topic, JsonNode asked) throws Exception {
        try (var admin = Admin.create(settings())) {
            var partition = new TopicPartition(topic, asked.get("partition").asInt());
            var before = RecordsToDelete.beforeOffset(asked.get("offset").asLong());
            return admin.deleteRecords(Map.of(partition, before)).all().get();
        }
    }

    private Object describe() throws Exception {
        try (var admin = Admin.create(settings())) {
            var brokers = admin.describeCluster().nodes().get().stream()
                    .map(node -> node.host() + ":" + node.port())
                    .toList();
            var names = admin.listTopics().names().get();
            var topics = new TreeMap<String, Integer>();
            admin.describeTopics(names).allTopicNames().get()
                    .forEach((name, topic) -> topics.put(name, topic.partitions().size()));
            return Map.of("brokers", brokers, "topics", topics);
        }
    }

    private Properties settings() {
        var settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.putAll(security());
        return settings;
    }

    /** Further settings, for brokers that ask who a client is. */
    private static Map<String, String> security() {
        try {
            var given = System.getenv().getOrDefault("CLIENT_SECURITY", "{}");
            return JSON.readValue(given, new TypeReference<Map<String, String>>() {});
        } catch (IOException bad) {
            throw new IllegalArgumentException(bad);
        }
    }
}
