#!/usr/bin/env python3
"""Client-side benchmark for any Kafka-protocol broker, with librdkafka (confluent-kafka).

  bench_clients.py HOST:PORT [--name NAME] [--runs 2] [--size 1024] [--seconds 8]
                   [--parts 1,6] [--acks all] [--idempotent] [--lat-n 500] [--json FILE]
                   [--max-msgs N] [--linger 5] [--batch-bytes 1000000] [--compression none]
                   [--rf 1] [--reset] [--keep] [--mock N]

Per run and per partition count:
  produce : asynchronous produce for --seconds (or --max-msgs), then flush; only
            messages whose delivery report said OK count, over the time from the
            first produce() to the last delivery report.
  consume : a fresh consumer with assign() at offset 0 of every partition reads exactly
            the number acknowledged; time from the first message to the last (and the
            time from start to first message is given apart). Count and per-partition
            offset contiguity are checked (gaps, duplicates).
  latency : one message at a time (linger 0, acks=all, 1 in flight), the time from
            produce() to the delivery report; p50/p99 of --lat-n, after 20 warm-ups.
  e2e     : (--e2e) produce -> seen by an already polling consumer, p50/p99.
"""

import argparse
import json
import os
import statistics
import sys
import time
import uuid

from confluent_kafka import Consumer, Producer, TopicPartition, libversion, version
from confluent_kafka.admin import AdminClient, NewTopic


def pct(xs, p):
    xs = sorted(xs)
    return xs[min(len(xs) - 1, round(p / 100 * (len(xs) - 1)))]


def conf(a, **kw):
    c = {
        "bootstrap.servers": a.bootstrap,
        "client.id": "bench",
        "socket.nagle.disable": True,
        "broker.address.family": "v4",
        "log_level": 3,
    }
    if a.mock:
        c["test.mock.num.brokers"] = a.mock
        c.pop("bootstrap.servers")
    c.update(kw)
    for x in a.X:
        k, v = x.split("=", 1)
        c[k] = v
    return c


def create(a, topic, parts):
    ac = AdminClient(conf(a))
    try:
        f = ac.create_topics(
            [NewTopic(topic, parts, a.rf)], operation_timeout=20, request_timeout=30
        )[topic]
        f.result(40)
    except Exception as e:
        print(f"  create_topics({topic},{parts}): {e}", file=sys.stderr)
    t0 = time.time()
    while time.time() - t0 < 20:
        md = ac.list_topics(topic, timeout=10)
        t = md.topics.get(topic)
        if (
            t
            and not t.error
            and len(t.partitions) == parts
            and all(p.leader >= 0 for p in t.partitions.values())
        ):
            return True
        time.sleep(0.1)
    print(f"  topic {topic} not ready with {parts} partitions", file=sys.stderr)
    return False


def drop(a, topic):
    try:
        ac = AdminClient(conf(a))
        ac.delete_topics([topic], request_timeout=10)[topic].result(12)
    except Exception as e:
        print(f"  delete_topics: {e}", file=sys.stderr)


def producer(a, **kw):
    c = conf(
        a,
        **{
            "acks": a.acks,
            "linger.ms": a.linger,
            "batch.size": a.batch_bytes,
            "batch.num.messages": 100000,
            "queue.buffering.max.messages": 200000,
            "queue.buffering.max.kbytes": 262144,
            "compression.type": a.compression,
            "message.timeout.ms": 60000,
            "enable.idempotence": a.idempotent,
        },
    )
    c.update(kw)
    return Producer(c)


def bench_produce(a, topic, parts):
    p = producer(a)
    payload = os.urandom(a.size)
    st = {"ok": 0, "err": 0, "last": 0.0, "e": None}
    per = [0] * parts

    def dr(err, msg):
        if err is None:
            st["ok"] += 1
            per[msg.partition()] += 1
        else:
            st["err"] += 1
            st["e"] = str(err)
        st["last"] = time.perf_counter()

    # connect and warm up with 1 message per partition (not timed)
    for i in range(parts):
        p.produce(topic, payload, partition=i, on_delivery=lambda _error, _message: None)
    left = p.flush(60)
    t0 = time.perf_counter()
    n = 0
    cpu0 = time.process_time()
    end = t0 + a.seconds
    while n < a.max_msgs:
        try:
            p.produce(topic, payload, partition=n % parts, on_delivery=dr)
            n += 1
        except BufferError:
            p.poll(0.05)
            continue
        if n % 1000 == 0:
            p.poll(0)
            if time.perf_counter() > end:
                break
    left = p.flush(120)
    dt = st["last"] - t0
    return {
        "msgs": st["ok"],
        "errors": st["err"],
        "error": st["e"],
        "unflushed": left,
        "s": round(dt, 3),
        "msg_s": round(st["ok"] / dt) if dt > 0 else 0,
        "MB_s": round(st["ok"] * a.size / dt / 1e6, 2) if dt > 0 else 0,
        "client_cpu": round((time.process_time() - cpu0) / dt, 2) if dt > 0 else 0,
        "total_per_part": [x + 1 for x in per],
    }


def bench_consume(a, topic, per):
    c = Consumer(
        conf(
            a,
            **{
                "group.id": "bench-" + uuid.uuid4().hex[:8],
                "enable.auto.commit": False,
                "auto.offset.reset": "earliest",
                "fetch.min.bytes": 1,
                "fetch.wait.max.ms": 500,
                "queued.min.messages": 100000,
                # default 1000: a full local queue (64 MB) would stop fetching for a second
                "fetch.queue.backoff.ms": 10,
                "fetch.message.max.bytes": 10485760,
                "enable.partition.eof": False,
                "check.crcs": True,
            },
        )
    )
    c.assign([TopicPartition(topic, i, 0) for i in range(len(per))])
    want = sum(per)
    nxt = [0] * len(per)
    got, nbytes, gaps, dups, first, last = 0, 0, 0, 0, None, None
    t0 = time.perf_counter()
    cpu0 = time.process_time()
    idle = 0
    while got < want:
        # consume(n) blocks until n messages or the timeout: never ask for more than remain,
        # or the last partial batch adds the whole timeout to the measured time; and ask for
        # one first so that ttfm is the first message and not the first full batch.
        ms = c.consume(1 if first is None else min(2000, want - got), timeout=1.0)
        now = time.perf_counter()
        if not ms:
            idle += 1
            if idle >= 20:
                break
            continue
        idle = 0
        if first is None:
            first = now
        last = now
        for m in ms:
            if m.error():
                print("  consume error", m.error(), file=sys.stderr)
                continue
            pt, o = m.partition(), m.offset()
            if o > nxt[pt]:
                gaps += o - nxt[pt]
            elif o < nxt[pt]:
                dups += 1
                continue
            nxt[pt] = o + 1
            got += 1
            nbytes += len(m.value())
    dt = (last - t0) if last else 0
    cpu = time.process_time() - cpu0
    c.close()
    return {
        "want": want,
        "got": got,
        "gaps": gaps,
        "dups": dups,
        "s": round(dt, 3),
        "ttfm_ms": round((first - t0) * 1e3, 1) if first else None,
        "msg_s": round(got / dt) if dt else 0,
        "MB_s": round(nbytes / dt / 1e6, 2) if dt else 0,
        "client_cpu": round(cpu / dt, 2) if dt else 0,
    }


def bench_latency(a, topic):
    p = producer(a, **{"linger.ms": 0, "acks": "all"})
    payload = os.urandom(a.size)
    lat, errs = [], 0
    t_all = time.perf_counter()
    for i in range(a.lat_n + 20):
        done = []
        t0 = time.perf_counter()
        p.produce(
            topic,
            payload,
            partition=0,
            on_delivery=lambda e, _message, done=done: done.append((e, time.perf_counter())),
        )
        while not done:
            p.poll(5)
            if time.perf_counter() - t0 > 60:
                errs += 1
                break
        if done and done[0][0] is None:
            if i >= 20:
                lat.append((done[0][1] - t0) * 1e3)
        else:
            errs += 1
        if time.perf_counter() - t_all > 60:
            break
    if not lat:
        return {"n": 0, "errors": errs}
    return {
        "n": len(lat),
        "errors": errs,
        "p50_ms": round(pct(lat, 50), 3),
        "p90_ms": round(pct(lat, 90), 3),
        "p99_ms": round(pct(lat, 99), 3),
        "max_ms": round(max(lat), 3),
        "mean_ms": round(statistics.mean(lat), 3),
    }


def bench_e2e(a, topic):
    p = producer(a, **{"linger.ms": 0, "acks": "all"})
    c = Consumer(
        conf(
            a,
            **{
                "group.id": "bench-" + uuid.uuid4().hex[:8],
                "enable.auto.commit": False,
                "fetch.wait.max.ms": 500,
                "fetch.min.bytes": 1,
            },
        )
    )
    _, hi = c.get_watermark_offsets(TopicPartition(topic, 0), timeout=10)
    c.assign([TopicPartition(topic, 0, hi)])
    c.poll(1.0)
    lat = []
    for i in range(min(a.lat_n, 300) + 10):
        t0 = time.perf_counter()
        p.produce(topic, b"%d" % i, partition=0)
        p.poll(0)
        while True:
            m = c.poll(5.0)
            p.poll(0)
            if m is not None and not m.error() and m.value() == b"%d" % i:
                if i >= 10:
                    lat.append((time.perf_counter() - t0) * 1e3)
                break
            if time.perf_counter() - t0 > 30:
                break
        if i % 20 == 0:
            time.sleep(0.02)
    c.close()
    if not lat:
        return {"n": 0}
    return {"n": len(lat), "p50_ms": round(pct(lat, 50), 3), "p99_ms": round(pct(lat, 99), 3)}


def main():
    ap = argparse.ArgumentParser(
        formatter_class=argparse.RawDescriptionHelpFormatter, description=__doc__
    )
    ap.add_argument("bootstrap")
    ap.add_argument("--name", default=None)
    ap.add_argument("--runs", type=int, default=2)
    ap.add_argument("--size", type=int, default=1024)
    ap.add_argument("--seconds", type=float, default=8)
    ap.add_argument("--max-msgs", type=int, default=1000000)
    ap.add_argument("--parts", default="1,6")
    ap.add_argument("--acks", default="all")
    ap.add_argument("--linger", default="5")
    ap.add_argument("--batch-bytes", type=int, default=1000000)
    ap.add_argument("--compression", default="none")
    ap.add_argument("--idempotent", action="store_true")
    ap.add_argument("--lat-n", type=int, default=500)
    ap.add_argument("--rf", type=int, default=1)
    ap.add_argument("--e2e", action="store_true")
    ap.add_argument("--keep", action="store_true", help="do not delete the topics afterwards")
    ap.add_argument(
        "--mock",
        type=int,
        default=0,
        help="librdkafka in-process mock cluster, produce/latency only",
    )
    ap.add_argument("--json", default=None)
    ap.add_argument("-X", action="append", default=[], help="any librdkafka property k=v")
    a = ap.parse_args()
    out = {
        "name": a.name or a.bootstrap,
        "client": f"confluent-kafka {version()} librdkafka {libversion()[0]}",
        "args": dict(vars(a)),
        "runs": [],
    }
    print(
        f"# {out['name']}  {out['client']}  size={a.size} acks={a.acks} linger={a.linger} "
        f"batch={a.batch_bytes} comp={a.compression} idem={a.idempotent}",
        flush=True,
    )
    for r in range(a.runs):
        for parts in [int(x) for x in a.parts.split(",")]:
            topic = f"bench-{parts}p-{uuid.uuid4().hex[:8]}"
            if not a.mock:
                create(a, topic, parts)
            row = {"run": r + 1, "parts": parts}
            row["produce"] = pr = bench_produce(a, topic, parts)
            print(
                f"run {r + 1} parts {parts} produce {pr['msg_s']:>8} msg/s {pr['MB_s']:>8} MB/s  "
                f"ok={pr['msgs']} err={pr['errors']} {pr['error'] or ''} in {pr['s']}s "
                f"cpu={pr['client_cpu']}",
                flush=True,
            )
            if not a.mock:
                row["consume"] = co = bench_consume(a, topic, pr["total_per_part"])
                print(
                    f"run {r + 1} parts {parts} consume {co['msg_s']:>8} msg/s "
                    f"{co['MB_s']:>8} MB/s  got={co['got']}/{co['want']} gaps={co['gaps']} "
                    f"dups={co['dups']} ttfm={co['ttfm_ms']}ms cpu={co['client_cpu']}",
                    flush=True,
                )
            if parts == 1:
                row["latency"] = la = bench_latency(a, topic)
                print(f"run {r + 1} parts {parts} latency {la}", flush=True)
                if a.e2e and not a.mock:
                    row["e2e"] = e = bench_e2e(a, topic)
                    print(f"run {r + 1} parts {parts} e2e {e}", flush=True)
            out["runs"].append(row)
            if not a.keep and not a.mock:
                drop(a, topic)
    if a.json:
        with open(a.json, "w") as file:
            json.dump(out, file, indent=1, default=str)


if __name__ == "__main__":
    main()
