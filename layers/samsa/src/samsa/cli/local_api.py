"""samsa local-api: the serverless bundle on one machine, behind an API Gateway like AWS's."""

import argparse
import asyncio
import os
import signal
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from samsa.cli.options import add_logs, port
from samsa.cli.up import _explain, _fail, _positive, _run, _seconds
from samsa.server.logs import set_up

CHECKOUT = Path(__file__).parents[5]
EXAMPLES = """
examples:
  samsa local-api --ledger 'dynamodb://samsa?endpoint=http://127.0.0.1:8000' \\
                  --objects 's3://samsa?endpoint=http://127.0.0.1:9000'
                                              on DynamoDB Local and any S3, on 127.0.0.1:3001
  samsa local-api … --sign                    clients sign as AWS_ACCESS_KEY_ID of this shell
  samsa local-api … --chaos-drop 0.01 --chaos-kill 0.01 --chaos-delay 0.05
                                              a bad day: what clients must live with anyway

then, in another terminal:
  samsa shim --url ws://127.0.0.1:3001/local --no-sign
"""


def add_to(commands: Any) -> None:
    command = commands.add_parser(
        "local-api",
        help="run the Lambda functions behind a local API Gateway",
        description="Run the functions of the serverless bundle behind a local API Gateway, with "
        "the real one's limits: text only, 128 KB messages, 32 KB frames, 29 s, 10 min, 2 h.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_argument("--host", default="127.0.0.1", help="address to listen on (%(default)s)")
    command.add_argument("--port", type=port, default=3001, help="0 picks a free one (%(default)s)")
    command.add_argument("--stage", default="local", help="first part of the path (%(default)s)")
    command.add_argument(
        "--ledger", metavar="URL", required=True, type=_dynamodb, help="dynamodb://TABLE?endpoint=…"
    )
    command.add_argument(
        "--objects", metavar="URL", required=True, type=_s3, help="s3://BUCKET?endpoint=…"
    )
    command.add_argument(
        "--functions", metavar="DIR", type=Path, default=CHECKOUT / "functions",
        help="the folder with gateway/app.py (that of this checkout)",
    )  # fmt: skip
    command.add_argument(
        "--sign",
        action="store_true",
        help="ask for SigV4 signatures, made with the AWS credentials of this environment",
    )
    _add_limits(command.add_argument_group("limits", "API Gateway's own, shorter for a test"))
    _add_chaos(command.add_argument_group("chaos"))
    add_logs(command)
    command.set_defaults(run=run)


def _add_limits(group: Any) -> None:
    def limit(name: str, metavar: str, kind: Any, default: float, what: str) -> None:
        text = f"{what} (%(default)s)"
        group.add_argument(name, metavar=metavar, type=kind, default=default, help=text)

    limit("--integration-timeout", "S", _seconds, 29.0, "how long an answer is waited for")
    limit("--function-timeout", "S", _seconds, 30.0, "after which a function is ended")
    limit("--idle-timeout", "S", _seconds, 600.0, "after which a silent connection is closed")
    limit("--life", "S", _seconds, 7200.0, "after which any connection is closed")
    limit("--requests-per-second", "N", _positive, 10_000, "messages in, of all connections")
    limit("--request-burst", "N", _positive, 5_000, "that may come at once")
    limit("--connections-per-second", "N", _positive, 500, "new ones")
    limit("--environments", "N", _positive, 16, "function processes at most")


def _add_chaos(group: Any) -> None:
    group.add_argument(
        "--chaos-drop", metavar="P", type=_chance, default=0.0,
        help="chance that a message breaks its connection",
    )  # fmt: skip
    group.add_argument(
        "--chaos-kill", metavar="P", type=_chance, default=0.0,
        help="chance that an invocation is killed",
    )  # fmt: skip
    group.add_argument(
        "--chaos-delay", metavar="S", type=_duration, default=0.0,
        help="delay invocations by up to so much, which reorders them",
    )  # fmt: skip
    group.add_argument(
        "--chaos-seed", metavar="N", type=int, default=0,
        help="the same chances in the same order (%(default)s)",
    )  # fmt: skip


def run(given: argparse.Namespace) -> int:
    set_up(given.log_level, given.log_format)
    if not (given.functions / "gateway" / "app.py").exists():
        return _fail(
            f"{given.functions} holds no gateway/app.py. Run this from a checkout of Samsa, "
            "or name its folder with --functions"
        )
    try:
        from samsa.local_api import app
    except ImportError as error:
        return _fail(f"{error}; try: pip install 'samsa-broker[local-api]'")
    try:
        settings = _settings(given, app)
        _run(_serve(settings, app))
    except KeyError as error:
        return _fail(f"--sign needs {error.args[0]} in the environment")
    except OSError as error:
        return _fail(_explain(error, given))
    return 0


def _settings(given: argparse.Namespace, app: Any) -> Any:
    from samsa.local_api.chaos import Chaos
    from samsa.local_api.limits import Limits

    return app.Settings(
        functions=given.functions.absolute(),
        host=given.host,
        port=given.port,
        stage=given.stage,
        environment={"SAMSA_LEDGER": given.ledger, "SAMSA_OBJECTS": given.objects},
        keys=_keys() if given.sign else None,
        limits=Limits(
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
    )


def _keys() -> dict[str, str]:
    return {os.environ["AWS_ACCESS_KEY_ID"]: os.environ["AWS_SECRET_ACCESS_KEY"]}


async def _serve(settings: Any, app: Any) -> None:
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with app.serving(settings) as api:
        _greet(settings, api)
        await stop.wait()


def _greet(settings: Any, api: Any) -> None:
    lines = [
        f"The local API Gateway is listening on {api.url}",
        f"  ledger   {settings.environment['SAMSA_LEDGER']}",
        f"  objects  {settings.environment['SAMSA_OBJECTS']}",
        f"  stats    {api.endpoint.rpartition('/')[0]}/_local/stats",
        "Try, in another terminal:",
        f"  samsa shim --url {api.url}{'' if settings.keys else ' --no-sign'}",
        "Ctrl-C ends it; what was acknowledged stays.",
    ]
    print("\n".join(lines), flush=True)


def _dynamodb(text: str) -> str:
    return _place(text, "dynamodb")


def _s3(text: str) -> str:
    return _place(text, "s3")


def _place(text: str, scheme: str) -> str:
    """Functions know no other stores: what they share must not be on one machine."""
    parts = urlsplit(text)
    if parts.scheme != scheme or not parts.netloc:
        raise argparse.ArgumentTypeError(f"{text!r} is not {scheme}://NAME?endpoint=…")
    return text


def _chance(text: str) -> float:
    try:
        chance = float(text)
    except ValueError:
        chance = -1.0
    if not 0 <= chance <= 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a chance between 0 and 1")
    return chance


def _duration(text: str) -> float:
    return 0.0 if text == "0" else _seconds(text)
