"""What the test drives. Each line of output is one JSON object.

usage: main.py vectors FOLDER
       main.py contribute URL STUDY SERVER_KEY SEED OUTBOX ROWS [--hold-after N] [--bad SEQUENCE]
       main.py deaf URL STUDY SERVER_KEY SEED OUTBOX ROWS --bad SEQUENCE
       main.py withdraw URL STUDY SERVER_KEY SEED OUTBOX ROWS
       main.py subscribe URL STUDY SERVER_KEY RELEASES
       main.py logs ADDRESS STUDY SERVER_KEY
"""
import argparse
import asyncio
import json
import sys
import urllib.error
import urllib.request

from keelson import Contributor, ProtocolError, verify_log
from session import Outbox, Session, subscribe
from vectors import check_vectors


def report(kind, **fields):
    print(json.dumps({"type": kind, **fields}), flush=True)


def row(sequence):
    return [[sequence % 7 + 0.25, sequence * 1.5]]


async def contribute(options):
    """Sends rows one batch each, the last one marked.

    With --hold-after N: settles N, sends 8 more, reads no answer to them, and waits until the socket is lost.
    """
    session = session_of(options)
    await session.connect()
    for number in range(1, options.rows + 1):
        rows = [[float("nan"), 0.0]] if number == options.bad else row(number)
        await session.sign(rows, last=number == options.rows)
        if number == options.hold_after:
            await session.settle_all()
        if options.hold_after is not None and number == options.hold_after + 8:
            report("holding", unsettled=sorted(session.outbox.batches))
            await session.connection.socket.wait_closed()
    await session.settle_all()
    await session.connection.socket.close()
    report("done")


async def deaf(options):
    """Sends, and forgets every answer. The next run of `contribute` has to find out what became of it."""
    session = session_of(options)
    await session.connect()
    for number in range(1, options.rows + 1):
        rows = [[float("nan"), 0.0]] if number == options.bad else row(number)
        await session.sign(rows)
    answers = 0
    while answers < options.rows:
        kind, frame = await session.connection.next()
        answers += len(frame.accepted) + len(frame.rejections) if kind == "ack" else 0
    await session.connection.socket.close()
    report("done", unsettled=sorted(session.outbox.batches))


async def withdraw(options):
    session = session_of(options)
    await session.connect()
    for number in range(1, options.rows + 1):
        await session.sign(row(number))
    epoch = await session.withdraw()
    report("withdrawn", epoch=epoch)
    await session.sign(row(options.rows + 1))
    await session.settle_all()
    await session.connection.socket.close()
    report("done")


def session_of(options):
    outbox = Outbox(options.outbox)
    outbox.server_key = outbox.server_key or bytes.fromhex(options.server_key)
    contributor = Contributor(bytes.fromhex(options.seed))
    report("key", key=contributor.key.hex())
    return Session(options.url, options.study, contributor, outbox, report)


def fetch(address, path):
    with urllib.request.urlopen(address + path) as answer:
        return answer.read()


def logs(options):
    """Over HTTP: the study, its whole log, each part of it, and that nothing of it can be changed."""
    server_key = bytes.fromhex(options.server_key)
    studies = json.loads(fetch(options.url, "/v1/studies"))
    if studies["serverKey"] != options.server_key:
        raise ProtocolError("another server key over HTTP")
    (study,) = [one for one in studies["studies"] if one["name"] == options.study]
    whole = fetch(options.url, f"/v1/releases?study={study['id']}")
    chain = verify_log(whole, server_key)
    if chain.study_id.hex() != study["id"] or chain.index != study["releases"]:
        raise ProtocolError("the log is of another study or length")
    report("log", count=chain.index, digest=chain.digest.hex())
    parts = 0
    before = {"digest": bytes(64), "epoch": 0}
    for index in range(chain.index + 1):
        part = fetch(options.url, f"/v1/releases?study={options.study}&from={index}")
        verify_log(part, server_key, index=index, **before)
        parts += 1
        if index < chain.index:
            known = verify_log(whole, server_key, stop=index + 1)
            before = {"digest": known.digest, "epoch": known.epoch}
    report("parts", count=parts)
    report("tampered", refused=tampered(whole, server_key))
    budgets = json.loads(fetch(options.url, "/v1/ledger"))
    report("ledger", unit=budgets["unit"], budgets=budgets["budgets"])
    try:
        fetch(options.url, "/v1/releases?study=there-is-none")
    except urllib.error.HTTPError as error:
        report("error", status=error.code, body=json.loads(error.read()))


def tampered(whole, server_key):
    """How many changed logs were refused: one byte of each line, each line left out, each two swapped."""
    lines = whole[:-1].split(b"\n")
    changed = []
    for i, line in enumerate(lines):
        middle = len(line) // 2
        other = b"A" if line[middle:middle + 1] != b"A" else b"B"
        changed.append([*lines[:i], line[:middle] + other + line[middle + 1:], *lines[i + 1:]])
        changed.append([*lines[:i], *lines[i + 1:]])
        if i + 1 < len(lines):
            changed.append([*lines[:i], lines[i + 1], line, *lines[i + 2:]])
    refused = 0
    for one in changed:
        try:
            verify_log(b"\n".join(one) + b"\n", server_key)
        except ProtocolError:
            refused += 1
    if refused != len(changed):
        raise ProtocolError(f"{len(changed) - refused} changed logs were taken")
    return refused


def options_of(words):
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("vectors").add_argument("folder")
    for name in ("contribute", "deaf", "withdraw"):
        command = commands.add_parser(name)
        for word in ("url", "study", "server_key", "seed", "outbox"):
            command.add_argument(word)
        command.add_argument("rows", type=int)
        command.add_argument("--hold-after", type=int)
        command.add_argument("--bad", type=int)
    command = commands.add_parser("subscribe")
    for word in ("url", "study", "server_key"):
        command.add_argument(word)
    command.add_argument("releases", type=int)
    command = commands.add_parser("logs")
    for word in ("url", "study", "server_key"):
        command.add_argument(word)
    return parser.parse_args(words)


def main():
    options = options_of(sys.argv[1:])
    if options.command == "vectors":
        report("vectors", **check_vectors(options.folder))
    elif options.command == "logs":
        logs(options)
    elif options.command == "subscribe":
        key = bytes.fromhex(options.server_key)
        asyncio.run(subscribe(options.url, options.study, key, options.releases, report))
    else:
        command = {"contribute": contribute, "deaf": deaf, "withdraw": withdraw}[options.command]
        asyncio.run(command(options))


main()
