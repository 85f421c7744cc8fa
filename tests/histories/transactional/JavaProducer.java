import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Properties;
import java.util.Queue;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthorizationException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.OutOfOrderSequenceException;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.UnsupportedVersionException;
import org.apache.kafka.common.serialization.StringSerializer;

/** A transactional producer: a line of JSON in is a call, a line out is how it ended. */
public final class JavaProducer {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String CALL_MS = "5000";
    private final KafkaProducer<String, String> producer;
    private final Queue<Sent> sent = new ArrayDeque<>();

    private record Sent(String value, Future<RecordMetadata> stored) {}

    private JavaProducer(String bootstrap, String transactionalId, String timeoutMs) {
        var settings = new Properties();
        settings.put("bootstrap.servers", bootstrap);
        settings.put("transactional.id", transactionalId);
        settings.put("transaction.timeout.ms", timeoutMs);
        settings.put("linger.ms", "1");
        settings.put("max.block.ms", CALL_MS);
        settings.put("request.timeout.ms", "3000");
        settings.put("delivery.timeout.ms", CALL_MS);
        settings.put("reconnect.backoff.max.ms", "500");
        producer = new KafkaProducer<>(settings, new StringSerializer(), new StringSerializer());
    }

    public static void main(String[] arguments) throws Exception {
        var one = new JavaProducer(arguments[0], arguments[1], arguments[2]);
        var input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        var output = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line = input.readLine(); line != null; line = input.readLine()) {
            output.println(one.answer(JSON.readTree(line)));
        }
    }

    private ObjectNode answer(JsonNode asked) {
        ObjectNode answer = JSON.createObjectNode();
        try {
            perform(asked);
            answer.put("ended", "well");
        } catch (TimeoutException late) {
            // Of these calls the next attempt waits for the first one. A send is not one of them.
            boolean again = !asked.get("call").asText().equals("send");
            answer.put("ended", again ? "late" : "must abort").put("why", late.toString());
        } catch (ProducerFencedException
                | OutOfOrderSequenceException | AuthorizationException
                | UnsupportedVersionException | IllegalStateException fatal) {
            answer.put("ended", "lost").put("why", fatal.toString());
        } catch (KafkaException failure) {
            answer.put("ended", "must abort").put("why", failure.toString());
        }
        reportStored(answer.putArray("stored"));
        return answer;
    }

    private void perform(JsonNode asked) {
        switch (asked.get("call").asText()) {
            case "init" -> producer.initTransactions();
            case "begin" -> producer.beginTransaction();
            case "send" -> send(asked);
            case "flush" -> producer.flush();
            case "commit" -> producer.commitTransaction();
            case "abort" -> producer.abortTransaction();
            default -> throw new IllegalArgumentException(asked.toString());
        }
    }

    private void send(JsonNode asked) {
        String value = asked.get("value").asText();
        int partition = asked.get("partition").asInt();
        String topic = asked.get("topic").asText();
        var record = new ProducerRecord<String, String>(topic, partition, null, value);
        sent.add(new Sent(value, producer.send(record)));
    }

    /** In the order in which they were sent, as far as they have an outcome. */
    private void reportStored(ArrayNode stored) {
        while (!sent.isEmpty() && sent.peek().stored().isDone()) {
            Sent one = sent.remove();
            try {
                RecordMetadata where = one.stored().get();
                if (where.hasOffset()) {
                    String partition = where.topic() + "/" + where.partition();
                    stored.addArray().add(partition).add(one.value()).add(where.offset());
                }
            } catch (Exception failure) {
                // The next call of the producer says so.
            }
        }
    }
}
