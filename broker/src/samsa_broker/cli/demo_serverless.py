"""samsa demo serverless: the functions on this machine, with a producer and a consumer.

Gateway, shim, stores, producer and consumer are in this process; functions are processes of their
own, as behind `samsa local-api`. Everything ends with it.
"""

import argparse
import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samsa.runtime.logs import set_up
from samsa.runtime.stopping import told_to_stop

from .client import ClientError
from .demo_ports import HOST, free_port
from .local_api import CHECKOUT, DATA, why_no_functions
from .options import add_logs, port, positive
from .serving import fail, serve

if TYPE_CHECKING:
    from samsa_websocket.local_gateway.app import LocalApi

    from .demo_clients import DemoClients
    from .demo_hops import HopPrinter

GATEWAY_PORT, SHIM_PORT = 3001, 9093
BILL_EVERY_S = 10.0
DELIVERY_S = 60.0
"""How long to wait for the last records, once all are written."""
DESCRIPTION = (
    "Run the Lambda functions of the serverless bundle on this machine, behind a local API Gateway "
    "and a shim, with table and objects in a folder. A producer and a consumer talk through it, "
    "and each hop is printed, with the bill that AWS would write. Ctrl-C ends all of it."
)
EXAMPLES = """
examples:
  samsa demo serverless                       a record a second until Ctrl-C (make demo)
  samsa demo serverless --count 10 --rate 5   ten records, and then the bill

what to see:
  A record that is written is a message to API Gateway, one call of the gateway function, and some
  calls of DynamoDB. While the consumer waits, no function runs: its fetch is parked, and the
  function that stores the next record pushes that record to it.
"""


def add_to(stories: Any) -> None:
    demo = stories.add_parser(
        "serverless",
        help="the functions on this machine: every hop of a record, and what it would cost",
        description=DESCRIPTION,
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    demo.add_argument("--count", type=positive, metavar="N", help="end after N records (never)")
    demo.add_argument(
        "--rate", type=_rate, default=1.0, metavar="N", help="records a second (%(default)g)"
    )
    demo.add_argument("--topic", default="demo", metavar="NAME", help="the topic (%(default)s)")
    demo.add_argument(
        "--data", metavar="DIR", type=Path, default=Path(DATA),
        help="where table and objects are (./%(default)s)",
    )  # fmt: skip
    demo.add_argument(
        "--port", type=port, metavar="N",
        help=f"of the API Gateway ({GATEWAY_PORT}, or a free one if that is taken)",
    )  # fmt: skip
    demo.add_argument(
        "--shim-port", type=port, metavar="N",
        help=f"where Kafka clients connect ({SHIM_PORT}, or a free one if that is taken)",
    )  # fmt: skip
    demo.add_argument(
        "--functions", metavar="DIR", type=Path, default=CHECKOUT / "functions",
        help="the folder with gateway/app.py (that of this checkout)",
    )  # fmt: skip
    add_logs(demo)
    demo.set_defaults(run=run, log_level="warning")


def run(given: argparse.Namespace) -> int:
    set_up(given.log_level, given.log_format)
    if wrong := why_no_functions(given.functions):
        return fail(wrong)
    try:
        from samsa_websocket.local_gateway.stores.embedded import StoresUnusable
    except ImportError as error:
        return fail(f"{error}; try: pip install './websocket_api[local-gateway]', in the checkout")
    try:
        serve(_demonstrate(given))
    except (ClientError, StoresUnusable) as error:
        return fail(str(error))
    except OSError as error:
        return fail(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    return 0


async def _demonstrate(given: argparse.Namespace) -> None:
    """Raises ClientError, StoresUnusable, OSError."""
    from .demo_bill import sum_up
    from .demo_clients import DemoClients
    from .demo_hops import HopPrinter

    stop, loop = told_to_stop(), asyncio.get_running_loop()
    hops = HopPrinter(closed=lambda: loop.call_soon_threadsafe(stop.set))
    async with _gateway(given, hops) as api:
        async with _shim(given, api.url) as bootstrap:
            hops.say(_greeting(given, api, bootstrap))
            clients = DemoClients(bootstrap, given.topic, hops)
            work = asyncio.ensure_future(_work(clients, given))
            await _until_done(work, stop, given, api, clients, hops)
            clients.stop()
        await work  # the shim has closed their connections
    hops.say(f"\n{sum_up(api, clients, given)}")
    if clients.problem is not None:
        raise ClientError(clients.problem)


async def _work(clients: "DemoClients", given: argparse.Namespace) -> None:
    offset = await asyncio.to_thread(clients.start_offset)
    await asyncio.gather(
        asyncio.to_thread(clients.consume, offset, given.count),
        asyncio.to_thread(clients.produce, given.rate, given.count),
    )


async def _until_done(
    work: "asyncio.Future[Any]",
    stop: asyncio.Event,
    given: argparse.Namespace,
    api: "LocalApi",
    clients: "DemoClients",
    hops: "HopPrinter",
) -> None:
    """Until all records are delivered, or a signal; with a line about the bill now and then."""
    from .demo_bill import so_far

    stopped = asyncio.ensure_future(stop.wait())
    late_s = 0.0
    while True:
        done, _ = await asyncio.wait(
            {work, stopped}, timeout=BILL_EVERY_S, return_when=asyncio.FIRST_COMPLETED
        )
        if done or clients.problem is not None:
            stopped.cancel()
            return
        hops.say(f"{'':>13}{so_far(api, clients)}")
        late_s += BILL_EVERY_S if clients.produced == given.count else 0.0
        if late_s > DELIVERY_S:
            clients.problem = f"{given.count - clients.delivered} records were not delivered"


@asynccontextmanager
async def _gateway(given: argparse.Namespace, hops: "HopPrinter") -> "AsyncIterator[LocalApi]":
    from samsa_websocket.local_gateway.app import LocalGatewaySettings, serving
    from samsa_websocket.local_gateway.schedule import EVERY_S

    settings = LocalGatewaySettings(
        functions=given.functions.absolute(),
        host=HOST,
        port=free_port(given.port, GATEWAY_PORT, "--port"),
        data=given.data.absolute(),
        janitor_s=EVERY_S,
        observer=hops,
    )
    async with serving(settings) as api:
        yield api


@asynccontextmanager
async def _shim(given: argparse.Namespace, url: str) -> AsyncIterator[str]:
    from samsa_websocket.shim.listener import Shim
    from samsa_websocket.shim.settings import ShimSettings

    shim = Shim(ShimSettings(url, sign=False))
    try:
        host, number = await shim.listen(HOST, free_port(given.shim_port, SHIM_PORT, "--shim-port"))
        yield f"{host}:{number}"
    finally:
        await shim.close()


def _greeting(given: argparse.Namespace, api: "LocalApi", bootstrap: str) -> str:
    lines = [
        "Samsa as functions, on this machine:",
        f"  API Gateway   {api.url}",
        f"  shim          {bootstrap}, where Kafka clients connect",
        f"  data          {given.data.absolute()}: table.db for DynamoDB, objects/ for S3",
        "Join in, from another terminal:",
        f"  kcat -b {bootstrap} -t {given.topic} -C -o end",
        f"  echo hello | kcat -b {bootstrap} -t {given.topic} -P",
        f"  {_command()} consume {given.topic} --from latest --bootstrap {bootstrap}",
        "Ctrl-C ends it.",
        "",
    ]
    return "\n".join(lines)


def _command() -> str:
    """As this one was typed: it may not be in the PATH."""
    typed = sys.argv[0]
    return typed if Path(typed).name == "samsa" else "samsa"


def _rate(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number <= 1000:
        raise argparse.ArgumentTypeError(f"{text!r} is not between 0 and 1,000 records a second")
    return number
