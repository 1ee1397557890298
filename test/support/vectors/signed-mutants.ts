/**
 * Sign-offs, statements about passkeys and lines of statements, each changed somewhere at random, and then signed and anchored
 * again or not. Nobody says what comes out: two verifiers have to say the same.
 */
import { createHash } from 'node:crypto';
import { canonicalJsonOrNull } from '../../../src/proof/canonical.ts';
import { recordDigest } from '../../../src/proof/content.ts';
import { fromHex, toHex } from '../../../src/proof/hex.ts';
import { registrationTypedData } from '../../../src/proof/signoff/passkey-document.ts';
import { signoffTypedData } from '../../../src/proof/signoff/signoff-message.ts';
import { typedDataDigest } from '../../../src/proof/signoff/typed-data.ts';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { parseJsonText } from '../../../src/runtime/json-text.ts';
import { fixed, makeProofs, type Thing, utf8 } from '../fixtures/proof-fixture.ts';
import { blocksOf, firstBlock, judgedAt, vaultKeys } from './base-batches.ts';
import { asserted, ecPasskey, es256, type Passkey } from './passkey-assertions.ts';
import { assetId, byKey, maintenanceId, unsigned, worker } from './signoff-made.ts';
import {
  registrationOf,
  revocationOf,
  type StatementLine,
  statementChain,
  thingOf,
} from './statements-made.ts';
import { trustOf, type Vector } from './vector.ts';

export type Mutant = Omit<Vector, 'expected'> & { expected: object };

type Json = null | boolean | number | string | Json[] | { [name: string]: Json };

/** The same ones for the same seed. */
export async function signedMutants(seed: string, count: number): Promise<Mutant[]> {
  const pick = pickerOf(seed);
  const bases = await makeBases();
  const mutants: Mutant[] = [];
  for (let at = 0; at < count; at += 1) {
    // The first two are given with statements, in which most can be wrong.
    const base = bases[at] ?? bases[pick(pick(2) === 0 ? 2 : bases.length)];
    if (base) mutants.push(await mutantOf(base, at < bases.length ? unchanging : pick));
  }
  return mutants;
}

type Pick = (below: number) => number;

/** The largest pick is the one that changes nothing: something has to pass. */
const unchanging: Pick = (below) => below - 1;

function pickerOf(seed: string): Pick {
  let counter = 0;
  return (below) => {
    counter += 1;
    return createHash('sha256').update(`${seed} ${counter}`).digest().readUInt32BE() % below;
  };
}

interface Base {
  kind: 'signoff' | 'passkey';
  document: Json;
  /** What signs it again after a change. */
  by: 'key' | Passkey | null;
  lines: StatementLine[];
}

async function makeBases(): Promise<Base[]> {
  const chain = statementChain();
  const first = await chain.add(await registrationOf(es256));
  const second = ecPasskey(0x46);
  const next = await registrationOf(second, { number: 2, by: { passkey: es256, of: first } });
  await chain.add(next);
  const revocation = revocationOf(first, { number: 3 });
  await chain.add(revocation);
  const { lines } = chain;
  const byPasskey = (passkey: Passkey, { number, hash }: StatementLine): Base => {
    const document = { ...unsigned, signedWith: { method: 'passkey' as const } };
    const digest = typedDataDigest(signoffTypedData(document));
    const signed = asserted(passkey, digest, { registration: { number, hash } });
    return { kind: 'signoff', document: plain({ ...unsigned, ...signed }), by: passkey, lines };
  };
  const [one, two] = lines as [StatementLine, StatementLine];
  const { release: _, ...unreleased } = unsigned;
  return [
    byPasskey(second, two),
    byPasskey(es256, one),
    { kind: 'signoff', document: plain(await byKey(unsigned)), by: 'key', lines: [] },
    {
      ...{ kind: 'signoff', by: 'key', lines: [] },
      document: plain(
        await byKey(
          { ...unreleased, role: 'performed', licence: null },
          { method: 'held-key', apiKeyId: null },
        ),
      ),
    },
    { kind: 'passkey', document: plain(one.document), by: 'key', lines: [] },
    { kind: 'passkey', document: plain(next), by: es256, lines: [] },
    { kind: 'passkey', document: plain(revocation), by: null, lines: [] },
  ];
}

async function mutantOf(base: Base, pick: Pick): Promise<Mutant> {
  let document = structuredClone(base.document);
  const withLines = base.lines.length > 0 && pick(2) === 1;
  const changes = pick(8) === 7 ? 0 : 1 + pick(2);
  if (!withLines || pick(3) > 0)
    for (let more = 0; more < changes; more += 1) document = changed(document, pick);
  if (pick(2) === 0) document = await signedAgain(document, base, pick);
  const content = respelled(document, pick);
  const thing = thingFor(base, document, content, pick);
  const { proof, salted } = await anchored(thing, content);
  const passkeys = withLines ? await linesOf(base.lines, pick) : undefined;
  const proofs = [proof, ...(passkeys?.proofs ?? [])];
  return {
    about: `${base.kind}: ${content.slice(0, 300)}`,
    proof: salted,
    content: { utf8: content },
    ...(passkeys && { passkeys: passkeys.text }),
    trust: trustOf({ blocks: blocksOf(proofs.flatMap(({ anchors }) => anchors)) }),
    ...{ at: judgedAt, rpc: null, expected: {} },
  };
}

/** Signs what is there, as far as it can be: a verifier must not rely on the signature to refuse the form. */
async function signedAgain(document: Json, { kind, by }: Base, pick: Pick): Promise<Json> {
  if (by === null || typeof document !== 'object' || document === null) return document;
  try {
    const typedData =
      kind === 'signoff' ? signoffTypedData(document as never) : registrationTypedData(document as never);
    const digest = typedDataDigest(typedData);
    if (by === 'key') return { ...document, signature: await worker.sign({ hash: toHex(digest) }) };
    const { signedWith } = document as { signedWith: { registration: never; origin?: unknown } };
    const odd = [
      undefined,
      undefined,
      undefined,
      ['https://holdfast.example.com'],
      'https://holdfast.example.com.',
      null,
      7,
    ];
    const { registration } = signedWith;
    const made = asserted(by, digest, { registration, origin: odd[pick(odd.length)] });
    return plain({ ...document, ...made, signedWith: { ...signedWith, ...made.signedWith } });
  } catch {
    return document;
  }
}

function thingFor({ kind, document: original }: Base, document: Json, content: string, pick: Pick): Thing {
  const usual: Thing =
    kind === 'signoff'
      ? {
          ...{ kind, id: maintenanceId, canonicalization: 'jcs', key: vaultKeys.first, salt: fixed(0xa7) },
          ...{ content: utf8(content), claims: { assetId, role: textOf(original, 'role') } },
        }
      : { ...thingOf(original as never), content: utf8(content) };
  switch (pick(24)) {
    case 0:
      return { ...usual, kind: ['signoff', 'passkey', 'record'][pick(3)] ?? '' };
    case 1:
      return { ...usual, canonicalization: 'hmac-sha256' };
    case 2: {
      const { salt: _, ...unsalted } = usual;
      return { ...unsalted, canonicalization: 'raw' };
    }
    case 3:
      return { ...usual, id: textOf(document, 'workerId') || textOf(document, 'maintenanceId') || 'other' };
    case 4:
      return { ...usual, version: 1 + pick(3) };
    case 5:
      return { ...usual, key: vaultKeys.second };
    case 6:
      return { ...usual, claims: changed(plain(usual.claims ?? {}), pick) as Record<string, unknown> };
    default:
      return usual;
  }
}

/** A document without a canonical form is anchored under another digest. */
async function anchored(thing: Thing, content: string): Promise<{ proof: Proof; salted: Proof }> {
  const isOdd = thing.canonicalization === 'jcs' && !isCanonical(content);
  const [made] = await makeProofs([{ ...thing, ...(isOdd && { digest: fixed(0xdd) }) }], {
    ...firstBlock,
    sequence: 1,
  });
  if (!made) throw new Error('the batch has one thing');
  return { proof: made.proof, salted: made.proof };
}

async function linesOf(lines: StatementLine[], pick: Pick): Promise<{ text: string; proofs: Proof[] }> {
  const made: Json[] = lines.map((line) => plain(line));
  for (let more = 2 - pick(3); more > 0; more -= 1) {
    const at = pick(made.length + 1) % Math.max(1, made.length);
    switch (pick(7)) {
      case 0:
        made.splice(at, 1);
        break;
      case 1:
        made.splice(pick(made.length + 1), 0, structuredClone(made[at] ?? null));
        break;
      case 2:
        made.reverse();
        break;
      case 3:
        made[at] = changed(made[at] ?? null, pick);
        break;
      case 4:
        made[at] = { ...(made[at] as object), proof: null } as Json;
        break;
      default:
        made[at] = await anchoredAnew(made[at] ?? null, pick);
    }
  }
  const texts = made.map((line) => respelled(line, pick));
  const proofs = made.flatMap((line) =>
    (line as { proof?: Proof } | null)?.proof?.anchors ? [(line as never as { proof: Proof }).proof] : [],
  );
  return { text: texts.join('\n') + (pick(3) === 0 ? '' : '\n'), proofs };
}

/** Another document in a line, with the hash and the proof of that one. */
async function anchoredAnew(line: Json, pick: Pick): Promise<Json> {
  try {
    const { document, proof, ...rest } = line as never as StatementLine;
    const other = changed(plain(document), pick);
    const previousLeaf = proof?.leaf.values[5];
    const thing = { ...thingOf(other as never), ...(previousLeaf && { previousLeaf }), version: rest.number };
    const [made] = await makeProofs([thing], { ...firstBlock, sequence: 1 });
    return plain({
      ...rest,
      document: other,
      hash: recordDigest(fromHex(rest.salt), other),
      proof: made?.proof ?? null,
    });
  } catch {
    return line;
  }
}

const times = [
  ...[
    '2026-02-30T02:10:00.000Z',
    '2026-11-15T24:00:00.000Z',
    '1969-12-31T23:59:59.000Z',
    '2026-11-15T02:10:00Z',
    '0000-01-01T00:00:00.000Z',
  ],
  ...[
    '2026-11-15T02:10:60.000Z',
    '2026-11-15T02:10:00.000+00:00',
    '2026-11-15T02:10:00.5Z',
    '31.12.2020',
    '2028-02-29T00:00:00.000Z',
  ],
  ...[
    '9999-12-31T23:59:59.999Z',
    '+010000-01-01T00:00:00.000Z',
    '2026-11-15T01:10:00.500Z',
    '2026-11-15T02:00:00.001Z',
    '',
  ],
];
const others: Json[] = [
  ...[
    null,
    true,
    false,
    0,
    -0,
    1,
    2,
    1.5,
    2 ** 31 - 1,
    2 ** 31,
    -1,
    '',
    ' ',
    'x',
    '0x',
    '0x00',
    '0X12',
    [],
    {},
    [null],
    ['x'],
    { x: 1 },
  ],
  ...[
    'own-key',
    'held-key',
    'passkey',
    'certified',
    'holdfast/signoff@1',
    'holdfast/signoff@2',
    'holdfast/passkey-revocation@1',
  ],
  ...[
    '\u0000',
    '\u2028',
    '😀',
    'é',
    'e\u0301',
    '\ufeff',
    'constructor',
    '__proto__',
    `0x${'ab'.repeat(20)}`,
    `0x${'ab'.repeat(32)}`,
  ],
];

/** Somewhere, in one way. */
function changed(value: Json, pick: Pick): Json {
  if (typeof value !== 'object' || value === null) return otherThan(value, pick);
  if (Array.isArray(value)) {
    if (value.length === 0) return [otherThan(null, pick)];
    const at = pick(value.length);
    return value.map((item, place) => (place === at ? changed(item, pick) : item));
  }
  const names = Object.keys(value);
  const name = names[pick(names.length + 1)];
  if (name === undefined)
    return {
      ...value,
      [['extra', 'release', 'receivedAt', 'apiKeyId', '__proto__x'][pick(5)] ?? '']: otherThan('', pick),
    };
  const { [name]: member = null, ...rest } = value;
  switch (pick(9)) {
    case 0:
      return rest;
    case 1:
      return { ...rest, [`${name}x`]: member };
    case 2:
      return { ...rest, [names[pick(names.length)] ?? '']: member };
    case 3:
      return { ...value, [name]: [member] };
    default:
      return { ...value, [name]: changed(member, pick) };
  }
}

function otherThan(value: Json, pick: Pick): Json {
  if (typeof value === 'string' && pick(2) === 0) {
    if (/^\d{4}-/.test(value)) return times[pick(times.length)] ?? '';
    const forms = [
      `${value}x`,
      value.toLowerCase(),
      value.toUpperCase(),
      value.normalize('NFD'),
      value.slice(0, -1),
      `${value}\n`,
    ];
    return forms[pick(forms.length)] ?? '';
  }
  if (typeof value === 'number' && pick(2) === 0) return value + 1;
  return others[pick(others.length)] ?? null;
}

/** As JSON, mostly as usual; sometimes with another spelling, or a name that occurs twice. */
function respelled(value: Json, pick: Pick): string {
  const text = JSON.stringify(value);
  switch (pick(16)) {
    case 0:
      return ` ${JSON.stringify(value, null, 1).replaceAll('\n', ' ')}\t`;
    case 1:
      return text.replace(/"([a-zA-Z]+)":("[^"]*"|null|\d+)/, '"$1":$2,"$1":$2');
    case 2:
      return text.replace(/"([a-zA-Z]+)":("[^"]*"|null|\d+)/, '"$1":null,"$1":$2');
    case 3:
      return text.replace(
        /"([a-z])([a-zA-Z]+)":/,
        (_, first: string, rest: string) => `"\\u00${first.charCodeAt(0).toString(16)}${rest}":`,
      );
    case 4:
      return text.replace(/:(\d+)([,}])/, ':$1.0$2');
    case 5:
      return text.replace(/:(\d+)([,}])/, ':$1e0$2');
    case 6:
      return `\ufeff${text}`;
    default:
      return text;
  }
}

function isCanonical(text: string): boolean {
  try {
    return canonicalJsonOrNull(parseJsonText(text.replace(/^\ufeff/, ''))) !== null;
  } catch {
    return false;
  }
}

function textOf(document: Json, name: string): string {
  const value = (document as { [name: string]: Json } | null)?.[name];
  return typeof value === 'string' ? value.replaceAll(/[\p{Cc}]/gu, '') : '';
}

function plain(value: object): Json {
  return JSON.parse(JSON.stringify(value));
}
