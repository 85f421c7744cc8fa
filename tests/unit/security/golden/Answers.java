// What Apache Kafka's own classes answer, as JSON files beside this one: see README.md.

import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.*;
import java.util.concurrent.TimeUnit;
import javax.security.auth.x500.X500Principal;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.metrics.MetricConfig;
import org.apache.kafka.common.metrics.stats.Rate;
import org.apache.kafka.common.metrics.stats.TokenBucket;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.metrics.Quota;
import org.apache.kafka.common.metrics.internals.PluginMetricsImpl;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.security.auth.KafkaPrincipal;
import org.apache.kafka.common.security.auth.SecurityProtocol;
import org.apache.kafka.common.security.oauthbearer.internals.OAuthBearerClientInitialResponse;
import org.apache.kafka.common.security.scram.internals.*;
import org.apache.kafka.common.security.scram.ScramCredential;
import org.apache.kafka.common.security.ssl.SslPrincipalMapper;
import org.apache.kafka.metadata.authorizer.*;
import org.apache.kafka.server.authorizer.*;

public class Answers {
    static final Random random = new Random(16);

    public static void main(String[] args) throws Exception {
        write("authorizer", authorizer());
        write("filters", filters());
        write("rates", rates());
        write("buckets", buckets());
        write("mapping", mapping());
        write("names", names());
        write("scram", scram());
        write("oauth", oauth());
        System.exit(0);
    }

    // --- ACLs

    static final String[] NAMES = {"a", "ab", "abc", "b", "ba", "*", "hardcode", "hard"};
    static final String[] PRINCIPALS = {"User:alice", "User:bob", "User:*", "Group:alice"};
    static final String[] CLIENTS = {"User:alice", "User:alice", "User:bob", "Group:alice", "User:carol", "User:root"};
    static final String[] HOSTS = {"*", "10.0.0.1", "10.0.0.2"};
    static final AclOperation[] OPERATIONS = {
        AclOperation.ALL, AclOperation.READ, AclOperation.WRITE, AclOperation.DELETE, AclOperation.ALTER,
        AclOperation.DESCRIBE, AclOperation.DESCRIBE_CONFIGS, AclOperation.ALTER_CONFIGS, AclOperation.CREATE};

    static <T> T one(T[] of) { return of[random.nextInt(of.length)]; }

    // Few of each, so that many questions meet an entry.
    static final AclOperation[] NARROW = {AclOperation.READ, AclOperation.READ, AclOperation.ALL};
    static final String[] FEW = {"User:alice", "User:alice", "User:*"};

    static AclBinding narrow(int deniesOf10) {
        return new AclBinding(
            new ResourcePattern(ResourceType.TOPIC, one(NAMES), random.nextBoolean() ? PatternType.LITERAL : PatternType.PREFIXED),
            new AccessControlEntry(one(FEW), "*", one(NARROW),
                random.nextInt(10) < deniesOf10 ? AclPermissionType.DENY : AclPermissionType.ALLOW));
    }

    static AclBinding acl(int deniesOf10) {
        return new AclBinding(
            new ResourcePattern(random.nextInt(4) == 0 ? ResourceType.GROUP : ResourceType.TOPIC, one(NAMES),
                random.nextBoolean() ? PatternType.LITERAL : PatternType.PREFIXED),
            new AccessControlEntry(one(PRINCIPALS), one(HOSTS), one(OPERATIONS),
                random.nextInt(10) < deniesOf10 ? AclPermissionType.DENY : AclPermissionType.ALLOW));
    }

    static List<Object> list(AclBinding acl) {
        return List.of((int) acl.pattern().resourceType().code(), (int) acl.pattern().patternType().code(),
            acl.pattern().name(), acl.entry().principal(), acl.entry().host(), (int) acl.entry().operation().code(),
            (int) acl.entry().permissionType().code());
    }

    static List<Object> authorizer() throws Exception {
        List<Object> worlds = new ArrayList<>();
        for (int world = 0; world < 80; world++) {
            StandardAuthorizer authorizer = new StandardAuthorizer();
            boolean allow = random.nextBoolean();
            authorizer.withPluginMetrics(new PluginMetricsImpl(new Metrics(), Map.of()));
            authorizer.configure(Map.of("super.users", "User:root", "allow.everyone.if.no.acl.found", "" + allow));
            List<Object> acls = new ArrayList<>();
            Set<AclBinding> seen = new HashSet<>();
            boolean few = world >= 30;
            for (int i = random.nextInt(few ? 5 : 10); i > 0; i--) {
                AclBinding acl = few ? narrow(2 + world % 5) : acl(world % 4);
                if (!seen.add(acl)) continue;
                acls.add(list(acl));
                authorizer.addAcl(Uuid.randomUuid(), StandardAcl.fromAclBinding(acl));
            }
            authorizer.completeInitialLoad();
            List<Object> questions = new ArrayList<>();
            List<Object> any = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                String principal = few && i > 2 ? "User:alice" : one(CLIENTS);
                String host = HOSTS[1 + random.nextInt(2)];
                AclOperation operation = few && i > 1
                    ? (random.nextInt(3) == 0 ? AclOperation.DESCRIBE : AclOperation.READ)
                    : OPERATIONS[1 + random.nextInt(OPERATIONS.length - 1)];
                ResourceType type = !few && random.nextInt(4) == 0 ? ResourceType.GROUP : ResourceType.TOPIC;
                String name = random.nextInt(8) == 0 ? "zz" : one(NAMES);
                AuthorizableRequestContext context = context(principal, host);
                boolean may = authorizer.authorize(context, List.of(new Action(operation,
                    new ResourcePattern(type, name, PatternType.LITERAL), 1, false, false)))
                    .get(0) == AuthorizationResult.ALLOWED;
                questions.add(List.of(principal, host, (int) operation.code(), (int) type.code(), name, may));
                boolean onAny = authorizer.authorizeByResourceType(context, operation, type) == AuthorizationResult.ALLOWED;
                any.add(List.of(principal, host, (int) operation.code(), (int) type.code(), onAny));
            }
            worlds.add(map("acls", acls, "allow_if_no_acl", allow, "questions", questions, "any", any));
        }
        return worlds;
    }

    static AuthorizableRequestContext context(String principal, String host) throws Exception {
        InetAddress address = InetAddress.getByName(host);
        String[] parts = principal.split(":", 2);
        return new AuthorizableRequestContext() {
            public String listenerName() { return "L"; }
            public SecurityProtocol securityProtocol() { return SecurityProtocol.PLAINTEXT; }
            public KafkaPrincipal principal() { return new KafkaPrincipal(parts[0], parts[1]); }
            public InetAddress clientAddress() { return address; }
            public int requestType() { return 0; }
            public int requestVersion() { return 0; }
            public String clientId() { return "c"; }
            public int correlationId() { return 0; }
        };
    }

    static List<Object> filters() {
        List<Object> found = new ArrayList<>();
        PatternType[] patterns = {PatternType.ANY, PatternType.MATCH, PatternType.MATCH, PatternType.LITERAL, PatternType.PREFIXED};
        ResourceType[] types = {ResourceType.ANY, ResourceType.TOPIC, ResourceType.TOPIC, ResourceType.GROUP};
        for (int i = 0; i < 600; i++) {
            AclBinding acl = acl(5);
            String name = random.nextInt(4) == 0 ? null : one(NAMES);
            String principal = random.nextInt(4) > 0 ? null : one(PRINCIPALS);
            String host = random.nextInt(4) > 0 ? null : one(HOSTS);
            ResourceType type = one(types);
            PatternType pattern = one(patterns);
            AclOperation operation = random.nextInt(4) > 0 ? AclOperation.ANY : one(OPERATIONS);
            AclPermissionType permission = random.nextInt(4) > 0 ? AclPermissionType.ANY : AclPermissionType.ALLOW;
            boolean matches = new AclBindingFilter(new ResourcePatternFilter(type, name, pattern),
                new AccessControlEntryFilter(principal, host, operation, permission)).matches(acl);
            found.add(map("acl", list(acl), "filter", Arrays.asList((int) type.code(), (int) pattern.code(), name,
                principal, host, (int) operation.code(), (int) permission.code()), "matches", matches));
        }
        return found;
    }

    // --- Quotas

    static MetricConfig config(double bound) {
        return new MetricConfig().samples(11).timeWindow(1, TimeUnit.SECONDS).quota(new Quota(bound, true));
    }

    static List<Object> rates() {
        List<Object> runs = new ArrayList<>();
        for (int run = 0; run < 20; run++) {
            Rate rate = new Rate();
            MetricConfig config = config(1000);
            long now = 1_700_000_000_000L;
            List<Object> steps = new ArrayList<>();
            for (int i = 0; i < (run % 2 == 0 ? 60 : 30); i++) {
                now += run % 2 == 0 ? 334 + random.nextInt(4)
                    : random.nextInt(5) == 0 ? random.nextInt(15_000) : random.nextInt(400);
                double value = random.nextInt(2000) - (random.nextInt(10) == 0 ? 1000 : 0);
                rate.record(config, value, now);
                long recorded = now;
                now += run % 2 == 1 && random.nextInt(3) == 0 ? random.nextInt(3_000) : 0;
                double measured = rate.measure(config, now);
                long window = rate.windowSize(config, now);
                long throttle = measured <= 1000 ? 0 : Math.round((measured - 1000) / 1000 * window);
                steps.add(List.of(value, recorded, now, measured, window, throttle));
            }
            runs.add(steps);
        }
        return runs;
    }

    static List<Object> buckets() {
        List<Object> runs = new ArrayList<>();
        for (int run = 0; run < 10; run++) {
            TokenBucket bucket = new TokenBucket();
            MetricConfig config = config(5);
            long now = 1_700_000_000_000L;
            List<Object> steps = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                now += random.nextInt(2_000);
                double value = random.nextInt(30);
                bucket.record(config, value, now);
                double tokens = bucket.measure(config, now);
                steps.add(List.of(value, now, tokens < 0 ? Math.round(-tokens / 5 * 1000) : 0L));
            }
            runs.add(steps);
        }
        return runs;
    }

    // --- Certificates

    static final String[] RULES = {
        "DEFAULT",
        "",
        ", ,DEFAULT,,",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L, DEFAULT",
        "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/",
        "RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/L",
        "RULE:^cn=(.*?),ou=(.*?),dc=(.*?),dc=(.*?)$/$1@$2/U",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L,RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L,"
            + "RULE:^cn=(.*?),ou=(.*?),dc=(.*?),dc=(.*?)$/$1@$2/U,RULE:^.*[Cc][Nn]=([a-zA-Z0-9.]*).*$/$1/U,DEFAULT",
        "RULE:^CN=((\\\\, *|\\w)+)(,.*|$)/$1/,DEFAULT",
        "RULE:.*/x/",
        "RULE:^CN=(.*?),.*$/\\$1-$1-$2-$12-$0/",
        "RULE:^CN=(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)(.).*$/$11:$111:$2/",
        "RULE:^CN=([^,ADEFLTU,]+)(,.*|$)/$1/",
        "RULE:^CN=(a)?.*$/[$1]/",
        "RULE:^CN=(?<who>.*?),.*$/${who}/",
        "RULE://,DEFAULT",
        "  RULE:   /     / ,  DEFAULT  ",
        "RULE:,RULE:,/,RULE:,\\//U,RULE:,/RULE:,/,RULE:,RULE:,/L,RULE:,/L,RULE:, DEFAULT, /DEFAULT/,DEFAULT",
        "RULE:([A-Z]*)/$1/U   ,RULE:([a-z]+)/$1/,   DEFAULT  ",
        "default", "DEFAUL", "DEFAULT/L", "DEFAULT/U", "RULE:CN=(.*?),OU=ServiceUsers.*/$1",
        "rule:^CN=(.*?),OU=ServiceUsers.*$/$1/", "RULE:^CN=(.*?),OU=ServiceUsers.*$/$1/L/U",
        "RULE:^CN=(.*?),OU=ServiceUsers.*$/L", "RULE:^CN=(.*?),OU=ServiceUsers.*$/LU", "RULE:(/x/", "DEFAULT DEFAULT",
    };
    static final String[] DISTINGUISHED = {
        "CN=Duke,OU=ServiceUsers,O=Org,C=US", "CN=Duke,OU=SME,O=mycp,L=Fulton,ST=MD,C=US",
        "cn=duke,ou=sme,dc=mycp,dc=com", "cN=duke,OU=JavaSoft,O=Sun Microsystems",
        "OU=JavaSoft,O=Sun Microsystems,C=US", "CN=Tkac\\, Adam,OU=ITZ,DC=geodis,DC=cz", "CN=abcdefghijklmnop,O=x",
        ",RULE:,", "ABC", "abc", "",
    };

    static List<Object> mapping() {
        List<Object> found = new ArrayList<>();
        for (String rules : RULES) {
            SslPrincipalMapper mapper;
            try {
                mapper = SslPrincipalMapper.fromRules(rules);
            } catch (IllegalArgumentException e) {
                found.add(map("rules", rules, "valid", false, "names", List.of()));
                continue;
            }
            List<Object> names = new ArrayList<>();
            for (String name : DISTINGUISHED) {
                String mapped = null;
                try { mapped = mapper.getName(name); } catch (Exception e) { }
                names.add(Arrays.asList(name, mapped));
            }
            found.add(map("rules", rules, "valid", true, "names", names));
        }
        return found;
    }

    static List<Object> names() throws Exception {
        List<Object> found = new ArrayList<>();
        String[] names = {
            "CN=alice,OU=Sales,O=Example,L=Prague,ST=Bohemia,C=CZ", "CN=Tkac\\, Adam,O=\"Sun, Inc\"", "UID=u1,DC=example,DC=com",
            "CN=\\ leading and trailing\\ ", "CN=a\\+b\\=c\\<d\\>e\\;f\\\"g\\\\h\\#i", "CN=alice+UID=7,O=x",
            "EMAILADDRESS=a@example.com,CN=alice", "CN=Zo\u00eb \u0416 \ud83d\ude00", "STREET=Main 1,CN=x", "", "CN=\\#x",
            "1.2.3.4=#0c0161,CN=b", "T=Dr,SERIALNUMBER=5,CN=c", "CN=", "CN=two  spaces", "CN=\\09tab\\0A,O=\\0Dreturn\\0D", "2.999.3=#0c0161,CN=d",
            "2.5.4.3=#1e0400410042,O=bmp", "2.5.4.3=#020105", "2.5.4.3=#1403416263", "2.5.4.3=#0c03610062",
        };
        for (String name : names) {
            X500Principal principal = new X500Principal(name);
            found.add(List.of(Base64.getEncoder().encodeToString(principal.getEncoded()), principal.getName()));
        }
        return found;
    }

    // --- SASL

    static List<Object> scram() throws Exception {
        List<Object> found = new ArrayList<>();
        for (ScramMechanism mechanism : ScramMechanism.values()) {
            for (String password : new String[] {"pencil", "p\u00e4ss, =w\u00f6rd", "\u2168", "x".repeat(200)}) {
                byte[] salt = new byte[20];
                random.nextBytes(salt);
                ScramFormatter formatter = new ScramFormatter(mechanism);
                byte[] salted = formatter.saltedPassword(password, salt, 4096);
                ScramCredential credential = formatter.generateCredential(salt, salted, 4096);
                found.add(map("mechanism", mechanism.mechanismName(), "password", password, "salt", base64(salt),
                    "salted", base64(salted), "stored_key", base64(credential.storedKey()),
                    "server_key", base64(credential.serverKey())));
            }
        }
        return found;
    }

    static String base64(byte[] bytes) { return Base64.getEncoder().encodeToString(bytes); }

    static List<Object> oauth() {
        String a = "\u0001";
        String[] messages = {
            "n,," + a + "auth=Bearer abc.def.ghi" + a + a, "n,a=alice," + a + "auth=Bearer abc.def.ghi" + a + a,
            "n,," + a + "auth=bearer   abc" + a + a, "n,," + a + "host=h" + a + "port=9092" + a + "auth=BEARER abc==" + a + a,
            "n,," + a + "auth=Bearer abc" + a + "traceId=1" + a + a, "n,," + a + "auth=Basic abc" + a + a,
            "n,," + a + "auth=Bearer abc" + a, "n,," + a + a, "y,," + a + "auth=Bearer abc" + a + a,
            "n,," + a + "auth=Bearer" + a + a, "n,," + a + "auth=Bearer a b" + a + a, "n,a=x=y," + a + "auth=Bearer abc" + a + a,
            "n,," + a + "host=" + a + "auth=Bearer abc" + a + a, "n,," + a + "au th=x" + a + "auth=Bearer abc" + a + a, "", a,
            "n,," + a + "auth=Bearer abc\n" + a + a, "n,," + a + "k=v w=x" + a + "auth=Bearer abc" + a + a,
        };
        List<Object> found = new ArrayList<>();
        for (String message : messages) {
            Object answer = null;
            try {
                var response = new OAuthBearerClientInitialResponse(message.getBytes("UTF-8"));
                answer = List.of(response.authorizationId(), response.tokenValue());
            } catch (Exception e) { }
            found.add(Arrays.asList(message, answer));
        }
        return found;
    }

    // --- JSON

    static Map<String, Object> map(Object... pairs) {
        Map<String, Object> map = new LinkedHashMap<>();
        for (int i = 0; i < pairs.length; i += 2) map.put((String) pairs[i], pairs[i + 1]);
        return map;
    }

    static void write(String name, List<Object> rows) throws Exception {
        StringBuilder text = new StringBuilder("[\n");
        for (int i = 0; i < rows.size(); i++)
            text.append(json(rows.get(i))).append(i + 1 < rows.size() ? ",\n" : "\n");
        Files.writeString(Path.of(name + ".json"), text.append("]\n"));
    }

    static String json(Object value) {
        if (value instanceof Map<?, ?> map) {
            StringJoiner joined = new StringJoiner(", ", "{", "}");
            map.forEach((key, item) -> joined.add(json(key) + ": " + json(item)));
            return joined.toString();
        }
        if (value instanceof List<?> list) {
            StringJoiner joined = new StringJoiner(", ", "[", "]");
            list.forEach(item -> joined.add(json(item)));
            return joined.toString();
        }
        if (!(value instanceof String text)) return String.valueOf(value);
        StringBuilder quoted = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') quoted.append('\\').append(c);
            else if (c < ' ' || c > '~') quoted.append(String.format("\\u%04x", (int) c));
            else quoted.append(c);
        }
        return quoted.append('"').toString();
    }
}
