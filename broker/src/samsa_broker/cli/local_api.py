"""samsa local-api: the serverless bundle on one machine, behind an API Gateway like AWS's."""

import argparse
import os
from configparser import ConfigParser
from configparser import Error as ConfigError
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from samsa.ports import Unavailable
from samsa.runtime.logs import set_up
from samsa.runtime.probing import check_stores
from samsa.runtime.stopping import told_to_stop
from samsa.runtime.store_address import BadUrl, read_remote_url

from .options import add_check, add_command, add_logs, add_number, port, positive, seconds
from .serving import explain, fail, serve

CHECKOUT = Path(__file__).parents[4]
DATA = "samsa-serverless-data"
EXAMPLES = """
examples:
  samsa local-api                             on 127.0.0.1:3001; table and objects are in
                                              ./samsa-serverless-data, and the janitor runs
                                              every five minutes
  samsa local-api --ledger 'dynamodb://samsa?endpoint=http://127.0.0.1:8000' \\
                  --objects 's3://samsa?endpoint=http://127.0.0.1:9000'
                                              on DynamoDB Local and any S3, on 127.0.0.1:3001;
                                              the table is made, the bucket must be there
  samsa local-api … --sign                    clients sign as AWS_ACCESS_KEY_ID of this shell
  samsa local-api … --sign --callers team.ini --acls \\
                  --super-user User:arn:aws:iam::123456789012:user/admin
                                              several callers, each with its own rights; shims sign
                                              by AWS_SHARED_CREDENTIALS_FILE=team.ini and --profile
  samsa local-api … --chaos-drop 0.01 --chaos-kill 0.01 --chaos-delay 0.05
                                              faults that clients have to expect anyway

then, in another terminal:
  samsa shim --url ws://127.0.0.1:3001/local --no-sign
"""


def add_to(commands: Any) -> None:
    command = add_command(
        commands,
        "local-api",
        brief="run the Lambda functions behind a local API Gateway",
        description="Run the functions of the serverless bundle behind a local API Gateway, with "
        "the real one's limits: text only, 128 KB messages, 32 KB frames, 29 s, 10 min, 2 h.",
        epilog=EXAMPLES,
    )
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    command.add_argument("--port", type=port, default=3001, help="0 picks a free one (%(default)s)")
    command.add_argument("--stage", default="local", help="first part of the path (%(default)s)")
    command.add_argument(
        "--data", metavar="DIR", type=Path, default=Path(DATA),
        help="where table and objects are, unless URLs name others (./%(default)s)",
    )  # fmt: skip
    command.add_argument("--ledger", metavar="URL", help="dynamodb://TABLE?endpoint=…")
    command.add_argument("--objects", metavar="URL", help="s3://BUCKET?endpoint=…")
    command.add_argument(
        "--janitor-every", metavar="S", type=_duration,
        help="how often the janitor runs, in seconds; 0 for never (300 with --data, 0 with URLs)",
    )  # fmt: skip
    command.add_argument(
        "--functions", metavar="DIR", type=Path, default=CHECKOUT / "functions",
        help="the folder with gateway/app.py (that of this checkout)",
    )  # fmt: skip
    command.add_argument(
        "--sign",
        action="store_true",
        help="ask for SigV4 signatures, made with the AWS credentials of this environment",
    )
    command.add_argument(
        "--callers", metavar="FILE", type=Path,
        help="further callers that may sign: an AWS credentials file, in which a profile is a user "
        "of its name, or has role = NAME",
    )  # fmt: skip
    command.add_argument(
        "--acls", action="store_true", help="check every request against ACLs (needs --sign)"
    )
    command.add_argument(
        "--super-user", metavar="PRINCIPAL", action="append", default=[],
        help="may do everything; may be given more than once",
    )  # fmt: skip
    add_check(command, "begin even if the table or the bucket cannot be reached")
    _add_limits(command.add_argument_group("limits", "API Gateway's own, shorter for a test"))
    _add_chaos(command.add_argument_group("chaos"))
    add_logs(command)
    command.set_defaults(run=run)


def _add_limits(group: Any) -> None:
    limit = partial(add_number, group)
    limit("--integration-timeout", seconds, 29.0, "how long an answer is waited for", "S")
    limit("--function-timeout", seconds, 30.0, "after which a function is ended", "S")
    limit("--idle-timeout", seconds, 600.0, "after which a silent connection is closed", "S")
    limit("--life", seconds, 7200.0, "after which any connection is closed", "S")
    limit("--requests-per-second", positive, 10_000, "messages in, of all connections")
    limit("--request-burst", positive, 5_000, "that may come at once")
    limit("--connections-per-second", positive, 500, "new ones")
    limit("--environments", positive, 16, "function processes at most")


def _add_chaos(group: Any) -> None:
    chance = partial(add_number, group)
    chance("--chaos-drop", _chance, 0.0, "chance that a message breaks its connection", "P")
    chance("--chaos-kill", _chance, 0.0, "chance that an invocation is killed", "P")
    late = "delay invocations by up to so much, which reorders them"
    chance("--chaos-delay", _duration, 0.0, late, "S")
    chance("--chaos-seed", int, 0, "the same chances in the same order")


def run(given: argparse.Namespace) -> int:
    set_up(given.log_level, given.log_format)
    if wrong := why_no_functions(given.functions) or _why_no_stores(given):
        return fail(wrong)
    try:
        from samsa_websocket.local_gateway import app
        from samsa_websocket.local_gateway.stores.embedded import StoresUnusable
    except ImportError as error:
        return fail(f"{error}; try: pip install './websocket_api[local-gateway]', in the checkout")
    try:
        settings = _settings(given, app)
        serve(_serve(settings, app, given.check))
    except KeyError as error:
        return fail(f"--sign needs {error.args[0]} in the environment")
    except (BadCallers, BadUrl, StoresUnusable) as error:
        return fail(str(error))
    except (OSError, Unavailable) as error:
        return fail(explain(error, given))
    return 0


def why_no_functions(folder: Path) -> str:
    """Empty if they are there."""
    if (folder / "gateway" / "app.py").exists():
        return ""
    return (
        f"{folder} holds no gateway/app.py. Run this from a checkout of Samsa, "
        "or name its folder with --functions"
    )


def _why_no_stores(given: argparse.Namespace) -> str:
    if bool(given.ledger) == bool(given.objects):
        return ""
    return "--ledger and --objects go together; without both, table and objects are in --data"


def _settings(given: argparse.Namespace, app: Any) -> Any:
    from samsa_websocket.local_gateway.chaos import Chaos
    from samsa_websocket.local_gateway.limits import ApiGatewayLimits

    if (given.callers or given.acls) and not given.sign:
        raise BadCallers("--callers and --acls need --sign: only a signature tells who a caller is")
    callers = _callers(given.callers) if given.callers else Callers({}, {})
    return app.LocalGatewaySettings(
        functions=given.functions.absolute(),
        host=given.host,
        port=given.port,
        stage=given.stage,
        environment={
            **_urls(given),
            "SAMSA_ACLS": "on" if given.acls else "off",
            "SAMSA_SUPER_USERS": ";".join(given.super_user),
        },
        keys={**_keys(), **callers.keys} if given.sign else None,
        names=callers.names,
        limits=ApiGatewayLimits(
            integration_s=given.integration_timeout,
            function_s=given.function_timeout,
            idle_s=given.idle_timeout,
            life_s=given.life,
            requests_per_s=given.requests_per_second,
            request_burst=given.request_burst,
            connections_per_s=given.connections_per_second,
            connection_burst=given.connections_per_second,
            environments=given.environments,
        ),
        chaos=Chaos(given.chaos_drop, given.chaos_kill, given.chaos_delay, seed=given.chaos_seed),
        data=None if given.ledger else given.data.absolute(),
        janitor_s=_janitor_s(given),
    )


def _urls(given: argparse.Namespace) -> dict[str, str]:
    """Of stores that are elsewhere. Raises BadUrl."""
    if not given.ledger:
        return {}
    return {
        "SAMSA_LEDGER": read_remote_url(given.ledger, "dynamodb").text,
        "SAMSA_OBJECTS": read_remote_url(given.objects, "s3").text,
    }


def _janitor_s(given: argparse.Namespace) -> float:
    from samsa_websocket.local_gateway.schedule import EVERY_S

    every_s: float | None = given.janitor_every
    if every_s is None:
        return 0.0 if given.ledger else EVERY_S
    return every_s


def _keys() -> dict[str, str]:
    return {os.environ["AWS_ACCESS_KEY_ID"]: os.environ["AWS_SECRET_ACCESS_KEY"]}


class BadCallers(Exception):
    """The file does not name callers and their keys."""


class Callers(NamedTuple):
    keys: dict[str, str]
    names: dict[str, str]
    """Who has a key: `user/NAME`, or `assumed-role/ROLE/SESSION`."""


def _callers(file: Path) -> Callers:
    """Raises BadCallers."""
    found = Callers({}, {})
    parser = ConfigParser(interpolation=None)
    try:
        parser.read_string(file.read_text(), str(file))
        for name in parser.sections():
            profile = parser[name]
            key = profile["aws_access_key_id"]
            found.keys[key] = profile["aws_secret_access_key"]
            role = profile.get("role")
            found.names[key] = f"assumed-role/{role}/{name}" if role else f"user/{name}"
    except (OSError, UnicodeDecodeError, ConfigError) as error:
        raise BadCallers(f"--callers {file}: {error}") from error
    except KeyError as error:
        raise BadCallers(f"--callers {file}: [{name}] has no {error.args[0]}") from error
    return found


async def _serve(settings: Any, app: Any, check: bool) -> None:
    """Raises BadUrl and Unavailable if a store is missing, OSError if the port is taken."""
    stop = told_to_stop()
    if check and settings.data is None:
        stores = settings.environment
        await check_stores(stores["SAMSA_LEDGER"], stores["SAMSA_OBJECTS"])
    async with app.serving(settings) as api:
        _greet(settings, api)
        await stop.wait()


def _greet(settings: Any, api: Any) -> None:
    names = settings.environment
    data = settings.data
    lines = [
        f"The local API Gateway is listening on {api.url}",
        f"  ledger   {data / 'table.db' if data else names['SAMSA_LEDGER']}",
        f"  objects  {data / 'objects' if data else names['SAMSA_OBJECTS']}",
        f"  stats    {api.endpoint.rpartition('/')[0]}/_local/stats",
        "Try, in another terminal:",
        f"  samsa shim --url {api.url}{'' if settings.keys else ' --no-sign'}",
        "Ctrl-C ends it; what was acknowledged stays.",
    ]
    print("\n".join(lines), flush=True)


def _chance(text: str) -> float:
    try:
        chance = float(text)
    except ValueError:
        chance = -1.0
    if not 0 <= chance <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a chance between 0 and 1")
    return chance


def _duration(text: str) -> float:
    return 0.0 if text == "0" else seconds(text)
