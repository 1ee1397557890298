/** Documents and contents whose spelling matters: what is no JSON, what two readers could read differently, and what is the same. */
import { createHash } from 'node:crypto';
import type { Hex } from 'viem';
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { fixed, makeProofs, type Thing, utf8 } from '../fixtures/proof-fixture.ts';
import { type BaseThing, firstBlock, firstTime, givenWith, vaultKeys } from './base-batches.ts';
import { type Expected, expect, malformed, type NamedVector } from './vector.ts';

export async function textVectors(record: BaseThing): Promise<NamedVector[]> {
  return [
    ...documentVectors(record),
    ...contentVectors(record),
    ...(await carelessVectors()),
    ...(await formVectors()),
  ];
}

/** The text of the proof with one part replaced; it must occur once. */
export function replaced(proof: Proof, part: string, by: string): string {
  const text = JSON.stringify(proof);
  if (text.split(part).length !== 2) throw new Error(`${part} does not occur once`);
  return text.replace(part, () => by);
}

function documentVectors(record: BaseThing): NamedVector[] {
  const { proof } = record;
  const { proof: _, ...given } = givenWith(record, proof);
  const good = expect(proof, { time: firstTime });
  const text = JSON.stringify(proof);
  const withAnchor = (anchor: string) => replaced(proof, '"anchors":[', `"anchors":[${anchor},`);
  const nested = (levels: number) =>
    withAnchor(`{"type":"deep","in":${'['.repeat(levels)}${']'.repeat(levels)}}`);
  const [proofWithAnchor] = [{ ...proof, anchors: [{ type: 'deep' }, ...proof.anchors] }];
  const goodWithAnchor = expect(proofWithAnchor, { time: firstTime });
  const rows: [name: string, about: string, document: string, expected: Expected][] = [
    ['empty', 'No text at all.', '', malformed('leaf')],
    ['cut-off', 'The last character is missing.', text.slice(0, -1), malformed('leaf')],
    ['surplus', 'Another character follows.', `${text}}`, malformed('leaf')],
    ['trailing-comma', 'A comma before the end.', `${text.slice(0, -1)},}`, malformed('leaf')],
    ['byte-order-mark', 'A byte order mark before the document.', `\ufeff${text}`, malformed('leaf')],
    ['not-a-number', 'NaN is no JSON.', withAnchor('{"type":"other","x":NaN}'), malformed('leaf')],
    ['infinity', 'Infinity is no JSON.', withAnchor('{"type":"other","x":-Infinity}'), malformed('leaf')],
    [
      'leading-zero',
      'A number with a leading zero.',
      replaced(proof, '"size":5', '"size":05'),
      malformed('leaf'),
    ],
    [
      'line-break-in-text',
      'A line break inside a string.',
      withAnchor('{"type":"other","x":"\n"}'),
      malformed('leaf'),
    ],
    ['comment', 'A comment is no JSON.', `${text}// trust me`, malformed('leaf')],
    [
      'name-twice',
      'A name occurs twice.',
      replaced(proof, '"kind":', '"kind":"file","kind":'),
      malformed('leaf'),
    ],
    [
      'name-twice-in-two-spellings',
      'A name occurs twice, once with an escape.',
      replaced(proof, '"kind":', '"\\u006bind":"record","kind":'),
      malformed('leaf'),
    ],
    [
      'name-twice-in-claims',
      'A name occurs twice in the claims.',
      replaced(proof, '"externalId":', '"externalId":"shipment-7","externalId":'),
      malformed('leaf'),
    ],
    [
      'name-twice-in-unknown-anchor',
      'A name occurs twice in an anchor that is ignored.',
      withAnchor('{"type":"other","x":[{"y":1,"y":1}]}'),
      malformed('leaf'),
    ],
    [
      'proto',
      'A member called __proto__ is an unknown one like any other.',
      replaced(proof, '"kind":', '"__proto__":{"kind":"file"},"kind":'),
      malformed('leaf'),
    ],
    [
      'unknown-with-a-dot',
      'An unknown member whose name looks like a path to another.',
      replaced(proof, '"kind":', '"seal.depth":2,"kind":'),
      malformed('leaf'),
    ],
    ['nested-72', '72 levels of nesting.', nested(69), goodWithAnchor],
    ['nested-73', '73 levels of nesting.', nested(70), malformed('leaf')],
    [
      'spelling',
      'Blanks and escapes.',
      ` ${JSON.stringify(proof, null, 3).replace('"kind"', '"\\u006B\\u0069nd"')}\n`,
      good,
    ],
    ['integer-with-fraction', 'An integer written as 5.0.', replaced(proof, '"size":5', '"size":5.0'), good],
    ['integer-with-exponent', 'An integer as 50e-1.', replaced(proof, '"size":5', '"size":50e-1'), good],
    ['minus-zero', 'Zero written as -0.', replaced(proof, '"index":0', '"index":-0'), good],
    [
      'inexact-number',
      'A number that a double cannot hold as written.',
      replaced(proof, '"size":5', '"size":5.00000000000000000001'),
      malformed('leaf'),
    ],
    [
      'number-too-large',
      'A number that no double can hold, in an anchor that is ignored.',
      withAnchor('{"type":"other","x":1e400}'),
      malformed('leaf'),
    ],
    [
      'number-too-small',
      'A number that a double rounds to zero, in an anchor that is ignored.',
      withAnchor('{"type":"other","x":1e-400}'),
      malformed('leaf'),
    ],
    [
      'number-beyond-2-53',
      'An integer beyond 2^53 in an anchor that is ignored.',
      withAnchor('{"type":"deep","x":9007199254740994}'),
      goodWithAnchor,
    ],
    [
      'half-a-character',
      'An unpaired surrogate in an anchor that is ignored.',
      withAnchor('{"type":"deep","x":"\\ud800"}'),
      goodWithAnchor,
    ],
  ];
  return rows.map(([name, about, document, expected]) => ({
    name: `document-${name}`,
    about,
    ...{ ...given, document },
    expected,
  }));
}

/** Of a record; other content, or the same in another spelling. */
function contentVectors(record: BaseThing): NamedVector[] {
  const { proof, content } = record;
  const given = givenWith(record, proof);
  const bytes = Buffer.from(content);
  const rows: [name: string, about: string, content: NamedVector['content'], passes: boolean][] = [
    ['another-value', 'Another value.', { utf8: content.replace('4.50', '4.51') }, false],
    ['another-name', 'Another name.', { utf8: content.replace('peach', 'Peach') }, false],
    ['one-member-more', 'One member more.', { utf8: content.replace('{', '{"more":1,') }, false],
    ['no-json', 'It is no JSON.', { utf8: content.slice(0, -1) }, false],
    ['name-twice', 'A name occurs twice.', { utf8: content.replace('{', '{"temperature":4.5,') }, false],
    [
      'inexact-number',
      'A number that a double rounds.',
      { utf8: content.replace('4.50', '4.5000000000000000001') },
      false,
    ],
    [
      'inexact-in-the-last-digit',
      'A number of 17 digits that reads as the same double, but is not that double rounded to 17 digits.',
      { utf8: content.replace('333333333.33333331', '333333333.33333329') },
      false,
    ],
    [
      'inexact-in-the-18th-digit',
      'The double itself, rounded to 18 digits.',
      { utf8: content.replace('333333333.33333331', '333333333.333333313') },
      false,
    ],
    ['not-a-number', 'NaN.', { utf8: content.replace('4.50', 'NaN') }, false],
    ['byte-order-mark', 'A byte order mark before it: that is no JSON.', { utf8: `\ufeff${content}` }, false],
    [
      'another-spelling',
      'The same value in another spelling.',
      { utf8: `\t${content.replace('4.50', '45e-1')}\r\n` },
      true,
    ],
    [
      'not-utf-8',
      'A byte that is not UTF-8.',
      {
        base64: Buffer.concat([bytes.subarray(0, 30), Buffer.of(0xff), bytes.subarray(30)]).toString(
          'base64',
        ),
      },
      false,
    ],
  ];
  return rows.map(([name, about, other, passes]) => ({
    name: `content-${name}`,
    about,
    ...{ ...given, content: other },
    expected: expect(proof, { fail: passes ? [] : ['digest'], time: firstTime }),
  }));
}

/** JSON that has no canonical form; the leaf has the hash that a careless verifier computes all the same. */
async function carelessVectors(): Promise<NamedVector[]> {
  const deep = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
  const rows: [name: string, about: string, text: string, written: string][] = [
    [
      'integer-beyond-2-53',
      'an integer that may have been rounded',
      '{"a":9007199254740992}',
      '{"a":9007199254740992}',
    ],
    ['integer-with-exponent', 'an integer beyond 2^53 with an exponent', '{"a":1e21}', '{"a":1e+21}'],
    ['half-a-character', 'a text with an unpaired surrogate', '{"a":"\\ud800"}', '{"a":"\ufffd"}'],
    ['half-a-character-in-a-name', 'a name with an unpaired surrogate', '{"\\udc00":1}', '{"\ufffd":1}'],
    [
      'half-a-character-escaped',
      'a text with an unpaired surrogate, which is written as an escape',
      '{"a":"\\ud800"}',
      '{"a":"\\ud800"}',
    ],
    [
      'half-a-character-in-a-name-escaped',
      'a name with an unpaired surrogate, which is written as an escape',
      '{"\\udc00":1}',
      '{"\\udc00":1}',
    ],
    ['nested-65', '65 levels of nesting', deep(65), deep(65)],
  ];
  const made = rows.map(async ([name, about, text, written]): Promise<NamedVector[]> => {
    const digest = sha256OfSalted(fixed(0xb1), written);
    const content = await makeOne({ text, claims: {}, digest });
    const salt = `"salt":"${fixed(0x5a)}"`;
    const salted = written.startsWith('{"a"')
      ? `${written.slice(0, -1)},${salt}}`
      : `{${salt},${written.slice(1)}`;
    const claims = await makeOne({ text: '{}', claims: JSON.parse(text), claimsHash: sha256(utf8(salted)) });
    return [
      {
        name: `content-${name}`,
        about: `The content has ${about}, which has no canonical form.`,
        ...givenWith(content, content.proof),
        expected: expect(content.proof, { fail: ['digest'], time: firstTime }),
      },
      {
        name: `claims-${name}`,
        about: `The claims have ${about}, which has no canonical form.`,
        ...givenWith(claims, claims.proof),
        expected: expect(claims.proof, { fail: ['claims'], time: firstTime }),
      },
    ];
  });
  return (await Promise.all(made)).flat();
}

/** The digest of content of this form. */
export function sha256OfSalted(salt: Hex, written: string): Hex {
  return sha256(Buffer.from(salt.slice(2), 'hex'), utf8(written));
}

function sha256(...parts: Uint8Array[]): Hex {
  return `0x${createHash('sha256').update(Buffer.concat(parts)).digest('hex')}`;
}

/** RFC 8785 in all its corners. */
async function formVectors(): Promise<NamedVector[]> {
  const numbers =
    '[0.000001,1e-7,1.5E-9,5e-324,-2.2250738585072014e-308,0.1,123456.789,9007199254740991,-9007199254740991,1E5,-0.0,0.30000000000000004,4.50,333333333.33333331,1125899906842624.3]';
  const texts =
    '{"\\u0000\\u001f\\u007f":"\\b\\f\\n\\r\\t\\"\\\\\\/\\u2028é","\\ud83d\\ude00":1,"\\ufb33":2,"\\u00e9":3,"":4,"a":5,"B":6,"aa":7}';
  const replaced = '{"a":"\ufffd"}';
  const nested = `${'['.repeat(63)}${']'.repeat(63)}`;
  const text = `{"numbers":${numbers},"texts":${texts},"nested":${nested},"none":[null,true,false,{},[]]}`;
  const claims = JSON.parse(text) as Record<string, unknown>;
  const made = await makeOne({ text, claims });
  const smallest = await makeOne({ text: '{"a":5e-324}', claims: {} });
  const marked = await makeOne({ text: replaced, claims: {} });
  const longest = await makeOne({ text: '{}', claims: {}, id: '\u{1f600}'.repeat(255) });
  return [
    {
      name: 'canonical-forms',
      about:
        'Numbers, texts, names and nesting that RFC 8785 writes in a form of its own, in content and claims.',
      ...givenWith(made, made.proof),
      expected: expect(made.proof, { time: firstTime }),
    },
    {
      name: 'content-smallest-number',
      about: 'The smallest number that a double represents, with two digits that are right.',
      ...{ ...givenWith(smallest, smallest.proof), content: { utf8: '{"a":4.9e-324}' } },
      expected: expect(smallest.proof, { time: firstTime }),
    },
    {
      name: 'content-smaller-than-the-smallest-number',
      about: 'A number that reads as the smallest one, but is another.',
      ...{ ...givenWith(smallest, smallest.proof), content: { utf8: '{"a":3e-324}' } },
      expected: expect(smallest.proof, { fail: ['digest'], time: firstTime }),
    },
    {
      name: 'content-not-utf-8-but-replaced',
      about: 'A byte that is not UTF-8, where the content has the character that such bytes are replaced by.',
      ...givenWith(marked, marked.proof),
      content: { base64: Buffer.from(replaced.replace('\ufffd', '\xff'), 'latin1').toString('base64') },
      expected: expect(marked.proof, { fail: ['digest'], time: firstTime }),
    },
    {
      name: 'subject-id-of-255-characters',
      about: 'The longest id: 255 characters, each of which takes two units of UTF-16.',
      ...givenWith(longest, longest.proof),
      expected: expect(longest.proof, { time: firstTime }),
    },
  ];
}

export async function makeOne({
  text,
  ...rest
}: Partial<Thing> & { text: string; claims: Record<string, unknown> }): Promise<BaseThing> {
  const thing = { kind: 'record', id: 'rec_1', canonicalization: 'jcs', salt: fixed(0xb1), ...rest } as const;
  const [made] = await makeProofs([{ ...thing, content: utf8(text), key: vaultKeys.first }], {
    ...firstBlock,
    sequence: 3,
  });
  if (!made) throw new Error('nothing was made');
  return { ...made, content: text };
}
