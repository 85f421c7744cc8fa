import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import java.lang.reflect.Field;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** DynamoDB Local, on a free port of the loopback interface only. Its own launcher binds them all. */
public class LoopbackDynamoDb {
  public static void main(String[] arguments) throws Exception {
    DynamoDBProxyServer proxy =
        ServerRunner.createServerFromCommandLineArgs(
            new String[] {"-inMemory", "-sharedDb", "-disableTelemetry"});
    Field inside = DynamoDBProxyServer.class.getDeclaredField("server");
    inside.setAccessible(true);
    ServerConnector connector = (ServerConnector) ((Server) inside.get(proxy)).getConnectors()[0];
    connector.setHost("127.0.0.1");
    connector.setPort(0);
    proxy.start();
    System.out.println("listening " + connector.getLocalPort());
    proxy.join();
  }
}
