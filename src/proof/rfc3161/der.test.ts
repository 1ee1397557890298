/** The strict reader of DER: what it takes, and that it takes each thing in one form only. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/service/properties.ts';
import { derFaults } from '../../../test/support/timestamps/der-faults.ts';
import * as write from '../../../test/support/timestamps/der-writer.ts';
import {
  elementsOf,
  generalizedTime,
  oidOf,
  readDer,
  smallInteger,
  TokenFault,
  time,
  timeOf,
  writeDer,
  writeInteger,
  writeOid,
} from './der.ts';

const hex = (text: string) => new Uint8Array(Buffer.from(text.replaceAll(' ', ''), 'hex'));
/** Inside a sequence, as any document is. */
const inside = (text: string) => write.sequence(hex(text));

const accepted: [string, string][] = [
  ['false', '01 01 00'],
  ['true', '01 01 ff'],
  ['zero', '02 01 00'],
  ['127', '02 01 7f'],
  ['128', '02 02 00 80'],
  ['-1', '02 01 ff'],
  ['-128', '02 01 80'],
  ['-129', '02 02 ff 7f'],
  ['no bits', '03 01 00'],
  ['one bit', '03 02 07 80'],
  ['an empty string', '04 00'],
  ['null', '05 00'],
  ['an object identifier', '06 03 55 1d 25'],
  ['one with a large arc', '06 04 2a 86 48 01'],
  ['an empty sequence', '30 00'],
  ['an empty set', '31 00'],
  ['a primitive one of a context', '80 02 30 80'],
  ['one of a context around another', 'a0 02 05 00'],
];

for (const [name, text] of accepted) {
  test(`takes ${name}`, () => {
    const [only] = elementsOf(readDer(inside(text), 'It'));
    assert.deepEqual(only?.bytes, hex(text));
  });
}

for (const [name, text, reason] of derFaults) {
  test(`refuses ${name}`, () => {
    assert.throws(
      () => readDer(inside(text), 'It'),
      (error) => error instanceof TokenFault && reason.test(error.message),
    );
  });
}

test('refuses what follows the end, what is empty, and what is of another type', () => {
  assert.throws(() => readDer(hex('30 00 00'), 'It'), /^Error: It is not valid DER: bytes follow its end\.$/);
  assert.throws(() => readDer(new Uint8Array(), 'It'), /It is not/);
  assert.throws(() => readDer(hex('31 00'), 'It'), /It is not in the form/);
});

test('takes 32 levels and 262,144 elements, and no more', () => {
  const levels = (count: number) => {
    let bytes: Uint8Array = write.sequence();
    for (let level = 1; level < count; level += 1) bytes = write.sequence(bytes);
    return bytes;
  };
  assert.ok(readDer(levels(32), 'It'));
  assert.throws(() => readDer(levels(33), 'It'), /too many elements or levels/);
  const elements = (count: number) =>
    write.element(0x30, new Uint8Array(Buffer.alloc(2 * (count - 1), '0500', 'hex')));
  assert.ok(readDer(elements(262_144), 'It'));
  assert.throws(() => readDer(elements(262_145), 'It'), /too many elements or levels/);
});

test('object identifiers are read in dots, and written back', () => {
  for (const dotted of ['0.0', '0.39', '1.2.840.113549.1.9.16.1.4', '2.5.29.37', '2.999.3', '2.100000']) {
    assert.equal(oidOf(readDer(writeOid(dotted), 'It', 6)), dotted);
    assert.deepEqual(writeOid(dotted), write.oid(dotted));
  }
  const uuid = '2.25.329800735698586629295641978511506172918';
  assert.equal(oidOf(readDer(writeOid(uuid), 'It', 6)), uuid);
});

test('what is written is read again', () => {
  fc.assert(
    fc.property(fc.bigInt(0n, 2n ** 200n), fc.uint8Array({ maxLength: 700 }), (number, bytes) => {
      assert.deepEqual(writeInteger(number), write.integer(number));
      const written = writeDer(0x30, writeInteger(number), writeDer(4, bytes));
      assert.deepEqual(written, write.sequence(write.integer(number), write.octets(bytes)));
      const [first, second] = elementsOf(readDer(written, 'It'));
      assert.deepEqual([first?.bytes, second?.value], [writeInteger(number), bytes]);
    }),
  );
});

test('what the reader takes is written back byte by byte: there is one encoding of each content', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const document = write.sequence(bytes);
      try {
        const parts = elementsOf(readDer(document, 'It'));
        assert.deepEqual(
          write.sequence(...parts.map(({ tag, value }) => write.element(tag, value))),
          document,
        );
      } catch (error) {
        assert.ok(error instanceof TokenFault, String(error));
      }
    }),
    { numRuns: 5_000 },
  );
});

test('small integers are those of 31 bits', () => {
  const small = (text: string) => smallInteger({ tag: 0x80, value: hex(text), bytes: hex(text) }, 'It');
  assert.equal(small('00'), 0);
  assert.equal(small('7f ff ff ff'), 2 ** 31 - 1);
  for (const text of ['', '80', '00 01', '00 80 00 00 00', '01 00 00 00 00']) {
    assert.throws(() => small(text), /^Error: It is out of range\.$/);
  }
});

test('times are those of the calendar', () => {
  const read = (text: string, tag: number, fraction = false) => {
    const [der] = elementsOf({
      tag: 0x30,
      value: write.element(tag, write.ascii(text)),
      bytes: new Uint8Array(),
    });
    return new Date(timeOf(der ?? assert.fail(), 'It', { fraction })).toISOString();
  };
  assert.equal(read('491231235959Z', time), '2049-12-31T23:59:59.000Z');
  assert.equal(read('500101000000Z', time), '1950-01-01T00:00:00.000Z');
  assert.equal(read('99991231235959Z', generalizedTime), '9999-12-31T23:59:59.000Z');
  assert.equal(read('20240229000000Z', generalizedTime), '2024-02-29T00:00:00.000Z');
  assert.equal(read('20240229000000.1239Z', generalizedTime, true), '2024-02-29T00:00:00.123Z');
  for (const text of ['20230229000000Z', '20240229000000.5Z', '20241301000000Z', '2024022900000Z', '']) {
    assert.throws(() => read(text, generalizedTime), /It has a time that is not valid/);
  }
  for (const text of ['20240229000000Z', '2402290000Z', '240229000000', '240229000000+0000']) {
    assert.throws(() => read(text, time), /It has a time that is not valid/);
  }
});
