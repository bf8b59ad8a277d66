"""test/vectors of the source, as section 10 of docs/reference/protocol.md explains them."""
import json
import math
import os
import re

import wire_pb2 as wire
from keelson import (
    NO_KEY, NO_STUDY, Contributor, ProtocolError, answered_of, answers_of, cells_of_column, check_key,
    keys_of, groups_of_value, message_of, read, rows_of, stated_of, study_id_of, text_of, verify,
)

BODIES = {
    "batch": wire.BatchBody, "typed-batch": wire.BatchBody, "text-batch": wire.BatchBody,
    "release": wire.ReleaseBody, "release-of-parts": wire.ReleaseBody,
    "release-with-findings": wire.ReleaseBody, "release-of-answers": wire.ReleaseBody,
    "head": wire.HeadBody,
}


def load(folder, name):
    with open(os.path.join(folder, name), encoding="utf-8") as file:
        return json.load(file)


def must(holds, what):
    if not holds:
        raise AssertionError(what)


def refuses(action, what):
    try:
        action()
    except ProtocolError:
        return
    raise AssertionError(f"not refused: {what}")


def check_vectors(folder):
    """Raises at the first vector that does not hold. Returns how many there were of each kind."""
    return {
        "signatures": check_signatures(load(folder, "signatures.json")),
        "messages": check_messages(load(folder, "frames.json")),
        "keys": check_keys(load(folder, "refused-keys.json")),
        "numbers": check_numbers(load(folder, "numbers.json")),
    }


def check_signatures(file):
    seeds = {name: bytes.fromhex(file[f"{name}Seed"]) for name in ("server", "contributor", "issuer")}
    signers = {name: Contributor(seed) for name, seed in seeds.items()}
    for name, signer in signers.items():
        must(signer.key.hex() == file[f"{name}Key"], f"the key of {name}")
    for one in file["signed"]:
        label, signer = one["label"], signers[one["signer"]]
        server = signers["issuer" if label == "enrol" else "server"].key
        study = NO_STUDY if label in ("enrol", "rotation") else bytes.fromhex(file["studyId"])
        contributor = NO_KEY if one["contributorKey"] is None else bytes.fromhex(one["contributorKey"])
        message = message_of(label, server, study, contributor, bytes.fromhex(one["payload"]))
        must(message.hex() == one["message"], f"the message of {label}")
        signature = signer.signing.sign(message).signature
        must(signature.hex() == one["signature"], f"the signature of {label}")
        verify(signer.key, message, signature)
        refuses(lambda: verify(signer.key, message[:-1] + b"\xff", signature), f"another message of {label}")
        forged = signature[:-1] + bytes([signature[-1] ^ 0x10])
        refuses(lambda: verify(signer.key, message, forged), f"another signature of {label}")
    return len(file["signed"])


def check_messages(file):
    facts = file["facts"].encode()
    must(study_id_of(facts).hex() == file["studyId"], "the study id")
    for name in ROWS:
        check_rows(file, name)
    check_dictionaries(file)
    check_texts()
    count = 0
    for name, vector in file["bodies"].items():
        check_message(BODIES[name], vector, vector["message"], name)
        count += 1
    for kind, group in ((wire.ClientFrame, "clientFrames"), (wire.ServerFrame, "serverFrames")):
        for name, vector in file[group].items():
            frame = check_message(kind, vector, None, name)
            expected = dict(vector["message"])
            must(frame.WhichOneof("kind") == expected.pop("kind"), f"the kind of {name}")
            compare(getattr(frame, frame.WhichOneof("kind")), expected, name)
            count += 1
    welcome = read(wire.ServerFrame, bytes.fromhex(file["serverFrames"]["welcomeAfterRotation"]["bytes"])).welcome
    must(len(keys_of(welcome.server_key, list(welcome.rotations))) == len(welcome.rotations) + 1, "rotations")
    refuses(lambda: keys_of(welcome.server_key, [one[:-1] + b"\0" for one in welcome.rotations]), "a rotation")
    return count


def check_numbers(file):
    """What releases state of their numbers, and what is no statement of them."""
    for one in file:
        release = read(wire.ReleaseBody, bytes.fromhex(one["release"]))
        texts = [*release.columns, *release.texts]
        must(stated_of(release.outcome.value, texts) == one["stated"], one["name"])
        for kind in ([], [1], [1, 0, 1, 2 * len(one["stated"])], [0, 2 * len(one["stated"])],
                     [1, 2 * len(one["stated"]) + 2], [len(texts) + 1, 2 * len(one["stated"])]):
            del release.outcome.value.numbers.kind[:]
            release.outcome.value.numbers.kind.extend(kind)
            refuses(lambda: read(wire.ReleaseBody, release.SerializeToString()), f"{kind} of {one['name']}")
    return len(file)


ROWS = {
    "typed": [[12.5, 3, True, "north"], [-4, 0, False, "other"]],
    "text": [
        ["maps", "Z\u00fcrich", 3, True, "south"], ["mail", "Z\u00fcrich", None, False, None],
        ["maps", None, None, None, None],
    ],
}


def check_rows(file, name):
    """The rows of a batch of version 2: what they are, their only form, and what is refused."""
    facts = json.loads(file[f"{name}Facts"])
    must(study_id_of(file[f"{name}Facts"].encode()).hex() == file[f"{name}StudyId"], f"the id of {name}")
    data = bytes.fromhex(file["bodies"][f"{name}-batch"]["bytes"])
    body = read(wire.BatchBody, data)
    must(rows_of(body, facts) == ROWS[name], f"the rows of {name}")
    must(is_in_form(body, facts), f"the cells of {name}")
    refused = 0
    for place, cells in enumerate(body.cells):
        for field in ("present", "numbers", "codes", "dictionary"):
            for change in (b"", b"\xff", getattr(cells, field) + b"\0"):
                if change == getattr(cells, field):
                    continue
                changed = read(wire.BatchBody, data)
                setattr(changed.cells[place], field, change)
                refused += not is_in_form(changed, facts)
    # A boolean or a number may also become another one.
    must(refused > 20, f"changed cells of {name} are refused")


def check_dictionaries(file):
    """What no other form of a text column may do."""
    facts, data = json.loads(file["textFacts"]), bytes.fromhex(file["bodies"]["text-batch"]["bytes"])
    for place, change in (
        (0, {"dictionary": b"\4maps\4maps"}), (0, {"dictionary": b"\4maps\4mail"}),
        (0, {"dictionary": b"\4mail\4maps\4play"}), (0, {"dictionary": b"\4mail\4map"}),
        (0, {"codes": b"\1\0\2"}), (0, {"codes": b"\0\0\0"}), (0, {"present": b"\7"}), (0, {"present": b"\3", "codes": b"\1\0"}),
        (1, {"present": b"\7", "codes": b"\0\0\0"}), (1, {"present": b"\x0b"}),
    ):
        changed = read(wire.BatchBody, data)
        for field, value in change.items():
            setattr(changed.cells[place], field, value)
        must(not is_in_form(changed, facts), f"{change} of column {place} is refused")


def is_in_form(body, facts):
    """False for refused cells. Other cells must be the only form of their rows."""
    try:
        rows = rows_of(body, facts)
    except ProtocolError:
        return False
    for cells, column, values in zip(body.cells, facts["columns"], zip(*rows)):
        must(cells_of_column(values, column, "f") == cells, f"one form for {column['name']}")
    return True


def check_texts():
    for text in ("a", "a b", "Z\u00fcrich", "\u65e5\u672c", "\U0001f600"):
        must(text_of(text.encode(), 64) == text, "a text")
    refused = ("", " a", "a\u3000", "a\n", "Zu\u0308rich", "a\u200db", "\ue000", "\ufffe", "\U0001ffff", "a" * 65)
    for text in refused:
        refuses(lambda: text_of(text.encode(), 64), f"the text {text!a}")
    refuses(lambda: text_of(b"\xff", 64), "bytes that are not UTF-8")


def check_message(kind, vector, expected, name):
    data = bytes.fromhex(vector["bytes"])
    message = read(kind, data)
    must(message.SerializeToString(deterministic=True) == data, f"the bytes of {name}")
    if name == "release-with-findings":
        check_value(message.outcome.value, expected["outcome"])
    if name == "release-of-answers":
        check_answers(message, expected)
    if expected is not None:
        compare(message, expected, name)
    # A field that the schema does not define, and bytes that end too early.
    refuses(lambda: read(kind, data + bytes.fromhex("fa0700")), f"{name} with another field")
    refuses(lambda: read(kind, data[:-1]), f"{name} cut off")
    return message


def check_answers(release, expected):
    """The groups of every answer, and what an answer may not be."""
    for answer, one in zip(release.answers, expected["answers"]):
        value, outcome = answer.outcome.value, one["outcome"]
        must(answers_of(release)[answer.question] == answer.outcome, f"the answer to {answer.question}")
        must(groups_of_value(value) == outcome.get("groups", []), "the groups")
        groups = len(outcome.get("groups", []))
        must(answered_of(value) == outcome.get("answered", [True] * groups), "which groups have an answer")
    for number, text in ((6, b"x"), (7, b"x"), (9, bytes.fromhex("1200"))):
        beside = release.SerializeToString() + bytes([number << 3 | 2, len(text)]) + text
        refuses(lambda: read(wire.ReleaseBody, beside), "an answer beside a list of answers")
    split = release.answers[1].outcome.value
    for change in ({"answered": b"\xff"}, {"answered": b"\x3f"}, {"answered": b""}, {"groups": ["a"] * 5}):
        copy = wire.ReleaseBody()
        copy.CopyFrom(release)
        changed = copy.answers[1].outcome.value
        for name, value in change.items():
            changed.ClearField(name)
            if isinstance(value, list):
                changed.groups.extend(value)
            else:
                changed.answered = value
        if change == {"answered": b""}:
            must(answered_of(read(wire.ReleaseBody, copy.SerializeToString()).answers[1].outcome.value)
                 == [True] * split.shape[0], "every group has an answer")
        else:
            refuses(lambda: read(wire.ReleaseBody, copy.SerializeToString()), f"{change} of a split answer")


def check_value(value, expected):
    """The intervals, the spread and the findings of a value. JSON has null for an infinite end."""
    must(list(value.spread) == expected["spread"], "the spread")
    must(value.radius_if_false == expected["radiusIfFalse95"], "the radius")
    for name, low, high in (
        ("interval95", value.interval_low, value.interval_high),
        ("intervalIfFalse95", value.interval_if_false_low, value.interval_if_false_high),
    ):
        for end, found, infinite in (("low", low, -math.inf), ("high", high, math.inf)):
            ends = [infinite if one is None else one for one in expected[name][end]]
            must(list(found) == ends, f"{name}.{end}")
    findings = [
        {"reason": one.reason, "columns": list(one.columns), "amounts": list(one.amounts)}
        for one in value.findings
    ]
    must(findings == expected["findings"], "the findings")


def compare(message, expected, where):
    for camel, value in expected.items():
        field = re.sub(r"[A-Z]", lambda letter: "_" + letter.group().lower(), camel)
        # What releases say is shown in the words of the server's code.
        if field in ("outcome", "cost", "ledger", "answers") or value is None:
            continue
        compare_value(getattr(message, field), value, message.DESCRIPTOR.fields_by_name[field], f"{where}.{field}")


def compare_value(found, value, field, where):
    if field.label == field.LABEL_REPEATED:
        must(len(found) == len(value), where)
        for one, expected in zip(found, value):
            compare_one(one, expected, field, where)
    else:
        compare_one(found, value, field, where)


def compare_one(found, value, field, where):
    if field.message_type is not None:
        return compare(found, value, where)
    if field.enum_type is not None:
        name = field.enum_type.values_by_number[found].name.lower().replace("_", "-")
        return must(name.endswith(value), where)
    if isinstance(found, bytes):
        found = found.hex()
    elif isinstance(found, int) and isinstance(value, str):
        found = str(found)
    must(found == value, f"{where}: {found} is not {value}")


def check_keys(file):
    for kind in ("smallOrder", "notReduced"):
        for key in file[kind]:
            refuses(lambda: check_key(bytes.fromhex(key)), f"{kind} {key}")
    return len(file["smallOrder"]) + len(file["notReduced"])
