import java.io.FileInputStream;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;

/** Counts the words of lines: input, repartition by word, a store with a changelog, output. */
public final class WordCount {
    private WordCount() {}

    public static void main(String[] arguments) throws Exception {
        var settings = new Properties();
        try (var file = new FileInputStream(arguments[0])) {
            settings.load(file);
        }
        var text = Serdes.String();
        var builder = new StreamsBuilder();
        builder.stream(arguments[1], Consumed.with(text, text))
                .flatMapValues(line -> List.of(line.split(" ")))
                .groupBy((key, word) -> word, Grouped.with("words", text, text))
                .count(Materialized.as("counts"))
                .toStream()
                .to(arguments[2], Produced.with(text, Serdes.Long()));
        var streams = new KafkaStreams(builder.build(), settings);
        Runtime.getRuntime().addShutdownHook(new Thread(streams::close));
        streams.start();
    }
}
