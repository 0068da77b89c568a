"""Checks the bundles of an unpacked export with other people's libraries, and that they notice every changed byte."""

import base64
import copy
import glob
import json
import sys

from cryptography.hazmat.primitives.serialization import load_pem_public_key
from google.protobuf.json_format import ParseDict, ParseError
from in_toto_attestation.predicates.provenance.v1.provenance_pb2 import Provenance
from in_toto_attestation.v1.statement import Statement
from in_toto_attestation.v1.statement_pb2 import Statement as StatementProto
from securesystemslib.dsse import Envelope
from securesystemslib.signer import SSlibKey


def is_signed(envelope, key):
    try:
        Envelope.from_dict(copy.deepcopy(envelope)).verify([key], 1)
        return True
    except Exception:
        return False


def flipped(envelope, take, put):
    """The envelope with each byte changed in turn, of what `take` takes out of it."""
    whole = base64.b64decode(take(envelope))
    for at in range(len(whole)):
        changed = copy.deepcopy(envelope)
        put(changed, base64.b64encode(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :]).decode())
        yield at, changed


def without_ours(value):
    """Extension fields have our prefix; everything else has to be in the published form."""
    return {name: one for name, one in value.items() if not name.startswith("hotcell_")}


def check_form(statement):
    parsed = ParseDict(statement, StatementProto())
    Statement.copy_from_pb(parsed).validate()
    assert statement["predicateType"] == "https://slsa.dev/provenance/v1"
    predicate = copy.deepcopy(statement["predicate"])
    details = predicate["runDetails"]
    details["metadata"] = without_ours(details["metadata"])
    provenance = ParseDict(predicate, Provenance())
    assert provenance.build_definition.build_type and provenance.run_details.builder.id
    predicate["runDetails"]["strange"] = 1
    try:
        ParseDict(predicate, Provenance())
        raise AssertionError("a field that the form does not have was accepted")
    except ParseError:
        pass


folder = sys.argv[1]
checked = {"bundles": 0, "flips": 0}
for path in sorted(glob.glob(f"{folder}/runs/*/evidence.sigstore.json")):
    bundle = json.load(open(path))
    hint = bundle["verificationMaterial"]["publicKey"]["hint"].removeprefix("sha256:")
    [pem] = glob.glob(f"{folder}/keys/*-{hint}.pem")
    key = SSlibKey.from_crypto(load_pem_public_key(open(pem, "rb").read()))
    envelope = bundle["dsseEnvelope"]
    for signature in envelope["signatures"]:
        signature["keyid"] = key.keyid
    assert is_signed(envelope, key), path
    for take, put in (
        (lambda e: e["payload"], lambda e, text: e.update(payload=text)),
        (lambda e: e["signatures"][0]["sig"], lambda e, text: e["signatures"][0].update(sig=text)),
    ):
        # All bytes of one bundle: others are of the same form.
        for at, changed in flipped(envelope, take, put) if checked["bundles"] == 0 else ():
            assert not is_signed(changed, key), f"{path}: byte {at} was changed unnoticed"
            checked["flips"] += 1
    other = dict(envelope, payloadType="application/json")
    assert not is_signed(other, key), "another type was accepted"
    check_form(json.loads(base64.b64decode(envelope["payload"])))
    checked["bundles"] += 1
print(json.dumps(checked))
