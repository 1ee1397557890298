/** What workers sign, in the second verifier: each rule left out, and the vector that has to turn red. */
import { replacing, withoutEnds, withoutRules } from './python-mutation.ts';

export const signedInPython = [
  ...withoutRules('leaf.py', [
    ['what a worker signs is no JSON', 'is_json or kind not in SIGNED_KINDS', 'signoff-raw'],
  ]),
  ...withoutRules('signed_with.py', [
    ['a time of signing is before 1970', 'time >= 0', 'signoff-time-before-1970'],
    ['a time of signing has a part of a second', 'value.endswith(".000Z")', 'signoff-time-part-of-a-second'],
    ['an address has another spelling', 'digits == checked', 'signoff-change-other-case-of-the-address'],
    ['a statement has the number 0', 'number > 0', 'signoff-passkey-registration-0'],
    ['a method is not known', 'method in ("own-key", "held-key")', 'signoff-own-key-other-name-of-method'],
    ['a signature by a key is longer', 'len(signature) == 65', 'signoff-own-key-longer'],
    ['v of a signature by a key is 0 or 1', 'v in (27, 28)', 'signoff-own-key-small-v'],
    ['there are two signatures by a key over the same', 's <= HALF_ORDER', 'signoff-own-key-high-s'],
    ['a signature is by the key of another', 'signer == worker', 'signoff-own-key-of-another'],
    ['client data are a list', 'isinstance(client_data, dict)', 'signoff-passkey-client-data-list'],
    [
      'an assertion is that of a registration',
      'client_data.get("type") == "webauthn.get"',
      'signoff-passkey-registration',
    ],
    [
      'an assertion is for something else',
      'client_data.get("challenge") == challenge',
      'signoff-passkey-other-challenge',
    ],
    ['an assertion was made inside another page', 'crossing is False', 'signoff-passkey-crossing'],
    [
      'an assertion was made on another site',
      'host == rp_id or host.endswith(f".{rp_id}")',
      'signoff-passkey-other-origin',
    ],
    [
      'an assertion was made without TLS',
      'scheme == "https" or rp_id == "localhost"',
      'signoff-passkey-http',
    ],
    ['authenticator data are too short', 'len(data) >= 37', 'signoff-passkey-short-authenticator-data'],
    ['authenticator data are too long', 'len(data) == 37 or flags & _MORE != 0', 'signoff-passkey-surplus'],
    [
      'an authenticator signed for another host name',
      'data[:32] == hashlib.sha256(rp_id.encode()).digest()',
      'signoff-passkey-other-host',
    ],
    [
      'a passkey did not verify its user',
      'flags & _PRESENT != 0 and flags & _VERIFIED != 0',
      'signoff-passkey-not-verified',
    ],
    ['a passkey is on P-384', 'not isinstance(key, EcKey) or key.curve == P256', 'signoff-passkey-p384'],
  ]),
  ...replacing('signed_with.py', [
    [
      'crossOrigin is null',
      'client_data.get("crossOrigin", False)',
      'client_data.get("crossOrigin") or False',
      'signoff-passkey-crossing-null',
    ],
    [
      'a host name is empty',
      'r"[a-z0-9-]+(?:\\.[a-z0-9-]+)*"',
      'r".*"',
      'signoff-passkey-host-name-without-name',
    ],
    ['an id is empty', '_SOME = re.compile(r"(?s:.+)")', '_SOME = _ANY', 'signoff-licence-of-no-category'],
  ]),
  ...withoutEnds('signoff.py', [
    [
      'a format is not known',
      'not isinstance(value, dict) or value.get("format") != _FORMAT',
      'signoff-no-format',
    ],
  ]),
  ...withoutRules('signoff.py', [
    ['a sign-off is of another workspace', 'signoff.workspace_id == workspace_id', 'signoff-other-workspace'],
    ['a sign-off is about another entry', 'signoff.maintenance_id == maintenance_id', 'signoff-other-entry'],
    ['a sign-off is about another asset', 'claims.get("assetId") == signoff.asset_id', 'signoff-other-asset'],
    [
      'a sign-off is in another role',
      'claims.get("role") == signoff.role',
      'signoff-other-role-in-the-claims',
    ],
  ]),
  ...replacing('signoff.py', [
    [
      'a release is in another role',
      '["release"] if value.get("role") == "certified" else []',
      '["release"] if "release" in value else []',
      'signoff-release-as-inspected',
    ],
    [
      'a limit of a licence is no time',
      'utc_time(licence[name], f"licence.{name}")',
      'any_text(licence[name], f"licence.{name}")',
      'signoff-time-licence-expires-on-no-day',
    ],
    [
      'an empty category is signed like none',
      'some_text(licence["category"], "licence.category")',
      'any_text(licence["category"], "licence.category")',
      'signoff-licence-of-no-category',
    ],
    [
      'the end of a licence is not signed',
      '"Licence": _texts(*_LICENCE)',
      '"Licence": _texts(*_LICENCE[:-2])',
      'signoff-own-key',
    ],
  ]),
  ...withoutRules('statement.py', [
    [
      'one person invited and confirmed',
      'parts["invitedBy"] != parts["confirmedBy"]',
      'statement-one-person',
    ],
    [
      'a registration was confirmed before it was made',
      'registered <= confirmed',
      'statement-confirmed-before',
    ],
    ['a registration was signed before it was confirmed', 'confirmed <= since', 'statement-received-before'],
    ['a key signed a later registration', 'passkey is not None or number == 1', 'statement-later-by-key'],
    ['a passkey registered itself', 'is_later', 'statement-by-itself'],
    [
      'a statement is of another workspace',
      'statement.workspace_id == workspace_id',
      'statement-other-workspace',
    ],
    ['a statement is about another worker', 'statement.worker_id == worker_id', 'statement-other-worker'],
    [
      'a statement has another number than the leaf',
      'statement.number == version',
      'statement-other-version',
    ],
    ['a stranger sealed a statement', 'statement.vault == vault', 'statement-of-a-strangers-vault'],
    [
      'the claims of a statement name another worker',
      'claims.get("worker") == statement.worker_address',
      'statement-other-address-in-the-claims',
    ],
    ['the claims say something else', 'claims.get("state") == state', 'statement-other-state-in-the-claims'],
  ]),
  ...replacing('statement.py', [
    [
      'the API key that invited is empty',
      'some_text(parts["invitedWith"], "invitedWith")',
      'any_text(parts["invitedWith"], "invitedWith")',
      'statement-with-an-empty-key',
    ],
    [
      'a revocation is on no day',
      'utc_time(parts["revokedAt"], "revokedAt")',
      '0',
      'statement-revocation-on-no-day',
    ],
  ]),
  ...withoutRules('passkeys.py', [
    [
      'a statement is of the workspace of others',
      'statement.workspace_id == self.workspace_id',
      'statements-unproven-of-another-workspace',
    ],
    [
      'a line is about another worker',
      'statement.worker_id == line.worker_id',
      'statements-unproven-of-another-worker',
    ],
    [
      'a line has another number',
      'statement.number == line.number',
      'statements-unproven-under-another-number',
    ],
    ['a statement is missing', 'line.number == worker.number + 1', 'statements-unproven-without-first'],
    [
      'a worker gets another address',
      'statement.worker == worker.address',
      'statements-with-another-address',
    ],
    ['two workers have one address', 'owner == line.worker_id', 'statements-for-another-worker'],
    [
      'a vault sealed what another was to seal',
      'line.proof.leaf.vault == statement.vault',
      'statements-proof-without-salt-of-a-strangers-vault',
    ],
    [
      'a statement does not follow the one before',
      'line.proof.leaf.previous_leaf == worker.leaf',
      'statements-proof-does-not-follow',
    ],
    ['a passkey is registered again', 'is_new', 'statements-registered-again'],
    ['a revoked passkey signed another', 'by.revoked_at is None', 'statements-by-a-revoked-one'],
    [
      'a revocation names another number',
      'registered.statement.number == says.registration.number',
      'statements-revoked-under-another-number',
    ],
    [
      'another passkey is revoked',
      'registered.statement.credential_id == statement.credential_id',
      'statements-revoked-another-credential',
    ],
    ['a passkey is revoked twice', 'registered.revoked_at is None', 'statements-revoked-twice'],
    [
      'a stranger revokes a passkey',
      'registered.statement.vault == statement.vault',
      'statements-revoked-by-a-strangers-vault',
    ],
    [
      'a passkey is revoked before it was registered',
      'says.at >= registered.says.since',
      'statements-revoked-before-it-was-registered',
    ],
    ['a key signed for somebody with a passkey', 'is_before', 'statements-key-after'],
    [
      'a sign-off is older than its passkey',
      'signoff.signed_at + 1000 > found.says.since',
      'statements-before-its-registration',
    ],
    [
      'a revoked passkey signed',
      'found.revoked_at is None or received <= found.revoked_at',
      'statements-after-its-revocation',
    ],
    ['a statement is a list', 'isinstance(value, dict)', 'statements-list'],
    ['a line lacks something', 'name in value', 'statements-salt-missing'],
    ['a statement has another hash', 'salted == digest', 'statements-unproven-under-another-hash'],
    ['the proof of a statement does not hold', 'result.verdict != FAIL', 'statements-proof-tampered'],
    ['the proof of a statement is of another kind', 'line.proof.kind == "passkey"', 'statements-relabelled'],
    [
      'the proof of a statement is of another workspace',
      'subject.workspace_id == workspace_id',
      'statements-proof-without-salt-of-another-workspace',
    ],
    [
      'the proof of a statement is about another worker',
      'subject.id == line.worker_id',
      'statements-proof-without-salt-of-another-worker',
    ],
    [
      'the proof of a statement has another number',
      'line.proof.leaf.version == line.number',
      'statements-proof-without-salt-of-another-number',
    ],
    [
      'the proof of a statement is about something else',
      'line.proof.content.digest == line.hash',
      'statements-proof-under-another-salt',
    ],
  ]),
  ...withoutEnds('passkeys.py', [
    ['a statement has no complete proof', 'not all_proven', 'statements-unproven'],
  ]),
  ...replacing('passkeys.py', [
    [
      'a sign-off names another registration',
      'self.hash == passkey.registration.hash',
      'True',
      'statements-other-hash',
    ],
    [
      'a sign-off names another number of its registration',
      'self.statement.number == passkey.registration.number',
      'True',
      'statements-other-number',
    ],
    [
      'a sign-off names another credential',
      'self.statement.credential_id == passkey.credential_id',
      'True',
      'statements-other-credential',
    ],
    [
      'a sign-off is by another key than the registered one',
      'self.says.public_key == passkey.public_key',
      'True',
      'statements-other-public-key',
    ],
    [
      'a sign-off is for another host name',
      'self.says.rp_id == passkey.rp_id',
      'True',
      'statements-other-host-name',
    ],
    [
      'a sign-off that was received later than it was signed is judged by the time that it states',
      'signoff.signed_at if signoff.received_at is None else signoff.received_at',
      'signoff.signed_at',
      'statements-received-after-its-revocation',
    ],
  ]),
];
