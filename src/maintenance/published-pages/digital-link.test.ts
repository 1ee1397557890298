/** GS1 Digital Links: which numbers are taken, in which form they are compared, and their path. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fc } from '../../../test/support/service/properties.ts';
import { findDigitalLink, linkIn, pathOfLink, readDigitalLink } from './digital-link.ts';

test('a GTIN of 8, 12, 13 or 14 digits is compared as 14, and its check digit must be right', () => {
  for (const [gtin, whole] of [
    ['09506000134352', '09506000134352'],
    ['9506000134352', '09506000134352'],
    ['614141999996', '00614141999996'],
    ['96385074', '00000096385074'],
  ]) {
    assert.equal(readDigitalLink({ gtin, serial: 'A1' }), `01/${whole}/21/A1`);
  }
  for (const gtin of [
    '09506000134353',
    '0950600013435',
    '950600013435',
    '',
    '1',
    '9506000134352 ',
    '٩٦٣٨٥٠٧٤',
  ])
    assert.equal(findDigitalLink({ gtin, serial: 'A1' }), null, gtin);
});

test('each wrong digit, and each exchange of two unequal neighbours that the check digit covers, is noticed', () => {
  const gtin = '09506000134352';
  for (let place = 0; place < gtin.length; place += 1) {
    for (let digit = 0; digit < 10; digit += 1) {
      const other = gtin.slice(0, place) + digit + gtin.slice(place + 1);
      assert.equal(findDigitalLink({ gtin: other, serial: 'A' }) !== null, other === gtin, other);
    }
  }
});

test('serial numbers and GIAIs have the characters of set 82, in their length', () => {
  assert.equal(readDigitalLink({ giai: '9506000/A%1' }), '8004/9506000/A%1');
  for (const serial of ['', '.', '..', 'a b', 'ä', '#1', 'A'.repeat(21), 'A\n'])
    assert.equal(findDigitalLink({ gtin: '96385074', serial }), null, serial);
  for (const giai of ['', '~', 'A'.repeat(31)]) assert.equal(findDigitalLink({ giai }), null, giai);
});

test('it is one or the other, and whole', () => {
  for (const given of [
    {},
    { gtin: '96385074' },
    { serial: '1' },
    { giai: '1', serial: '1' },
    { gtin: '96385074', serial: '1', giai: '1' },
  ]) {
    assert.throws(() => readDigitalLink(given), { code: 'invalid_request' });
  }
});

test('the path of a link, decoded part by part, is the link', () => {
  const set = '!"%&\'()*+,-./0123456789:;<=>?ABCDEFGHIJKLMNOPQRSTUVWXYZ_abcdefghijklmnopqrstuvwxyz';
  const text = fc
    .string({ unit: fc.constantFrom(...set), minLength: 1, maxLength: 20 })
    .filter((text) => !/^\.{1,2}$/.test(text));
  fc.assert(
    fc.property(text, text, (serial, giai) => {
      const decoded = (path: string) => path.slice(1).split('/').map(decodeURIComponent);
      const link = linkIn('ws_1', readDigitalLink({ gtin: '96385074', serial }));
      assert.deepEqual(decoded(pathOfLink(link)), ['gs1', 'ws_1', '01', '00000096385074', '21', serial]);
      const other = linkIn('ws_1', readDigitalLink({ giai }));
      assert.deepEqual(decoded(pathOfLink(other)), ['gs1', 'ws_1', '8004', giai]);
    }),
  );
});
