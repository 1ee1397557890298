"""Reads OpenTimestamps proofs with python3-opentimestamps. Takes a JSON list of questions, prints a JSON list of answers."""

import json
import random
import sys
import warnings

from bitcoin.core import CBlockHeader
from opentimestamps.core.notary import (
    BitcoinBlockHeaderAttestation,
    LitecoinBlockHeaderAttestation,
    PendingAttestation,
    UnknownAttestation,
    VerificationError,
)
from opentimestamps.core.op import (
    OpAppend,
    OpHexlify,
    OpKECCAK256,
    OpPrepend,
    OpReverse,
    OpRIPEMD160,
    OpSHA1,
    OpSHA256,
)
from opentimestamps.core.serialize import (
    BytesDeserializationContext,
    BytesSerializationContext,
    DeserializationError,
)
from opentimestamps.core.timestamp import DetachedTimestampFile, Timestamp

warnings.simplefilter("ignore")


def deserialize(text):
    return DetachedTimestampFile.deserialize(BytesDeserializationContext(bytes.fromhex(text)))


def serialize(file):
    context = BytesSerializationContext()
    file.serialize(context)
    return context.getbytes().hex()


def described(message, attestation):
    if isinstance(attestation, PendingAttestation):
        what = ["pending", attestation.uri]
    elif isinstance(attestation, BitcoinBlockHeaderAttestation):
        what = ["bitcoin", attestation.height]
    elif isinstance(attestation, LitecoinBlockHeaderAttestation):
        what = ["litecoin", attestation.height]
    elif isinstance(attestation, UnknownAttestation):
        what = ["unknown", attestation.TAG.hex(), attestation.payload.hex()]
    else:
        what = [repr(attestation)]
    return [message.hex(), *what]


def read(question):
    """The attestations with their messages, and the file as it is written again."""
    try:
        file = deserialize(question["file"])
    except DeserializationError as error:
        return {"error": "%s: %s" % (type(error).__name__, error)}
    attestations = [described(*found) for found in file.timestamp.all_attestations()]
    return {"attestations": attestations, "written": serialize(file)}


def verify(question):
    """The times of the blocks whose headers were given, or why one of them does not fit."""
    file = deserialize(question["file"])
    headers = {height: CBlockHeader.deserialize(bytes.fromhex(header)) for height, header in question["headers"]}
    times = []
    try:
        for message, attestation in file.timestamp.all_attestations():
            if isinstance(attestation, BitcoinBlockHeaderAttestation) and attestation.height in headers:
                times.append(attestation.verify_against_blockheader(message, headers[attestation.height]))
    except VerificationError as error:
        return {"error": str(error)}
    hashes = {str(height): header.GetHash()[::-1].hex() for height, header in headers.items()}
    return {"times": sorted(times), "hashes": hashes}


def merge(question):
    """Two files for the same digest in one."""
    one, other = deserialize(question["one"]), deserialize(question["other"])
    one.timestamp.merge(other.timestamp)
    return {"written": serialize(one)}


def make(question):
    """Files with random trees."""
    chance = random.Random(question["seed"])
    return {"files": [serialize(random_file(chance)) for _ in range(question["count"])]}


def random_file(chance):
    operation, length = chance.choice([(OpSHA256(), 32), (OpSHA1(), 20), (OpRIPEMD160(), 20), (OpKECCAK256(), 32)])
    timestamp = Timestamp(random_bytes(chance, length))
    grow(chance, timestamp, 6)
    return DetachedTimestampFile(operation, timestamp)


def grow(chance, timestamp, depth):
    for _ in range(chance.choice([0, 0, 1, 2])):
        timestamp.attestations.add(random_attestation(chance))
    branches = chance.choice([0, 1, 1, 2, 3]) if depth else 0
    for _ in range(branches):
        operation = random_operation(chance)
        if len(timestamp.msg) > 1500 and not isinstance(operation, OpSHA256):
            operation = OpSHA256()
        grow(chance, timestamp.ops.add(operation), depth - 1)
    if not timestamp.attestations and not timestamp.ops:
        timestamp.attestations.add(random_attestation(chance))


def random_operation(chance):
    unary = [OpSHA256, OpSHA1, OpRIPEMD160, OpKECCAK256, OpReverse, OpHexlify]
    if chance.random() < 0.5:
        return chance.choice([OpAppend, OpPrepend])(random_bytes(chance, chance.choice([1, 8, 32, 127, 128, 300])))
    return chance.choice(unary)()


def random_attestation(chance):
    return chance.choice(
        [
            lambda: PendingAttestation("https://%d.example/a-b_c" % chance.randrange(1000)),
            lambda: BitcoinBlockHeaderAttestation(chance.choice([0, 127, 128, 16384, 800000, 2**32 - 1])),
            lambda: LitecoinBlockHeaderAttestation(chance.randrange(10**7)),
            lambda: UnknownAttestation(random_bytes(chance, 8), random_bytes(chance, chance.randrange(40))),
        ]
    )()


def random_bytes(chance, length):
    return bytes(chance.randrange(256) for _ in range(length))


tasks = {"read": read, "verify": verify, "merge": merge, "make": make}
print(json.dumps([tasks[question["task"]](question) for question in json.load(sys.stdin)]))
