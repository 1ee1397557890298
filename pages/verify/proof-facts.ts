/** What a document says it is about, so that the reader can recognise it. The steps show whether that is true. */
import { labelOf } from '../../src/proof/kinds.ts';
import type { Proof } from '../../src/proof/verify/proof.ts';
import { sizeText } from './size-text.ts';

export type Fact = [name: string, value: string];

export function factsOf({ kind, subject, leaf, claims, content, seal }: Proof): Fact[] {
  const said = (name: string) => (typeof claims?.[name] === 'string' ? String(claims[name]) : '');
  const size = claims?.size;
  const facts: Fact[] = [
    [labelOf(kind), `${subject.id}, version ${leaf.values[4]}`],
    ['Name', said('name')],
    ['Type', said('mediaType')],
    ['Size', typeof size === 'number' ? sizeText(size) : ''],
    ['Digest', content.digest],
    ['Vault', seal.vault],
  ];
  return facts.filter(([, value]) => value !== '');
}
