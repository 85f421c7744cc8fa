"""What tests need beyond PyPI: servers, drivers and tools that are fetched or built.

Each is made once and kept in the cache of builds. `make test` makes all of them before the first
test begins (prepare.py), because a Go build on a busy machine takes longer than a test may. A test
gets one by calling it. If a tool that makes it is absent, the test is skipped, or fails under
CI=true.
"""

import functools
import os
import sys
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from support.builds import Command, built, cache, environment_with, locked, run
from support.tools import require

TESTS = Path(__file__).parents[1]
AXE = TESTS / "browser" / "axe"
DRIVERS = TESTS / "clients" / "drivers"
FOREIGN = TESTS / "foreign" / "sources"
FRAMEWORKS = TESTS / "frameworks" / "java"
JUDGE = TESTS / "histories" / "judge"
SERVERS = TESTS / "support" / "servers"
ROOT = TESTS.parent

VERSITYGW = "v1.8.0"
DYNAMODB_LOCAL = "2.6.1"
KAFKA = "4.3.1"
JUNIT = "1.13.4"
SAM = "aws-sam-cli==1.170.0"
LAMBDA_CLIENT = "awslambdaric==4.2.2"
FRANZ_GO = "github.com/twmb/franz-go/pkg/kgo"

Make = Callable[[], Path]


class Need(NamedTuple):
    what: str
    tools: tuple[str, ...]
    """The first of them does the work. Two runs of one tool may get in each other's way."""
    make: Make


NEEDS: list[Need] = []


def need(what: str, *tools: str) -> Callable[[Make], Make]:
    def register(make: Make) -> Make:
        @functools.cache
        def made() -> Path:
            for tool in tools:
                require(tool, f"{what} needs it")
            return make()

        NEEDS.append(Need(what, tools, made))
        return made

    return register


def once(name: str, *commands: Command, **environment: str) -> Path:
    """A folder that the commands made. They find its path in $TARGET."""
    target = cache() / name
    with locked(cache() / f"{name}.lock"):
        if not target.exists():
            draft = cache() / f"{name}.partial"
            draft.mkdir(exist_ok=True)
            for command in commands:
                run(command, TESTS, {**os.environ, **environment, "TARGET": str(draft)})
            draft.rename(target)
    return target


def with_maven(sources: Path, *goals: str) -> Path:
    command = ["mvn", "-q", "-B", *goals, "dependency:copy-dependencies"]
    return built(sources, [command]) / "target"


@need("versitygw, a real S3 server", "go")
def versitygw() -> Path:
    package = f"github.com/versity/versitygw/cmd/versitygw@{VERSITYGW}"
    install = ["sh", "-c", f'GOBIN="$TARGET" go install {package}']
    return once(f"versitygw-{VERSITYGW}", install) / "versitygw"


@need("franz-go's driver", "go")
def go_driver() -> Path:
    return built(DRIVERS / "go", [["go", "build", "-o", "driver", "."]]) / "driver"


@need("what is built with Sarama, and the group members of franz-go", "go")
def go_members() -> Path:
    build = ["go", "build", "-o", "bin/", "./franz", "./sarama", "./sarama_driver"]
    return built(DRIVERS / "go_members", [build]) / "bin"


@need("franz-go's own tests", "go")
def franz_go_tests() -> Path:
    build = ["go", "test", "-c", "-o", "kgo.test", FRANZ_GO]
    return built(FOREIGN / "franz_go", [build]) / "kgo.test"


@need("the judge of histories", "go")
def history_judge() -> Path:
    return built(JUDGE, [["go", "build", "-o", "judge", "."]]) / "judge"


@need(f"DynamoDB Local {DYNAMODB_LOCAL}", "mvn", "java", "javac")
def dynamodb_local() -> Path:
    pom = SERVERS / "dynamodb-local.pom.xml"
    goal = f'mvn -B -q -f "{pom}" dependency:copy-dependencies "-DoutputDirectory=$TARGET"'
    return once(f"dynamodb-local-{DYNAMODB_LOCAL}", ["sh", "-c", goal])


@need(f"Apache Kafka {KAFKA} and its tools", "mvn", "java")
def apache_kafka() -> Path:
    return with_maven(DRIVERS / "kafka", "compile")


@need("the Java client's driver", "mvn", "java")
def java_driver() -> Path:
    return with_maven(DRIVERS / "java", "compile")


@need("JUnit", "mvn", "java")
def junit() -> Path:
    name = "junit-platform-console-standalone"
    artifact = f"org.junit.platform:{name}:{JUNIT}"
    copy = f'mvn -q -B dependency:copy -Dartifact={artifact} "-DoutputDirectory=$TARGET"'
    return once(f"junit-{JUNIT}", ["sh", "-c", copy]) / f"{name}-{JUNIT}.jar"


@need("Kafka Streams, Kafka Connect and a program for them", "mvn", "java")
def frameworks() -> Path:
    return with_maven(FRAMEWORKS, "compile")


@need("Kafka's message definitions", "mvn")
def kafka_clients_jar() -> Path:
    artifact = f"org.apache.kafka:kafka-clients:{KAFKA}"
    copy = f'mvn -q -B dependency:copy -Dartifact={artifact} "-DoutputDirectory=$TARGET"'
    return once(f"kafka-clients-{KAFKA}", ["sh", "-c", copy]) / f"kafka-clients-{KAFKA}.jar"


@need("Spark's own Kafka connector", "mvn")
def spark_connector() -> Path:
    return with_maven(TESTS / "pipeline" / "connector") / "dependency"


@need("Delta Lake for Spark", "mvn")
def delta_lake() -> Path:
    return with_maven(TESTS / "pipeline" / "delta") / "dependency"


@need("Chromium, a browser for the console", "chromium")
def chromium() -> Path:
    """Debian's: Playwright's own is in no package registry."""
    return Path(require("chromium", "the console is looked at in it"))


@need("axe, which looks for what a screen reader cannot use", "npm")
def axe() -> Path:
    made = built(AXE, [["npm", "ci", "--no-audit", "--no-fund"]])
    return made / "node_modules" / "axe-core" / "axe.min.js"


@need("KafkaJS", "npm", "node")
def kafkajs() -> Path:
    return built(DRIVERS / "node", [["npm", "ci", "--no-audit", "--no-fund"]])


@need("librdkafka's own tests of ACLs, SCRAM and logins that end", "cargo", "cc", "make")
def librdkafka_tests() -> Path:
    """Its sources are in the crate that wraps it. The tests that are not run are left out: the
    program that runs them names them all, so each is a function that fails."""
    at = "vendor/rdkafka-sys/librdkafka"
    tests = "0081-admin.c 0142-reauthentication.c"
    without = "gssapi curl zlib zstd lz4-ext optimization"
    configure = " ".join(["./configure", *(f"--disable-{each}" for each in without.split())])
    others = "s/^_TEST_DECL(\\(.*\\));/int main_\\1(void) { return 1; }/p"
    commands = [
        ["cargo", "vendor", "--locked", "--quiet", "vendor"],
        ["sh", "-c", f"cd {at} && {configure}"],
        ["make", "-j2", "-C", f"{at}/src", "librdkafka.a"],
        ["make", "-C", f"{at}/src-cpp", "librdkafka++.a"],
        ["sh", "-c", f"cd {at}/tests && sed -n '{others}' test.c | "
         "grep -v -e 0081 -e 0142 >others.c"],
        ["make", "-C", f"{at}/tests", "-o", "interceptor_test", f"TESTSRCS_C={tests} others.c",
         "TESTSRCS_CXX=", "test-runner"],
    ]  # fmt: skip
    return built(FOREIGN / "librdkafka", commands) / at / "tests" / "test-runner"


@need("franz-go's client of schema registries", "go")
def schemas_go() -> Path:
    return built(DRIVERS / "schemas_go", [["go", "build", "-o", "driver", "."]])


@need("KafkaJS's client of schema registries", "npm", "node")
def schemas_node() -> Path:
    return built(DRIVERS / "schemas_node", [["npm", "ci", "--no-audit", "--no-fund"]])


@need("kafka-python's own tests")
def kafka_python_tests() -> Path:
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "download"]
    fetch = [*pip, "--no-deps", "--no-binary", ":all:", "-r", "requirements.txt"]
    unpack = ["tar", "-xzf", "kafka_python-3.0.12.tar.gz", "--strip-components=1"]
    return built(FOREIGN / "kafka_python", [fetch, unpack])


@need("the AWS SAM command line")
def sam() -> Path:
    return environment_with(SAM)


@need("Lambda's runtime client")
def lambda_client() -> Path:
    return environment_with(LAMBDA_CLIENT) / "python"


@need("the wheels of the functions, for pip's cache", "make")
def function_wheels() -> Path:
    """For every machine and Python that tests build them for. What is built here is thrown away."""
    here = f"{sys.version_info.major}.{sys.version_info.minor}"
    other = "3.12" if here == "3.13" else "3.13"
    commands = [
        [
            "sh",
            "-c",
            f'make -C {folder} build-{name} "ARTIFACTS_DIR=$TARGET" {choice} && rm -r "$TARGET"/*',
        ]
        for folder, name in (
            ("../layers/samsa", "SamsaLayer"),
            ("../functions/http", "HttpFunction"),
        )
        for choice in (
            f"ARCH=aarch64 PYTHON_VERSION={here}",
            f"ARCH=aarch64 PYTHON_VERSION={other}",
            f"ARCH={os.uname().machine} PYTHON_VERSION={here}",
        )
    ]
    pins = [ROOT / "layers/samsa/requirements.txt", ROOT / "functions/http/requirements.txt"]
    digest = zlib.crc32(b"".join(file.read_bytes() for file in pins))
    return once(f"function-wheels-{here}-{digest:x}", *commands, PYTHON=sys.executable)
