/** Texts that take a careless reader very long, or that it reads although they are wrong: numbers, names, escapes, levels. */
import type { Proof } from '../../../src/proof/verify/proof.ts';
import { fixed } from '../fixtures/proof-fixture.ts';
import { type BaseThing, firstTime, givenWith } from './base-batches.ts';
import { makeOne, replaced, sha256OfSalted } from './text-vectors.ts';
import { type Expected, expect, malformed, type NamedVector } from './vector.ts';

const zeros = '0'.repeat(20_000);

export async function textLoadVectors(record: BaseThing): Promise<NamedVector[]> {
  return [
    ...documentVectors(record),
    ...(await numberVectors()),
    ...(await deepVectors()),
    await manyClaims(),
  ];
}

function documentVectors(record: BaseThing): NamedVector[] {
  const { proof } = record;
  const { proof: _, ...given } = givenWith(record, proof);
  const other: Proof = { ...proof, anchors: [{ type: 'other' }, ...proof.anchors] };
  const good = expect(other, { time: firstTime });
  const bad = malformed('leaf');
  const withValue = (value: string) =>
    replaced(proof, '"anchors":[', `"anchors":[{"type":"other","x":${value}},`);
  /** In the document, its list of anchors, and the anchor. */
  const levels = (open: string, close: string, count: number) =>
    withValue(`${open.repeat(count)}1${close.repeat(count)}`);
  const rows: [name: string, about: string, document: string, expected: Expected][] = [
    ['escape-of-hex', 'An escape that JSON does not have: \\x41.', withValue('"\\x41"'), bad],
    ['escape-of-a-quote', "An escape that JSON does not have: \\'.", withValue('"\\\'"'), bad],
    ['escape-without-hex', 'An escape with a digit that is none.', withValue('"\\u12G4"'), bad],
    ['escape-too-short', 'An escape of three digits.', withValue('"\\u123"'), bad],
    ['escape-in-capitals', 'An escape with a capital U.', withValue('"\\U0041"'), bad],
    ['escapes', 'The escapes that JSON has.', withValue('"\\"\\\\\\/\\b\\f\\n\\r\\t\\u00E9"'), good],
    [
      'escape-before-half-a-character',
      'An escape, and then half a character.',
      withValue('"\\u0041\\udc00"'),
      good,
    ],
    [
      'two-halves-of-a-character',
      'Twice the second half of a character.',
      withValue('"\\udc00\\udc00"'),
      good,
    ],
    ['tab-in-text', 'A tab inside a string.', withValue('"\t"'), bad],
    ['tab-before-a-letter', 'A tab inside a string, before an n.', withValue('"\tn"'), bad],
    ['nested-72-objects', '72 levels of nesting, most of them objects.', levels('{"a":', '}', 69), good],
    ['nested-73-objects', '73 levels of nesting, most of them objects.', levels('{"a":', '}', 70), bad],
    [
      'nested-72-mixed',
      '72 levels of nesting, by turns objects and lists.',
      withValue(`[${'{"a":['.repeat(34)}1${']}'.repeat(34)}]`),
      good,
    ],
    [
      'nested-73-mixed',
      '73 levels of nesting, by turns objects and lists.',
      withValue(`${'{"a":['.repeat(35)}1${']}'.repeat(35)}`),
      bad,
    ],
    ['number-of-21-digits', '2^-30 with all its digits.', withValue('9.31322574615478515625E-10'), bad],
    ['number-of-17-digits', '2^-30 with 17 digits.', withValue('9.3132257461547852E-10'), good],
    ['exponent-huge', 'A number with an exponent of a billion.', withValue('1e1000000000'), bad],
    ['exponent-huge-and-negative', 'A number that is far too small.', withValue('1e-1000000000'), bad],
    ['exponent-beyond-64-bits', 'An exponent of 30 digits.', withValue(`1e${'9'.repeat(30)}`), bad],
    ['exponent-with-zeros', 'An exponent with zeros before it.', withValue('1e0000000000000000000002'), good],
    ['zero-with-a-huge-exponent', 'Zero with an exponent of a billion.', withValue('-0.0e1000000000'), good],
    [
      'number-of-many-zeros',
      'One, with 20,000 zeros that are taken back.',
      withValue(`1${zeros}e-20000`),
      good,
    ],
    ['number-of-many-digits', 'A number of 150,000 nines.', withValue('9'.repeat(150_000)), bad],
    ['fraction-of-many-zeros', 'A fraction of 20,000 zeros, and a one.', withValue(`0.${zeros}1`), bad],
    ['fraction-of-nothing', 'A fraction of 20,000 zeros.', withValue(`1.${zeros}`), good],
    ['without-a-comma', 'A list without a comma.', withValue('[1 2]'), bad],
    ['without-a-colon', 'An object without a colon.', withValue('{"a" 1}'), bad],
    ['without-quotes', 'A name without quotes.', withValue('{a:1}'), bad],
    ['plus', 'A number with a plus.', withValue('+1'), bad],
    ['point-without-digits', 'A number that ends with its point.', withValue('1.'), bad],
    ['exponent-without-digits', 'A number that ends with its exponent.', withValue('1e'), bad],
    ['minus-alone', 'A minus without a number.', withValue('-'), bad],
  ];
  return rows.map(([name, about, document, expected]) => ({
    name: `document-${name}`,
    about,
    ...{ ...given, document },
    expected,
  }));
}

/** Content in which a value is spelled in this way; the digest is that of this form. */
async function numberVectors(): Promise<NamedVector[]> {
  const rows: [name: string, about: string, number: string, form: string, passes: boolean][] = [
    [
      'number-of-21-digits',
      '2^-30 with all its digits.',
      '9.31322574615478515625E-10',
      '9.313225746154785e-10',
      false,
    ],
    ['number-of-many-zeros', 'One, with 20,000 zeros that are taken back.', `1${zeros}e-20000`, '1', true],
    [
      'number-half-a-unit-below',
      'The lower of two numbers of 17 digits between which the double is in the middle.',
      ...(['1125899906842624.7', '1125899906842624.8', false] as const),
    ],
    [
      'number-half-a-unit-above',
      'The upper of two numbers of 17 digits between which the double is in the middle.',
      ...(['1125899906842624.3', '1125899906842624.2', true] as const),
    ],
    [
      'pairs-of-escapes',
      'The first and the last character that take two escapes.',
      ...(['"\\ud800\\udc00\\udbff\\udfff"', '"\u{10000}\u{10ffff}"', true] as const),
    ],
    [
      'half-a-character-and-another',
      'Half a character, and after it a whole one.',
      ...(['"\\ud800\\ue000"', '"\u{10400}"', false] as const),
    ],
    ['exponent-huge', 'A number with an exponent of a billion.', '1e1000000000', '1', false],
    ['exponent-huge-and-negative', 'A number that is far too small.', '1e-1000000000', '0', false],
    ['zero-with-a-huge-exponent', 'Zero with an exponent of a billion.', '0e1000000000', '0', true],
  ];
  const made = rows.map(async ([name, about, number, form, passes]): Promise<NamedVector> => {
    const text = `{"a":${number}}`;
    const one = await makeOne({ text, claims: {}, digest: sha256OfSalted(fixed(0xb1), `{"a":${form}}`) });
    return {
      name: `content-${name}`,
      about,
      ...givenWith(one, one.proof),
      expected: expect(one.proof, { fail: passes ? [] : ['digest'], time: firstTime }),
    };
  });
  return Promise.all(made);
}

/** A number in as many levels as there may be. */
async function deepVectors(): Promise<NamedVector[]> {
  const text = `{"a":${'['.repeat(63)}1${']'.repeat(63)}}`;
  const one = await makeOne({ text, claims: JSON.parse(text) });
  return [
    {
      name: 'canonical-nested-64',
      about: 'Content and claims with 64 levels of nesting, and a number in the last.',
      ...givenWith(one, one.proof),
      expected: expect(one.proof, { time: firstTime }),
    },
  ];
}

/** As text: nobody wants to see them one below the other. */
async function manyClaims(): Promise<NamedVector> {
  const names = Array.from({ length: 15_000 }, (_, at) => [((at * 7919) % 46_656).toString(36), 0]);
  const one = await makeOne({ text: '{}', claims: Object.fromEntries(names) });
  const { proof, ...given } = givenWith(one, one.proof);
  return {
    name: 'claims-of-15000-names',
    about: 'Claims with 15,000 members, in no order.',
    document: JSON.stringify(proof),
    ...given,
    expected: expect(proof, { time: firstTime }),
  };
}
