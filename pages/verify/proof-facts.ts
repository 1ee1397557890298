/** What a document says it is about, for the reader to recognise it. Whether that is true, the steps say. */
import { isEvmAnchor, type Proof } from '../../src/anchoring/proof.ts';
import { sizeText } from './file-card.ts';

export type Fact = [name: string, value: string];

const kinds: Record<string, string> = {
  file: 'File',
  record: 'Record',
  transfer: 'Transfer of a file',
  validation: 'Validation of a file',
};

export function factsOf({ kind, subject, leaf, claims, content, seal, anchors }: Proof): Fact[] {
  const anchor = anchors.find(isEvmAnchor);
  const said = (name: string) => (typeof claims?.[name] === 'string' ? String(claims[name]) : '');
  const size = claims?.size;
  const facts: Fact[] = [
    [kinds[kind] ?? kind, `${subject.id}, version ${leaf.values[4]}`],
    ['Name', said('name')],
    ['Type', said('mediaType')],
    ['Size', typeof size === 'number' ? sizeText(size) : ''],
    ['Digest', content.digest],
    ['Vault', seal.vault],
    ['Anchor', anchor ? `block ${anchor.blockNumber} of chain ${anchor.chainId}` : ''],
  ];
  return facts.filter(([, value]) => value !== '');
}
