/** The page /verify takes the proof that a certificate shows as attached, and no other that is hidden in the file. */
import assert from 'node:assert/strict';
import { buffer } from 'node:stream/consumers';
import { test } from 'node:test';
import { documentTextOf } from '../../pages/verify/embedded-proof.ts';
import { createPaper } from '../../src/pdf/paper.ts';

const attachedText = '{"format":"holdfast/proof@1","attached":true}';
const hiddenText = '{"format":"holdfast/proof@1","hidden":true}';

async function pdfWith(...texts: string[]): Promise<Buffer> {
  const frame = { head: ['', ''] as [string, string], foot: '', madeAt: new Date(0) };
  const paper = createPaper({ title: 'Test', subject: 'Test', ...frame });
  for (const [place, text] of texts.entries()) {
    const name = `proof-${place}.json`;
    paper.attach({ name, description: name, mediaType: 'application/json', bytes: Buffer.from(text) });
  }
  const whole = buffer(paper.stream);
  paper.end();
  return whole;
}

const hidden = (number: number) =>
  Buffer.from(
    `${number} 0 obj\n<< /Type /EmbeddedFile /Length ${hiddenText.length} >>\nstream\n${hiddenText}\nendstream\nendobj\n`,
  );
const read = (pdf: Buffer) => documentTextOf(new File([new Uint8Array(pdf)], 'certificate.pdf'));
/** Right after the header, before everything else. */
function withFirst(pdf: Buffer, object: Buffer): Buffer {
  const end = pdf.indexOf('\n') + 1;
  return Buffer.concat([pdf.subarray(0, end), object, pdf.subarray(end)]);
}

test('the proof that a certificate has attached is taken, and not one that nothing refers to', async () => {
  const pdf = await pdfWith(attachedText, '{}');
  assert.equal(await read(pdf), attachedText);
  assert.equal(await read(withFirst(pdf, hidden(9_000))), attachedText);
  assert.equal(await read(Buffer.concat([pdf, hidden(9_000)])), attachedText);
  const none = withFirst(await pdfWith('{}'), hidden(9_000));
  await assert.rejects(read(none), /certificate\.pdf is a PDF without a readable proof/);
});

test('a certificate with several proofs, or with its proof written twice, is refused', async () => {
  await assert.rejects(read(await pdfWith(attachedText, hiddenText)), /is a PDF with several proofs/);
  const pdf = await pdfWith(attachedText);
  const number = Number(/\/EF\s*<<[^<>]*\/F (\d+) 0 R/.exec(pdf.toString('latin1'))?.[1]);
  assert.ok(number > 0);
  for (const twice of [withFirst(pdf, hidden(number)), Buffer.concat([pdf, hidden(number)])]) {
    await assert.rejects(read(twice), /is a PDF without a readable proof/);
  }
});
