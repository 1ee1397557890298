/** What a document says it is about, so that the reader can recognise it. The steps show whether that is true. */
import { labelOf } from '../../src/proof/kinds.ts';
import { isEvmAnchor, type Proof } from '../../src/proof/proof.ts';
import { sizeText } from './size-text.ts';

export type Fact = [name: string, value: string];

/**
 * `chainId`: the chain that was asked and confirms its anchors; null if none does. A document may name anchors on other
 * chains, which nobody has checked.
 */
export function factsOf(
  { kind, subject, leaf, claims, content, seal, anchors }: Proof,
  chainId: number | null,
): Fact[] {
  const checked = anchors.filter(isEvmAnchor).filter((anchor) => anchor.chainId === chainId);
  const said = (name: string) => (typeof claims?.[name] === 'string' ? String(claims[name]) : '');
  const size = claims?.size;
  const facts: Fact[] = [
    [labelOf(kind), `${subject.id}, version ${leaf.values[4]}`],
    ['Name', said('name')],
    ['Type', said('mediaType')],
    ['Size', typeof size === 'number' ? sizeText(size) : ''],
    ['Digest', content.digest],
    ['Vault', seal.vault],
    ...checked.map(
      ({ blockNumber, chainId }): Fact => ['Anchor', `block ${blockNumber} of chain ${chainId}`],
    ),
  ];
  return facts.filter(([, value]) => value !== '');
}
